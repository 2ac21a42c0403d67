//! Actions through the accessibility API: no pointer, no keys, no focus.

use deskline_contract::amount::{Numeric, switch};
use deskline_contract::{Error, Obstacle, QuietAction, Refusal, Result};

use super::PATIENCE;
use crate::os::{AxError, NewValue, Os, Value};

/// Actions that count as a press, best first.
const PRESS: [&str; 4] = ["AXPress", "AXPick", "AXOpen", "AXConfirm"];

/// The roles of elements in which the user chooses an item from a menu or a list.
const CHOOSES: [&str; 3] = ["AXPopUpButton", "AXComboBox", "AXMenuButton"];

/// How many ancestors to try: text is in a cell and the cell in a row, so the selectable element
/// may be an ancestor.
const LEVELS: usize = 3;

/// The error for an action that an element refuses. The link adds the element's name.
fn refused(action: QuietAction, obstacle: Obstacle) -> Error {
    Error::Refused(Refusal { action, obstacle })
}

/// An action on an element of an app.
pub(crate) struct Acting<'o, O: Os> {
    pub(crate) os: &'o O,
    pub(crate) pid: u32,
    pub(crate) element: &'o O::Element,
    /// The action, for errors.
    pub(crate) action: QuietAction,
}

impl<O: Os> Acting<'_, O> {
    fn failed(&self, error: AxError) -> Error {
        match error {
            AxError::INVALID_UI_ELEMENT => refused(self.action, Obstacle::Gone),
            AxError::CANNOT_COMPLETE | AxError::API_DISABLED => {
                super::failed(self.os, self.pid, error)
            }
            error => refused(self.action, Obstacle::SystemError(error.to_string())),
        }
    }

    fn values(&self, names: &[&'static str]) -> Result<Vec<Value<O::Element>>> {
        self.os
            .attributes(self.element, names)
            .map_err(|e| self.failed(e))
    }

    fn require_enabled(&self) -> Result<()> {
        match self.values(&["AXEnabled"])?.first() {
            Some(Value::Bool(false)) => Err(refused(self.action, Obstacle::Disabled)),
            _ => Ok(()),
        }
    }

    /// `press_ax`: performs the element's own action.
    pub(crate) fn press(&self) -> Result<()> {
        self.require_enabled()?;
        let children = || self.os.count(self.element, "AXChildren").unwrap_or(0);
        // A press of a menu item that has a submenu does nothing, and reports no error (mcp-baepsae
        // #78).
        if self.is_any(&["AXMenuItem"])? && children() > 0 {
            return Err(refused(self.action, Obstacle::OpensSubmenu));
        }
        let actions = self.os.actions(self.element).map_err(|e| self.failed(e))?;
        let Some(press) = PRESS.iter().find(|want| actions.iter().any(|a| a == *want)) else {
            return Err(refused(self.action, Obstacle::NoPress(actions)));
        };
        match self.os.perform(self.element, press) {
            // The press may have closed the element.
            Ok(()) | Err(AxError::INVALID_UI_ELEMENT) => Ok(()),
            // A press that opens a modal dialog returns only once the dialog is closed. It has not
            // failed as long as the app itself answers.
            Err(AxError::CANNOT_COMPLETE) if super::answers(self.os, self.pid, PATIENCE) => Ok(()),
            Err(e) => Err(self.failed(e)),
        }
    }

    /// Whether the element has one of these roles.
    fn is_any(&self, roles: &[&str]) -> Result<bool> {
        let role = self.values(&["AXRole"])?.pop();
        Ok(matches!(role, Some(Value::Text { start, .. }) if roles.contains(&start.as_str())))
    }

    /// `set_value`: sets a number, a switch or a text, whichever the element takes.
    pub(crate) fn set_value(&self, value: &str) -> Result<()> {
        self.require_enabled()?;
        let names = ["AXValue", "AXMinValue", "AXMaxValue", "AXValueDescription"];
        let now = self.values(&names)?;
        if self.os.settable(self.element, "AXValue") != Ok(true) {
            let obstacle = if self.is_any(&CHOOSES)? {
                Obstacle::ChoiceNotSettable
            } else {
                Obstacle::NoValue
            };
            return Err(refused(self.action, obstacle));
        }
        let new = match now.first() {
            Some(Value::Bool(_)) => {
                let on = switch(value).ok_or_else(|| Obstacle::NotANumber(value.to_owned()));
                NewValue::Bool(on.map_err(|why| refused(self.action, why))?)
            }
            Some(Value::Number(_)) => {
                let number = amount(&now, value).map_err(|why| refused(self.action, why))?;
                NewValue::Number(number)
            }
            _ => NewValue::Text(value.to_owned()),
        };
        self.os
            .set(self.element, "AXValue", &new)
            .map_err(|e| self.failed(e))
    }

    /// `set_selected`: sets the element's own attribute, else the selection of its container.
    pub(crate) fn set_selected(&self, selected: bool) -> Result<()> {
        let mut element = self.element.clone();
        self.require_enabled()?;
        for _ in 0..LEVELS {
            if self.os.settable(&element, "AXSelected") == Ok(true)
                && self
                    .os
                    .set(&element, "AXSelected", &NewValue::Bool(selected))
                    .is_ok()
            {
                return Ok(());
            }
            let Some(parent) = self.os.element(&element, "AXParent") else {
                break;
            };
            for name in ["AXSelectedRows", "AXSelectedChildren"] {
                if self.os.settable(&parent, name) == Ok(true)
                    && self.select_in(&parent, name, &element, selected)
                {
                    return Ok(());
                }
            }
            element = parent;
        }
        Err(refused(self.action, Obstacle::NoSelection))
    }

    fn select_in(
        &self,
        container: &O::Element,
        name: &'static str,
        element: &O::Element,
        selected: bool,
    ) -> bool {
        let mut all = match self.os.attribute(container, name) {
            Ok(Value::Elements(all)) => all,
            _ => Vec::new(),
        };
        all.retain(|e| e != element);
        if selected {
            all.push(element.clone());
        }
        self.os
            .set(container, name, &NewValue::Elements(all))
            .is_ok()
    }

    /// Scrolls the element into view; `false` if the app cannot.
    pub(crate) fn scroll_into_view(&self) -> Result<bool> {
        match self.os.perform(self.element, "AXScrollToVisible") {
            Ok(()) => Ok(true),
            Err(e @ (AxError::CANNOT_COMPLETE | AxError::API_DISABLED)) => Err(self.failed(e)),
            Err(_) => Ok(false),
        }
    }
}

/// The number that an agent means; `now` has the value, its range and its description.
fn amount<E>(now: &[Value<E>], text: &str) -> Result<f64, Obstacle> {
    let number = |value: Option<&Value<E>>| match value {
        Some(Value::Number(number)) => Some(*number),
        _ => None,
    };
    let mut shown = Numeric {
        text: match now.get(3) {
            Some(Value::Text { start, .. }) => start.clone(),
            _ => String::new(),
        },
        value: number(now.first()),
        low: number(now.get(1)),
        high: number(now.get(2)),
    };
    let text = switch(text).map_or_else(|| text.to_owned(), |on| u8::from(on).to_string());
    let mut amount = shown.amount(&text)?;
    if amount.is_none() {
        // The description may be a word such as "loud", and not the number.
        shown.text.clear();
        amount = shown.amount(&text)?;
    }
    amount.ok_or(Obstacle::NotANumber(text))
}
