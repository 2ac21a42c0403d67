//! Implements the desktop contract on Windows.

use std::sync::Arc;
use std::time::Duration;

use deskline_core::{ElementId, Tree};
use deskline_link::clipboard::ClipboardThread;
use deskline_link::guard::Guards;
use deskline_link::ocr::Ocr;
use deskline_link::{
    Aim, AppWindows, Application, Apps, Cancel, Clipboard, Desktop, Display, End, Identity,
    KeyInput, Missing, Offer, Opened, Overlay, Permit, Pictures, PointerInput, Progress, Raising,
    Result, Scope, Screen, Sent, Sign, Trees, Window, Workspaces,
};

#[cfg(windows)]
use crate::apps::Programs;
#[cfg(windows)]
use crate::clipboard;
use crate::display::WinDisplay;
use crate::display::windows::{belonging, has_menu};
#[cfg(not(windows))]
use crate::fake::{Programs, clipboard};
use crate::os;
use crate::tree::AppTrees;
use crate::tree::uia::Uia;

/// Why there is no input on a private desktop, and no clipboard: the person's is the same.
const ON_THE_SCREEN: &str = "on a private desktop of Windows only accessibility acts, as input and \
    the clipboard belong to the desktop on the screen. Use press_ax, set_value or set_selected";

/// The desktop of the person who is logged in, or a private one.
pub(crate) struct WinDesktop<U: Uia> {
    pub(crate) trees: AppTrees<U>,
    pub(crate) display: WinDisplay,
    pub(crate) programs: Programs,
    /// Its name, if Deskline has made it.
    pub(crate) private: Option<String>,
    /// Started by the first paste.
    pub(crate) clipboard: Option<ClipboardThread>,
}

impl<U: Uia> WinDesktop<U> {
    /// Whether input goes to this desktop.
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

    fn ocr(&self) -> Result<Arc<dyn Ocr>, &'static str> {
        Err("")
    }
}

impl<U: Uia> Trees for WinDesktop<U> {
    fn read(&mut self, pid: u32, scope: Scope) -> Result<Tree> {
        self.programs.follow(pid);
        self.trees.read(pid, scope)
    }

    fn listen(&mut self, pid: u32) -> Result<()> {
        self.trees.listen(pid)
    }

    fn rest(&mut self) {
        self.trees.rest();
    }

    fn lag(&mut self, pid: u32, after: Sent) -> Duration {
        self.trees.lag(pid, after)
    }

    fn is_loading(&mut self, pid: u32) -> bool {
        self.trees.is_loading(pid)
    }

    fn idle(&mut self) -> Option<Duration> {
        self.trees.idle()
    }

    fn wait_for_change(&mut self, time: Duration) -> Result<Option<Sign>> {
        self.trees.wait_for_change(time)
    }

    fn scroll_into_view(&mut self, element: &ElementId) -> Result<bool> {
        self.trees.scroll_into_view(element)
    }

    fn press(&mut self, element: &ElementId) -> Result<()> {
        self.trees.press(element)
    }

    fn set_value(&mut self, element: &ElementId, value: &str) -> Result<()> {
        self.trees.set_value(element, value)
    }

    fn choose(&mut self, element: &ElementId, choice: &str) -> Result<bool> {
        self.trees.choose(element, choice)
    }

    fn set_selected(&mut self, element: &ElementId, selected: bool) -> Result<()> {
        self.trees.set_selected(element, selected)
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

    fn screen(&mut self) -> Offer<&mut dyn Screen> {
        Ok(&mut self.display)
    }

    fn raising(&mut self) -> Offer<&mut dyn Raising> {
        Ok(&mut self.display)
    }

    fn workspaces(&mut self) -> Option<&mut dyn Workspaces> {
        Some(&mut self.display)
    }

    fn pointer_input(&mut self) -> Offer<&mut dyn PointerInput> {
        self.on_the_screen()?;
        Ok(&mut self.display)
    }

    fn key_input(&mut self) -> Offer<&mut dyn KeyInput> {
        self.on_the_screen()?;
        Ok(&mut self.display)
    }

    fn pictures(&mut self) -> Offer<&mut dyn Pictures> {
        Ok(&mut self.display)
    }

    fn guard(&mut self) -> Offer<&mut dyn Guards> {
        Ok(&mut self.display)
    }

    fn overlay(&mut self) -> Offer<&mut dyn Overlay> {
        Ok(&mut self.display)
    }

    fn clipboard(&mut self) -> Result<&mut dyn Clipboard> {
        self.on_the_screen()
            .map_err(|missing| missing.for_action("paste"))?;
        Ok(match &mut self.clipboard {
            Some(clipboard) => clipboard,
            none => none.insert(clipboard::start()?),
        })
    }
}

impl<U: Uia> AppWindows for WinDesktop<U> {
    fn app_itself(&mut self, _: u32) -> Result<Option<Window>> {
        Ok(None)
    }

    fn reveal(&mut self, _: u32, _: &Cancel) -> Result<bool> {
        Ok(false)
    }

    fn helper_windows(&mut self, pid: u32) -> Result<Vec<Window>> {
        Ok(belonging(pid))
    }

    fn unseen(&mut self, _: u32) -> Option<&'static str> {
        None
    }

    fn popup_open(&mut self, pid: u32) -> Result<bool> {
        Ok(has_menu(pid))
    }
}

impl<U: Uia> Apps for WinDesktop<U> {
    fn applications(&mut self) -> Result<Vec<Application>> {
        Ok(Programs::with_windows())
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

    fn threads_computed(&mut self, pid: u32) -> Option<Duration> {
        self.computed(pid)
    }

    fn known_as(&mut self, pid: u32) -> Identity {
        os::known_as(pid)
    }

    // The UAC prompt is on the secure desktop, which no program reaches.
    fn shows_permissions(&mut self, _: u32) -> bool {
        false
    }

    fn end_of(&mut self, pid: u32) -> Option<End> {
        self.programs.end_of(pid)
    }

    fn handoff_pending(&mut self) -> Result<bool> {
        Ok(false)
    }
}
