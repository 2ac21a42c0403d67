//! The accessibility bus as libatspi reads it, for apps that keep no log: what Deskline says of
//! them is compared with what another client says.

use crate::apps::python;
use crate::{Bed, until};

/// What libatspi says of one element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// The names of its states, as AT-SPI has them.
    pub states: Vec<String>,
    /// The content of its text, with Python's escapes.
    pub text: String,
    /// Its value.
    pub value: String,
}

impl Element {
    /// Whether it has this state.
    pub fn is(&self, state: &str) -> bool {
        self.states.iter().any(|s| s == state)
    }
}

fn ask(bed: &Bed, args: &[&str]) -> String {
    let output = python(bed, "apps/atspi.py").args(args).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Waits until the app has a window with something in it on the accessibility bus.
pub(crate) fn wait_for_app(bed: &Bed, pid: u32) {
    ask(bed, &["wait", &pid.to_string()]);
}

/// The elements of the app with that AT-SPI role and name; an empty name matches any.
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

/// Waits until an element with that role and name is as `wanted`.
pub fn wait_for(bed: &Bed, pid: u32, role: &str, name: &str, wanted: impl Fn(&Element) -> bool) {
    until(&format!("{role} \"{name}\" as wanted"), || {
        find(bed, pid, role, name).iter().any(&wanted).then_some(())
    });
}
