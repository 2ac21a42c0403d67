//! The guard (SPEC §8), the part that knows no OS: its settings, what a link asks the display for, and
//! the text of the overlay.
//!
//! Taken by [`Checkpoint::grab`](crate::checkpoint::Checkpoint::grab) right before
//! synthetic input, released right after it, and by the checkpoint's `Drop` at the latest.

use std::time::{Duration, Instant};

use deskline_core::{Rect, escape};

use crate::call::{Action, Input};
use crate::resolve::Resolved;
use crate::secrecy::character_of;

/// After this long the guard opens by itself, whatever hangs.
pub const LIMIT: Duration = Duration::from_secs(30);

/// How much of the guard is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Nothing: the person's input can mix with the agent's.
    Off,
    /// The person's input is kept out, and nothing is shown.
    Input,
    /// The person's input is kept out, and an overlay says so.
    #[default]
    Full,
}

/// How the person who set the server up wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guarding {
    /// How much of it.
    pub mode: Mode,
    /// The longest that the guard may hold at a stretch.
    pub limit: Duration,
}

impl Default for Guarding {
    fn default() -> Self {
        Self {
            mode: Mode::Full,
            limit: LIMIT,
        }
    }
}

/// The input that the guard is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// What the overlay says; `None` for no overlay. One line, harmless.
    pub caption: Option<String>,
    /// Where the action is: the overlay is on that screen and does not cover it.
    pub place: Option<Rect>,
    /// Whether the pointer is used, which a button that the person holds would interfere with.
    pub pointer: bool,
    /// After this long the guard opens by itself.
    pub limit: Duration,
}

/// Whether the person's devices are grabbed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Grab {
    /// They are: their input reaches no app.
    Held,
    /// All but those of someone whose input cannot be told from the agent's: who that is.
    Partly(String),
    /// They cannot be: why, in one line.
    Unable(String),
}

/// How the guard has held in one link.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    since: Option<Instant>,
    /// How long it has held, where it was taken.
    held: Option<Duration>,
    /// Why the platform does not guard, or against whom, as the start of a note.
    pub(crate) unable: Option<String>,
}

impl Watch {
    pub(crate) fn holds(&self) -> bool {
        self.since.is_some()
    }

    pub(crate) fn taken(&mut self, at: Instant) {
        self.since = Some(at);
    }

    pub(crate) fn opened(&mut self) {
        if let Some(since) = self.since.take() {
            *self.held.get_or_insert_default() += since.elapsed();
        }
    }

    /// How long it has held; `None` where it never was taken.
    pub(crate) fn held(&self) -> Option<Duration> {
        self.held
    }
}

/// `AI: clicking 'Send' in Messages — press Esc to cancel`. What is typed is not in it: it may be
/// a secret, and others may see the screen.
pub(crate) fn caption(action: &Action, target: Option<&Resolved>, app: Option<&str>) -> String {
    let at = |verb: &str| match target {
        Some(target) => format!("{verb} {} in", target.caption),
        None => format!("{verb} in"),
    };
    let doing = match action {
        Action::Input(Input::Click { right: true, .. }) => at("right-clicking"),
        Action::Input(Input::Click { double: true, .. }) => at("double-clicking"),
        Action::Input(Input::Click { .. }) => at("clicking"),
        Action::Input(Input::PressKey { press }) if character_of(*press).is_none() => {
            format!("pressing {press} in")
        }
        Action::Input(Input::Scroll { .. }) => "scrolling in".to_owned(),
        Action::Input(Input::Drag { .. }) => at("dragging"),
        _ => "typing in".to_owned(),
    };
    let app = app.filter(|app| !app.is_empty()).unwrap_or("an app");
    format!(
        "AI: {} {} — press Esc to cancel",
        escape::short(&doing, 70),
        escape::short(app, 40)
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::call::{Target, Typing};

    fn click(text: Option<&str>) -> Action {
        Action::Input(Input::Click {
            target: Target::Point(deskline_core::Point { x: 1, y: 2 }),
            double: false,
            right: false,
            then: Typing {
                text: text.map(str::to_owned),
                key: None,
            },
        })
    }

    fn resolved(caption: &str) -> Resolved {
        Resolved {
            given: false,
            index: None,
            point: None,
            others: 0,
            name: format!("{caption} [AXButton]"),
            caption: caption.to_owned(),
        }
    }

    #[test]
    fn the_overlay_says_what_goes_on_and_no_secret() {
        let target = resolved("'Send'");
        let said = caption(&click(Some("hunter2")), Some(&target), Some("Messages"));
        assert_eq!(
            said,
            "AI: clicking 'Send' in Messages — press Esc to cancel"
        );
        let bare = caption(&click(None), Some(&resolved("button")), None);
        assert_eq!(bare, "AI: clicking button in an app — press Esc to cancel");
        let typing = Action::Input(Input::Type {
            typing: Typing {
                text: Some("hunter2".into()),
                key: None,
            },
        });
        let press = deskline_core::KeyPress::parse("x", &[]).unwrap();
        let said = caption(
            &Action::Input(Input::PressKey { press }),
            None,
            Some("Messages"),
        );
        assert_eq!(said, "AI: typing in Messages — press Esc to cancel");
        let said = caption(&typing, None, Some("Mess\nages"));
        assert!(!said.contains("hunter2") && !said.contains('\n'), "{said}");
    }

    #[test]
    fn time_held_adds_up_over_several_holds() {
        let mut watch = Watch::default();
        assert_eq!(watch.held(), None);
        for _ in 0..2 {
            watch.taken(Instant::now().checked_sub(Duration::from_secs(1)).unwrap());
            watch.opened();
        }
        watch.opened();
        assert!(watch.held().unwrap() >= Duration::from_secs(2));
        assert!(watch.held().unwrap() < Duration::from_secs(3));
    }
}
