//! The fake's state: nodes, apps, windows.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use super::pasteboard::Pasteboard;
use super::pointer::Pressed;
use super::quirks::{Quirks, Wakes};
use super::{Behaviour, Handle, Id};
use crate::os::{Display, Event, Heard, Judge, Panel, Shot, Value};
use deskline_input::clock::{self, Instant};

/// The price of a message: 0.1 to 1 ms were measured.
const MESSAGE: Duration = Duration::from_micros(200);

#[derive(Clone, Default)]
pub(crate) struct Node {
    pub(crate) pid: u32,
    pub(crate) parent: Id,
    pub(crate) children: Vec<Id>,
    pub(crate) attributes: BTreeMap<&'static str, Value<Id>>,
    pub(crate) settable: HashSet<&'static str>,
    pub(crate) actions: Vec<&'static str>,
    pub(crate) pressed: Option<Behaviour>,
    /// Its `CFHash`: its id, unless a test wants a collision.
    pub(crate) hash: u64,
    /// Whether it does not answer although its app does: each call to it waits for the messaging
    /// timeout.
    pub(crate) hangs: bool,
    /// The time that each call to it takes.
    pub(crate) costs: Duration,
    /// How many calls in a row will fail at once with `kAXErrorCannotComplete`.
    pub(crate) busy: u32,
}

#[derive(Clone, Default)]
pub(crate) struct App {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) root: Id,
    pub(crate) started: u64,
    pub(crate) regular: bool,
    /// Whether it does not answer: each call to it waits for the messaging timeout.
    pub(crate) hung: bool,
    pub(crate) focused: Id,
    pub(crate) shortcuts: HashMap<u16, Behaviour>,
    pub(crate) unfinished: bool,
    /// How it builds its tree on request, if it does so.
    pub(crate) wakes: Option<Wakes>,
    /// The process that started it, and the app that is responsible for it.
    pub(crate) parent: u32,
    pub(crate) responsible: Option<u32>,
    /// Whether it belongs to root: `PROC_PIDTBSDINFO` is refused (xnu, `proc_info.c`:
    /// `CHECK_SAME_USER`).
    pub(crate) of_root: bool,
    pub(crate) bundle_id: Option<String>,
    /// Secure Keyboard Entry, as Terminal and iTerm2 have it: on while they are in front.
    pub(crate) secure_keyboard: bool,
    /// Whether it is not an `NSRunningApplication`.
    pub(crate) daemon: bool,
}

/// The whole state.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) nodes: BTreeMap<Id, Node>,
    pub(crate) apps: BTreeMap<u32, App>,
    pub(crate) front: u32,
    /// The apps that have been in front, in order.
    pub(crate) fronts: Vec<u32>,
    /// Windows of all apps, front to back.
    pub(crate) stack: Vec<Id>,
    /// Open menus, and windows of services: pid, bounds, layer.
    pub(crate) extra: Vec<(u32, [f64; 4], i64)>,
    pub(crate) displays: Vec<Display>,
    pub(crate) pointer: (f64, f64),
    /// The events that reached the apps, with their tags.
    pub(crate) reached: Vec<(Event, i64)>,
    pub(crate) panels: Vec<Panel>,
    pub(crate) pasteboard: Pasteboard,
    /// The texts of the panels, in order.
    pub(crate) said: Vec<String>,
    pub(crate) trusted: bool,
    pub(crate) asked: u32,
    pub(crate) may_capture: bool,
    /// The apps that were in front while a picture was taken, in order.
    pub(crate) pictured_behind: Vec<u32>,
    /// The pictures that were taken.
    pub(crate) shots: Vec<Shot>,
    pub(crate) secure_input: bool,
    pub(crate) held_keys: Vec<u16>,
    pub(crate) button_held: bool,
    pub(crate) no_layout_letters: bool,
    /// Whether an input method is on: letters go into the word that it composes.
    pub(crate) method_on: bool,
    /// The input method that the next change of the focus turns on.
    pub(super) method_next: bool,
    /// The codes of keys that are dead without Shift.
    pub(crate) dead_keys: HashSet<u16>,
    /// The characters that the layout has with Command alone.
    pub(crate) command_plane: Vec<(u16, char)>,
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) installed: HashMap<PathBuf, fn(&mut World, PathBuf) -> u32>,
    /// How often all children of a node were read.
    pub(crate) whole_reads: HashMap<Id, u32>,
    /// The requests for a tree: the attribute, and the value that it was set to.
    pub(crate) requests: Vec<(&'static str, bool)>,
    /// How many bytes of values have been sent.
    pub(crate) moved: usize,
    /// The number of batched calls.
    pub(crate) calls: u64,
    /// The end of the last call.
    called: Option<Instant>,
    /// Whether this program has begun an activity.
    pub(super) awake: bool,
    /// The changes of covered pages, which are made once the pages are uncovered.
    paused: Vec<(Id, &'static str, Value<Id>)>,
    pub(super) timeout: Duration,
    /// The messaging timeouts of single elements.
    pub(super) timeouts: HashMap<Id, Duration>,
    pub(super) live: Arc<AtomicI64>,
    next: Id,
    pub(crate) observers: Vec<(u64, u32, Weak<Heard<Handle>>)>,
    pub(super) told: Vec<(u32, &'static str, Id)>,
    pub(crate) quirks: Quirks,
    /// The current Space, and those of windows that are not on the first one.
    pub(crate) space: u32,
    pub(crate) space_of: HashMap<Id, u32>,
    /// The app in front none of whose windows takes keys yet.
    pub(super) not_key: Option<u32>,
    /// Windows on their way out of the Dock: elsewhere on the screen, and not where clicks go.
    pub(super) flying: HashSet<Id>,
    /// Behaviours to run later.
    pub(crate) later: Vec<(Instant, Behaviour)>,
    pub(super) pressed: Option<Pressed>,
    /// How often a button was pressed before the program started.
    pub(crate) presses_before: i64,
    /// Nodes that can be dragged, and those that read key codes instead of characters.
    pub(crate) draggable: HashSet<Id>,
    pub(crate) by_code: HashSet<Id>,
    /// The field of a window that gets the keys once the window has been raised.
    pub(crate) fields: HashMap<Id, Id>,
    /// The turns of the wheel: the app, down and across.
    pub(crate) scrolled: Vec<(u32, i32, i32)>,
    delivered: usize,
    /// How often each call that leaves the process was made.
    pub(crate) messages: BTreeMap<&'static str, u64>,
    /// The hashes of removed nodes.
    dead: HashMap<Id, u64>,
    pub(crate) tap: Option<(u64, Arc<Mutex<Judge>>)>,
    /// The app whose windows Stage Manager is bringing to the stage.
    pub(super) arriving: Option<u32>,
    /// The window of each app that was last raised while the app was in front.
    pub(crate) last_key: HashMap<u32, Id>,
    /// Whether the person has revoked Accessibility.
    pub(crate) revoked: bool,
    /// `kCGWindowLayer` of windows that are not on layer 0: they stay above windows on layer 0.
    pub(crate) layers: HashMap<Id, i64>,
    /// Windows over all others that let clicks through: their pids and bounds.
    pub(crate) ghosts: Vec<(u32, [f64; 4])>,
    /// The output of the system's command-line programs, by their command lines.
    pub(crate) tools: HashMap<String, String>,
    /// The effects of the pointer being over a node.
    pub(crate) hovers: HashMap<Id, Behaviour>,
    /// The effects of a right-click on a node, if they differ from those of a click.
    pub(crate) right_clicks: HashMap<Id, Behaviour>,
    /// Areas whose contents the wheel moves.
    pub(crate) rolls: HashSet<Id>,
    /// The dropped nodes, and the nodes that they were dropped on.
    pub(crate) dropped: Vec<(Id, Option<Id>)>,
    /// The output of a command, which is added to a terminal's text.
    pub(crate) shells: HashMap<Id, String>,
    /// Whether the menu bar is visible, if it hides itself.
    pub(crate) menu_bar_shows: bool,
    /// Nodes behind all windows, which are in none: Finder's icons.
    pub(crate) desktop: Option<Id>,
    /// Fields that curl quotes as they are typed.
    pub(crate) curls: HashSet<Id>,
    /// Windows over all others that take clicks: their pids and bounds.
    pub(crate) covers: Vec<(Id, [f64; 4])>,
}

pub(crate) fn text(text: &str) -> Value<Id> {
    Value::Text {
        start: text.into(),
        units: text.encode_utf16().count(),
    }
}

impl World {
    /// Adds a child node with a role, title and extents.
    pub(crate) fn add(&mut self, parent: Id, role: &str, title: &str, at: [f64; 4]) -> Id {
        self.next += 1;
        let id = self.next;
        let pid = self.nodes.get(&parent).map_or(0, |p| p.pid);
        let mut node = Node {
            pid,
            parent,
            hash: id * 31,
            ..Node::default()
        };
        node.attributes.insert("AXRole", text(role));
        if !title.is_empty() {
            let name = match role {
                "AXStaticText" => "AXValue",
                _ => "AXTitle",
            };
            node.attributes.insert(name, text(title));
        }
        node.attributes
            .insert("AXPosition", Value::Point(at[0], at[1]));
        node.attributes.insert("AXSize", Value::Size(at[2], at[3]));
        node.attributes.insert("AXEnabled", Value::Bool(true));
        if matches!(
            role,
            "AXButton" | "AXCheckBox" | "AXMenuItem" | "AXMenuBarItem"
        ) {
            node.actions.push("AXPress");
        }
        self.nodes.insert(id, node);
        if let Some(parent) = self.nodes.get_mut(&parent) {
            parent.children.push(id);
            self.tell(pid, "AXCreated", id);
        }
        if role == "AXWindow" {
            self.stack.insert(0, id);
        }
        id
    }

    /// Adds an app without windows.
    pub(crate) fn app(&mut self, pid: u32, name: &str, path: PathBuf) -> Id {
        let root = self.add(0, "AXApplication", name, [0.0; 4]);
        self.node(root).pid = pid;
        let app = App {
            name: name.into(),
            path,
            root,
            started: 1_000 + u64::from(pid),
            regular: true,
            ..App::default()
        };
        self.apps.insert(pid, app);
        root
    }

    pub(crate) fn node(&mut self, id: Id) -> &mut Node {
        self.nodes.get_mut(&id).expect("a node")
    }

    pub(crate) fn set(&mut self, id: Id, name: &'static str, value: Value<Id>) {
        let pid = self.node(id).pid;
        if self.quirks.pauses_covered && self.is_in_page(id) && self.is_covered(pid) {
            return self.paused.push((id, name, value));
        }
        self.node(id).attributes.insert(name, value);
        self.tell(pid, "AXValueChanged", id);
    }

    fn is_in_page(&self, id: Id) -> bool {
        let parent = |id: &Id| Some(self.nodes.get(id)?.parent);
        let mut above = std::iter::successors(Some(id), parent);
        let is_page = |node: &Node| node.attributes["AXRole"] == text("AXWebArea");
        above.any(|id| self.nodes.get(&id).is_some_and(is_page))
    }

    /// Whether one window of another app covers the app's frontmost one.
    fn is_covered(&self, pid: u32) -> bool {
        let its = |id: &Id| self.nodes.get(id).is_some_and(|node| node.pid == pid);
        let first = self.stack.iter().position(its).unwrap_or_default();
        let Some([x, y, w, h]) = self.stack.get(first).and_then(|id| self.extents(*id)) else {
            return false;
        };
        let corners = [(x, y), (x + w - 1.0, y + h - 1.0)];
        let covers = |over: &Id| corners.iter().all(|at| self.has(*over, *at));
        self.stack[..first].iter().any(covers)
    }

    /// Makes the changes that pages have missed while they were covered.
    pub(super) fn uncover(&mut self) {
        for (id, name, value) in std::mem::take(&mut self.paused) {
            self.set(id, name, value);
        }
    }

    /// Removes a node and its descendants.
    pub(crate) fn remove(&mut self, id: Id) {
        let Some(node) = self.nodes.remove(&id) else {
            return;
        };
        self.dead.insert(id, node.hash);
        for child in node.children {
            self.remove(child);
        }
        if let Some(parent) = self.nodes.get_mut(&node.parent) {
            parent.children.retain(|c| *c != id);
        }
        self.stack.retain(|w| *w != id);
        self.tell(node.pid, "AXUIElementDestroyed", id);
    }

    pub(crate) fn value(&self, id: Id) -> String {
        match self
            .nodes
            .get(&id)
            .and_then(|n| n.attributes.get("AXValue"))
        {
            Some(Value::Text { start, .. }) => start.clone(),
            other => format!("{other:?}"),
        }
    }

    pub(crate) fn title(&self, id: Id) -> String {
        match self
            .nodes
            .get(&id)
            .and_then(|n| n.attributes.get("AXTitle"))
        {
            Some(Value::Text { start, .. }) => start.clone(),
            _ => String::new(),
        }
    }

    pub(super) fn hash_of(&self, id: Id) -> u64 {
        let living = self.nodes.get(&id).map(|n| n.hash);
        living.or_else(|| self.dead.get(&id).copied()).unwrap_or(id)
    }

    pub(crate) fn tell(&mut self, pid: u32, name: &'static str, id: Id) {
        self.told.push((pid, name, id));
    }

    pub(super) fn extents(&self, id: Id) -> Option<[f64; 4]> {
        let attributes = &self.nodes.get(&id)?.attributes;
        match (attributes.get("AXPosition"), attributes.get("AXSize")) {
            (Some(Value::Point(x, y)), Some(Value::Size(w, h))) => Some([*x, *y, *w, *h]),
            _ => None,
        }
    }

    pub(super) fn has(&self, id: Id, (x, y): (f64, f64)) -> bool {
        self.extents(id)
            .is_some_and(|[l, t, w, h]| x >= l && y >= t && x < l + w && y < t + h)
    }

    /// The innermost node at a point, below `id`.
    pub(super) fn hit(&self, id: Id, at: (f64, f64)) -> Option<Id> {
        let node = self.nodes.get(&id)?;
        let inner = node.children.iter().rev().find_map(|c| self.hit(*c, at));
        inner.or_else(|| self.has(id, at).then_some(id))
    }

    fn flag(&self, id: Id, name: &str) -> bool {
        let value = self.nodes.get(&id).and_then(|n| n.attributes.get(name));
        value == Some(&Value::Bool(true))
    }

    pub(super) fn shown(&self, id: Id) -> bool {
        let pid = self.nodes.get(&id).map_or(0, |n| n.pid);
        let root = self.apps.get(&pid).map_or(0, |a| a.root);
        !self.flag(id, "AXMinimized") && !self.flag(root, "AXHidden") && self.is_here(id)
    }

    /// The apps' reaction to an event.
    pub(super) fn deliver(&mut self, event: &Event) {
        self.run_due();
        match event {
            Event::Key { .. } | Event::Text { .. } => self.key_in(event),
            Event::Move { .. } | Event::Button { .. } | Event::Scroll { .. } => self.point(event),
        }
        self.delivered += 1;
        if self
            .quirks
            .revoked_after
            .is_some_and(|n| self.delivered > n)
        {
            (self.revoked, self.trusted) = (true, false);
        }
        self.secure_input |= self.quirks.secure_after.is_some_and(|n| self.delivered > n);
    }

    /// Runs the behaviours that are due.
    pub(super) fn run_due(&mut self) {
        let now = Instant::now();
        let (due, rest) = std::mem::take(&mut self.later)
            .into_iter()
            .partition::<Vec<_>, _>(|(at, _)| *at <= now);
        self.later = rest;
        for (_, does) in due {
            does(self);
        }
    }

    /// A call to the system, which costs a message to another process.
    pub(super) fn message(&mut self, name: &'static str) {
        self.nap();
        clock::pass(MESSAGE);
        *self.messages.entry(name).or_default() += 1;
    }

    /// Makes the wait since the last call ten times as long, as App Nap may.
    pub(super) fn nap(&mut self) {
        let now = Instant::now();
        if let Some(last) = self.called.filter(|_| self.quirks.naps && !self.awake) {
            clock::pass(now.saturating_duration_since(last) * 9);
        }
        self.called = Some(Instant::now());
    }

    /// The app that keeps keys to itself while it is in front.
    pub(super) fn secure_holder(&self) -> Option<u32> {
        let mut apps = self.apps.iter();
        apps.find(|(_, app)| app.secure_keyboard)
            .map(|(pid, _)| *pid)
    }

    /// Whether a tap blocks all input.
    pub(super) fn is_stuck(&self) -> bool {
        self.revoked && self.tap.is_some()
    }

    /// Raises a window, whose field then gets the app's keys.
    pub(super) fn raise(&mut self, window: Id) {
        let pid = self.node(window).pid;
        if self.front == pid {
            self.last_key.insert(pid, window);
        } else if self.quirks.last_key_first {
            return;
        }
        self.stack.retain(|w| *w != window);
        self.stack.insert(0, window);
        self.sort_by_layer();
        if !self.is_here(window) {
            // A guess, as docs/dev/macos-internals.md says.
            self.travel_to(window);
        }
        if let Some(field) = self.fields.get(&window).copied() {
            self.focus(pid, field);
        }
    }

    /// Windows of higher layers lie above the others.
    pub(super) fn sort_by_layer(&mut self) {
        let layers = self.layers.clone();
        self.stack
            .sort_by_key(|w| -layers.get(w).copied().unwrap_or(0));
    }

    pub(crate) fn focus(&mut self, pid: u32, id: Id) {
        let app = self.apps.get_mut(&pid).expect("an app");
        let before = std::mem::replace(&mut app.focused, id);
        if self.nodes.contains_key(&before) {
            self.set(before, "AXFocused", Value::Bool(false));
        }
        self.set(id, "AXFocused", Value::Bool(true));
    }
}
