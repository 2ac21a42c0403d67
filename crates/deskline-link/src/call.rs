//! Tool calls, after their arguments have been checked.

use std::time::Duration;

use deskline_core::{KeyPress, Modifiers, Point, Ref, States};
use deskline_input::{Button, Clicks};

/// The element or point that an action is for.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// The element with this ref.
    Ref(Ref),
    /// The best match for a substring of an element's text and a prefix of its role.
    Text {
        /// Case-insensitive substring of the element's text.
        text: String,
        /// Prefix of the element's role: `AXButton` or `Button`.
        role: Option<String>,
    },
    /// A point on the screen. If the call gave a width and a height too, the centre of that
    /// rectangle.
    Point(Point),
}

impl Target {
    /// The best match for a part of an element's text.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self::Text { text, role: None }
    }

    /// The best match for a part of an element's text and a prefix of its role.
    pub fn titled(text: &str, role: &str) -> Self {
        let (text, role) = (text.to_owned(), Some(role.to_owned()));
        Self::Text { text, role }
    }

    pub fn at(x: i32, y: i32) -> Self {
        Self::Point(Point { x, y })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WindowTarget {
    /// The window that has this ref, or that contains the element with this ref.
    Ref(Ref),
    /// The frontmost window whose title contains this text, case-insensitively.
    Titled(String),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClickKind {
    pub button: Button,
    /// The number of clicks in a row.
    pub clicks: Clicks,
    /// The modifiers held during the click.
    pub modifiers: Modifiers,
}

impl ClickKind {
    /// The words before `clicked` and `clicking`: `double-`, `right-`.
    pub(crate) fn prefix(self) -> String {
        let times = match self.clicks {
            Clicks::Single => "",
            Clicks::Double => "double-",
        };
        let button = match self.button {
            Button::Left => "",
            Button::Middle => "middle-",
            Button::Right => "right-",
        };
        format!("{times}{button}")
    }

    /// A double click of the main button.
    pub fn double() -> Self {
        Self {
            clicks: Clicks::Double,
            ..Self::default()
        }
    }

    /// One click of this button.
    pub fn with_button(button: Button) -> Self {
        Self {
            button,
            ..Self::default()
        }
    }
}

/// Keyboard input, after a click or alone: first the text, then the key.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Typing {
    pub text: Option<String>,
    /// Whether to paste the text from the clipboard instead of typing it.
    pub paste: bool,
    /// The key to press after the text.
    pub key: Option<KeyPress>,
}

impl Typing {
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            ..Self::default()
        }
    }

    /// The same typing, with this key after the text.
    #[must_use]
    pub fn then(self, key: Option<KeyPress>) -> Self {
        Self { key, ..self }
    }
}

/// The action of a link or of a step.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Action {
    /// Start an app or bring a running one to the front.
    Open {
        /// A name, desktop-file or bundle id, path or command.
        identifier: String,
    },
    /// Send synthetic input. Needs the target in front, the pointer and the guard.
    Input(Input),
    /// Act through the accessibility API alone, without front window, pointer, keys or guard.
    Quiet(Quiet),
    /// Only read the tree.
    #[default]
    Refresh,
    /// Read an element's whole text. Only as a step of a chain.
    Read { target: Target },
    /// Wait until an element is present, is absent, or has a state.
    WaitFor {
        target: Target,
        state: Awaited,
        /// The maximum time to wait.
        timeout: Duration,
    },
}

/// An action that sends synthetic input.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// Click, then type, then press a key.
    Click {
        target: Target,
        kind: ClickKind,
        then: Typing,
    },
    /// Open the element, and pick the choice with this text. Sends no input if the accessibility
    /// API alone can do it.
    Choose { target: Target, choice: String },
    /// Move the pointer over the target, and leave it there until the next link.
    Hover { target: Target },
    /// Type text, then press a key, into the focused element.
    Type { typing: Typing },
    PressKey {
        press: KeyPress,
        /// How long to hold the key. If zero, as long as a typed key.
        hold: Duration,
    },
    /// Turn the wheel.
    Scroll {
        /// Where the pointer is during the scroll.
        at: Target,
        /// Lines to the right; negative is left.
        delta_x: i32,
        /// Lines down; negative is up.
        delta_y: i32,
        /// Scroll on, in the direction of `delta_y`, until an element with this text shows.
        until: Option<String>,
    },
    /// Press the button at one point, move, and release it at another.
    Drag {
        /// Where the drag starts.
        from: Target,
        /// Where the drag ends.
        to: Target,
        /// The process that the drag ends in, if it may differ from the call's process.
        to_pid: Option<u32>,
        /// The modifier keys held during the drag.
        modifiers: Modifiers,
    },
}

/// An action on one element through the accessibility API.
#[derive(Debug, Clone, PartialEq)]
pub enum Quiet {
    SetValue {
        /// The element whose value to set.
        target: Target,
        value: String,
    },
    PressAx {
        target: Target,
    },
    /// Select or deselect an element.
    SetSelected {
        target: Target,
        /// `false` deselects.
        selected: bool,
    },
}

/// The state that `wait_for_and_traverse` waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    Present,
    Absent,
    /// The element is present and has this state.
    State(States),
    /// The element is present and visible.
    Visible,
    /// The element is present and not disabled.
    Enabled,
    /// The element is present, and no page of its app is loading.
    Loaded,
}

impl Awaited {
    /// All states that can be awaited, with their words in the `state` of a call.
    pub fn words() -> impl Iterator<Item = (&'static str, Self)> {
        #[rustfmt::skip]
        const OWN: [(&str, Awaited); 5] = [
            ("present", Awaited::Present), ("absent", Awaited::Absent), ("visible", Awaited::Visible),
            ("enabled", Awaited::Enabled), ("loaded", Awaited::Loaded),
        ];
        let states = States::WORDS.into_iter();
        OWN.into_iter()
            .chain(states.map(|(word, state)| (word, Self::State(state))))
    }
}

/// What must show after an action, or must not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expect {
    /// A part of an element's text.
    pub text: String,
    /// Whether the text must be gone instead.
    pub absent: bool,
    /// How long to wait for the text to show, or to be gone.
    pub timeout: Duration,
}

/// The options that every tool takes.
#[derive(Debug, Clone, PartialEq)]
// Each field is an argument of every tool, under the same name.
pub struct Options {
    /// Read the tree before acting (the diff needs it).
    pub traverse_before: bool,
    /// Read the tree after acting.
    pub traverse_after: bool,
    /// Answer with a diff if both trees were read.
    pub show_diff: bool,
    /// Include only elements that are visible on the screen.
    pub only_visible_elements: bool,
    /// Outline the target before acting.
    pub show_animation: bool,
    /// How long the outline is shown.
    pub animation_duration: Duration,
    /// Additional time to wait after the app has settled.
    pub delay_after_action: Duration,
    /// Whether another link follows at once, like the next step of a chain. That link first reports
    /// whether the app has taken back what this link changed.
    pub goes_on: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            traverse_before: true,
            traverse_after: true,
            show_diff: true,
            only_visible_elements: false,
            show_animation: false,
            animation_duration: Duration::from_millis(800),
            delay_after_action: Duration::ZERO,
            goes_on: false,
        }
    }
}

/// One tool call, with checked arguments.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Call {
    /// Whether the call's steps are reported one by one.
    pub is_chain: bool,
    /// The app's pid. `None` only for [`Action::Open`].
    pub pid: Option<u32>,
    /// The window of the app that the call names. If `None`, the front window, or the one that
    /// contains the target.
    pub window: Option<WindowTarget>,
    /// The first step of a chain, or the only step of another call.
    pub action: Action,
    /// The further steps of a chain: [`Action::Input`], [`Action::Quiet`], [`Action::Read`] or
    /// [`Action::WaitFor`].
    pub then: Vec<Action>,
    /// How many times each step of a chain runs. If empty, each runs once.
    pub repeats: Vec<usize>,
    /// What must show after each step, or must not. If empty, nothing is expected.
    pub expects: Vec<Option<Expect>>,
    pub options: Options,
    /// The id of the question that the person has approved for this call alone.
    pub approved: Option<String>,
    /// The arguments as received, for the journal.
    pub arguments: serde_json::Map<String, serde_json::Value>,
}

impl Call {
    /// A call of one step with default options. The pid is left out for [`Action::Open`].
    pub fn new(pid: impl Into<Option<u32>>, action: Action) -> Self {
        Self {
            pid: pid.into().filter(|_| !action.opens()),
            action,
            ..Self::default()
        }
    }

    /// A chain of the step `first` and the steps `then`, with default options.
    pub fn chain(pid: u32, first: Action, then: Vec<Action>) -> Self {
        Self {
            is_chain: true,
            then,
            ..Self::new(pid, first)
        }
    }

    /// The steps, in order.
    pub fn actions(&self) -> impl Iterator<Item = &Action> {
        std::iter::once(&self.action).chain(&self.then)
    }

    /// Whether any step does more than look.
    pub(crate) fn acts(&self) -> bool {
        self.actions()
            .any(|action| action.opens() || action.changes_something())
    }

    /// How many times this step runs.
    pub(crate) fn repeats(&self, step: usize) -> usize {
        self.repeats.get(step).copied().unwrap_or(1)
    }

    /// What must show after run number `nth` of the call's steps, or must not. For a repeated step
    /// it is expected only after the last run.
    pub(crate) fn expected(&self, nth: usize) -> Option<&Expect> {
        let (step, _) = self.runs().nth(nth)?;
        let next = self.runs().nth(nth + 1).map(|(step, _)| step);
        self.expects
            .get(step)?
            .as_ref()
            .filter(|_| next != Some(step))
    }

    /// The steps with their indices, each as often as it runs.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (usize, &Action)> {
        let steps = self.actions().enumerate();
        steps.flat_map(|(i, action)| std::iter::repeat_n((i, action), self.repeats(i)))
    }

    /// The processes that the call's steps are known to act in.
    pub(crate) fn acts_in(&self) -> impl Iterator<Item = u32> {
        let acts = |action: &&Action| matches!(action, Action::Input(_) | Action::Quiet(_));
        let dropped_on = |action: &Action| match action {
            Action::Input(Input::Drag { to_pid, .. }) => *to_pid,
            _ => None,
        };
        let own = self.pid.filter(|_| self.actions().any(|a| acts(&a)));
        own.into_iter().chain(self.actions().filter_map(dropped_on))
    }

    /// How long the call waits, before it begins, for an app that does not answer.
    pub fn patience(&self) -> Duration {
        match self.action {
            Action::WaitFor { timeout, .. } => timeout,
            _ => Duration::ZERO,
        }
    }

    /// The tool's name, as in file names and `tools/list`.
    pub fn tool(&self) -> &'static str {
        if self.is_chain {
            return "chain_and_traverse";
        }
        self.action.tool()
    }
}

impl From<Input> for Action {
    fn from(input: Input) -> Self {
        Self::Input(input)
    }
}

/// Actions without their rarer options.
impl Action {
    pub fn open(identifier: impl Into<String>) -> Self {
        let identifier = identifier.into();
        Self::Open { identifier }
    }

    /// One click of the main button, then typing.
    pub fn click(target: Target, then: Typing) -> Self {
        let kind = ClickKind::default();
        Self::Input(Input::Click { target, kind, then })
    }

    pub fn choose(target: Target, choice: impl Into<String>) -> Self {
        let choice = choice.into();
        Self::Input(Input::Choose { target, choice })
    }

    pub fn hover(target: Target) -> Self {
        Self::Input(Input::Hover { target })
    }

    pub fn type_text(typing: Typing) -> Self {
        Self::Input(Input::Type { typing })
    }

    pub fn press_key(press: KeyPress) -> Self {
        let hold = Duration::ZERO;
        Self::Input(Input::PressKey { press, hold })
    }

    /// A drag without modifiers that ends in the call's process.
    pub fn drag(from: Target, to: Target) -> Self {
        Self::Input(Input::Drag {
            from,
            to,
            to_pid: None,
            modifiers: Modifiers::empty(),
        })
    }

    pub fn set_value(target: Target, value: impl Into<String>) -> Self {
        let value = value.into();
        Self::Quiet(Quiet::SetValue { target, value })
    }

    pub fn press_ax(target: Target) -> Self {
        Self::Quiet(Quiet::PressAx { target })
    }

    pub fn set_selected(target: Target, selected: bool) -> Self {
        Self::Quiet(Quiet::SetSelected { target, selected })
    }

    /// The tool of a call with this action alone, as in file names and `tools/list`.
    pub fn tool(&self) -> &'static str {
        match self {
            Self::Open { .. } => "open_application_and_traverse",
            Self::Input(Input::Click { .. } | Input::Choose { .. } | Input::Hover { .. }) => {
                "click_and_traverse"
            }
            Self::Input(Input::Type { .. }) => "type_and_traverse",
            Self::Input(Input::PressKey { .. }) => "press_key_and_traverse",
            Self::Input(Input::Scroll { .. }) => "scroll_and_traverse",
            Self::Input(Input::Drag { .. }) => "drag_and_traverse",
            Self::Quiet(Quiet::SetValue { .. }) => "set_value_and_traverse",
            Self::Quiet(Quiet::PressAx { .. }) => "press_ax_and_traverse",
            Self::Quiet(Quiet::SetSelected { .. }) => "set_selected_and_traverse",
            Self::Refresh | Self::Read { .. } => "refresh_traversal",
            Self::WaitFor { .. } => "wait_for_and_traverse",
        }
    }

    /// Whether the action starts an app or brings one to the front.
    pub fn opens(&self) -> bool {
        matches!(self, Self::Open { .. })
    }

    /// Whether the action only waits, so that the app may be busy.
    pub(crate) fn waits(&self) -> bool {
        matches!(self, Self::WaitFor { .. })
    }

    /// Whether the action may change something in an app, and does not only look.
    pub(crate) fn changes_something(&self) -> bool {
        matches!(self, Self::Input(_) | Self::Quiet(_))
    }

    /// Whether the action sends keys to whatever has the focus.
    pub(crate) fn is_for_focus(&self) -> bool {
        matches!(
            self,
            Self::Input(Input::Type { .. } | Input::PressKey { .. })
        )
    }

    /// The text that the action types, and the key that it presses last.
    pub(crate) fn keys(&self) -> (Option<&str>, Option<KeyPress>) {
        match self {
            Self::Input(Input::Click { then: typing, .. } | Input::Type { typing }) => {
                (typing.text.as_deref(), typing.key)
            }
            Self::Input(Input::PressKey { press, .. }) => (None, Some(*press)),
            _ => (None, None),
        }
    }
}
