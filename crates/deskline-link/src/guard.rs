//! The link's part of the guard: its settings, how long it held, and the text of the overlay.
//!
//! [`Checkpoint::grab`](crate::checkpoint::Checkpoint::grab) grabs the person's devices right
//! before synthetic input. They are released right after it, and at the latest when the checkpoint
//! is dropped.

use std::time::Duration;

use deskline_core::escape;

use crate::call::{Action, Input};
use crate::resolve::lookup::Resolved;
use crate::secrecy::character_of;
pub use deskline_contract::guard::{Grab, Guards, LIMIT, Task, banner_place};
use deskline_input::clock::Instant;

/// The parts of the guard to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// No guard: the person's input can mix with the agent's.
    Off,
    /// Grab the person's devices, and show nothing.
    Input,
    /// Grab the person's devices, and show an overlay that says so.
    #[default]
    Full,
}

/// The guard's settings, from the person who set up the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guarding {
    /// The parts of the guard to use.
    pub mode: Mode,
    /// The maximum time that the devices may be grabbed without a break.
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

/// The state and total time of one link's grabs.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub(crate) since: Option<Instant>,
    /// The total time of finished grabs. `None` if no grab has finished.
    held: Option<Duration>,
    /// Whether to try the grab again once the target is in front.
    pub(crate) again: bool,
    /// Why the platform can grab no devices, or not all of them. The start of a note.
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

    /// The total time of the grabs so far. `None` if nothing was grabbed.
    pub(crate) fn held(&self) -> Option<Duration> {
        match self.since {
            Some(since) => Some(self.held.unwrap_or_default() + since.elapsed()),
            None => self.held,
        }
    }
}

/// The overlay's text: `AI: clicking 'Send' in Messages — press Esc to cancel`. It never contains
/// the typed text, which may be a secret: others may see the screen.
pub(crate) fn caption(action: &Action, target: Option<&Resolved>, app: Option<&str>) -> String {
    let at = |verb: &str| match target {
        Some(target) => format!("{verb} {} in", target.caption),
        None => format!("{verb} in"),
    };
    let doing = match action {
        Action::Input(Input::Click { kind, .. }) => at(&format!("{}clicking", kind.prefix())),
        Action::Input(Input::Choose { .. }) => at("choosing from"),
        Action::Input(Input::Hover { .. }) => at("pointing at"),
        Action::Input(Input::PressKey { press, .. }) if character_of(*press).is_none() => {
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
    use deskline_input::clock;

    use super::*;
    use crate::call::{Target, Typing};

    fn click(text: Option<&str>) -> Action {
        Action::click(
            Target::Point(deskline_core::Point { x: 1, y: 2 }),
            Typing {
                paste: false,
                text: text.map(str::to_owned),
                key: None,
            },
        )
    }

    fn resolved(caption: &str) -> Resolved {
        Resolved {
            given: false,
            index: None,
            point: None,
            others: (0, None),
            is_part: false,
            name: format!("{caption} [AXButton]"),
            caption: caption.to_owned(),
        }
    }

    #[test]
    fn the_overlay_shows_the_action_and_no_secret() {
        let target = resolved("'Send'");
        let said = caption(&click(Some("hunter2")), Some(&target), Some("Messages"));
        assert_eq!(
            said,
            "AI: clicking 'Send' in Messages — press Esc to cancel"
        );
        let bare = caption(&click(None), Some(&resolved("button")), None);
        assert_eq!(bare, "AI: clicking button in an app — press Esc to cancel");
        let typing = Action::type_text(Typing::text("hunter2"));
        let press = deskline_core::KeyPress::parse("x", &[]).unwrap();
        let said = caption(&Action::press_key(press), None, Some("Messages"));
        assert_eq!(said, "AI: typing in Messages — press Esc to cancel");
        let said = caption(&typing, None, Some("Mess\nages"));
        assert!(!said.contains("hunter2") && !said.contains('\n'), "{said}");
    }

    #[test]
    fn time_held_adds_up_over_several_holds() {
        let mut watch = Watch::default();
        assert_eq!(watch.held(), None);
        clock::stop();
        for _ in 0..2 {
            watch.taken(Instant::now());
            clock::pass(Duration::from_secs(1));
            watch.opened();
        }
        watch.opened();
        assert_eq!(watch.held(), Some(Duration::from_secs(2)));
    }
}
