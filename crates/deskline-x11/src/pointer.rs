//! The pointer: position, clicks, drags and the wheel. All are XTEST events, so that apps see the same
//! motion events as from a person's hand.

use std::time::Duration;

use deskline_core::{Modifiers, Point};
use deskline_link::{
    BETWEEN_CLICKS, Button, Cancel, Clicks, DragPort, Error, Pace, Pointer, Result, drag,
};
use x11rb::protocol::xproto::{ConnectionExt as _, KeyButMask, Window};

use super::injector::{Injector, Pressed};
use super::{During as _, Present as _, X11, sync};

/// A step of a drag takes at least a frame at 120 Hz.
const PACE: Pace = Pace {
    steps: 16,
    pause: Duration::from_millis(8),
    dwell: Duration::from_millis(8),
};

/// Send at most this many turns of the wheel before waiting for the server and the app.
const AHEAD_OF_SERVER: u32 = 8;
const AHEAD_OF_APP: u32 = 32;

/// The time limit for the pointer to arrive at a point.
const ARRIVAL: Duration = Duration::from_millis(500);

const WHAT: &str = "moving the pointer";

impl X11 {
    /// The pointer's position, and whether a button is down.
    pub fn pointer(&self) -> Result<Pointer> {
        let buttons = KeyButMask::BUTTON1
            | KeyButMask::BUTTON2
            | KeyButMask::BUTTON3
            | KeyButMask::BUTTON4
            | KeyButMask::BUTTON5;
        let pointer = self.connection.query_pointer(self.root).during(WHAT)?;
        let pointer = pointer.reply().during(WHAT)?;
        Ok(Pointer {
            at: Point {
                x: pointer.root_x.into(),
                y: pointer.root_y.into(),
            },
            pressed: pointer.mask.intersects(buttons),
        })
    }

    /// Moves the pointer, and waits until it has arrived.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if the point is off the screen, or a program confines the pointer.
    pub fn move_pointer(&mut self, to: Point) -> Result<()> {
        Injector::of(self).point_at(to)
    }

    /// Moves the pointer and clicks, with the modifiers held. Waits first as [`LastClick`] says.
    ///
    /// [`LastClick`]: deskline_link::LastClick
    ///
    /// # Errors
    ///
    /// As [`X11::move_pointer`] and [`X11::press_key`].
    pub fn click(
        &mut self,
        at: Point,
        button: Button,
        clicks: Clicks,
        modifiers: Modifiers,
        cancel: &Cancel,
    ) -> Result<()> {
        let codes = self.modifier_codes(modifiers)?;
        let what = self.physical(button)?;
        self.last_click.wait_before(at, button, clicks, cancel)?;
        cancel.check()?;
        self.check_pointer(at, cancel)?;
        self.unmodified(|x11| {
            let mut injector = Injector::of(x11);
            injector.point_at(at)?;
            injector.hold(&codes)?;
            injector.tap(what)?;
            if clicks == Clicks::Double {
                // Chromium takes two clicks of the same millisecond for a duplicated event.
                injector.round_trip()?;
                cancel.wait(BETWEEN_CLICKS)?;
                injector.tap(what)?;
            }
            injector.let_go(&codes)?;
            injector.last_click.note(at, button);
            injector.round_trip()
        })
    }

    /// Drags from `from` to `to` with the modifiers held, see [`drag`]. Waits until the app has noticed
    /// each step.
    ///
    /// # Errors
    ///
    /// As [`X11::click`], for both points, and [`Error::Input`] if an app does not read the motion for 2 s.
    pub fn drag(
        &mut self,
        from: Point,
        to: Point,
        modifiers: Modifiers,
        cancel: &Cancel,
    ) -> Result<()> {
        let codes = self.modifier_codes(modifiers)?;
        let button = self.physical(Button::Left)?;
        self.last_click.forget();
        cancel.check()?;
        self.check_pointer(from, cancel)?;
        self.check_drop(to)?;
        // The button stays down if this process dies: record that.
        self.claim_keycodes(&[])?;
        let pull = |x11: &mut Self| {
            let mut dragging = Dragging {
                injector: Injector::of(x11),
                codes: &codes,
                button,
                source: None,
            };
            drag(&mut dragging, [from, to], PACE, cancel)?;
            dragging.injector.round_trip()
        };
        let dragged = self.watching_root(|x11| x11.unmodified(pull));
        self.give_keycodes_back()?;
        dragged
    }

    /// Turns the wheel by lines. Positive is right and down.
    ///
    /// # Errors
    ///
    /// As [`X11::move_pointer`], and [`Error::Input`] if the app does not read the turns for
    /// 2 s.
    pub fn scroll(&mut self, at: Point, delta_x: i32, delta_y: i32, cancel: &Cancel) -> Result<()> {
        cancel.check()?;
        self.check_pointer(at, cancel)?;
        let scroll = |x11: &mut Self| {
            let mut injector = Injector::of(x11);
            injector.point_at(at)?;
            let reader = injector.window_at(at)?;
            for (delta, back, forth) in [(delta_y, 4, 5), (delta_x, 6, 7)] {
                let button = Pressed::Button(if delta < 0 { back } else { forth });
                for turn in 1..=delta.unsigned_abs() {
                    cancel.check()?;
                    injector.tap(button)?;
                    if turn % AHEAD_OF_SERVER == 0 {
                        injector.round_trip()?;
                    }
                    if turn % AHEAD_OF_APP == 0 {
                        injector.await_reader(reader, sync::PATIENCE, cancel)?;
                    }
                }
            }
            injector.round_trip()
        };
        self.watching_root(|x11| x11.unmodified(scroll))
    }

    /// The physical button for a logical one, by the person's mapping (left-handed mice).
    fn physical(&self, button: Button) -> Result<Pressed> {
        let logical = match button {
            Button::Left => 1,
            Button::Right => 3,
        };
        let map = self.connection.get_pointer_mapping().during(WHAT)?;
        let map = map.reply().during(WHAT)?.map;
        let at = map.iter().position(|mapped| *mapped == logical);
        let physical = at.and_then(|at| u8::try_from(at + 1).ok());
        Ok(Pressed::Button(physical.unwrap_or(logical)))
    }

    /// Fails if a point is off the screen.
    fn on_screen(&self, at: Point) -> Result<(i16, i16)> {
        let screen = self.connection.get_geometry(self.root).during(WHAT)?;
        let screen = screen.reply().during(WHAT)?;
        let inside =
            |v: i32, size: u16| i16::try_from(v).ok().filter(|_| v >= 0 && v < size.into());
        match (inside(at.x, screen.width), inside(at.y, screen.height)) {
            (Some(x), Some(y)) => Ok((x, y)),
            _ => Err(Error::Input(format!(
                "({},{}) is not on the screen, which is {}×{}. Scroll the element into view, or call refresh_traversal for where it is now",
                at.x, at.y, screen.width, screen.height
            ))),
        }
    }

    /// The innermost window at a point.
    pub(super) fn window_at(&self, at: Point) -> Result<Option<Window>> {
        let (x, y) = self.on_screen(at)?;
        let mut found = None;
        let mut inside = self.root;
        for _ in 0..sync::DEEPEST {
            let place = self
                .connection
                .translate_coordinates(self.root, inside, x, y)
                .during(WHAT)?;
            match place.reply().present(WHAT)? {
                Some(place) if place.child != x11rb::NONE => inside = place.child,
                _ => break,
            }
            found = Some(inside);
        }
        Ok(found)
    }
}

impl Injector<'_> {
    fn point_at(&mut self, at: Point) -> Result<()> {
        let (x, y) = self.on_screen(at)?;
        self.motion(x, y)?;
        // With a button down the server may delay motion: window managers freeze the pointer for a
        // moment to see what was clicked.
        let never = Cancel::new();
        if self.wait_until(ARRIVAL, &never, |x11| Ok(x11.pointer()?.at == at))? {
            Ok(())
        } else {
            let now = self.pointer()?.at;
            Err(Error::Input(format!(
                "the pointer was sent to ({},{}) and is at ({},{}): a program confines it, or someone moves it",
                at.x, at.y, now.x, now.y
            )))
        }
    }

    fn hold(&mut self, codes: &[u8]) -> Result<()> {
        codes
            .iter()
            .try_for_each(|code| self.press(Pressed::Key(*code)))
    }

    fn let_go(&mut self, codes: &[u8]) -> Result<()> {
        codes
            .iter()
            .rev()
            .try_for_each(|code| self.release(Pressed::Key(*code)))
    }
}

/// The single events of a drag.
struct Dragging<'a> {
    injector: Injector<'a>,
    /// The keys of its modifiers.
    codes: &'a [u8],
    button: Pressed,
    /// The window that is dragged from.
    source: Option<Window>,
}

impl DragPort for Dragging<'_> {
    type Error = Error;

    fn go(&mut self, to: Point) -> Result<()> {
        self.injector.point_at(to)?;
        if self.source.is_none() {
            self.source = self.injector.window_at(to)?;
        }
        Ok(())
    }

    fn press(&mut self) -> Result<()> {
        self.injector.hold(self.codes)?;
        self.injector.press(self.button)
    }

    fn release(&mut self) -> Result<()> {
        self.injector.release(self.button)?;
        self.injector.let_go(self.codes)
    }

    fn await_source(&mut self, cancel: &Cancel) -> Result<()> {
        self.injector
            .await_reader(self.source, sync::PATIENCE, cancel)
    }

    /// The source reports the pointer to the target, the target answers, the source notes the answer.
    fn await_target(&mut self, at: Point, cancel: &Cancel) -> Result<()> {
        let target = self.injector.window_at(at)?;
        for reader in [target, self.source] {
            self.injector.await_reader(reader, sync::PATIENCE, cancel)?;
        }
        Ok(())
    }
}
