//! What Windows knows about this process, its client and the screen, for a report of a bug.

use std::iter::successors;

use windows::Win32::System::JobObjects::{
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation,
    QueryInformationJobObject,
};
use windows::Win32::System::Registry::HKEY_LOCAL_MACHINE;

use crate::apps::shell::registered;
use crate::display::monitors;
use crate::display::windows::{Kind, bounds, kind, toplevels};
use crate::os::{self, Integrity, at, screen, text};
use crate::process::{Process, is_remote, parents, session, stem};

pub(crate) fn read() -> Vec<String> {
    let integrity = level(os::integrity(std::process::id()));
    vec![
        format!("{}, Smart App Control {:?}", version(), app_control()),
        format!("session {:?}, remote {}", session(), is_remote()),
        format!("integrity {integrity}, job {}", job()),
        format!("started by {}", chain()),
        format!("monitors {:?}", monitors::all()),
        windows(),
    ]
}

/// The state of Smart App Control, which blocks programs without a signature: 0 off, 1 on, 2 on
/// trial.
pub(crate) fn app_control() -> Option<u16> {
    let key = r"SYSTEM\CurrentControlSet\Control\CI\Policy";
    let state = registered(HKEY_LOCAL_MACHINE, key, "VerifiedAndReputablePolicyState");
    state.map(|units| units[0])
}

/// The version of Windows, and the processor's architecture.
pub(crate) fn version() -> String {
    let key = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion";
    let value = |name| text(&registered(HKEY_LOCAL_MACHINE, key, name).unwrap_or([0; 1024]));
    let [build, name] = ["CurrentBuild", "DisplayVersion"].map(value);
    format!("Windows build {build} {name}, {}", std::env::consts::ARCH)
}

fn level(integrity: Integrity) -> String {
    match integrity {
        Integrity::Level(level) => format!("{level:#x}"),
        other => format!("{other:?}"),
    }
}

/// The limit flags of this process's job. 0x2000 means that the end of the job ends its processes.
fn job() -> String {
    let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
    let size = size_of_val(&limits) as u32;
    let place = (&raw mut limits).cast();
    let which = JobObjectExtendedLimitInformation;
    // SAFETY: the call gets the size of the structure.
    match unsafe { QueryInformationJobObject(None, which, place, size, None) } {
        Ok(()) => format!("{:#x}", limits.BasicLimitInformation.LimitFlags.0),
        Err(_) => "none".to_owned(),
    }
}

/// The programs that this process descends from, with a mark at those from the Store.
fn chain() -> String {
    let parents = parents();
    let line = successors(Some(std::process::id()), |pid| parents.get(pid).copied());
    let paths = line
        .skip(1)
        .take(6)
        .map_while(|pid| Process::open(pid)?.path());
    let name = |path: std::path::PathBuf| {
        let is_packaged = path.to_string_lossy().contains(r"\WindowsApps\");
        stem(&path) + if is_packaged { " (Store)" } else { "" }
    };
    paths.map(name).collect::<Vec<_>>().join(" < ")
}

/// How many windows there are of each kind, and at how many points the list agrees with the hit
/// test.
fn windows() -> String {
    let all = toplevels();
    let of = |wanted| all.iter().filter(|window| kind(**window) == wanted).count();
    let [apps, menus, panels, others] =
        [Kind::Window, Kind::Menu, Kind::Panel, Kind::Nothing].map(of);
    let points = screen().nine_points();
    let listed = |point| {
        let lies = |window: &&_| bounds(**window).is_some_and(|at| at.contains(point));
        all.iter().find(lies).copied()
    };
    let agree = points.filter(|point| at(*point) == listed(*point)).count();
    format!(
        "{apps} windows, {menus} menus, {panels} panels, {others} others; hit test and list agree \
         at {agree} of 9 points"
    )
}
