//! Runs a script in KWin and waits for its answer, which takes 4 to 9 ms. KWin lets every program
//! of the session run scripts.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use deskline_contract::{Error, Result};
use deskline_unix::wait;
use zbus::message::Header;

use super::bus::{Bus, PATIENCE, lost};
use crate::dbus::{Arguments, Reply};

/// Our D-Bus object that the scripts call with their answer.
const PATH: &str = "/org/deskline/Script";
const INTERFACE: &str = "org.deskline.Script";

/// How many tries may fail because KWin runs another program's script instead of ours, and how long
/// each of them waits for an answer.
const OTHERS: usize = 3;
const SOON: Duration = Duration::from_millis(300);

/// The size of the answer queue: answers that arrive after a timeout wait there to be discarded.
const ANSWERS: usize = 16;

/// Receives the answers. Ignores calls of other programs than KWin.
struct Answers {
    kwin: String,
    to: SyncSender<(String, String)>,
}

#[allow(clippy::needless_pass_by_value)] // The macro passes them by value.
#[zbus::interface(name = "org.deskline.Script")]
impl Answers {
    fn answer(&self, script: String, text: String, #[zbus(header)] header: Header<'_>) {
        if header
            .sender()
            .is_some_and(|sender| *sender == self.kwin.as_str())
        {
            let _ = self.to.try_send((script, text));
        }
    }
}

/// Runs scripts in KWin.
#[derive(Debug)]
pub(super) struct Scripts {
    bus: Bus,
    answers: Receiver<(String, String)>,
    /// A folder that only the user can write to.
    folder: PathBuf,
    number: u32,
}

impl Scripts {
    pub(super) fn new(bus: Bus, folder: &Path) -> Result<Self> {
        let (to, answers) = sync_channel(ANSWERS);
        let kwin = bus.kwin.clone();
        let server = bus.connection.object_server();
        server.at(PATH, Answers { kwin, to }).map_err(lost)?;
        drop(server);
        Ok(Self {
            bus,
            answers,
            folder: folder.to_owned(),
            number: 0,
        })
    }

    /// Runs a script, which answers by `say(text)`. The answer is a text, because a number could
    /// arrive as one of several D-Bus types. The script may run twice: KWin gives a script the
    /// number of scripts so far, so two programs may get the same number, and `run` may start the
    /// other program's script.
    pub(super) fn run(&mut self, script: &str) -> Result<String> {
        for _ in 0..OTHERS {
            match self.run_once(script, SOON) {
                Err(e) => tracing::debug!("a script was not run: {e}"),
                reply => return reply,
            }
        }
        self.run_once(script, PATIENCE)
    }

    fn run_once(&mut self, script: &str, limit: Duration) -> Result<String> {
        self.number = self.number.wrapping_add(1);
        let number = self.number;
        let name = format!("deskline-{}-{number}", std::process::id());
        let file = self.folder.join(format!("{name}.js"));
        let me = self.bus.connection.unique_name();
        let me = me.map(|name| name.as_str()).unwrap_or_default();
        let text = format!(
            "function say(text) {{ callDBus('{me}', '{PATH}', '{INTERFACE}', 'Answer', '{name}', \
            text); }}\n{script}"
        );
        let answer = write(&file, &text).and_then(|()| self.answer(&file, &name, limit));
        // Cleanup: ignore errors.
        let _ = self.scripting::<bool>("unloadScript", &name);
        let _ = fs::remove_file(&file);
        answer
    }

    fn scripting<R: Reply>(&self, member: &str, body: &impl Arguments) -> Result<R> {
        let interface = "org.kde.kwin.Scripting";
        self.bus.ask("/Scripting", interface, member, body)
    }

    fn answer(&self, file: &Path, name: &str, limit: Duration) -> Result<String> {
        let path = file.to_string_lossy();
        let id: i32 = self.scripting("loadScript", &(path.as_ref(), name))?;
        if id < 0 {
            return Err(lost("KWin does not load scripts"));
        }
        let run = |script: String| {
            let interface = "org.kde.kwin.Script";
            self.bus.ask::<()>(&script, interface, "run", &())
        };
        // The second path is Plasma 5's.
        run(format!("/Scripting/Script{id}")).or_else(|_| run(format!("/{id}")))?;
        let ours = |(script, answer): (String, String)| (script == name).then_some(answer);
        wait::received(&self.answers, limit, ours)
            .ok_or_else(|| lost(format!("a script gave no answer within {limit:?}")))
    }
}

fn write(file: &Path, text: &str) -> Result<()> {
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(Error::system("writing a script for KWin"))
}
