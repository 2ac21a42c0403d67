//! Connects to the desktop, after checking permissions.

use std::sync::atomic::{AtomicBool, Ordering};

use deskline_contract::{Desktop, Error, Platform, Result};

use crate::ax::{self, PATIENCE};
use crate::desktop::MacDesktop;
use crate::os::{AxError, Os};
use crate::{facts, permissions};

/// The desktop of the logged-in person.
pub struct MacPlatform<O: Os> {
    os: O,
    /// Whether this process has asked the person for permission: it asks only once.
    asked: AtomicBool,
}

impl<O: Os> MacPlatform<O> {
    /// Creates the platform on top of `os`.
    pub fn new(os: O) -> Self {
        os.set_timeout(&os.system(), PATIENCE);
        Self {
            os,
            asked: AtomicBool::new(false),
        }
    }
}

impl<O: Os> Platform for MacPlatform<O> {
    fn connect(&self) -> Result<Box<dyn Desktop>> {
        if self.os.displays().is_empty() {
            return Err(Error::Unavailable(
                "there is no display: this process has no login session with a screen. Start \
                 deskline from an app of the user who is logged in, not over ssh or as a daemon"
                    .into(),
            ));
        }
        if !self.os.trusted() {
            if !self.asked.swap(true, Ordering::Relaxed) {
                self.os.ask_for_trust();
            }
            return Err(Error::Unavailable(permissions::untrusted(&self.os)));
        }
        // App Nap could delay the event tap, and the system turns off a tap that answers late.
        self.os.stay_awake();
        Ok(Box::new(MacDesktop::new(self.os.clone())))
    }

    fn facts(&self) -> Vec<String> {
        facts::read(&self.os)
    }

    fn ping(&self, pid: u32) -> Result<()> {
        // The link reports the missing permission.
        if !self.os.trusted() {
            return Ok(());
        }
        let app = self.os.application(pid);
        match self.os.attributes(&app, &["AXRole"]) {
            Err(e @ AxError::CANNOT_COMPLETE) if self.os.process(pid).is_some() => {
                Err(ax::failed(&self.os, pid, e))
            }
            _ => Ok(()),
        }
    }
}
