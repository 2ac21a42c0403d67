//! The target of input.

use deskline_core::WindowId;

/// The target of keys and clicks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aim {
    /// The process. Its window must have the keyboard, and lie where something is clicked.
    pub pid: u32,
    /// The window that must be clicked in, where that is known; an open menu of the process will do
    /// too.
    pub window: Option<WindowId>,
    /// Whether a menu of the process is active, so that a grab of keyboard or pointer is its own.
    pub menu: bool,
    /// The process that a drag ends in, if it is another.
    pub drop_on: Option<u32>,
}

impl Aim {
    /// The target where a drag ends.
    #[must_use]
    pub fn at_end(self) -> Self {
        match self.drop_on {
            Some(pid) => Self {
                pid,
                window: None,
                ..self
            },
            None => self,
        }
    }
}
