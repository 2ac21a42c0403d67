use std::fs;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;

/// A simulated machine with its own processes, runtime directories and sockets.
struct Machine {
    root: TempDir,
    own: Vec<(&'static str, String)>,
    listeners: Vec<UnixListener>,
}

impl Machine {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for dir in ["proc", "run", "x11"] {
            fs::create_dir(root.path().join(dir)).unwrap();
        }
        Self {
            root,
            own: vec![],
            listeners: vec![],
        }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn listen(&mut self, path: &str) -> PathBuf {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        self.listeners.push(UnixListener::bind(&path).unwrap());
        path
    }

    /// Adds a display and a bus. Returns the environment of a process of that session.
    fn session(&mut self, number: u16) -> Vec<(&'static str, String)> {
        self.listen(&format!("x11/X{number}"));
        let bus = self.listen(&format!("bus{number}"));
        vec![
            ("DISPLAY", format!(":{number}")),
            (
                "DBUS_SESSION_BUS_ADDRESS",
                format!("unix:path={},guid=12", bus.display()),
            ),
        ]
    }

    fn process(&self, pid: u32, comm: &str, started: u64, variables: &[(&str, String)]) {
        let dir = self.at(&format!("proc/{pid}"));
        fs::create_dir(&dir).unwrap();
        let zeros = "0 ".repeat(17);
        fs::write(
            dir.join("stat"),
            format!("{pid} ({comm}) S 1 {zeros}{started} 0"),
        )
        .unwrap();
        let block: Vec<_> = variables
            .iter()
            .map(|(k, v)| format!("{k}={v}\0"))
            .collect();
        fs::write(dir.join("environ"), block.concat()).unwrap();
    }

    fn find(&self) -> Session {
        let own = self
            .own
            .iter()
            .map(|(k, v)| ((*k).to_owned(), v.clone()))
            .collect();
        let uid = rustix::process::getuid().as_raw();
        Sources {
            own,
            proc: self.at("proc"),
            runtime_dirs: self.at("run"),
            x11_sockets: self.at("x11"),
            uid,
        }
        .find()
    }
}

#[test]
fn our_own_environment_is_used_if_its_display_answers() {
    let mut machine = Machine::new();
    let person = machine.session(0);
    machine.process(1, "gnome-session-b", 5, &person);
    machine.own = machine.session(7);
    machine.own.push(("SECRET_TOKEN", "x".to_owned()));
    let found = machine.find();
    assert_eq!(found.display.as_deref(), Some(":7"));
    assert!(found.session_bus.unwrap().contains("bus7"));
    assert_eq!(found.environment["DISPLAY"], ":7");
    assert!(!found.environment.contains_key("SECRET_TOKEN"));
}

#[test]
fn a_named_display_that_does_not_answer_is_not_replaced_by_another() {
    let mut machine = Machine::new();
    let person = machine.session(0);
    machine.process(1, "gnome-session-b", 5, &person);
    machine.own = vec![("DISPLAY", ":9".to_owned())];
    let found = machine.find();
    assert_eq!(
        (found.display.as_deref(), found.environment.get("DISPLAY")),
        (None, None)
    );
    let missing = found.missing();
    assert!(
        missing[0].starts_with("DISPLAY=:9 does not answer."),
        "{missing:?}"
    );
    assert!(
        missing[1].starts_with("No D-Bus session bus"),
        "{missing:?}"
    );
    assert_eq!(missing.len(), 2);
}

#[test]
fn a_dead_x_display_does_not_matter_beside_a_live_wayland_display() {
    let mut machine = Machine::new();
    machine.listen("run/wayland-7");
    let bus = machine.listen("bus");
    machine.own = vec![
        ("DISPLAY", ":9".to_owned()),
        ("WAYLAND_DISPLAY", "wayland-7".to_owned()),
        ("XDG_RUNTIME_DIR", machine.at("run").display().to_string()),
        (
            "DBUS_SESSION_BUS_ADDRESS",
            format!("unix:path={}", bus.display()),
        ),
    ];
    let found = machine.find();
    assert_eq!(found.display, None);
    assert_eq!(found.wayland_display.as_deref(), Some("wayland-7"));
    assert_eq!(found.missing(), Vec::<String>::new());
}

#[test]
fn a_display_without_a_bus_is_completed_from_its_own_session() {
    let mut machine = Machine::new();
    let (one, two) = (machine.session(1), machine.session(2));
    machine.process(1, "xfce4-session", 5, &one);
    machine.process(2, "mousepad", 9, &two);
    machine.own = vec![("DISPLAY", ":2".to_owned())];
    let found = machine.find();
    assert_eq!(found.display.as_deref(), Some(":2"));
    assert!(found.session_bus.unwrap().contains("bus2"));
}

#[test]
fn the_persons_session_is_preferred() {
    let mut machine = Machine::new();
    let all: Vec<_> = (0..6).map(|n| machine.session(n)).collect();
    let with =
        |n: usize, name: &'static str| [all[n].clone(), vec![(name, "x".to_owned())]].concat();
    // Each of these processes would be chosen if the one after it were missing.
    machine.process(10, "xfce4-session", 99, &with(0, "DESKLINE_DESKTOP"));
    assert_eq!(machine.find().display.as_deref(), Some(":0"));
    machine.process(11, "xterm", 1, &all[1]);
    assert_eq!(machine.find().display.as_deref(), Some(":1"));
    machine.process(12, "xfwm4", 2, &all[2]);
    assert_eq!(machine.find().display.as_deref(), Some(":2"));
    machine.process(13, "plasmashell", 3, &all[3]);
    assert_eq!(machine.find().display.as_deref(), Some(":3"));
    machine.process(14, "plasmashell", 4, &all[4]);
    assert_eq!(machine.find().display.as_deref(), Some(":4"));
    machine.process(15, "plasmashell", 1, &with(5, "XDG_SEAT"));
    assert_eq!(machine.find().display.as_deref(), Some(":5"));
    // A session whose display is gone is skipped.
    fs::remove_file(machine.at("x11/X5")).unwrap();
    assert_eq!(machine.find().display.as_deref(), Some(":4"));
}

#[test]
fn the_environment_of_the_found_session_is_used() {
    let mut machine = Machine::new();
    let mut variables = machine.session(0);
    for (name, value) in [
        ("PATH", "/theirs"),
        ("LANG", "de_AT.UTF-8"),
        ("GITHUB_TOKEN", "x"),
    ] {
        variables.push((name, value.to_owned()));
    }
    machine.process(1, "gnome-shell", 5, &variables);
    machine.own = vec![
        ("PATH", "/ours".to_owned()),
        ("HOME", "/home/us".to_owned()),
    ];
    let environment = machine.find().environment;
    let get = |name: &str| environment.get(name).map(String::as_str);
    assert_eq!(get("PATH"), Some("/theirs"));
    assert_eq!(get("LANG"), Some("de_AT.UTF-8"));
    assert_eq!(get("HOME"), Some("/home/us"));
    assert_eq!(get("GITHUB_TOKEN"), None);
}

#[test]
fn a_bundled_clients_environment_is_replaced_by_that_of_the_session() {
    let mut machine = Machine::new();
    let mut variables = machine.session(0);
    variables.extend([
        ("PATH", "/theirs".to_owned()),
        ("QT_PLUGIN_PATH", "/run/theirs/qt".to_owned()),
        ("AT_SPI_BUS_ADDRESS", "unix:path=/x".to_owned()),
    ]);
    machine.own = variables[..2].to_vec();
    machine.own.extend([
        ("XAUTHORITY", String::new()),
        ("HOME", "/home/us".to_owned()),
        ("APPDIR", "/tmp/.mount_abc".to_owned()),
        ("PATH", "/tmp/.mount_abc/usr/bin:/usr/bin".to_owned()),
        ("QT_PLUGIN_PATH", "/tmp/.mount_abc/qt".to_owned()),
        ("LD_LIBRARY_PATH", "/tmp/.mount_abc/lib".to_owned()),
        ("GIO_MODULE_DIR", "/tmp/.mount_abc/gio".to_owned()),
        ("ELECTRON_RUN_AS_NODE", "1".to_owned()),
    ]);
    // Nothing of the bundle remains, even if there is no session manager.
    machine.process(1, "code", 5, &machine.own.clone());
    let alone = machine.find().environment;
    let bundled = |environment: &Environment| {
        let mut all = environment.iter();
        all.any(|(name, value)| value.contains(".mount") || name.contains("ELECTRON"))
    };
    assert!(!bundled(&alone), "{alone:?}");
    assert_eq!(alone["PATH"], "/usr/bin");
    machine.process(2, "xfce4-session", 1, &variables);
    let found = machine.find().environment;
    assert!(!bundled(&found), "{found:?}");
    assert_eq!(found["PATH"], "/theirs");
    assert_eq!(found["QT_PLUGIN_PATH"], "/run/theirs/qt");
    assert_eq!(found["HOME"], "/home/us");
    assert!(!found.contains_key("AT_SPI_BUS_ADDRESS"), "{found:?}");
}

#[test]
fn a_session_is_found_by_its_sockets_alone() {
    let mut machine = Machine::new();
    let uid = rustix::process::getuid().as_raw();
    machine.listen(&format!("run/{uid}/bus"));
    machine.listen(&format!("run/{uid}/wayland-0"));
    fs::write(machine.at(&format!("run/{uid}/xauth_abc")), "").unwrap();
    machine.listen("x11/X3");
    // The socket was left by a server that was killed.
    drop(UnixListener::bind(machine.at("x11/X1")).unwrap());
    let found = machine.find();
    assert_eq!(found.missing(), Vec::<String>::new());
    assert_eq!(found.display.as_deref(), Some(":3"));
    assert_eq!(found.wayland_display.as_deref(), Some("wayland-0"));
    assert_eq!(found.runtime_dir, Some(machine.at(&format!("run/{uid}"))));
    assert_eq!(
        found.xauthority,
        Some(machine.at(&format!("run/{uid}/xauth_abc")))
    );
    assert!(
        found
            .session_bus
            .unwrap()
            .ends_with(&format!("run/{uid}/bus"))
    );
}

#[test]
fn missing_parts_are_named_with_the_next_step() {
    let missing = Machine::new().find().missing();
    assert_eq!(missing.len(), 2);
    assert!(missing[0].contains("--desktop private"));
    assert!(missing[1].contains("DBUS_SESSION_BUS_ADDRESS"));
}

#[test]
fn processes_of_other_users_are_not_looked_at() {
    let mut machine = Machine::new();
    let person = machine.session(0);
    machine.process(1, "gnome-session-b", 5, &person);
    let stranger = Sources {
        own: Environment::new(),
        proc: machine.at("proc"),
        runtime_dirs: machine.at("run"),
        x11_sockets: machine.at("x11"),
        uid: rustix::process::getuid().as_raw() + 1,
    };
    let found = stranger.find();
    assert_eq!((found.session_bus, found.runtime_dir), (None, None));
}
