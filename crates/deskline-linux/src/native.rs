//! Native Wayland windows that no display system lists. For listing and opening apps, the toplevels
//! that apps describe on the accessibility bus stand for them.

use deskline_contract::{AppToplevel, Error, Missing, Window, WindowId};

/// Why input to a native window is refused, if the session has a display system for other windows.
const WHY: &str = "the app's window is a native Wayland window, which Deskline can neither see nor \
    bring to the front. If the app is started with GDK_BACKEND=x11, QT_QPA_PLATFORM=xcb or \
    --ozone-platform=x11, it runs through Xwayland";

/// Why there is no picture of a native window.
pub(crate) const UNSEEN: &str =
    "the app's window is a native Wayland window, which Deskline cannot see on this compositor";

/// The windows of apps that have no window among `known`, the active window first.
pub(crate) fn beside(known: &[Window], mut toplevels: Vec<AppToplevel>) -> Vec<Window> {
    toplevels.retain(|t| known.iter().all(|window| window.pid != Some(t.pid)));
    toplevels.sort_by_key(|t| !t.active);
    toplevels.into_iter().map(AppToplevel::window).collect()
}

/// The app whose toplevel has the keyboard, if exactly one app reports that.
pub(crate) fn active(toplevels: &[AppToplevel]) -> Option<u32> {
    let mut pids = toplevels.iter().filter(|t| t.active).map(|t| t.pid);
    let first = pids.next()?;
    pids.all(|pid| pid == first).then_some(first)
}

/// The stand-in for an app whose windows are native. No display system gives a window this id.
pub(crate) fn stand_in(pid: u32) -> Window {
    Window {
        id: WindowId(STAND_INS | u64::from(pid)),
        pid: Some(pid),
        ..Window::default()
    }
}

/// The bit that marks the ids of stand-ins: X11's ids have only 32 bits.
const STAND_INS: u64 = 1 << 63;

/// Fails if this is a window that [`stand_in`] has made.
pub(crate) fn refuse(window: WindowId) -> Result<(), Error> {
    if window.0 & STAND_INS == 0 {
        return Ok(());
    }
    Err(Missing::new(WHY).for_action("sending input to this app"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toplevel(pid: u32, id: &str, active: bool) -> AppToplevel {
        AppToplevel {
            pid,
            title: format!("{pid}{id}"),
            active,
            ..AppToplevel::default()
        }
    }

    #[test]
    fn an_app_is_listed_once_by_the_display_or_by_the_bus() {
        let xterm = toplevel(1, "/x", false).window();
        let native = vec![
            toplevel(1, "/a", true),
            toplevel(2, "/b", false),
            toplevel(3, "/c", true),
        ];
        assert_eq!(active(&native), None, "two apps claim the keyboard");
        assert_eq!(active(&native[1..]), Some(3));
        let titles: Vec<String> = beside(&[xterm], native)
            .into_iter()
            .map(|w| w.title)
            .collect();
        assert_eq!(titles, ["3/c", "2/b"]);
    }

    #[test]
    fn input_to_an_app_without_a_window_is_refused() {
        assert!(refuse(stand_in(7).id).is_err());
        assert!(refuse(WindowId(0x0060_0007)).is_ok());
    }
}
