//! Reports which abilities an agent has on this desktop, which abilities it lacks, and how to get
//! them. Trying an ability disturbs nobody: the doctor sends no input and moves no window.

mod accessibility;
mod apps;
mod display;
mod kwin;
mod remedy;
mod wayland;

use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

pub use deskline_contract::doctor::{Check, Fix, Report, Status};

use deskline_atspi::accessibility_bus;

use crate::packages::{self, Package};
use crate::private;
use crate::session::Session;
use crate::session::environment::MARK;
use crate::tesseract::Tesseract;
use remedy::{PRIVATE, carry_out};

/// The time limit for connecting and listing. After that, `TRY` limits the reading of a tree and a
/// picture. Together they take less than 3 s: after that a person would think that the doctor
/// hangs.
const LOOK: Duration = Duration::from_millis(1_500);
/// The limit on Wayland, in place of `LOOK`. KWin 5 is slow to answer a program that it knows,
/// because it first reads the whole program file twice, for a checksum (`wayland_server.cpp`:
/// `isTrustedOrigin`).
const NATIVE_LOOK: Duration = Duration::from_secs(4);
const TRY: Duration = Duration::from_millis(1_300);

/// Examines the session and tries every step of a link. Takes at most 3 s, or 6 s on Wayland, even
/// if something hangs. `attended` (the option `--attended`): a person is there even if the desktop
/// is private.
pub fn examine(session: &Session, attended: bool) -> Vec<Check> {
    // Apps may have windows that X11 does not list.
    let native = session.wayland_display.is_some();
    let deadline = Instant::now() + if native { NATIVE_LOOK } else { LOOK };
    let trees_only = native && (session.display.is_none() || session.is_driven_natively());
    let (for_display, for_bus) = (session.clone(), session.clone());
    let display = start(move || display::look(&for_display, attended));
    let bus = start(move || accessibility::look(&for_bus));
    let (mut checks, windows) = by(&display, deadline).unwrap_or_else(|| {
        let display = session.display.as_deref().unwrap_or("the X server");
        let finding = format!("{display} does not answer");
        let remedy = format!("end the X server if it is hung and log in again, or {PRIVATE}");
        (vec![Check::fail("display", finding, remedy)], None)
    });
    let (more, listed) = by(&bus, deadline).unwrap_or_else(|| {
        let remedy = format!("log out and in again, or {PRIVATE}");
        let finding = "the session bus or the accessibility bus does not answer";
        (vec![Check::fail("accessibility", finding, remedy)], None)
    });
    checks.extend(more);
    let drivable = match &listed {
        Some(listed) if windows.is_some() || native => {
            let windows = windows.iter().flatten().map(|window| window.pid);
            let apps = listed.apps.iter();
            let on_bus = apps.filter(|app| native && app.windows != Some(0));
            let owners: Vec<u32> = windows.chain(on_bus.map(|app| app.pid)).collect();
            apps::look(&owners, &listed.apps, &mut checks)
        }
        _ => vec![],
    };

    let deadline = Instant::now() + TRY;
    let for_texts = session;
    let session = session.clone();
    let for_guard = session.clone();
    // Without an X server there is no guard, and the display's check says what to do.
    let guard = (windows.is_some() && !trees_only)
        .then(|| start(move || display::guard(&for_guard, attended)));
    let front = windows.into_iter().flatten().find(|w| w.viewable);
    let picture = front.map(|window| start(move || display::picture(&session, &window)));
    let tree = listed
        .filter(|_| !drivable.is_empty())
        .map(|listed| start(move || accessibility::tree(&listed.address, &drivable)));
    checks.extend(tree.into_iter().flat_map(|tree| {
        by(&tree, deadline).unwrap_or_else(|| {
            let finding = "no app's tree could be read in time";
            let remedy = "see which app is busy, and end it if it hangs";
            vec![Check::fail("tree", finding, remedy)]
        })
    }));
    checks.extend(picture.map(|picture| {
        by(&picture, deadline).unwrap_or_else(|| {
            let remedy = "agents have only the trees. End what keeps the X server busy";
            Check::warn("screenshot", "it could not be taken in time", remedy)
        })
    }));
    checks.extend(guard.map(|guard| by(&guard, deadline).unwrap_or_else(display::no_guard)));
    checks.push(texts(for_texts));
    // A private desktop needs no other private desktop.
    let missing = private::missing().filter(|_| !for_texts.environment.contains_key(MARK));
    checks.extend(missing.map(|missing| {
        let remedy = format!("as root: {}", missing.install());
        let check = Check::warn("private desktop", missing.finding(), remedy);
        check.mended_by(Fix::Root(missing.install()))
    }));
    checks
}

/// Repairs what a check has found, if that needs neither root nor a person. Otherwise `None`.
pub fn repair(check: &Check, session: &Session) -> Option<Result<String, String>> {
    match check.fix.as_ref()? {
        Fix::Accessibility => {
            let bus = session.session_bus.as_ref()?;
            let on = accessibility_bus::enabled(bus).map_err(|e| e.to_string());
            Some(on.map(|_| "turned accessibility on".to_owned()))
        }
        Fix::KwinFile => Some(kwin::grant(session)),
        Fix::Command(words) => Some(carry_out(words, session)),
        Fix::Root(_) => None,
    }
}

/// Checks whether texts that only the picture shows can be read.
fn texts(session: &Session) -> Check {
    const NAME: &str = "text in screenshots";
    if Tesseract::find(session).is_some() {
        return Check::ok(NAME, "read by tesseract, in apps without a tree");
    }
    let install = packages::install(&[Package::Tesseract]);
    let finding = "no OCR engine: text in apps without a tree is on the screenshot only";
    Check::warn(NAME, finding, format!("as root: {install}")).mended_by(Fix::Root(install))
}

/// Runs `work` on a thread, so that work that hangs does not hang the doctor.
fn start<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || drop(sender.send(work())));
    receiver
}

fn by<T>(work: &Receiver<T>, deadline: Instant) -> Option<T> {
    let left = deadline.saturating_duration_since(Instant::now());
    work.recv_timeout(left).ok()
}
