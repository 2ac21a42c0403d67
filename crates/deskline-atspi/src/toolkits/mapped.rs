//! Finds the toolkit of a process by the files that it has mapped, and how to put the process on
//! the accessibility bus.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use deskline_contract::WindowHint;
use deskline_unix::process;

/// The maximum number of bytes to read of a process's list of mapped files. The list has a line for
/// each of a few hundred files, or in Chromium a few thousand.
const LONGEST_MAP: u64 = 4 << 20;

type Environment = BTreeMap<String, String>;

/// How to put an app on the bus that was started in this environment. `None` if the environment
/// lacks nothing.
type Remedy = fn(&Environment) -> Option<&'static str>;

/// For each toolkit: a file that its processes have mapped, the toolkit's name, and how to put its
/// apps on the bus. Toolkits that load the libraries of others come first.
const TOOLKITS: [(&str, &str, Remedy); 9] = [
    ("/icudtl.dat", "Chromium or Electron", |_| {
        Some("with --force-renderer-accessibility")
    }),
    ("/libxul.so", "Firefox", |_| {
        Some("with GNOME_ACCESSIBILITY=1, and accessibility.force_disabled at 0 in about:config")
    }),
    ("/libjvm.so", "Java", |_| {
        Some(
            "with the package libatk-wrapper-java-jni and \
             JAVA_TOOL_OPTIONS='-Djavax.accessibility.assistive_technologies=org.GNOME.Accessibility.AtkWrapper -Xbootclasspath/a:/usr/share/java/java-atk-wrapper.jar'",
        )
    }),
    ("/libmergedlo.so", "LibreOffice", |_| {
        Some("with SAL_USE_VCLPLUGIN=gtk3 and the package libreoffice-gtk3")
    }),
    ("/libQt6Gui.so", "Qt 6", qt),
    ("/libQt5Gui.so", "Qt 5", qt),
    ("/libgtk-4.so", "GTK 4", |environment| {
        has(environment, "GTK_A11Y", "none").then_some("without GTK_A11Y=none")
    }),
    ("/libgtk-3.so", "GTK 3", |environment| {
        has(environment, "NO_AT_BRIDGE", "1").then_some("without NO_AT_BRIDGE=1")
    }),
    ("/libgtk-x11-2.0.so", "GTK 2", |_| {
        Some("with GTK_MODULES=gail:atk-bridge and the packages libgail-common and libatk-adaptor")
    }),
];

fn qt(environment: &Environment) -> Option<&'static str> {
    let is_on = has(environment, "QT_LINUX_ACCESSIBILITY_ALWAYS_ON", "1");
    (!is_on).then_some("with QT_LINUX_ACCESSIBILITY_ALWAYS_ON=1")
}

fn has(environment: &Environment, name: &str, value: &str) -> bool {
    environment.get(name).is_some_and(|its| its == value)
}

/// The process's toolkit, and how to put the process on the bus.
pub fn toolkit_of(pid: u32) -> Option<(&'static str, Option<&'static str>)> {
    let maps = maps(pid);
    let (_, toolkit, remedy) = TOOLKITS.iter().find(|(file, ..)| maps.contains(file))?;
    let environment = process::environment(Path::new("/proc"), pid.cast_signed());
    Some((toolkit, remedy(&environment)))
}

/// The remedy for a process that is not on the bus.
pub fn hint(pid: u32) -> WindowHint {
    match toolkit_of(pid) {
        Some((toolkit, Some(remedy))) => WindowHint::Restart { toolkit, remedy },
        Some((toolkit, None)) => WindowHint::TurnedOn { toolkit },
        None => WindowHint::NotOnBus,
    }
}

/// Whether the toolkit puts the windows of this process on the bus without their content. Some do,
/// until accessibility is turned on for the process.
pub fn keeps_content_back(pid: u32) -> bool {
    maps(pid).contains(TOOLKITS[0].0)
}

/// Whether a Qt app may have controls of Qt Quick, which draw and report whatever they like.
pub fn has_qml(pid: u32) -> bool {
    let maps = maps(pid);
    ["/libQt5Quick.so", "/libQt6Quick.so"]
        .iter()
        .any(|file| maps.contains(file))
}

/// The translation catalogues of gettext and Qt that a process has mapped. Their language is that
/// of its texts.
pub fn catalogues(pid: u32) -> Vec<PathBuf> {
    let maps = maps(pid);
    let files = maps
        .lines()
        .filter_map(|line| line.find('/').map(|at| PathBuf::from(&line[at..])));
    let mut files: Vec<_> = files
        .filter(|file| {
            file.extension()
                .is_some_and(|end| end == "mo" || end == "qm")
        })
        .collect();
    files.sort();
    files.dedup();
    files
}

/// The files that a process has mapped: proc(5). Empty for a process whose files this user may not
/// read.
fn maps(pid: u32) -> String {
    let mut maps = String::new();
    let _ = File::open(format!("/proc/{pid}/maps"))
        .and_then(|file| file.take(LONGEST_MAP).read_to_string(&mut maps));
    maps
}
