//! The guard of a Linux desktop. Where the display does not say that the agent acts, a banner of
//! Wayland does.

use std::path::PathBuf;

use deskline_contract::guard::{Grab, Guards, Task};
use deskline_contract::{Cancel, Error, Offer, Result};
use deskline_wayland::Banner;
use deskline_x11::Fonts;

use super::LinuxDesktop;
use crate::display::DisplaySystem;

/// Shows the banner of a Wayland compositor, if it takes one.
#[derive(Default)]
pub(super) struct Announcer {
    /// `None` where there is no use in connecting.
    socket: Option<PathBuf>,
    banner: Option<Banner>,
    /// Whether the compositor itself shows one now.
    by_compositor: bool,
    fonts: Fonts,
}

impl Announcer {
    pub(super) fn new(socket: Option<PathBuf>) -> Self {
        Self {
            socket,
            ..Self::default()
        }
    }

    fn show(&mut self, task: &Task, display: &mut dyn DisplaySystem) -> Result<()> {
        let (Some(socket), Some(caption)) = (&self.socket, &task.caption) else {
            return Ok(());
        };
        if let Some(wayland) = display.wayland()
            && wayland.announce(caption)?
        {
            self.by_compositor = true;
            return Ok(());
        }
        let banner = match &mut self.banner {
            Some(banner) => banner,
            none => none.insert(Banner::connect(socket)?),
        };
        banner.show(task.place, |scale, widest| {
            deskline_x11::banner(&mut self.fonts, caption, scale.into(), widest)
        })
    }

    fn hide(&mut self, display: &mut dyn DisplaySystem) -> Result<()> {
        if std::mem::take(&mut self.by_compositor)
            && let Some(wayland) = display.wayland()
        {
            return wayland.announce("").map(drop);
        }
        self.banner.as_mut().map_or(Ok(()), Banner::hide)
    }

    /// A banner that fails ends no link.
    fn check(&mut self, done: Result<()>) {
        if let Err(error) = done {
            tracing::info!("no banner: {error}");
            self.banner = None;
            // One that was lost may be back.
            self.socket
                .take_if(|_| !matches!(error, Error::Lost { .. }));
        }
    }
}

impl LinuxDesktop {
    /// The kernel's guard, or the display's own.
    pub(super) fn guards(&mut self) -> Offer<&mut dyn Guards> {
        match &mut self.by_kernel {
            Some(guard) => Ok(guard),
            None => self.display.guard(),
        }
    }
}

impl Guards for LinuxDesktop {
    fn watch(&mut self) {
        if let Ok(guard) = self.guards() {
            guard.watch();
        }
    }

    fn unwatch(&mut self) {
        if let Ok(guard) = self.guards() {
            guard.unwatch();
        }
    }

    fn pressed(&mut self) -> Option<bool> {
        self.guards().ok()?.pressed()
    }

    fn grab(&mut self, task: &Task, cancel: &Cancel) -> Result<Grab> {
        let grab = self.guards()?.grab(task, cancel)?;
        if matches!(grab, Grab::Held | Grab::Partly(_)) {
            let shown = self.announcer.show(task, &mut *self.display);
            self.announcer.check(shown);
        }
        Ok(grab)
    }

    fn ungrab(&mut self) {
        // A compositor that hangs must not keep the person out.
        if let Ok(guard) = self.guards() {
            guard.ungrab();
        }
        let hidden = self.announcer.hide(&mut *self.display);
        self.announcer.check(hidden);
    }

    fn lapse(&mut self) -> Option<String> {
        self.guards().ok()?.lapse()
    }

    fn holds_on(&mut self) -> bool {
        self.guards().is_ok_and(|guard| guard.holds_on())
    }
}
