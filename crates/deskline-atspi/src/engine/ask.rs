//! Requests that strategies make outside of the traversal. The caller gets the replies.

use std::sync::Arc;

use deskline_core::{Point, Rect};

use super::Engine;
use crate::bus::{Error, Message, Result};
use crate::decode;
use crate::request::Request;

impl Engine<'_> {
    pub fn ask(&mut self, path: &str, request: Request) -> Result<Message> {
        self.connection.ask(path, request)
    }

    /// Like [`Self::ask`]. `None` if the object refuses the request, or the traversal is late.
    pub(crate) fn try_ask(&mut self, path: &str, request: Request) -> Result<Option<Message>> {
        if self.is_late() {
            return Ok(None);
        }
        match self.ask(path, request) {
            Ok(message) => Ok(Some(message)),
            Err(Error::Remote { .. } | Error::Malformed(_)) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Like [`Self::try_ask`], for a property that is a number.
    pub fn number(&mut self, path: &str, request: Request) -> Result<Option<i32>> {
        let reply = self.try_ask(path, request)?;
        Ok(reply.as_ref().and_then(decode::number_property))
    }

    /// Like [`Self::try_ask`], for a request whose answer is an object.
    pub(crate) fn object(&mut self, path: &str, request: Request) -> Result<Option<Arc<str>>> {
        let reply = self.try_ask(path, request)?;
        Ok(reply.as_ref().and_then(match request {
            Request::Parent => decode::object_property,
            _ => decode::object,
        }))
    }

    /// The object that lies at the middle of a node with these extents.
    pub(crate) fn in_middle(&mut self, node: usize, extents: Rect) -> Result<Option<Arc<str>>> {
        let Point { x, y } = extents.center();
        let path = self.nodes[node].path.clone();
        self.object(&path, Request::AtPointInWindow(x, y))
    }

    /// The paths of a list of objects, without those of other processes.
    pub(crate) fn own_objects(&self, message: &Message) -> Option<Vec<Arc<str>>> {
        let objects = decode::objects(message).ok()?;
        let own = objects.into_iter().filter(|(owner, _)| self.is_own(owner));
        Some(own.map(|(_, path)| path.into()).collect())
    }

    /// Whether this bus name belongs to the app that is read.
    pub fn is_own(&self, owner: &str) -> bool {
        owner.is_empty() || owner == self.bus_name
    }

    /// Sends requests to one object at once. Returns the replies in order, with `None` for a
    /// request that was refused. There are fewer replies if the traversal is late.
    pub(crate) fn ask_all(
        &mut self,
        path: &str,
        requests: impl IntoIterator<Item = Request>,
    ) -> Result<Vec<Option<Message>>> {
        let path: Arc<str> = path.into();
        let requests = requests.into_iter();
        self.ask_each(requests.map(|request| (path.clone(), request)))
    }

    /// Like [`Self::ask_all`], for requests to many objects.
    pub(crate) fn ask_each(
        &mut self,
        requests: impl IntoIterator<Item = (Arc<str>, Request)>,
    ) -> Result<Vec<Option<Message>>> {
        let (replies, complete) = self.connection.ask_each(requests, self.end)?;
        self.unread.cut |= !complete;
        Ok(replies)
    }
}
