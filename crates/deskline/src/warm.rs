//! `deskline call --warm`: the call goes to a server that keeps running for later calls. So a call
//! takes little more than the tool's own time, and a private desktop outlives the call.
//!
//! The first call binds a socket in the journal's folder, which is this user's alone, and starts
//! the server with the socket as standard input, so that a call can connect before the server is
//! ready. A connection has one request and one answer, each a line of JSON; the line `started`
//! before the answer says that the call has begun.

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::hash::{Hash as _, Hasher as _};
use std::io::{self, BufRead as _, BufReader, ErrorKind, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use deskline_journal::Journal;
use deskline_link::{Cancel, Reason, wait};
use deskline_mcp::{Dispatcher, Nobody};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _};
use tokio::task::JoinSet;

use crate::cli::{Call, Object, Settings};
use crate::output::{Done, Fallible};
use crate::run::{Printed, RESTORE, dispatcher, in_runtime, stopped};

const STARTED: &str = "started";

/// How long another call may take to start a server or to end one, and how often to try the lock.
const LOCKED: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(5);

/// The variables that decide which desktop a server is on. A call uses a server only if all of them
/// are the same.
#[rustfmt::skip]
const ENVIRONMENT: [&str; 11] = [
    "DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "SWAYSOCK", "DBUS_SESSION_BUS_ADDRESS",
    "AT_SPI_BUS_ADDRESS", "XDG_RUNTIME_DIR", "XDG_SESSION_ID", "HOME", "XDG_STATE_HOME", "PATH",
];

#[derive(Serialize, Deserialize)]
struct Request {
    tool: String,
    arguments: Object,
    json: bool,
}

/// `deskline call --warm`.
pub(crate) fn call(settings: &Settings, call: Call) -> Done {
    let idle = call.warm.unwrap_or_default();
    let place = Place::new(settings, idle)?;
    let request = Request {
        tool: call.tool,
        arguments: call.arguments,
        json: call.json,
    };
    let request = serde_json::to_string(&request)?;
    // If a server ended without carrying out the call, it had just reached its idle limit: start
    // another.
    let printed = match place.ask(&request)? {
        Some(printed) => printed,
        None => place.ask(&request)?.ok_or_else(|| place.why_ended())?,
    };
    printed.show()
}

/// The files through which a server with these settings is reached.
struct Place {
    /// The path without its extension.
    path: PathBuf,
    arguments: Vec<OsString>,
}

impl Place {
    fn new(settings: &Settings, idle: Duration) -> Fallible<Self> {
        // Opening the journal for writing would prune it, which is the server's task.
        let journal = Journal::open_to_read(settings.folder()).or_else(|_| settings.journal())?;
        let mut arguments = settings.arguments();
        arguments.push("warm".into());
        arguments.push((idle.as_secs_f64() / 60.0).to_string().into());
        let program = env::current_exe()?;
        let mut key = DefaultHasher::new();
        (&arguments, &program, fs::metadata(&program)?.modified()?).hash(&mut key);
        ENVIRONMENT.map(env::var_os).hash(&mut key);
        let name = format!("warm-{:016x}", key.finish());
        Ok(Self {
            path: journal.path().join(name),
            arguments,
        })
    }

    fn file(&self, extension: &str) -> PathBuf {
        self.path.with_extension(extension)
    }

    /// Sends the request. `None` if the server ended before it began with the call.
    fn ask(&self, request: &str) -> Fallible<Option<Printed>> {
        let mut stream = self.connect()?;
        if writeln!(stream, "{request}").is_err() {
            return Ok(None);
        }
        let mut lines = BufReader::new(stream).lines();
        if !lines
            .next()
            .is_some_and(|line| line.is_ok_and(|line| line == STARTED))
        {
            return Ok(None);
        }
        let answer = lines.next().ok_or_else(|| self.why_ended())??;
        Ok(Some(serde_json::from_str(&answer)?))
    }

    /// Connects to the server, and starts one if there is none.
    fn connect(&self) -> Fallible<UnixStream> {
        let _lock = self.lock()?;
        let socket = self.file("sock");
        match UnixStream::connect(&socket) {
            Ok(stream) => return Ok(stream),
            // The server was killed, and has left its socket.
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                fs::remove_file(&socket)?;
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(format!("{}: {error}", socket.display()).into()),
        }
        let listener = UnixListener::bind(&socket).map_err(|error| {
            format!(
                "{}: {error}. Name a shorter folder with --dir",
                socket.display()
            )
        })?;
        let log = private(&self.file("log"))?;
        log.set_len(0)?;
        Command::new(env::current_exe()?)
            .args(&self.arguments)
            .arg(&self.path)
            .stdin(OwnedFd::from(listener))
            .stdout(Stdio::null())
            .stderr(log)
            // Ctrl+C in the terminal is meant for the call, not for the server.
            .process_group(0)
            .spawn()?;
        Ok(UnixStream::connect(&socket)?)
    }

    /// Prevents other processes from starting or ending a server until the lock is dropped.
    fn lock(&self) -> Fallible<File> {
        let path = self.file("lock");
        let lock = private(&path)?;
        let how = rustix::fs::FlockOperation::NonBlockingLockExclusive;
        let held = || Ok(rustix::fs::flock(&lock, how).ok());
        let held = wait::until(&Cancel::new(), LOCKED, LOOK, held)?;
        held.ok_or_else(|| format!("another process keeps {} locked: end it", path.display()))?;
        Ok(lock)
    }

    /// An error with the last line that the server wrote.
    fn why_ended(&self) -> String {
        let log = fs::read_to_string(self.file("log")).unwrap_or_default();
        let last = log.lines().last().unwrap_or_default();
        let last = last.strip_prefix("deskline: ").unwrap_or(last);
        format!("the server ended: {last}")
    }
}

/// Opens a file of this user's alone, to write.
fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(path)
}

/// The server behind the socket on standard input. Ends after `idle` without a call.
pub(crate) fn serve(settings: &Settings, idle: Duration, path: &Path) -> Done {
    let place = Place {
        path: path.to_owned(),
        arguments: vec![],
    };
    let listener = UnixListener::from(io::stdin().as_fd().try_clone_to_owned()?);
    listener.set_nonblocking(true)?;
    let (dispatcher, _open) = dispatcher(settings)?;
    let dispatcher = Arc::new(dispatcher);
    let done = in_runtime(async {
        let listener = tokio::net::UnixListener::from_std(listener)?;
        let stop = stopped()?;
        tokio::pin!(stop);
        let mut calls = JoinSet::new();
        loop {
            tokio::select! {
                () = &mut stop => break,
                stream = listener.accept() => {
                    let (stream, _) = stream?;
                    calls.spawn(answer(Arc::clone(&dispatcher), stream));
                }
                Some(_) = calls.join_next(), if !calls.is_empty() => {}
                () = tokio::time::sleep(idle), if calls.is_empty() => break,
            }
        }
        // A call that connects from now on starts another server.
        let lock = place.lock()?;
        let _ = fs::remove_file(place.file("sock"));
        drop(lock);
        dispatcher.stop(RESTORE).await;
        while calls.join_next().await.is_some() {}
        Ok(ExitCode::SUCCESS)
    });
    let _ = fs::remove_file(place.file("log"));
    done
}

/// Carries out the request of one connection. A client that leaves cancels its call.
async fn answer(dispatcher: Arc<Dispatcher>, stream: tokio::net::UnixStream) -> io::Result<()> {
    let (input, mut output) = stream.into_split();
    let mut lines = tokio::io::BufReader::new(input).lines();
    let Some(line) = lines.next_line().await? else {
        return Ok(());
    };
    let request: Request = serde_json::from_str(&line)?;
    output.write_all(format!("{STARTED}\n").as_bytes()).await?;
    let cancel = Cancel::new();
    let reply = dispatcher.call(&request.tool, &request.arguments, &cancel, &Nobody);
    tokio::pin!(reply);
    let reply = tokio::select! {
        reply = &mut reply => reply,
        _ = lines.next_line() => {
            cancel.cancel(Reason::Request);
            reply.await
        }
    };
    let printed = serde_json::to_string(&Printed::new(reply, request.json))? + "\n";
    output.write_all(printed.as_bytes()).await
}
