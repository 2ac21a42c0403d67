//! Tests of readings from odd peers: one with an infinite tree, one that falls silent, one that
//! never answers one method, and one whose table counts no rows.
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use deskline_core::Rect;
use deskline_fuzz::{Mutator, Rng};

use crate::atspi::AtSpi;
use crate::bus::{Connection, Error};
use crate::connection::{AppConnection, PATIENCE};
use crate::engine::{Engine, Known, Node, Questions};
use crate::names::{ROOT, StateSet, role};
use crate::strategies::large_list::LargeLists;
use crate::strategies::spreadsheet::Spreadsheets;
use crate::strategies::{bulk_cache, managed};
use crate::toolkits::Toolkit;

/// Little-endian D-Bus data.
#[derive(Default)]
struct Data(Vec<u8>);

impl Data {
    fn u32(mut self, v: u32) -> Self {
        self = self.pad(4);
        self.0.extend(v.to_le_bytes());
        self
    }

    fn str(mut self, s: &str) -> Self {
        self = self.u32(s.len() as u32);
        self.0.extend(s.as_bytes());
        self.0.push(0);
        self
    }

    fn signature(mut self, s: &str) -> Self {
        self.0.push(s.len() as u8);
        self.0.extend(s.as_bytes());
        self.0.push(0);
        self
    }

    fn pad(mut self, to: usize) -> Self {
        self.0.resize(self.0.len().next_multiple_of(to), 0);
        self
    }
}

/// A list of objects.
fn objects(paths: &[impl AsRef<str>]) -> Data {
    objects_of(paths.iter().map(|path| ("", path.as_ref())))
}

/// A list of objects, each with its owner.
fn objects_of<'a>(objects: impl IntoIterator<Item = (&'a str, &'a str)>) -> Data {
    let all = objects
        .into_iter()
        .fold(Data::default(), |all, (owner, path)| {
            all.pad(8).str(owner).str(path)
        });
    let mut data = Data::default().u32(all.0.len() as u32).pad(8);
    data.0.extend(all.0);
    data
}

/// The answer to a call. Each object has two children, so the tree is infinite.
fn answer(call: &str, serial: u32) -> Data {
    let data = Data::default();
    if call.contains("GetState") {
        let shows = 1 << StateSet::SHOWING | 1 << StateSet::VISIBLE;
        data.u32(8).u32(shows).u32(0)
    } else if call.contains("GetRole") {
        data.u32(39)
    } else if call.contains("GetExtents") {
        data.u32(0).u32(0).u32(10).u32(10)
    } else if call.contains("ChildCount") {
        data.signature("i").u32(2)
    } else if call.contains("GetChildren") {
        objects(&["a", "b"].map(|side| format!("/{side}{serial}")))
    } else {
        data.signature("s").str("")
    }
}

/// The answers of a window with a table that counts no rows, but has two cells, as in Dolphin.
fn answer_of_table(call: &str) -> Option<Data> {
    let (data, is_table) = (Data::default(), call.contains("/table"));
    if call.contains("GetState") && is_table {
        let shows = 1 << StateSet::SHOWING | 1 << StateSet::VISIBLE;
        let shows = shows | 1 << StateSet::MANAGES_DESCENDANTS;
        Some(data.u32(8).u32(shows).u32(0))
    } else if call.contains("GetRole") && is_table {
        Some(data.u32(role::TABLE))
    } else if call.contains("NRows")
        || call.contains("NColumns")
        || call.contains("ChildCount") && call.contains("/cell")
    {
        Some(data.signature("i").u32(0))
    } else if call.contains("GetChildren") {
        let children = if is_table {
            ["/cell1", "/cell2"]
        } else {
            ["/table", "/cell3"]
        };
        Some(objects(&children))
    } else {
        None
    }
}

/// The behaviour of a peer.
struct Peer {
    /// Answers that replace those of [`answer`].
    own: fn(&str) -> Option<Data>,
    /// The delay before each answer.
    pace: Duration,
    /// The number of calls that it answers.
    most: usize,
    /// Whether it never answers this method.
    is_deaf_to: fn(&str) -> bool,
    /// If set, changes some of its answers, by this seed.
    garbles: Option<u64>,
}

const QUICK: Peer = Peer {
    own: |_| None,
    pace: Duration::ZERO,
    most: usize::MAX,
    is_deaf_to: |_| false,
    garbles: None,
};

/// Serves one client.
fn serve(stream: &UnixStream, peer: &Peer) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream);
    let mut out = stream;
    lines.read_until(b'\n', &mut vec![])?;
    out.write_all(b"OK 0\r\n")?;
    lines.read_until(b'\n', &mut vec![])?;
    let mut rng = peer.garbles.map(Rng::with_seed);
    let words = [
        "(so)",
        "s",
        "i",
        "au",
        "a{sv}",
        "/org/a11y/atspi/null",
        "/a3",
    ];
    let mutator = Mutator::new(&words);
    for count in 0.. {
        let mut head = [0; 16];
        lines.read_exact(&mut head)?;
        let word = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().unwrap());
        let (body, serial, fields) = (word(4), word(8), word(12).next_multiple_of(8));
        let mut rest = vec![0; (fields + body) as usize];
        lines.read_exact(&mut rest)?;
        let call = String::from_utf8_lossy(&rest);
        if count >= peer.most || (peer.is_deaf_to)(&call) {
            continue;
        }
        std::thread::sleep(peer.pace);
        let mut body = (peer.own)(&call).unwrap_or_else(|| answer(&call, serial)).0;
        if let Some(rng) = &mut rng
            && rng.u8(..) < 60
        {
            mutator.mutate(&mut body, rng);
        }
        let mut reply = Data(vec![b'l', 2, 1, 1]).u32(body.len() as u32).u32(serial);
        reply = reply.u32(8);
        reply.0.extend([5, 1, b'u', 0]);
        reply = reply.u32(serial);
        reply.0.extend(body);
        if let Some(rng) = &mut rng
            && rng.u16(..) < 40
        {
            mutator.mutate(&mut reply.0, rng);
        }
        out.write_all(&reply.0)?;
    }
    Ok(())
}

/// A client that is connected to such a peer.
fn client(folder: &tempfile::TempDir, peer: Peer) -> Connection {
    Connection::private(&listening(folder, peer), PATIENCE).unwrap()
}

/// The address where such a peer serves one client.
fn listening(folder: &tempfile::TempDir, peer: Peer) -> String {
    let path = folder.path().join("peer");
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        // Ends when the client is gone.
        let _ = serve(&stream, &peer);
    });
    format!("unix:path={}", path.display())
}

#[test]
fn an_infinite_tree_is_read_until_the_time_limit() {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = client(
        &folder,
        Peer {
            pace: Duration::from_millis(2),
            ..QUICK
        },
    );
    let app = AppConnection::private(&mut connection);
    let start = Instant::now();
    let mut engine = Engine::new(app, "", Toolkit::Other, start + Duration::from_millis(400));
    engine.start(ROOT, None).unwrap();
    assert!(start.elapsed() < Duration::from_secs(1));
    assert!(engine.unread.cut);
    engine.count_unread();
    // The end comes before a node is described, or before its children are listed.
    let unlisted = engine.nodes.iter().any(|node| !node.children_read);
    assert!(engine.unread.nodes > 0 || unlisted);
    let read = |node: &&Node| node.role.is_some() && node.children_read;
    let complete = engine.nodes.iter().filter(read);
    for node in complete {
        let has = |child: &usize| engine.nodes[*child].role.is_some();
        assert!(node.children.len() == 2 && node.children.iter().all(has));
    }
    assert!(engine.nodes.iter().filter(|n| n.role.is_some()).count() > 5);
}

#[test]
fn a_peer_that_falls_silent_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = client(&folder, Peer { most: 100, ..QUICK });
    let app = AppConnection::private(&mut connection);
    let start = Instant::now();
    let mut engine = Engine::new(app, "", Toolkit::Other, start + 3 * PATIENCE);
    assert!(matches!(engine.start(ROOT, None), Err(Error::Timeout)));
    assert!(start.elapsed() < PATIENCE + Duration::from_secs(1));
}

#[test]
fn a_cache_without_the_apps_nodes_is_fetched_only_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = client(&folder, QUICK);
    let app = AppConnection::private(&mut connection);
    let mut engine = Engine::new(
        app,
        "",
        Toolkit::Other,
        Instant::now() + Duration::from_millis(100),
    );
    bulk_cache::fetch(&mut engine, None).unwrap();
    engine.start(ROOT, None).unwrap();
    assert!(!bulk_cache::is_complete(&engine));
}

#[test]
fn a_tree_is_read_although_the_app_never_answers_one_method() {
    let folder = tempfile::tempdir().unwrap();
    let is_deaf_to = |call: &str| call.contains("GetExtents");
    let peer = Peer {
        is_deaf_to,
        ..QUICK
    };
    let mut connection = client(&folder, peer);
    let app = AppConnection::private(&mut connection);
    let start = Instant::now();
    let end = start + PATIENCE + Duration::from_millis(400);
    let mut engine = Engine::new(app, "", Toolkit::Other, end);
    engine.start(ROOT, None).unwrap();
    assert!(start.elapsed() > PATIENCE / 2);
    let read = engine.nodes.iter().filter(|n| n.role.is_some());
    assert!(read.count() > 100);
    assert!(engine.nodes.iter().all(|n| n.extents.is_none()));
}

/// A bus with two apps: `:1.7` has a hundred windows and hangs, `:1.8` has one.
#[test]
fn a_hung_app_with_many_windows_does_not_make_other_windows_outdated() {
    static HANGS: AtomicBool = AtomicBool::new(false);
    static TITLE: AtomicUsize = AtomicUsize::new(0);
    fn pid(call: &str) -> u32 {
        if call.contains(":1.7") { 7 } else { 8 }
    }
    let is_deaf_to = |call: &str| {
        HANGS.load(Relaxed) && call.contains(":1.7") && !call.contains("GetConnection")
    };
    let own = |call: &str| match () {
        () if call.contains("Hello") => Some(Data::default().str(":1.1")),
        () if call.contains("GetConnection") => Some(Data::default().u32(pid(call))),
        () if call.contains("GetChildren") && call.contains("Registry") => {
            Some(objects_of([(":1.7", ROOT), (":1.8", ROOT)]))
        }
        () if call.contains("GetChildren") && pid(call) == 7 => {
            let paths: Vec<String> = (0..100).map(|n| format!("/{n}")).collect();
            Some(objects_of(paths.iter().map(|path| (":1.7", path.as_str()))))
        }
        () if call.contains("GetChildren") => Some(objects_of([(":1.8", "/1")])),
        () if call.contains("GetRole") => Some(Data::default().u32(role::FRAME)),
        () if call.contains("Name") => {
            let title = format!("Title {}", TITLE.load(Relaxed));
            Some(Data::default().signature("s").str(&title))
        }
        () => None,
    };
    let folder = tempfile::tempdir().unwrap();
    let peer = Peer {
        own,
        is_deaf_to,
        ..QUICK
    };
    let mut atspi = AtSpi::connect(&listening(&folder, peer)).unwrap();
    assert_eq!(atspi.toplevels(true).unwrap().len(), 101);
    HANGS.store(true, Relaxed);
    for turn in 1..4 {
        TITLE.store(turn, Relaxed);
        let start = Instant::now();
        let listed = atspi.toplevels(true).unwrap();
        assert!(start.elapsed() < Duration::from_secs(1));
        let (hung, other): (Vec<_>, Vec<_>) = listed.iter().partition(|t| t.pid == 7);
        assert_eq!(hung.len(), 100);
        assert!(hung.iter().all(|t| t.silent && t.title == "Title 0"));
        let other: Vec<_> = other.iter().map(|t| (t.title.as_str(), t.silent)).collect();
        assert_eq!(other, [(format!("Title {turn}").as_str(), false)]);
    }
}

/// A hostile app: some of its answers are wrong, in content or in form.
#[test]
fn fuzz_an_app_whose_answers_are_garbled_is_read_or_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let own: [fn(&str) -> Option<Data>; 2] = [|_| None, answer_of_table];
    let make = |rng: &mut Rng| (rng.u64(..), rng.bool());
    deskline_fuzz::fuzz_with("answers of a hostile app", make, |&(seed, table)| {
        let garbles = Some(seed);
        let own = own[usize::from(table)];
        let mut connection = client(
            &folder,
            Peer {
                own,
                garbles,
                ..QUICK
            },
        );
        let app = AppConnection::private(&mut connection);
        let halted = deskline_fuzz::halted();
        let end = Instant::now() + Duration::from_millis(60);
        let mut engine = Engine::new(app, "", Toolkit::Other, end);
        let _ = bulk_cache::fetch(&mut engine, None);
        if engine.start(ROOT, None).is_ok() {
            let (mut lists, mut sheets) = (LargeLists::default(), Spreadsheets::default());
            let _ = managed::read(&mut engine, &mut lists, &mut sheets);
            engine.count_unread();
        }
        let halted = deskline_fuzz::halted().saturating_sub(halted);
        assert!(Instant::now() < end + PATIENCE + Duration::from_secs(1) + halted);
    });
}

#[test]
fn a_table_that_reports_no_row_count_has_its_children_as_cells() {
    let folder = tempfile::tempdir().unwrap();
    let own = answer_of_table;
    let mut connection = client(&folder, Peer { own, ..QUICK });
    let app = AppConnection::private(&mut connection);
    let mut engine = Engine::new(app, "", Toolkit::Other, Instant::now() + PATIENCE);
    engine.start(ROOT, None).unwrap();
    let table = engine
        .nodes
        .iter()
        .position(|n| n.role == Some(role::TABLE))
        .unwrap();
    assert!(engine.nodes[table].children.is_empty());
    let (mut lists, mut sheets) = (LargeLists::default(), Spreadsheets::default());
    managed::read(&mut engine, &mut lists, &mut sheets).unwrap();
    assert_eq!(engine.nodes[table].children.len(), 2);
}

/// The second reading's peer answers as many calls as the first one made, and then none.
#[test]
fn a_request_sent_ahead_is_not_sent_again() {
    let own = |call: &str| match () {
        () if call.contains("GetChildren") => Some(objects(&["/cell"])),
        () if call.contains("/cell") && call.contains("ChildCount") => {
            Some(Data::default().signature("i").u32(0))
        }
        () => None,
    };
    let known = || Known {
        role: role::PUSH_BUTTON,
        name: "OK".into(),
        description: String::new(),
        states: StateSet(1 << StateSet::VISIBLE | 1 << StateSet::SHOWING),
        children: None,
    };
    let folder = tempfile::tempdir().unwrap();
    let mut questions = Questions::default();
    // Six answers are enough for the root's role, name and children, and the cell's place and
    // children.
    for most in [usize::MAX, 6] {
        let mut connection = client(&folder, Peer { own, most, ..QUICK });
        let app = AppConnection::private(&mut connection);
        let mut engine = Engine::new(app, "", Toolkit::Gtk4, Instant::now() + PATIENCE);
        engine.learn([("/cell".into(), known())].into());
        engine.ask_ahead(questions, true).unwrap();
        engine.start(ROOT, None).unwrap();
        let [_, cell] = &engine.nodes[..] else {
            panic!("{:?}", engine.nodes);
        };
        assert_eq!(cell.extents, Some(Rect::at(0, 0, 10, 10)));
        questions = engine.take_questions();
    }
}

/// A listener that accepts and sends a byte from time to time, and one that never accepts.
#[test]
fn a_handshake_ends_at_its_time_limit() {
    let folder = tempfile::tempdir().unwrap();
    let limit = Duration::from_millis(300);
    let connect = |path: &std::path::Path| {
        let start = Instant::now();
        let address = format!("unix:path={}", path.display());
        let failed = Connection::private(&address, limit).is_err();
        assert!(start.elapsed() < 3 * limit, "{:?}", start.elapsed());
        failed
    };
    let path = folder.path().join("drips");
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        while stream.write_all(b"O").is_ok() {
            std::thread::sleep(limit / 10);
        }
    });
    assert!(connect(&path));
    let path = folder.path().join("full");
    let _listener = UnixListener::bind(&path).unwrap();
    // More connections than any backlog takes.
    let mut held = vec![];
    for _ in 0..5_000 {
        let address = rustix::net::SocketAddrUnix::new(&path).unwrap();
        let flags = rustix::net::SocketFlags::NONBLOCK;
        let (family, kind) = (
            rustix::net::AddressFamily::UNIX,
            rustix::net::SocketType::STREAM,
        );
        let socket = rustix::net::socket_with(family, kind, flags, None).unwrap();
        if rustix::net::connect(&socket, &address).is_err() {
            break;
        }
        held.push(socket);
    }
    assert!(connect(&path));
    // An app names its own address, which may be a list.
    let path = format!("unix:path={};", path.display()).repeat(50);
    let start = Instant::now();
    assert!(Connection::private(&path, limit).is_err());
    assert!(start.elapsed() < 3 * limit, "{:?}", start.elapsed());
}
