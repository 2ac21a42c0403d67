//! The words for input that stopped, and the next step.

use deskline_core::{Key, KeyPress, Modifiers, Point, escape};
use deskline_input::{Cancelled, Device, Gap, InputError, Other};

use super::Error;

impl From<Cancelled> for Error {
    fn from(Cancelled(reason): Cancelled) -> Self {
        Self::Cancelled(reason)
    }
}

impl From<InputError> for Error {
    fn from(e: InputError) -> Self {
        match e {
            InputError::Cancelled(cancelled) => cancelled.into(),
            InputError::Elsewhere { other, progress } => elsewhere(
                other,
                format!(
                    "is in front now, and input would not reach the target any more. {progress}"
                ),
            ),
            InputError::OtherWindow { title, progress } => Self::Input(format!(
                "another window of the app, '{}', is in front now. {progress}. Call \
                refresh_traversal to see it",
                escape::short(&title, 40)
            )),
            InputError::NoKeyboard { progress } => Self::Input(format!(
                "no window has the keyboard: a panel, a launcher, a menu of the desktop or the \
                lock screen may have it. {progress}"
            )),
            InputError::Covered {
                other,
                at: Point { x, y },
            } => covered(
                other,
                format!(
                    "covers ({x}, {y}), where the input was to go. Nothing was sent there; \
                     press_ax_and_traverse also works on a covered element"
                ),
            ),
            InputError::Moved { at } => moved(at),
            InputError::EndCovered {
                other,
                at: Point { x, y },
            } => covered(
                other,
                format!(
                    "covers ({x}, {y}), where the drag was to end. Nothing was dragged. To \
                    drop it there pass that app's pid as toPid; otherwise move one of the two \
                    windows"
                ),
            ),
            InputError::Unclear { why, progress } => Self::Input(format!("{why}. {progress}")),
            InputError::Grabbed {
                device,
                holder,
                progress,
            } => {
                let instead = match device {
                    Device::Keyboard => "set_value_and_traverse",
                    Device::Pointer => "press_ax_and_traverse",
                };
                Self::Input(format!(
                    "{holder} has grabbed the {device}, as open menus, screen locks and password \
                    prompts do, and input would go there. {progress}. Close it, or use \
                    {instead}, which needs no {device}"
                ))
            }
            InputError::OffScreen { at, screen: (w, h) } => Self::Input(format!(
                "({},{}) is not on the screen, which is {w}×{h}. Scroll the element into view, \
                or call refresh_traversal for where it is now",
                at.x, at.y
            )),
            InputError::Confined { to, at } => Self::Input(format!(
                "the pointer was sent to ({},{}) and is at ({},{}): a program confines it, or \
                someone moves it",
                to.x, to.y, at.x, at.y
            )),
            InputError::NotReading { progress } => Self::Input(format!(
                "the app in front has not read its input for 2 s, so nothing more was sent: it \
                may be busy or hung. {progress}. Call wait_for_and_traverse or refresh_traversal \
                until it answers, then go on from there"
            )),
            InputError::Untypeable(char) => Self::Input(format!(
                "the text holds U+{:04X}, which cannot be typed; nothing was typed. Leave it \
                out, and send keys such as Escape or Delete with press_key_and_traverse",
                u32::from(char)
            )),
            InputError::Lacks { at, why } => Self::Input(lacks(&at, why)),
            InputError::NoKey { press, why } => {
                let why = match why {
                    Gap::NoSpareKey => {
                        "the keyboard layout has no key for it, and no spare key code to bind it to"
                    }
                    Gap::NoSuchKey => "no keyboard has that key; F1 to F24 exist",
                    Gap::Layout | Gap::AboveFfff => "the user's keyboard layout has no key for it",
                };
                // The character may be a part of a password that is typed key by key.
                let key = character_of(press).map_or_else(
                    || format!("{press} cannot be pressed"),
                    |_| "this character cannot be pressed".to_owned(),
                );
                Self::Input(format!(
                    "{key}: {why}. Nothing was sent. Use another key, or the menu"
                ))
            }
            InputError::NoModifier(name) => Self::Input(format!(
                "the keyboard layout has no {name} key, so it cannot be held. Nothing was sent"
            )),
            e => Self::Input(e.to_string()),
        }
    }
}

/// The error for characters of a text that no key gives.
fn lacks(at: &[usize], why: Gap) -> String {
    let places = places(at);
    match why {
        Gap::AboveFfff => format!(
            "{places} of the text: on Wayland Chromium and Electron take no character above U+FFFF \
            from a key. Nothing was typed. Type it with paste true, or use \
            set_value_and_traverse"
        ),
        Gap::NoSpareKey => format!(
            "the keyboard layout has no key for {places} of the text, and no spare key code to \
            bind one to; nothing was typed. Type it with paste true, or write the whole text \
            with set_value_and_traverse"
        ),
        Gap::Layout | Gap::NoSuchKey => format!(
            "the user's keyboard layout has no key for {places} of the text, and this compositor \
            takes no others; nothing was typed. Write the whole text with set_value_and_traverse"
        ),
    }
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

/// The places of characters in a text, which may be a password.
fn places(all: &[usize]) -> String {
    const NAMED: usize = 5;
    let named: Vec<String> = all.iter().take(NAMED).map(usize::to_string).collect();
    let more = all.len().saturating_sub(NAMED);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    let word = if all.len() == 1 {
        "character"
    } else {
        "characters"
    };
    format!("{word} {}{more}", named.join(", "))
}

fn elsewhere(Other { title, pid }: Other, why: String) -> Error {
    Error::Elsewhere {
        title,
        pid,
        why,
        unsent: false,
    }
}

fn moved(at: Point) -> Error {
    Error::Input(format!(
        "the window at ({},{}) moved right before the input, so another element may be there. \
        Nothing was sent. Call again",
        at.x, at.y
    ))
}

/// Another window lies over the place: this is noticed before anything is sent.
fn covered(Other { title, pid }: Other, why: String) -> Error {
    Error::Elsewhere {
        title,
        pid,
        why,
        unsent: true,
    }
}

#[cfg(test)]
mod tests {
    use deskline_input::Progress;

    use super::*;

    #[test]
    fn a_shortcut_is_named_and_a_character_that_may_be_of_a_password_is_not() {
        let error = |modifiers| {
            let press = KeyPress {
                key: Key::Char('ж'),
                modifiers,
            };
            let why = Gap::Layout;
            Error::from(InputError::NoKey { press, why }).to_string()
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
        let said = Error::from(InputError::OtherWindow { title, progress }).to_string();
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
