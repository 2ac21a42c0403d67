//! The accessibility bus as libatspi reads it: an independent source for apps that keep no log.

use crate::{Bed, until};

/// An element as libatspi reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// The AT-SPI names of its states.
    pub states: Vec<String>,
    /// Its text, with Python's escapes.
    pub text: String,
    pub value: String,
}

impl Element {
    pub fn is(&self, state: &str) -> bool {
        self.states.iter().any(|s| s == state)
    }
}

fn ask(bed: &Bed, args: &[&str]) -> String {
    let output = bed.python("apps/atspi.py").args(args).output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {complaint}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Waits until the app has a window with contents on the accessibility bus.
pub(crate) fn wait_for_app(bed: &Bed, pid: u32) {
    ask(bed, &["wait", &pid.to_string()]);
}

/// The app's elements with this AT-SPI role and name; an empty name matches any.
pub fn find(bed: &Bed, pid: u32, role: &str, name: &str) -> Vec<Element> {
    let found = ask(bed, &["find", &pid.to_string(), role, name]);
    found
        .lines()
        .map(|line| {
            let mut fields = line.split('\t').map(str::to_owned);
            let mut next = || fields.next().unwrap_or_default();
            Element {
                states: next().split(' ').map(str::to_owned).collect(),
                text: next(),
                value: next(),
            }
        })
        .collect()
}

/// Waits until an element with this role and name satisfies `wanted`.
pub fn wait_for(bed: &Bed, pid: u32, role: &str, name: &str, wanted: impl Fn(&Element) -> bool) {
    until(&format!("{role} \"{name}\" as wanted"), || {
        find(bed, pid, role, name).iter().any(&wanted)
    });
}
