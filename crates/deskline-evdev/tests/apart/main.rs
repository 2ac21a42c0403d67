//! The keeper in a process of its own, on fake devices: files in a folder, where a lock stands for
//! the grab and a FIFO for the keys. The kernel releases a lock, like a grab, when its process
//! ends. No `/dev/input` and no `EVIOCGRAB` is involved.
//!
//! This program has no test harness, because the tests also start it as the helper and the server.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod devices;
#[path = "../../../deskline-guard/table.rs"]
mod table;

use std::fs::Permissions;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use deskline_contract::Reason;
use deskline_contract::guard::{Grab, Guards as _, LIMIT, Task};
use deskline_contract::{Cancel, Cancelled, Error};
use deskline_evdev::{Guard, Helper, NAME, Seen};
use deskline_grab::message::{Order, Outcome, Report, pair, receive, send};
use deskline_grab::{MOST, Seats, program};
use deskline_unix::codes::{ESCAPE, LEFT};
use deskline_unix::{spawn, wait};
use rustix::event::PollFd;
use rustix::io::Errno;
use rustix::net::SendFlags;
use rustix::process::{Pid, Signal, kill_process};

use devices::Devices;
use table::{Key, Valve, Why};

const A: u32 = 30;
const CONTROL: u32 = 29;
const SHIFT: u32 = 42;
const LONG: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let exe = std::env::current_exe().unwrap();
    if exe.file_name().unwrap() == NAME {
        return as_helper(exe.parent().unwrap(), 30_000);
    }
    let args: Vec<String> = std::env::args().collect();
    let args: Vec<&str> = args.iter().skip(1).map(String::as_str).collect();
    match args.as_slice() {
        ["as-helper", folder, most] => as_helper(Path::new(folder), most.parse().unwrap()),
        ["as-server", folder] => as_server(Path::new(folder)),
        _ => run_tests(&args),
    }
}

fn as_helper(folder: &Path, most: u64) -> ExitCode {
    let (devices, seats) = (
        Devices::in_folder(folder),
        Seats::in_folder(folder.join("seats")),
    );
    match program::run(devices, Some(seats), Duration::from_millis(most)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// Grabs the devices; prints the result, and the reason when the link ends. The test stops and
/// kills this process.
fn as_server(folder: &Path) -> ExitCode {
    let mut guard = guard_in(folder, MOST);
    let cancel = Cancel::default();
    println!("{:?}", guard.grab(&task(), &cancel).unwrap());
    println!("{:?}", cancel.wait(LONG).unwrap_err());
    thread::sleep(LONG);
    ExitCode::FAILURE
}

fn run_tests(args: &[&str]) -> ExitCode {
    macro_rules! named {
        ($($test:ident)*) => { [$((stringify!($test), $test as fn())),*] };
    }
    let tests = named! {
        the_helper_passes_the_cases_for_every_guard
        a_key_that_goes_down_before_the_grab_takes_effect_is_released_first
        the_helper_grabs_and_releases_the_devices
        escape_is_reported_and_starts_a_pause
        esc_cancels_until_the_link_rests_and_a_shortcut_with_esc_does_not
        a_device_on_which_a_key_is_held_is_not_grabbed
        new_devices_are_grabbed_and_unreadable_ones_are_reported
        another_grab_does_not_extend_the_helpers_limit
        esc_releases_the_devices_of_a_stopped_server
        a_killed_server_releases_the_devices
        a_stopped_helper_is_killed_at_the_limit
        a_killed_helper_ends_the_link
        a_malformed_message_ends_the_helper
        only_the_user_at_the_seat_may_grab
        an_installed_helper_is_setgid
        the_helper_serves_its_parent_alone
    };
    let filter = args.iter().find(|arg| !arg.starts_with('-'));
    let mut passed = 0;
    for (name, test) in tests {
        if filter.is_none_or(|filter| name.contains(filter)) {
            print!("test {name} ... ");
            test();
            println!("ok");
            passed += 1;
        }
    }
    println!("test result: ok. {passed} passed; 0 failed; 0 ignored;");
    ExitCode::SUCCESS
}

fn helper(folder: &Path, most: Duration) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg("as-helper").arg(folder);
    command.arg(most.as_millis().to_string());
    command
}

fn task() -> Task {
    Task {
        caption: None,
        place: None,
        pointer: true,
        limit: LONG,
    }
}

/// The keeper of these devices, as a helper that holds a grab for at most this time.
fn guard(devices: &Devices, most: Duration) -> Guard {
    guard_in(devices.path(), most)
}

fn guard_in(folder: &Path, most: Duration) -> Guard {
    let start = |orders| {
        spawn::apart(&mut helper(folder, most))
            .stdin::<OwnedFd>(orders)
            .spawn()
    };
    Guard::with(start).unwrap()
}

/// A keeper of one device that it holds, for the link that it may cancel.
fn held() -> (Devices, Guard, Cancel) {
    let devices = Devices::new(&["event0"]);
    let (mut guard, cancel) = (guard(&devices, MOST), Cancel::default());
    assert_eq!(guard.grab(&task(), &cancel).unwrap(), Grab::Held);
    (devices, guard, cancel)
}

/// A keeper in a process of its own, in real time.
struct Kernel {
    devices: Devices,
    guard: Guard,
    cancel: Cancel,
}

impl Valve for Kernel {
    const SLACK: Duration = Duration::from_millis(150);

    fn stroke(&mut self, key: Key, down: bool) {
        let code = match key {
            Key::Escape => ESCAPE,
            Key::Shift => SHIFT,
            Key::A => A,
        };
        self.devices.stroke("event0", code, down);
    }

    /// The agent's input does not come through these devices.
    fn agent(&mut self, _key: Key) {}

    fn release(&mut self) {
        self.guard.ungrab();
    }

    fn is_free(&mut self) -> bool {
        !self.devices.grabbed("event0")
    }

    fn cancelled(&mut self) -> Option<Why> {
        self.cancel.reason().map(|reason| match reason {
            Reason::Person => Why::Escape,
            Reason::Watchdog => Why::Limit,
            other => panic!("{other:?}"),
        })
    }
}

fn the_helper_passes_the_cases_for_every_guard() {
    table::run(|| {
        let devices = Devices::new(&["event0"]);
        let (mut guard, cancel) = (guard(&devices, table::LIMIT), Cancel::default());
        assert_eq!(guard.grab(&task(), &cancel).unwrap(), Grab::Held);
        Kernel {
            devices,
            guard,
            cancel,
        }
    });
}

fn a_key_that_goes_down_before_the_grab_takes_effect_is_released_first() {
    let devices = Devices::new(&["event0", "event1"]);
    let (mut guard, cancel) = (guard(&devices, MOST), Cancel::default());
    devices.press_in_grab("event0", A);
    thread::scope(|scope| {
        let grab = scope.spawn(|| guard.grab(&task(), &cancel).unwrap());
        until("the press", || !devices.will_be_pressed("event0"));
        // The compositor has seen the press, and is to see the release.
        until("the wait", || {
            !devices.grabbed("event0") && !devices.grabbed("event1")
        });
        devices.stroke("event0", A, false);
        assert_eq!(grab.join().unwrap(), Grab::Held);
    });
    assert!(devices.grabbed("event0") && devices.grabbed("event1"));
}

fn until(what: &str, mut is: impl FnMut() -> bool) -> Duration {
    let start = Instant::now();
    while !is() {
        assert!(start.elapsed() < Duration::from_secs(10), "{what}");
        thread::sleep(Duration::from_millis(2));
    }
    start.elapsed()
}

fn reason(cancel: &Cancel) -> Reason {
    match cancel.wait(Duration::from_secs(10)) {
        Err(Cancelled(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

fn the_helper_grabs_and_releases_the_devices() {
    let devices = Devices::new(&["event0", "event1"]);
    let mut guard = guard(&devices, MOST);
    let seen = Seen {
        readable: 2,
        closed: 0,
        allowed: true,
    };
    assert_eq!(guard.look(), Some(seen));
    assert!(seen.can_guard());
    assert!(!devices.opened("event0"), "nothing is read before a link");

    guard.watch();
    assert_eq!(guard.pressed(), Some(false));
    assert_eq!(guard.grab(&task(), &Cancel::default()).unwrap(), Grab::Held);
    assert!(devices.grabbed("event0") && devices.grabbed("event1"));
    devices.tap("event0", A);
    devices.plug("event2");
    until("the new one's grab", || devices.grabbed("event2"));
    guard.ungrab();
    assert!(!devices.grabbed("event0") && !devices.grabbed("event2"));
    assert_eq!(guard.pressed(), Some(false), "grabbed keys do not count");
    devices.tap("event0", A);
    until("the key", || guard.pressed() == Some(true));

    devices.stroke("event1", LEFT, true);
    let refused = guard.grab(&task(), &Cancel::default()).unwrap_err();
    assert!(
        refused.to_string().contains("holding a mouse button"),
        "{refused}"
    );
    assert!(!devices.grabbed("event0"));
    guard.unwatch();
    until("the end of the link", || !devices.opened("event0"));
    assert_eq!(guard.pressed(), None);
}

fn escape_is_reported_and_starts_a_pause() {
    let (devices, mut guard, cancel) = held();
    devices.tap("event0", ESCAPE);
    let pressed = Instant::now();
    assert_eq!(reason(&cancel), Reason::Person);
    assert!(
        devices.grabbed("event0"),
        "the link restores the desktop first"
    );
    until("the release", || !devices.grabbed("event0"));
    let freed = pressed.elapsed();
    assert!(
        freed > Duration::from_millis(150) && freed < Duration::from_secs(3),
        "{freed:?}"
    );
    guard.unwatch();

    // A grab is refused during the pause, and not after it.
    let next = Cancel::default();
    let refused = guard.grab(&task(), &next).unwrap_err();
    assert!(
        refused.to_string().contains("just pressed Esc"),
        "{refused}"
    );
    until("the end of the pause", || {
        guard.grab(&task(), &next).is_ok()
    });
    assert!(pressed.elapsed() > Duration::from_millis(900));
    assert!(devices.grabbed("event0") && next.check().is_ok());
}

fn esc_cancels_until_the_link_rests_and_a_shortcut_with_esc_does_not() {
    let (devices, mut guard, cancel) = held();
    devices.stroke("event0", CONTROL, true);
    devices.tap("event0", ESCAPE);
    devices.stroke("event0", CONTROL, false);
    guard.ungrab();
    assert!(cancel.check().is_ok());
    // The devices are released while the app settles, but Esc cancels until the link ends.
    devices.tap("event0", ESCAPE);
    assert_eq!(reason(&cancel), Reason::Person);
    guard.unwatch();

    // The end of the link releases devices that are still grabbed.
    let next = Cancel::default();
    until("the end of the pause", || {
        guard.grab(&task(), &next).is_ok()
    });
    guard.unwatch();
    until("the end of the grab", || !devices.opened("event0"));
    assert_eq!(guard.pressed(), None);
    assert!(next.check().is_ok());
}

fn a_device_on_which_a_key_is_held_is_not_grabbed() {
    let devices = Devices::new(&["event0", "event1"]);
    let mut guard = guard(&devices, MOST);
    guard.watch();
    assert_eq!(guard.pressed(), Some(false));
    devices.stroke("event0", A, true);
    let grab = guard.grab(&task(), &Cancel::default()).unwrap();
    assert!(
        matches!(&grab, Grab::Partly(why) if why.contains("held down")),
        "{grab:?}"
    );
    assert!(!devices.grabbed("event0") && devices.grabbed("event1"));
    // The devices are grabbed as soon as the key is up.
    devices.stroke("event0", A, false);
    until("the keyboard's grab", || devices.grabbed("event0"));
}

fn new_devices_are_grabbed_and_unreadable_ones_are_reported() {
    let devices = Devices::new(&["event0"]);
    devices.plug_as("event1", "other");
    devices.plug_as("event2", "closed");
    let mut guard = guard(&devices, MOST);
    let mut grab = || guard.grab(&task(), &Cancel::default()).unwrap();
    let partly = grab();
    assert!(
        matches!(&partly, Grab::Partly(why) if why.starts_with("1 of the devices")),
        "{partly:?}"
    );
    assert!(devices.grabbed("event0") && !devices.grabbed("event1"));
    // The kernel reuses the lowest free number.
    devices.plug("event1");
    until("the new one's grab", || devices.grabbed("event1"));
    devices.unplug("event2");
    guard.unwatch();

    let mut grab = || guard.grab(&task(), &Cancel::default()).unwrap();
    assert_eq!(grab(), Grab::Held);
    for (name, kind) in [("event0", "closed"), ("event1", "other")] {
        devices.plug_as(name, kind);
    }
    guard.unwatch();
    let none = guard.grab(&task(), &Cancel::default()).unwrap();
    assert!(
        matches!(&none, Grab::Unable(why) if why.contains("may not read")),
        "{none:?}"
    );
    let seen = guard.look().unwrap();
    assert_eq!((seen.readable, seen.closed), (0, 1));
    assert!(!seen.can_guard());
    devices.unplug("event0");
    let none = guard.grab(&task(), &Cancel::default()).unwrap();
    assert!(matches!(none, Grab::Unable(_)), "{none:?}");
}

fn another_grab_does_not_extend_the_helpers_limit() {
    assert_eq!(MOST, LIMIT);
    let devices = Devices::new(&["event0"]);
    let most = Duration::from_millis(500);
    let mut guard = guard(&devices, most);
    let cancel = Cancel::default();
    let start = Instant::now();
    assert_eq!(guard.grab(&task(), &cancel).unwrap(), Grab::Held);
    // Another grab does not extend the limit.
    while devices.grabbed("event0") {
        let _ = guard.grab(&task(), &cancel);
        assert!(start.elapsed() < Duration::from_secs(10));
        if cancel.check().is_err() {
            break;
        }
    }
    assert!(start.elapsed() >= most, "{:?}", start.elapsed());
    assert_eq!(reason(&cancel), Reason::Watchdog);
    until("the release", || !devices.grabbed("event0"));
    assert_eq!(guard.grab(&task(), &Cancel::default()).unwrap(), Grab::Held);
}

/// A server that holds a grab, and its further output.
struct Server {
    process: Child,
    printed: BufReader<std::process::ChildStdout>,
}

impl Server {
    fn start(devices: &Devices) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg("as-server").arg(devices.path());
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let printed = BufReader::new(process.stdout.take().unwrap());
        let mut server = Self { process, printed };
        assert_eq!(server.line(), "Held");
        assert!(devices.grabbed("event0"));
        server
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.printed.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn esc_releases_the_devices_of_a_stopped_server() {
    let devices = Devices::new(&["event0"]);
    let mut server = Server::start(&devices);
    server.signal(Signal::STOP);
    devices.tap("event0", ESCAPE);
    let took = until("the release", || !devices.grabbed("event0"));
    assert!(took < Duration::from_secs(3), "{took:?}");
    server.signal(Signal::CONT);
    assert_eq!(server.line(), "Cancelled(Person)");
}

fn a_killed_server_releases_the_devices() {
    let devices = Devices::new(&["event0"]);
    let server = Server::start(&devices);
    let helper = devices.holder("event0").unwrap();
    server.signal(Signal::KILL);
    until("the release", || !devices.grabbed("event0"));
    until("the helper's end", || {
        rustix::process::test_kill_process(helper) == Err(Errno::SRCH)
    });
}

fn a_stopped_helper_is_killed_at_the_limit() {
    let devices = Devices::new(&["event0"]);
    let most = Duration::from_millis(300);
    let mut guard = guard(&devices, most);
    let cancel = Cancel::default();
    // A released grab leaves no timer that could kill the helper.
    let _ = guard.grab(&task(), &Cancel::default()).unwrap();
    guard.ungrab();
    thread::sleep(most + Duration::from_millis(1_200));
    assert_eq!(guard.grab(&task(), &cancel).unwrap(), Grab::Held);
    let start = Instant::now();
    kill_process(devices.holder("event0").unwrap(), Signal::STOP).unwrap();
    until("the release", || !devices.grabbed("event0"));
    let took = start.elapsed();
    assert!(took > most && took < Duration::from_secs(5), "{took:?}");
    assert_eq!(reason(&cancel), Reason::Unguarded);
}

fn a_killed_helper_ends_the_link() {
    let (devices, mut guard, cancel) = held();
    kill_process(devices.holder("event0").unwrap(), Signal::KILL).unwrap();
    assert_eq!(reason(&cancel), Reason::Unguarded);
    assert!(!devices.grabbed("event0"));
    guard.ungrab();
    let start = Instant::now();
    let gone = guard.grab(&task(), &Cancel::default()).unwrap_err();
    assert!(matches!(gone, Error::Unavailable(_)), "{gone}");
    assert_eq!((guard.look(), guard.pressed()), (None, None));
    assert!(
        start.elapsed() < Duration::from_secs(1),
        "no wait for a helper that has gone"
    );
}

/// The helper with its socket, without a [`Guard`].
fn bare(devices: &Devices) -> (OwnedFd, Child) {
    let (socket, orders) = pair().unwrap();
    let mut command = helper(devices.path(), MOST);
    command.stdin(orders).stderr(Stdio::piped());
    (socket, command.spawn().unwrap())
}

fn answer(socket: &OwnedFd) -> Option<Report> {
    let mut fds = [PollFd::new(socket, rustix::event::PollFlags::IN)];
    assert!(wait::any(&mut fds, Some(Duration::from_secs(10))).unwrap());
    receive(socket, false).ok().flatten()
}

fn a_malformed_message_ends_the_helper() {
    let bytes = deskline_grab::message::Message::bytes;
    let mut reserved = bytes(Order::Rest);
    reserved[1] = 1;
    let mut long = bytes(Order::Release).to_vec();
    long.push(0);
    let garbage: [&[u8]; 4] = [b"release", &[0xff; 12], &reserved, &long];
    for garbage in garbage {
        let devices = Devices::new(&["event0"]);
        let (socket, mut process) = bare(&devices);
        let grab = Order::Grab {
            link: 1,
            pointer: false,
            limit: LONG,
        };
        send(&socket, grab).unwrap();
        assert_eq!(answer(&socket), Some(Report::Grabbed(Outcome::Held)));
        assert!(devices.grabbed("event0"));
        rustix::net::send(socket.as_fd(), garbage, SendFlags::empty()).unwrap();
        assert_eq!(process.wait().unwrap().code(), Some(1), "{garbage:?}");
        assert!(!devices.grabbed("event0"), "{garbage:?}");
    }
    // The helper does not wait for a caller that reads no answers.
    let devices = Devices::new(&["event0"]);
    let (socket, mut process) = bare(&devices);
    while send(&socket, Order::Look).is_ok() {}
    until("its end", || {
        let _ = send(&socket, Order::Look);
        process.try_wait().unwrap().is_some()
    });
}

fn only_the_user_at_the_seat_may_grab() {
    let (devices, mut guard, cancel) = held();
    // Another user's session comes to the front.
    devices.seat(devices::uid() + 1);
    until("the release", || !devices.grabbed("event0"));
    assert_eq!(reason(&cancel), Reason::Unguarded);
    guard.unwatch();
    assert!(!guard.look().unwrap().can_guard());
    let grab = guard.grab(&task(), &Cancel::default()).unwrap();
    assert!(
        matches!(&grab, Grab::Unable(why) if why.contains("in front")),
        "{grab:?}"
    );
    guard.watch();
    assert_eq!(guard.pressed(), None);
    assert!(
        !devices.opened("event0"),
        "another user's keys are not read"
    );
    guard.unwatch();

    devices.seat(devices::uid());
    guard.watch();
    assert_eq!(guard.pressed(), Some(false));
    devices.seat(devices::uid() + 1);
    devices.tap("event0", A);
    assert_eq!(guard.pressed(), None, "the person is not watched");
}

/// Only root can install the program, so this tests nothing if another user runs it.
fn an_installed_helper_is_setgid() {
    if !rustix::process::getuid().is_root() {
        return;
    }
    let devices = Devices::new(&["event0"]);
    let installed = devices.path().join(NAME);
    std::fs::copy(std::env::current_exe().unwrap(), &installed).unwrap();
    chown(&installed, Some(0), Some(65534)).unwrap();
    std::fs::set_permissions(&installed, Permissions::from_mode(0o2755)).unwrap();
    let helper = Helper::at(&installed).unwrap();
    let mut guard = Guard::with(|orders| helper.start(orders)).unwrap();
    assert!(guard.look().unwrap().can_guard());
    let grab = guard.grab(&task(), &Cancel::default()).unwrap();
    assert_eq!(grab, Grab::Held);
    let pid = devices.holder("event0").unwrap().as_raw_pid();
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    assert!(
        status.contains("Gid:\t0\t65534\t65534\t65534\n"),
        "{status}"
    );
}

fn the_helper_serves_its_parent_alone() {
    let devices = Devices::new(&["event0"]);
    let (socket, orders) = pair().unwrap();
    let mut direct = helper(devices.path(), MOST);
    // Its parent is the shell, but the socket is ours.
    let mut shell = Command::new("sh");
    shell.args(["-c", "\"$@\"; exit $?", "sh"]);
    shell.arg(direct.get_program()).args(direct.get_args());
    let mut child = shell.stdin(orders).stderr(Stdio::piped()).spawn().unwrap();
    let mut error = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut error)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(error.contains("started by Deskline's server"), "{error}");
    drop(socket);

    for stdin in [Stdio::null(), Stdio::piped()] {
        let ran = direct.stdin(stdin).stderr(Stdio::null()).status().unwrap();
        assert_eq!(ran.code(), Some(1));
    }
}
