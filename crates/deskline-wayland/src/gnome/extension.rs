//! Deskline's extension of GNOME Shell (`extensions/gnome`), where the person has installed it: it lists the
//! windows and brings one to the front.

use deskline_link::Result;

use super::bus::{Bus, On};
use crate::described::AppToplevel;

const DAEMON: On<'static> = (
    "org.freedesktop.DBus",
    "/org/freedesktop/DBus",
    "org.freedesktop.DBus",
);
const NAME: &str = "org.deskline.Shell";
const PATH: &str = "/org/deskline/Shell";

/// The extension. It may be switched on and off at any time: look for it anew each time.
#[derive(Debug)]
pub(crate) struct Extension<'b> {
    bus: &'b Bus,
    /// The shell's own connection.
    owner: String,
}

/// A window, as the shell has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShellWindow {
    pub(crate) id: u64,
    pub(crate) pid: u32,
    /// Hostile data.
    pub(crate) title: String,
    /// Whether it has the keyboard.
    pub(crate) focused: bool,
}

/// Left, top, width and height on the screen.
type Rectangle = (i32, i32, i32, i32);

/// A window, as the extension's answer has it.
type Told = (
    u64,
    i32,
    String,
    String,
    bool,
    bool,
    bool,
    Rectangle,
    Rectangle,
);

impl<'b> Extension<'b> {
    /// The extension, if it is switched on. Another program that takes its name is not it: the name must
    /// be the shell's.
    pub(crate) fn find(bus: &'b Bus) -> Option<Self> {
        let owner = |name: &str| bus.ask::<_, String>(DAEMON, "GetNameOwner", &(name,)).ok();
        let owner_of_it = owner(NAME)?;
        (owner("org.gnome.Shell")? == owner_of_it).then_some(Self {
            bus,
            owner: owner_of_it,
        })
    }

    fn on(&self) -> On<'_> {
        (&self.owner, PATH, NAME)
    }

    /// The windows that apps show, the topmost first, without menus and other pop-ups.
    pub(crate) fn windows(&self) -> Result<Vec<ShellWindow>> {
        let told: Vec<Told> = self.bus.ask(self.on(), "Windows", &())?;
        let toplevels = told.into_iter().filter(|told| told.6);
        let window = |told: Told| ShellWindow {
            id: told.0,
            pid: u32::try_from(told.1).unwrap_or_default(),
            title: told.2,
            focused: told.4,
        };
        Ok(toplevels.map(window).collect())
    }

    /// Has the shell bring a window to the front. `false` if it is gone.
    pub(crate) fn activate(&self, id: u64) -> Result<bool> {
        self.bus.ask(self.on(), "Activate", &(id,))
    }
}

/// The shell's windows that may be this toplevel: those of its app with its title, or all of its app where
/// it says another title to assistive technology.
pub(crate) fn candidates<'w>(
    toplevel: &AppToplevel,
    windows: &'w [ShellWindow],
) -> Vec<&'w ShellWindow> {
    let of_app = || windows.iter().filter(|w| w.pid == toplevel.pid);
    let same: Vec<_> = of_app().filter(|w| w.title == toplevel.title).collect();
    if same.is_empty() {
        of_app().collect()
    } else {
        same
    }
}

/// The toplevels that may be the window with the keyboard. Empty where no app has it, or one that assistive
/// technology does not know.
pub(crate) fn focused<'t>(
    toplevels: &'t [AppToplevel],
    windows: &[ShellWindow],
) -> Vec<&'t AppToplevel> {
    let Some(focused) = windows.iter().find(|w| w.focused) else {
        return Vec::new();
    };
    let may_be = |t: &&AppToplevel| candidates(t, windows).contains(&focused);
    toplevels.iter().filter(may_be).collect()
}

#[cfg(test)]
mod tests {
    use deskline_link::WindowId;

    use super::*;

    fn window(id: u64, pid: u32, title: &str) -> ShellWindow {
        ShellWindow {
            id,
            pid,
            title: title.to_owned(),
            focused: id == 2,
        }
    }

    fn toplevel(id: u64, pid: u32, title: &str) -> AppToplevel {
        AppToplevel {
            id: WindowId(id),
            pid,
            title: title.to_owned(),
            active: false,
            shell: false,
        }
    }

    #[test]
    fn a_toplevel_is_found_by_its_app_and_its_title() {
        let windows = [
            window(1, 7, "a"),
            window(2, 7, "b"),
            window(3, 7, "b"),
            window(4, 8, "b"),
        ];
        let ids = |pid, title| -> Vec<u64> {
            let found = candidates(&toplevel(0, pid, title), &windows);
            found.iter().map(|w| w.id).collect()
        };
        assert_eq!(ids(7, "a"), [1]);
        assert_eq!(ids(7, "b"), [2, 3]);
        assert_eq!(ids(7, "c"), [1, 2, 3]);
        assert_eq!(ids(9, "b"), [0; 0]);
        let toplevels = [
            toplevel(1, 7, "a"),
            toplevel(2, 7, "b"),
            toplevel(4, 8, "b"),
        ];
        assert_eq!(focused(&toplevels, &windows), [&toplevels[1]]);
        assert_eq!(focused(&toplevels, &windows[2..]), [&toplevels[0]; 0]);
    }
}
