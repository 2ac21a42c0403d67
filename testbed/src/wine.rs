//! Programs for Windows under Wine: see `scripts/windows`.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use serde_json::json;
use tempfile::TempDir;

use crate::bed::source;
use crate::table::Log;
use crate::{Client, Toolkit, until};

/// What runs there, in the folder that is named by the first argument.
const SESSION: &str = r#"
  export DESKLINE_DIR="$1/journal" PYTHONPATH="Z:/out/qt"
  (
    wine py/python.exe "$1/qt6.py" "$1/log" &
    until grep -q ready "${1#Z:}/log"; do sleep 0.05; done
    wine notepad
  ) </dev/null >&2 &
  wine deskline.exe serve
"#;

/// Qt's test app with the person's editor in front of it, and a server. They end with this value.
#[derive(Debug)]
pub struct Wine {
    // Dropped in this order.
    pub server: Client,
    /// The pid of the test app.
    pub app: u32,
    /// The pid of the person's editor.
    pub person: u32,
    folder: TempDir,
}

impl Wine {
    /// Starts them from what `scripts/windows` has made in the folder `made`.
    pub fn start(made: &Path) -> Self {
        let out = made.join("out");
        let folder = tempfile::tempdir_in(&out).unwrap();
        for file in ["log.py", Toolkit::Qt5.file(), Toolkit::Qt6.file()] {
            fs::copy(source("apps").join(file), folder.path().join(file)).unwrap();
        }
        // `run` has this folder as /out.
        let name = folder.path().file_name().unwrap().to_str().unwrap();
        let there = format!("Z:/out/{name}");
        let complaints = folder.path().join("complaints");
        let mut command = Command::new(source("windows/run"));
        command
            .arg(made.join("root"))
            .arg(&out)
            .args(["bash", "-c", SESSION, "session", &there])
            .stderr(File::create(&complaints).unwrap());
        let server = Client::start_in(command, &there, folder.path());
        let pid_of = |name: &str, state: &str| {
            let start = format!("  {name} (PID: ");
            until(&format!("{name}: see {}", complaints.display()), || {
                let apps = server.call("list_applications", json!({})).ok().text;
                let mut lines = apps.lines().filter(|line| line.contains(state));
                let line = lines.find_map(|line| line.strip_prefix(&start))?;
                line.split_once(')')?.0.parse::<u32>().ok()
            })
        };
        let person = pid_of("notepad", ") front ");
        let app = pid_of("python", "");
        Self {
            server,
            app,
            person,
            folder,
        }
    }
}

/// The log of the test app.
impl Log for Wine {
    fn lines(&self) -> Vec<String> {
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap();
        log.lines().map(str::to_owned).collect()
    }

    fn clear(&self) {
        let log = File::options()
            .write(true)
            .open(self.folder.path().join("log"));
        log.unwrap().set_len(0).unwrap();
    }
}
