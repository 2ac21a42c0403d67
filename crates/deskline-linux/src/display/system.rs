//! What a display system is.

use std::time::Duration;

use deskline_atspi as atspi;
use deskline_core::Rect;
use deskline_link::doctor::Fix;
use deskline_link::{Display, Missing, Result, Screen, Window, WindowId, WindowState};

/// How most display systems do what they do, for the doctor.
pub(crate) const BY_PROTOCOLS: &str = "by the compositor's own protocols";

/// A display system: the contract's display, and what AT-SPI and the start of apps need beyond it.
pub(crate) trait DisplaySystem: Display + Send {
    /// The app's windows, for the coordinates of toolkits that do not know their own; with its open
    /// pop-ups if `popups`.
    fn windows_for_tree(&mut self, pid: u32, popups: bool) -> Result<atspi::Windows>;

    /// Takes note that the accessibility bus knows this process by that pid. Windows have pids of
    /// the same process namespace from here on, if there is a way. Returns whether the display
    /// system knows this process by that pid too.
    fn take_pids(&mut self, ours: Option<u32>) -> bool {
        ours == Some(std::process::id())
    }

    /// The pid that the window's app reports, in its own process namespace.
    fn claimed_pid(&mut self, _window: WindowId) -> Option<u32> {
        None
    }

    /// Between links: ends what is kept for a next link and is due. Returns after which time to
    /// call it again, if at all.
    fn idle(&mut self) -> Option<Duration> {
        None
    }

    /// Makes the input devices that the seat lacks, so that apps know them before the first link.
    /// Returns whether it lacked one.
    fn prepare(&mut self) -> Result<bool> {
        Ok(false)
    }

    /// Whether [`Screen::every_window`] has all windows of the session, whatever draws them.
    fn lists_all(&self) -> bool {
        false
    }

    /// Whether a menu or another pop-up of the app is open. `None` where the app's tree knows that
    /// instead.
    fn popup_open(&mut self, pid: u32) -> Result<Option<bool>>;

    /// Takes note whether the app's tree, which was just read, shows an open menu.
    fn menu_read(&mut self, _pid: u32, _open: bool) {}

    /// Whether the windows for the tree have the places of open pop-ups.
    fn places_popups(&self) -> bool {
        true
    }

    /// The screen that the app's pop-ups keep to, where it is known.
    ///
    /// # Errors
    ///
    /// Where the compositor does not answer.
    fn popups_keep_to(&mut self, _pid: u32) -> Result<Option<Rect>> {
        Ok(None)
    }

    /// Whether the window that it reports as the front one may have lost the keyboard to a launcher
    /// or a lock screen. The app reports that.
    fn misses_launchers(&mut self) -> bool {
        false
    }

    /// Why the agent's own seat, if there is one, does not reach this process.
    fn unserved(&self, _pid: u32) -> Option<&'static str> {
        None
    }

    /// What the guard keeps out, or why it keeps out nothing, for the doctor.
    fn guard_finding(&mut self) -> Result<String, String> {
        let guard = self.guard();
        guard.map_or_else(|Missing(why)| Err(why.into_owned()), |_| Ok("yes".into()))
    }

    /// How windows are brought to the front, for the doctor.
    fn raise_finding(&self) -> &'static str {
        BY_PROTOCOLS
    }

    /// How the pointer and the keys reach apps, for the doctor.
    fn input_finding(&self) -> &'static str {
        BY_PROTOCOLS
    }

    /// How the pointer does, where that is another way.
    fn pointer_finding(&self) -> &'static str {
        self.input_finding()
    }

    /// Whether each ability that it lacks has a reason of its own, for the doctor.
    fn tells_what_is_missing(&self) -> bool {
        false
    }

    /// What gives it pictures, where it has none and that is one step.
    fn mends_pictures(&self) -> Option<Fix> {
        None
    }

    /// What lets it send keys, where it may not and that is one step.
    fn mends_keys(&mut self) -> Option<Fix> {
        None
    }

    /// The windows of other processes that are dialogs of this one's windows, where the display
    /// says which window a dialog is for.
    fn dialogs_of(&mut self, _pid: u32) -> Result<Vec<Window>> {
        Ok(Vec::new())
    }

    /// The windows of all apps that are not minimised.
    fn mapped_windows(&mut self) -> Result<Vec<Window>> {
        let screen = self.screen();
        screen.map_or_else(|_| Ok(Vec::new()), Screen::every_window)
    }
}

/// A display system without a screen has no windows.
impl dyn DisplaySystem + '_ {
    pub(crate) fn front(&mut self) -> Result<Option<Window>> {
        self.screen().map_or(Ok(None), Screen::front)
    }

    pub(crate) fn window_states(&mut self) -> Result<Vec<(WindowId, WindowState)>> {
        let screen = self.screen();
        screen.map_or_else(|_| Ok(Vec::new()), Screen::window_states)
    }

    pub(crate) fn every_window(&mut self) -> Result<Vec<Window>> {
        let screen = self.screen();
        screen.map_or_else(|_| Ok(Vec::new()), Screen::every_window)
    }
}
