//! Windows as apps describe them to assistive technology, with the one that has the keyboard.
//! Needed where a compositor lists no windows, or does not report their processes.

use deskline_contract::{AppToplevel, Result, Window, WindowId};
use deskline_core::Rect;

/// A source of toplevels.
pub trait Toplevels: Send {
    /// The visible toplevels of all apps and, if `stage` is set, the stage of GNOME Shell.
    ///
    /// # Errors
    ///
    /// Errors of the accessibility bus.
    fn toplevels(&mut self, stage: bool) -> Result<Vec<AppToplevel>>;

    /// The size of a toplevel, if its app reports one.
    ///
    /// # Errors
    ///
    /// Errors of the accessibility bus.
    fn size(&mut self, id: WindowId) -> Result<Option<(i32, i32)>>;

    /// The app's open menu. If the app's tree was just read, `known` says whether a menu is open.
    ///
    /// # Errors
    ///
    /// Errors of the accessibility bus.
    fn open_menu(&mut self, pid: u32, known: Option<bool>) -> Result<Option<OpenMenu>>;

    /// The visible elements of a toplevel.
    ///
    /// # Errors
    ///
    /// Errors of the accessibility bus.
    fn parts(&mut self, id: WindowId) -> Result<Vec<Part>>;
}

/// A visible element of a toplevel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Constant for the life of the element.
    pub id: String,
    /// The bounds relative to the toplevel's corner, in logical pixels.
    pub place: Rect,
}

/// An open menu of an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenMenu {
    /// Whether the menu is a window of its own, with coordinates that are relative to the window it
    /// was opened from. GTK 3's menus are such windows.
    pub placed: bool,
}

/// The toplevel with the keyboard. `None` if the shell has it, as in the overview, or if several
/// toplevels claim it: input could go to any of them.
pub(crate) fn front(toplevels: &[AppToplevel]) -> Option<&AppToplevel> {
    let mut active = toplevels.iter().filter(|t| t.active);
    let first = active.next()?;
    (active.next().is_none() && !first.shell).then_some(first)
}

/// Converts toplevels to windows, without the shell's stage; the one with the keyboard is first.
pub(crate) fn windows(mut toplevels: Vec<AppToplevel>) -> Vec<Window> {
    toplevels.retain(|t| !t.shell);
    toplevels.sort_by_key(|t| !t.active);
    toplevels.into_iter().map(AppToplevel::window).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toplevel(id: u64, active: bool) -> AppToplevel {
        AppToplevel {
            id: WindowId(id),
            pid: 7,
            active,
            ..AppToplevel::default()
        }
    }

    #[test]
    fn the_front_window_is_the_only_one_that_claims_the_keyboard() {
        let one = [toplevel(1, false), toplevel(2, true)];
        assert_eq!(front(&one), Some(&one[1]));
        assert_eq!(front(&[toplevel(1, true), toplevel(2, true)]), None);
        assert_eq!(front(&[toplevel(1, false)]), None);
        let mut stage = toplevel(1, true);
        stage.shell = true;
        assert_eq!(front(&[stage.clone()]), None);
        assert_eq!(windows(one.to_vec())[0].id, WindowId(2));
        assert_eq!(windows(vec![stage, toplevel(3, false)]).len(), 1);
    }
}
