//! Why an element refuses an action of the accessibility API, and an alternative.

use deskline_core::escape;

/// An action that goes through the accessibility API alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QuietAction {
    /// Runs the element's own action.
    #[error("press_ax")]
    Press,
    /// Sets a number, a text or a choice.
    #[error("set_value")]
    SetValue,
    /// Selects or deselects.
    #[error("set_selected")]
    SetSelected,
    #[error("scrolling")]
    ScrollIntoView,
}

/// An element refused an action. The words follow the element's name, and end with the next step.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("refused {action}: {obstacle}. {}", .obstacle.next_step(*.action))]
pub struct Refusal {
    pub action: QuietAction,
    pub obstacle: Obstacle,
}

/// Why an element refuses an action. Texts of the app are hostile data.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Obstacle {
    /// The element does not exist any more.
    #[error("it is gone")]
    Gone,
    #[error("it is disabled")]
    Disabled,
    /// A menu item is disabled, perhaps only until its menu opens.
    #[error("it is disabled")]
    DisabledInMenu,
    /// The element's actions, by name, do not include a press.
    #[error("{}", no_press(.0))]
    NoPress(Vec<String>),
    #[error("it is the title of a submenu, which a press does not open")]
    OpensSubmenu,
    /// The app reported that it did not do the action.
    #[error("the app reported that it did not do the action")]
    NotDone,
    /// The app answered with this error text.
    #[error("the app answered {}", escape::quoted(.0, 160))]
    AppError(String),
    /// The system answered with this error.
    #[error("the app answered {0}")]
    SystemError(String),
    /// A tab was pressed, but did not become selected.
    #[error("the app accepted the action, but the tab is not selected")]
    TabNotSelected,
    /// The value is one of two numbers, depending on the language.
    #[error("{value:?} is {} or {}, depending on the language", .numbers[0], .numbers[1])]
    AmbiguousNumber {
        value: String,
        /// The numbers that the value may stand for.
        numbers: [f64; 2],
    },
    /// The element's value is a number, and the requested text is not a number.
    #[error("its value is a number, and {0:?} is not a number")]
    NotANumber(String),
    /// The number is outside the element's range.
    #[error("{number} is outside its range {low} to {high}")]
    OutOfRange {
        number: f64,
        /// The least value.
        low: f64,
        /// The greatest value.
        high: f64,
    },
    /// The app did not take the number.
    #[error("the app did not accept the number")]
    NumberNotTaken,
    /// A spin button shows the text, and its value stayed as it was.
    #[error("it shows the text, but its value has not changed")]
    ShownNotTaken,
    /// A text field that the user could not change either.
    #[error("it is read-only")]
    ReadOnly,
    /// A text field whose text accessibility cannot set: Chromium has no interface for it.
    #[error("its app does not let accessibility set its text")]
    TextNotSettable,
    /// A combo box or list: no choice that accessibility lists has this name.
    #[error("accessibility lists no choice {0:?} in it")]
    NoSuchChoice(String),
    /// A combo box or list whose choice accessibility cannot change.
    #[error("its app does not let accessibility change its choice")]
    ChoiceNotSettable,
    /// The time limit of the search was reached.
    #[error(
        "it has more choices than could be searched in {seconds} s: none of the first {searched} \
         is {value:?}"
    )]
    TooManyChoices {
        /// The choice as given.
        value: String,
        /// How many choices were compared.
        searched: usize,
        /// The time limit.
        seconds: u64,
    },
    #[error("it has no value that accessibility can set")]
    NoValue,
    #[error("its container has no selection that accessibility can change")]
    NoSelection,
    #[error("it is known only from the screenshot, not by accessibility")]
    OnlyPictured,
    /// Firefox takes the answer to a question of its own only while its window is in front.
    #[error("its app takes an answer to this question only while its window is in front")]
    AsksBehind,
    /// Firefox would press whatever lies at the middle of the element's box.
    #[error("its app would press whatever lies at the middle of the element")]
    PressesMiddle,
}

const CLICK: &str = "Use click_and_traverse with its ref";
const CHOOSE: &str = "Use click_and_traverse on it with choose";
const TYPE: &str = "Use click_and_traverse on it with text (select what is there first: \
                    doubleClick, or Control+A)";

impl Obstacle {
    fn next_step(&self, action: QuietAction) -> String {
        match self {
            Self::Gone => "Call refresh_traversal to see the present elements",
            Self::Disabled => "Enable it first",
            // LibreOffice updates the items of a menu when the menu opens.
            Self::DisabledInMenu => {
                "This may be its state from when its menu was last open. Open the menu, or enable \
                 it first"
            }
            Self::SystemError(_) | Self::OnlyPictured if action == QuietAction::SetValue => TYPE,
            Self::TextNotSettable => TYPE,
            Self::ReadOnly => "Look for what lets the user change it",
            Self::AmbiguousNumber {
                numbers: [a, b], ..
            } => return format!("Pass {a} or {b}"),
            Self::NotANumber(_) => "Pass a number, such as \"50\"",
            Self::OutOfRange { .. } => "Pass a number within the range",
            Self::NumberNotTaken => "Click it and use the arrow keys, or drag it",
            Self::ShownNotTaken => {
                "Pass it in the form that it shows, or call click_and_traverse on it with pressKey: \
                 Return"
            }
            Self::NoSuchChoice(_) | Self::ChoiceNotSettable | Self::TooManyChoices { .. } => CHOOSE,
            Self::NoSelection => {
                "Use click_and_traverse with its ref; for a check box or radio button use \
                 press_ax_and_traverse"
            }
            _ => CLICK,
        }
        .to_owned()
    }
}

/// Why an element with only these actions cannot be pressed.
fn no_press(actions: &[String]) -> String {
    const NAMED: usize = 3;
    if actions.is_empty() {
        return "it has no action".to_owned();
    }
    let named = actions.iter().take(NAMED);
    let named: Vec<String> = named.map(|name| escape::short(name, 40)).collect();
    let more = escape::more(actions.len().saturating_sub(NAMED));
    format!(
        "none of its actions ({}{more}) is a press",
        named.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(action: QuietAction, obstacle: Obstacle) -> String {
        Refusal { action, obstacle }.to_string()
    }

    #[test]
    fn a_refusal_names_three_actions_and_counts_the_others() {
        let names = (1..=5).map(|i| format!("a.{i}")).collect();
        assert_eq!(
            words(QuietAction::Press, Obstacle::NoPress(names)),
            "refused press_ax: none of its actions (a.1, a.2, a.3 and 2 more) is a press. Use \
             click_and_traverse with its ref"
        );
    }

    #[test]
    fn a_refusal_has_advice_of_its_own_for_text_fields_and_combo_boxes() {
        let field = words(QuietAction::SetValue, Obstacle::TextNotSettable);
        let combo = words(
            QuietAction::SetValue,
            Obstacle::NoSuchChoice("Large".into()),
        );
        assert_eq!(
            field,
            "refused set_value: its app does not let accessibility set its text. Use \
             click_and_traverse on it with text (select what is there first: doubleClick, or \
             Control+A)"
        );
        assert_eq!(
            combo,
            "refused set_value: accessibility lists no choice \"Large\" in it. Use \
             click_and_traverse on it with choose"
        );
    }
}
