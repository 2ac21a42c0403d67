//! The accessibility bus: finding an app's objects, reading them, and acting on them.

pub mod accessibility_bus;
mod act;
pub mod bus;
mod cells;
mod crowd;
#[cfg(test)]
mod flood;
mod items;
mod lacks;
mod memory;
mod names;
mod option;
mod pair;
mod peer;
mod place;
mod scale;
mod sheet;
pub mod toolkit;
mod tree;
mod walk;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use deskline_core::{Diff, ElementId, Tree};
use deskline_link::{Error, Result, Scope};
use deskline_unix::process;

use crate::bus::{Body, Call, Connection, Reader};

use lacks::Lacks;
use memory::Memory;
use names::{ACCESSIBLE, REGISTRY, ROOT};
pub use peer::PATIENCE;
use peer::{Line, Peer, Question};
pub use place::{Toplevel, Windows};
use walk::Walk;

/// What is listened to, to learn that an app has changed. Narrow on purpose: a toolkit sends
/// thousands of the others.
const EVENTS: [&str; 7] = [
    "object:children-changed",
    "object:state-changed",
    "object:property-change",
    "object:text-changed",
    "object:selection-changed",
    "object:visible-data-changed",
    "window:",
];

/// GTK 4 makes some of its objects, and their descriptions, when it is asked about those around
/// them: its first tree is taken only when another reading gives the same, of so many.
const GROWTH: usize = 3;

/// An app on the accessibility bus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its unique bus name.
    pub bus_name: String,
    /// Its process id.
    pub pid: u32,
}

/// A connection to the accessibility bus.
#[derive(Debug)]
pub struct AtSpi {
    bus: Connection,
    peers: HashMap<u32, Peer>,
    /// Bus names are never used twice, so their pids are asked for once.
    pids: HashMap<String, u32>,
    /// Apps whose events the registry was told to have sent.
    registered: HashSet<String>,
    listening: Option<String>,
    /// What was last read of the app that is listened to.
    memory: Option<Memory>,
}

impl AtSpi {
    /// Connects to the accessibility bus at `address`.
    pub fn connect(address: &str) -> Result<Self, bus::Error> {
        Ok(Self {
            bus: Connection::open(address, PATIENCE)?,
            peers: HashMap::new(),
            pids: HashMap::new(),
            registered: HashSet::new(),
            listening: None,
            memory: None,
        })
    }

    /// The bus's own id: another after each start of the desktop.
    pub fn guid(&self) -> &str {
        self.bus.guid()
    }

    /// The apps on the bus, in the order in which they came. Asks the registry and the daemon, no
    /// app.
    pub fn apps(&mut self) -> Result<Vec<Listed>, bus::Error> {
        let call = Call {
            destination: REGISTRY,
            path: ROOT,
            interface: ACCESSIBLE,
            member: "GetChildren",
            body: Body::new(),
        };
        let names: Vec<String> = self
            .bus
            .call(&call, PATIENCE)?
            .reader()
            .array(8, |r| Reader::object(r).map(|(name, _)| name.to_owned()))?;
        let unknown: Vec<&str> = names
            .iter()
            .map(String::as_str)
            .filter(|n| !self.pids.contains_key(*n))
            .collect();
        let calls = unknown.iter().map(|name| Call {
            destination: "org.freedesktop.DBus",
            path: "/org/freedesktop/DBus",
            interface: "org.freedesktop.DBus",
            member: "GetConnectionUnixProcessID",
            body: Body::new().str(name),
        });
        let pids = &mut self.pids;
        self.bus
            .batch(calls, 64, Instant::now() + PATIENCE, |i, reply| {
                if let Some(pid) = reply.ok().and_then(|m| m.reader().u32().ok()) {
                    pids.insert(unknown[i].to_owned(), pid);
                }
            })?;
        self.pids.retain(|name, _| names.contains(name));
        self.registered.retain(|name| names.contains(name));
        let pids = &self.pids;
        self.peers
            .retain(|_, peer| pids.contains_key(&peer.bus_name));
        Ok(names
            .into_iter()
            .filter_map(|bus_name| {
                let pid = *self.pids.get(&bus_name)?;
                Some(Listed { bus_name, pid })
            })
            .collect())
    }

    /// The name that the app gives itself; empty where it does not say so at once: a list of apps
    /// must not wait for one that hangs.
    pub fn name_of(&mut self, pid: u32) -> String {
        const AT_ONCE: Duration = Duration::from_millis(200);
        let met = self.meet(pid, AT_ONCE);
        met.map(|peer| peer.name.clone()).unwrap_or_default()
    }

    /// Whether the app answers, within 2 s. An app that is not on the bus is not unresponsive.
    pub fn answers(&mut self, pid: u32) -> Result<bool, bus::Error> {
        let Some(app) = self.apps()?.into_iter().find(|app| app.pid == pid) else {
            return Ok(true);
        };
        let mut line = Line {
            connection: &mut self.bus,
            destination: app.bus_name,
        };
        Ok(act::answers(&mut line, ROOT))
    }

    fn peer(&mut self, pid: u32) -> Result<&mut Peer> {
        self.meet(pid, PATIENCE)
    }

    fn meet(&mut self, pid: u32, patience: Duration) -> Result<&mut Peer> {
        if !self.peers.contains_key(&pid) {
            let candidates: Vec<Listed> = self
                .apps()
                .map_err(Error::system(
                    "asking the accessibility registry for its apps",
                ))?
                .into_iter()
                .filter(|app| app.pid == pid)
                .collect();
            // An app can be there twice, once as a plug without windows; the last has the windows.
            let Some(app) = candidates.last() else {
                return Err(no_window(pid));
            };
            let peer = Peer::meet(&mut self.bus, &app.bus_name, pid, patience)
                .map_err(|e| unanswered(e, &process::name(pid), pid))?;
            self.peers.insert(pid, peer);
        }
        self.peers.get_mut(&pid).ok_or_else(|| no_window(pid))
    }

    /// Whether the app's coordinates are relative to its pop-ups' windows, so that a reading needs
    /// to know them.
    pub fn needs_popups(&mut self, pid: u32) -> bool {
        self.peer(pid).is_ok_and(|peer| peer.is_gtk4())
    }

    /// Whether the last reading has toplevels whose windows may be on their way: GTK 4 tells of a
    /// toplevel when it is shown, and its window is mapped after its first frame was drawn.
    pub fn lacks_windows(&self, pid: u32) -> bool {
        let peer = self.peers.get(&pid);
        peer.is_some_and(|peer| !peer.missing.is_subset(&peer.windowless))
    }

    /// Does not wait again for the windows that are missing now.
    pub fn give_up_windows(&mut self, pid: u32) {
        if let Some(peer) = self.peers.get_mut(&pid) {
            peer.windowless.clone_from(&peer.missing);
        }
    }

    /// Forgets what was learnt about an app, its private socket too, after it did not answer.
    fn forget(&mut self, pid: u32) {
        self.peers.remove(&pid);
    }

    /// One traversal. `windows` are the app's, for toolkits whose coordinates are relative to
    /// them.
    pub fn read(&mut self, pid: u32, scope: Scope, windows: &Windows) -> Result<Tree> {
        let name = self.peer(pid)?.name.clone();
        let first = self.try_read(pid, scope, windows);
        // The private socket may have been that of an app that is gone: once more, by the bus.
        let mut read = match first {
            Err(bus::Error::Io(_)) => {
                self.forget(pid);
                self.peer(pid)?;
                self.try_read(pid, scope, windows)
            }
            first => first,
        };
        for _ in 0..GROWTH {
            let (Ok(tree), Scope::Whole { .. }) = (&read, scope) else {
                break;
            };
            let peer = self.peer(pid)?;
            if !peer.is_gtk4() || std::mem::replace(&mut peer.grown, true) {
                break;
            }
            let again = self.try_read(pid, scope, windows);
            if let Ok(again) = &again
                && !Diff::between(tree, again)
                    .changed_ids(tree, again)
                    .is_empty()
                && let Some(peer) = self.peers.get_mut(&pid)
            {
                peer.grown = false;
            }
            read = again;
        }
        read.map_err(|e| {
            self.forget(pid);
            unanswered(e, &name, pid)
        })
    }

    fn try_read(&mut self, pid: u32, scope: Scope, windows: &Windows) -> Result<Tree, bus::Error> {
        let start = Instant::now();
        self.hear();
        // A look at what shows alone, as between a click and its text, takes nothing from it.
        let memory = match scope {
            Scope::Showing => None,
            _ => self.memory.take().filter(|memory| memory.pid == pid),
        };
        let Self { bus, peers, .. } = self;
        let peer = peers.get_mut(&pid).ok_or(bus::Error::Timeout)?;
        let (bus_name, gtk4, bulk) = (peer.bus_name.clone(), peer.is_gtk4(), peer.asks_bulk());
        let (prose, headers) = (peer.prose(), peer.headers());
        let mut sheets = std::mem::take(&mut peer.sheets);
        let end = start + walk::LONGEST;
        let mut walk = Walk::new(walk::line(bus, peer), &bus_name, gtk4, end);
        (walk.prose, walk.headers) = (prose, headers);
        if bulk {
            walk.fetch_items()?;
        } else if matches!(scope, Scope::Again { .. }) {
            walk.memory = memory.as_ref();
        }
        walk.showing()?;
        // What tables make as they are asked is in no cache, and not held against it.
        let mut worth = walk.cache_tells();
        cells::read(&mut walk, &mut sheets)?;
        if let Scope::Whole { budget } | Scope::Again { budget } = scope {
            walk.hidden(Instant::now() + budget)?;
            sheet::empty_active(&mut walk);
            worth &= !walk.cache_has_orphans();
        }
        let crowded = crowd::finish(&mut walk);
        // Where only what shows was asked for, what does not is not missing.
        if walk.cut || scope != Scope::Showing {
            walk.finish();
        }
        let mut lacks = Lacks {
            unread: walk.unread,
            cut: walk.cut,
            overfull: walk.overfull,
            crowded,
            failed: walk.failed,
            silent: 0,
        };
        let foreign = std::mem::take(&mut walk.foreign);
        let mut nodes = std::mem::take(&mut walk.nodes);
        drop(walk);
        for (container, owner, path) in foreign {
            graft(bus, &mut nodes, &mut lacks, (container, &owner, &path), end)?;
        }
        walk::settle(&mut nodes);
        let Some(peer) = self.peers.get_mut(&pid) else {
            return Err(bus::Error::Timeout);
        };
        peer.sheets = sheets;
        let heard = self.listening.as_ref() == Some(&peer.bus_name);
        if bulk {
            peer.judge_bulk(worth);
        }
        let mut tree = tree::build(peer, &nodes, windows, start.elapsed());
        tree.partial = lacks.words(&nodes);
        if heard && !bulk && scope != Scope::Showing {
            self.memory = Some(Memory::of(pid, nodes));
        }
        Ok(tree)
    }

    /// Keeps what was read lately alive in the apps, between readings; the time until it is to be
    /// called again, if ever. Takes an app that does not answer at most a second.
    pub fn keep(&mut self) -> Option<Duration> {
        const MOST: Duration = Duration::from_secs(1);
        let Self { bus, peers, .. } = self;
        let mut next = None;
        for peer in peers.values_mut().filter(|peer| !peer.sheets.is_empty()) {
            let mut sheets = std::mem::take(&mut peer.sheets);
            let (name, gtk4) = (peer.bus_name.clone(), peer.is_gtk4());
            let end = Instant::now() + MOST;
            let mut walk = Walk::new(walk::line(bus, peer), &name, gtk4, end);
            let due = sheet::keep(&mut walk, &mut sheets);
            let cut = walk.cut;
            drop(walk);
            // That it does not answer is the next reading's to say.
            if let (Ok(due), false) = (due, cut) {
                peer.sheets = sheets;
                next = [next, due].into_iter().flatten().min();
            }
        }
        next
    }

    /// Takes note of the objects of which events have come.
    fn hear(&mut self) {
        let signals = self.bus.take_signals();
        // Of a flood some may be lost.
        self.memory = self
            .memory
            .take()
            .filter(|_| signals.len() < bus::SIGNALS_KEPT);
        if let Some(memory) = &mut self.memory {
            memory.hear(signals.into_iter().map(|signal| signal.path));
        }
    }

    /// The line to the app that has this element, and the element's path on it.
    fn line_to<'a>(
        &'a mut self,
        element: &'a ElementId,
    ) -> Result<(Line<'a>, String, u32, String)> {
        let (bus_name, path) = tree::split_id(element).ok_or_else(|| {
            Error::Input(format!("{element:?} is not an element of this desktop"))
        })?;
        let Self { bus, peers, .. } = self;
        let peer = peers.values_mut().find(|peer| peer.bus_name == bus_name);
        let (mut line, pid, name) = if let Some(peer) = peer {
            let (pid, name) = (peer.pid, peer.name.clone());
            (walk::line(bus, peer), pid, name)
        } else {
            let destination = bus_name.to_owned();
            let connection = bus;
            let line = Line {
                connection,
                destination,
            };
            (line, 0, bus_name.to_owned())
        };
        let Some((table, row, column)) = cells::parse_place(path) else {
            return Ok((line, path.to_owned(), pid, name));
        };
        let cell = line.ask(table, Question::CellAt(row, column));
        let cell = cell.and_then(|m| Ok(m.reader().object()?.1.to_owned()));
        match cell {
            Ok(path) => Ok((line, path, pid, name)),
            Err(e) => Err(unanswered(e, &name, pid)),
        }
    }

    /// Presses through `Action`.
    pub fn press(&mut self, element: &ElementId) -> Result<()> {
        let (mut line, path, pid, name) = self.line_to(element)?;
        act::acted(act::press(&mut line, &path), |e| unanswered(e, &name, pid))
    }

    /// Sets a value through `Value`, `EditableText` or `Selection`.
    pub fn set_value(&mut self, element: &ElementId, value: &str) -> Result<()> {
        let (mut line, path, pid, name) = self.line_to(element)?;
        act::acted(act::set_value(&mut line, &path, value), |e| {
            unanswered(e, &name, pid)
        })
    }

    /// Selects or deselects through the container's `Selection` or `Table`.
    pub fn set_selected(&mut self, element: &ElementId, selected: bool) -> Result<()> {
        let (mut line, path, pid, name) = self.line_to(element)?;
        act::acted(act::set_selected(&mut line, &path, selected), |e| {
            unanswered(e, &name, pid)
        })
    }

    /// Scrolls into view through `Component.ScrollTo`; `false` where the toolkit cannot.
    pub fn scroll_into_view(&mut self, element: &ElementId) -> Result<bool> {
        let (mut line, path, pid, name) = self.line_to(element)?;
        act::scroll_into_view(&mut line, &path).map_err(|e| unanswered(e, &name, pid))
    }

    /// Starts to listen to the app's events, and to no other's.
    pub fn listen(&mut self, pid: u32) -> Result<()> {
        self.stop_listening();
        let bus_name = self.peer(pid)?.bus_name.clone();
        self.try_listen(&bus_name)
            .map_err(Error::system("listening to accessibility events"))
    }

    fn try_listen(&mut self, bus_name: &str) -> Result<(), bus::Error> {
        self.bus.take_signals();
        if self.registered.insert(bus_name.to_owned()) {
            let calls = EVENTS.iter().map(|event| Call {
                destination: REGISTRY,
                path: "/org/a11y/atspi/registry",
                interface: REGISTRY,
                member: "RegisterEvent",
                body: Body::new().str(event).strs(&[]).str(bus_name),
            });
            self.bus
                .batch(calls, EVENTS.len(), Instant::now() + PATIENCE, |_, _| {})?;
        }
        self.match_rule("AddMatch", bus_name)?;
        self.listening = Some(bus_name.to_owned());
        Ok(())
    }

    fn match_rule(&mut self, member: &str, bus_name: &str) -> Result<(), bus::Error> {
        let rule = format!("type='signal',sender='{bus_name}'");
        let call = Call {
            destination: "org.freedesktop.DBus",
            path: "/org/freedesktop/DBus",
            interface: "org.freedesktop.DBus",
            member,
            body: Body::new().str(&rule),
        };
        self.bus.call(&call, PATIENCE).map(drop)
    }

    /// Stops listening, so that nothing piles up between links.
    pub fn stop_listening(&mut self) {
        if let Some(bus_name) = self.listening.take() {
            // Where this fails the bus is gone, and the rule with it.
            let _ = self.match_rule("RemoveMatch", &bus_name);
        }
        self.memory = None;
        self.bus.take_signals();
    }

    /// Waits until the app that is listened to says that something changed, or `time` has passed.
    pub fn wait_for_change(&mut self, time: Duration) -> Result<bool> {
        let heard = self
            .bus
            .wait_for_signal(Instant::now() + time)
            .map_err(Error::system("waiting for accessibility events"))?;
        self.hear();
        Ok(heard)
    }
}

/// Reads an embedded object of another process and hangs it where it is embedded: its container,
/// bus name and path.
fn graft(
    bus: &mut Connection,
    nodes: &mut Vec<walk::Node>,
    lacks: &mut Lacks,
    (container, owner, path): (usize, &str, &str),
    end: Instant,
) -> Result<(), bus::Error> {
    let owner_name: Arc<str> = owner.into();
    let line = Line {
        connection: bus,
        destination: owner.to_owned(),
    };
    let mut walk = Walk::new(line, owner, false, end);
    // Web views (WebKitGTK) are embedded so, little else.
    walk.prose = peer::Prose::InParents;
    match walk.showing_below(&owner_name, path) {
        Ok(()) => {}
        // A plug that does not answer must not cost the rest of the tree.
        Err(bus::Error::Timeout) => {
            nodes[container].children_read = false;
            lacks.silent += 1;
            return Ok(());
        }
        Err(e) => return Err(e),
    }
    lacks.crowded += crowd::finish(&mut walk);
    if walk.cut {
        walk.finish();
    }
    lacks.add(&walk);
    let base = nodes.len();
    for mut node in std::mem::take(&mut walk.nodes) {
        node.owner = Some(owner_name.clone());
        node.parent = Some(node.parent.map_or(container, |p| p + base));
        node.children.iter_mut().for_each(|c| *c += base);
        node.showing &= nodes[container].showing;
        nodes.push(node);
    }
    if nodes.len() > base {
        nodes[container].children.push(base);
    }
    Ok(())
}

fn no_window(pid: u32) -> Error {
    if !process::exists(pid) {
        return Error::NoProcess(pid);
    }
    Error::NoWindow {
        pid,
        name: process::name(pid),
        hint: crate::toolkit::hint(pid),
    }
}

fn unanswered(e: bus::Error, app: &str, pid: u32) -> Error {
    match e {
        bus::Error::Timeout => Error::NotAnswering {
            app: app.to_owned(),
            pid,
            ms: PATIENCE.as_millis(),
        },
        // The app's end of its own socket: it is gone.
        bus::Error::Io(_) if !process::exists(pid) => Error::NoProcess(pid),
        e => Error::system("talking to the app over the accessibility bus")(e),
    }
}
