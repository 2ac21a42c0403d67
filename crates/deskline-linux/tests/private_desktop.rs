//! Starts a private desktop in this process. Checks which programs are up after the start and that
//! nothing remains after the end.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use common::processes;
use deskline_linux::private::{Options, PrivateDesktop};
use deskline_linux::session::{Environment, Session, Sources};
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::ConnectionExt as _;

const MARK: &str = "DESKLINE_DESKTOP";

fn directory(session: &Session) -> String {
    session.environment[MARK].clone()
}

/// The only file of the desktop that is outside its directory.
fn x_socket(session: &Session) -> PathBuf {
    let number = session
        .display
        .as_deref()
        .unwrap()
        .trim_start_matches(':')
        .to_owned();
    PathBuf::from(format!("/tmp/.X11-unix/X{number}"))
}

#[test]
fn five_private_desktops_start_and_end_without_leaving_anything() {
    for _ in 0..5 {
        let begun = Instant::now();
        let desktop = PrivateDesktop::start(&Options {
            width: 800,
            height: 600,
            ..Options::default()
        })
        .unwrap();
        let up = begun.elapsed();
        let session = desktop.session().clone();
        let (x, screen) = session.connect_x11().unwrap();
        let screen = &x.setup().roots[screen];
        assert_eq!(
            (screen.width_in_pixels, screen.height_in_pixels),
            (800, 600)
        );
        let socket = x_socket(&session);
        assert!(socket.exists(), "{socket:?}");
        assert!(
            processes(&directory(&session)).len() >= 5,
            "{:?}",
            processes(&directory(&session))
        );
        // A process that detaches itself completely, as daemons do.
        let mut detached = Command::new("setsid");
        detached
            .args(["-f", "sleep", "1000"])
            .envs(&session.environment);
        assert!(detached.status().unwrap().success());
        drop(x);
        let begun = Instant::now();
        drop(desktop);
        let down = begun.elapsed();
        println!("up in {up:?}, down in {down:?}");
        assert_eq!(processes(&directory(&session)), vec![]);
        assert!(!Path::new(&directory(&session)).exists());
        assert!(!socket.exists(), "{socket:?}");
        assert!(down < Duration::from_secs(3), "{down:?}");
    }
}

fn number(desktop: &PrivateDesktop) -> u16 {
    let display = desktop.session().display.as_deref();
    display.unwrap()[1..].parse().unwrap()
}

#[test]
fn desktops_that_start_together_get_different_displays() {
    let desktops = std::thread::scope(|scope| {
        let start = || PrivateDesktop::start(&Options::default()).unwrap();
        let all = [(); 4].map(|()| scope.spawn(start));
        all.map(|one| one.join().unwrap())
    });
    let mut numbers = desktops.each_ref().map(number);
    numbers.sort_unstable();
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    for desktop in &desktops {
        desktop.session().connect_x11().unwrap();
    }
}

#[test]
fn a_taken_display_number_is_skipped() {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixListener};
    let first = PrivateDesktop::start(&Options::default()).unwrap();
    // Servers without a visible socket file, like one in another mount namespace: only binding the
    // number fails.
    let taken: Vec<_> = (number(&first) + 1..number(&first) + 6)
        .filter_map(|n| {
            let name = format!("/tmp/.X11-unix/X{n}");
            let address = SocketAddr::from_abstract_name(name).unwrap();
            Some((n, UnixListener::bind_addr(&address).ok()?))
        })
        .collect();
    assert!(!taken.is_empty());
    let second = PrivateDesktop::start(&Options::default()).unwrap();
    assert!(taken.iter().all(|(n, _)| *n != number(&second)));
    second.session().connect_x11().unwrap();
}

#[test]
fn nobody_connects_to_a_private_desktop_without_its_cookie() {
    let desktop = PrivateDesktop::start(&Options::default()).unwrap();
    let mut stranger = Environment::new();
    stranger.insert("DISPLAY".into(), desktop.session().display.clone().unwrap());
    // Without the cookie, even the same user is refused.
    let refused = Session::from_environment(&stranger)
        .connect_x11()
        .err()
        .unwrap();
    assert!(
        refused.to_string().contains("cannot reach the X server"),
        "{refused}"
    );
}

#[test]
fn a_program_that_is_missing_is_named_with_its_package() {
    // Runs in a child process, so that PATH can be changed without a race.
    if std::env::var_os("PATH").is_some_and(|p| p == "/nonexistent") {
        let error = PrivateDesktop::start(&Options::default())
            .err()
            .unwrap()
            .to_string();
        assert!(error.contains("Xvfb and xfwm4 and dbus-daemon"), "{error}");
        assert!(
            error.contains("apt-get install xvfb xfwm4 dbus-daemon"),
            "{error}"
        );
        return;
    }
    let status = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "a_program_that_is_missing_is_named_with_its_package",
        ])
        .env("PATH", "/nonexistent")
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn the_socket_of_a_watched_desktop_is_open_to_its_owner_alone() {
    use std::io::Read;
    use std::os::unix::fs::MetadataExt;
    let desktop = PrivateDesktop::start(&Options {
        watch: true,
        ..Options::default()
    })
    .unwrap();
    let socket = desktop.vnc_socket().unwrap();
    assert_eq!(fs::metadata(socket).unwrap().mode() & 0o777, 0o600);
    let mut stream = std::os::unix::net::UnixStream::connect(socket).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(5)))
        .unwrap();
    let mut greeting = [0; 4];
    stream.read_exact(&mut greeting).unwrap();
    assert_eq!(&greeting, b"RFB ");
}

#[test]
fn a_private_desktop_is_found_by_its_processes() {
    let desktop = PrivateDesktop::start(&Options::default()).unwrap();
    let wanted = desktop.session();
    // Uses only the processes of this desktop: other desktops may run here too.
    let proc = tempfile::tempdir().unwrap();
    for (pid, _) in processes(&directory(wanted)) {
        symlink(format!("/proc/{pid}"), proc.path().join(pid.to_string())).unwrap();
    }
    let sources = Sources {
        own: Environment::new(),
        proc: proc.path().to_owned(),
        ..Sources::system()
    };
    let begun = Instant::now();
    let found = sources.find();
    let took = begun.elapsed();
    assert_eq!(found.missing(), Vec::<String>::new());
    assert_eq!(found.display, wanted.display);
    assert_eq!(found.session_bus, wanted.session_bus);
    assert_eq!(found.xauthority, wanted.xauthority);
    assert_eq!(found.runtime_dir, wanted.runtime_dir);
    found
        .connect_x11()
        .unwrap()
        .0
        .get_input_focus()
        .unwrap()
        .reply()
        .unwrap();

    let begun = Instant::now();
    let real = Sources {
        own: Environment::new(),
        ..Sources::system()
    }
    .find();
    println!(
        "found in {took:?}, among all processes in {:?}",
        begun.elapsed()
    );
    assert_eq!(real.missing(), Vec::<String>::new());
}

#[test]
fn a_mount_of_the_document_portal_is_removed_at_the_end() {
    let desktop = PrivateDesktop::start(&Options::default()).unwrap();
    let directory = directory(desktop.session());
    let mounted = || {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
        mounts.contains(&format!(" {directory}/run/doc "))
    };
    let begun = Instant::now();
    while !mounted() {
        if begun.elapsed() > Duration::from_secs(5) {
            eprintln!("not tested: the document portal mounts nothing here");
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    // Kill the helper first: it would unmount the file system when the portal ends.
    for name in ["fusermount3", "xdg-document-po"] {
        let left = || {
            let mut left = processes(&directory);
            left.retain(|(_, comm)| comm.starts_with(name));
            left
        };
        for (pid, _) in left() {
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        }
        let begun = Instant::now();
        while !left().is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(5), "{name} stays");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    assert!(mounted());
    drop(desktop);
    assert!(!mounted() && !Path::new(&directory).exists());
}
