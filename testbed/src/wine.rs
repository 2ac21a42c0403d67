//! Programs for Windows under Wine: see `scripts/windows`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::bed::source;
use crate::table::Log;
use crate::{Client, Toolkit, until};

/// The programs under Wine: the server with the options `$2`, then the apps on the person's screen.
/// `$1` is the folder.
const SESSION: &str = r#"
  export DESKLINE_DIR="$1/journal" PYTHONPATH="Z:/out/qt"
  wine reg add 'HKCR\.py' /ve /d Python /f >&2
  wine reg add 'HKCR\Python\shell\open\command' /ve /d '"Z:\out\py\python.exe" "%1"' /f >&2
  (
    until [ -e "${1#Z:}/served" ]; do sleep 0.05; done
    wine py/python.exe "$1/qt6.py" "$1/log" &
    until grep -q ready "${1#Z:}/log"; do sleep 0.05; done
    [ -n "$2" ] || wine notepad
  ) </dev/null >&2 &
  wine deskline.exe serve $2
"#;

/// An app for the agent: Qt's test app, with a log of its own.
const OWN: &str = "import os, sys
sys.argv.append(os.path.dirname(__file__) + '/own')
import qt6
";

/// A server, and apps on the person's desktop. They end with this value.
#[derive(Debug)]
pub struct Wine {
    // The fields are dropped in this order.
    pub server: Client,
    folder: TempDir,
    out: PathBuf,
    /// The folder's path for programs under Wine.
    there: String,
}

impl Wine {
    /// Starts Qt's test app, the person's editor in front of it, and a server. `made` is the folder
    /// with the programs that `scripts/windows` has built.
    pub fn start(made: &Path) -> Self {
        Self::start_with(made, "")
    }

    /// Starts Qt's test app, as the person's, and a server with a private desktop.
    pub fn private(made: &Path) -> Self {
        Self::start_with(made, "--desktop=private")
    }

    fn start_with(made: &Path, options: &str) -> Self {
        let out = made.join("out");
        let folder = tempfile::tempdir_in(&out).unwrap();
        for file in ["log.py", Toolkit::Qt5.file(), Toolkit::Qt6.file()] {
            fs::copy(source("apps").join(file), folder.path().join(file)).unwrap();
        }
        fs::write(folder.path().join("own.py"), OWN).unwrap();
        // The script `run` mounts this folder at /out.
        let name = folder.path().file_name().unwrap().to_str().unwrap();
        let there = format!("Z:/out/{name}");
        let mut command = Command::new(source("windows/run"));
        command
            .arg(made.join("root"))
            .arg(&out)
            .args(["bash", "-c", SESSION, "session", &there, options])
            .stderr(File::create(folder.path().join("complaints")).unwrap());
        let server = Client::start_in(command, &there, folder.path());
        File::create(folder.path().join("served")).unwrap();
        let wine = Self {
            server,
            folder,
            out,
            there,
        };
        until("the test app", || {
            let log = wine.log("log");
            log.contains(&"ready".to_owned()).then_some(())
        });
        wine
    }

    /// The pid of an app whose line in `list_applications` has this text, once there is one.
    pub fn pid_of(&self, name: &str, state: &str) -> u32 {
        let start = format!("  {name} (PID: ");
        until(name, || {
            let apps = self.server.applications().ok().text;
            let mut lines = apps.lines().filter(|line| line.contains(state));
            let line = lines.find_map(|line| line.strip_prefix(&start))?;
            line.split_once(')')?.0.parse().ok()
        })
    }

    /// The agent's app, for `open_application_and_traverse`. Its log is `own`.
    pub fn own(&self) -> String {
        format!("{}/own.py", self.there)
    }

    /// The lines of an app's log: `log` is that of the app on the person's desktop.
    pub fn log(&self, name: &str) -> Vec<String> {
        let log = fs::read_to_string(self.folder.path().join(name)).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// The person's input: passes arguments to xdotool on the display of Wine.
    pub fn person(&self, arguments: &[&str]) {
        let file = |name| self.out.join(name);
        fs::write(file("hand.new"), arguments.join("\n") + "\n").unwrap();
        fs::rename(file("hand.new"), file("hand.do")).unwrap();
        until("the person's hand", || {
            fs::remove_file(file("hand.done")).ok()
        });
    }
}

impl Log for Wine {
    fn lines(&self) -> Vec<String> {
        self.log("log")
    }

    fn clear(&self) {
        let log = self.folder.path().join("log");
        let log = File::options().write(true).open(log);
        log.unwrap().set_len(0).unwrap();
    }
}
