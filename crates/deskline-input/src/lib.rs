//! Input, written once for all displays: a display supplies single events and facts.
//!
//! - `cancel`: the flag that stops input, and every other wait of a call.
//! - `aim`: the target of input. `error`: why input stops.
//! - `clicks`: buttons, and when a click is part of a double click. `drag`: drags.

mod aim;
mod cancel;
mod clicks;
mod drag;
mod error;

pub use aim::{Aim, Other, no_keyboard};
pub use cancel::{Cancel, Cancelled, Reason};
pub use clicks::{BETWEEN_CLICKS, Button, Clicks, LastClick};
pub use drag::{DragPort, Pace, drag};
pub use error::InputError;
