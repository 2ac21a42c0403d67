//! The display: windows, input, the guard, pictures.

use std::time::Duration;

use deskline_contract::guard::{Grab, Guards, Task};
use deskline_contract::{
    Aim, AppWindows, Cancel, Clipboard, Display, Error, KeyInput, Overlay, Picture, PictureNature,
    Pictures, Pointer, PointerInput, Raising, Result, Screen, Shown, Window, WindowId, offers,
};
use deskline_core::Point;
use deskline_input::clock::Instant;

use super::MacDesktop;
use crate::desktop::Before;
use crate::os::{NewValue, Os, Value};
use crate::{activate, front, panels, permissions, picture, windows};

/// How long to take no pictures after a picture was not delivered in time: each further attempt
/// would cost a link as much time again.
const RESTS: Duration = Duration::from_secs(60);

impl<O: Os> Display for MacDesktop<O> {
    fn begin_link(&mut self, _acts: bool) {
        self.before = None;
        self.hands.aim = None;
        // The last link may have read a tree without calling `rest` afterwards.
        self.woken.rest();
    }

    fn set_aim(&mut self, aim: Aim) {
        self.hands.aim = Some(aim);
    }

    fn release_all(&mut self) {
        if let Err(e) = deskline_input::release_all(self) {
            tracing::warn!("not all keys and buttons were released: {e}");
        }
    }

    offers!(self => Ok(self);
        screen Screen, raising Raising, pointer_input PointerInput, key_input KeyInput,
        pictures Pictures, guard Guards, overlay Overlay);

    fn clipboard(&mut self) -> Result<&mut dyn Clipboard> {
        Ok(&mut self.pasteboard)
    }
}

impl<O: Os> Screen for MacDesktop<O> {
    fn front(&mut self) -> Result<Option<Window>> {
        Ok(windows::front(&self.os))
    }

    fn every_window(&mut self) -> Result<Vec<Window>> {
        Ok(windows::all(&self.os))
    }

    fn windows_of(&mut self, pid: u32) -> Result<Vec<Window>> {
        let windows = windows::of_app(&self.os, pid);
        Ok(windows.into_iter().map(|(window, _)| window).collect())
    }

    fn pointer(&mut self) -> Result<Option<Pointer>> {
        Ok(Some(Pointer {
            at: self.input.pointer(),
            pressed: self.os.button_held(),
        }))
    }

    fn move_pointer(&mut self, to: Point) -> Result<()> {
        self.input.move_pointer(to);
        Ok(())
    }
}

impl<O: Os> Raising for MacDesktop<O> {
    fn activate(&mut self, window: WindowId, cancel: &Cancel) -> Result<()> {
        let pid = windows::app_of(window).or_else(|| Some(windows::find(&self.os, window)?.pid));
        let back = match (&self.before, pid) {
            // When the person's window returns to the front, also raise their other windows that
            // the target has come to cover.
            (Some(before), Some(pid)) if pid != before.raised => {
                before.order.first().is_some_and(|front| front.pid == pid)
            }
            _ => false,
        };
        if let (None, Some(pid)) = (&self.before, pid) {
            self.before = Some(self.note_before(pid));
        }
        let theirs = self
            .before
            .as_ref()
            .and_then(|before| before.front.as_ref());
        let theirs = theirs.filter(|theirs| theirs.number.map(u64::from) == Some(window.0));
        activate::window(&self.os, window, theirs, cancel)?;
        if let Some(pid) = pid {
            self.woken.renew(pid, false);
        }
        if (back || theirs.is_some())
            && let Some(before) = self.before.take()
        {
            for (element, name) in &before.away {
                let _ = self.os.set(element, name, &NewValue::Bool(true));
            }
            if back {
                activate::restore_order(&self.os, &before.order, before.raised);
            }
        }
        Ok(())
    }
}

impl<O: Os> MacDesktop<O> {
    fn note_before(&self, raised: u32) -> Before<O::Element> {
        let mut order = self.os.windows();
        order.retain(windows::is_window);
        let front = front::pid(&self.os).and_then(|pid| windows::focused(&self.os, pid));
        let app = self.os.application(raised);
        let hidden = self.os.attribute(&app, "AXHidden") == Ok(Value::Bool(true));
        let windows = windows::of_app(&self.os, raised).into_iter();
        let minimised = windows.filter_map(|(_, ax)| ax.filter(|ax| ax.minimised));
        let away = minimised.map(|window| (window.element, "AXMinimized"));
        Before {
            order,
            front,
            raised,
            away: away.chain(hidden.then_some((app, "AXHidden"))).collect(),
        }
    }
}

impl<O: Os> AppWindows for MacDesktop<O> {
    fn app_itself(&mut self, pid: u32) -> Result<Option<Window>> {
        Ok(self.os.app(pid).map(|_| windows::app(pid)))
    }

    fn reveal(&mut self, pid: u32, cancel: &Cancel) -> Result<()> {
        if self.before.is_none() {
            self.before = Some(self.note_before(pid));
        }
        activate::reveal(&self.os, pid, cancel)
    }

    fn popup_open(&mut self, pid: u32) -> Result<bool> {
        Ok(windows::popup_open(&self.os, pid))
    }
}

impl<O: Os> Pictures for MacDesktop<O> {
    fn picture(&mut self, window: WindowId) -> Result<Picture> {
        if !permissions::may_capture(&self.os)
            && !std::mem::replace(&mut self.asked_to_capture, true)
        {
            self.os.ask_to_capture();
        }
        let now = Instant::now();
        if self.no_pictures_until.is_some_and(|until| now < until) {
            return Err(Error::NoPicture(
                "macOS gave no screenshot in time. Deskline tries again in a minute".into(),
            ));
        }
        let taken = picture::take(&self.os, window);
        self.no_pictures_until =
            (taken.is_err() && now.elapsed() >= picture::TAKES).then(|| Instant::now() + RESTS);
        taken
    }

    // Another process takes the pictures. That a window behind others still has the same content is
    // a guess: AppKit draws an inactive title bar and selection, and keeps what it last drew of a
    // covered window.
    fn nature(&self) -> PictureNature {
        PictureNature::SlowFromBehind
    }
}

impl<O: Os> Overlay for MacDesktop<O> {
    fn show(&mut self, what: Shown<'_>, cancel: &Cancel) -> Result<()> {
        let panels = panels::panels(&self.os.displays(), what.place, what.caption, true);
        self.os.overlay(&panels);
        let waited = cancel.wait(what.time);
        self.os.overlay(&[]);
        Ok(waited?)
    }
}

impl<O: Os> Guards for MacDesktop<O> {
    fn watch(&mut self) {
        self.guard.watch();
    }

    fn unwatch(&mut self) {
        self.guard.end();
    }

    fn pressed(&mut self) -> Option<bool> {
        self.guard.pressed()
    }

    fn grab(&mut self, task: &Task, cancel: &Cancel) -> Result<Grab> {
        if self.guard.holds() {
            return Ok(Grab::Held);
        }
        let kept = self.guard.grab(task, cancel);
        if kept == Grab::Held {
            self.input.release_the_persons();
            let displays = self.os.displays();
            let caption = task.caption.as_deref().unwrap_or_default();
            self.os
                .overlay(&panels::panels(&displays, task.place, caption, false));
        }
        Ok(kept)
    }

    fn ungrab(&mut self) {
        self.guard.check(false);
        if self.guard.holds() {
            self.guard.ungrab();
        }
        self.os.overlay(&[]);
    }

    fn lapse(&mut self) -> Option<String> {
        self.guard.lapse()
    }
}
