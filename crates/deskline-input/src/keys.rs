//! Single keys, with modifiers, and held.

use std::time::Duration;

use deskline_core::KeyPress;

use crate::aim::Aim;
use crate::cancel::Cancel;
use crate::clock::Instant;
use crate::error::Progress;
use crate::hands::{act, group, hold, keep_down, key, let_go, pause};
use crate::pointer::await_reader;
use crate::port::{Doing, Done, Port, Scene, Wait};
use crate::typing::check_keyboard;

/// How often to check who has the keyboard while a key is held: the key repeats.
const LOOK: Duration = Duration::from_millis(50);

/// Presses one key while its modifiers are held, and holds it for a time.
///
/// # Errors
/// As [`type_text`](crate::type_text), before the key is pressed and while it is held.
pub fn press_key<S: Scene>(
    scene: &mut S,
    press: KeyPress,
    time: Duration,
    cancel: &Cancel,
) -> Done<S> {
    cancel.check()?;
    let least = Aim::least_hold(scene.hands().aim);
    act(scene, Doing::Key(press), |scene| {
        let rhythm = scene.rhythm();
        check_keyboard(scene, Progress::NotPressed, cancel)?;
        let stroke = scene.port()?.press(press, cancel)?;
        let down = |scene: &mut S| {
            hold(scene, &stroke.held)?;
            if !stroke.held.is_empty() {
                pause(rhythm.chord, cancel)?;
            }
            key(scene, &stroke.key, true)
        };
        let up = |scene: &mut S| {
            key(scene, &stroke.key, false)?;
            let_go(scene, &stroke.held)?;
            scene.port()?.sync()
        };
        if time <= least {
            group(scene, |scene| {
                down(scene)?;
                pause(rhythm.chord, cancel)?;
                // The key may close the window while it is down: that is its effect.
                keep_down(scene, least, cancel)?;
                up(scene)
            })?;
        } else {
            group(scene, |scene| {
                down(scene)?;
                scene.port()?.sync()
            })?;
            keep(scene, time, cancel)?;
            group(scene, up)?;
        }
        await_reader(scene, Wait::All, Progress::Pressed, cancel)
    })
}

/// Waits while a key is held and goes to the target.
fn keep<S: Scene>(scene: &mut S, time: Duration, cancel: &Cancel) -> Done<S> {
    let until = Instant::now() + time;
    while let left = until.saturating_duration_since(Instant::now())
        && !left.is_zero()
    {
        cancel.wait(left.min(LOOK))?;
        check_keyboard(scene, Progress::Pressed, cancel)?;
    }
    Ok(())
}
