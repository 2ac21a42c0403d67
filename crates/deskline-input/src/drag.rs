//! Drags with the main button.

use deskline_core::{Modifiers, Point};

use crate::aim::{Aim, POLLED};
use crate::cancel::Cancel;
use crate::clicks::Button;
use crate::error::Progress;
use crate::hands::{act, button, group, hold, release_all};
use crate::pointer::{await_reader, go, keys_of, look};
use crate::port::{Doing, Done, Port as _, Scene, Wait};

/// After this distance, in pixels, all toolkits have started a drag. GTK starts it after 8, Qt
/// after 10.
const THRESHOLD: i64 = 12;

/// Drags from one place to another with the main button, with the modifiers held. If a drag is
/// cancelled or fails, the button is released where the drag began: a drop there changes nothing,
/// and a slider returns to its value. Escape would end a drag and drop too, but would also close
/// the dialog around a slider.
///
/// # Errors
/// As [`click`](crate::click), and [`InputError::EndCovered`](crate::InputError::EndCovered) before
/// anything is sent.
pub fn drag<S: Scene>(
    scene: &mut S,
    [from, to]: [Point; 2],
    modifiers: Modifiers,
    cancel: &Cancel,
) -> Done<S> {
    cancel.check()?;
    scene.hands().last_click.forget();
    act(scene, Doing::Drag(modifiers), |scene| {
        look(scene, from, Some(to), cancel)?;
        let held = keys_of(scene, modifiers)?;
        group(scene, |scene| {
            go(scene, from, Some(to), cancel)?;
            let pulled = pull(scene, [from, to], &held, cancel);
            if pulled.is_err()
                && let Err(e) = scene.port().and_then(|mut port| port.go(from))
            {
                tracing::warn!("a drag that failed ends where the pointer is: {e}");
            }
            let released = release_all(scene);
            pulled.and(released)
        })
    })
}

/// Presses the button, and moves the pointer in steps to where the drag ends.
fn pull<S: Scene>(
    scene: &mut S,
    [from, to]: [Point; 2],
    held: &[S::Key],
    cancel: &Cancel,
) -> Done<S> {
    let mut pace = scene.rhythm().drag;
    pace.dwell = pace.dwell.max(Aim::least_hold(scene.hands().aim));
    hold(scene, held)?;
    button(scene, Button::Left, true, 1)?;
    cancel.wait(pace.dwell)?;
    for point in path(from, to, pace.steps) {
        scene.port()?.go(point)?;
        await_reader(scene, Wait::Motion, Progress::PartlySent, cancel)?;
        cancel.wait(pace.pause)?;
    }
    await_reader(scene, Wait::Drop(to), Progress::PartlySent, cancel)?;
    if scene.hands().aim.is_some_and(|aim| aim.in_page) {
        linger(scene, to, cancel)?;
    }
    Ok(cancel.wait(pace.dwell)?)
}

/// Moves the pointer back and forth at the end of a drag until a page has answered. Chromium passes
/// the page's answer to one motion on to X at the next motion, and without a next motion only after
/// 350 ms.
fn linger<S: Scene>(scene: &mut S, to: Point, cancel: &Cancel) -> Done<S> {
    for beside in [1, 0, 1, 0] {
        cancel.wait(POLLED * 2)?;
        let x = to.x + beside;
        scene.port()?.go(Point { x, ..to })?;
        await_reader(scene, Wait::Motion, Progress::PartlySent, cancel)?;
    }
    Ok(cancel.wait(POLLED * 2)?)
}

/// The points of a drag: first a point at [`THRESHOLD`], if the drag is longer than that, then
/// points at even steps. The last point is exactly `to`.
fn path(from: Point, to: Point, steps: u8) -> impl Iterator<Item = Point> {
    let way = |a: i32, b: i32| i64::from(b) - i64::from(a);
    let (dx, dy) = (way(from.x, to.x), way(from.y, to.y));
    let longest = dx.abs().max(dy.abs());
    // The point lies between `from` and `to`, so both coordinates fit an `i32`.
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
mod tests {
    use super::*;

    const FROM: Point = Point { x: 10, y: 300 };
    const TO: Point = Point { x: 907, y: 17 };

    #[test]
    fn a_drag_never_moves_backwards() {
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
