//! Decides whether a running app is the requested one.

use super::interpreters::is_interpreter;
use super::{Launch, command};

/// The kernel truncates a process's name to this many bytes.
const COMM: usize = 15;

/// The facts about a running app. Unknown fields are empty.
#[derive(Debug, Clone, Copy, Default)]
pub struct Running<'a> {
    /// The base name of the app's executable, or its `/proc/pid/comm`.
    pub program: &'a str,
    /// The name of the app's root object on the accessibility bus.
    pub accessible_name: &'a str,
    /// The id of the Flatpak that the app runs in.
    pub flatpak: &'a str,
}

impl Launch {
    /// Whether `running` seems to be an instance of this app. That is not certain, as toolkits
    /// choose these names freely.
    pub(crate) fn is_running_as(&self, running: Running<'_>) -> bool {
        let same = |a: &str, b: &str| !a.is_empty() && a.to_lowercase() == b.to_lowercase();
        let entry = self.entry.as_ref();
        let program = match entry {
            Some(entry) => entry.program(),
            None => self.argv.first().map_or("", String::as_str),
        };
        let program = command::base_name(program);
        let id = entry.map_or("", |e| e.id.as_str());
        let is_id = |its: &str| same(id, its);
        if is_id(running.accessible_name) || is_id(running.flatpak) {
            return true;
        }
        if is_interpreter(program) {
            return same(&self.name, running.accessible_name);
        }
        let comm = program.as_bytes().get(..COMM).unwrap_or(program.as_bytes());
        same(program, running.accessible_name)
            || same(program, running.program)
            || (!comm.is_empty() && comm == running.program.as_bytes())
            || (entry.is_some() && same(&self.name, running.accessible_name))
    }
}
