//! Finds the names by which the system knows an app: a running process, or a command before it
//! runs. `--allow-app` and `--deny-app` go by these, and never by an app's own name for itself.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use deskline_link::Identity;
use deskline_unix::{flatpak, process};

use super::command::{base_name, in_path};
use super::entry::Entry;
use super::installed::Installed;
use super::origin::{OPENERS, Origin};
use super::running::is_interpreter;
use super::{Launch, find};
use crate::session::Session;

/// Programs that run the command in their arguments, and nothing else.
const WRAPPERS: [&str; 8] = [
    "env",
    "nohup",
    "setsid",
    "nice",
    "ionice",
    "stdbuf",
    "dbus-run-session",
    "dbus-launch",
];

/// Programs that start an installed app by its id, after this word.
const LAUNCHERS: [(&str, &str); 2] = [("flatpak", "run"), ("snap", "run")];

/// Options of interpreters that take no value and do not replace the script.
const HARMLESS: [&str; 7] = ["-u", "-B", "-E", "-s", "-O", "-I", "-w"];

/// How deep wrappers may be nested.
const DEPTH: usize = 8;

/// How long the list of installed apps is remembered.
const INSTALLED: Duration = Duration::from_secs(10);

/// The number of processes to remember.
const MOST: usize = 256;

impl Launch {
    /// The names of the app to start. Empty if the command cannot be resolved before it runs.
    pub fn identity(&self, session: &Session) -> Identity {
        let trusted = self.entry.as_ref().filter(|_| self.installed);
        let argv = trusted.map_or(&self.argv, |entry| &entry.exec);
        let mut identity = of_command(argv, session, DEPTH);
        match (&self.entry, trusted) {
            (_, Some(entry)) => {
                let program = names_of_path(Path::new(entry.program()), session);
                let own = std::mem::take(&mut identity.names);
                let own = [entry.name.clone(), entry.id.clone()]
                    .into_iter()
                    .chain(own);
                identity.names = own
                    .chain(program)
                    .chain(entry.names.iter().cloned())
                    .collect();
                identity.key = Some(entry.id.clone());
            }
            // A desktop file elsewhere may have any name.
            (Some(entry), None) => identity.claims.extend(names_of_entry(entry)),
            (None, None) => {}
        }
        tidy(&mut identity.names);
        identity
    }
}

/// Removes duplicates. Paths come last, as they mean less to a person.
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

/// A program's name as given, and its name and path after resolving links.
fn names_of_path(program: &Path, session: &Session) -> Vec<String> {
    let text = program.to_str().unwrap_or_default();
    let mut names = vec![base_name(text).to_owned()];
    if let Some(path) = in_path(text, session) {
        let real = path.canonicalize().unwrap_or(path);
        names.extend(names_of_file(&real));
    }
    names.dedup();
    names
}

fn names_of_file(path: &Path) -> Vec<String> {
    let text = path.to_string_lossy();
    vec![base_name(&text).to_owned(), text.into_owned()]
}

/// A script's name as given, and its name and path after resolving links.
fn names_of_script(path: &Path) -> Vec<String> {
    let mut names = vec![base_name(&path.to_string_lossy()).to_owned()];
    names.extend(
        path.canonicalize()
            .map_or_else(|_| Vec::new(), |real| names_of_file(&real)),
    );
    names
}

/// The identity of the program that a command line starts.
fn of_command(argv: &[String], session: &Session, depth: usize) -> Identity {
    let [program, arguments @ ..] = argv else {
        return Identity::default();
    };
    let mut names = names_of_path(Path::new(program), session);
    let claims = arguments.iter().flat_map(|word| claims_of(word, session));
    let claims: Vec<String> = claims.collect();
    let is = |known: &str| names.iter().any(|name| name == known);
    let inner = if depth == 0 {
        Some(Identity::default())
    } else if WRAPPERS.into_iter().any(is) {
        let is_variable = |word: &&String| is("env") && word.contains('=');
        let rest = arguments.iter().skip_while(is_variable);
        let rest: Vec<String> = rest.cloned().collect();
        Some(match rest.first() {
            Some(word) if !word.starts_with('-') && in_path(word, session).is_some() => {
                of_command(&rest, session, depth - 1)
            }
            _ => Identity::default(),
        })
    } else if let Some((_, word)) = LAUNCHERS.into_iter().find(|(program, _)| is(program)) {
        let mut words = arguments.iter().skip_while(|w| *w != word).skip(1);
        let id = words.find(|w| !w.starts_with('-'));
        Some(id.map_or_else(Identity::default, |id| Identity::named(id.as_str())))
    } else if OPENERS.into_iter().any(is) {
        Some(of_opener(&names, arguments, session, depth - 1))
    } else if names.iter().any(|name| is_interpreter(name)) && !arguments.is_empty() {
        let script = script(arguments).map(|script| names_of_script(Path::new(script)));
        Some(of_names(script.unwrap_or_default(), Vec::new()))
    } else {
        None
    };
    let Some(inner) = inner else {
        return of_names(names, claims);
    };
    // The program that the wrapper runs must be named: the wrapper's name allows nothing.
    let mut claims = claims;
    claims.append(&mut names);
    claims.extend(inner.claims);
    Identity { claims, ..inner }
}

/// A program or script, which is identified by its path.
fn of_names(names: Vec<String>, claims: Vec<String>) -> Identity {
    let key = names.iter().rfind(|name| name.starts_with('/')).cloned();
    Identity { names, claims, key }
}

/// The identity of the app that `xdg-open`, `gtk-launch` and their like start, if their arguments
/// name it.
fn of_opener(names: &[String], arguments: &[String], session: &Session, depth: usize) -> Identity {
    let is = |known: &str| names.iter().any(|name| name == known);
    let what = match arguments {
        [what] if is("xdg-open") || is("exo-open") || is("kde-open") || is("kde-open5") => what,
        [id] if is("gtk-launch") || is("dex") => id,
        [verb, what] if is("gio") && ["open", "launch"].contains(&verb.as_str()) => what,
        _ => return Identity::default(),
    };
    match find(what, session) {
        Ok(launch) if depth > 0 && launch.entry.is_some() => launch.identity(session),
        _ => Identity::default(),
    }
}

/// The script that an interpreter runs with these arguments. `None` for code in the arguments.
fn script(arguments: &[String]) -> Option<&str> {
    let mut words = arguments.iter().map(String::as_str);
    loop {
        match words.next()? {
            "-jar" => return words.next(),
            word if HARMLESS.contains(&word) => {}
            word if word.starts_with('-') => return None,
            word => return Some(word),
        }
    }
}

/// The names that a word of a command line may stand for: it may be a command, or contain one.
fn claims_of(word: &str, session: &Session) -> Vec<String> {
    let plain = word.replace(['\'', '"', '\\'], "");
    let inside = plain.split(|c: char| !(c.is_alphanumeric() || "/._-+@".contains(c)));
    let words = inside.filter(|inside| !inside.is_empty()).take(64);
    words
        .flat_map(|word| names_of_path(Path::new(word), session))
        .collect()
}

/// The identities of processes, cached.
#[derive(Default)]
pub(crate) struct Identities {
    installed: Option<(Instant, Installed)>,
    known: HashMap<u32, Known>,
}

struct Known {
    /// The start time and the executable: the pid may have been reused.
    started: u64,
    executable: Option<PathBuf>,
    app: Identity,
}

impl Identities {
    /// The system's names for a process. For a pid that is not in use any more, those of its last
    /// process.
    pub(crate) fn known_as(&mut self, pid: u32, session: &Session) -> Identity {
        // In this process's pid namespace, another process may have the same number.
        if process::are_elsewhere() {
            return Identity::default();
        }
        let Some(process) = process::read(Path::new("/proc"), pid.cast_signed()) else {
            return self
                .known
                .get(&pid)
                .map_or_else(Identity::default, |known| known.app.clone());
        };
        let executable = fs::read_link(format!("/proc/{pid}/exe")).ok();
        let same = |known: &&Known| {
            known.started == process.started && (known.executable == executable || process.ended)
        };
        if let Some(known) = self.known.get(&pid).filter(same) {
            return known.app.clone();
        }
        let line = command_line(pid);
        let app = match &executable {
            Some(path) => self.read(pid, path, &line, session),
            // If a process hides its executable, only its name and its command's are known.
            None => Identity {
                names: vec![
                    process.comm,
                    base_name(line.first().map_or("", |w| w)).to_owned(),
                ],
                ..Identity::default()
            },
        };
        if line.is_empty() {
            // The program was started a moment ago, and more names will be known soon.
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
        // The kernel appends this after an upgrade of a running program.
        let path = path.strip_suffix(" (deleted)").unwrap_or(&path);
        let mut names = names_of_file(Path::new(path));
        let mut key = Some(path.to_owned());
        let interpreted = is_interpreter(base_name(path));
        if interpreted {
            let script = line.get(1..).and_then(script);
            let folder = PathBuf::from(format!("/proc/{pid}/cwd"));
            let script = script.map(|script| names_of_script(&folder.join(script)));
            // An interpreter is not an app: it may run any code in its arguments.
            key = script.as_ref().and_then(|names| names.last().cloned());
            key = key.filter(|path| path.starts_with('/'));
            names.extend(script.into_iter().flatten());
        }
        let flatpak = flatpak::id(pid);
        // Paths in a sandbox are valid only there.
        key = flatpak.clone().or(key);
        for entry in &self.installed(session).entries {
            let is_flatpak = flatpak.as_deref().is_some_and(|id| entry.id == id);
            if is_flatpak || flatpak.is_none() && starts(entry, pid, interpreted, session) {
                names.extend(names_of_entry(entry));
            }
        }
        names.extend(flatpak);
        tidy(&mut names);
        Identity {
            names,
            claims: Vec::new(),
            key,
        }
    }

    fn installed(&mut self, session: &Session) -> &Installed {
        let fresh = self
            .installed
            .take()
            .filter(|(since, _)| since.elapsed() < INSTALLED);
        let read = || (Instant::now(), Installed::read(session));
        &self.installed.insert(fresh.unwrap_or_else(read)).1
    }
}

/// Whether a process runs the program of this desktop file.
fn starts(entry: &Entry, pid: u32, interpreted: bool, session: &Session) -> bool {
    let name = entry.program();
    let base = base_name(name);
    let starts_others = WRAPPERS.contains(&base)
        || OPENERS.contains(&base)
        || LAUNCHERS.iter().any(|(launcher, _)| *launcher == base);
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

/// The words of a process's command line, which the process may have changed.
fn command_line(pid: u32) -> Vec<String> {
    let line = process::read_file(&format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = line
        .strip_suffix(b"\0")
        .unwrap_or(&line)
        .split(|byte| *byte == 0);
    let words = words.map(|word| String::from_utf8_lossy(word).into_owned());
    words.filter(|_| !line.is_empty()).collect()
}
