//! The clipboard through the data control protocol (`zwlr_data_control_v1` or
//! `ext_data_control_v1`), which KWin offers too. Data control needs no window and no focus. The
//! primary selection is not touched.
//!
//! As on X11, the client that offers a selection serves its data. A thread with its own connection,
//! [`keeper`], serves the agent's text during a paste, and then the person's data until another
//! client sets the selection or the process ends.

pub(crate) mod content;
mod keeper;
pub(crate) mod pipe;
mod protocol;
pub(crate) mod thread;

use std::path::Path;

use deskline_contract::Result;
use deskline_contract::clipboard::ClipboardThread;

/// Connects to the compositor that listens on `socket`, and starts the thread. Dropping the result
/// ends the thread.
///
/// # Errors
///
/// [`Error::Unsupported`](deskline_contract::Error::Unsupported) if the compositor does not offer
/// data control.
pub fn start(socket: &Path) -> Result<ClipboardThread> {
    thread::keep(|reading| keeper::Keeper::connect(socket, reading))
}
