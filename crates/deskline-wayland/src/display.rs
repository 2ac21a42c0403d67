//! A Wayland compositor as the display of a link. This module checks for every compositor where
//! keys and clicks go: before the first one, and between later ones.

use std::time::Duration;

use deskline_contract::guard::Guards;
use deskline_contract::{
    Clipboard, Display, DisplayError, Error, KeyInput, Missing, Offer, Overlay, Pictures, Pointer,
    PointerInput, Raising, Result, Screen, Window, WindowId, Workspaces,
};
use deskline_core::Point;
use deskline_input::{
    Aim, BETWEEN_CLICKS, Cancel, Doing, Hands, Pace, Progress, Receiver, Rhythm, Scene, Tempo,
    Under, Wait,
};
use deskline_unix::unread::Unread;

use crate::compositor::{BoxedPort, Compositor, Current, Gate, Input};
use crate::focus::Keyboard;
use crate::reader;

/// The time between two keys. Without a pause, the compositor disconnected mousepad after 580
/// characters.
const PAUSE: Duration = Duration::from_millis(2);

/// The waits before and after the last motions of a drag. If the app has not started the drag by
/// the last motion, the compositor sends no `enter` to the window under the pointer, and nothing is
/// dropped. No event tells that a drag has started or is accepted, so these waits are fixed.
const STARTS: Duration = Duration::from_millis(100);
const ACCEPTS: Duration = Duration::from_millis(50);

/// Why a drag cannot end in another app's window, as a clause about the compositor.
const FROM_WINDOW: &str = "the compositor does not report where windows are on the screen";

/// A display on any compositor.
pub struct WaylandDisplay<C> {
    pub(crate) compositor: C,
    hands: Hands<u32>,
    /// The offset to add to points, as of the last
    /// [`locate`](crate::compositor::Compositor::locate).
    offset: (f64, f64),
    /// Measures the app's unread data, if the compositor disconnects slow readers.
    unread: Option<Unread>,
}

impl<C: Current> WaylandDisplay<C> {
    pub(crate) fn new(compositor: C) -> Self {
        Self {
            compositor,
            hands: Hands::default(),
            offset: (0.0, 0.0),
            unread: None,
        }
    }

    /// The compositor that is in use now.
    pub fn compositor(&mut self) -> &mut dyn Compositor {
        self.compositor.current_mut()
    }

    /// The receiver of keys, and the id of its window.
    fn receiver(&mut self, cancel: &Cancel) -> Result<(Receiver, Option<WindowId>)> {
        let aim = self.hands.aim;
        let (window, popup) = match self.compositor().keyboard(aim, cancel)? {
            Keyboard::Nobody => return Ok((Receiver::Nobody, None)),
            Keyboard::Unclear(why) => return Ok((Receiver::Unclear(why), None)),
            Keyboard::Window { window, popup } => (window, popup),
        };
        let id = window.id;
        let receiver = match aim {
            Some(aim) if Some(aim.pid) != window.pid => Receiver::Other(window),
            Some(aim) if !popup && aim.window.is_some_and(|window| window != id) => {
                Receiver::OtherWindow(window.title)
            }
            _ => Receiver::Target,
        };
        Ok((receiver, Some(id)))
    }

    /// The window with the keyboard. Points are relative to its corner. Fails unless the window is
    /// the target's.
    fn front_of_target(&mut self, cancel: &Cancel) -> Result<Option<WindowId>> {
        let (receiver, id) = self.receiver(cancel)?;
        receiver.check(Progress::NothingSent)?;
        Ok(id)
    }

    /// The window that a click at this point would reach, if it belongs to another app than the
    /// target.
    fn over(&mut self, at: Point, aim: Option<Aim>) -> Result<Option<Window>> {
        aim.map_or(Ok(None), |aim| self.compositor().over(at, aim))
    }

    /// Prepares the pointer for these points. Returns the offset to add to them.
    fn reach(&mut self, places: &[Point], cancel: &Cancel) -> Result<(f64, f64)> {
        let aim = self.hands.aim;
        if !self.compositor.current().manner().counts_from_window {
            return Ok(self.compositor().locate(aim, places, cancel)?.offset);
        }
        let front = self.front_of_target(cancel)?;
        let located = self.compositor().locate(aim, places, cancel);
        if let Ok(located) = &located
            && !located.late
        {
            return Ok(located.offset);
        }
        cancel.check()?;
        // If the target is not in front, another window may have been located.
        let located = match self.front_of_target(cancel) {
            Ok(now) if now == front => located,
            Ok(_) => Err(DisplayError::FrontChanged.into()),
            Err(e) => Err(e),
        };
        if located.is_err() {
            self.compositor().release();
        }
        Ok(located?.offset)
    }
}

impl<C: Current + 'static> Display for WaylandDisplay<C> {
    fn begin_link(&mut self, acts: bool) {
        self.compositor.begin(acts);
    }

    fn set_aim(&mut self, aim: Aim) {
        self.hands.aim = Some(aim);
        self.compositor().set_aim(aim);
    }

    fn release_all(&mut self) {
        // A failure is only logged, because keys and buttons are released when the connection is
        // lost.
        match deskline_input::release_all(self) {
            Ok(()) => self.compositor().end_input(),
            Err(e) => {
                tracing::debug!("not all keys and buttons were released: {e}");
                self.compositor().release();
            }
        }
    }

    fn screen(&mut self) -> Offer<&mut dyn Screen> {
        Ok(self)
    }

    fn raising(&mut self) -> Offer<&mut dyn Raising> {
        Ok(&mut self.compositor)
    }

    fn workspaces(&mut self) -> Option<&mut dyn Workspaces> {
        self.compositor().workspaces()
    }

    fn pointer_input(&mut self) -> Offer<&mut dyn PointerInput> {
        self.compositor.current().takes(Input::Pointer)?;
        Ok(self)
    }

    fn key_input(&mut self) -> Offer<&mut dyn KeyInput> {
        self.compositor.current().takes(Input::Keys)?;
        Ok(self)
    }

    fn pictures(&mut self) -> Offer<&mut dyn Pictures> {
        self.compositor().pictures()
    }

    fn guard(&mut self) -> Offer<&mut dyn Guards> {
        self.compositor().guard()
    }

    fn overlay(&mut self) -> Offer<&mut dyn Overlay> {
        Err(Missing::new("no overlay is drawn on Wayland"))
    }

    fn clipboard(&mut self) -> Result<&mut dyn Clipboard> {
        Err(Missing::new("the clipboard is reached on another connection").for_action("pasting"))
    }
}

impl<C: Current> Screen for WaylandDisplay<C> {
    fn front(&mut self) -> Result<Option<Window>> {
        self.compositor().front()
    }

    fn every_window(&mut self) -> Result<Vec<Window>> {
        self.compositor().toplevels()
    }

    fn pointer(&mut self) -> Result<Option<Pointer>> {
        self.compositor().pointer()
    }

    fn move_pointer(&mut self, to: Point) -> Result<()> {
        let offset = self.reach(&[to], &Cancel::new())?;
        if let Some(gate) = self.compositor().gate() {
            return gate.put_pointer(to);
        }
        self.compositor().devices(offset)?.go(to)
    }
}

impl<C: Current> Scene for WaylandDisplay<C> {
    type Error = Error;
    type Key = u32;
    type Port<'p>
        = BoxedPort<'p>
    where
        Self: 'p;

    fn port(&mut self) -> Result<BoxedPort<'_>> {
        self.compositor.current_mut().devices(self.offset)
    }

    fn hands(&mut self) -> &mut Hands<u32> {
        &mut self.hands
    }

    fn rhythm(&self) -> Rhythm {
        let manner = self.compositor.current().manner();
        Rhythm {
            part: manner.part,
            keys: if manner.types_at_once {
                Tempo::Burst(PAUSE)
            } else {
                Tempo::Each(PAUSE)
            },
            chord: Duration::ZERO,
            dwell: Duration::ZERO,
            between: BETWEEN_CLICKS,
            notches: 1,
            drag: Pace {
                steps: 10,
                pause: Duration::from_millis(10),
                dwell: Duration::from_millis(10),
            },
            counted: false,
        }
    }

    fn begin(&mut self, doing: Doing) -> Result<()> {
        if let Doing::Text | Doing::Key(_) = doing {
            self.compositor().ready()?;
        }
        self.unread = None;
        let socket = self.compositor.current().manner().ends_slow_readers;
        if let (Doing::Text, Some(aim), Some(socket)) = (doing, self.hands.aim, socket) {
            self.unread = Unread::find(aim.pid, socket);
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        Ok(())
    }

    fn open(&mut self) -> Result<()> {
        self.compositor().gate().map_or(Ok(()), Gate::open)
    }

    fn close(&mut self) -> Result<()> {
        self.compositor().gate().map_or(Ok(()), Gate::close)
    }

    fn keyboard(&mut self, cancel: &Cancel) -> Result<Receiver> {
        Ok(self.receiver(cancel)?.0)
    }

    fn under(&mut self, at: Point, end: Option<Point>, cancel: &Cancel) -> Result<Under> {
        let aim = self.hands.aim;
        let crosses = aim.is_some_and(|aim| aim.drop_on.is_some());
        if crosses && self.compositor.current().manner().counts_from_window {
            return Err(Missing::new(FROM_WINDOW).for_action("dragging to another app"));
        }
        if let Some(other) = self.over(at, aim)? {
            return Ok(Under::Other(other));
        }
        let at_end = end.map_or(Ok(None), |end| self.over(end, aim.map(Aim::at_end)))?;
        if let Some(other) = at_end {
            return Ok(Under::EndOther(other));
        }
        let places: Vec<Point> = [at].into_iter().chain(end).collect();
        self.offset = self.reach(&places, cancel)?;
        Ok(Under::Target)
    }

    fn await_reader(&mut self, wait: Wait, cancel: &Cancel) -> Result<bool> {
        match (wait, &self.unread) {
            (Wait::Part | Wait::Effect, Some(app)) => reader::await_reader(app, cancel),
            (Wait::Drop(to), _) => {
                cancel.wait(STARTS)?;
                let beside = Point { x: to.x - 1, ..to };
                for at in [beside, to] {
                    self.port()?.go(at)?;
                    cancel.wait(ACCEPTS)?;
                }
                Ok(true)
            }
            _ => Ok(true),
        }
    }
}

#[cfg(test)]
#[path = "display_tests.rs"]
mod tests;
