//! Clicks, hovering, drags and the wheel.

use deskline_core::{Modifiers, Point};

use crate::cancel::Cancel;
use crate::clicks::{Button, Click};
use crate::drag::{self, DragPort};
use crate::error::{Device, InputError, Progress};
use crate::hands::{act, button, group, hold, let_go, pause, release_all};
use crate::port::{Doing, Key, Port, Scene, Under, Wait};

/// Moves the pointer and clicks, with the modifiers held. Waits first while it would become a part of a
/// double click with the last one.
///
/// # Errors
/// [`InputError::Covered`] and [`InputError::Grabbed`] before anything is sent; and those of the
/// display.
pub fn click<S: Scene>(scene: &mut S, click: Click, cancel: &Cancel) -> Result<(), S::Error> {
    let Click {
        at,
        button: which,
        clicks,
        modifiers,
    } = click;
    let rhythm = scene.rhythm();
    if !rhythm.counted {
        let last = &scene.hands().last_click;
        last.wait_before(at, which, clicks, cancel)?;
    }
    cancel.check()?;
    act(scene, Doing::Point(modifiers), |scene| {
        let held = scene.port()?.modifiers(modifiers)?;
        look(scene, at, None, cancel)?;
        group(scene, |scene| {
            scene.port()?.go(at)?;
            hold(scene, &held)?;
            for nth in 1..=clicks.count() {
                if nth > 1 {
                    scene.port()?.sync()?;
                    cancel.wait(rhythm.between)?;
                }
                scene.hands().last_click.note(at, which);
                button(scene, which, true, nth)?;
                pause(rhythm.dwell, cancel)?;
                button(scene, which, false, nth)?;
            }
            let_go(scene, &held)?;
            scene.hands().last_click.note(at, which);
            scene.port()?.sync()
        })
    })
}

/// Moves the pointer over a place and leaves it there.
///
/// # Errors
/// As [`click`].
pub fn hover<S: Scene>(scene: &mut S, at: Point, cancel: &Cancel) -> Result<(), S::Error> {
    cancel.check()?;
    act(scene, Doing::Point(Modifiers::empty()), |scene| {
        look(scene, at, None, cancel)?;
        group(scene, |scene| {
            let port = scene.port()?;
            port.go(at)?;
            port.sync()
        })
    })
}

/// Drags from one place to another with the main button, with the modifiers held. A drag that is
/// cancelled or fails ends where it began: there a drop changes nothing, and a slider is back at its
/// value. Escape would end a drag and drop too, but also close the dialog of a slider.
///
/// # Errors
/// As [`click`], and [`InputError::EndCovered`] before anything is sent.
pub fn drag<S: Scene>(
    scene: &mut S,
    ends: [Point; 2],
    modifiers: Modifiers,
    cancel: &Cancel,
) -> Result<(), S::Error> {
    cancel.check()?;
    scene.hands().last_click.forget();
    act(scene, Doing::Drag(modifiers), |scene| {
        let pace = scene.rhythm().drag;
        let held = scene.port()?.modifiers(modifiers)?;
        look(scene, ends[0], Some(ends[1]), cancel)?;
        group(scene, |scene| {
            let mut dragging = Dragging { scene, held };
            drag::drag(&mut dragging, ends, pace, cancel)?;
            scene.port()?.sync()
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
) -> Result<(), S::Error> {
    cancel.check()?;
    act(scene, Doing::Point(Modifiers::empty()), |scene| {
        let rhythm = scene.rhythm();
        look(scene, at, None, cancel)?;
        group(scene, |scene| {
            scene.port()?.go(at)?;
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

/// Fails if something else than the target would get the pointer's events.
fn look<S: Scene>(
    scene: &mut S,
    at: Point,
    end: Option<Point>,
    cancel: &Cancel,
) -> Result<(), S::Error> {
    let aim = scene.hands().aim;
    let error = match scene.under(at, end, aim, cancel)? {
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

/// Fails if the app does not read its input in time.
pub(crate) fn await_reader<S: Scene>(
    scene: &mut S,
    wait: Wait,
    progress: Progress,
    cancel: &Cancel,
) -> Result<(), S::Error> {
    if scene.await_reader(wait, cancel)? {
        return Ok(());
    }
    Err(InputError::NotReading { progress }.into())
}

/// The single events of a drag.
struct Dragging<'a, S: Scene> {
    scene: &'a mut S,
    held: Vec<Key<S>>,
}

impl<S: Scene> DragPort for Dragging<'_, S> {
    type Error = S::Error;

    fn go(&mut self, to: Point) -> Result<(), S::Error> {
        self.scene.port()?.go(to)
    }

    fn press(&mut self) -> Result<(), S::Error> {
        hold(self.scene, &self.held)?;
        button(self.scene, Button::Left, true, 1)
    }

    fn release(&mut self) -> Result<(), S::Error> {
        release_all(self.scene)
    }

    fn await_source(&mut self, cancel: &Cancel) -> Result<(), S::Error> {
        await_reader(self.scene, Wait::Motion, Progress::PartlySent, cancel)
    }

    fn await_target(&mut self, at: Point, cancel: &Cancel) -> Result<(), S::Error> {
        await_reader(self.scene, Wait::Drop(at), Progress::PartlySent, cancel)
    }
}
