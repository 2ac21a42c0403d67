//! The display of a Linux desktop: the display system, and what AT-SPI, the kernel's guard and the
//! person's input method add to it.

use std::time::Duration;

use deskline_core::{Key, KeyPress, Modifiers, Point, Rect};
use deskline_input::Progress;
use deskline_link::capabilities::Ability;
use deskline_link::guard::{Grab, Task};
use deskline_link::{
    Aim, Cancel, Capabilities, Click, Clipboard, Display, Error, Picture, Pointer, Result, Window,
    WindowId,
};

use deskline_unix::process;

use super::LinuxDesktop;
use crate::native;

/// The modifiers with which a key types nothing.
const SHORTCUT: Modifiers = Modifiers::CONTROL
    .union(Modifiers::ALT)
    .union(Modifiers::COMMAND);

impl Display for LinuxDesktop {
    fn capabilities(&self) -> Capabilities {
        let mut can = self.display.capabilities();
        if self.by_kernel.is_some() {
            can.guard = Ability::Yes;
        }
        can
    }

    fn is_private(&self) -> bool {
        !self.attended && self.display.is_private()
    }

    fn begin_link(&mut self, acts: bool) {
        self.display.begin_link(acts);
    }

    fn front(&mut self) -> Result<Option<Window>> {
        self.display.front()
    }

    fn activate(&mut self, window: WindowId, cancel: &Cancel) -> Result<()> {
        native::refuse(window)?;
        self.display.activate(window, cancel)
    }

    fn app_itself(&mut self, pid: u32) -> Result<Option<Window>> {
        let native = self.has_native && self.is_native(pid)?;
        Ok(native.then(|| native::stand_in(pid)))
    }

    fn windows(&mut self, pid: u32) -> Result<Vec<Window>> {
        self.display.windows(pid)
    }

    fn helper_windows(&mut self, pid: u32) -> Result<Vec<Window>> {
        let mut found = self.display.dialogs_of(pid)?;
        for window in self.display.every_window()? {
            let known = found.iter().any(|known| known.id == window.id);
            let started = |its: u32| its != pid && process::descends(its, pid);
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

    fn every_window(&mut self) -> Result<Vec<Window>> {
        self.display.every_window()
    }

    fn popup_open(&mut self, pid: u32) -> Result<bool> {
        if self.display.lists_popups() {
            return self.display.popup_open(pid);
        }
        Ok(self.menus.is_open(pid))
    }

    fn pointer(&mut self) -> Result<Option<Pointer>> {
        self.display.pointer()
    }

    fn move_pointer(&mut self, to: Point) -> Result<()> {
        self.display.move_pointer(to)
    }

    fn watch_person(&mut self) {
        match &self.by_kernel {
            Some(guard) => guard.watch(),
            None => self.display.watch_person(),
        }
    }

    fn unwatch_person(&mut self) {
        match &self.by_kernel {
            Some(guard) => guard.rest(),
            None => self.display.unwatch_person(),
        }
    }

    fn person_pressed(&mut self) -> Option<bool> {
        match &self.by_kernel {
            Some(guard) => guard.pressed(),
            None => self.display.person_pressed(),
        }
    }

    fn show(
        &mut self,
        place: Option<Rect>,
        caption: &str,
        time: Duration,
        cancel: &Cancel,
    ) -> Result<()> {
        self.display.show(place, caption, time, cancel)
    }

    fn grab(&mut self, task: &Task, cancel: &Cancel) -> Result<Grab> {
        match &self.by_kernel {
            Some(guard) => guard.close(task, cancel),
            None => self.display.grab(task, cancel),
        }
    }

    fn ungrab(&mut self) {
        match &self.by_kernel {
            Some(guard) => guard.open(),
            None => self.display.ungrab(),
        }
    }

    fn guard_lapse(&mut self) -> Option<String> {
        match &self.by_kernel {
            Some(_) => None,
            None => self.display.guard_lapse(),
        }
    }

    fn aim(&mut self, aim: Aim) {
        self.aimed_at = Some(aim.pid);
        self.display.aim(aim);
    }

    fn click(&mut self, click: Click, cancel: &Cancel) -> Result<()> {
        self.await_menu(cancel)?;
        self.check_menu(click.at, cancel)?;
        let clicked = self.display.click(click, cancel);
        if let Some(pid) = self.aimed_at {
            self.menus.clicked(pid, click.at, click.button);
        }
        clicked
    }

    fn hover(&mut self, at: Point, cancel: &Cancel) -> Result<()> {
        self.display.hover(at, cancel)
    }

    fn drag(
        &mut self,
        from: Point,
        to: Point,
        modifiers: Modifiers,
        cancel: &Cancel,
    ) -> Result<()> {
        self.display.drag(from, to, modifiers, cancel)
    }

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
        self.display.type_text(text, cancel)
    }

    fn press_key(&mut self, press: KeyPress, held: Duration, cancel: &Cancel) -> Result<()> {
        self.check_keyboard(Progress::NotPressed, cancel)?;
        // A key that types is the input method's. Return, which it does not take, must not wait for it.
        let types =
            matches!(press.key, Key::Char(_) | Key::Space) && !press.modifiers.intersects(SHORTCUT);
        let _direct = types.then(|| self.input_methods.direct(self.aimed_at));
        self.display.press_key(press, held, cancel)
    }

    fn clipboard(&mut self) -> Result<&mut dyn Clipboard> {
        let Some(socket) = self.session.wayland_socket() else {
            return self.display.clipboard();
        };
        let clipboard = match self.clipboard.take() {
            Some(clipboard) => clipboard,
            None if self.session.own_seat => {
                return Err(Error::Unsupported {
                    what: "pasting",
                    why: "the agent's own seat has a clipboard of its own".into(),
                });
            }
            None => deskline_wayland::clipboard::start(&socket)?,
        };
        Ok(self.clipboard.insert(clipboard))
    }

    fn scroll(&mut self, at: Point, right: i32, down: i32, cancel: &Cancel) -> Result<()> {
        self.display.scroll(at, right, down, cancel)
    }

    fn release_all(&mut self) {
        self.display.release_all();
    }

    fn pictures_are_quick(&self) -> bool {
        self.display.pictures_are_quick()
    }

    fn picture(&mut self, window: WindowId) -> Result<Picture> {
        self.display.picture(window)
    }
}
