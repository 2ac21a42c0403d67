//! Finds programs that inject a person's keys and clicks through XTEST: VNC servers that share this
//! display, and programs that share another computer's keyboard. To the guard, such a person looks
//! like the agent.

use std::path::Path;
use std::time::{Duration, Instant};

use deskline_unix::process;

/// Process names (the kernel keeps 15 bytes) and names of programs that send a person's input
/// through XTEST.
#[rustfmt::skip]
const PROGRAMS: [(&str, &str); 16] = [
    ("x11vnc", "x11vnc"), ("x0vncserver", "x0vncserver"), ("x0tigervncserve", "x0vncserver"),
    ("krfb", "krfb"), ("vino-server", "vino"), ("gnome-remote-de", "gnome-remote-desktop"),
    ("barrier", "Barrier"), ("barrierc", "Barrier"), ("barriers", "Barrier"),
    ("synergy", "Synergy"), ("synergyc", "Synergy"), ("synergys", "Synergy"),
    ("synergy-core", "Synergy"), ("input-leap", "Input Leap"), ("input-leapc", "Input Leap"),
    ("input-leaps", "Input Leap"),
];

/// How long a result is cached: listing all processes takes milliseconds.
const AGAIN: Duration = Duration::from_secs(10);

/// The programs of this user that send input to this display, without duplicates.
pub fn programs(display: &str) -> Vec<&'static str> {
    let proc = Path::new("/proc");
    let uid = rustix::process::getuid().as_raw();
    let mut found = vec![];
    for process in process::of_user(proc, uid).into_iter().filter(|p| !p.ended) {
        let known = PROGRAMS.iter().find(|(comm, _)| *comm == process.comm);
        let Some((_, name)) = known.filter(|(_, name)| !found.contains(name)) else {
            continue;
        };
        if is_on(proc, process.pid, display) {
            found.push(*name);
        }
    }
    found
}

/// Whether a process uses this display, by its command line or else its environment.
fn is_on(proc: &Path, pid: i32, display: &str) -> bool {
    let same = |named: &str| number(named).is_some() && number(named) == number(display);
    let line = std::fs::read(proc.join(format!("{pid}/cmdline"))).unwrap_or_default();
    let words: Vec<&str> = line
        .split(|b| *b == 0)
        .filter_map(|word| std::str::from_utf8(word).ok())
        .collect();
    let named = words
        .windows(2)
        .find(|pair| matches!(pair[0], "-display" | "--display" | "-d"))
        .map(|pair| pair[1].to_owned());
    let named = named.or_else(|| process::environment(proc, pid).remove("DISPLAY"));
    named.is_some_and(|named| same(&named))
}

/// The number of a display: `0` for `:0` and `:0.0`; `None` for a display on another host.
fn number(display: &str) -> Option<&str> {
    display.strip_prefix(':')?.split('.').next()
}

/// The last result, and its time.
#[derive(Debug, Default)]
pub(crate) struct People {
    looked: Option<Instant>,
    found: Vec<&'static str>,
}

impl People {
    /// The programs on this display, from the cache if it is younger than [`AGAIN`].
    pub(crate) fn on(&mut self, display: &str) -> &[&'static str] {
        if self.looked.is_none_or(|at| at.elapsed() > AGAIN) {
            self.found = programs(display);
            self.looked = Some(Instant::now());
        }
        &self.found
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn the_number_of_a_display_does_not_depend_on_the_screen() {
        assert_eq!(number(":7"), number(":7.0"));
        assert_ne!(number(":7"), number(":77"));
        assert_eq!(number("elsewhere:7"), None);
    }
}
