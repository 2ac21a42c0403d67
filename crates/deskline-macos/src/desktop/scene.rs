//! Where input goes.

use deskline_contract::{Error, Result};
use deskline_core::{Key, Point};
use deskline_input::{Cancel, Doing, Hands, Receiver, Rhythm, Scene, Under, Wait};

use super::MacDesktop;
use crate::input::{Input, RHYTHM};
use crate::keys::MacKey;
use crate::os::Os;
use crate::{activate, front};

impl<O: Os> Scene for MacDesktop<O> {
    type Error = Error;
    type Key = MacKey;
    type Port<'p>
        = &'p mut Input<O>
    where
        Self: 'p;

    fn port(&mut self) -> Result<&mut Input<O>> {
        Ok(&mut self.input)
    }

    fn hands(&mut self) -> &mut Hands<MacKey> {
        &mut self.hands
    }

    fn rhythm(&self) -> Rhythm {
        RHYTHM
    }

    fn begin(&mut self, doing: Doing) -> Result<()> {
        activate::require_unlocked(&self.os)?;
        self.input.stays = self.before.is_none();
        match doing {
            // An input method composes letters, and passes the other keys on.
            Doing::Key(press) if !self.input.stays || matches!(press.key, Key::Char(_)) => {
                self.input.leave_method()
            }
            // For a text, `Port::lacks` decides whether the input method is turned off.
            Doing::Text | Doing::Key(_) | Doing::Point(_) | Doing::Drag(_) => Ok(()),
        }
    }

    fn end(&mut self) -> Result<()> {
        self.input.return_method();
        self.guard.check(std::mem::take(&mut self.input.posted));
        Ok(())
    }

    fn keyboard(&mut self, _: &Cancel) -> Result<Receiver> {
        activate::require_unlocked(&self.os)?;
        let Some(aim) = self.hands.aim.filter(|aim| !front::is(&self.os, aim.pid)) else {
            return Ok(Receiver::Target);
        };
        let front = front::pid(&self.os).filter(|front| aim.pid != *front);
        Ok(front.map_or(Receiver::Target, |front| Receiver::Other(self.other(front))))
    }

    fn under(&mut self, at: Point, end: Option<Point>, _: &Cancel) -> Result<Under> {
        let Some(aim) = self.hands.aim else {
            return Ok(Under::Target);
        };
        if let Some(other) = self.stranger_at(at, aim) {
            return Ok(Under::Other(other));
        }
        let at_end = end.and_then(|end| self.stranger_at(end, aim.at_end()));
        Ok(at_end.map_or(Under::Target, Under::EndOther))
    }

    // macOS does not report when an app has read its events.
    fn await_reader(&mut self, _: Wait, _: &Cancel) -> Result<bool> {
        Ok(true)
    }
}
