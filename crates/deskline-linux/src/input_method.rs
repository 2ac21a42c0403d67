//! Switches the person's input method to direct input while the agent's keys go in, and back.
//!
//! An input method gets keys before the app: with Pinyin on, `hello world` becomes 合理咯. IBus has
//! one engine for all apps, on a bus of its own. Fcitx 5 has a state for each input field, on the
//! session bus. Both handle keys in order. So once the app and the input method are idle, the input
//! method is switched on again. Where Fcitx gets its keys from KWin, KWin withholds them instead
//! (`deskline-wayland/src/kde/input_method.rs`).
//!
//! A file in the runtime directory records that an input method is off: if this process is killed
//! meanwhile, the next process switches the input method on again.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deskline_atspi::bus::{self, Body, Call, Connection, Message, WireError};
use deskline_unix::family::{self, Family};
use deskline_unix::process;
use deskline_wayland::KWINS_INPUT_METHOD as KWINS;

use crate::session::{Session, socket};

/// How long an input method may take to answer.
const ANSWERS: Duration = Duration::from_millis(500);

/// How long app and input method may take to handle the last keys.
const HANDLES: Duration = Duration::from_millis(500);

/// The engine of IBus that passes keys through. It does not change the keyboard layout.
const DIRECT: &str = "xkb:us::eng";

/// The prefix of the names of engines that pass keys through.
const LAYOUTS: &str = "xkb:";

const IBUS: &str = "org.freedesktop.IBus";
const IBUS_PATH: &str = "/org/freedesktop/IBus";
const FCITX: &str = "org.fcitx.Fcitx5";

/// The `State` of Fcitx's controller in which Fcitx takes keys.
const ACTIVE: i32 = 2;

/// An active input method.
#[derive(Debug, Clone, PartialEq, Eq)]
enum On {
    /// The engine's name.
    Ibus(String),
    Fcitx,
}

impl On {
    fn to_line(&self) -> String {
        match self {
            Self::Ibus(engine) => format!("ibus {engine}"),
            Self::Fcitx => "fcitx5".into(),
        }
    }

    fn of_line(line: &str) -> Option<Self> {
        match line.split_once(' ') {
            Some(("ibus", engine)) => Some(Self::Ibus(engine.to_owned())),
            None if line == "fcitx5" => Some(Self::Fcitx),
            _ => None,
        }
    }
}

/// The session's input methods. Each call to an input method waits at most [`ANSWERS`].
#[derive(Debug)]
pub(crate) struct InputMethods {
    uid: u32,
    ibus: Ibus,
    session_bus: Option<String>,
    /// The connection to the session bus, for Fcitx and KWin. Made once.
    bus: Option<Connection>,
    /// The file that records the input method that is switched off.
    record: Option<PathBuf>,
}

/// The session's IBus: the files in which it records its address, and the connection to it.
#[derive(Debug)]
struct Ibus {
    folder: Option<PathBuf>,
    /// The suffixes of the files' names, one for each display that the session has.
    files: Vec<String>,
    bus: Option<(Connection, u32)>,
}

impl InputMethods {
    /// The input methods of a session. If a process was killed and has left one off, it is switched
    /// on.
    pub(crate) fn new(session: &Session) -> Self {
        let config = session.folder("XDG_CONFIG_HOME", ".config");
        let number = session.display.as_deref().and_then(|display| {
            let (_, number) = display.rsplit_once(':')?;
            number.split('.').next()
        });
        let displays = number.into_iter().chain(session.wayland_display.as_deref());
        let record = session.runtime_dir.as_ref();
        let mut methods = Self {
            uid: rustix::process::getuid().as_raw(),
            ibus: Ibus {
                folder: config.map(|config| config.join("ibus/bus")),
                files: displays.map(|display| format!("-unix-{display}")).collect(),
                bus: None,
            },
            session_bus: session.session_bus.clone(),
            bus: None,
            record: record.map(|folder| folder.join("deskline-input-method")),
        };
        methods.recover();
        methods
    }

    /// Switches an active input method to direct input, until the result is dropped. `app` is the
    /// process that the keys are for.
    pub(crate) fn direct(&mut self, app: Option<u32>) -> Direct<'_> {
        let was = self.on();
        if let Some(on) = &was {
            self.note(on);
            if let Err(error) = self.switch_off(on) {
                tracing::warn!(%error, "the input method stays on");
            }
        }
        Direct {
            methods: self,
            was,
            app,
        }
    }

    fn on(&mut self) -> Option<On> {
        let engine = self.engine().filter(|engine| !engine.starts_with(LAYOUTS));
        if let Some(engine) = engine {
            return Some(On::Ibus(engine));
        }
        let state = self.fcitx("State").ok().flatten()?;
        let is_on = state.reader().i32() == Ok(ACTIVE);
        (is_on && !self.gets_keys_from_kwin()).then_some(On::Fcitx)
    }

    fn switch_off(&mut self, on: &On) -> Result<(), bus::Error> {
        match on {
            On::Ibus(_) => self.set_engine(DIRECT),
            On::Fcitx => self.fcitx("Deactivate").map(drop),
        }
    }

    /// Switches `was` on again, unless the person has chosen another engine of IBus meanwhile.
    fn switch_on(&mut self, was: &On) -> Result<(), bus::Error> {
        match was {
            On::Ibus(engine) if self.engine().as_deref() == Some(DIRECT) => self.set_engine(engine),
            On::Ibus(_) => Ok(()),
            On::Fcitx => self.fcitx("Activate").map(drop),
        }
    }

    /// The engine of IBus that takes keys now. `None` if there is no IBus.
    fn engine(&mut self) -> Option<String> {
        let call = Call::get(IBUS, IBUS_PATH, IBUS, "GlobalEngine");
        let answer = self.ibus.bus(self.uid)?.call(&call, ANSWERS);
        if matches!(answer, Err(bus::Error::Io(_) | bus::Error::Timeout)) {
            self.ibus.bus = None;
        }
        engine_name(&answer.ok()?).ok()
    }

    fn set_engine(&mut self, engine: &str) -> Result<(), bus::Error> {
        let body = Body::new().str(engine);
        let call = Call::new(IBUS, IBUS_PATH, IBUS, "SetGlobalEngine", body);
        let bus = self.ibus.bus(self.uid);
        bus.map_or(Ok(()), |bus| bus.call(&call, ANSWERS).map(drop))
    }

    /// Calls Fcitx's controller. `None` if there is no Fcitx.
    fn fcitx(&mut self, member: &str) -> Result<Option<Message>, bus::Error> {
        let interface = "org.fcitx.Fcitx.Controller1";
        let call = Call::new(FCITX, "/controller", interface, member, Body::new());
        self.ask(FCITX, &call)
    }

    fn gets_keys_from_kwin(&mut self) -> bool {
        let (name, path, interface) = KWINS;
        let active = self.ask(name, &Call::get(name, path, interface, "active"));
        active.is_ok_and(|active| active.is_some_and(|active| is_true(&active)))
    }

    /// Calls a program on the session bus. `None` if the program does not run: it is not called,
    /// because the call would start it.
    fn ask(&mut self, name: &str, call: &Call<'_>) -> Result<Option<Message>, bus::Error> {
        let Some(address) = &self.session_bus else {
            return Ok(None);
        };
        let bus = deskline_contract::kept(&mut self.bus, || Connection::open(address, ANSWERS))?;
        let asked = Call::to_bus("NameHasOwner", Body::new().str(name));
        let answer = match bus.call(&asked, ANSWERS) {
            Ok(answer) if answer.reader().u32() != Ok(1) => return Ok(None),
            Ok(_) => bus.call(call, ANSWERS),
            Err(error) => Err(error),
        };
        if matches!(answer, Err(bus::Error::Io(_) | bus::Error::Timeout)) {
            self.bus = None;
        }
        answer.map(Some)
    }

    fn note(&self, on: &On) {
        let Some(record) = &self.record else {
            return;
        };
        let text = format!("{}\n{}\n", std::process::id(), on.to_line());
        if let Err(error) = fs::write(record, text) {
            tracing::debug!(%error, "the input method is not recorded");
        }
    }

    fn forget(&self) {
        if let Some(record) = &self.record {
            // A file that stays does no harm, because it is ignored while the process in it runs.
            let _ = fs::remove_file(record);
        }
    }

    fn recover(&mut self) {
        let record = self.record.as_ref().map(fs::read_to_string);
        let Some(Ok(record)) = record else {
            return;
        };
        let mut lines = record.lines();
        let pid = lines.next().and_then(|line| line.parse::<u32>().ok());
        let on = lines.next().and_then(On::of_line);
        if pid.is_some_and(|pid| pid != std::process::id() && process::runs(pid)) {
            return;
        }
        if let Some(Err(error)) = on.map(|on| self.switch_on(&on)) {
            tracing::warn!(%error, "the input method stays off");
        }
        self.forget();
    }
}

impl Ibus {
    /// The connection to the IBus of this display.
    fn bus(&mut self, uid: u32) -> Option<&mut Connection> {
        if self.bus.is_none() {
            self.bus = self.connect(uid);
        }
        self.bus.as_mut().map(|(bus, _)| bus)
    }

    fn connect(&self, uid: u32) -> Option<(Connection, u32)> {
        let entries = fs::read_dir(self.folder.as_ref()?).ok()?;
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let ours = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| self.files.iter().any(|end| name.ends_with(end)))
        };
        paths.filter(ours).find_map(|path| {
            let (address, pid) = address_in(&path)?;
            // A daemon that has ended leaves its file behind.
            if !socket::bus_answers(&address, uid) {
                return None;
            }
            let bus = Connection::open(&address, ANSWERS);
            let bus = bus.inspect_err(|error| tracing::debug!(%error, "IBus does not answer"));
            Some((bus.ok()?, pid))
        })
    }
}

/// The bus's address and the daemon's pid, from a file that IBus has written.
fn address_in(path: &Path) -> Option<(String, u32)> {
    let text = fs::read_to_string(path).ok()?;
    let value = |name| text.lines().find_map(|line| line.strip_prefix(name));
    let pid = value("IBUS_DAEMON_PID=")?.trim().parse().ok()?;
    Some((value("IBUS_ADDRESS=")?.trim().to_owned(), pid))
}

/// The name in a serialized `IBusEngineDesc`, `(sa{sv}s…)`, in a variant in a variant.
fn engine_name(answer: &Message) -> Result<String, WireError> {
    let mut reader = answer.reader();
    while reader.signature()? == "v" {}
    reader.align(8)?;
    reader.str()?;
    // Skip the list of the engine's attachments, which is empty.
    reader.array(8, |_| Err::<(), _>(WireError))?;
    reader.str().map(str::to_owned)
}

/// Whether the answer is `true`, in a variant.
fn is_true(answer: &Message) -> bool {
    let mut reader = answer.reader();
    reader.signature() == Ok("b") && reader.u32() == Ok(1)
}

/// Keeps direct input on until this is dropped.
pub(crate) struct Direct<'m> {
    methods: &'m mut InputMethods,
    was: Option<On>,
    app: Option<u32>,
}

impl Drop for Direct<'_> {
    fn drop(&mut self) {
        let Some(was) = self.was.take() else {
            return;
        };
        let daemon = self.methods.ibus.bus.as_ref().map(|(_, pid)| *pid);
        let pids = self.app.into_iter().chain(daemon);
        let families: Vec<Family> = pids.map(Family::new).collect();
        family::await_sleep(&families, HANDLES);
        if let Err(error) = self.methods.switch_on(&was) {
            tracing::warn!(%error, "the input method stays off");
        }
        self.methods.forget();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_of_an_input_method_reads_back() {
        for on in [On::Ibus("libpinyin".into()), On::Fcitx] {
            assert_eq!(On::of_line(&on.to_line()), Some(on));
        }
        assert_eq!(On::of_line("nonsense"), None);
    }

    #[test]
    fn a_session_without_an_input_method_has_none_to_switch() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_str().unwrap().to_owned();
        let environment = [("HOME".to_owned(), home)].into_iter().collect();
        let mut methods = InputMethods::new(&Session::from_environment(&environment));
        assert_eq!(methods.direct(None).was, None);
    }

    #[test]
    fn the_address_file_of_an_ended_ibus_daemon_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("id-unix-7");
        let text = "# IBus\nIBUS_ADDRESS=unix:path=/nowhere,guid=1\nIBUS_DAEMON_PID=999999999\n";
        fs::write(&file, text).unwrap();
        let read = address_in(&file).unwrap();
        assert_eq!(read, ("unix:path=/nowhere,guid=1".to_owned(), 999_999_999));
        let ibus = Ibus {
            folder: Some(folder.path().to_owned()),
            files: vec!["-unix-7".into()],
            bus: None,
        };
        assert!(ibus.connect(0).is_none());
    }
}
