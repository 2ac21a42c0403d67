//! The abilities that an action needs of the display.

use crate::call::{Input, Typing};
use crate::desktop::Desktop;
use crate::error::Result;

/// Fails if this display cannot send the input. Called before anything is touched.
pub(super) fn require(desktop: &mut dyn Desktop, input: &Input) -> Result<()> {
    let types = |then: &Typing| then.text.is_some() || then.key.is_some();
    let (what, points, types) = match input {
        Input::Click { then, .. } if types(then) => ("clicking and typing", true, true),
        Input::Click { .. } => ("clicking", true, false),
        Input::Choose { .. } => ("choosing by clicks", true, false),
        Input::Hover { .. } => ("moving the pointer", true, false),
        Input::Type { .. } | Input::PressKey { .. } => ("typing", false, true),
        Input::Scroll { .. } => ("scrolling", true, false),
        Input::Drag { .. } => ("dragging", true, false),
    };
    let pointer = desktop.pointer_input().err().filter(|_| points);
    let keys = || desktop.key_input().err().filter(|_| types);
    let missing = pointer.or_else(keys);
    match missing.or_else(|| desktop.screen().err()) {
        Some(missing) => Err(missing.for_action(what)),
        None => Ok(()),
    }
}
