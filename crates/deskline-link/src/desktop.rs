//! The contract: what a link needs of an operating system, in three parts.

use crate::apps::Apps;
use crate::display::Display;
use crate::error::Result;
use crate::trees::Trees;

/// How to reach a desktop. Connects when a call first needs it and again after a loss, so that a
/// server can start before the desktop does.
pub trait Platform: Send + Sync {
    /// Connects, or says what is missing and how to get it.
    fn connect(&self) -> Result<Box<dyn Desktop>>;

    /// Called when a server starts, on a thread of its own: makes what would delay the first link.
    fn prepare(&self) {}

    /// Whether the app answers at all, within 2 s. Called before a link waits for its turn, on a
    /// connection of its own, so that a hung app delays no call about another app.
    fn ping(&self, pid: u32) -> Result<()>;
}

/// A desktop that is connected to.
///
/// The order in which a link calls its methods, and what is put back when one fails, is the link's
/// business: an implementation only does what it is told.
pub trait Desktop: Trees + Display + Apps + Send {
    /// A name for this desktop that no other has, and that the next server process on it finds
    /// again. Scopes refs.
    fn id(&self) -> String;
}
