//! Sends the likely requests of a traversal at once, before the walk.
//!
//! In GTK 4 only a node's place shows whether its children are visible, so a traversal takes a
//! round trip for each level. The previous reading made mostly the same requests: they are sent
//! before the walk.

use super::Engine;
use super::questions::{Asked, Questions};
use crate::bus::Result;

impl Engine<'_> {
    /// Repeats the requests of an earlier reading to the objects that are in the app's cache now;
    /// requests to hidden objects only if `hidden`.
    pub fn ask_ahead(&mut self, mut earlier: Questions, hidden: bool) -> Result {
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
