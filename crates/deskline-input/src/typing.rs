//! Types text, and presses and holds single keys. Characters that follow a Return or a Tab are sent
//! after the app has acted on that key, if that can be known.

use std::time::Duration;

use deskline_core::KeyPress;

use crate::aim::Aim;
use crate::cancel::Cancel;
use crate::clock::Instant;
use crate::error::{Device, Gap, InputError, Progress};
use crate::hands::{act, group, hold, keep_down, key, let_go, pause, strike};
use crate::pointer::await_reader;
use crate::port::{Doing, Done, Port, Receiver, Scene, Stroke, Tempo, Wait};

/// All keys of a text together are down for at most this long.
const LONGEST: Duration = Duration::from_secs(3);

/// Types a text into the focused element: newlines with Return, tabs with Tab.
///
/// # Errors
/// [`InputError::Untypeable`] and [`InputError::Lacks`] before anything is typed. Before each part
/// of the text: [`InputError::Elsewhere`], [`InputError::OtherWindow`], [`InputError::NoKeyboard`],
/// [`InputError::Unclear`], [`InputError::Grabbed`]. After a part: [`InputError::NotReading`].
pub fn type_text<S: Scene>(scene: &mut S, text: &str, cancel: &Cancel) -> Done<S> {
    let text = typeable(text)?;
    cancel.check()?;
    if text.is_empty() {
        return Ok(());
    }
    act(scene, Doing::Text, |scene| {
        if let Some((at, why)) = scene.port()?.lacks(&text)? {
            return Err(InputError::Lacks { at, why }.into());
        }
        let rhythm = scene.rhythm();
        // Less for a long text, which must not outlast the guard.
        let most = LONGEST / u32::try_from(text.len()).unwrap_or(u32::MAX);
        let down = Aim::least_hold(scene.hands().aim).min(most);
        let (mut typed, mut part) = (0, 0);
        while let rest = &text[typed..]
            && !rest.is_empty()
        {
            let progress = |typed, unsure| Progress::Typed {
                typed,
                all: text.len(),
                unsure,
            };
            // Find the stroke before the check, so that no time passes between the check and the
            // key.
            let first = stroke_of(scene, rest, typed, cancel)?;
            check_keyboard(scene, progress(typed, part), cancel)?;
            part = rhythm.part.length_in(rest);
            part = group(scene, |scene| {
                type_part(scene, (rest, first), part, (rhythm.keys, down), cancel)
            })?;
            if let Tempo::Burst(time) = rhythm.keys {
                pause(time * u32::try_from(part).unwrap_or(u32::MAX), cancel)?;
            }
            typed += part;
            let leads_on = text[typed - 1].is_control();
            if typed < text.len() {
                let wait = if leads_on { Wait::Effect } else { Wait::Part };
                await_reader(scene, wait, progress(typed, 0), cancel)?;
                scene.port()?.sync()?;
            } else if !leads_on && let Some(by) = scene.grabber(cancel)? {
                // A password prompt that a Return has opened may have grabbed the keyboard.
                let (all, unsure) = (text.len(), part);
                Receiver::Grab(by).check(Progress::AllTyped { all, unsure })?;
            }
        }
        let all = text.len();
        let typed = Progress::AllTyped { all, unsure: 0 };
        await_reader(scene, Wait::All, typed, cancel)
    })
}

/// Types the first `part` characters of a text, and more if the last stroke types several. Returns
/// the number of typed characters.
fn type_part<S: Scene>(
    scene: &mut S,
    (text, first): (&[char], (Stroke<S::Key>, usize)),
    part: usize,
    (tempo, down): (Tempo, Duration),
    cancel: &Cancel,
) -> Done<S, usize> {
    let mut typed = 0;
    let mut first = Some(first);
    let mut last = None;
    while typed < part {
        cancel.check()?;
        let (stroke, length) = match first.take() {
            Some(first) => first,
            None => stroke_of(scene, &text[typed..], typed, cancel)?,
        };
        if last.as_ref() == Some(&stroke.key) {
            // An app that polls must see the key up between two presses of it.
            keep_down(scene, down, cancel)?;
        }
        strike(scene, &stroke, down, cancel)?;
        last = Some(stroke.key);
        typed += length.max(1);
        if let Tempo::Each(time) = tempo {
            scene.port()?.sync()?;
            cancel.wait(time)?;
        }
    }
    scene.port()?.sync()?;
    Ok(typed.min(text.len()))
}

/// The stroke that types the start of `rest`, and how many characters that is.
fn stroke_of<S: Scene>(
    scene: &mut S,
    rest: &[char],
    typed: usize,
    cancel: &Cancel,
) -> Done<S, (Stroke<S::Key>, usize)> {
    // A keyboard that binds characters to keys needs all remaining characters.
    let stroke = scene.port()?.stroke(rest, cancel)?;
    let lacks = || InputError::Lacks {
        at: vec![typed + 1],
        why: Gap::Layout,
    };
    Ok(stroke.ok_or_else(lacks)?)
}

/// Fails if keys would not go to the target.
pub(crate) fn check_keyboard<S: Scene>(
    scene: &mut S,
    progress: Progress,
    cancel: &Cancel,
) -> Done<S> {
    Ok(scene.keyboard(cancel)?.check(progress)?)
}

impl Receiver {
    /// Fails if the receiver is not the target.
    ///
    /// # Errors
    /// Why the keyboard is not the target's.
    pub fn check(self, progress: Progress) -> Result<(), InputError> {
        Err(match self {
            Self::Target => return Ok(()),
            Self::Other(other) => InputError::Elsewhere { other, progress },
            Self::OtherWindow(title) => InputError::OtherWindow { title, progress },
            Self::Nobody => InputError::NoKeyboard { progress },
            Self::Unclear(why) => InputError::Unclear { why, progress },
            Self::Grab(holder) => InputError::Grabbed {
                device: Device::Keyboard,
                holder,
                progress,
            },
        })
    }
}

/// The text with `\n` as line ends.
///
/// # Errors
/// [`InputError::Untypeable`] for characters that no key gives.
fn typeable(text: &str) -> Result<Vec<char>, InputError> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let refused = |c: &char| (c.is_control() && !"\n\t".contains(*c)) || noncharacter(*c);
    match text.chars().find(refused) {
        Some(refused) => Err(InputError::Untypeable(refused)),
        None => Ok(text.chars().collect()),
    }
}

/// Noncharacters, which Unicode reserves permanently (Unicode §23.7).
fn noncharacter(char: char) -> bool {
    let code = u32::from(char);
    code & 0xfffe == 0xfffe || (0xfdd0..=0xfdef).contains(&code)
}

// Single keys, with modifiers, pressed or held.

/// How often to check who has the keyboard while a key is held, because a held key repeats.
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
                // Do not check the keyboard's receiver again: a key may close the window as soon as
                // it goes down, and that is then its effect.
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

/// Waits while a key is held. Fails if the key does not go to the target any more.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::Part;

    #[test]
    fn all_line_ends_become_newlines() {
        let chars: String = typeable("a\r\nb\rc\td").unwrap().into_iter().collect();
        assert_eq!(chars, "a\nb\nc\td");
    }

    #[test]
    fn control_characters_are_refused_by_name() {
        for char in ['\u{1b}', '\u{7f}', '\u{85}', '\0', '\u{ffff}'] {
            let refused = typeable(&format!("a{char}b"));
            assert_eq!(refused, Err(InputError::Untypeable(char)));
        }
    }

    #[test]
    fn a_text_is_split_after_words_and_lines() {
        let parts = |text: &str, part: Part| {
            let text: Vec<char> = text.chars().collect();
            let (mut rest, mut parts) = (&text[..], Vec::new());
            while !rest.is_empty() {
                let length = part.length_in(rest);
                parts.push(length);
                rest = &rest[length..];
            }
            parts
        };
        let words = Part {
            least: 48,
            most: 80,
        };
        assert_eq!(parts("short", words), [5]);
        assert_eq!(parts("", words), [0_usize; 0]);
        assert_eq!(parts(&"word ".repeat(20), words), [50, 50]);
        assert_eq!(parts(&"x".repeat(170), words), [80, 80, 10]);
        assert_eq!(parts("ab\ncd\t\te", words), [3, 3, 1, 1]);
    }
}
