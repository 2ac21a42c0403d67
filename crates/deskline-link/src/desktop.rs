//! The contract between a link and an operating system, in three parts.

use crate::apps::Apps;
use crate::display::Display;
use crate::error::Result;
use crate::trees::Trees;

/// How to reach a desktop. Connects when a call first needs it and again after a loss, so that a
/// server can start before the desktop does.
pub trait Platform: Send + Sync {
    /// Connects.
    ///
    /// # Errors
    ///
    /// The missing part, with the way to get it.
    fn connect(&self) -> Result<Box<dyn Desktop>>;

    /// Called when a server starts, on a thread of its own: prepares everything that would delay
    /// the first link.
    fn prepare(&self) {}

    /// Whether the app answers at all, within 2 s. Called before a link waits for its turn, on a
    /// connection of its own, so that a hung app delays no call about another app.
    fn ping(&self, pid: u32) -> Result<()>;
}

/// A connected desktop.
///
/// The link decides the order of calls, and the restore after a failure: an implementation only
/// carries them out.
pub trait Desktop: Trees + Display + Apps + Send {
    /// A name for this desktop that no other has, and that the next server process on it finds
    /// again. Scopes refs.
    fn id(&self) -> String;
}
