//! Which toolkit a process uses, by the files that it has mapped, and what puts it on the
//! accessibility bus.

use deskline_link::WindowHint;
use std::fs::File;
use std::io::Read as _;

/// A process maps some hundred files, a line each; Chromium some thousand.
const LONGEST_MAP: u64 = 4 << 20;

/// A file that a process of the toolkit has mapped, the toolkit, and what puts it on the bus. Those
/// first that load the libraries of others.
const TOOLKITS: [(&str, &str, &str); 9] = [
    (
        "/icudtl.dat",
        "Chromium or Electron",
        "with --force-renderer-accessibility",
    ),
    (
        "/libxul.so",
        "Firefox",
        "with GNOME_ACCESSIBILITY=1, and accessibility.force_disabled at 0 in about:config",
    ),
    (
        "/libjvm.so",
        "Java",
        "with the package libatk-wrapper-java-jni and \
        JAVA_TOOL_OPTIONS='-Djavax.accessibility.assistive_technologies=org.GNOME.Accessibility.AtkWrapper -Xbootclasspath/a:/usr/share/java/java-atk-wrapper.jar'",
    ),
    (
        "/libmergedlo.so",
        "LibreOffice",
        "with SAL_USE_VCLPLUGIN=gtk3 and the package libreoffice-gtk3",
    ),
    (
        "/libQt6Gui.so",
        "Qt 6",
        "with QT_LINUX_ACCESSIBILITY_ALWAYS_ON=1",
    ),
    (
        "/libQt5Gui.so",
        "Qt 5",
        "with QT_LINUX_ACCESSIBILITY_ALWAYS_ON=1",
    ),
    ("/libgtk-4.so", "GTK 4", "without GTK_A11Y=none"),
    ("/libgtk-3.so", "GTK 3", "without NO_AT_BRIDGE=1"),
    (
        "/libgtk-x11-2.0.so",
        "GTK 2",
        "with GTK_MODULES=gail:atk-bridge and the packages libgail-common and libatk-adaptor",
    ),
];

/// The process's toolkit, and what puts it on the bus.
pub fn toolkit_of(pid: u32) -> Option<(&'static str, &'static str)> {
    let maps = maps(pid);
    let found = TOOLKITS.iter().find(|(file, ..)| maps.contains(file));
    found.map(|(_, toolkit, remedy)| (*toolkit, *remedy))
}

/// What to do about a process that is not on the bus.
pub fn hint(pid: u32) -> WindowHint {
    match toolkit_of(pid) {
        Some((toolkit, remedy)) => WindowHint::Restart { toolkit, remedy },
        None => WindowHint::NotOnBus,
    }
}

/// Whether its toolkit puts windows on the bus whose content it gives only when told to.
pub fn keeps_content_back(pid: u32) -> bool {
    maps(pid).contains(TOOLKITS[0].0)
}

/// The files that a process has mapped: proc(5). Of a process that may not be looked at nothing is
/// read, and nothing known.
fn maps(pid: u32) -> String {
    let mut maps = String::new();
    let _ = File::open(format!("/proc/{pid}/maps"))
        .and_then(|file| file.take(LONGEST_MAP).read_to_string(&mut maps));
    maps
}
