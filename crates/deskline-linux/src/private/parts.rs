//! Starts the programs of a private desktop, each as soon as the programs that it needs answer.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use deskline_contract::{Cancel, Error, Result};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::options::Options;
use super::programs::Programs;
use deskline_atspi::accessibility_bus;
use deskline_atspi::bus::{Body, Call, Connection};
use deskline_unix::{spawn, wait};
use deskline_x11::{X11, xauth};

use crate::packages::{self, Package};
use crate::session::environment::VNC_SOCKET;
use crate::session::{Environment, socket};

/// The lowest display number to use. Lower ones are left to people: `startx` takes `:0` if there is
/// no lock file, and an X server with `-displayfd` writes none.
const FIRST_DISPLAY: u16 = 1_000;

/// The names of the programs, for errors and for the files with their standard error.
const X_SERVER: &str = "X server";
const COMPOSITOR: &str = "compositor";
const VNC_SERVER: &str = "VNC server";
const BUS: &str = "session bus";
const WINDOW_MANAGER: &str = "window manager";

/// The programs that were started, with their names, in the order of their start.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) children: Vec<(&'static str, Child)>,
    directory: PathBuf,
    deadline: Instant,
    tied: bool,
    /// The programs' environment, with the addresses of the programs that already run.
    pub(super) variables: Environment,
}

impl Parts {
    /// The parts of the desktop with this directory, none of them started. All parts must be up at
    /// `deadline`. If `tied`, the programs end when the thread that starts them ends.
    pub(super) fn new(
        directory: &Path,
        deadline: Instant,
        tied: bool,
        variables: Environment,
    ) -> Self {
        Self {
            children: vec![],
            directory: directory.to_owned(),
            deadline,
            tied,
            variables,
        }
    }

    /// Starts all programs, and adds their addresses to the variables.
    pub(super) fn start(&mut self, programs: &Programs, options: &Options) -> Result<()> {
        if options.wayland {
            let name = self.start_compositor(programs, options)?;
            self.variables.insert("WAYLAND_DISPLAY".to_owned(), name);
        } else {
            let display = self.start_x_server(programs, options)?;
            self.variables
                .insert("DISPLAY".to_owned(), format!(":{display}"));
        }
        let address = self.start_bus(programs)?;
        self.variables
            .insert("DBUS_SESSION_BUS_ADDRESS".to_owned(), address.clone());
        if let Some(beside) = &programs.beside {
            self.start_beside(beside, options)?;
        }
        let failed = Error::system("connecting to the private desktop's session bus");
        let mut bus = Connection::open(&address, self.left()).map_err(failed)?;
        // AT_SPI_BUS_ADDRESS is not set: apps ask the session bus for the address, and with the
        // variable Qt 6 stays off the accessibility bus.
        enable_accessibility(&mut bus, self.left())?;
        if options.wayland {
            self.wait_for_vnc_server(options)?;
        } else {
            let mut x11 = X11::connect(&self.variables["DISPLAY"], Some(&self.cookie()))?;
            self.wait_for_window_manager(&mut x11)?;
            if !options.watch {
                x11.mark_private()?;
            }
        }
        start_portal(&mut bus);
        Ok(())
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    fn cookie(&self) -> PathBuf {
        self.directory.join("Xauthority")
    }

    fn start_x_server(&mut self, programs: &Programs, options: &Options) -> Result<u16> {
        // Other users can reach the socket in /tmp/.X11-unix. Only the cookie keeps them out.
        let cookie = self.cookie();
        let write = || -> std::io::Result<()> {
            let mut random = [0; 16];
            File::open("/dev/urandom")?.read_exact(&mut random)?;
            let mut options = File::options();
            let mut file = options
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&cookie)?;
            file.write_all(&xauth::for_any_display(random))
        };
        write().map_err(Error::system("writing the private desktop's X cookie"))?;
        // The first number comes from the process id, so that desktops that start at the same time
        // differ.
        let first = FIRST_DISPLAY + (std::process::id() % 5_000) as u16;
        let mut taken = None;
        for number in first..first + 100 {
            let Some(_reserved) = reserve(number) else {
                continue;
            };
            let command = x_server(programs, options, number, &self.directory, &cookie);
            self.spawn(X_SERVER, command)?;
            match self.first_line(X_SERVER) {
                Ok(_) => return Ok(number),
                // Another server was first. The next number is tried; after any other failure that
                // would not help.
                Err(e) if self.stderr_of(X_SERVER).contains("listening sockets") => {
                    taken = Some(e);
                }
                Err(e) => return Err(e),
            }
            self.children.clear();
        }
        Err(taken.unwrap_or_else(|| Error::Unavailable("no display number is free".to_owned())))
    }

    /// Starts the compositor, and returns the name of its socket. Its configuration has a command
    /// that prints the name once the socket is there.
    fn start_compositor(&mut self, programs: &Programs, options: &Options) -> Result<String> {
        let file = self.directory.join("sway.conf");
        fs::write(&file, sway(options)).map_err(Error::system("writing sway's configuration"))?;
        let mut command = Command::new(&programs.display);
        command.arg("--config").arg(file);
        self.spawn(COMPOSITOR, command)?;
        self.first_line(COMPOSITOR)
    }

    fn start_bus(&mut self, programs: &Programs) -> Result<String> {
        let socket = self.directory.join("run/bus");
        let mut command = Command::new(&programs.bus);
        command.args(["--session", "--nofork", "--nopidfile", "--nosyslog"]);
        command.arg("--print-address=1");
        command.arg(format!("--address=unix:path={}", socket.display()));
        self.spawn(BUS, command)?;
        self.first_line(BUS)
    }

    /// Starts X11's window manager, or Wayland's VNC server.
    fn start_beside(&mut self, program: &Path, options: &Options) -> Result<()> {
        let mut command = Command::new(program);
        if options.wayland {
            let socket = self.directory.join(VNC_SOCKET);
            command.arg("--unix-socket").arg(socket);
            return self.spawn(VNC_SERVER, command);
        }
        command.arg("--compositor=off");
        self.spawn(WINDOW_MANAGER, command)
    }

    /// Waits for the VNC server's socket, which nothing announces.
    fn wait_for_vnc_server(&mut self, options: &Options) -> Result<()> {
        let (left, often) = (self.left(), Duration::from_millis(10));
        let is_there = || {
            self.check(VNC_SERVER)?;
            Ok(!options.watch || self.directory.join(VNC_SOCKET).exists())
        };
        deskline_contract::wait::holds(&Cancel::new(), left, often, is_there)?;
        self.check(VNC_SERVER)
    }

    fn wait_for_window_manager(&mut self, x11: &mut X11) -> Result<()> {
        // The wait ends now and then, to check that the program still runs.
        while !x11.manager_is_ready(self.left().min(Duration::from_millis(200)))? {
            self.check(WINDOW_MANAGER)?;
        }
        Ok(())
    }

    /// Starts a program with exactly these variables as its environment. Its standard error goes to
    /// a file in the desktop's directory.
    fn spawn(&mut self, name: &'static str, mut command: Command) -> Result<()> {
        let program = PathBuf::from(command.get_program());
        let failed = |e| Error::Unavailable(format!("cannot start {}: {e}", program.display()));
        let log = File::create(self.directory.join(name)).map_err(failed)?;
        command.env_clear().envs(&self.variables).current_dir("/");
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(log);
        if self.tied {
            spawn::tied_to_us(&mut command);
        } else {
            spawn::own_session(&mut command);
        }
        self.children.push((name, command.spawn().map_err(failed)?));
        Ok(())
    }

    /// The line that the last started program prints when it is ready.
    fn first_line(&mut self, name: &'static str) -> Result<String> {
        let deadline = self.deadline;
        let Some((_, child)) = self.children.last_mut() else {
            return Err(self.failed(name, "was not started"));
        };
        let out = child.stdout.take();
        match out.map(|mut out| read_line(&mut out, deadline)) {
            Some(Ok(line)) if !line.is_empty() => return Ok(line),
            // A program that has closed its output is about to end. Its end is awaited, to report
            // how it ended.
            Some(Ok(_)) => {
                if let Ok(process) = pidfd_open(Pid::from_child(child), PidfdFlags::empty()) {
                    let ended = wait::readable(process, self.left());
                    ended.map_err(Error::system("waiting for a program"))?;
                }
            }
            _ => {}
        }
        self.check(name)?;
        Err(self.failed(name, "did not report that it is ready"))
    }

    /// Fails if the program has ended or the time is up.
    fn check(&mut self, name: &'static str) -> Result<()> {
        for (_, child) in self.children.iter_mut().filter(|(n, _)| *n == name) {
            if let Ok(Some(status)) = child.try_wait() {
                return Err(self.failed(name, &format!("ended ({status})")));
            }
        }
        if self.left().is_zero() {
            return Err(self.failed(name, "is not ready in time"));
        }
        Ok(())
    }

    /// An error with the last lines of the program's standard error.
    fn failed(&self, name: &str, how: &str) -> Error {
        let log = self.stderr_of(name);
        let mut lines: Vec<_> = log.lines().filter(|line| !line.trim().is_empty()).collect();
        let said = match lines.split_off(lines.len().saturating_sub(3)).join(" / ") {
            said if said.is_empty() => "nothing".to_owned(),
            said => said,
        };
        Error::Unavailable(format!(
            "the private desktop's {name} {how}. It wrote: {said}"
        ))
    }

    /// The program's standard error.
    fn stderr_of(&self, name: &str) -> String {
        let log = fs::read(self.directory.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&log).into_owned()
    }
}

/// Reads up to the end of the line or the stream, and no byte more.
pub(super) fn read_line(out: &mut ChildStdout, deadline: Instant) -> Result<String> {
    let mut line = vec![];
    let mut out = BufReader::with_capacity(1, wait::Until(out, deadline)).take(1 << 16);
    let read = out.read_until(b'\n', &mut line);
    read.map_err(|e| match e.kind() {
        ErrorKind::TimedOut => Error::Unavailable("no answer in time".to_owned()),
        _ => Error::system("reading a program's answer")(e),
    })?;
    Ok(String::from_utf8_lossy(&line).trim().to_owned())
}

/// Reserves a display number that no other server has. An X server with `-displayfd` writes no lock
/// file, and would take over the socket of another one that starts with the same number. So the
/// abstract socket of the number stays bound until our server listens. If it is bound already, the
/// number is another server's: X clients try the abstract socket first.
fn reserve(number: u16) -> Option<UnixListener> {
    let socket = socket_of(number);
    let name = SocketAddr::from_abstract_name(&socket).ok()?;
    let reserved = UnixListener::bind_addr(&name).ok()?;
    (!Path::new(&socket).exists()).then_some(reserved)
}

/// The X server for display `number`. It prints a line on standard output when it is ready.
fn x_server(
    programs: &Programs,
    options: &Options,
    number: u16,
    directory: &Path,
    cookie: &Path,
) -> Command {
    let Options { width, height, .. } = options;
    let mut command = Command::new(&programs.display);
    command.arg(format!(":{number}"));
    if options.watch {
        let geometry = format!("{width}x{height}");
        command.args(["-depth", "24", "-geometry", &geometry]);
        // VNC gets a socket file in our own directory, because every user of this host could
        // connect to TCP.
        command.args(["-rfbport", "-1", "-SecurityTypes", "None", "-AlwaysShared"]);
        command.arg("-rfbunixpath").arg(directory.join(VNC_SOCKET));
    } else {
        command.args(["-screen", "0", &format!("{width}x{height}x24")]);
    }
    // "local" is the abstract socket, which no file mode protects. The socket file, "unix", stays.
    command.args(["-displayfd", "1", "-nolisten", "tcp", "-nolisten", "local"]);
    command.args(["-noreset", "-auth"]).arg(cookie);
    command
}

/// The configuration of sway. Windows keep their own size, as on X11. A window gets the keyboard
/// when it opens, is clicked or is raised, not when the pointer passes. Xwayland is off: it would
/// listen on an abstract socket without a cookie.
fn sway(options: &Options) -> String {
    let Options { width, height, .. } = options;
    format!(
        "xwayland disable\noutput * resolution {width}x{height} position 0 0\n\
         default_border none\ndefault_floating_border none\n\
         for_window [app_id=\".*\"] floating enable\nfocus_follows_mouse no\n\
         mouse_warping none\nfocus_on_window_activation focus\nswaynag_command -\n\
         exec echo $WAYLAND_DISPLAY\n"
    )
}

fn socket_of(display: u16) -> String {
    format!("/tmp/.X11-unix/X{display}")
}

/// Starts the accessibility bus by requesting its address, and turns accessibility on.
fn enable_accessibility(bus: &mut Connection, time: Duration) -> Result<()> {
    accessibility_bus::address_on(bus, time).map_err(|e| {
        Error::Unavailable(format!(
            "the accessibility bus does not start ({e}). As root: {}",
            packages::install(&[Package::AtSpi])
        ))
    })?;
    accessibility_bus::enable_on(bus, time)
}

/// Starts the portal if it is installed, so that the file and print dialogs that apps request from
/// it are windows of this desktop. Does not wait for it: apps can start without it.
fn start_portal(bus: &mut Connection) {
    let body = Body::new().str("org.freedesktop.portal.Desktop").u32(0);
    bus.send(0, &Call::to_bus("StartServiceByName", body));
    drop(bus.next_reply(Instant::now()));
}

/// Removes the socket of display `number`, if its server was killed and could not do so, and no
/// other server has the number.
pub(super) fn remove_socket(number: u16) {
    let path = socket_of(number);
    if socket::is_dead(Path::new(&path)) {
        let _ = fs::remove_file(path);
    }
}
