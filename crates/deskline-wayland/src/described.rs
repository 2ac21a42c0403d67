//! Windows as apps describe them: to assistive technology, which also hears which of them has the
//! keyboard. Some compositors list no windows, others not their processes.

use deskline_core::Rect;
use deskline_link::{Result, Window, WindowId};

/// A toplevel that an app describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppToplevel {
    /// The same as long as the toplevel is there.
    pub id: WindowId,
    /// Whose it is.
    pub pid: u32,
    /// Its title. Hostile data.
    pub title: String,
    /// Whether its app reports that it has the keyboard.
    pub active: bool,
    /// Whether its app has not answered this time: it is as it was when it last did.
    pub silent: bool,
    /// Whether it is GNOME Shell's own: its stage, which has the keyboard in the overview and while
    /// windows are switched.
    pub shell: bool,
}

/// A source of toplevels.
pub trait Toplevels: Send {
    /// The visible toplevels of all apps.
    ///
    /// # Errors
    ///
    /// Of the accessibility bus.
    fn toplevels(&mut self) -> Result<Vec<AppToplevel>>;

    /// The size that the app reports for a toplevel, if it does.
    ///
    /// # Errors
    ///
    /// Of the accessibility bus.
    fn size(&mut self, id: WindowId) -> Result<Option<(i32, i32)>>;

    /// The menu that the app shows.
    ///
    /// # Errors
    ///
    /// Of the accessibility bus.
    fn open_menu(&mut self, pid: u32) -> Result<Option<OpenMenu>>;

    /// The visible part of a toplevel.
    ///
    /// # Errors
    ///
    /// Of the accessibility bus.
    fn parts(&mut self, id: WindowId) -> Result<Vec<Part>>;
}

/// An element of a toplevel that shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The same as long as the element is there.
    pub id: String,
    /// Where it is, from the corner of its toplevel, in logical pixels.
    pub place: Rect,
}

/// A menu that an app shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenMenu {
    /// Whether its coordinates are known to count from the window that it was opened in, although a
    /// GTK 3 menu is a window of its own.
    pub placed: bool,
}

/// The one with the keyboard. `None` where the shell has it, as in the overview, or several claim
/// it: it is not known then where input would go.
pub(crate) fn front(toplevels: &[AppToplevel]) -> Option<&AppToplevel> {
    let mut active = toplevels.iter().filter(|t| t.active);
    let first = active.next()?;
    (active.next().is_none() && !first.shell).then_some(first)
}

/// As windows, the one with the keyboard first, without the shell's stage.
pub(crate) fn windows(mut toplevels: Vec<AppToplevel>) -> Vec<Window> {
    toplevels.retain(|t| !t.shell);
    toplevels.sort_by_key(|t| !t.active);
    toplevels.into_iter().map(window).collect()
}

pub(crate) fn window(toplevel: AppToplevel) -> Window {
    Window {
        id: toplevel.id,
        pid: Some(toplevel.pid),
        title: toplevel.title,
        extents: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toplevel(id: u64, active: bool) -> AppToplevel {
        AppToplevel {
            id: WindowId(id),
            pid: 7,
            title: String::new(),
            active,
            silent: false,
            shell: false,
        }
    }

    #[test]
    fn the_front_window_is_the_only_one_that_claims_it() {
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
