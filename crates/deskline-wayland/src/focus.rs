//! Where keys go.

use deskline_contract::Window;

/// The holder of the keyboard focus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keyboard {
    Window {
        window: Window,
        /// Whether it is a menu or another pop-up.
        popup: bool,
    },
    Nobody,
    /// Unknown: the reason, as a clause.
    Unclear(String),
}

impl Keyboard {
    /// A toplevel has it.
    pub(crate) fn toplevel(window: Window) -> Self {
        Self::Window {
            window,
            popup: false,
        }
    }
}
