//! The pressed keys and buttons, and how they are released.

use std::time::Duration;

use crate::cancel::{Cancel, Cancelled};
use crate::clicks::Button;
use crate::port::{Doing, Done, Port as _, Scene, Stroke};
use crate::pressed::Pressed;

/// Presses or releases a key or a button. A press is recorded before it is sent, and the record is
/// removed after the release was sent, because sending may fail.
fn send<S: Scene>(scene: &mut S, what: &Pressed<S::Key>, down: bool, nth: u8) -> Done<S> {
    if down {
        scene.hands().pressed.push(what.clone());
    }
    match what {
        Pressed::Key(key) => scene.port()?.key(key, down)?,
        Pressed::Button(button) => scene.port()?.button(*button, down, nth)?,
    }
    if !down {
        scene.hands().pressed.retain(|held| held != what);
    }
    Ok(())
}

/// Runs an action. Even if a step fails, releases everything and ends the action.
pub(crate) fn act<S: Scene, T>(
    scene: &mut S,
    doing: Doing,
    step: impl FnOnce(&mut S) -> Done<S, T>,
) -> Done<S, T> {
    let done = scene.begin(doing).and_then(|()| step(scene));
    let released = release_all(scene);
    let ended = scene.end();
    let done = done?;
    released.and(ended).map(|()| done)
}

/// Sends events that belong together. A guard that would block them is open meanwhile.
pub(crate) fn group<S: Scene, T>(
    scene: &mut S,
    events: impl FnOnce(&mut S) -> Done<S, T>,
) -> Done<S, T> {
    let done = scene.open().and_then(|()| events(scene));
    if done.is_err()
        && let Err(error) = release_all(scene)
    {
        tracing::warn!("not all keys and buttons were released: {error}");
    }
    let closed = scene.close();
    let done = done?;
    closed.map(|()| done)
}

pub(crate) fn button<S: Scene>(scene: &mut S, which: Button, down: bool, nth: u8) -> Done<S> {
    send(scene, &Pressed::Button(which), down, nth)
}

pub(crate) fn key<S: Scene>(scene: &mut S, key: &S::Key, down: bool) -> Done<S> {
    send(scene, &Pressed::Key(key.clone()), down, 1)
}

pub(crate) fn hold<S: Scene>(scene: &mut S, keys: &[S::Key]) -> Done<S> {
    keys.iter().try_for_each(|held| key(scene, held, true))
}

pub(crate) fn let_go<S: Scene>(scene: &mut S, keys: &[S::Key]) -> Done<S> {
    let mut keys = keys.iter().rev();
    keys.try_for_each(|held| key(scene, held, false))
}

/// Presses and releases a key while others are held. The key stays down for the time `down`.
pub(crate) fn strike<S: Scene>(
    scene: &mut S,
    stroke: &Stroke<S::Key>,
    down: Duration,
    cancel: &Cancel,
) -> Done<S> {
    hold(scene, &stroke.held)?;
    key(scene, &stroke.key, true)?;
    keep_down(scene, down, cancel)?;
    key(scene, &stroke.key, false)?;
    let_go(scene, &stroke.held)
}

/// Releases everything that is pressed, the last first. If a release fails, goes on with the
/// others; the next call tries the failed one again.
///
/// # Errors
/// The first error of the port.
pub fn release_all<S: Scene>(scene: &mut S) -> Done<S> {
    let pressed = scene.hands().pressed.clone();
    if pressed.is_empty() {
        return Ok(());
    }
    let mut result = Ok(());
    for held in pressed.iter().rev() {
        result = result.and(send(scene, held, false, 1));
    }
    result.and_then(|()| scene.port()?.sync())
}

/// Holds the pressed keys and buttons for a time. Flushes first, if the port buffers events.
pub(crate) fn keep_down<S: Scene>(scene: &mut S, time: Duration, cancel: &Cancel) -> Done<S> {
    if time.is_zero() {
        return Ok(());
    }
    scene.port()?.sync()?;
    Ok(cancel.wait(time)?)
}

/// Waits, unless the time is zero.
pub(crate) fn pause(time: Duration, cancel: &Cancel) -> Result<(), Cancelled> {
    if time.is_zero() {
        return Ok(());
    }
    cancel.wait(time)
}
