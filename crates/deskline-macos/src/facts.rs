//! What macOS knows about this Mac, for a report of a bug.

use std::collections::BTreeMap;

use deskline_core::{Point, Rect};

use crate::os::Os;
use crate::windows;

/// Settings that decide how macOS behaves: the domain and the key.
const SETTINGS: [[&str; 2]; 4] = [
    ["com.apple.WindowManager", "GloballyEnabled"],
    ["com.apple.dock", "workspaces-auto-swoosh"],
    ["-g", "AppleSpacesSwitchOnActivate"],
    ["-g", "_HIHideMenuBar"],
];

pub(crate) fn read<O: Os>(os: &O) -> Vec<String> {
    let displays = os.displays().into_iter();
    let displays = displays.map(|display| format!("{:?} ×{}", display.bounds, display.scale));
    let mut layers: BTreeMap<i64, usize> = BTreeMap::new();
    for window in os.windows() {
        *layers.entry(window.layer).or_default() += 1;
    }
    vec![
        system(os),
        format!("displays {}", displays.collect::<Vec<_>>().join(", ")),
        format!("input source {}", input_source(os)),
        settings(os),
        format!("windows by layer {layers:?}, {:?}", os.seat()),
        format!("hit test and list agree at {} of 9 points", agree(os)),
    ]
}

/// At how many of nine points on the main display Accessibility's hit test names the same app as
/// the list of windows.
fn agree<O: Os>(os: &O) -> usize {
    let main = os.displays().into_iter().find(|display| display.main);
    let [x, y, w, h] = main.map(|display| display.bounds).unwrap_or_default();
    let points = Rect::at(x as i32, y as i32, w as i32, h as i32).nine_points();
    let is_same = |at: &Point| {
        let seen = os.element_at((at.x.into(), at.y.into()));
        let seen = seen.and_then(|element| os.pid_of(&element)).ok();
        windows::owner_at(os, *at, std::process::id()) == seen
    };
    points.filter(is_same).count()
}

/// The version of macOS and the processor.
pub(crate) fn system<O: Os>(os: &O) -> String {
    let told = |program, arguments: &[&str]| os.tool(program, arguments).unwrap_or_default();
    let version = told("/usr/bin/sw_vers", &["-productVersion"]);
    let chip = told("/usr/sbin/sysctl", &["-n", "machdep.cpu.brand_string"]);
    format!("macOS {}, {}", version.trim(), chip.trim())
}

fn input_source<O: Os>(os: &O) -> String {
    os.input_source().map_or("unknown".into(), |source| {
        let kind = ["an input method", "a layout"][usize::from(source.layout)];
        format!("{}, {kind}", source.id)
    })
}

fn settings<O: Os>(os: &O) -> String {
    let set = SETTINGS.map(|[domain, key]| {
        let value = os.tool("/usr/bin/defaults", &["read", domain, key]);
        let value = value.filter(|value| !value.contains("does not exist"));
        format!("{key} {}", value.as_deref().map_or("unset", str::trim))
    });
    set.join(", ")
}
