//! A Wayland compositor as the display of a link. What is checked of where keys and clicks go,
//! before they are sent and between them, is here for all compositors.

use std::time::Duration;

use deskline_core::{KeyPress, Modifiers, Point};
use deskline_link::guard::{Grab, Task};
use deskline_link::no_keyboard;
use deskline_link::{
    Aim, Cancel, Capabilities, Click, Display, Error, LastClick, Other, Picture, Pointer, Result,
    Window, WindowId,
};

use crate::compositor::{Compositor, Holder, Keyboard, Located, plus};
use crate::typing::Typing;

const NOTHING_SENT: &str = "Nothing was sent";

/// A display over a compositor.
pub struct WaylandDisplay<C> {
    pub(crate) compositor: C,
    aim: Option<Aim>,
    last_click: LastClick,
}

impl<C: Compositor> WaylandDisplay<C> {
    pub(crate) fn new(compositor: C) -> Self {
        Self {
            compositor,
            aim: None,
            last_click: LastClick::default(),
        }
    }

    /// The window with the keyboard, which must be the target's. `progress` says how far the input
    /// came.
    fn check_keyboard(&mut self, progress: &str) -> Result<WindowId> {
        let holder = match self.compositor.keyboard(self.aim)? {
            Keyboard::Nobody => return Err(no_keyboard(progress)),
            Keyboard::Unclear(why) => return Err(Error::Input(format!("{why}. {progress}"))),
            Keyboard::Window(holder) => holder,
        };
        let Holder {
            id,
            pid,
            title,
            popup,
        } = holder;
        match self.aim {
            Some(aim) if aim.pid != pid => Err(Other { title, pid }.has_keyboard(progress)),
            Some(aim) if !popup => Ok(aim.check_window(id, &title, progress).map(|()| id)?),
            _ => Ok(id),
        }
    }

    /// What lies over a place that input would go to, and is not the target's.
    fn over(&mut self, at: Point) -> Result<Option<Other>> {
        match self.aim {
            Some(aim) => self.compositor.over(at, aim),
            None => Ok(None),
        }
    }

    fn check_over(&mut self, at: Point) -> Result<()> {
        match self.over(at)? {
            Some(other) => Err(other.lies_over(at)),
            None => Ok(()),
        }
    }

    /// Makes the pointer ready for these places. Returns how far they are from those that input is
    /// sent to.
    fn reach(&mut self, places: &[Point], cancel: &Cancel) -> Result<(f64, f64)> {
        if !self.compositor.counts_from_window() {
            let located = self.compositor.locate(self.aim, places, cancel)?;
            return Ok(located.offset);
        }
        let front = self.check_keyboard(NOTHING_SENT)?;
        let located = self.compositor.locate(self.aim, places, cancel);
        if let Ok(Located {
            offset,
            late: false,
        }) = located
        {
            return Ok(offset);
        }
        cancel.check()?;
        // It may have located another window, or failed at one.
        let still = self.check_keyboard(NOTHING_SENT).and_then(|now| {
            if now == front {
                return Ok(());
            }
            Err(Error::Input(
                "the front window has just changed. Nothing was sent; try again".into(),
            ))
        });
        let located = still.and(located);
        if located.is_err() {
            self.compositor.release();
        }
        Ok(located?.offset)
    }
}

impl<C: Compositor> Display for WaylandDisplay<C> {
    fn capabilities(&self) -> Capabilities {
        self.compositor.capabilities()
    }

    fn begin_link(&mut self, acts: bool) {
        self.compositor.begin_link(acts);
    }

    fn front(&mut self) -> Result<Option<Window>> {
        self.compositor.front()
    }

    fn activate(&mut self, window: WindowId, cancel: &Cancel) -> Result<()> {
        self.compositor.raise(window, cancel)
    }

    fn windows(&mut self, pid: u32) -> Result<Vec<Window>> {
        let mut windows = self.compositor.windows()?;
        windows.retain(|window| window.pid == Some(pid));
        Ok(windows)
    }

    fn every_window(&mut self) -> Result<Vec<Window>> {
        self.compositor.windows()
    }

    /// Where the compositor distinguishes no tooltip from a menu, this is true of one too. Toolkits
    /// close theirs at a click and show it only when the pointer has moved again.
    fn popup_open(&mut self, pid: u32) -> Result<bool> {
        self.compositor.popup_open(pid)
    }

    fn pointer(&mut self) -> Result<Option<Pointer>> {
        self.compositor.pointer()
    }

    fn move_pointer(&mut self, to: Point) -> Result<()> {
        let offset = self.reach(&[to], &Cancel::new())?;
        self.compositor.put_pointer(to, plus(to, offset))
    }

    fn watch_person(&mut self) {
        if let Some(guard) = self.compositor.guard() {
            guard.watch();
        }
    }

    fn unwatch_person(&mut self) {
        if let Some(guard) = self.compositor.guard() {
            guard.unwatch();
        }
    }

    fn grab(&mut self, task: &Task, cancel: &Cancel) -> Result<Grab> {
        match self.compositor.guard() {
            Some(guard) => guard.grab(task, cancel),
            None => Ok(Grab::Unable("the compositor has no guard".into())),
        }
    }

    fn ungrab(&mut self) {
        if let Some(guard) = self.compositor.guard() {
            guard.ungrab();
        }
    }

    fn guard_lapse(&mut self) -> Option<String> {
        self.compositor.guard()?.lapse()
    }

    fn aim(&mut self, aim: Aim) {
        self.aim = Some(aim);
        self.compositor.aim(aim);
    }

    fn click(&mut self, click: Click, cancel: &Cancel) -> Result<()> {
        let Click {
            at, button, clicks, ..
        } = click;
        self.last_click.wait_before(at, button, clicks, cancel)?;
        cancel.check()?;
        self.check_over(at)?;
        let there = plus(at, self.reach(&[at], cancel)?);
        let clicked = self.compositor.send(&[at], &mut |hands| {
            hands.go(there)?;
            hands.click(button, clicks, cancel)
        });
        self.last_click.note(at, button);
        clicked
    }

    fn drag(
        &mut self,
        from: Point,
        to: Point,
        modifiers: Modifiers,
        cancel: &Cancel,
    ) -> Result<()> {
        cancel.check()?;
        self.check_over(from)?;
        if let Some(other) = self.over(to)? {
            return Err(other.lies_over_end(to));
        }
        let ends = [from, to];
        let offset = self.reach(&ends, cancel)?;
        self.compositor.send(&ends, &mut |hands| {
            hands.drag(ends, offset, modifiers, cancel)
        })
    }

    fn type_text(&mut self, text: &str, cancel: &Cancel) -> Result<()> {
        let parts = self.compositor.parts();
        let typing = Typing::new(text, parts, self.aim, self.compositor.ends_slow_readers())?;
        self.compositor.ready(&typing.text)?;
        for (part, so_far) in typing.parts() {
            typing.await_reader(&so_far, cancel)?;
            self.check_keyboard(&so_far)?;
            let at_once = self.compositor.types_at_once();
            let mut pause = Duration::ZERO;
            self.compositor.send(&[], &mut |hands| {
                pause = hands.type_part(part, at_once, cancel)?;
                Ok(())
            })?;
            cancel.wait(pause)?;
        }
        Ok(())
    }

    fn press_key(&mut self, press: KeyPress, _held: Duration, cancel: &Cancel) -> Result<()> {
        cancel.check()?;
        self.compositor.ready(&[])?;
        self.check_keyboard("The key was not pressed")?;
        self.compositor.send(&[], &mut |hands| hands.press(press))
    }

    fn scroll(&mut self, at: Point, right: i32, down: i32, cancel: &Cancel) -> Result<()> {
        cancel.check()?;
        self.check_over(at)?;
        let there = plus(at, self.reach(&[at], cancel)?);
        self.compositor.send(&[at], &mut |hands| {
            hands.go(there)?;
            hands.scroll(right, down, cancel)
        })
    }

    fn release_all(&mut self) {
        self.compositor.release();
    }

    fn pictures_are_quick(&self) -> bool {
        self.compositor.pictures_are_quick()
    }

    fn picture(&mut self, window: WindowId) -> Result<Picture> {
        self.compositor.capture(window)
    }
}

#[cfg(test)]
#[path = "display_tests.rs"]
mod tests;
