//! Finds the names by which the system knows an app: a running process, or a command that has not
//! run yet. `--allow-app` and grants match these names only. They are real paths, and for files
//! that only root can write also base names and desktop-file ids. Any other name is a claim, which
//! can deny an app but never allow it.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use deskline_contract::Identity;
use deskline_unix::{flatpak, process};

use super::command::{Document, base_name, in_path};
use super::entry::Entry;
use super::installed::Installed;
use super::interpreters::{is_interpreter, script};
use super::origin::{OPENERS, Origin, command_line};
use super::trust::{file, is_roots, runs_flatpak};
use super::{Launch, path_of};
use crate::session::Session;

/// Programs that run another program, which their arguments or their environment names.
#[rustfmt::skip]
const WRAPPERS: [&str; 50] = [
    "busybox", "bwrap", "capsh", "chroot", "chrt", "dbus-launch", "dbus-run-session", "deskline",
    "doas", "env", "firejail", "flatpak", "flatpak-spawn", "flock", "gamemoderun", "gdb", "gmake",
    "ionice", "make", "nice", "ninja", "nohup", "nsenter", "parallel", "pkexec", "prlimit",
    "run-parts", "run0", "runuser", "script", "setarch", "setpriv", "setsid", "snap",
    "start-stop-daemon", "startx", "stdbuf", "strace", "su", "sudo", "systemd-run", "taskset",
    "time", "timeout", "unshare", "valgrind", "watch", "xargs", "xinit", "xvfb-run",
];

/// Programs that run a document which they are given: terminals, and loaders for programs of other
/// systems.
#[rustfmt::skip]
const RUNNERS: [&str; 13] = [
    "box64", "box86", "dosbox", "foot", "kitty", "koi8rxterm", "lxterm", "rxvt", "st", "urxvt",
    "uxterm", "wine", "xterm",
];

/// How long the list of installed apps is remembered.
const INSTALLED: Duration = Duration::from_secs(10);

/// The maximum number of processes to remember.
const MOST: usize = 256;

impl Launch {
    /// The names of the app to start. After this, exactly the judged programs are started: by their
    /// paths, and not over D-Bus, because a file in the home may decide what a bus starts.
    pub fn judge(&mut self, session: &Session) -> Identity {
        // If the command equals the `Exec` of an installed app, that app is judged.
        let entry = match &self.entry {
            Some(entry) => self.installed.then(|| entry.clone()),
            None => Installed::read(session).by_words(&self.argv).cloned(),
        };
        self.is_judged = true;
        let is_plain = self.is_plain(session);
        let programs = self.pin(session);
        let are_roots = || !programs.is_empty() && programs.iter().all(|p| is_roots(p, session));
        let trusted = entry.filter(|entry| is_roots(&entry.path, session) && are_roots());
        let mut identity = match (&trusted, programs.first()) {
            (Some(entry), _) => of_entry(entry, session),
            (None, Some(program)) => of_file(program, session),
            (None, None) => Identity::default(),
        };
        let words = self.entry.as_ref().map_or(&self.argv, |entry| &entry.exec);
        let claims = words.iter().flat_map(|word| claims_of(word, session));
        let names = self.entry.iter().flat_map(names_of_entry);
        identity.claims.extend(claims.chain(names));
        let document = self.document.as_ref();
        identity.is_command = match &trusted {
            Some(entry) => document.is_some_and(|document| !entry.opens(document, session)),
            None => !is_plain,
        };
        tidy(&mut identity.names);
        identity
    }

    /// Whether the command is a program, alone or with one document.
    fn is_plain(&self, session: &Session) -> bool {
        let is_document = |word: &str| {
            let path = path_of(word, session).map(Document::Path);
            let document = path.unwrap_or_else(|| Document::Uri(word.to_owned()));
            document.is_page()
        };
        match &self.argv[..] {
            [program] => !starts_others(program, session),
            [program, word] => {
                let starts = starts_others(program, session) || is_runner(program, session);
                !starts && is_document(word)
            }
            _ => false,
        }
    }

    /// Replaces the programs in the command by their paths, and returns the paths.
    fn pin(&mut self, session: &Session) -> Vec<PathBuf> {
        let program = self.entry.as_mut().map(|entry| {
            entry.dbus_activatable = false;
            entry.program().to_owned()
        });
        let mut words = self.argv.iter();
        let place = words.position(|word| Some(word) == program.as_ref());
        let pin = |at: usize| {
            let word = self.argv.get_mut(at)?;
            let path = in_path(word, session)?;
            let real = path.canonicalize().ok();
            let real = real.filter(|real| file(real) == file(&path))?;
            // Some programs act by the name that they are started with. So the link is kept, if
            // only root can change it.
            let path = Some(path).filter(|path| is_roots(path, session));
            let path = path.unwrap_or(real);
            *word = path.to_string_lossy().into_owned();
            Some(path)
        };
        let places = std::iter::once(0).chain(place);
        places.filter_map(pin).collect()
    }
}

impl Entry {
    /// Whether the app opens this document, and does not run it.
    fn opens(&self, document: &Document, session: &Session) -> bool {
        let base = base_name(self.program());
        let words = self.exec.iter();
        let words = words.skip_while(|word| *word != self.program()).skip(1);
        let words = words.filter(|word| !word.starts_with('%'));
        let words: Vec<String> = words.cloned().collect();
        let takes = |kind: &String| Some(kind.as_str()) == document.kind().as_deref();
        (document.is_page() || self.mime_types.iter().any(takes))
            && !is_runner(self.program(), session)
            && (!is_interpreter(base) || script(base, &words).is_some())
    }
}

/// Removes duplicates, and puts paths last, because they tell a person less.
fn tidy(names: &mut Vec<String>) {
    let mut seen = HashSet::new();
    names.retain(|name| !name.is_empty() && seen.insert(name.clone()));
    names.sort_by_key(|name| name.starts_with('/'));
}

fn names_of_entry(entry: &Entry) -> impl Iterator<Item = String> {
    let names = entry.names.iter().cloned();
    [entry.name.clone(), entry.id.clone()]
        .into_iter()
        .chain(names)
}

/// The identity of an app whose desktop file and program only root can write.
fn of_entry(entry: &Entry, session: &Session) -> Identity {
    let program = in_path(entry.program(), session);
    let program = program.filter(|_| !starts_others(entry.program(), session));
    let mut known = program.map_or_else(Identity::default, |path| of_file(&path, session));
    known.names.insert(0, entry.id.clone());
    known.key = Some(entry.id.clone());
    known
}

/// The identity of a program or script: its real path. If only root can write the file, also its
/// base name, and the path before links are resolved.
fn of_file(path: &Path, session: &Session) -> Identity {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let real_text = real.to_string_lossy().into_owned();
    let mut known = Identity::default();
    for place in [path, &real] {
        let text = place.to_string_lossy();
        let base = base_name(&text).to_owned();
        // A path with `..` may lead out of the folders that it names.
        let is_straight = !place.components().any(|part| part == Component::ParentDir);
        if is_straight && is_roots(place, session) {
            known.names.extend([base, text.into_owned()]);
        } else {
            known.claims.push(base);
        }
    }
    known.names.push(real_text.clone());
    known.key = Some(real_text);
    known
}

/// Whether a program runs other programs, which its arguments name.
fn starts_others(program: &str, session: &Session) -> bool {
    is_one_of(program, session, |base| {
        WRAPPERS.contains(&base) || OPENERS.contains(&base) || is_interpreter(base)
    })
}

/// Whether a program runs a document that it is given.
fn is_runner(program: &str, session: &Session) -> bool {
    is_one_of(program, session, |base| {
        let plain = base.trim_end_matches("-stable").trim_end_matches("64");
        RUNNERS.contains(&base) || RUNNERS.contains(&plain)
    })
}

/// Whether `is` accepts the base name of the program, or that of the file that the program links
/// to.
fn is_one_of(program: &str, session: &Session, is: impl Fn(&str) -> bool) -> bool {
    let real = in_path(program, session).and_then(|path| path.canonicalize().ok());
    let real = real.unwrap_or_default();
    is(base_name(program)) || is(base_name(&real.to_string_lossy()))
}

/// The names that a word of a command line may stand for: the word may be a command, or contain
/// commands.
fn claims_of(word: &str, session: &Session) -> Vec<String> {
    let plain = word.replace(['\'', '"', '\\'], "");
    let inside = plain.split(|c: char| !(c.is_alphanumeric() || "/._-+@".contains(c)));
    let words = inside.filter(|inside| !inside.is_empty()).take(64);
    let names = words.flat_map(|word| {
        let real = in_path(word, session).and_then(|path| path.canonicalize().ok());
        let real = real.map(|path| path.to_string_lossy().into_owned());
        [word.to_owned()].into_iter().chain(real)
    });
    names.map(|name| base_name(&name).to_owned()).collect()
}

/// The identities of processes, cached.
#[derive(Default)]
pub(crate) struct Identities {
    installed: Option<(Instant, Installed)>,
    known: HashMap<u32, Known>,
}

struct Known {
    /// The start time and the executable show whether another process has the pid now.
    started: u64,
    executable: Option<PathBuf>,
    app: Identity,
}

impl Identities {
    /// The system's names for a process. If the process has ended, the names that it had.
    pub(crate) fn known_as(&mut self, pid: u32, session: &Session) -> Identity {
        // The pid is from another pid namespace. In ours, another process may have it.
        if process::are_elsewhere() {
            return Identity::default();
        }
        let Some(process) = process::read(Path::new("/proc"), pid.cast_signed()) else {
            let known = self.known.get(&pid);
            return known.map_or_else(Identity::default, |known| known.app.clone());
        };
        let executable = fs::read_link(format!("/proc/{pid}/exe")).ok();
        let same = |known: &&Known| {
            known.started == process.started && (known.executable == executable || process.ended)
        };
        if let Some(known) = self.known.get(&pid).filter(same) {
            return known.app.clone();
        }
        let line = command_line(pid);
        let app = if let Some(path) = &executable {
            self.read(pid, path, &line, session)
        } else {
            // The process hides its executable. So only the process itself tells what it is.
            let base = base_name(line.first().map_or("", |w| w)).to_owned();
            Identity {
                claims: vec![process.comm, base],
                ..Identity::default()
            }
        };
        if line.is_empty() {
            // The program has just been started, and will soon have more names. So these are not
            // cached.
            return app;
        }
        if self.known.len() >= MOST {
            self.known.clear();
        }
        let known = Known {
            started: process.started,
            executable,
            app: app.clone(),
        };
        self.known.insert(pid, known);
        app
    }

    fn read(
        &mut self,
        pid: u32,
        executable: &Path,
        line: &[String],
        session: &Session,
    ) -> Identity {
        let path = executable.to_string_lossy();
        // The kernel appends ` (deleted)` if the file was replaced while the program runs.
        let path = Path::new(path.strip_suffix(" (deleted)").unwrap_or(&path));
        let mut app = of_file(path, session);
        let base = path.file_name().unwrap_or_default().to_string_lossy();
        let interpreted = is_interpreter(&base);
        if !is_here(pid, path) {
            // The paths of a sandbox mean something inside the sandbox only.
            let names = app.names.iter().map(|name| base_name(name).to_owned());
            app.claims.extend(names);
            (app.names, app.key) = (Vec::new(), None);
        } else if interpreted {
            // An interpreter is not an app: it may run any code in its arguments.
            let folder = PathBuf::from(format!("/proc/{pid}/cwd"));
            let script = line.get(1..).and_then(|line| script(&base, line));
            let script = script.and_then(|script| folder.join(script).canonicalize().ok());
            let script = script.map_or_else(Identity::default, |path| of_file(&path, session));
            app.names.extend(script.names);
            app.claims.extend(script.claims);
            app.key = script.key;
        }
        let flatpak = flatpak::id(pid);
        let is_flatpaks = |id| runs_flatpak(pid, id, (path, line), session);
        let is_flatpaks = flatpak.as_deref().is_some_and(is_flatpaks);
        let runs = app.key.as_deref().map_or(path, Path::new);
        let is_closed = !app.names.is_empty() && is_roots(runs, session);
        for entry in &self.installed(session).entries {
            let is_flatpak = flatpak.as_deref() == Some(&entry.id);
            let runs = || flatpak.is_none() && starts(entry, pid, interpreted, session);
            if !(is_flatpak || runs()) {
                continue;
            }
            app.claims.extend(names_of_entry(entry));
            let is_its = if is_flatpak { is_flatpaks } else { is_closed };
            if is_its && is_roots(&entry.path, session) {
                app.names.extend(of_entry(entry, session).names);
                app.key = flatpak.clone().or(app.key);
            }
        }
        app.claims.extend(flatpak);
        tidy(&mut app.names);
        tidy(&mut app.claims);
        app
    }

    fn installed(&mut self, session: &Session) -> &Installed {
        let is_fresh = |(since, _): &(Instant, _)| since.elapsed() < INSTALLED;
        let fresh = self.installed.take().filter(is_fresh);
        let read = || (Instant::now(), Installed::read(session));
        &self.installed.insert(fresh.unwrap_or_else(read)).1
    }
}

/// Whether `path`, the executable of a process, is the same file for us as for the process. In a
/// sandbox it may be another one.
fn is_here(pid: u32, path: &Path) -> bool {
    let space = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/mnt")).ok();
    let theirs = space(&pid.to_string());
    let running = file(Path::new(&format!("/proc/{pid}/exe")));
    theirs.is_some() && theirs == space("self") || running.is_some() && running == file(path)
}

/// Whether a process runs the program of this desktop file.
fn starts(entry: &Entry, pid: u32, interpreted: bool, session: &Session) -> bool {
    let name = entry.program();
    let base = base_name(name);
    let starts_others = WRAPPERS.contains(&base) || OPENERS.contains(&base);
    if starts_others || is_interpreter(base) && !interpreted {
        return false;
    }
    let Some(program) = in_path(name, session) else {
        return false;
    };
    let arguments = entry.exec.iter().skip_while(|word| *word != name).skip(1);
    let origin = Origin {
        program,
        arguments: arguments.cloned().collect(),
        ..Origin::default()
    };
    origin.is_same_program(pid)
}
