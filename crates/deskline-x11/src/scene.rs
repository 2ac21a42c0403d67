//! An action on the server: checks of the input's target, and changes to undo afterwards.

use std::time::Duration;

use deskline_contract::{Error, Result};
use deskline_core::{Modifiers, Point};
use deskline_input::{
    BETWEEN_CLICKS, Cancel, Doing, Hands, Pace, Part, Receiver, Rhythm, Scene, Tempo, Under, Wait,
};
use x11rb::protocol::xproto::{ConnectionExt as _, Keycode};

use super::acting::{Acting, Keys};
use super::grab_probe::Grabbable;
use super::will::Will;
use super::{During as _, X11, sync, typing};

/// How many wheel notches to send before waiting for the server: as many may still arrive after a
/// cancel.
const AHEAD_OF_SERVER: i32 = 8;

/// How many keys or wheel notches to send before waiting for the app.
const AHEAD_OF_APP: u32 = 32;

/// The modifiers that change the meaning of a click: Shift, Control, Alt (Mod1) and Super (Mod4).
const MODIFYING: u8 = 0b0100_1101;

const RHYTHM: Rhythm = Rhythm {
    // Parts are short, because a whole part goes astray if another program takes the focus after
    // the check.
    part: Part { least: 1, most: 1 },
    keys: Tempo::Burst(Duration::ZERO),
    chord: Duration::ZERO,
    dwell: Duration::ZERO,
    between: BETWEEN_CLICKS,
    notches: AHEAD_OF_SERVER,
    counted: false,
    // A step takes at least a frame at 120 Hz.
    drag: Pace {
        steps: 16,
        pause: Duration::from_millis(8),
        dwell: Duration::from_millis(8),
    },
};

/// After a cancel, the app has this long to read the last keys. Then their bindings are removed.
const CANCELLED: Duration = Duration::from_millis(100);

/// How long a binding stays after the app has read the keys typed with it. A toolkit may read the
/// map again when it dispatches the event.
const LINGER: Duration = Duration::from_millis(5);

impl Scene for X11 {
    type Error = Error;
    type Key = Keycode;
    type Port<'p>
        = &'p mut X11
    where
        Self: 'p;

    fn port(&mut self) -> Result<&mut Self> {
        Ok(self)
    }

    fn hands(&mut self) -> &mut Hands<Keycode> {
        &mut self.hands
    }

    fn rhythm(&self) -> Rhythm {
        RHYTHM
    }

    fn begin(&mut self, doing: Doing) -> Result<()> {
        self.watch_root()?;
        let was = self.modifier_state()?;
        self.acting = Acting {
            was: Some(was),
            ..Acting::default()
        };
        let presses = match doing {
            Doing::Point(modifiers) | Doing::Drag(modifiers) => !modifiers.is_empty(),
            Doing::Text | Doing::Key(_) => true,
        };
        if presses && u32::from(was.dropping) != 0 {
            self.pause_slow_keys(was.dropping)?;
            self.acting.slow_keys_paused = true;
        }
        self.reclaim_keycodes()?;
        self.claim_keycodes(&[])?;
        let will = Will::make(&self.connection, self.root, &self.place);
        self.acting.will = will
            .inspect_err(|error| tracing::debug!(%error, "no will"))
            .ok();
        match doing {
            Doing::Point(_) | Doing::Drag(_) => {
                let what = "reading the buttons of the pointer";
                let map = self.connection.get_pointer_mapping().during(what)?;
                self.acting.buttons = map.reply().during(what)?.map;
                if (was.latched | was.locked) & MODIFYING != 0 {
                    self.relock(was.locked & !MODIFYING)?;
                }
            }
            Doing::Text => self.begin_keys(false, None)?,
            Doing::Key(press) => {
                let caps_lock = press.modifiers.contains(Modifiers::CAPS_LOCK);
                self.begin_keys(caps_lock, typing::wants_num_lock(press))?;
            }
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        if self.acting.was.is_none() {
            return Ok(());
        }
        let put_back = self.put_back();
        self.acting = Acting::default();
        let unwatched = self.unwatch_root();
        put_back.and(unwatched)
    }

    fn keyboard(&mut self, cancel: &Cancel) -> Result<Receiver> {
        self.receiver(self.hands.aim, cancel)
    }

    fn under(&mut self, at: Point, end: Option<Point>, cancel: &Cancel) -> Result<Under> {
        self.acting.reader = self.window_at(at)?;
        let dropped_on = end.map_or(Ok(None), |end| self.window_at(end))?;
        let Some(aim) = self.hands.aim else {
            return Ok(Under::Target);
        };
        if let Some((window, _)) = self.acting.reader
            && let Receiver::Other(other) = self.pointed_at(window, aim)?
        {
            return Ok(Under::Other(other));
        }
        if let Some((window, _)) = dropped_on
            && let Receiver::Other(other) = self.owner(window, aim.at_end().pid)?
        {
            return Ok(Under::EndOther(other));
        }
        let holder = self.holder(Grabbable::Pointer, aim, cancel)?;
        Ok(holder.map_or(Under::Target, Under::Grab))
    }

    fn is_as_found(&mut self, at: Point) -> Result<bool> {
        self.is_in_place(at)
    }

    fn grabber(&mut self, cancel: &Cancel) -> Result<Option<String>> {
        let Some(aim) = self.hands.aim else {
            return Ok(None);
        };
        self.holder(Grabbable::Keyboard, aim, cancel)
    }

    fn await_reader(&mut self, wait: Wait, cancel: &Cancel) -> Result<bool> {
        let reader = self.acting.reader.map(|(window, _)| window);
        match wait {
            Wait::Wheel => {
                self.round_trip()?;
                if self.acting.unread < AHEAD_OF_APP {
                    return Ok(true);
                }
                self.acting.unread = 0;
                self.has_read(reader, sync::PATIENCE, cancel)
            }
            Wait::Part if self.acting.unread < AHEAD_OF_APP => Ok(true),
            Wait::Part => self.await_typed(sync::PATIENCE, cancel),
            Wait::Effect => {
                let read = self.await_typed(sync::PATIENCE, cancel)?;
                if let (true, Some(aim)) = (read, self.hands.aim) {
                    self.acting.app.await_idle(aim.pid, cancel)?;
                }
                Ok(read)
            }
            Wait::All => {
                if !self.acting.keys.as_ref().is_some_and(Keys::has_bound) {
                    return Ok(true);
                }
                let read = self.await_typed(sync::PATIENCE, cancel)?;
                cancel.wait(LINGER)?;
                Ok(read)
            }
            Wait::Motion => self.has_read(reader, sync::PATIENCE, cancel),
            // XDND: the source sends the position to the target, the target answers, and the source
            // reads the answer.
            Wait::Drop(at) => {
                let target = self.window_at(at)?.map(|(window, _)| window);
                let read = self.has_read(target, sync::PATIENCE, cancel)?;
                Ok(read && self.has_read(reader, sync::PATIENCE, cancel)?)
            }
        }
    }
}

impl X11 {
    /// Reads the keyboard and sets the locks for typing.
    fn begin_keys(&mut self, caps_lock: bool, num_lock: Option<bool>) -> Result<()> {
        let locks = self.read_keys(num_lock)?.locks(caps_lock);
        let was = self.acting.was.map(|was| (was.locked, was.latched));
        if was != Some((locks, 0)) {
            self.relock(locks)?;
        }
        Ok(())
    }

    fn relock(&mut self, locks: u8) -> Result<()> {
        self.acting.relocked = true;
        self.set_modifiers(locks, 0)
    }

    fn put_back(&mut self) -> Result<()> {
        let Some(was) = self.acting.was else {
            return Ok(());
        };
        if let Some(will) = self.acting.will.take() {
            will.revoke(&self.connection)?;
        }
        if let Some(mut keys) = self.acting.keys.take() {
            if keys.has_bound() && !self.await_typed(CANCELLED, &Cancel::new())? {
                tracing::debug!("key bindings removed before the app confirmed reading its keys");
            }
            for (code, bound) in &mut keys.spare {
                if std::mem::take(bound) != 0 {
                    self.bind_keycode(*code, 0)?;
                }
            }
            if keys.group_locked {
                self.lock_group(keys.keyboard.locked_group)?;
            }
        }
        self.give_keycodes_back()?;
        if self.acting.slow_keys_paused {
            self.resume_slow_keys(was.dropping)?;
        }
        if self.acting.relocked || was.sticky {
            if !self.acting.buttons.is_empty() {
                self.wait_for_release()?;
            }
            self.put_back_modifiers(was)?;
        }
        // A sync, not a flush: the server drops the unread requests of a client that has gone.
        self.round_trip()
    }
}
