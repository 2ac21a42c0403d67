//! Open menus and lists that their app does not list. Qt lists the menus of a menu bar, but neither
//! the menus of buttons nor lists of completions. Their paths come only with the events that they
//! send when they begin to show.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::bus::{Message, Result};
use crate::connection::AppConnection;
use crate::decode;
use crate::names::{ROOT, StateSet, role};
use crate::request::Request;

/// The maximum number of objects to remember. When a dialog opens, each of its widgets sends an
/// event that it shows.
const MOST: usize = 256;

/// How long the app may take to answer about these objects. An app that hangs takes longer in the
/// reading that follows.
const ANSWERS: Duration = Duration::from_millis(500);

/// The objects of an app that may be open menus or lists, by their paths.
#[derive(Debug, Default)]
pub struct Unlisted(Vec<Arc<str>>);

impl Unlisted {
    /// Handles an event of the app: remembers the object if it begins to show.
    pub fn hear(&mut self, event: &Message) {
        let shows = || {
            let mut reader = event.reader();
            reader.str() == Ok("showing") && reader.i32() == Ok(1)
        };
        if event.member == "StateChanged" && shows() {
            self.0.retain(|path| **path != *event.path);
            self.0.push(event.path.as_str().into());
            let surplus = self.0.len().saturating_sub(MOST);
            self.0.drain(..surplus);
        }
    }

    /// The menus and lists that are open. Forgets all other objects.
    pub fn open(&mut self, mut app: AppConnection<'_>) -> Result<Vec<Arc<str>>> {
        if self.0.is_empty() {
            return Ok(Vec::new());
        }
        let asked = self.0.iter().flat_map(|path| {
            let asks = [Request::Role, Request::State, Request::Parent];
            asks.map(|request| (path.clone(), request))
        });
        let (replies, complete) = app.ask_each(asked, Instant::now() + ANSWERS)?;
        if !complete {
            return Ok(Vec::new());
        }
        let mut replies = replies.chunks(3);
        self.0.retain(|_| {
            let Some([Some(its_role), Some(states), parent]) = replies.next() else {
                return false;
            };
            let parent = parent.as_ref().and_then(decode::object_property);
            let is_menu = match its_role.reader().u32() {
                Ok(role::LIST) => parent.is_none_or(|parent| *parent == *ROOT),
                its_role => its_role == Ok(role::POPUP_MENU),
            };
            let states = decode::states(&mut states.reader());
            is_menu && states.is_ok_and(|states| states.has(StateSet::SHOWING))
        });
        Ok(self.0.clone())
    }
}
