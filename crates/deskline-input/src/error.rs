//! The reasons why input stopped, in the words that the agent reads.

use std::fmt;

use deskline_core::{Key, KeyPress, Modifiers, Point, Window, escape};

use crate::cancel::Cancelled;

/// Why input stopped. `Display` gives the cause, how far the input came, and the next step, without
/// a full stop at the end. Where another window is the cause, the text is a clause about that
/// window.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// The call was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// Another app's window has the keyboard.
    #[error("is in front now, so input would no longer reach the target. {progress}")]
    Elsewhere { other: Window, progress: Progress },
    /// Another window of the target's process has the keyboard. Its title is hostile data.
    #[error(
        "another window of the app, '{}', is in front now. {progress}. Call refresh_traversal to \
        see it",
        escape::short(title, 40)
    )]
    OtherWindow { title: String, progress: Progress },
    #[error(
        "no window has the keyboard: a panel, a launcher, a menu of the desktop or the lock screen \
        may have it. {progress}"
    )]
    NoKeyboard { progress: Progress },
    /// It is unknown which window has the keyboard. `why` is the reason, as a clause.
    #[error("{why}. {progress}")]
    Unclear { why: String, progress: Progress },
    /// A program, named by a phrase, has grabbed a device, and gets its events.
    #[error(
        "{holder} has grabbed the {device}, as open menus, screen locks and password prompts do, \
        and input would go there. {progress}. Close it, or use {}, which needs no {device}",
        device.instead()
    )]
    Grabbed {
        device: Device,
        holder: String,
        progress: Progress,
    },
    /// Another app's window lies where a button would be pressed.
    #[error(
        "covers {at}, where the input was to go. Nothing was sent there. Use \
         press_ax_and_traverse, which also works on a covered element"
    )]
    Covered { other: Window, at: Point },
    #[error(
        "the window at {at} moved right before the input, so another element may be there. \
        Nothing was sent. Call again"
    )]
    Moved { at: Point },
    /// Another app's window lies where a drag would end.
    #[error(
        "covers {at}, where the drag was to end. Nothing was dragged. To drop onto that window, \
         pass its app's pid as toPid. Otherwise move one of the two windows"
    )]
    EndCovered { other: Window, at: Point },
    /// The place is not on the screen. `screen` is the screen's width and height.
    #[error(
        "{at} is not on the screen, which is {}×{}. Scroll the element into view, or call \
        refresh_traversal for where it is now",
        screen.0,
        screen.1
    )]
    OffScreen { at: Point, screen: (i32, i32) },
    #[error(
        "the pointer was sent to {to} and is at {at}: a program or a person moves it. Try again"
    )]
    Confined { to: Point, at: Point },
    #[error(
        "the app in front has not read its input for 2 s, so nothing more was sent: it may be busy \
        or hung. {progress}. Call wait_for_and_traverse or refresh_traversal until it answers, then \
        go on from there"
    )]
    NotReading { progress: Progress },
    /// The text has a character that no key gives, such as an escape.
    #[error(
        "the text holds U+{:04X}, which cannot be typed. Nothing was typed. Leave it out, and send \
        keys such as Escape or Delete with press_key_and_traverse",
        u32::from(*.0)
    )]
    Untypeable(char),
    /// The keyboard cannot type the characters of the text at these places, counted from 1. The
    /// text may be a password.
    #[error("{}", lacks(at, *why))]
    Lacks { at: Vec<usize>, why: Gap },
    /// The keyboard cannot press this key.
    #[error("{}: {}. Nothing was sent. Use another key, or the menu", cannot(*press), why.of_key())]
    NoKey { press: KeyPress, why: Gap },
    #[error("the keyboard layout has no {0} key, so it cannot be held. Nothing was sent")]
    NoModifier(&'static str),
}

/// The character that a key press types. `None` for shortcuts and for keys that type nothing.
pub fn character_of(press: KeyPress) -> Option<char> {
    let shortcut = Modifiers::CONTROL | Modifiers::ALT | Modifiers::COMMAND;
    match press.key {
        _ if press.modifiers.intersects(shortcut) => None,
        Key::Char(char) => Some(char),
        Key::Space => Some(' '),
        _ => None,
    }
}

/// Says that a press is impossible, without naming a character: it may be a part of a password that
/// is typed key by key.
fn cannot(press: KeyPress) -> String {
    match character_of(press) {
        Some(_) => "this character cannot be pressed".to_owned(),
        None => format!("{press} cannot be pressed"),
    }
}

fn lacks(at: &[usize], why: Gap) -> String {
    let places = places(at);
    match why {
        Gap::AboveFfff => format!(
            "{places} of the text: on Wayland Chromium and Electron take no character above U+FFFF \
            from a key. Nothing was typed. Type it with paste true, or use set_value_and_traverse"
        ),
        Gap::NoSpareKey => format!(
            "the keyboard layout has no key for {places} of the text, and no spare key code to \
            bind one to. Nothing was typed. Type it with paste true, or write the whole text with \
            set_value_and_traverse"
        ),
        Gap::Layout | Gap::NoSuchKey => format!(
            "the user's keyboard layout has no key for {places} of the text, and this compositor \
            takes no other keys. Nothing was typed. Write the whole text with set_value_and_traverse"
        ),
    }
}

/// `characters 3, 4 and 9 more`
fn places(all: &[usize]) -> String {
    const NAMED: usize = 5;
    let named: Vec<String> = all.iter().take(NAMED).map(usize::to_string).collect();
    let more = escape::more(all.len().saturating_sub(NAMED));
    let s = if all.len() == 1 { "" } else { "s" };
    format!("character{s} {}{more}", named.join(", "))
}

/// A device that a program can grab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    /// The keyboard.
    Keyboard,
    /// The pointer.
    Pointer,
}

impl Device {
    /// The tool that does not need this device.
    fn instead(self) -> &'static str {
        match self {
            Self::Keyboard => "set_value_and_traverse",
            Self::Pointer => "press_ax_and_traverse",
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Keyboard => "keyboard",
            Self::Pointer => "pointer",
        })
    }
}

/// Why a keyboard cannot type a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// The layout has no key for the character, and the display takes no other keys.
    Layout,
    /// The layout has no key for the character, and no spare key code to bind the character to.
    NoSpareKey,
    /// No keyboard has such a key.
    NoSuchKey,
    /// The app takes no character above U+FFFF from a key.
    AboveFfff,
}

impl Gap {
    /// The positions, counted from 1, of the characters of a text that lack a key, with this gap as
    /// the reason. `None` if no character lacks a key.
    pub fn of(self, text: &[char], has: impl Fn(char) -> bool) -> Option<(Vec<usize>, Self)> {
        let lacking = (1..).zip(text).filter(|(_, char)| !has(**char));
        let lacking: Vec<usize> = lacking.map(|(at, _)| at).collect();
        (!lacking.is_empty()).then_some((lacking, self))
    }

    fn of_key(self) -> &'static str {
        match self {
            Self::NoSpareKey => {
                "the keyboard layout has no key for it, and no spare key code to bind it to"
            }
            Self::NoSuchKey => "no keyboard has that key; F1 to F24 exist",
            Self::Layout | Self::AboveFfff => "the user's keyboard layout has no key for it",
        }
    }
}

/// How far input came before it stopped. `Display` gives a sentence without its full stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// No event of the pointer was sent.
    NothingSent,
    /// Events of the pointer were sent, but not all.
    PartlySent,
    /// A key was not pressed.
    NotPressed,
    /// A key was pressed, and perhaps held for a while.
    Pressed,
    /// This many characters of a text were typed.
    Typed {
        /// The number of typed characters.
        typed: usize,
        /// The length of the text in characters.
        all: usize,
        /// How many of the last typed characters may have gone to another window.
        unsure: usize,
    },
    /// All characters of a text were typed.
    AllTyped {
        /// The length of the text in characters.
        all: usize,
        /// How many of the last typed characters may have gone to another window.
        unsure: usize,
    },
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingSent => f.write_str("Nothing was sent there"),
            Self::PartlySent => f.write_str("Some of the input was sent, the rest was not"),
            Self::NotPressed => f.write_str("The key was not pressed"),
            Self::Pressed => f.write_str("The key was pressed"),
            Self::Typed { typed: 0, .. } => f.write_str("Nothing was typed"),
            Self::Typed {
                typed,
                all,
                unsure: 0,
            } => write!(f, "The first {typed} of {all} characters were typed"),
            Self::Typed { typed, all, unsure } => write!(
                f,
                "The first {typed} of {all} characters were typed, {} outside the target; the rest was not",
                perhaps(*unsure)
            ),
            Self::AllTyped { all, unsure: 0 } => write!(f, "All {all} characters were typed"),
            Self::AllTyped { all, unsure } => write!(
                f,
                "All {all} characters were typed, {} outside the target",
                perhaps(*unsure)
            ),
        }
    }
}

/// A clause about the last typed characters, which may have gone to another window.
fn perhaps(unsure: usize) -> String {
    match unsure {
        1 => "perhaps the last".to_owned(),
        _ => format!("perhaps some of the last {unsure}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_a_shortcut_and_no_character_of_a_possible_password() {
        let error = |modifiers| {
            let press = KeyPress {
                key: Key::Char('ж'),
                modifiers,
            };
            let why = Gap::Layout;
            InputError::NoKey { press, why }.to_string()
        };
        let bare = error(Modifiers::SHIFT);
        assert!(
            bare.starts_with("this character cannot be pressed"),
            "{bare}"
        );
        assert!(!bare.contains('ж'), "{bare}");
        let shortcut = error(Modifiers::CONTROL);
        assert!(shortcut.contains("Control+Ж"), "{shortcut}");
    }

    #[test]
    fn a_hostile_title_of_another_window_is_escaped() {
        let progress = Progress::Typed {
            typed: 8,
            all: 20,
            unsure: 0,
        };
        let title = "Find\u{202e}".to_owned();
        let said = InputError::OtherWindow { title, progress }.to_string();
        assert!(
            said.starts_with("another window of the app, 'Find"),
            "{said}"
        );
        assert!(
            said.contains("8 of 20") && !said.contains('\u{202e}'),
            "{said}"
        );
    }
}
