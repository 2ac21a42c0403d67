//! Clicks, hovering and the wheel.

use std::time::Duration;

use deskline_core::{Modifiers, Point};

use crate::aim::Aim;
use crate::cancel::Cancel;
use crate::clicks::{Click, Missed};
use crate::error::{Device, InputError, Progress};
use crate::hands::{act, button, group, hold, keep_down, let_go, pause};
use crate::port::{Doing, Done, Port as _, Scene, Under, Wait};

/// How long the modifiers of a click are held after it. In the first click after its window had
/// come to the front, Firefox 153 saw no modifiers (X11, xfwm4): probably the window manager, which
/// reads that click too, passes the click's release on with the modifiers that are held at a later
/// moment.
const HANDED_ON: Duration = Duration::from_millis(50);

/// Moves the pointer and clicks, with the modifiers held. First waits until the click would no
/// longer count as the second click of a double click.
///
/// If something else has received the press, the button is let go where `missed` says, and nothing
/// more is sent.
///
/// # Errors
/// [`InputError::Covered`] and [`InputError::Grabbed`] before anything is sent; and those of the
/// display.
pub fn click<S: Scene>(
    scene: &mut S,
    click: Click,
    missed: Missed<'_>,
    cancel: &Cancel,
) -> Done<S> {
    let (at, which, modifiers) = (click.at, click.button, click.modifiers);
    let mut rhythm = scene.rhythm();
    let down = Aim::least_hold(scene.hands().aim);
    rhythm.between = rhythm.between.max(down);
    if !rhythm.counted {
        let last = &scene.hands().last_click;
        last.wait_before(at, which, click.clicks, cancel)?;
    }
    cancel.check()?;
    act(scene, Doing::Point(modifiers), |scene| {
        look(scene, at, None, cancel)?;
        let held = keys_of(scene, modifiers)?;
        group(scene, |scene| {
            go(scene, at, None, cancel)?;
            hold(scene, &held)?;
            for nth in 1..=click.clicks.count() {
                if nth > 1 {
                    scene.port()?.sync()?;
                    cancel.wait(rhythm.between)?;
                }
                scene.hands().last_click.note(at, which);
                button(scene, which, true, nth)?;
                pause(rhythm.dwell, cancel)?;
                keep_down(scene, down, cancel)?;
                scene.port()?.sync()?;
                if nth == 1
                    && let Some(aside) = missed()
                {
                    scene.port()?.go(aside)?;
                    button(scene, which, false, nth)?;
                    break;
                }
                button(scene, which, false, nth)?;
            }
            if !held.is_empty() {
                cancel.wait(HANDED_ON)?;
            }
            let_go(scene, &held)?;
            scene.port()?.sync()?;
            // Apps count clicks from the time at which the display took the click.
            scene.hands().last_click.note(at, which);
            Ok(())
        })
    })
}

/// Moves the pointer over a place and leaves it there.
///
/// # Errors
/// As [`click`].
pub fn hover<S: Scene>(scene: &mut S, at: Point, cancel: &Cancel) -> Done<S> {
    cancel.check()?;
    act(scene, Doing::Point(Modifiers::empty()), |scene| {
        look(scene, at, None, cancel)?;
        group(scene, |scene| {
            let mut port = scene.port()?;
            port.go(at)?;
            port.sync()
        })
    })
}

/// Turns the wheel by lines; positive is right and down.
///
/// # Errors
/// As [`click`], and [`InputError::NotReading`].
pub fn scroll<S: Scene>(
    scene: &mut S,
    at: Point,
    (right, down): (i32, i32),
    cancel: &Cancel,
) -> Done<S> {
    cancel.check()?;
    act(scene, Doing::Point(Modifiers::empty()), |scene| {
        let rhythm = scene.rhythm();
        look(scene, at, None, cancel)?;
        group(scene, |scene| {
            go(scene, at, None, cancel)?;
            for (lines, axis) in [(down, (0, 1)), (right, (1, 0))] {
                let mut left = lines;
                while left != 0 {
                    cancel.check()?;
                    let part = left.clamp(-rhythm.notches, rhythm.notches);
                    left -= part;
                    scene.port()?.wheel(axis.0 * part, axis.1 * part)?;
                    await_reader(scene, Wait::Wheel, Progress::PartlySent, cancel)?;
                }
            }
            scene.port()?.sync()
        })
    })
}

/// The keys of modifiers.
pub(crate) fn keys_of<S: Scene>(scene: &mut S, modifiers: Modifiers) -> Done<S, Vec<S::Key>> {
    if modifiers.is_empty() {
        return Ok(vec![]);
    }
    scene.port()?.modifiers(modifiers)
}

/// Fails if the pointer's events would go to something other than the target.
pub(crate) fn look<S: Scene>(
    scene: &mut S,
    at: Point,
    end: Option<Point>,
    cancel: &Cancel,
) -> Done<S> {
    let error = match scene.under(at, end, cancel)? {
        Under::Target => return Ok(()),
        Under::Other(other) => InputError::Covered { other, at },
        Under::EndOther(other) => InputError::EndCovered {
            other,
            at: end.unwrap_or(at),
        },
        Under::Grab(holder) => InputError::Grabbed {
            device: Device::Pointer,
            holder,
            progress: Progress::NothingSent,
        },
    };
    Err(error.into())
}

/// Moves the pointer to where [`look`] found the target. Fails if the target is no longer there.
pub(crate) fn go<S: Scene>(
    scene: &mut S,
    at: Point,
    end: Option<Point>,
    cancel: &Cancel,
) -> Done<S> {
    scene.port()?.go(at)?;
    if scene.is_as_found(at)? {
        return Ok(());
    }
    look(scene, at, end, cancel)
}

/// Fails if the app does not read its input in time.
pub(crate) fn await_reader<S: Scene>(
    scene: &mut S,
    wait: Wait,
    progress: Progress,
    cancel: &Cancel,
) -> Done<S> {
    if scene.await_reader(wait, cancel)? {
        return Ok(());
    }
    Err(InputError::NotReading { progress }.into())
}
