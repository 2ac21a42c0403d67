//! The pressed keys and buttons, and the target of input.

use crate::aim::Aim;
use crate::clicks::{Button, LastClick};

/// A key or a button that is down.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Pressed<K> {
    Key(K),
    Button(Button),
}

/// The target of input, what is pressed, and the last click. `K` names a key.
#[derive(Debug)]
pub struct Hands<K> {
    /// The target of keys and clicks.
    pub aim: Option<Aim>,
    /// What is pressed, in the order in which it was pressed.
    pub(crate) pressed: Vec<Pressed<K>>,
    pub(crate) last_click: LastClick,
}

impl<K> Default for Hands<K> {
    fn default() -> Self {
        Self {
            aim: None,
            pressed: Vec::new(),
            last_click: LastClick::default(),
        }
    }
}
