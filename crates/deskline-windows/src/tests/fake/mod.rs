//! A fake Windows for tests: windows of apps, the front, the pointer and the keyboard, and
//! providers of UI Automation. Calls of `crate::os` and `crate::input::send` go to the fake that
//! the thread has created last.

#![allow(clippy::unnecessary_wraps, clippy::unused_self)] // as on Windows

mod oddities;
pub(crate) mod os;
mod parts;
mod provider;
pub(crate) mod send;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use deskline_contract::Sign;
use deskline_core::{Point, Rect, WindowId};

pub(crate) use oddities::Oddities;
pub(crate) use parts::{Guard, Programs, clipboard};

use crate::os::{Integrity, Styles};
use crate::tree::uia::{Hear, Part, Patterns, Raw};

pub const PID: u32 = 40;

/// `SECURITY_MANDATORY_MEDIUM_RID` and `SECURITY_MANDATORY_HIGH_RID`.
pub const MEDIUM: Integrity = Integrity::Level(0x2000);
pub const HIGH: Integrity = Integrity::Level(0x3000);

#[derive(Debug, Default)]
pub struct Element {
    pub raw: Raw,
    pub children: Vec<usize>,
    parent: Option<usize>,
    gone: bool,
    pub hung: bool,
    text: Option<Part>,
    /// A placeholder, which is in no list of children and has no properties.
    pub unmade: bool,
    /// How long a browser takes to make the elements of its page, from the first request for them
    /// (<https://github.com/MicrosoftEdge/WebView2Feedback/issues/3530>).
    pub wakes_after: Duration,
    asked: Option<Instant>,
    /// How long the element takes to answer each request.
    pub costs: Duration,
}

/// A toplevel window.
#[derive(Debug, Clone)]
pub struct Win {
    pub id: WindowId,
    pub pid: u32,
    pub thread: u32,
    pub class: &'static str,
    pub styles: Styles,
    pub title: String,
    pub at: Rect,
    pub minimised: bool,
    pub cloaked: u32,
    pub view_cloak: usize,
    pub enabled: bool,
    pub owner: Option<WindowId>,
    /// For an app from the Store: the window in this frame, and the app's pid.
    pub core: Option<(WindowId, u32)>,
    /// Its element.
    pub root: usize,
}

pub struct App {
    pub name: &'static str,
    pub started: u64,
    pub integrity: Integrity,
    /// Whether the window's thread answers no message.
    pub hung: bool,
}

/// The reaction to a press or a click.
pub type Behaviour = Arc<dyn Fn(&mut World) + Send + Sync>;

pub struct World {
    pub elements: Vec<Element>,
    /// The windows, frontmost first.
    pub windows: Vec<Win>,
    pub apps: BTreeMap<u32, App>,
    pub front: Option<WindowId>,
    pub pointer: Point,
    pub screen: Rect,
    /// Whether the last input event was one of this program's.
    pub sent_last: bool,
    pub pressed: HashMap<usize, Behaviour>,
    pub odd: Oddities,
    /// The requests, actions and input that arrived, in order.
    pub log: Vec<String>,
    /// Called at each request, to change the app while it is read.
    pub meanwhile: Option<Behaviour>,
    hear: Option<Hear>,
}

impl Default for World {
    fn default() -> Self {
        Self {
            elements: Vec::new(),
            windows: Vec::new(),
            apps: BTreeMap::from([(PID, App::named("notes"))]),
            front: None,
            pointer: Point::at(0, 0),
            screen: Rect::at(0, 0, 1920, 1080),
            sent_last: false,
            pressed: HashMap::new(),
            odd: Oddities::default(),
            log: Vec::new(),
            meanwhile: None,
            hear: None,
        }
    }
}

impl App {
    pub fn named(name: &'static str) -> Self {
        Self {
            name,
            started: 7,
            integrity: MEDIUM,
            hung: false,
        }
    }
}

/// Clones share the world.
#[derive(Clone)]
pub struct Fake(Arc<Mutex<World>>);

thread_local! {
    static CURRENT: RefCell<Option<Fake>> = const { RefCell::new(None) };
}

impl Default for Fake {
    fn default() -> Self {
        let fake = Self(Arc::default());
        CURRENT.set(Some(fake.clone()));
        fake
    }
}

/// The fake of this thread.
fn current() -> Fake {
    CURRENT.with_borrow(Clone::clone).unwrap_or_default()
}

/// A visible element with these properties.
pub fn raw(control_type: i32, name: &str, bounds: [f64; 4]) -> Raw {
    Raw {
        control_type,
        name: name.into(),
        bounds: Some(bounds),
        enabled: true,
        is_control: true,
        expand: 3,
        ..Raw::default()
    }
}

pub fn with(mut raw: Raw, patterns: Patterns) -> Raw {
    raw.patterns |= patterns;
    raw
}

impl Fake {
    pub fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a toplevel of the first app, in front of the others. Returns its element.
    pub fn window(&self, handle: u64, title: &str, at: [f64; 4]) -> usize {
        self.window_of(PID, handle, title, at)
    }

    pub fn window_of(&self, pid: u32, handle: u64, title: &str, at: [f64; 4]) -> usize {
        /// `WS_CAPTION`
        const PLAIN: u32 = 0x00c0_0000;
        let mut root = raw(50_032, title, at);
        root.window = Some(WindowId(handle));
        let root = self.add(None, root);
        let [x, y, w, h] = at.map(|n| n as i32);
        let window = Win {
            id: WindowId(handle),
            pid,
            thread: handle as u32,
            class: "Plain",
            styles: Styles {
                plain: PLAIN,
                extended: 0,
            },
            title: title.into(),
            at: Rect { x, y, w, h },
            minimised: false,
            cloaked: 0,
            view_cloak: 0,
            enabled: true,
            owner: None,
            core: None,
            root,
        };
        let mut world = self.world();
        world.windows.insert(0, window);
        world.front = Some(WindowId(handle));
        root
    }

    pub fn add(&self, parent: impl Into<Option<usize>>, raw: Raw) -> usize {
        self.world().add(parent.into(), raw)
    }

    /// Lists an element once more, below another.
    pub fn list_also(&self, parent: usize, child: usize) {
        self.world().elements[parent].children.push(child);
    }

    pub fn change(&self, index: usize, change: impl FnOnce(&mut Raw)) {
        change(&mut self.world().elements[index].raw);
    }

    pub fn raw(&self, index: usize) -> Raw {
        self.world().elements[index].raw.clone()
    }

    pub fn remove(&self, index: usize) {
        self.world().elements[index].gone = true;
    }

    pub fn hang(&self, index: usize, hung: bool) {
        self.world().elements[index].hung = hung;
    }

    pub fn say(&self, index: usize, part: Part) {
        self.world().elements[index].text = Some(part);
    }

    pub fn event(&self, sign: Sign) {
        let hear = self.world().hear.clone();
        if let Some(hear) = hear {
            hear(sign);
        }
    }

    pub fn actions(&self) -> Vec<String> {
        let world = self.world();
        let acts = world.log.iter().filter(|entry| entry.starts_with("act"));
        acts.cloned().collect()
    }

    pub fn requests(&self, kind: &str) -> usize {
        let world = self.world();
        world
            .log
            .iter()
            .filter(|entry| entry.starts_with(kind))
            .count()
    }
}

impl World {
    pub fn win(&self, id: WindowId) -> Option<&Win> {
        self.windows.iter().find(|window| window.id == id)
    }

    pub fn win_mut(&mut self, id: WindowId) -> Option<&mut Win> {
        self.windows.iter_mut().find(|window| window.id == id)
    }

    pub fn add(&mut self, parent: Option<usize>, mut raw: Raw) -> usize {
        let index = self.elements.len();
        if raw.runtime_id.is_empty() {
            raw.runtime_id = vec![42, index as i32];
        }
        self.elements.push(Element {
            raw,
            parent,
            ..Element::default()
        });
        if let Some(parent) = parent {
            self.elements[parent].children.push(index);
        }
        index
    }

    /// The element and all below it.
    fn below(&self, root: usize) -> Vec<usize> {
        let mut found = vec![root];
        let mut next = 0;
        while let Some(&at) = found.get(next) {
            found.extend(&self.elements[at].children);
            next += 1;
        }
        found
    }

    /// Brings the window to the front, above the others.
    pub fn come(&mut self, id: WindowId) {
        if let Some(at) = self.windows.iter().position(|window| window.id == id) {
            let window = self.windows.remove(at);
            self.windows.insert(0, window);
            self.front = Some(id);
            if std::mem::take(&mut self.odd.rescales_in_front) {
                self.rescale(id, (1920, 200), 2.0);
            }
        }
    }

    /// Moves the window, and scales its elements.
    pub fn rescale(&mut self, id: WindowId, to: (i32, i32), scale: f64) {
        let Some(window) = self.win_mut(id) else {
            return;
        };
        let from = window.at;
        let grown = |n: i32| (f64::from(n) * scale) as i32;
        window.at = Rect::at(to.0, to.1, grown(from.w), grown(from.h));
        let root = window.root;
        for element in self.below(root) {
            if let Some([x, y, w, h]) = &mut self.elements[element].raw.bounds {
                *x = (*x - f64::from(from.x)) * scale + f64::from(to.0);
                *y = (*y - f64::from(from.y)) * scale + f64::from(to.1);
                *w *= scale;
                *h *= scale;
            }
        }
    }
}
