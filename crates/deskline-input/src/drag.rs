//! A drag, written once for all displays: a display supplies the single events.

use std::time::Duration;

use deskline_core::Point;

use crate::cancel::{Cancel, Cancelled};

/// Toolkits start a drag after this distance: 8 pixels in GTK, 10 in Qt.
const THRESHOLD: i64 = 12;

/// The single events of a drag. Each waits until the display has processed it, for a bounded time.
pub trait DragPort {
    /// Why an event was not sent.
    type Error: From<Cancelled> + std::fmt::Display;

    /// Moves the pointer, with or without the button down.
    fn go(&mut self, to: Point) -> Result<(), Self::Error>;

    /// Presses the drag's modifiers, then the main button.
    fn press(&mut self) -> Result<(), Self::Error>;

    /// Releases the main button, then the modifiers, as far as they are down.
    fn release(&mut self) -> Result<(), Self::Error>;

    /// Waits until the app that is dragged from has read the motion, where that can be known.
    fn await_source(&mut self, _cancel: &Cancel) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Waits until source and target have agreed on the drop, where that can be known.
    fn await_target(&mut self, _at: Point, _cancel: &Cancel) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// The speed of a drag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// The number of motions.
    pub steps: u8,
    /// The time after each of them.
    pub pause: Duration,
    /// The time after the press and before the release.
    pub dwell: Duration,
}

/// Presses the button at `from`, moves to `to` in steps, and releases.
///
/// A drag that is cancelled or fails ends where it began: there a drop changes nothing, and a slider is
/// back at its value. Escape would end a drag and drop too, but also close the dialog of a slider.
///
/// # Errors
/// What `cancel` says, and the errors of the port. The button is up after either, unless the port
/// cannot release it.
pub fn drag<P: DragPort>(
    port: &mut P,
    [from, to]: [Point; 2],
    pace: Pace,
    cancel: &Cancel,
) -> Result<(), P::Error> {
    cancel.check()?;
    port.go(from)?;
    let pulled = port
        .press()
        .and_then(|()| pull(port, [from, to], pace, cancel));
    if pulled.is_err()
        && let Err(e) = port.go(from)
    {
        tracing::warn!("a drag that failed ends where the pointer is: {e}");
    }
    let released = port.release();
    pulled.and(released)
}

fn pull<P: DragPort>(
    port: &mut P,
    [from, to]: [Point; 2],
    pace: Pace,
    cancel: &Cancel,
) -> Result<(), P::Error> {
    cancel.wait(pace.dwell)?;
    for point in path(from, to, pace.steps) {
        port.go(point)?;
        port.await_source(cancel)?;
        cancel.wait(pace.pause)?;
    }
    port.await_target(to, cancel)?;
    Ok(cancel.wait(pace.dwell)?)
}

/// The points of a drag: first past [`THRESHOLD`], if the way is that long, then in even steps. Ends
/// exactly at `to`.
fn path(from: Point, to: Point, steps: u8) -> impl Iterator<Item = Point> {
    let way = |a: i32, b: i32| i64::from(b) - i64::from(a);
    let (dx, dy) = (way(from.x, to.x), way(from.y, to.y));
    let longest = dx.abs().max(dy.abs());
    // No further than `to`, so both fit.
    let part = move |nth: i64, of: i64| Point {
        x: (i64::from(from.x) + dx * nth / of) as i32,
        y: (i64::from(from.y) + dy * nth / of) as i32,
    };
    let start = (longest > THRESHOLD).then(|| part(THRESHOLD, longest));
    let steps = i64::from(steps.max(1));
    let even = (1..=steps).filter(move |nth| *nth == steps || longest * nth / steps > THRESHOLD);
    start
        .into_iter()
        .chain(even.map(move |nth| part(nth, steps)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::aim::no_keyboard;
    use crate::cancel::Reason;
    use crate::error::InputError;

    type Result = std::result::Result<(), InputError>;

    const FROM: Point = Point { x: 10, y: 300 };
    const TO: Point = Point { x: 907, y: 17 };
    const PACE: Pace = Pace {
        steps: 4,
        pause: Duration::ZERO,
        dwell: Duration::ZERO,
    };

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Event {
        Go(Point),
        Press,
        Release,
    }

    /// Cancels, or fails once, at the event of this number.
    #[derive(Default)]
    struct Script {
        events: Vec<Event>,
        cancels: Option<usize>,
        fails: Option<usize>,
        cancel: Cancel,
    }

    impl Script {
        fn note(&mut self, event: Event) -> Result {
            let number = self.events.len();
            self.events.push(event);
            if self.cancels == Some(number) {
                self.cancel.cancel(Reason::Person);
            }
            match self.fails.filter(|fails| *fails == number) {
                Some(_) => Err(no_keyboard("stopped")),
                None => Ok(()),
            }
        }

        fn run(mut self) -> (Result, Vec<Event>) {
            let cancel = self.cancel.clone();
            let result = drag(&mut self, [FROM, TO], PACE, &cancel);
            (result, self.events)
        }
    }

    impl DragPort for Script {
        type Error = InputError;

        fn go(&mut self, to: Point) -> Result {
            self.note(Event::Go(to))
        }

        fn press(&mut self) -> Result {
            self.note(Event::Press)
        }

        fn release(&mut self) -> Result {
            self.note(Event::Release)
        }
    }

    /// Where the button was released. It must be up in the end.
    fn drop_of(events: &[Event]) -> Option<Point> {
        let mut at = None;
        let (mut down, mut dropped) = (false, None);
        for event in events {
            match event {
                Event::Go(to) => at = Some(*to),
                Event::Press => down = true,
                Event::Release => (down, dropped) = (false, at),
            }
        }
        assert!(!down, "{events:?}");
        dropped
    }

    #[test]
    fn a_drag_moves_in_steps_and_drops_at_its_end() {
        let (result, events) = Script::default().run();
        result.unwrap();
        assert_eq!(events[..2], [Event::Go(FROM), Event::Press]);
        assert_eq!(events.len(), 2 + 1 + 4 + 1, "{events:?}");
        assert_eq!(drop_of(&events), Some(TO));
    }

    #[test]
    fn a_drag_that_is_cancelled_or_fails_at_any_event_drops_at_its_start() {
        let (_, whole) = Script::default().run();
        let last = whole.len() - 1;
        for number in 0..last {
            let (result, events) = Script {
                cancels: Some(number),
                ..Script::default()
            }
            .run();
            assert!(
                matches!(
                    result,
                    Err(InputError::Cancelled(Cancelled(Reason::Person)))
                ),
                "{number}"
            );
            assert_eq!(
                drop_of(&events),
                Some(FROM),
                "cancelled at {number}: {events:?}"
            );
            let (result, events) = Script {
                fails: Some(number),
                ..Script::default()
            }
            .run();
            assert!(
                matches!(result, Err(InputError::NoKeyboard { .. })),
                "{number}"
            );
            let pressed = events.contains(&Event::Press);
            assert_eq!(
                drop_of(&events),
                pressed.then_some(FROM),
                "{number}: {events:?}"
            );
        }
        let (result, events) = Script {
            cancels: Some(last),
            ..Script::default()
        }
        .run();
        result.unwrap();
        assert_eq!(drop_of(&events), Some(TO), "it came too late");
    }

    #[test]
    fn a_drag_never_goes_back_on_its_way() {
        let points: Vec<_> = path(FROM, TO, 16).collect();
        assert_eq!(points.last(), Some(&TO));
        let forth = |p: &[Point]| p[0].x <= p[1].x && p[0].y >= p[1].y;
        assert!(points.windows(2).all(forth), "{points:?}");
        let first = points[0];
        assert_eq!(i64::from(first.x - FROM.x), THRESHOLD);
        assert_eq!(path(FROM, FROM, 16).last(), Some(FROM));
        let (far, near) = (i32::MAX, i32::MIN);
        let across = path(Point { x: near, y: far }, Point { x: far, y: near }, 16).last();
        assert_eq!(across, Some(Point { x: far, y: near }));
    }
}
