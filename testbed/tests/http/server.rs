//! The server of a test, and the processes of its desktops.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use deskline_testbed::{PATIENCE, deskline, until};
use tempfile::TempDir;

use crate::TOKEN;

/// The server of a user who is not root, as sway 1.7 and pasta need it.
pub(crate) fn of_a_user() -> Command {
    let mut server = Command::new("unshare");
    let user = ["--user", "--map-user=1000", "--map-group=1000"];
    server.args(user).arg(deskline());
    server
}

/// A server over HTTP with its own home, and without a person's desktop.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) url: String,
    pub(crate) folder: TempDir,
    /// The lines of its standard error.
    pub(crate) log: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) fn start(options: &[&str]) -> Self {
        Self::at("127.0.0.1:0", options)
    }

    pub(crate) fn at(address: &str, options: &[&str]) -> Self {
        Self::with(address, options, &[])
    }

    /// A server with these variables.
    pub(crate) fn with(address: &str, options: &[&str], variables: &[(&str, &Path)]) -> Self {
        Self::of(Command::new(deskline()), address, options, variables)
    }

    /// A server that is started by this command.
    pub(crate) fn of(
        mut program: Command,
        address: &str,
        options: &[&str],
        variables: &[(&str, &Path)],
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut child = program
            .args(["serve", "--http", address])
            .args(options)
            .arg("--dir")
            .arg(folder.path().join("journal"))
            .env("DESKLINE_TOKEN", TOKEN)
            .env("HOME", folder.path())
            // Every process of this server has this mark in its environment, and no other process
            // has it.
            .env("SERVER_OF_TEST", folder.path())
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .envs(variables.iter().copied())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        let url = first
            .split(' ')
            .find(|word| word.starts_with("http://"))
            .unwrap();
        let url = url.trim_end_matches(';').to_owned();
        let log = Arc::new(Mutex::new(vec![first]));
        let logged = Arc::clone(&log);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                eprintln!("{line}");
                logged.lock().unwrap().push(line);
            }
        });
        Self {
            child,
            url,
            folder,
            log,
        }
    }

    pub(crate) fn port(&self) -> u16 {
        let (_, rest) = self.url.rsplit_once(':').unwrap();
        rest.split('/').next().unwrap().parse().unwrap()
    }

    /// The number of processes that it has started, and of their descendants.
    pub(crate) fn processes(&self) -> usize {
        self.folders_of_processes().len()
    }

    /// The folders in `/proc` of the processes with the mark, and of all in their namespaces.
    pub(crate) fn folders_of_processes(&self) -> Vec<PathBuf> {
        let mark = format!("SERVER_OF_TEST={}\0", self.folder.path().display());
        let has_it = |path: &Path| {
            let environment = fs::read(path.join("environ")).unwrap_or_default();
            String::from_utf8_lossy(&environment).contains(&mark)
        };
        let space = |path: &Path| fs::read_link(path.join("ns/pid")).ok();
        let all = fs::read_dir("/proc").unwrap().flatten();
        let all: Vec<PathBuf> = all.map(|process| process.path()).collect();
        let marked = all.iter().filter(|path| has_it(path));
        let mut spaces: Vec<_> = marked.filter_map(|path| space(path)).collect();
        let own = space(Path::new("/proc/self"));
        spaces.retain(|space| Some(space) != own.as_ref());
        let is_theirs = |path: &PathBuf| {
            has_it(path) || space(path).is_some_and(|space| spaces.contains(&space))
        };
        all.into_iter().filter(is_theirs).collect()
    }

    /// The file with this name in a desktop's own `/tmp`.
    pub(crate) fn file(&self, name: &str) -> Option<String> {
        let processes = self.folders_of_processes();
        let mut files = processes
            .iter()
            .map(|process| process.join("root/tmp").join(name));
        files.find_map(|file| fs::read_to_string(file).ok())
    }

    /// The processes of a program.
    pub(crate) fn running(&self, program: &str) -> Vec<u32> {
        let is_it = |folder: &PathBuf| {
            let name = fs::read_to_string(folder.join("comm"));
            name.is_ok_and(|name| name.trim() == program)
        };
        let folders = self.folders_of_processes().into_iter().filter(is_it);
        let pid = |folder: PathBuf| folder.file_name()?.to_str()?.parse().ok();
        folders.filter_map(pid).collect()
    }

    /// The journals of desktops.
    pub(crate) fn journals(&self) -> usize {
        let all = fs::read_dir(self.folder.path().join("journal/desktops"));
        all.map_or(0, Iterator::count)
    }

    /// The status of a request without a body.
    pub(crate) fn status(&self, head: &str) -> u16 {
        let answer = self.answer(head);
        answer[9..12].parse().unwrap()
    }

    /// The answer to a GET with the token, head and body.
    pub(crate) fn get(&self, path: &str) -> String {
        self.get_as(&format!("Bearer {TOKEN}"), path)
    }

    pub(crate) fn get_as(&self, credentials: &str, path: &str) -> String {
        let host = format!("Host: 127.0.0.1:{}", self.port());
        self.answer(&format!(
            "GET {path} HTTP/1.1\r\n{host}\r\nAuthorization: {credentials}"
        ))
    }

    /// Sends a request with the token, for a stream of events.
    pub(crate) fn send(&self, head: &str, body: &str) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port())).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let accept = "Accept: application/json, text/event-stream";
        let host = format!("Host: 127.0.0.1:{}", self.port());
        let head = format!(
            "{}\r\n{host}\r\n{accept}\r\nAuthorization: Bearer {TOKEN}",
            head.trim()
        );
        write!(stream, "{head}\r\n\r\n{body}").unwrap();
        BufReader::new(stream)
    }

    pub(crate) fn answer(&self, head: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port())).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        write!(stream, "{head}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

/// Kills the only process of a program.
pub(crate) fn kill(pids: &[u32]) {
    let [pid] = pids else { panic!("{pids:?}") };
    let done = Command::new("kill").args(["-9", &pid.to_string()]).status();
    assert!(done.unwrap().success());
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // If the folder were removed before its processes end, they would leave files.
        until("its processes to end", || self.processes() == 0);
    }
}
