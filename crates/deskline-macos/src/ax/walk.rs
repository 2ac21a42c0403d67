//! The traversal: top down, with one batched call per element.
//!
//! macOS does not report which elements are visible, so the traversal computes it. An element is
//! hidden if it is outside its window or its scroll area, or in a closed menu, a minimised window
//! or a hidden app. Visible elements are read first and completely, the others afterwards, as far
//! as the budget goes.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use deskline_contract::{Cancel, Error, Result};
use deskline_core::{Role, States, Text};
use deskline_input::clock::Instant;

use super::facts::{self, FACTS, FACTS_AND_CHILDREN, FACTS_BUT_VALUE, Facts};
use super::node::Node;
use super::reuse::Last;
use super::visible_rows::{self, RANGE};
use super::{PATIENCE, failed, long_text};
use crate::os::{AxError, Os, Value};
use crate::{front, windows};

/// The shortest and the longest timeout for a hidden element, depending on the rest of the budget.
/// An element that does not answer is asked twice.
const LEAST_TIME: Duration = Duration::from_millis(50);
const MOST_TIME: Duration = Duration::from_millis(250);

/// How long to read visible elements: this long for the windows, and then this long again for open
/// menus.
const VISIBLE: Duration = Duration::from_secs(3);

/// After this many consecutive rows that do not show, the rest counts as hidden.
const BEYOND: u32 = 20;

/// The maximum number of nodes. No app has more: a larger tree has a cycle.
const MOST_NODES: usize = 200_000;

/// Additional attributes to request of the app's own element.
const TOPLEVELS: &[&str] = &[
    "AXFocusedWindow",
    "AXMainWindow",
    "AXWindows",
    "AXChildren",
    "AXMenuBar",
    MENUS,
    "AXExtrasMenuBar",
];

/// The attribute with the open context menus, including the menus of lists that do not report them
/// among their children (agent-desktop).
const MENUS: &str = "AXMenus";

/// One traversal in progress.
pub(crate) struct Walk<'o, O: Os> {
    os: &'o O,
    pid: u32,
    /// Whether the app is in front, which makes its menu bar visible.
    front: bool,
    last: Option<&'o Last<O::Element>>,
    /// The bar with the app's menu extras, which is visible whichever app is in front.
    extras: Option<O::Element>,
    /// The open context menus that the app lists.
    menus: Vec<O::Element>,
    pub(crate) nodes: Vec<Node<O::Element>>,
    seen: HashSet<O::Element>,
    queue: VecDeque<usize>,
    hidden: VecDeque<usize>,
    /// Tables with unread rows.
    tables: Vec<usize>,
    /// How many elements did not answer although the app does.
    pub(crate) silent: usize,
    /// The other processes that elements belong to, such as those of pages, panels and panes of
    /// settings.
    pub(crate) helpers: HashSet<u32>,
    /// The processes in `helpers` that do not answer.
    hung: HashSet<u32>,
}

impl<'o, O: Os> Walk<'o, O> {
    /// `last` has the hidden elements that may be reused.
    pub(crate) fn new(
        os: &'o O,
        pid: u32,
        front: bool,
        last: Option<&'o Last<O::Element>>,
    ) -> Self {
        Self {
            os,
            pid,
            front,
            last,
            extras: None,
            menus: Vec::new(),
            nodes: Vec::new(),
            seen: HashSet::new(),
            queue: VecDeque::new(),
            hidden: VecDeque::new(),
            tables: Vec::new(),
            silent: 0,
            helpers: HashSet::new(),
            hung: HashSet::new(),
        }
    }

    /// Reads everything visible. `menus` are the open menus that notifications have named: the menu
    /// of a list or an outline may be the child of no element (pyatom #107).
    pub(crate) fn showing(&mut self, menus: Vec<O::Element>) -> Result<()> {
        self.root()?;
        self.queued()?;
        let mut open = std::mem::take(&mut self.menus);
        if !open.is_empty() && !windows::popup_open(self.os, self.pid) {
            open.clear();
        }
        // Open menus come last: a menu that is also in the menu bar has been read there by now.
        for menu in open.into_iter().chain(menus) {
            self.add(0, menu, true);
        }
        self.queued()
    }

    fn queued(&mut self) -> Result<()> {
        let (cancel, start) = (Cancel::current(), Instant::now());
        while start.elapsed() < VISIBLE
            && let Some(index) = self.queue.pop_front()
        {
            cancel.check()?;
            self.ask(index)?;
            self.past_view(index);
        }
        self.hidden.extend(self.queue.drain(..));
        Ok(())
    }

    /// In a container that does not report its visible rows, rows far beyond the last visible row
    /// count as hidden: reading a row that was never drawn takes 60 ms and more (trycua/cua #3907).
    fn past_view(&mut self, index: usize) {
        let Some(parent) = self.nodes[index].parent else {
            return;
        };
        let shows = self.nodes[index].showing;
        let Some(past) = &mut self.nodes[parent].past_view else {
            return;
        };
        // Zero until a row shows.
        *past = if shows {
            1
        } else {
            *past + u32::from(*past > 0)
        };
        if *past > BEYOND {
            let nodes = &self.nodes;
            let is_row = |index: &usize| nodes[*index].parent == Some(parent);
            let (rows, rest) = self.queue.drain(..).partition::<VecDeque<_>, _>(is_row);
            self.queue = rest;
            self.hidden.extend(rows);
        }
    }

    /// Reads hidden elements, until the time `until`, or until one of them does not answer. An app
    /// that does not answer here need not be hung: reading a closed menu makes the app fill it,
    /// which may take long.
    pub(crate) fn hidden(&mut self, until: Instant) -> Result<()> {
        while Instant::now() < until {
            if let Some(index) = self.hidden.pop_front() {
                if self.reuse(index) {
                    continue;
                }
                let silent = self.silent;
                let element = self.nodes[index].element.clone();
                let left = until.saturating_duration_since(Instant::now());
                self.os
                    .set_timeout(&element, left.clamp(LEAST_TIME, MOST_TIME));
                let asked = self.ask(index);
                self.os.set_timeout(&element, Duration::ZERO);
                asked?;
                if self.silent > silent {
                    break;
                }
            } else if let Some(table) = self.tables.pop() {
                self.next_rows(table);
            } else {
                break;
            }
            // Elements that turn out to be visible are read in this pass too.
            self.hidden.extend(self.queue.drain(..));
        }
        Ok(())
    }

    /// How many elements were found but not read for lack of time. Does not count
    /// [`Self::unread_rows`].
    pub(crate) fn unread(&mut self) -> usize {
        let unread = std::mem::take(&mut self.hidden);
        for &index in &unread {
            if let Some(parent) = self.nodes[index].parent {
                self.nodes[parent].children_read = false;
            }
        }
        unread.len()
    }

    /// The tables with unread rows, each with the number of its unread rows.
    pub(crate) fn unread_rows(&self) -> impl Iterator<Item = (usize, usize)> {
        let nodes = self.nodes.iter().enumerate();
        nodes.filter_map(|(i, node)| Some((i, node.more_rows?.0)))
    }

    fn root(&mut self) -> Result<()> {
        let app = self.os.application(self.pid);
        let failed = |e| failed(self.os, self.pid, e);
        let facts = self.os.attributes(&app, FACTS).map_err(failed)?;
        let facts = facts::read(FACTS, facts);
        let toplevels = self.os.attributes(&app, TOPLEVELS).map_err(failed)?;
        let showing = !facts.hidden;
        self.seen.insert(app.clone());
        self.nodes.push(Node {
            facts: Some(facts),
            ..Node::new(app, None, showing)
        });
        if let Some(Value::Element(extras)) = toplevels.last() {
            self.extras = Some(extras.clone());
        }
        for (name, value) in TOPLEVELS.iter().zip(toplevels) {
            match value {
                Value::Elements(menus) if *name == MENUS => self.menus = menus,
                Value::Element(element) => self.add(0, element, showing),
                Value::Elements(elements) => {
                    for element in elements {
                        self.add(0, element, showing);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Adds a node and queues it.
    fn add(&mut self, parent: usize, element: O::Element, showing: bool) {
        if self.nodes.len() >= MOST_NODES || !self.seen.insert(element.clone()) {
            return;
        }
        if let Some(helper) = self.helper(&element) {
            self.helpers.insert(helper);
        }
        let index = self.nodes.len();
        self.nodes.push(Node::new(element, Some(parent), showing));
        self.nodes[parent].children.push(index);
        if showing {
            self.queue.push_back(index);
        } else {
            self.hidden.push_back(index);
        }
    }

    /// The process of an element, if it is not the app's own.
    fn helper(&self, element: &O::Element) -> Option<u32> {
        let pid = self.os.pid_of(element).ok();
        pid.filter(|pid| *pid != self.pid)
    }

    fn role(&self, index: Option<usize>) -> Option<Role> {
        Some(self.nodes[index?].facts.as_ref()?.role)
    }

    /// Reads one element and queues its children.
    fn ask(&mut self, index: usize) -> Result<()> {
        let parent = self.nodes[index].parent;
        // The child of a scroll area may be a table or a long text, which is read in parts.
        let is_scrolled = self.role(parent) == Some(Role::SCROLL_AREA);
        let names = if is_scrolled {
            FACTS_BUT_VALUE
        } else {
            FACTS_AND_CHILDREN
        };
        let Some(values) = self.attributes(index, names)? else {
            return Ok(());
        };
        let mut facts = facts::read(names, values.clone());
        let rows = visible_rows::names(facts.role);
        if is_scrolled && rows.is_none() {
            facts = self.scrolled(index, facts, values)?;
        } else if takes_text(facts.role) && facts.value.is_cut() {
            facts.value = self.around_caret(index, facts.value)?;
        }
        let children = facts.children.take();
        self.place(index, &facts);
        let role = facts.role;
        self.nodes[index].facts = Some(facts);
        if takes_text(role) {
            self.nodes[index].editable = Some(self.is_editable(index)?);
        }
        if let Some(rows) = rows {
            return self.rows(index, rows);
        }
        match children {
            Some(children) => self.add_all(index, children),
            None => self.nodes[index].children_read = false,
        }
        Ok(())
    }

    /// Completes the facts about a child of a scroll area if the child is not a table.
    fn scrolled(
        &mut self,
        index: usize,
        mut facts: Facts<O::Element>,
        mut values: Vec<Value<O::Element>>,
    ) -> Result<Facts<O::Element>> {
        let rest: &[&str] = if facts.role == Role::TEXT_AREA {
            long_text::NAMES
        } else {
            &["AXChildren", "AXValue"]
        };
        let Some(more) = self.attributes(index, rest)? else {
            return Ok(facts);
        };
        let names = [FACTS_BUT_VALUE, rest].concat();
        values.extend(more);
        let value = long_text::read(self.os, self.pid, &self.nodes[index].element, &values);
        facts = facts::read(&names, values);
        if let Some(value) = value.filter(|_| !facts.states.contains(States::SECURE)) {
            facts.value = value;
        }
        Ok(facts)
    }

    /// Reads the part around the caret of a long text that is in no scroll area. `start` is the
    /// part that was already read.
    fn around_caret(&mut self, index: usize, start: Text) -> Result<Text> {
        let Some(values) = self.attributes(index, long_text::NAMES)? else {
            return Ok(start);
        };
        let element = &self.nodes[index].element;
        Ok(long_text::read(self.os, self.pid, element, &values).unwrap_or(start))
    }

    /// Reuses a hidden element from the last traversal, if no event has named it since. Returns
    /// whether it did.
    fn reuse(&mut self, index: usize) -> bool {
        let node = &self.nodes[index];
        let known = self.last.and_then(|last| last.get(&node.element));
        let Some(known) = known.cloned() else {
            return false;
        };
        self.place(index, &known.facts);
        if self.nodes[index].showing {
            return false;
        }
        self.nodes[index].facts = Some(known.facts);
        self.nodes[index].editable = known.editable;
        self.add_all(index, known.children);
        true
    }

    fn is_editable(&self, index: usize) -> Result<bool> {
        let element = &self.nodes[index].element;
        if let Some(known) = self.last.and_then(|last| last.get(element)?.editable) {
            return Ok(known);
        }
        let asked = Instant::now();
        match self.os.settable(element, "AXValue") {
            Err(e) if is_hung(e, asked) => Err(failed(self.os, self.pid, e)),
            answer => Ok(answer == Ok(true)),
        }
    }

    /// Makes one batched call. `None` if the element has gone or does not answer; an error if the
    /// app does not answer.
    fn attributes(
        &mut self,
        index: usize,
        names: &[&'static str],
    ) -> Result<Option<Vec<Value<O::Element>>>> {
        let asked = Instant::now();
        let helper = self.helper(&self.nodes[index].element);
        let element = &self.nodes[index].element;
        // Once an element has not answered, its siblings may not answer either.
        let quick = self.silent > 0;
        if quick {
            self.os.set_timeout(element, MOST_TIME);
        }
        let mut answer = if helper.is_some_and(|helper| self.hung.contains(&helper)) {
            Err(AxError::FAILURE)
        } else {
            self.os.attributes(element, names)
        };
        if answer == Err(AxError::CANNOT_COMPLETE) && asked.elapsed() < PATIENCE / 2 {
            // An app that is between two turns of its event loop fails at once, but is not hung:
            // try again.
            answer = self.os.attributes(element, names);
        }
        if quick {
            // Zero restores the default timeout.
            self.os.set_timeout(element, Duration::ZERO);
        }
        match answer {
            Ok(values) => return Ok(Some(values)),
            // A map or a canvas may be slow in an app that is not slow itself (trycua/cua #3906).
            Err(e)
                if is_hung(e, asked)
                    && helper.is_none()
                    && !super::answers(self.os, self.pid, front::SAYS) =>
            {
                return Err(failed(self.os, self.pid, e));
            }
            Err(AxError::CANNOT_COMPLETE) if self.os.process(self.pid).is_none() => {
                return Err(Error::NoProcess(self.pid));
            }
            Err(e @ AxError::API_DISABLED) => return Err(failed(self.os, self.pid, e)),
            // The element has gone since its parent was read.
            Err(AxError::INVALID_UI_ELEMENT) => {}
            Err(e) => {
                self.silent += 1;
                self.hung.extend(helper.filter(|_| is_hung(e, asked)));
                if let Some(parent) = self.nodes[index].parent {
                    self.nodes[parent].children_read = false;
                }
            }
        }
        Ok(None)
    }

    fn add_all(&mut self, index: usize, children: Vec<O::Element>) {
        // A closed menu is not visible, and reading it may make the app fill it.
        let is_closed = holds_menu(self.role(Some(index))) && !self.is_selected(index);
        let showing = self.nodes[index].showing && !is_closed;
        for child in children {
            self.add(index, child, showing);
        }
    }

    fn rows(&mut self, index: usize, names: visible_rows::Names) -> Result<()> {
        let asked = Instant::now();
        match visible_rows::read(self.os, &self.nodes[index].element, names) {
            Ok(rows) => {
                self.nodes[index].past_view = rows.unsure.then_some(0);
                self.add_all(index, rows.shown);
                if rows.more > 0 {
                    self.nodes[index].more_rows = Some((rows.more, 0));
                    self.nodes[index].children_read = false;
                    self.tables.push(index);
                }
            }
            Err(AxError::INVALID_UI_ELEMENT) => {}
            Err(e) if is_hung(e, asked) => return Err(failed(self.os, self.pid, e)),
            Err(e @ AxError::CANNOT_COMPLETE) if self.os.process(self.pid).is_none() => {
                return Err(failed(self.os, self.pid, e));
            }
            Err(_) => {
                self.silent += 1;
                self.nodes[index].children_read = false;
            }
        }
        Ok(())
    }

    /// Reads the next range of a table's rows.
    fn next_rows(&mut self, index: usize) {
        let node = &self.nodes[index];
        let (Some((more, from)), Some(role)) = (node.more_rows, self.role(Some(index))) else {
            return;
        };
        let Some(names) = visible_rows::names(role) else {
            return;
        };
        let Ok(rows) = self.os.range(&node.element, names.all, from, RANGE) else {
            return;
        };
        let (before, found) = (self.nodes.len(), rows.len());
        // Rows that were read before keep their nodes. Then all rows of the range are put in order.
        let ordered: Vec<O::Element> = rows.clone();
        for row in rows {
            self.add(index, row, false);
        }
        self.reorder(index, from, &ordered);
        let new = self.nodes.len() - before;
        let left = more.saturating_sub(new);
        let done = found < RANGE || left == 0;
        self.nodes[index].more_rows = (!done).then_some((left, from + found));
        self.nodes[index].children_read = done;
        if !done {
            self.tables.push(index);
        }
    }

    /// Sorts the rows of the range that starts at row `from` into the children, after the rows of
    /// earlier ranges and before the visible rows that come later.
    fn reorder(&mut self, index: usize, from: usize, rows: &[O::Element]) {
        let wanted: HashSet<&O::Element> = rows.iter().collect();
        let children = std::mem::take(&mut self.nodes[index].children);
        let (range, rest): (Vec<usize>, Vec<usize>) = children
            .into_iter()
            .partition(|&child| wanted.contains(&self.nodes[child].element));
        let position = |child: &usize| {
            let element = &self.nodes[*child].element;
            rows.iter().position(|row| row == element)
        };
        let mut range = range;
        range.sort_by_key(position);
        let headers = rest
            .iter()
            .take_while(|&&child| self.role(Some(child)) == Some(Role::GROUP))
            .count();
        let at = (headers + from).min(rest.len());
        let mut children = rest;
        children.splice(at..at, range);
        self.nodes[index].children = children;
    }

    fn is_selected(&self, index: usize) -> bool {
        let facts = self.nodes[index].facts.as_ref();
        facts.is_some_and(|f| f.states.contains(States::SELECTED))
    }

    /// Sets whether the element is visible, and the bounds that clip its children.
    fn place(&mut self, index: usize, facts: &Facts<O::Element>) {
        let Some(parent) = self.nodes[index].parent else {
            return;
        };
        let above = &self.nodes[parent];
        let opened = self.is_selected(parent);
        let own = facts.extents.filter(|e| !e.is_empty());
        let holds_menu = holds_menu(self.role(Some(parent)));
        let (shows, clip) = match facts.role {
            // A closed menu is in the tree too.
            Role::MENU => (own.is_some() && (opened || !holds_menu), None),
            Role::MENU_BAR => {
                let extras = self.extras.as_ref() == Some(&self.nodes[index].element);
                (self.front || extras, None)
            }
            Role::WINDOW | Role::SHEET | Role::DRAWER | Role::POPOVER => (true, own),
            _ => {
                let both = above.clip.zip(own);
                let inside = both.is_none_or(|(clip, own)| !clip.intersect(&own).is_empty());
                let clip = match (facts.role, above.clip, own) {
                    (Role::SCROLL_AREA, Some(clip), Some(own)) => Some(clip.intersect(&own)),
                    (Role::SCROLL_AREA, None, own) => own,
                    (_, clip, _) => clip,
                };
                (inside, clip)
            }
        };
        let showing = above.showing && shows && !facts.hidden;
        let node = &mut self.nodes[index];
        node.showing = showing;
        node.clip = clip;
    }
}

/// Whether the app has used up its time to answer. If the app is busy only for a moment, the call
/// fails at once.
fn is_hung(error: AxError, asked: Instant) -> bool {
    error == AxError::CANNOT_COMPLETE && asked.elapsed() >= PATIENCE / 2
}

fn holds_menu(role: Option<Role>) -> bool {
    matches!(role, Some(Role::MENU_BAR_ITEM | Role::MENU_ITEM))
}

fn takes_text(role: Role) -> bool {
    matches!(role, Role::TEXT_FIELD | Role::TEXT_AREA | Role::COMBO_BOX)
}
