//! The engine of a traversal: an arena of nodes, a queue of requests, and a table of the requests
//! in flight.
//!
//! Each object is asked for its state first. A visible object is then asked for the rest; a hidden
//! object is set aside ([`Engine::take_hidden`]), so that a hidden subtree costs one call until it
//! is wanted. The engine knows no strategy: the caller decides which objects are added, when hidden
//! objects are read and which facts are known already.

mod ahead;
mod answers;
mod ask;
mod node;
mod questions;
mod texts;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) use node::{Failed, Found, Known, LongList, Node, Unread, clip};
pub(crate) use questions::Questions;
pub(crate) use texts::settle;

use crate::bus::{Message, Reply, Result};
use crate::connection::{AppConnection, Next};
use crate::names::{NULL, StateSet, role};
use crate::request::Request;
use crate::toolkits::{Toolkit, gtk, vcl};

use questions::Ahead;

/// The maximum number of objects. A tree with more is taken for one that loops.
pub const MOST_NODES: usize = 200_000;

/// The maximum length of all replies together, in bytes. The replies for 10,000 elements take 1 MB.
const MOST_BYTES: usize = 256 << 20;

/// The maximum number of parts that belong to other processes, such as web views.
const MOST_FOREIGN: usize = 64;

/// How long a traversal may take, even if the app goes on answering. A flooded app answers each
/// request, but the tree never ends.
pub const LONGEST: Duration = Duration::from_secs(4);

/// The maximum number of children to list in one call. GTK 3 and Chromium need a time for the list
/// that grows with the square of its length (2.5 s for 10,000), and answer nothing else meanwhile.
/// A container with more children becomes a [`LongList`].
pub const LISTED: i32 = 500;

/// One traversal in progress.
pub struct Engine<'a> {
    connection: AppConnection<'a>,
    /// The bus name of the app that is read.
    pub bus_name: String,
    pub toolkit: Toolkit,
    /// All objects found so far. A container comes before its contents.
    pub nodes: Vec<Node>,
    /// The paths of `nodes`.
    paths: HashSet<Arc<str>>,
    /// Facts about objects that are known without a request.
    known: HashMap<Arc<str>, Known>,
    /// How many nodes had known facts, and how many had their facts requested.
    known_nodes: usize,
    unknown_nodes: usize,
    /// How many nodes were reused from an earlier reading.
    pub reused: usize,
    pub(crate) queue: VecDeque<(usize, Request)>,
    ahead: Ahead,
    /// The requests in flight with their nodes, by tag.
    in_flight: HashMap<u64, (usize, Request)>,
    /// How many requests were sent: the next one's tag.
    sent: u64,
    /// Hidden nodes of which only the state was requested.
    pub(crate) hidden: Vec<usize>,
    /// The role of all objects that are being added, if the role is known and the objects have no
    /// children.
    leaf_role: Option<u32>,
    /// Objects of other processes: the index of the container, the bus name and the path of each.
    pub foreign: Vec<(usize, String, String)>,
    /// Containers of too many children to list, which the caller takes and reads.
    pub long_lists: Vec<LongList>,
    /// Open menus that the root does not list.
    pub unlisted: Vec<Arc<str>>,
    /// The paths of the frames that nobody sees, with their last known states. A frame that still
    /// has these states is not read.
    pub unseen: HashMap<Arc<str>, StateSet>,
    /// The frames in `unseen` that were found, which the caller takes and fills.
    pub set_aside: Vec<usize>,
    /// The missing parts.
    pub unread: Unread,
    /// The length of all replies, in bytes.
    bytes: usize,
    /// When the traversal is given up.
    pub end: Instant,
}

impl<'a> Engine<'a> {
    /// A traversal of one app, with a deadline.
    pub fn new(
        connection: AppConnection<'a>,
        bus_name: &str,
        toolkit: Toolkit,
        end: Instant,
    ) -> Self {
        Self {
            connection,
            bus_name: bus_name.to_owned(),
            toolkit,
            nodes: Vec::new(),
            paths: HashSet::new(),
            known: HashMap::new(),
            known_nodes: 0,
            unknown_nodes: 0,
            reused: 0,
            queue: VecDeque::new(),
            ahead: Ahead::default(),
            in_flight: HashMap::new(),
            sent: 0,
            hidden: Vec::new(),
            leaf_role: None,
            foreign: Vec::new(),
            long_lists: Vec::new(),
            unlisted: Vec::new(),
            unseen: HashMap::new(),
            set_aside: Vec::new(),
            unread: Unread::default(),
            bytes: 0,
            end,
        }
    }

    /// Whether the time for the whole traversal is over.
    pub fn is_late(&self) -> bool {
        Instant::now() >= self.end
    }

    /// Adds known facts about objects, by path, so that they need not be requested.
    pub fn learn(&mut self, known: HashMap<Arc<str>, Known>) {
        self.known = known;
    }

    /// The known facts about the object of that path, without the facts that its node has taken
    /// over.
    pub fn known(&self, path: &str) -> Option<&Known> {
        self.known.get(path)
    }

    /// The number of known objects, of nodes that needed no request, and of nodes that did.
    pub(crate) fn known_counts(&self) -> (usize, usize, usize) {
        (self.known.len(), self.known_nodes, self.unknown_nodes)
    }

    /// Adds the root and reads the visible nodes below it. Leaves out long lists, and containers
    /// that manage their descendants. `owner` is the bus name of an embedded object's process.
    pub fn start(&mut self, path: &str, owner: Option<&Arc<str>>) -> Result {
        self.add(None, path.into());
        if let Some(root) = self.nodes.first_mut() {
            root.owner = owner.cloned();
        }
        self.pump(None)?;
        for menu in std::mem::take(&mut self.unlisted) {
            self.add(Some(0), menu);
        }
        self.pump(None)
    }

    /// Continues a reading that was cut: takes over its nodes, the root first.
    pub fn resume(&mut self, nodes: Vec<Node>) {
        self.paths = nodes.iter().map(|node| node.path.clone()).collect();
        self.nodes = nodes;
    }

    /// The hidden nodes that were found since the last call.
    pub(crate) fn take_hidden(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.hidden)
    }

    /// Drops the requests that there is no time left for, and marks the nodes that stay incomplete.
    pub(crate) fn drop_queue(&mut self) {
        for (node, request) in std::mem::take(&mut self.queue) {
            let node = &mut self.nodes[node];
            match request {
                Request::Children | Request::ChildCount => node.children_read = false,
                // A hidden node that has neither a name nor children was read for its text. Without
                // the text it counts as not read.
                Request::TextLength | Request::Text(..) | Request::Caret
                    if !node.showing && node.name.is_empty() && node.children.is_empty() =>
                {
                    node.role = None;
                }
                Request::TextLength
                | Request::Text(..)
                | Request::Caret
                | Request::OffsetAt(..) => {
                    node.value = deskline_core::Text::unread();
                }
                // A node whose role was not requested stays out of the tree.
                _ => {}
            }
        }
    }

    /// Counts the nodes that were found and not read, and marks their containers incomplete.
    pub(crate) fn count_unread(&mut self) {
        for i in 1..self.nodes.len() {
            if self.nodes[i].role.is_none() {
                self.unread.nodes += 1;
                if let Some(parent) = self.nodes[i].parent {
                    self.nodes[parent].children_read = false;
                }
            }
        }
    }

    /// Adds an object that was found. `None` if it was not added, mostly because it is in the tree
    /// already.
    pub fn add(&mut self, parent: Option<usize>, path: Arc<str>) -> Option<usize> {
        if *path == *NULL || self.paths.contains(&path) {
            return None;
        }
        if self.nodes.len() >= MOST_NODES {
            self.unread.overfull = true;
            if let Some(parent) = parent {
                self.nodes[parent].children_read = false;
            }
            return None;
        }
        let states = self.known.get(&path).map(|known| known.states);
        let index = self.insert(Node {
            path,
            parent,
            children_read: true,
            ..Node::default()
        });
        match (parent, states) {
            (None, _) => {
                self.nodes[index].showing = true;
                self.nodes[index].reached = true;
                self.ask_facts(index);
            }
            (_, Some(states)) => self.on_state(index, states),
            _ => self.queue.push_back((index, Request::State)),
        }
        Some(index)
    }

    /// Whether the object of that path is in the tree.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    /// Puts a node into the arena, without a request.
    fn insert(&mut self, node: Node) -> usize {
        self.paths.insert(node.path.clone());
        let index = self.nodes.len();
        if let Some(parent) = node.parent {
            self.nodes[parent].children.push(index);
        }
        self.nodes.push(node);
        index
    }

    /// Puts a node that was read before into the arena; `None` if its object is there already.
    pub(crate) fn insert_read(&mut self, node: Node) -> Option<usize> {
        (!self.paths.contains(&node.path)).then(|| self.insert(node))
    }

    /// Requests all facts about a node beyond its state, except known ones.
    pub(crate) fn ask_facts(&mut self, index: usize) {
        if self.nodes[index].parent.is_some() && !self.is_sizeless(index) {
            self.queue.push_back((index, self.toolkit.extents()));
        }
        let node = &mut self.nodes[index];
        let manages = node.states.has(StateSet::MANAGES_DESCENDANTS);
        let mut children = None;
        if self.known.contains_key(&*node.path) {
            self.known_nodes += 1;
        } else {
            self.unknown_nodes += 1;
        }
        if let Some(known) = self.known.get_mut(&*node.path) {
            node.role = Some(known.role);
            node.name = std::mem::take(&mut known.name);
            node.description = std::mem::take(&mut known.description);
            // The children of a menu bar are read depending on its extents, and no cache has those.
            children = known
                .children
                .take()
                .filter(|_| known.role != role::MENU_BAR);
        } else if let Some(role) = self.leaf_role {
            node.role = Some(role);
            children = Some(Vec::new());
            if node.name.is_empty() {
                self.queue.push_back((index, Request::Name));
            }
        } else {
            self.queue.push_back((index, Request::Role));
            self.queue.push_back((index, Request::Name));
        }
        let waits = self.toolkit.hides_by_size() && node.showing && node.parent.is_some();
        match children {
            // A table that creates its cells on request could use up the memory if its children
            // were listed.
            _ if manages => node.children_read = false,
            Some(children) if waits => {
                if let Some(known) = self.known.get_mut(&*node.path) {
                    known.children = Some(children);
                }
            }
            Some(children) => {
                for child in children {
                    self.add(Some(index), child);
                }
            }
            // Most cells have no children, and need no list of them. So only the number is
            // requested first.
            None => self.queue.push_back((index, Request::ChildCount)),
        }
    }

    /// Whether a node is known to have no size, because two containers around it have none. One is
    /// not enough: a container without a size may hold elements with a size.
    pub(crate) fn is_sizeless(&self, index: usize) -> bool {
        let container = |node: usize| {
            self.nodes[node]
                .parent
                .filter(|p| self.nodes[*p].unallocated)
        };
        container(index).and_then(container).is_some()
    }

    /// Adds the children of a node, once its extents have come or were refused: they tell whether
    /// the children are visible.
    fn on_extents(&mut self, index: usize) {
        if !self.toolkit.hides_by_size() {
            return;
        }
        let node = &self.nodes[index];
        let below_toplevel = node.parent.is_some_and(|p| self.nodes[p].parent.is_some());
        match node.extents {
            Some(extents) if extents.is_empty() && node.showing && below_toplevel => {
                self.nodes[index].hide();
                self.nodes[index].unallocated = true;
            }
            Some(extents) if !extents.is_empty() && node.unallocated => {
                self.nodes[index].showing = true;
                self.nodes[index].reached = true;
                self.nodes[index].unallocated = false;
            }
            _ => {}
        }
        let known = self.known.get_mut(&*self.nodes[index].path);
        for child in known.and_then(|k| k.children.take()).unwrap_or_default() {
            self.add(Some(index), child);
        }
    }

    fn on_count(&mut self, index: usize, count: i32) {
        let node = &self.nodes[index];
        match count {
            0 => {}
            _ if vcl::is_undrawn_menu_bar(node.role, node.extents) => {}
            count if count > LISTED => {
                self.nodes[index].children_read = false;
                self.long_lists.push(LongList { node: index, count });
            }
            // A negative count means that the toolkit does not report the number.
            _ => self.queue.push_back((index, Request::Children)),
        }
    }

    fn on_state(&mut self, index: usize, states: StateSet) {
        let Some(parent) = self.nodes[index].parent else {
            return;
        };
        let toplevel = self.nodes[parent].parent.is_none() && self.nodes[parent].owner.is_none();
        let shown = self.toolkit.shown_state();
        let role = self.known.get(&*self.nodes[index].path).map(|k| k.role);
        let viewport = role.is_some_and(|role| gtk::viewport_shows(role, states));
        let by_state = states.has(shown) || viewport;
        // Inside a window, a container without SHOWING hides its contents only if it is not VISIBLE
        // either. Gecko does not set SHOWING on a landmark that has no box of its own (`display:
        // contents`). Chromium does not set it on a landmark that is scrolled away while its fixed
        // contents stay.
        let reached = self.nodes[parent].reached;
        let showing = reached && by_state;
        let opens = by_state || !toplevel && states.has(StateSet::VISIBLE);
        self.nodes[index].reached = reached && opens;
        self.nodes[index].states = states;
        self.nodes[index].showing = showing;
        self.nodes[index].unallocated = self.nodes[parent].unallocated && by_state;
        if toplevel && self.unseen.get(&self.nodes[index].path) == Some(&states) {
            self.nodes[index].role = Some(role::FRAME);
            self.nodes[index].detailed = true;
            self.set_aside.push(index);
        } else if showing {
            self.ask_facts(index);
        } else {
            self.hidden.push(index);
        }
    }

    /// Sends queued requests and handles replies, until nothing is queued or in flight. Sends
    /// nothing after `until`.
    pub fn pump(&mut self, until: Option<Instant>) -> Result {
        loop {
            self.unread.heavy |= self.bytes > MOST_BYTES;
            if self.unread.heavy || self.is_late() {
                self.cut();
                return Ok(());
            }
            let open = until.is_none_or(|until| Instant::now() < until);
            while open && self.connection.has_room() {
                let Some((index, request)) = self.queue.pop_front() else {
                    break;
                };
                if self.toolkit.hides_by_size()
                    && let Some(reply) = self.ahead.reply(&self.nodes[index].path, request)
                {
                    self.on_reply(index, request, &Ok(reply));
                    continue;
                }
                self.in_flight.insert(self.sent, (index, request));
                let path = &self.nodes[index].path;
                self.connection.send(self.sent, path, request);
                self.sent += 1;
            }
            if self.connection.is_idle() {
                return Ok(());
            }
            match self.connection.next_reply(self.end)? {
                Next::Reply(tag, reply) => {
                    if let Some((index, request)) = self.in_flight.remove(&tag) {
                        self.on_reply(index, request, &reply);
                    }
                }
                Next::Unanswered(tags) => {
                    for tag in tags {
                        if let Some((index, request)) = self.in_flight.remove(&tag) {
                            self.on_refused(index, request);
                        }
                    }
                }
                Next::End => {}
            }
        }
    }

    fn on_reply(&mut self, index: usize, request: Request, reply: &Reply) {
        self.bytes += reply.as_ref().map_or(0, Message::size);
        let read = reply
            .as_ref()
            .is_ok_and(|message| self.on_answer(index, request, message).is_ok());
        if !read {
            self.on_refused(index, request);
        }
    }

    /// Handles an error or an unreadable reply. What was requested stays unknown, and counts as not
    /// read.
    fn on_refused(&mut self, index: usize, request: Request) {
        match request {
            Request::Children => {
                self.nodes[index].children_read = false;
                self.unread.failed.lists += 1;
            }
            Request::ChildCount => self.queue.push_back((index, Request::Children)),
            Request::State | Request::Role => self.unread.failed.elements += 1,
            Request::Extents | Request::ExtentsInWindow => self.on_extents(index),
            Request::Name => self.unread.failed.texts += 1,
            request => {
                let text = matches!(request, Request::Text(..));
                let failed = text && self.nodes[index].id.is_none();
                self.unread.failed.texts += usize::from(failed);
                self.on_text_refused(index, request);
            }
        }
    }

    /// Ends the traversal with the nodes read so far.
    fn cut(&mut self) {
        self.connection.forget();
        let asked = std::mem::take(&mut self.in_flight);
        self.unread.cut |= !self.queue.is_empty() || !asked.is_empty();
        for (node, request) in asked.into_values() {
            if let Request::Children | Request::ChildCount = request {
                self.nodes[node].children_read = false;
            }
        }
        self.drop_queue();
    }

    /// Lists the children of a node that was not listed before, and reads the nodes below them.
    pub(crate) fn read_children(&mut self, node: usize) -> Result {
        let first = self.nodes.len();
        self.nodes[node].children_read = true;
        self.queue.push_back((node, Request::Children));
        self.pump(None)?;
        self.details(first, None)
    }

    /// Lists the children of a node that has `count` children, or adds the node to the long lists.
    pub(crate) fn list_counted(&mut self, node: usize, count: i32) -> Result {
        self.nodes[node].children_read = true;
        self.on_count(node, count);
        self.pump(None)
    }

    /// Reads objects that were found by other means, and the nodes below them.
    pub(crate) fn read_found(&mut self, parent: usize, found: Vec<Found>) -> Result {
        let first = self.nodes.len();
        for found in found {
            if let Some(index) = self.add(Some(parent), found.path) {
                let node = &mut self.nodes[index];
                (node.id, node.name, node.cell) = (found.id, found.name, found.cell);
            }
        }
        self.pump(None)?;
        self.details(first, None)
    }

    /// Reads objects that all have this role, and no children.
    pub(crate) fn read_leaves(&mut self, parent: usize, found: Vec<Found>, role: u32) -> Result {
        self.leaf_role = Some(role);
        let read = self.read_found(parent, found);
        self.leaf_role = None;
        read
    }

    /// Removes the node `first` and all later nodes, also from the lists of children.
    pub(crate) fn forget_from(&mut self, first: usize) {
        for node in self.nodes.drain(first..) {
            self.paths.remove(&node.path);
        }
        for node in &mut self.nodes {
            node.children.retain(|child| *child < first);
        }
        self.hidden.retain(|node| *node < first);
    }
}
