//! The actions of a link so far, for the summary and for an error that follows.

use std::fmt::Write as _;

use deskline_core::{KeyPress, Point, escape};

use crate::secrecy::{HIDDEN, character_of};

/// What the action has done so far, in order. It is reported even if the link fails later.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Done {
    /// Where the click or the wheel turn was, for the crosshair. Screen coordinates.
    pub(crate) at: Option<Point>,
    parts: Vec<Part>,
    /// Whether the window moved while it was clicked.
    pub(crate) in_motion: bool,
    /// Whether input was started and it is unknown how much of it was sent.
    pub(crate) underway: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Part {
    /// `clicked 'Send' [AXButton]`
    Said(String),
    /// `typed 'Hello'`, `set 'Volume' [AXSlider] to '9'`: the verb, and the text.
    Text(String, String),
    /// `pressed Return`
    Key(KeyPress),
}

impl Done {
    /// Adds a part that holds no text from the agent.
    pub(crate) fn say(&mut self, what: impl Into<String>) {
        self.parts.push(Part::Said(what.into()));
    }

    /// Adds a text that was sent. It is shown only if it is public.
    pub(crate) fn text(&mut self, verb: impl Into<String>, text: &str) {
        self.parts.push(Part::Text(verb.into(), text.to_owned()));
    }

    pub(crate) fn key(&mut self, press: KeyPress) {
        self.parts.push(Part::Key(press));
    }

    /// Whether anything was done.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// `Clicked 'Name' [AXTextField], typed 'Hello', pressed Return`. Texts are shown only if
    /// `public`.
    pub(crate) fn sentence(&self, public: bool) -> String {
        let mut sentence = String::new();
        for part in &self.parts {
            if !sentence.is_empty() {
                sentence += ", ";
            }
            // Writing to a String cannot fail.
            let _ = match part {
                Part::Said(what) => write!(sentence, "{what}"),
                Part::Text(verb, text) if public => {
                    write!(sentence, "{verb} '{}'", escape::short(text, 40))
                }
                Part::Text(verb, _) => write!(sentence, "{verb} {HIDDEN}"),
                Part::Key(press) if public || character_of(*press).is_none() => {
                    write!(sentence, "pressed {press}")
                }
                Part::Key(_) => write!(sentence, "pressed {HIDDEN}"),
            };
        }
        escape::capital(&sentence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_about_the_actions_shows_no_part_of_a_secret() {
        let mut done = Done::default();
        done.say("clicked 'Name' [AXTextField]");
        done.text("typed", "hunter2");
        done.key(KeyPress::parse("x", &[]).unwrap());
        done.key(KeyPress::parse("Return", &[]).unwrap());
        assert_eq!(
            done.sentence(true),
            "Clicked 'Name' [AXTextField], typed 'hunter2', pressed X, pressed Return"
        );
        assert_eq!(
            done.sentence(false),
            "Clicked 'Name' [AXTextField], typed •••, pressed •••, pressed Return"
        );
        assert_eq!(Done::default().sentence(true), "");
    }
}
