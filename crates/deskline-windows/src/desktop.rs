//! Implements the desktop contract on Windows.

mod trees;

use std::time::Duration;

use deskline_contract::clipboard::ClipboardThread;
use deskline_contract::guard::Guards;
use deskline_contract::{
    Aim, AppWindows, Application, Apps, Clipboard, Desktop, Display, End, Identity, KeyInput,
    Missing, Offer, Opened, Overlay, Permit, Pictures, PointerInput, Progress, Raising, Result,
    Screen, Window, Workspaces, kept, offers,
};

#[cfg(windows)]
use crate::apps::Programs;
#[cfg(windows)]
use crate::clipboard;
use crate::display::WinDisplay;
use crate::display::windows::{belonging, describe, every, has_menu, owner};
use crate::guard::Guard;
use crate::os;
#[cfg(not(windows))]
use crate::tests::fake::{Programs, clipboard};
use crate::tree::AppTrees;
use crate::tree::uia::Uia;

/// Why a private desktop offers no input and no clipboard.
const ON_THE_SCREEN: &str = "on a private desktop of Windows only accessibility works, as input and \
    the clipboard belong to the desktop on the screen. Use press_ax, set_value or set_selected";

/// The desktop of the person who is logged in, or a private one.
pub(crate) struct WinDesktop<U: Uia> {
    trees: AppTrees<U>,
    display: WinDisplay,
    programs: Programs,
    /// The desktop's name, if it is a private one.
    private: Option<String>,
    /// The clipboard's thread, which the first paste starts.
    clipboard: Option<ClipboardThread>,
}

impl<U: Uia> WinDesktop<U> {
    pub(crate) fn new(uia: U, guard: Guard, private: Option<String>) -> Self {
        Self {
            trees: AppTrees::new(uia),
            display: WinDisplay::new(guard),
            programs: Programs::default(),
            private,
            clipboard: None,
        }
    }

    /// Fails on a private desktop, to which Windows sends no input.
    fn on_the_screen(&self) -> Offer<()> {
        match self.private {
            Some(_) => Err(Missing::new(ON_THE_SCREEN)),
            None => Ok(()),
        }
    }
}

impl<U: Uia> Desktop for WinDesktop<U> {
    fn id(&self) -> String {
        let session = os::session().unwrap_or_default();
        match &self.private {
            Some(name) => format!("windows-{session}-{name}"),
            None => format!("windows-{session}"),
        }
    }
}

impl<U: Uia> Display for WinDesktop<U> {
    fn is_private(&self) -> bool {
        self.private.is_some()
    }

    fn begin_link(&mut self, _acts: bool) {
        self.display.set_aim(None);
    }

    fn set_aim(&mut self, aim: Aim) {
        self.display.set_aim(Some(aim));
    }

    fn release_all(&mut self) {
        if let Err(e) = deskline_input::release_all(&mut self.display) {
            tracing::warn!("not all keys and buttons were released: {e}");
        }
    }

    offers!(self => Ok(&mut self.display); screen Screen, raising Raising, pictures Pictures);
    offers!(self => { self.on_the_screen()?; Ok(&mut self.display) };
        pointer_input PointerInput, key_input KeyInput);
    offers!(self => Ok(&mut self.display.guard); guard Guards, overlay Overlay);

    fn workspaces(&mut self) -> Option<&mut dyn Workspaces> {
        Some(&mut self.display)
    }

    fn clipboard(&mut self) -> Result<&mut dyn Clipboard> {
        self.on_the_screen()
            .map_err(|missing| missing.for_action("paste"))?;
        Ok(kept(&mut self.clipboard, clipboard::start)?)
    }
}

impl<U: Uia> AppWindows for WinDesktop<U> {
    fn helper_windows(&mut self, pid: u32) -> Result<Vec<Window>> {
        Ok(belonging(pid))
    }

    fn popup_open(&mut self, pid: u32) -> Result<bool> {
        Ok(has_menu(pid))
    }
}

impl<U: Uia> Apps for WinDesktop<U> {
    fn applications(&mut self) -> Result<Vec<Application>> {
        let front = os::front().map(owner);
        let windows = every().into_iter().map(describe);
        Ok(Application::of_windows(windows, front, os::name))
    }

    fn open(&mut self, identifier: &str, permit: Permit<'_>) -> Result<Opened> {
        self.programs.open(identifier, permit)
    }

    fn progress(&mut self) -> Result<Progress> {
        self.programs.progress()
    }

    fn complaint(&mut self) -> Option<String> {
        self.programs.complaint()
    }

    fn computed(&mut self, pid: u32) -> Option<Duration> {
        os::computed(pid)
    }

    fn known_as(&mut self, pid: u32) -> Identity {
        os::known_as(pid)
    }

    fn end_of(&mut self, pid: u32) -> Option<End> {
        self.programs.end_of(pid)
    }
}
