//! What an app will be asked, asked at once.
//!
//! In GTK 4 only a node's place says whether its children show, so a traversal takes a round trip
//! for each level. The reading before has asked most of the same: that is asked before the walk.

use std::collections::HashMap;
use std::sync::Arc;

use super::Engine;
use crate::bus::{Error, Message};
use crate::connection::MOST_IN_FLIGHT;
use crate::request::Request;

/// A request to the object of a path.
type Asked = (Arc<str>, Request);

/// The requests of a reading, in their order.
#[derive(Debug, Default)]
pub struct Questions {
    all: Vec<Asked>,
    /// How many of them are about nodes that show.
    showing: usize,
}

/// The replies that are there before they are asked for, and the questions so far.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    replies: HashMap<Asked, Message>,
    questions: Questions,
}

impl Ahead {
    /// The reply to a request, which is noted for the next reading.
    pub(super) fn reply(&mut self, path: &Arc<str>, request: Request) -> Option<Message> {
        let asked = (path.clone(), request);
        let reply = self.replies.remove(&asked);
        // More at once would be a burden to an app whose tree has changed.
        if self.questions.all.len() < MOST_IN_FLIGHT {
            self.questions.all.push(asked);
        }
        reply
    }
}

impl Engine<'_> {
    /// Asks again what an earlier reading asked of the objects that are in the app's cache now, of
    /// hidden ones only with `hidden`.
    pub fn ask_ahead(&mut self, mut earlier: Questions, hidden: bool) -> Result<(), Error> {
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

    /// The nodes that show were read.
    pub fn showing_is_read(&mut self) {
        let questions = &mut self.ahead.questions;
        questions.showing = questions.all.len();
    }

    /// The questions of this reading, for the next one.
    pub fn take_questions(&mut self) -> Questions {
        std::mem::take(&mut self.ahead.questions)
    }
}
