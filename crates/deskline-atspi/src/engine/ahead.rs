//! Sends requests before the walk of a traversal that the walk will probably make.
//!
//! In GTK 4 only the place of a node shows whether its children are visible, so each level takes a
//! round trip. Most requests are the same as in the previous reading, so they can be sent all at
//! once.

use super::Engine;
use super::questions::{Asked, Questions};
use crate::bus::Result;

impl Engine<'_> {
    /// Repeats the requests of an earlier reading to the objects that are in the app's cache now;
    /// requests to hidden objects only if `hidden`.
    pub(crate) fn ask_ahead(&mut self, mut earlier: Questions, hidden: bool) -> Result {
        if !hidden {
            earlier.all.truncate(earlier.showing);
        }
        let there = |(path, _): &Asked| self.known.contains_key(path);
        earlier.all.retain(there);
        let asked = earlier.all.iter().cloned();
        let (replies, _) = self.connection.ask_each(asked, self.end)?;
        let replies = earlier.all.into_iter().zip(replies);
        let came = replies.filter_map(|(asked, reply)| Some((asked, reply?)));
        self.ahead.replies = came.collect();
        Ok(())
    }

    /// Records that all visible nodes were read: the requests from now on are about hidden nodes.
    pub(crate) fn showing_is_read(&mut self) {
        let questions = &mut self.ahead.questions;
        questions.showing = questions.all.len();
    }

    /// The requests of this reading, for the next reading.
    pub(crate) fn take_questions(&mut self) -> Questions {
        std::mem::take(&mut self.ahead.questions)
    }
}
