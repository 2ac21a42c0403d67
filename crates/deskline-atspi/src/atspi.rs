//! A connection to the accessibility bus: lists the apps on the bus, and reads them.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use deskline_contract::{AppToplevel, Deed, Error, Result, Scope, Sent, Takes};
use deskline_core::{Diff, ElementId, Older, Tree};
use deskline_unix::process;

use crate::aimed::Aimed;
use crate::app::App;
use crate::asked::{Asked, Placed};
use crate::bus::{self, Body, Call, Connection, Reader};
use crate::connection::{AppConnection, PATIENCE};
use crate::decode::{self, Object};
use crate::engine::{self, Engine, Node};
use crate::mirrors::Mirrors;
use crate::names::{ACCESSIBLE, REGISTRY, ROOT, StateSet, role};
use crate::peer::Peer;
use crate::request::Request;
use crate::strategies::keep_alive::KeepAlive;
use crate::strategies::reuse::LastReading;
use crate::strategies::{embedded, table};
use crate::toolkits::{Toolkit, mapped, vcl};
use crate::tree::{self, Windows};
use crate::{act, reading};

/// How many times at most an app is read again whose tree grows as it is read. It is done when two
/// readings agree.
const GROWTH: usize = 3;

/// The time budget for hidden nodes, if the rest of them is read after the link.
const WHILE_READ_ON: Duration = Duration::from_millis(100);

/// How long an app may take to return its name for a list of apps.
const AT_ONCE: Duration = Duration::from_millis(200);

/// How long a process may take to end after its sockets were closed.
const CLOSES: Duration = Duration::from_millis(200);

/// An app on the accessibility bus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub bus_name: String,
    /// Its process id.
    pub pid: u32,
}

/// A connection to the accessibility bus.
#[derive(Debug)]
pub struct AtSpi {
    address: String,
    pub(crate) bus: Connection,
    /// The known apps, by process id.
    pub(crate) apps: HashMap<u32, App>,
    /// The toplevels that were last seen.
    pub(crate) shown: Vec<AppToplevel>,
    /// The last list of toplevels of each app, by its bus name.
    pub(crate) tops: HashMap<String, Vec<Object>>,
    /// The pids by bus name. Bus names are never reused, so each pid is requested once.
    pub(crate) pids: HashMap<String, u32>,
    /// Apps that were asked to send events.
    pub(crate) registered: HashSet<String>,
    /// The apps to whose events we are subscribed.
    pub(crate) mirrors: Mirrors,
    /// The toplevels that the link acts in.
    pub(crate) acted_in: Vec<ElementId>,
    /// Private sockets over which apps may still carry out an action, the newest first.
    aside: VecDeque<Connection>,
    keep_alive: KeepAlive,
    /// An app's first answer about a point, while it may still be replaced.
    pub(crate) asked: Option<Asked>,
    /// The control of the last hit test, if a press would show in the control's states.
    pub(crate) aimed: Option<Aimed>,
    /// Controls that an app draws itself, which do not become PRESSED.
    pub(crate) unlike_buttons: HashSet<ElementId>,
    pub(crate) placed: Option<Placed>,
}

impl AtSpi {
    /// Connects to the accessibility bus at `address`.
    pub fn connect(address: &str) -> bus::Result<Self> {
        Ok(Self {
            address: address.to_owned(),
            bus: Connection::open(address, PATIENCE)?,
            apps: HashMap::new(),
            shown: Vec::new(),
            tops: HashMap::new(),
            pids: HashMap::new(),
            registered: HashSet::new(),
            mirrors: Mirrors::default(),
            acted_in: Vec::new(),
            aside: VecDeque::new(),
            keep_alive: KeepAlive::new(address),
            asked: None,
            aimed: None,
            unlike_buttons: HashSet::new(),
            placed: None,
        })
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    /// The bus's own id. It changes with each start of the desktop.
    pub fn guid(&self) -> &str {
        &self.bus.guid
    }

    /// This process's pid, as the bus daemon reports it. `None` if the daemon sees no pid, as it
    /// does for a process in a container.
    pub fn own_pid(&mut self) -> Option<u32> {
        let name = self.bus.name.clone();
        let call = Call::to_bus("GetConnectionUnixProcessID", Body::new().str(&name));
        let reply = self.bus.call(&call, PATIENCE).ok()?;
        reply.reader().u32().ok().filter(|pid| *pid != 0)
    }

    /// The apps on the bus, in the order in which they joined. Only the registry and the daemon are
    /// asked, and apps only if several are behind one proxy.
    pub fn apps(&mut self) -> bus::Result<Vec<Listed>> {
        let call = Call::new(REGISTRY, ROOT, ACCESSIBLE, "GetChildren", Body::new());
        let name = |r: &mut Reader<'_>| r.object().map(|(name, _)| name.to_owned());
        let names: Vec<String> = self.bus.call(&call, PATIENCE)?.reader().array(8, name)?;
        let unknown = names.iter().filter(|name| !self.pids.contains_key(*name));
        let unknown: Vec<String> = unknown.cloned().collect();
        let pid = |name: &String| Call::to_bus("GetConnectionUnixProcessID", Body::new().str(name));
        let calls = unknown.iter().map(pid);
        let pids = &mut self.pids;
        self.bus
            .batch(calls, 64, Instant::now() + PATIENCE, |i, reply| {
                if let Some(pid) = reply.ok().and_then(|m| m.reader().u32().ok()) {
                    pids.insert(unknown[i].clone(), pid);
                }
            })?;
        self.look_behind_proxies(&unknown)?;
        self.pids.retain(|name, _| names.contains(name));
        self.registered.retain(|name| names.contains(name));
        self.tops.retain(|name, _| names.contains(name));
        let pids = &self.pids;
        self.apps
            .retain(|_, app| pids.contains_key(&app.peer.bus_name));
        self.keep_alive.retain(|name| pids.contains_key(name));
        Ok(names
            .into_iter()
            .filter_map(|bus_name| {
                let pid = *self.pids.get(&bus_name)?;
                Some(Listed { bus_name, pid })
            })
            .collect())
    }

    /// The app's own name for itself. Empty if the app does not answer at once: a list of apps must
    /// not wait for one that hangs.
    pub fn name_of(&mut self, pid: u32) -> String {
        let met = self.meet(pid, AT_ONCE);
        met.map(|app| app.peer.name.clone()).unwrap_or_default()
    }

    /// Whether the app answers, within 2 s. An app that is not on the bus counts as answering.
    pub fn answers(&mut self, pid: u32) -> bus::Result<bool> {
        let Some(app) = self.apps()?.into_iter().find(|app| app.pid == pid) else {
            return Ok(true);
        };
        let mut app = AppConnection::by_bus(&mut self.bus, &app.bus_name);
        Ok(act::answers(&mut app, ROOT))
    }

    pub(crate) fn app(&mut self, pid: u32) -> Result<&mut App> {
        self.meet(pid, PATIENCE)
    }

    fn meet(&mut self, pid: u32, patience: Duration) -> Result<&mut App> {
        if !self.apps.contains_key(&pid) {
            let Some(main) = self.main_registration(pid)? else {
                return Err(no_window(pid));
            };
            let peer = Peer::meet(&mut self.bus, &main, pid, patience)
                .map_err(|e| unanswered(e, &process::app_name(pid), pid))?;
            self.apps.insert(pid, App::new(peer));
        }
        self.apps.get_mut(&pid).ok_or_else(|| no_window(pid))
    }

    /// Whether the app reports coordinates in its pop-ups relative to the pop-ups' windows. A
    /// reading then has to know these windows.
    pub fn needs_popups(&mut self, pid: u32) -> bool {
        self.app(pid)
            .is_ok_and(|app| !app.peer.toolkit.knows_the_screen())
    }

    /// Whether, on Wayland, the app ignores a click in a menu right after the click that opened the
    /// menu.
    pub fn ignores_clicks_in_new_menus(&self, pid: u32) -> bool {
        let app = self.apps.get(&pid);
        app.is_some_and(|app| app.peer.toolkit.ignores_clicks_in_new_menus())
    }

    /// The toolkit of an app that has been read.
    pub fn toolkit(&self, pid: u32) -> Option<String> {
        Some(format!("{:?}", self.apps.get(&pid)?.peer.toolkit))
    }

    /// Whether the app knows the screen positions of its elements; GTK 4 does not.
    pub fn knows_the_screen(&self, pid: u32) -> bool {
        let app = self.apps.get(&pid);
        app.is_none_or(|app| app.peer.toolkit.knows_the_screen())
    }

    /// How long after the input `after` the app's tree may still show the old state, even if the
    /// app is quiet.
    pub fn lag(&self, pid: u32, after: Sent) -> Duration {
        let Some(App { peer, .. }) = self.apps.get(&pid) else {
            return Duration::ZERO;
        };
        match after {
            Sent::Scroll => peer.toolkit.scrolling_lag(),
            Sent::Keys if vcl::is_office(&peer.name) => vcl::STATUS_LAG,
            Sent::Keys => Duration::ZERO,
        }
    }

    /// Whether the app's toolkit sends no event while elements move.
    pub fn moves_silently(&self, pid: u32) -> bool {
        let app = self.apps.get(&pid);
        app.is_some_and(|app| app.peer.toolkit.moves_silently())
    }

    /// Whether a stack may still have been fading to another page at the last reading.
    pub fn may_fade(&self, pid: u32) -> bool {
        self.apps.get(&pid).is_some_and(|app| app.may_fade)
    }

    /// Whether the last reading had a visible page that was loading.
    pub fn is_loading(&self, pid: u32) -> bool {
        self.apps.get(&pid).is_some_and(|app| app.loads)
    }

    /// Whether the app would ignore a click on this element of its last reading, or an action of
    /// this element.
    pub fn ignores_presses(&self, tree: &Tree, index: usize) -> bool {
        let app = self.apps.get(&tree.app.pid);
        let dialogs = app.and_then(|app| app.dialogs.as_ref());
        dialogs.is_some_and(|dialogs| dialogs.ignore(tree, index))
    }

    /// Whether the last reading has toplevels whose windows may still appear.
    pub fn lacks_windows(&self, pid: u32) -> bool {
        let app = self.apps.get(&pid);
        app.is_some_and(|app| app.windows.are_on_their_way())
    }

    /// Records that the link acts in this toplevel: the link's readings then read the toplevel anew
    /// even if nobody sees it.
    pub fn act_in(&mut self, toplevel: &ElementId) {
        if !self.acted_in.contains(toplevel) {
            self.acted_in.push(toplevel.clone());
        }
    }

    /// Stops waiting for the windows that are missing now.
    pub fn give_up_windows(&mut self, pid: u32) {
        if let Some(app) = self.apps.get_mut(&pid) {
            app.windows.give_up();
        }
    }

    /// Reads the app. `windows` are the app's windows: some toolkits report coordinates relative to
    /// the windows.
    pub fn read(&mut self, pid: u32, scope: Scope, windows: &Windows) -> Result<Tree> {
        self.note_registrations(pid)
            .map_err(on_bus("asking the accessibility registry for its apps"))?;
        let name = self.app(pid)?.peer.name.clone();
        if scope != Scope::Showing {
            self.listen_from_now(pid);
        }
        let whole = matches!(scope, Scope::Whole { .. });
        let scope = match scope {
            Scope::Again { budget } if !self.has_read(pid) => Scope::Whole { budget },
            scope => scope,
        };
        let first = self.try_read(pid, (scope, whole), windows);
        // The private socket may be that of an app that is gone. So the app is looked up again, and
        // read once more.
        let mut read = match first {
            Err(bus::Error::Io(_)) => {
                self.apps.remove(&pid);
                self.app(pid)?;
                self.try_read(pid, (scope, whole), windows)
            }
            first => first,
        };
        for _ in 0..GROWTH {
            let (Ok(tree), Scope::Whole { .. }) = (&read, scope) else {
                break;
            };
            let app = self.app(pid)?;
            if app.peer.toolkit.is_complete_at_once() || std::mem::replace(&mut app.grown, true) {
                break;
            }
            let again = self.try_read(pid, (scope, whole), windows);
            if let Ok(again) = &again
                && !Diff::between(tree, again)
                    .changed_ids(tree, again)
                    .is_empty()
                && let Some(app) = self.apps.get_mut(&pid)
            {
                app.grown = false;
            }
            read = again;
        }
        // Once an app has left the bus, the bus answers for it, with errors. So not even the root
        // is there.
        if read.as_ref().is_ok_and(|tree| tree.elements.is_empty()) {
            self.apps.remove(&pid);
            process::ends_within(pid, CLOSES);
            return Err(no_window(pid));
        }
        read.map_err(|e| {
            self.apps.remove(&pid);
            unanswered(e, &name, pid)
        })
    }

    /// Whether the link is about this app, and the app's last reading is kept.
    fn has_read(&self, pid: u32) -> bool {
        let current = self.mirrors.current.as_ref();
        let last = current.and_then(|mirror| mirror.last.as_ref());
        last.is_some_and(|last| last.pid == pid)
    }

    /// One traversal. If `whole`, it also reads the documents that nobody sees.
    fn try_read(
        &mut self,
        pid: u32,
        (scope, whole): (Scope, bool),
        windows: &Windows,
    ) -> bus::Result<Tree> {
        let start = Instant::now();
        let end = start + engine::LONGEST;
        let bus_name = self.apps.get(&pid).map(|app| app.peer.bus_name.clone());
        let bus_name = bus_name.ok_or(bus::Error::Timeout)?;
        if scope != Scope::Showing && self.has_read(pid) {
            self.catch_up(&bus_name)?;
        }
        self.hear();
        if let Some(mirror) = self.mirrors.current.as_mut()
            && scope != Scope::Showing
            && mirror.bus_name == bus_name
        {
            mirror.shows_other = false;
            mirror.changed.clear();
        }
        // A reading of visible nodes alone, as between a click and the text after it, leaves the
        // last reading as it is.
        let last = match scope {
            Scope::Showing => None,
            _ => self
                .mirrors
                .last()
                .and_then(|last| last.take_if(|last| last.pid == pid)),
        };
        let Self { bus, apps, .. } = self;
        let app = apps.get_mut(&pid).ok_or(bus::Error::Timeout)?;
        let toolkit = app.peer.toolkit;
        let again = matches!(scope, Scope::Again { .. });
        let fetch_cache = app.cache.is_due();
        // If the app is too large for any budget, a new reading would never be complete. So its
        // last reading is always reused.
        let reused = last.as_ref().filter(|last| again || last.outgrows_budget);
        let scope = match scope {
            Scope::Again { budget } if reused.is_some_and(|last| last.cut_short) => Scope::Again {
                budget: budget.min(WHILE_READ_ON),
            },
            scope => scope,
        };
        let mut spreadsheets = self.keep_alive.take(&bus_name);
        let menus = app.unlisted.open(app.peer.connection(bus))?;
        let mut engine = Engine::new(app.peer.connection(bus), &bus_name, toolkit, end);
        engine.unlisted = menus;
        // The cache comes in one call, with the nodes of all frames, also of those that nobody
        // sees. Nothing is gained by leaving these out.
        if !whole && !fetch_cache {
            engine.unseen = app.documents.unseen(windows, &self.acted_in);
        }
        let memory = (&mut app.questions, &mut spreadsheets);
        let read = reading::read(engine, scope, fetch_cache, reused, memory)?;
        let (mut nodes, mut partial) = (read.nodes, read.partial);
        for (container, owner, path) in read.foreign {
            let object = (container, owner.as_str(), path.as_str());
            let kit = Toolkit::WebKitGtk;
            embedded::read(bus, kit, &mut nodes, &mut partial, object, end)?;
        }
        self.read_beside(pid, &mut nodes, &mut partial, end)?;
        let app = self.apps.get_mut(&pid).ok_or(bus::Error::Timeout)?;
        engine::settle(&mut nodes);
        self.keep_alive.put(&bus_name, spreadsheets);
        if fetch_cache {
            app.cache.judge(read.cache_was_worth_it);
        }
        app.loads = nodes.iter().any(is_loading_page);
        app.may_fade = read.may_fade;
        let own = nodes.len();
        let (older, unread, age) = app.documents.fill(&mut nodes, &read.set_aside);
        partial.unread.nodes += unread;
        let took = start.elapsed();
        let mut tree = tree::build(&app.peer, &mut app.windows, &nodes, windows, took);
        if let Some(dialogs) = &mut app.dialogs {
            dialogs.note(&tree);
        }
        let owners: BTreeSet<&str> = nodes.iter().filter_map(|n| n.owner.as_deref()).collect();
        tree.shows = embedded::strangers(&mut self.bus, pid, owners);
        tree.partial.extend(partial.words(&nodes));
        let began = self.mirrors.current.as_ref().map(|mirror| mirror.began);
        let kept = reused
            .filter(|last| read.reused > 0 && began.is_some_and(|began| last.since < began))
            .map(|last| (read.reused, last.since.elapsed()));
        let frames = read.set_aside.iter();
        let frames = frames.map(|&frame| tree::element_id(&bus_name, &nodes[frame].path));
        tree.older = older_parts(&tree, kept, (older, age), frames);
        let heard = self.mirrors.current(&bus_name).is_some();
        // After a cut it is unknown what the nodes lack, so they are not kept.
        let given_up = partial.unread.cut;
        if !given_up && scope != Scope::Showing {
            app.documents
                .remember(&nodes, &read.set_aside, &tree, windows);
        }
        // The events since the reused documents were read are not known to this reading. So these
        // documents are not kept with it.
        nodes.truncate(own);
        for &frame in &read.set_aside {
            nodes[frame].children.clear();
        }
        if heard && !given_up && scope != Scope::Showing {
            let since = reused.map_or(start, |last| last.since);
            let cut_short = partial.is_for_want_of_time();
            let outgrew = reused.is_some_and(|last| last.outgrows_budget);
            if let Some(last) = self.mirrors.last() {
                let mut now = LastReading::new(pid, since, nodes, read.lists, cut_short);
                now.outgrows_budget |= outgrew;
                *last = Some(now);
            }
        }
        Ok(tree)
    }

    /// The app that has this element, and the element's object.
    pub(crate) fn locate<'a>(&'a mut self, element: &'a ElementId) -> Result<Located<'a>> {
        let (bus_name, path) = tree::split_id(element).ok_or_else(|| {
            Error::system("looking for an element")(format!("{element:?} is not an element's id"))
        })?;
        let Self {
            bus, apps, aside, ..
        } = self;
        let peer = apps
            .values_mut()
            .flat_map(|app| std::iter::once(&mut app.peer).chain(&mut app.beside))
            .find(|peer| peer.bus_name == bus_name);
        let toolkit = peer.as_ref().map(|peer| peer.toolkit);
        let (pid, name, mut app) = match peer {
            Some(peer) => (
                peer.pid,
                peer.name.clone(),
                peer.connection_to_act(bus, aside),
            ),
            None => (0, bus_name.to_owned(), AppConnection::by_bus(bus, bus_name)),
        };
        let path = match table::parse_cell_id(path) {
            None => path.into(),
            Some((table, row, column)) => app
                .ask(table, Request::CellAt(row, column))
                .and_then(|m| decode::object(&m).ok_or(bus::WireError.into()))
                .map_err(|e| unanswered(e, &name, pid))?,
        };
        Ok(Located {
            app,
            path,
            pid,
            name,
            toolkit,
        })
    }

    /// Acts through the element's interfaces: `Action`, `Value`, `EditableText`, `Selection`,
    /// `Table`, `Component`.
    pub fn act(&mut self, element: &ElementId, deed: Deed<'_>) -> Result<bool> {
        let located = self.locate(element)?;
        let toolkit = located.toolkit;
        located.act(|app, path| {
            match deed {
                Deed::ScrollIntoView => return Ok(act::scroll_into_view(app, path)?),
                Deed::Focus => return Ok(act::focus(app, path)?),
                Deed::Choose(choice) => return act::choose(app, path, choice, toolkit),
                Deed::Press => act::press(app, path)?,
                Deed::SetValue(value) => act::set_value(app, path, value, toolkit)?,
                Deed::SetSelected(selected) => act::set_selected(app, path, selected)?,
            }
            Ok(true)
        })
    }

    /// The range of an element's `Value`.
    pub fn range(&mut self, element: &ElementId) -> Result<Option<(f64, f64)>> {
        self.locate(element)?
            .act(|app, path| Ok(act::range(app, path)?))
    }

    /// Which kinds of input an element takes, judged by its actions and states.
    pub fn takes(&mut self, element: &ElementId) -> Result<Takes> {
        self.locate(element)?
            .act(|app, path| Ok(act::takes(app, path)?))
    }
}

/// Describes the elements that this call did not read. `kept`: the number and the age of hidden
/// elements. `unseen`: the number of elements in the `frames` of windows that nobody sees, last
/// read `age` ago.
fn older_parts(
    tree: &Tree,
    kept: Option<(usize, Duration)>,
    (unseen, age): (usize, Duration),
    frames: impl Iterator<Item = ElementId>,
) -> Option<Older> {
    let windows = frames.filter_map(|id| tree.elements.iter().position(|e| e.id == id));
    let (hidden, by) = kept.unwrap_or_default();
    let older = Older {
        elements: hidden + unseen,
        by: by.max(age),
        windows: windows.collect(),
    };
    (older.elements > 0).then_some(older)
}

/// An element's object, and the app that has it.
pub(crate) struct Located<'a> {
    pub(crate) app: AppConnection<'a>,
    pub(crate) path: Arc<str>,
    pid: u32,
    name: String,
    pub(crate) toolkit: Option<Toolkit>,
}

impl Located<'_> {
    /// Acts on the object. An error on the bus becomes an error about the app.
    fn act<T>(
        mut self,
        action: impl FnOnce(&mut AppConnection<'_>, &str) -> Result<T, act::Failure>,
    ) -> Result<T> {
        action(&mut self.app, &self.path).map_err(|e| match e {
            act::Failure::Bus(e) => unanswered(e, &self.name, self.pid),
            act::Failure::Refused(e) => e,
        })
    }
}

/// Whether the node is a visible page that is loading.
fn is_loading_page(node: &Node) -> bool {
    let page = matches!(node.role, Some(role::DOCUMENT_WEB | role::DOCUMENT_FRAME));
    page && node.showing && node.states.has(StateSet::BUSY)
}

fn no_window(pid: u32) -> Error {
    if process::is_gone(pid) {
        return Error::NoProcess(pid);
    }
    Error::no_window(pid, process::app_name(pid), mapped::hint(pid))
}

/// Converts an error of the accessibility bus. If the socket has failed, the connection is lost.
pub fn on_bus(what: &'static str) -> impl FnOnce(bus::Error) -> Error {
    move |e| match e {
        bus::Error::Io(_) => Error::lost(what)(e),
        e => Error::system(what)(e),
    }
}

fn unanswered(e: bus::Error, app: &str, pid: u32) -> Error {
    match e {
        bus::Error::Timeout if process::is_gone(pid) => Error::NoProcess(pid),
        bus::Error::Timeout => Error::not_answering(pid, app, PATIENCE),
        // The private socket has closed because the app has ended.
        bus::Error::Io(_) if process::ends_within(pid, CLOSES) => Error::NoProcess(pid),
        // The connection to the bus or to the app is lost. Both are made again.
        e => on_bus("talking to the app over the accessibility bus")(e),
    }
}
