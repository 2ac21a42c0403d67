//! The desktop's portal, where Mutter's own names are closed to this program, as they are in a
//! sandbox. The person allows input once, in the portal's dialog; a token then opens each session
//! without one.
//!
//! Source: XDG Desktop Portal, `org.freedesktop.portal.RemoteDesktop`, version 2.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use deskline_link::{DisplayError, Error, Result};
use rustix::fs::{FlockOperation, flock};
use serde::Serialize;
use zbus::zvariant::{DynamicType, ObjectPath, OwnedValue, Value};

use super::bus::{Bus, On, Options, read};
use crate::eis::Eis;

const NAME: &str = "org.freedesktop.portal.Desktop";
const REMOTE: On<'static> = (
    NAME,
    "/org/freedesktop/portal/desktop",
    "org.freedesktop.portal.RemoteDesktop",
);
const REQUEST: &str = "org.freedesktop.portal.Request";
const SESSION: &str = "org.freedesktop.portal.Session";

/// The first version with an EIS socket and with tokens.
const VERSION: u32 = 2;

/// `types`: keyboard and pointer.
const DEVICES: u32 = 1 | 2;

/// `persist_mode`: until the person revokes it.
const UNTIL_REVOKED: u32 = 2;

/// How long the portal may take where it need not ask: 50 ms on an idle machine.
const OPENS: Duration = Duration::from_secs(3);

/// How long the person has for the dialog.
const ASKS: Duration = Duration::from_secs(60);

/// How often to look whether another Deskline is done with the token.
const LOOK: Duration = Duration::from_millis(10);

pub(super) const NOT_ALLOWED: &str = "the desktop's portal needs the user's permission for input. Run `deskline doctor --fix`: it opens the portal's dialog, in which the user allows remote interaction";

/// The portal, and the file of the token. A token is good for one session, which hands out the
/// next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Portal {
    token: PathBuf,
}

/// What a request answers, by name.
type Results = HashMap<String, OwnedValue>;

impl Portal {
    /// Looks for a portal that hands out EIS sockets.
    pub(crate) fn find(bus: &Bus, token: &Path) -> Result<Self> {
        let version = bus.property(REMOTE, "version")?;
        let version = u32::try_from(version).unwrap_or_default();
        if version < VERSION {
            return Err(Error::Unavailable(format!(
                "the desktop's portal has version {version} of its remote desktop, and input needs version {VERSION}"
            )));
        }
        Self::listen(bus)?;
        Ok(Self {
            token: token.to_owned(),
        })
    }

    /// Hears on this connection what requests answer.
    pub(crate) fn listen(bus: &Bus) -> Result<()> {
        bus.listen(NAME, REMOTE.1)
    }

    /// Whether the person has allowed input, as far as is known without asking.
    pub(crate) fn is_allowed(&self) -> bool {
        self.token.exists()
    }

    /// Starts a session without a dialog, and connects to its EIS socket. Returns the session's
    /// path too.
    pub(crate) fn open(&self, bus: &Bus) -> Result<(String, Eis)> {
        if !self.is_allowed() {
            return Err(Error::Unavailable(NOT_ALLOWED.into()));
        }
        self.start(bus, OPENS)
    }

    /// Asks the person, who has a minute, and keeps the token.
    pub(crate) fn ask(&self, bus: &Bus) -> Result<()> {
        let (session, _) = self.start(bus, ASKS)?;
        close(bus, &session);
        Ok(())
    }

    fn start(&self, bus: &Bus, patience: Duration) -> Result<(String, Eis)> {
        let _lock = self.lock()?;
        let session = create(bus)?;
        let eis = self.allow(bus, &session, patience).and_then(|()| {
            let body = (object(&session)?, Options::new());
            Eis::connect(bus.socket(REMOTE, "ConnectToEIS", &body)?)
        });
        if eis.is_err() {
            close(bus, &session);
        }
        Ok((session, eis?))
    }

    /// Names the devices and starts the session: with the token, if there is one, else with a
    /// dialog.
    fn allow(&self, bus: &Bus, session: &str, patience: Duration) -> Result<()> {
        let token = fs::read_to_string(&self.token).ok();
        let mut options = named();
        options.extend([
            ("types", Value::from(DEVICES)),
            ("persist_mode", Value::from(UNTIL_REVOKED)),
        ]);
        options.extend(token.map(|token| ("restore_token", Value::from(token))));
        request(bus, "SelectDevices", &(object(session)?, options), OPENS)?;
        let body = (object(session)?, "", named());
        let started = request(bus, "Start", &body, patience).and_then(token_for_next);
        if started.is_err() {
            // The token is used up, or revoked.
            let _ = fs::remove_file(&self.token);
        }
        self.keep(&started?)
    }

    /// Nobody else may read the token: it opens the keyboard.
    fn keep(&self, token: &str) -> Result<()> {
        let kept = || {
            let new = self.token.with_extension("new");
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(true).mode(0o600);
            options.open(&new)?.write_all(token.as_bytes())?;
            fs::rename(&new, &self.token)
        };
        kept().map_err(self.failed())
    }

    /// Waits until no other Deskline uses the token.
    fn lock(&self) -> Result<File> {
        let folder = self.token.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder).map_err(self.failed())?;
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let file = options.open(self.token.with_extension("lock"));
        let file = file.map_err(self.failed())?;
        let start = Instant::now();
        // Poll: flock has no timeout.
        while let Err(e) = flock(&file, FlockOperation::NonBlockingLockExclusive) {
            if start.elapsed() > OPENS {
                return Err(self.failed()(e.into()));
            }
            std::thread::sleep(LOOK);
        }
        Ok(file)
    }

    fn failed(&self) -> impl Fn(io::Error) -> Error {
        move |e| DisplayError::PermissionNotKept(self.token.clone(), e).into()
    }
}

/// A name that no other object of this process has.
fn unused() -> Value<'static> {
    static NAMES: AtomicU32 = AtomicU32::new(0);
    let number = NAMES.fetch_add(1, Ordering::Relaxed);
    Value::from(format!("deskline{number}"))
}

/// The options of a request, which has a name of its own: those without share one object.
fn named() -> Options<'static> {
    Options::from([("handle_token", unused())])
}

/// Creates a session. Its path.
fn create(bus: &Bus) -> Result<String> {
    let mut options = named();
    options.insert("session_handle_token", unused());
    let mut results = request(bus, "CreateSession", &(options,), OPENS)?;
    let session = results.remove("session_handle").map(String::try_from);
    session.and_then(std::result::Result::ok).ok_or_else(|| {
        Error::Unavailable("the desktop's portal made a session without a name".into())
    })
}

/// What `Start` gives for the next session, if it gives keyboard and pointer for this one.
fn token_for_next(mut results: Results) -> Result<String> {
    let devices = results.remove("devices").map(u32::try_from);
    if devices != Some(Ok(DEVICES)) {
        return Err(Error::Unavailable(
            "the desktop's portal gave no keyboard and no pointer: remote interaction was not allowed in its dialog".into(),
        ));
    }
    let token = results.remove("restore_token").map(String::try_from);
    token.and_then(std::result::Result::ok).ok_or_else(|| {
        Error::Unavailable(
            "the desktop's portal was not told to remember the permission, so it would ask for each call".into(),
        )
    })
}

/// Ends a session.
pub(crate) fn close(bus: &Bus, session: &str) {
    // One that the person has ended is gone.
    let _ = bus.tell((NAME, session, SESSION), "Close", &());
}

/// Calls a method that answers by a request's `Response`, and waits for that.
fn request<B>(bus: &Bus, method: &str, body: &B, patience: Duration) -> Result<Results>
where
    B: Serialize + DynamicType,
{
    let request = bus.make(REMOTE, method, body)?;
    let answer = bus.wait(NAME, &request, "Response", Instant::now() + patience);
    let Ok(answer) = answer else {
        // Ends the dialog.
        let _ = bus.tell((NAME, &request, REQUEST), "Close", &());
        return Err(DisplayError::PortalSilent(patience).into());
    };
    match read(&answer)? {
        (0_u32, results) => Ok(results),
        (1, _) => Err(Error::Unavailable(
            "the user refused in the dialog of the desktop's portal".into(),
        )),
        (code, _) => Err(DisplayError::PortalEnded(method.to_owned(), code).into()),
    }
}

fn object(path: &str) -> Result<ObjectPath<'_>> {
    ObjectPath::try_from(path).map_err(Error::system("reading the portal's answer"))
}
