//! The requests of a reading, and the replies that were fetched ahead.

use std::collections::HashMap;
use std::sync::Arc;

use crate::bus::Message;
use crate::connection::MOST_IN_FLIGHT;
use crate::request::Request;

/// A request to the object of a path.
pub(super) type Asked = (Arc<str>, Request);

/// The requests of a reading, in their order.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    pub(super) all: Vec<Asked>,
    /// How many requests, counted from the first, are about visible nodes.
    pub(super) showing: usize,
}

/// The replies that were fetched ahead, and the requests of this reading so far.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    pub(super) replies: HashMap<Asked, Message>,
    pub(super) questions: Questions,
}

impl Ahead {
    /// Takes the reply to a request, if it was fetched ahead. Records the request for the next
    /// reading.
    pub(super) fn reply(&mut self, path: &Arc<str>, request: Request) -> Option<Message> {
        let asked = (path.clone(), request);
        let reply = self.replies.remove(&asked);
        // More requests than may be in flight at once are not recorded: if the tree has changed,
        // they would burden the app for nothing.
        if self.questions.all.len() < MOST_IN_FLIGHT {
            self.questions.all.push(asked);
        }
        reply
    }
}
