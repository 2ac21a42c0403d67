//! The platform-independent part of the guard: its settings, the link's requests to the display,
//! and the text of the overlay.
//!
//! [`Checkpoint::grab`](crate::checkpoint::Checkpoint::grab) grabs the person's devices right
//! before synthetic input. They are released right after it, and at the latest when the checkpoint
//! is dropped.

use std::time::Duration;

use deskline_core::{Rect, escape};

use crate::call::{Action, Input};
use crate::error::Result;
use crate::resolve::lookup::Resolved;
use crate::secrecy::character_of;
use deskline_input::clock::Instant;
use deskline_input::{Button, Cancel, Clicks};

/// The watchdog releases the devices after this long, even if everything else hangs.
pub const LIMIT: Duration = Duration::from_secs(30);

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

/// The input that a grab protects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The text of the overlay: one line, without secrets. `None` for no overlay.
    pub caption: Option<String>,
    /// The bounds of the action. The overlay is on the same screen and does not cover them.
    pub place: Option<Rect>,
    /// Whether the input uses the pointer. A button that the person holds would interfere with it.
    pub pointer: bool,
    /// The devices are released automatically after this long.
    pub limit: Duration,
}

/// Whether the person's devices are grabbed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Grab {
    /// They are grabbed: the person's input reaches no app.
    Held,
    /// They are grabbed, except those of a person whose input cannot be distinguished from the
    /// agent's. The text names where that person sits.
    Partly(String),
    /// They cannot be grabbed. The text gives the reason in one line.
    Unable(String),
    /// They cannot be grabbed while another app is in front. Try again once the target is there.
    /// The text gives the reason in one line.
    NotYet(String),
}

/// Keeps the person's input out of apps, and watches it.
pub trait Guards {
    /// Starts to watch whether the person presses a key or a button, until [`Guards::unwatch`].
    /// Presses while the devices are grabbed reach no app and do not count.
    fn watch(&mut self) {}

    /// Stops watching the person, and listening for their Esc.
    fn unwatch(&mut self) {}

    /// Whether the person has pressed a key or a button since [`Guards::watch`]; `None` if that is
    /// unknown.
    fn pressed(&mut self) -> Option<bool> {
        None
    }

    /// Grabs the person's devices, so that their input reaches no app. Released by
    /// [`Guards::ungrab`], by the task's limit whatever hangs, and by the death of the process.
    /// Raises `cancel` when the person presses Esc without modifiers, and at the limit. Does
    /// nothing if they are grabbed already.
    ///
    /// An error means that nothing may be sent now.
    fn grab(&mut self, task: &Task, cancel: &Cancel) -> Result<Grab>;

    /// Releases the person's devices. Their Esc still raises the flag that [`Guards::grab`] was
    /// given, until [`Guards::unwatch`].
    fn ungrab(&mut self);

    /// Why some of the person's input may have reached an app since the last [`Guards::grab`]
    /// although their devices were grabbed. Called once after each [`Guards::ungrab`].
    fn lapse(&mut self) -> Option<String> {
        None
    }

    /// Whether the devices may stay grabbed while an app settles and the person's window comes back
    /// to the front: the overlay is in no picture, and that window can be raised during a grab.
    fn holds_on(&self) -> bool {
        false
    }
}

/// The state and total time of one link's grabs.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    since: Option<Instant>,
    /// The total time of finished grabs. `None` if there was none.
    held: Option<Duration>,
    /// Whether to try again once the target is in front.
    pub(crate) again: bool,
    /// Why the platform cannot grab, or whose devices it cannot grab, as the start of a note.
    pub(crate) unable: Option<String>,
}

impl Watch {
    pub(crate) fn holds(&self) -> bool {
        self.since.is_some()
    }

    pub(crate) fn taken(&mut self, at: Instant) {
        self.since = Some(at);
    }

    pub(crate) fn not_taken(&mut self) {
        self.since = None;
    }

    pub(crate) fn opened(&mut self) {
        if let Some(since) = self.since.take() {
            *self.held.get_or_insert_default() += since.elapsed();
        }
    }

    /// The total time of the grabs so far. `None` if there was none.
    pub(crate) fn held(&self) -> Option<Duration> {
        match self.since {
            Some(since) => Some(self.held.unwrap_or_default() + since.elapsed()),
            None => self.held,
        }
    }
}

/// The bounds of a banner of this size: at the top of the screen `area`, or at its bottom if the
/// top would cover `avoid`. `scale` is pixels per unit of 1/96 inch.
pub fn banner_place(area: Rect, scale: f64, (w, h): (i32, i32), avoid: Option<Rect>) -> Rect {
    /// The distance from the edge of the screen and from the target, at 96 dpi.
    const MARGIN: f64 = 12.0;

    let margin = (MARGIN * scale).round() as i32;
    let x = area.x + (area.w - w).max(0) / 2;
    let top = Rect::at(x, area.y + margin, w, h);
    // A target that fills the screen is covered in any case.
    if avoid.is_some_and(|avoid| !top.grown(margin).intersect(&avoid).is_empty()) {
        return Rect::at(x, area.y + area.h - h - margin, w, h);
    }
    top
}

/// The overlay's text: `AI: clicking 'Send' in Messages — press Esc to cancel`. It never contains
/// the typed text, which may be a secret: others may see the screen.
pub(crate) fn caption(action: &Action, target: Option<&Resolved>, app: Option<&str>) -> String {
    let at = |verb: &str| match target {
        Some(target) => format!("{verb} {} in", target.caption),
        None => format!("{verb} in"),
    };
    let doing = match action {
        Action::Input(Input::Click { kind, .. }) => at(match (kind.button, kind.clicks) {
            (Button::Right, _) => "right-clicking",
            (Button::Middle, _) => "middle-clicking",
            (Button::Left, Clicks::Double) => "double-clicking",
            (Button::Left, Clicks::Single) => "clicking",
        }),
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
            others: 0,
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

    #[test]
    fn a_banner_stays_off_its_target() {
        let area = Rect::at(1920, 0, 1280, 800);
        let top = banner_place(area, 1.0, (400, 40), None);
        assert_eq!((top.x, top.y), (1920 + 440, 12));
        let target = Rect::at(2500, 20, 100, 30);
        let bottom = banner_place(area, 1.0, (400, 40), Some(target));
        assert!(bottom.intersect(&target).is_empty());
        assert_eq!(bottom.y, 800 - 40 - 12);
    }
}
