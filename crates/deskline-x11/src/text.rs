//! Types text: any Unicode, in order, and never far ahead of what the app has read. What follows a
//! Return or a Tab is sent once the app has acted on it.

use deskline_link::{Cancel, Error, Result};
use x11rb::protocol::xproto::Keysym;
use xkeysym::key;

use super::X11;
use super::keymap::Stroke;
use super::typist::{Locks, Typist};

/// Send at most this many characters before waiting for the server. They still go in after a cancel.
const AHEAD_OF_SERVER: usize = 8;

/// Send at most this many characters before waiting for the app.
const AHEAD_OF_APP: usize = 32;

/// Keysyms from here on are Unicode characters (X Window System Protocol, appendix A).
const UNICODE: Keysym = 0x0100_0000;

impl X11 {
    /// Types text into the focused window. Newlines are Return, tabs are Tab. Works with Caps Lock on,
    /// and leaves it on.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] for control characters, before anything is typed, and if the app does not read
    /// the keys for 2 s. [`Error::Cancelled`] at most 8 characters after the cancel.
    pub fn type_text(&mut self, text: &str, cancel: &Cancel) -> Result<()> {
        let text = typeable(text)?;
        cancel.check()?;
        if text.is_empty() {
            return Ok(());
        }
        self.watching_root(|x11| {
            x11.check_keyboard(cancel, || "Nothing was typed".to_owned())?;
            let mut typist = Typist::begin(x11, Locks::default())?;
            type_all(&mut typist, &text, cancel)?;
            typist.finish(cancel)
        })
    }
}

fn untypeable() -> Error {
    Error::Input(
        "the keyboard layout lacks a character of the text and has no spare key code to bind it to. Use set_value_and_traverse instead"
            .into(),
    )
}

fn type_all(typist: &mut Typist<'_>, text: &[char], cancel: &Cancel) -> Result<()> {
    if typist.spare_codes() == 0 && text.iter().any(|c| on_layout(typist, *c).is_none()) {
        return Err(untypeable());
    }
    let (mut typed, mut checked) = (0, 0);
    let mut rest = text;
    while !rest.is_empty() {
        let (run, missing) = bindable_run(typist, rest);
        if run == 0 {
            return Err(untypeable());
        }
        typist.bind(&missing, cancel)?;
        for char in &rest[..run] {
            cancel.check()?;
            if stroke(typist, *char).is_none() {
                // The layout was switched meanwhile: bind again.
                typist.bind(&[symbol(*char)], cancel)?;
            }
            let stroke = stroke(typist, *char).ok_or_else(untypeable)?;
            typist.strike(stroke, &[])?;
            typed += 1;
            let more = typed < text.len();
            let leads_on = char.is_control() && more;
            if leads_on {
                typist.await_effect(cancel)?;
            } else if typed % AHEAD_OF_APP == 0 {
                typist.await_reader(cancel)?;
            }
            if leads_on || typed % AHEAD_OF_SERVER == 0 {
                typist.keep_up()?;
                if more {
                    typist.check_keyboard(cancel, || progress(typed, text.len()))?;
                    checked = typed;
                }
            }
        }
        rest = &rest[run..];
    }
    unseen_grab(typist, text, checked, cancel)
}

fn progress(typed: usize, all: usize) -> String {
    format!(
        "The first {typed} of {all} characters were typed, perhaps some of the last {AHEAD_OF_SERVER} into it, and the rest was not"
    )
}

/// Fails if a client has grabbed the keyboard since the last check. A window that Return has opened may
/// do that, such as a password prompt.
fn unseen_grab(
    typist: &mut Typist<'_>,
    text: &[char],
    checked: usize,
    cancel: &Cancel,
) -> Result<()> {
    let unchecked = text.get(checked..).unwrap_or_default();
    if unchecked.contains(&'\n') {
        return Ok(());
    }
    typist.check_grab(cancel, || {
        let (all, last) = (text.len(), unchecked.len());
        format!("All {all} characters were typed, perhaps some of the last {last} into it")
    })
}

/// The length of the text for which the spare codes suffice, and the symbols to bind.
fn bindable_run(typist: &Typist<'_>, text: &[char]) -> (usize, Vec<Keysym>) {
    let mut missing = vec![];
    for (i, char) in text.iter().enumerate() {
        if on_layout(typist, *char).is_some() || missing.contains(&symbol(*char)) {
            continue;
        }
        if missing.len() == typist.spare_codes() {
            return (i, missing);
        }
        missing.push(symbol(*char));
    }
    (text.len(), missing)
}

fn stroke(typist: &Typist<'_>, char: char) -> Option<Stroke> {
    on_layout(typist, char).or_else(|| typist.bound(symbol(char)))
}

fn on_layout(typist: &Typist<'_>, char: char) -> Option<Stroke> {
    match char {
        '\n' | '\t' => typist.keymap.symbol(symbol(char)),
        _ => typist.keymap.char(char),
    }
}

/// The symbol for a character that is bound to a spare code.
pub(super) fn symbol(char: char) -> Keysym {
    match char {
        '\n' => key::Return,
        '\t' => key::Tab,
        ' '..='~' | '\u{a0}'..='\u{ff}' => u32::from(char),
        _ => UNICODE | u32::from(char),
    }
}

/// The text with `\n` as line ends; fails if it has characters that no key gives.
fn typeable(text: &str) -> Result<Vec<char>> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let refused = |c: &char| (c.is_control() && !"\n\t".contains(*c)) || noncharacter(*c);
    if let Some(control) = text.chars().find(refused) {
        return Err(Error::Input(format!(
            "the text holds U+{:04X}, which cannot be typed; nothing was typed. Leave it out, and send keys such as Escape or Delete with press_key_and_traverse",
            u32::from(control)
        )));
    }
    Ok(text.chars().collect())
}

/// Noncharacters, which Unicode reserves permanently (Unicode §23.7).
fn noncharacter(char: char) -> bool {
    let code = u32::from(char);
    code & 0xfffe == 0xfffe || (0xfdd0..=0xfdef).contains(&code)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::typeable;

    #[test]
    fn line_ends_become_one() {
        let chars: String = typeable("a\r\nb\rc\td").unwrap().into_iter().collect();
        assert_eq!(chars, "a\nb\nc\td");
    }

    #[test]
    fn control_characters_are_refused_by_name() {
        for text in ["a\u{1b}b", "\u{7f}", "\u{85}", "\0", "\u{ffff}"] {
            let error = typeable(text).unwrap_err().to_string();
            assert!(error.contains("U+"), "{error}");
        }
    }
}
