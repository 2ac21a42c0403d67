//! Decides whether a running app is the requested one.

use super::{Launch, command};

/// Programs that run other programs: a process with this name may be any app.
#[rustfmt::skip]
const INTERPRETERS: [&str; 42] = [
    "sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "fish", "csh", "tcsh", "pwsh", "python", "pypy",
    "perl", "ruby", "java", "node", "deno", "bun", "gjs", "gjs-console", "electron", "flatpak", "snap",
    "mono", "lua", "luajit", "tclsh", "wish", "expect", "awk", "php", "guile", "jshell", "groovy",
    "julia", "octave", "racket", "swipl", "m4", "dc", "gnuplot",
];

/// Options of interpreters that take no value and do not replace the script. Those of others may:
/// Perl's `-I` has one, and after `sh -s` comes no script.
const HARMLESS: [(&str, &[&str]); 4] = [
    ("python", &["-u", "-B", "-E", "-s", "-O", "-I"]),
    ("pypy", &["-u", "-B", "-E", "-s", "-O", "-I"]),
    ("perl", &["-w"]),
    ("ruby", &["-w"]),
];

/// The kernel truncates a process's name to this many bytes.
const COMM: usize = 15;

/// Whether a process with this name may be any app.
pub(super) fn is_interpreter(program: &str) -> bool {
    let version = program.find(|c: char| c.is_ascii_digit());
    let plain = &program[..version.unwrap_or(program.len())];
    let plain = plain.trim_end_matches('-').trim_end_matches("-static");
    INTERPRETERS.contains(&plain) || INTERPRETERS.contains(&program)
}

/// The script that an interpreter runs with these arguments. `None` for code in the arguments.
pub(super) fn script<'l>(interpreter: &str, arguments: &'l [String]) -> Option<&'l str> {
    let all = HARMLESS
        .iter()
        .filter(|(name, _)| interpreter.starts_with(name));
    let is_harmless = |word: &str| all.clone().any(|(_, options)| options.contains(&word));
    let mut words = arguments.iter().map(String::as_str);
    loop {
        match words.next()? {
            "-jar" => return words.next(),
            word if is_harmless(word) => {}
            word if word.starts_with('-') => return None,
            word => return Some(word),
        }
    }
}

/// The facts about a running app. Unknown fields are empty.
#[derive(Debug, Clone, Copy, Default)]
pub struct Running<'a> {
    /// The base name of its executable, or its `/proc/pid/comm`.
    pub program: &'a str,
    /// The name of its root object on the accessibility bus.
    pub accessible_name: &'a str,
    /// The class of a window, either part of `WM_CLASS`.
    pub window_class: &'a str,
    /// The id of the Flatpak that it runs in.
    pub flatpak: &'a str,
}

impl Launch {
    /// Whether `running` is an instance of this app. A hint only: toolkits choose these names
    /// freely.
    pub(crate) fn is_running_as(&self, running: Running<'_>) -> bool {
        let same = |a: &str, b: &str| !a.is_empty() && a.to_lowercase() == b.to_lowercase();
        let entry = self.entry.as_ref();
        // The window class from the desktop file is exact. It also distinguishes the parts of an
        // office suite, which are one program.
        if let Some(class) = entry.and_then(|e| e.wm_class.as_deref())
            && !running.window_class.is_empty()
        {
            return same(class, running.window_class);
        }
        let program = match entry {
            Some(entry) => entry.program(),
            None => self.argv.first().map_or("", String::as_str),
        };
        let program = command::base_name(program);
        let id = entry.map_or("", |e| e.id.as_str());
        let is_id = |its: &str| same(id, its);
        if is_id(running.window_class) || is_id(running.accessible_name) || is_id(running.flatpak) {
            return true;
        }
        if is_interpreter(program) {
            return same(&self.name, running.accessible_name);
        }
        let comm = program.as_bytes().get(..COMM).unwrap_or(program.as_bytes());
        same(program, running.window_class)
            || same(program, running.accessible_name)
            || same(program, running.program)
            || (!comm.is_empty() && comm == running.program.as_bytes())
            || (entry.is_some() && same(&self.name, running.accessible_name))
    }
}
