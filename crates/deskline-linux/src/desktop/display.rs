//! The display of a Linux desktop: the display system, and what AT-SPI, the kernel's guard and the
//! person's input method add to it.

use std::time::Duration;

use deskline_atspi::toolkits::mapped;
use deskline_contract::guard::Guards;
use deskline_contract::{
    Aim, AppWindows, Cancel, Click, Clipboard, Display, KeyInput, Missed, Offer, Overlay, Pictures,
    PointerInput, Raising, Result, Screen, TargetError, Window, WindowId, Workspaces, kept,
};
use deskline_core::{Key, KeyPress, Modifiers, Point};
use deskline_input::{Button, Progress};
use deskline_unix::process;

use super::LinuxDesktop;
use crate::native;
use crate::session::GNOME_SHELL;

/// The modifiers with which a key types nothing.
const SHORTCUT: Modifiers = Modifiers::CONTROL
    .union(Modifiers::ALT)
    .union(Modifiers::COMMAND);

impl Display for LinuxDesktop {
    fn is_private(&self) -> bool {
        self.is_private
    }

    fn begin_link(&mut self, acts: bool) {
        self.display.begin_link(acts);
    }

    fn set_aim(&mut self, aim: Aim) {
        self.aimed_at = Some(aim.pid);
        self.display.set_aim(aim);
    }

    fn release_all(&mut self) {
        self.display.release_all();
        let taken = self.display.wayland().and_then(|its| its.keys_taken_in());
        if let Some(pid) = taken {
            let to_text = self.keys_go_to_text(pid);
            if let Some(wayland) = self.display.wayland() {
                wayland.give_keys_back(to_text);
            }
        }
    }

    fn screen(&mut self) -> Offer<&mut dyn Screen> {
        self.display.screen()
    }

    fn raising(&mut self) -> Offer<&mut dyn Raising> {
        self.display.raising()?;
        Ok(self)
    }

    fn workspaces(&mut self) -> Option<&mut dyn Workspaces> {
        self.display.workspaces()
    }

    fn pointer_input(&mut self) -> Offer<&mut dyn PointerInput> {
        self.display.pointer_input()?;
        Ok(self)
    }

    fn key_input(&mut self) -> Offer<&mut dyn KeyInput> {
        self.display.key_input()?;
        Ok(self)
    }

    fn pictures(&mut self) -> Offer<&mut dyn Pictures> {
        self.display.pictures()
    }

    fn guard(&mut self) -> Offer<&mut dyn Guards> {
        self.guards()?;
        Ok(self)
    }

    fn overlay(&mut self) -> Offer<&mut dyn Overlay> {
        self.display.overlay()
    }

    fn clipboard(&mut self) -> Result<&mut dyn Clipboard> {
        let Some(socket) = self.session.wayland_socket() else {
            return self.display.clipboard();
        };
        let start = || match (self.session.compositor(), &self.session.session_bus) {
            (Some(shell), Some(bus)) if shell == GNOME_SHELL => {
                deskline_wayland::gnome_clipboard(bus)
            }
            _ => deskline_wayland::clipboard::start(&socket),
        };
        Ok(kept(&mut self.clipboard, start)?)
    }
}

impl AppWindows for LinuxDesktop {
    fn app_itself(&mut self, pid: u32) -> Result<Option<Window>> {
        let native = self.has_native && self.is_native(pid)?;
        Ok(native.then(|| native::stand_in(pid)))
    }

    fn helper_windows(&mut self, pid: u32) -> Result<Vec<Window>> {
        let x11 = self.display.x11();
        let mut found = x11.map_or(Ok(Vec::new()), |x11| x11.dialogs_of(pid))?;
        for window in self.display.every_window()? {
            let known = found.iter().any(|known| known.id == window.id);
            let started =
                |its: u32| its != pid && !process::are_elsewhere() && process::descends(its, pid);
            if !known && window.pid.is_some_and(started) {
                found.push(window);
            }
        }
        Ok(found)
    }

    fn unseen(&mut self, pid: u32) -> Option<&'static str> {
        let native = self.has_native && self.is_native(pid).unwrap_or(false);
        native.then_some(native::UNSEEN)
    }

    fn popup_open(&mut self, pid: u32) -> Result<bool> {
        let known = self.display.popup_open(pid)?;
        Ok(known.unwrap_or_else(|| self.menus.is_open(pid)))
    }

    fn popup_takes(&mut self, pid: u32, at: Point) -> Result<bool> {
        let x11 = self.display.x11();
        x11.map_or(Ok(false), |x11| x11.x11().popup_takes(pid, at))
    }
}

impl Raising for LinuxDesktop {
    fn activate(&mut self, window: WindowId, cancel: &Cancel) -> Result<()> {
        native::refuse(window)?;
        self.display.raising()?.activate(window, cancel)
    }
}

impl PointerInput for LinuxDesktop {
    fn click(&mut self, click: Click, _: Missed<'_>, cancel: &Cancel) -> Result<()> {
        self.await_menu(cancel)?;
        self.check_menu(click.at)?;
        let is_plain = click.button == Button::Left && click.modifiers.is_empty();
        let aimed = self.atspi.aimed(click.at).filter(|_| is_plain);
        let (mut has_missed, pid) = (false, self.aimed_at);
        let mut missed = || {
            let aside = self.atspi.missed(aimed.as_ref()?);
            let aside = aside.filter(|_| !pid.is_some_and(mapped::has_qml));
            has_missed = aside.is_some();
            aside
        };
        let pointer = self.display.pointer_input()?;
        let clicked = pointer.click(click, &mut missed, cancel);
        if let Some(pid) = self.aimed_at {
            self.menus.clicked(pid);
            has_missed = has_missed && !self.popup_open(pid)?;
        }
        clicked?;
        match aimed.filter(|_| has_missed) {
            Some(aimed) => Err(TargetError::NotPressed(aimed.name).into()),
            None => Ok(()),
        }
    }

    fn hover(&mut self, at: Point, cancel: &Cancel) -> Result<()> {
        self.display.pointer_input()?.hover(at, cancel)
    }

    fn drag(&mut self, way: [Point; 2], held: Modifiers, cancel: &Cancel) -> Result<()> {
        self.display.pointer_input()?.drag(way, held, cancel)
    }

    fn scroll(&mut self, at: Point, lines: (i32, i32), cancel: &Cancel) -> Result<()> {
        self.display.pointer_input()?.scroll(at, lines, cancel)
    }
}

impl KeyInput for LinuxDesktop {
    fn type_text(&mut self, text: &str, cancel: &Cancel) -> Result<()> {
        self.check_keyboard(
            Progress::Typed {
                typed: 0,
                all: text.chars().count(),
                unsure: 0,
            },
            cancel,
        )?;
        let _direct = self.input_methods.direct(self.aimed_at);
        self.display.key_input()?.type_text(text, cancel)
    }

    fn press_key(&mut self, press: KeyPress, held: Duration, cancel: &Cancel) -> Result<()> {
        self.check_keyboard(Progress::NotPressed, cancel)?;
        // Return types no text, so it does not go to the input method, and need not wait for it.
        let types =
            matches!(press.key, Key::Char(_) | Key::Space) && !press.modifiers.intersects(SHORTCUT);
        let _direct = types.then(|| self.input_methods.direct(self.aimed_at));
        self.display.key_input()?.press_key(press, held, cancel)
    }
}

// Before a click in an open menu: a wait and a check.

impl LinuxDesktop {
    /// Waits until the app no longer ignores a click in a menu that has just opened.
    pub(super) fn await_menu(&mut self, cancel: &Cancel) -> Result<()> {
        let Some(pid) = self
            .aimed_at
            .filter(|_| self.session.wayland_display.is_some())
        else {
            return Ok(());
        };
        if self.menus.ignores(pid).is_zero()
            || !self.atspi.ignores_clicks_in_new_menus(pid)
            || !self.popup_open(pid)?
        {
            return Ok(());
        }
        Ok(cancel.wait(self.menus.ignores(pid))?)
    }

    /// Fails if the click may reach a menu item other than the one that the tree shows there.
    pub(super) fn check_menu(&self, at: Point) -> Result<()> {
        match self.aimed_at {
            Some(pid) if self.menus.is_lost(pid) => Err(TargetError::MenuPlaceUnknown(at).into()),
            _ => Ok(()),
        }
    }
}
