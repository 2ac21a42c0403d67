//! The pointer: its position, the window below it, and waiting until it arrives.

use std::time::Duration;

use deskline_contract::{Cancel, Error, InputError, Pointer, Result};
use deskline_core::{Point, Rect};
use x11rb::protocol::xproto::{ConnectionExt as _, KeyButMask, Window};

use super::{Answer as _, During as _, Present as _, X11, sync};

/// The time limit for the pointer to arrive at a point.
const ARRIVAL: Duration = Duration::from_millis(500);

const WHAT: &str = "moving the pointer";

/// Whether a mask has one of the buttons 1 to 5, which are its bits 8 to 12.
pub(super) fn has_button(mask: KeyButMask) -> bool {
    u16::from(mask) & 0x1f00 != 0
}

impl X11 {
    /// The pointer's position, and whether a button is down.
    pub fn pointer(&self) -> Result<Pointer> {
        let pointer = self.connection.query_pointer(self.root).answer(WHAT)?;
        Ok(Pointer {
            at: Point::at(pointer.root_x.into(), pointer.root_y.into()),
            pressed: has_button(pointer.mask),
        })
    }

    /// Fails if a point is off the screen.
    pub(super) fn on_screen(&self, at: Point) -> Result<(i16, i16)> {
        let screen = self.screen()?;
        match (i16::try_from(at.x), i16::try_from(at.y)) {
            (Ok(x), Ok(y)) if screen.contains(at) => Ok((x, y)),
            _ => Err(Error::from(InputError::OffScreen {
                at,
                screen: (screen.w, screen.h),
            })),
        }
    }

    /// The bounds of all monitors together.
    pub fn screen(&self) -> Result<Rect> {
        let root = self.connection.get_geometry(self.root).answer(WHAT)?;
        Ok(Rect::at(0, 0, root.width.into(), root.height.into()))
    }

    /// The innermost window at a point, and its origin.
    pub(super) fn window_at(&self, at: Point) -> Result<Option<(Window, Point)>> {
        let (x, y) = self.on_screen(at)?;
        let mut found = None;
        let mut inside = self.root;
        for _ in 0..sync::DEEPEST {
            let place = self
                .connection
                .translate_coordinates(self.root, inside, x, y)
                .during(WHAT)?;
            let Some(place) = place.reply().present(WHAT)? else {
                break;
            };
            if inside != self.root {
                let origin = (at.x - i32::from(place.dst_x), at.y - i32::from(place.dst_y));
                found = Some((inside, Point::at(origin.0, origin.1)));
            }
            if place.child == x11rb::NONE {
                break;
            }
            inside = place.child;
        }
        Ok(found)
    }

    /// Whether the window that [`X11::window_at`] found before the input still exists. Fails if
    /// that window has moved, or if the aimed window is not where it was when the place of the
    /// click was found.
    pub(super) fn is_in_place(&self, at: Point) -> Result<bool> {
        let expected = self.hands.aim.and_then(|aim| aim.window.zip(aim.place));
        if let Some((window, known)) = expected
            && let Some(Rect { x, y, .. }) = self.toplevel(window)?.map(|now| now.extents)
            && (x, y) != (known.x, known.y)
        {
            return Err(InputError::Moved { at }.into());
        }
        let Some((window, origin)) = self.acting.reader else {
            return Ok(true);
        };
        let pointer = self.connection.query_pointer(window);
        let Some(pointer) = pointer.answer_if_present(WHAT)? else {
            return Ok(false);
        };
        let now = (
            i32::from(pointer.root_x) - i32::from(pointer.win_x),
            i32::from(pointer.root_y) - i32::from(pointer.win_y),
        );
        if now == (origin.x, origin.y) {
            Ok(true)
        } else {
            Err(InputError::Moved { at }.into())
        }
    }

    /// Waits until the pointer has arrived. While a button is down, motion may be delayed: window
    /// managers freeze the pointer for a moment to inspect the click.
    pub(super) fn await_arrival(&mut self, to: Point) -> Result<()> {
        let never = Cancel::new();
        if self.wait_until(ARRIVAL, &never, |x11| Ok(x11.pointer()?.at == to))? {
            return Ok(());
        }
        let at = self.pointer()?.at;
        Err(InputError::Confined { to, at }.into())
    }
}
