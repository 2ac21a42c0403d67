//! The traversal: one request per toplevel, which reads its whole subtree. If that takes an app too
//! long, the app is read level by level: first all visible elements, then hidden ones within the
//! budget.

use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

use deskline_core::{Text, TreeWindow, WindowId};

use super::facts::{extents, is_page};
use super::fail::text;
use super::toplevels::toplevels;
use super::uia::{Depth, Failure, Node, Part, Patterns, Raw, Uia};
use crate::display::windows::{Kind, kind};
use crate::os;

/// The maximum number of nodes. A larger tree is regarded as endless.
const MOST_NODES: usize = 100_000;

/// The class of Firefox's windows.
const GECKO: &str = "MozillaWindowClass";

/// The control type of a menu.
const MENU: i32 = 50_009;

/// How deep elements may be nested.
const DEEPEST: usize = 200;

/// How long the traversal of visible elements may take.
const LONGEST: Duration = Duration::from_secs(4);

/// If a subtree takes longer than this, its app is read level by level from then on.
const SLOW: Duration = Duration::from_secs(1);

/// When a container's children are read one by one, stop after this many hidden children that
/// follow the visible ones.
const BEYOND: usize = 20;

/// For how many elements of an app to request the text, at most.
const MOST_TEXTS: usize = 100;

/// An element of a traversal.
#[derive(Debug)]
pub struct Item<E> {
    pub element: E,
    pub raw: Raw,
    pub parent: Option<usize>,
    /// The items of its children, in document order.
    pub children: Vec<usize>,
    /// Whether all children were read.
    pub children_read: bool,
    /// Whether the element's window is on the screen, and the provider does not report the element
    /// as off screen.
    pub shows: bool,
    /// The visible part of the element's text, if that was requested.
    pub text: Option<Part>,
    depth: usize,
}

/// One traversal of an app.
pub struct Walk<'u, U: Uia> {
    uia: &'u U,
    pub toplevels: Vec<TreeWindow>,
    pub items: Vec<Item<U::Element>>,
    /// For each toplevel that was read, the index of its item, and its index in `toplevels`.
    pub roots: Vec<(usize, usize)>,
    /// Whether to read level by level.
    pub by_levels: bool,
    until: Instant,
    queue: VecDeque<usize>,
    hidden: VecDeque<usize>,
    /// The toplevels whose thread does not answer.
    pub hung: Vec<usize>,
    /// The last error of a toplevel that could not be read although the app answers.
    pub failed: Option<String>,
    /// Whether a page was waited for and did not come.
    pub page_is_late: bool,
    /// The number of elements that did not answer although the app does.
    pub silent: usize,
    /// The number of visible elements whose children were not read for lack of time.
    pub cut_off: usize,
    /// The number of hidden elements whose children were not read for lack of time.
    pub unread: usize,
}

impl<'u, U: Uia> Walk<'u, U> {
    /// Reads the app's visible elements, then hidden ones for as long as `budget`.
    pub fn run(uia: &'u U, pid: u32, by_levels: bool, budget: Duration) -> Self {
        let mut walk = Self {
            uia,
            toplevels: toplevels(pid),
            items: Vec::new(),
            roots: Vec::new(),
            by_levels,
            until: Instant::now() + LONGEST,
            queue: VecDeque::new(),
            hidden: VecDeque::new(),
            hung: Vec::new(),
            failed: None,
            page_is_late: false,
            silent: 0,
            cut_off: 0,
            unread: 0,
        };
        walk.read(budget);
        walk
    }

    fn read(&mut self, budget: Duration) {
        let mut silent_threads = HashSet::new();
        let mut order: Vec<usize> = (0..self.toplevels.len()).collect();
        // Explorer is also the task bar and the desktop: read its folders first.
        let is_part = |of: WindowId| matches!(kind(of), Kind::Panel | Kind::Desktop);
        order.sort_by_key(|index| is_part(self.toplevels[*index].id));
        for index in order {
            let thread = os::process_and_thread(self.toplevels[index].id).1;
            let answer = if silent_threads.contains(&thread) {
                Err(Failure::TimedOut)
            } else {
                self.toplevel(index)
            };
            match answer {
                Ok(()) | Err(Failure::Gone) => {}
                Err(Failure::TimedOut) => {
                    silent_threads.insert(thread);
                    self.hung.push(index);
                }
                Err(failure) => self.failed = Some(text(&failure)),
            }
        }
        while let Some(index) = self.queue.pop_front() {
            if Instant::now() >= self.until {
                self.cut_off += 1;
                self.items[index].children_read = false;
            } else {
                self.children(index);
            }
        }
        self.texts();
        let until = Instant::now() + budget;
        while Instant::now() < until
            && let Some(index) = self.hidden.pop_front()
        {
            self.children(index);
            // Children that turn out to be visible are read in this loop too.
            self.hidden.extend(self.queue.drain(..));
        }
        self.unread = self.hidden.len();
        for index in std::mem::take(&mut self.hidden) {
            self.items[index].children_read = false;
        }
    }

    /// Whether a browser's visible page has no element yet, or a window of Firefox has no page yet.
    /// A Firefox without providers of its own shows its page after 4 to 20 s (nvaccess/nvda
    /// #17694).
    pub(crate) fn lacks_page(&self) -> bool {
        let is_empty = |item: &Item<_>| {
            item.shows && item.children_read && item.children.is_empty() && is_page(&item.raw)
        };
        let shows_gecko = |top: &TreeWindow| top.on_screen && os::class(top.id) == GECKO;
        self.items.iter().any(is_empty)
            || self.toplevels.iter().any(shows_gecko)
                && !self.items.iter().any(|item| is_page(&item.raw))
    }

    /// Reads one toplevel. Fails if not even its own element can be read.
    fn toplevel(&mut self, index: usize) -> Result<(), Failure> {
        let handle = self.toplevels[index].id;
        // Recognize a hung app by the smallest request: a large one may just be slow.
        let root = self.uia.window(handle, Depth::Element)?;
        if self.by_levels || Instant::now() >= self.until {
            self.add(None, root, index);
            return Ok(());
        }
        let asked = Instant::now();
        match self.uia.window(handle, Depth::Subtree) {
            Ok(whole) => self.add(None, whole, index),
            Err(Failure::Gone) => return Err(Failure::Gone),
            Err(_) => {
                self.by_levels = true;
                self.add(None, root, index);
            }
        }
        self.by_levels |= asked.elapsed() > SLOW;
        Ok(())
    }

    /// Adds an element with its descendants. Queues elements whose children were not requested.
    fn add(&mut self, parent: Option<usize>, node: Node<U::Element>, toplevel: usize) {
        let mut open = vec![(parent, node)];
        while let Some((parent, node)) = open.pop() {
            let Some(index) = self.add_one(parent, node.element, node.raw, toplevel) else {
                continue;
            };
            match node.children {
                Some(children) => {
                    let children = children.into_iter().rev();
                    open.extend(children.map(|child| (Some(index), child)));
                }
                None if self.items[index].shows => self.queue.push_back(index),
                None => self.hidden.push_back(index),
            }
        }
    }

    fn add_one(
        &mut self,
        parent: Option<usize>,
        element: U::Element,
        raw: Raw,
        toplevel: usize,
    ) -> Option<usize> {
        let depth = parent.map_or(0, |parent| self.items[parent].depth + 1);
        if self.items.len() >= MOST_NODES || depth > DEEPEST {
            self.leave(parent);
            return None;
        }
        // UI Automation also lists a dialog below its owner, and Qt an open menu below the element
        // that opens it. Skip these: they are read as toplevels.
        let menu = extents(&raw).filter(|_| raw.control_type == MENU);
        let is_other = |top: &TreeWindow| {
            Some(top.id) == raw.window || top.on_screen && Some(top.extents) == menu
        };
        if parent.is_some() && self.toplevels.iter().any(is_other) {
            return None;
        }
        if self.is_own_ancestor(parent, &raw) {
            return None;
        }
        let index = self.items.len();
        let shows = self.toplevels[toplevel].on_screen && (!raw.offscreen || parent.is_none());
        self.items.push(Item {
            element,
            raw,
            parent,
            children: Vec::new(),
            children_read: true,
            shows,
            text: None,
            depth,
        });
        match parent {
            Some(parent) => self.items[parent].children.push(index),
            None => self.roots.push((index, toplevel)),
        }
        Some(index)
    }

    fn is_own_ancestor(&self, parent: Option<usize>, raw: &Raw) -> bool {
        let mut at = parent;
        while let Some(index) = at {
            let item = &self.items[index];
            if !raw.runtime_id.is_empty() && item.raw.runtime_id == raw.runtime_id {
                return true;
            }
            at = item.parent;
        }
        false
    }

    fn leave(&mut self, index: Option<usize>) {
        if let Some(index) = index {
            self.items[index].children_read = false;
        }
    }

    fn toplevel_of(&self, index: usize) -> usize {
        let mut at = index;
        while let Some(parent) = self.items[at].parent {
            at = parent;
        }
        let root = self.roots.iter().find(|(item, _)| *item == at);
        root.map_or(0, |(_, toplevel)| *toplevel)
    }

    fn children(&mut self, index: usize) {
        let toplevel = self.toplevel_of(index);
        match self.uia.children(&self.items[index].element) {
            Ok(children) => {
                for child in children {
                    self.add(Some(index), child, toplevel);
                }
            }
            // The element has gone since its parent was read.
            Err(Failure::Gone) => {}
            // Without this bound, an app that begins to hang in mid-read would cost 2 s once more.
            Err(Failure::TimedOut) if Instant::now() < self.until => {
                self.one_by_one(index, toplevel);
            }
            Err(_) => {
                self.silent += 1;
                self.leave(Some(index));
            }
        }
    }

    /// Reads the children of a container that has too many children for one request.
    fn one_by_one(&mut self, index: usize, toplevel: usize) {
        let parent = self.items[index].element.clone();
        let mut last = None;
        let (mut shown, mut beyond) = (false, 0);
        // The first request has timed out. Allow the container the same time once more.
        let until = Instant::now() + super::fail::PATIENCE;
        while Instant::now() < until && beyond < BEYOND {
            match self.uia.next(&parent, last.as_ref()) {
                Ok(Some(child)) => {
                    let hidden = child.raw.offscreen;
                    shown |= !hidden;
                    beyond = if shown && hidden { beyond + 1 } else { 0 };
                    last = Some(child.element.clone());
                    self.add(Some(index), child, toplevel);
                }
                Ok(None) => return,
                Err(_) => {
                    self.silent += 1;
                    break;
                }
            }
        }
        self.leave(Some(index));
    }

    /// Requests the text of visible elements whose properties do not contain it.
    fn texts(&mut self) {
        let lacks = |item: &&mut Item<U::Element>| item.shows && lacks_text(item);
        for item in self.items.iter_mut().filter(lacks).take(MOST_TEXTS) {
            if Instant::now() >= self.until {
                return;
            }
            match self.uia.visible_text(&item.element, Text::LIMIT) {
                Ok(part) => item.text = Some(part),
                Err(Failure::TimedOut) => return,
                Err(_) => {}
            }
        }
    }
}

/// Whether the element's visible text is in none of its properties.
fn lacks_text<E>(item: &Item<E>) -> bool {
    let raw = &item.raw;
    let is_long = raw.value.chars().nth(Text::LIMIT).is_some();
    // A focusable element's name may differ from its text: Windows' terminal has the name of its
    // profile.
    let is_named = !raw.name.is_empty() && !takes_text(raw.control_type) && !raw.focusable;
    let is_blank = raw.value.is_empty() && !is_named;
    raw.patterns.contains(Patterns::TEXT)
        && !raw.password
        && item.children.is_empty()
        && (is_long || is_blank)
}

fn takes_text(control_type: i32) -> bool {
    const EDIT: i32 = 50_004;
    const DOCUMENT: i32 = 50_030;
    matches!(control_type, EDIT | DOCUMENT)
}
