//! Where keys go.

use deskline_contract::Window;

/// The holder of the keyboard focus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keyboard {
    Window {
        window: Window,
        /// Whether the window is a menu or another pop-up.
        popup: bool,
    },
    Nobody,
    /// The holder is unknown. The text is a clause that says why.
    Unclear(String),
}

impl Keyboard {
    /// A toplevel has the keyboard focus.
    pub(crate) fn toplevel(window: Window) -> Self {
        Self::Window {
            window,
            popup: false,
        }
    }
}
