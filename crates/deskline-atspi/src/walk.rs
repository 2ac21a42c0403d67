//! The traversal: from the root down, with as many questions in flight as the app can take.
//!
//! What shows is read first and completely; what does not is read after it, as far as the budget
//! goes. A node is asked for its state before anything else, so that a hidden part of the tree
//! costs one call until its turn comes.

mod answers;
mod texts;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use deskline_core::{Rect, Text};

pub use answers::read_states;
use answers::{CHILD_COUNT, CHILDREN, NAME, ROLE, STATE, TEXT, code};
pub use texts::settle;

use crate::bus::{Error, Message, Reader, Reply};

use super::crowd;
use super::items::{self, Item};
use super::memory::{self, Memory};
use super::names::{NULL, ROOT, StateSet, role};
use super::peer::{Headers, Line, PATIENCE, Peer, Prose, Question};

/// Questions in flight: gains flatten at 64 to 256, and 1,024 is safe with every toolkit.
const WINDOW: usize = 512;

/// No app has more; a tree that does is a loop.
pub const MOST_NODES: usize = 200_000;

/// How long reading may take, however lively the app answers: one that is flooded with work answers
/// each question, and all of them never.
pub const LONGEST: Duration = Duration::from_secs(4);

/// A container of more children than this is not listed in one call while what shows is read: GTK 3
/// and Chromium take time for it that grows with the square of their number, 2.5 s for 10,000, and
/// answer nothing else meanwhile.
pub const LISTED: i32 = 500;

/// An object, as far as it was read.
#[derive(Debug, Default)]
pub struct Node {
    /// Its bus name where that is not the app's own: an embedded plug.
    pub owner: Option<Arc<str>>,
    pub path: String,
    /// Its identity, where that is not its path.
    pub place: Option<String>,
    pub parent: Option<usize>,
    /// In document order.
    pub children: Vec<usize>,
    pub role: Option<u32>,
    pub states: StateSet,
    pub name: String,
    pub description: String,
    /// The name of what labels it, where it has no name of its own.
    pub label: String,
    pub value: Text,
    /// As the toolkit says it; not always in screen coordinates.
    pub extents: Option<Rect>,
    /// Whether it and all that it is in show, as far as the toolkit says.
    pub showing: bool,
    /// Whether its children were asked for and all of them read.
    pub children_read: bool,
    /// Whether what only some roles have was asked for.
    pub detailed: bool,
}

/// An object that was found by other means than its container's list.
#[derive(Debug)]
pub struct Found {
    pub path: String,
    /// Its identity, where that is not its path.
    pub place: Option<String>,
    /// Its name; empty where it is not known.
    pub name: String,
}

/// One traversal in progress.
pub struct Walk<'a> {
    line: Line<'a>,
    bus_name: String,
    /// The state that says that something shows, below the toplevels.
    shows: u32,
    /// How it is asked for extents.
    pub extents: Question,
    /// Where the toolkit puts the text of a page.
    pub prose: Prose,
    /// Where the toolkit has the headers of tables.
    pub headers: Headers,
    pub nodes: Vec<Node>,
    pub seen: HashSet<String>,
    /// What was read before, where that may be used.
    pub memory: Option<&'a Memory>,
    items: HashMap<String, Item>,
    /// How many nodes the cache told of, and of how many it should have.
    told: usize,
    untold: usize,
    queue: VecDeque<(usize, Question)>,
    hidden: Vec<usize>,
    /// The role of all that is found now, where it is known and there is nothing in them.
    leaves: Option<u32>,
    /// Objects of other bus names: their container, bus name and path.
    pub foreign: Vec<(usize, String, String)>,
    /// Objects that were found and not read, as the budget was spent.
    pub unread: usize,
    /// What the app refused to tell, or told in a form that cannot be read.
    pub failed: Failed,
    /// Whether more objects were found than are read of any app.
    pub overfull: bool,
    /// Containers of too many children to list: [`super::crowd`] reads them.
    pub crowds: Vec<Crowd>,
    /// When it is given up.
    end: Instant,
    /// Whether it was given up, with questions unasked or unanswered.
    pub cut: bool,
}

/// How much the tree lacks because an answer was an error, or could not be read.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Failed {
    /// Containers whose children were not listed.
    pub lists: usize,
    /// Elements that did not say what they are: those that have gone, mostly.
    pub elements: usize,
    /// Elements that did not tell their names or texts.
    pub texts: usize,
}

/// A container of too many children to list.
#[derive(Debug)]
pub struct Crowd {
    /// The container.
    pub node: usize,
    /// How many children it says that it has.
    pub count: i32,
    /// Those that were asked for, by their places: `None` where there was none, or one that is in
    /// the tree already.
    pub children: BTreeMap<i32, Option<usize>>,
}

impl<'a> Walk<'a> {
    /// A walk of `peer` over `line`.
    pub fn new(line: Line<'a>, peer_name: &str, gtk4: bool, end: Instant) -> Self {
        Self {
            line,
            bus_name: peer_name.to_owned(),
            shows: if gtk4 {
                StateSet::VISIBLE
            } else {
                StateSet::SHOWING
            },
            // GTK 4 knows no other, and complains of each question for screen coordinates.
            extents: if gtk4 {
                Question::ExtentsInWindow
            } else {
                Question::Extents
            },
            prose: Prose::Anywhere,
            headers: Headers::Nowhere,
            nodes: Vec::new(),
            seen: HashSet::new(),
            memory: None,
            items: HashMap::new(),
            told: 0,
            untold: 0,
            queue: VecDeque::new(),
            hidden: Vec::new(),
            leaves: None,
            foreign: Vec::new(),
            unread: 0,
            failed: Failed::default(),
            overfull: false,
            crowds: Vec::new(),
            end,
            cut: false,
        }
    }

    /// Whether the time for the whole reading is over.
    pub fn is_late(&self) -> bool {
        Instant::now() >= self.end
    }

    /// Asks for everything in the app's cache first, so that most questions need no call.
    pub fn fetch_items(&mut self) -> Result<(), Error> {
        match self.line.ask(Question::ITEMS_PATH, Question::Items) {
            Ok(message) => {
                self.items = items::read(&message, &self.bus_name).unwrap_or_default();
                Ok(())
            }
            Err(Error::Remote { .. }) => Ok(()),
            Err(e) => Err(e),
        }
    }

    /// Whether the cache has most of what was read.
    pub fn cache_tells(&self) -> bool {
        3 * self.untold <= self.told
    }

    /// Whether the cache has much that is not in the tree, where all of that was read.
    pub fn cache_has_orphans(&self) -> bool {
        const FEW: usize = 1_000;
        self.items.len() > 2 * self.nodes.len() + FEW
    }

    /// Reads all that shows.
    pub fn showing(&mut self) -> Result<(), Error> {
        self.add(None, ROOT.to_owned());
        self.pump(None)?;
        crowd::showing(self, 0)?;
        self.details(0, None)
    }

    /// Starts below a container that another walk has read: an embedded plug.
    pub fn showing_below(&mut self, owner: &Arc<str>, path: &str) -> Result<(), Error> {
        self.add(None, path.to_owned());
        if let Some(root) = self.nodes.first_mut() {
            root.owner = Some(owner.clone());
        }
        self.pump(None)?;
        crowd::showing(self, 0)?;
        self.details(0, None)
    }

    /// Reads what does not show, until `until`.
    pub fn hidden(&mut self, until: Instant) -> Result<(), Error> {
        let until = until.min(self.end);
        self.levels(until)?;
        crowd::hidden(self, until)?;
        self.unqueue();
        let until = Some(until).filter(|_| self.prose == Prose::InParents);
        self.details(0, until)?;
        self.unqueue();
        Ok(())
    }

    /// Reads the hidden nodes that were found and all that is in them, a level at a time.
    pub fn levels(&mut self, until: Instant) -> Result<(), Error> {
        let mut hidden = std::mem::take(&mut self.hidden);
        while !hidden.is_empty() && Instant::now() < until {
            for node in memory::recall(self, hidden)? {
                self.ask_facts(node);
            }
            self.pump(Some(until))?;
            // Where most elements have text it takes its share of the time, so that some of both
            // is read.
            if self.prose == Prose::InParents {
                self.details(0, Some(until))?;
            }
            hidden = std::mem::take(&mut self.hidden);
        }
        self.hidden = hidden;
        Ok(())
    }

    /// Drops the questions that there was no time for.
    fn unqueue(&mut self) {
        for (node, question) in std::mem::take(&mut self.queue) {
            let node = &mut self.nodes[node];
            match question {
                Question::Children | Question::ChildCount => node.children_read = false,
                // Without its text it says nothing: it is one of those that were not read.
                Question::TextLength | Question::Text(..) | Question::Caret
                    if !node.showing && node.name.is_empty() && node.children.is_empty() =>
                {
                    node.role = None;
                }
                Question::Text(..) => node.value = Text::default(),
                // A node whose role was never asked for stays out of the tree.
                _ => {}
            }
        }
    }

    /// Leaves out what was found and not read, and says so at its container.
    pub fn finish(&mut self) {
        for i in 1..self.nodes.len() {
            if self.nodes[i].role.is_none() {
                self.unread += 1;
                if let Some(parent) = self.nodes[i].parent {
                    self.nodes[parent].children_read = false;
                }
            }
        }
    }

    /// Adds an object that was found; `None` where it is in the tree already.
    pub fn add(&mut self, parent: Option<usize>, path: String) -> Option<usize> {
        if path == NULL || self.seen.contains(&path) {
            return None;
        }
        if self.nodes.len() >= MOST_NODES {
            self.overfull = true;
            if let Some(parent) = parent {
                self.nodes[parent].children_read = false;
            }
            return None;
        }
        self.seen.insert(path.clone());
        let index = self.nodes.len();
        let item = self.items.get(&path);
        let states = item.map(|item| item.states);
        self.nodes.push(Node {
            path,
            parent,
            children_read: true,
            ..Node::default()
        });
        if let Some(parent) = parent {
            self.nodes[parent].children.push(index);
        }
        match (parent, states) {
            (None, _) => {
                self.nodes[index].showing = true;
                self.ask_facts(index);
            }
            (_, Some(states)) => self.on_state(index, states),
            _ => self.queue.push_back((index, Question::State)),
        }
        Some(index)
    }

    /// Asks what there is to know of a node beyond its state, except where the cache has said it.
    fn ask_facts(&mut self, index: usize) {
        let node = &mut self.nodes[index];
        let manages = node.states.has(StateSet::MANAGES_DESCENDANTS);
        let mut children = None;
        if self.items.contains_key(&node.path) {
            self.told += 1;
        } else {
            self.untold += 1;
        }
        if let Some(item) = self.items.get_mut(&node.path) {
            node.role = Some(item.role);
            node.name = std::mem::take(&mut item.name);
            node.description = std::mem::take(&mut item.description);
            children = item.children.take();
        } else if let Some(role) = self.leaves {
            node.role = Some(role);
            children = Some(Vec::new());
            if node.name.is_empty() {
                self.queue.push_back((index, Question::Name));
            }
        } else {
            self.queue.push_back((index, Question::Role));
            self.queue.push_back((index, Question::Name));
        }
        if node.parent.is_some() {
            self.queue.push_back((index, self.extents));
        }
        match children {
            // Asking for the children of a table that makes its cells as it is asked can take all
            // the memory there is; `cells` finds those that show.
            _ if manages => node.children_read = false,
            Some(children) => {
                for child in children {
                    self.add(Some(index), child);
                }
            }
            // Most have none, and are then asked nothing more.
            None => self.queue.push_back((index, Question::ChildCount)),
        }
    }

    fn on_count(&mut self, index: usize, count: i32) {
        match count {
            0 => {}
            count if count > LISTED => {
                self.nodes[index].children_read = false;
                self.crowds.push(Crowd {
                    node: index,
                    count,
                    children: BTreeMap::new(),
                });
            }
            // A negative count is a toolkit's "I do not say".
            _ => self.queue.push_back((index, Question::Children)),
        }
    }

    fn on_state(&mut self, index: usize, states: StateSet) {
        let Some(parent) = self.nodes[index].parent else {
            return;
        };
        let toplevel = self.nodes[parent].parent.is_none() && self.nodes[parent].owner.is_none();
        let shows = if toplevel {
            StateSet::SHOWING
        } else {
            self.shows
        };
        // GTK 3 says of a viewport that was scrolled by more than its height that it does not show.
        let item = self.items.get(&self.nodes[index].path);
        let viewport = item.is_some_and(|item| item.role == role::VIEWPORT);
        let shows = states.has(shows) || viewport && states.has(StateSet::VISIBLE);
        let showing = self.nodes[parent].showing && shows;
        self.nodes[index].states = states;
        self.nodes[index].showing = showing;
        if showing {
            self.ask_facts(index);
        } else {
            self.hidden.push(index);
        }
    }

    /// Sends what is queued and takes what is answered, until there is neither. No new question is
    /// sent after `until`.
    pub fn pump(&mut self, until: Option<Instant>) -> Result<(), Error> {
        loop {
            if self.is_late() {
                self.cut();
                return Ok(());
            }
            let open = until.is_none_or(|until| Instant::now() < until);
            while open && self.line.connection.in_flight() < WINDOW {
                let Some((index, question)) = self.queue.pop_front() else {
                    break;
                };
                let tag = (index as u64) << 8 | u64::from(code(question));
                self.line.send(tag, &self.nodes[index].path, question);
            }
            if self.line.connection.in_flight() == 0 {
                return Ok(());
            }
            let Some((tag, reply)) = self.next_reply()? else {
                continue;
            };
            let (index, code) = ((tag >> 8) as usize, tag as u8);
            match reply {
                Ok(message) => {
                    if self.on_answer(index, code, &message).is_err() {
                        self.on_refused(index, code);
                    }
                }
                Err(_) => self.on_refused(index, code),
            }
        }
    }

    /// An answer that is an error, or cannot be read: the part stays unknown, and where the tree
    /// lacks something for that the reading says so.
    fn on_refused(&mut self, index: usize, code: u8) {
        match code {
            CHILDREN => {
                self.nodes[index].children_read = false;
                self.failed.lists += 1;
            }
            CHILD_COUNT => self.queue.push_back((index, Question::Children)),
            STATE | ROLE => self.failed.elements += 1,
            NAME => self.failed.texts += 1,
            code => {
                self.failed.texts += usize::from(code == TEXT && self.nodes[index].place.is_none());
                self.on_text_refused(index, code);
            }
        }
    }

    /// The next answer to anything: an app that gives any within [`PATIENCE`] is alive. `None` when
    /// the reading has become too long: what was asked and not answered is still in flight.
    fn next_reply(&mut self) -> Result<Option<(u64, Reply)>, Error> {
        let silence = Instant::now() + PATIENCE;
        if silence < self.end {
            return self.line.connection.next_reply(silence).map(Some);
        }
        self.line.connection.reply_until(self.end)
    }

    /// Ends the reading with what there is.
    fn cut(&mut self) {
        let flying = self.line.connection.forget_calls();
        self.cut |= !self.queue.is_empty() || !flying.is_empty();
        for tag in flying {
            if let CHILDREN | CHILD_COUNT = tag as u8
                && let Some(node) = self.nodes.get_mut((tag >> 8) as usize)
            {
                node.children_read = false;
            }
        }
        self.unqueue();
    }

    /// A question that is not part of the walk itself.
    pub fn ask(&mut self, path: &str, question: Question) -> Result<Message, Error> {
        self.line.ask(path, question)
    }

    /// The paths of a list of objects, of its own and no other bus name.
    pub fn own_objects(&self, message: &Message) -> Option<Vec<String>> {
        let objects = message.reader().array(8, Reader::object).ok()?;
        let own = objects.into_iter().filter(|(owner, _)| self.is_own(owner));
        Some(own.map(|(_, path)| path.to_owned()).collect())
    }

    /// Whether this bus name is the one that is walked.
    pub fn is_own(&self, owner: &str) -> bool {
        owner.is_empty() || owner == self.bus_name
    }

    /// Questions to one object, many in flight at once; their answers in order, `None` where it
    /// refused one.
    pub fn ask_all(
        &mut self,
        path: &str,
        questions: impl IntoIterator<Item = Question>,
    ) -> Result<Vec<Option<Message>>, Error> {
        let path: Rc<str> = path.into();
        let questions = questions.into_iter();
        self.ask_each(questions.map(|question| (path.clone(), question)))
    }

    /// The same of many objects.
    pub fn ask_each(
        &mut self,
        questions: impl IntoIterator<Item = (Rc<str>, Question)>,
    ) -> Result<Vec<Option<Message>>, Error> {
        let mut questions = questions.into_iter();
        let mut answers: Vec<Option<Message>> = Vec::new();
        loop {
            while !self.is_late() && self.line.connection.in_flight() < WINDOW {
                let Some((path, question)) = questions.next() else {
                    break;
                };
                self.line.send(answers.len() as u64, &path, question);
                answers.push(None);
            }
            if self.line.connection.in_flight() == 0 {
                return Ok(answers);
            }
            if let Some((tag, reply)) = self.next_reply()? {
                if let Some(answer) = answers.get_mut(tag as usize) {
                    *answer = reply.ok();
                }
            } else {
                self.line.connection.forget_calls();
                self.cut = true;
            }
        }
    }

    /// Lists the children of a node after all, with what is below them.
    pub fn read_children(&mut self, node: usize) -> Result<(), Error> {
        let first = self.nodes.len();
        self.nodes[node].children_read = true;
        self.queue.push_back((node, Question::Children));
        self.pump(None)?;
        self.details(first, None)
    }

    /// The same where there are so many children; too many are searched for those that show.
    pub fn read_counted(&mut self, node: usize, count: i32) -> Result<(), Error> {
        let (first, crowds) = (self.nodes.len(), self.crowds.len());
        self.nodes[node].children_read = true;
        self.on_count(node, count);
        self.pump(None)?;
        crowd::showing(self, crowds)?;
        self.details(first, None)
    }

    /// Reads objects that were found by other means, of which the role is known and that there is
    /// nothing in them.
    pub fn read_leaves(
        &mut self,
        parent: usize,
        found: Vec<Found>,
        role: u32,
    ) -> Result<(), Error> {
        self.leaves = Some(role);
        let read = self.read_found(parent, found);
        self.leaves = None;
        read
    }

    /// Takes out the nodes from this one on, which are all in nodes before it.
    pub fn forget_from(&mut self, first: usize) {
        for node in self.nodes.drain(first..) {
            self.seen.remove(&node.path);
        }
        for node in &mut self.nodes {
            node.children.retain(|child| *child < first);
        }
        self.hidden.retain(|node| *node < first);
    }

    /// Reads objects that were found by other means, with what is below them.
    pub fn read_found(&mut self, parent: usize, found: Vec<Found>) -> Result<(), Error> {
        let first = self.nodes.len();
        for Found { path, place, name } in found {
            if let Some(index) = self.add(Some(parent), path) {
                self.nodes[index].place = place;
                self.nodes[index].name = name;
            }
        }
        self.pump(None)?;
        self.details(first, None)
    }
}

/// The line to use for an app: its private socket where it has one.
pub fn line<'a>(bus: &'a mut crate::bus::Connection, peer: &'a mut Peer) -> Line<'a> {
    match &mut peer.private {
        Some(connection) => Line {
            connection,
            destination: String::new(),
        },
        None => Line {
            connection: bus,
            destination: peer.bus_name.clone(),
        },
    }
}
