//! CPU time and memory of processes, as the kernel counts them.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use deskline_unix::family::Family;
use deskline_unix::process;

/// The D-Bus daemons of the desktop with this environment.
pub fn buses(desktop: &str) -> Vec<u32> {
    let proc = Path::new("/proc");
    let needle = format!("{desktop}/");
    let is_bus = |found: &process::Process| {
        let environment = process::environment(proc, found.pid);
        found.comm.starts_with("dbus-") && environment.values().any(|v| v.contains(&needle))
    };
    let uid = fs::metadata("/proc/self").map_or(0, |own| own.uid());
    let all = process::of_user(proc, uid);
    let buses = all.into_iter().filter(is_bus);
    buses.map(|bus| bus.pid.cast_unsigned()).collect()
}

/// The CPU time that processes and their descendants have used, in milliseconds.
pub fn cpu_ms(pids: &[u32]) -> f64 {
    let time = |pid: u32| -> f64 {
        let tasks = fs::read_dir(format!("/proc/{pid}/task"))
            .into_iter()
            .flatten();
        tasks
            .flatten()
            .filter_map(|task| {
                let stat = fs::read_to_string(task.path().join("schedstat")).ok()?;
                stat.split(' ').next()?.parse::<f64>().ok()
            })
            .sum::<f64>()
            / 1e6
    };
    let families = pids.iter().map(|pid| Family::new(*pid));
    families
        .flat_map(|family| family.pids().to_vec())
        .map(time)
        .sum()
}

/// The resident memory of a process and its descendants, in MB.
pub fn memory_mb(pid: u32) -> f64 {
    let pages = |pid: &u32| -> Option<f64> {
        let statm = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
        statm.split(' ').nth(1)?.parse().ok()
    };
    Family::new(pid)
        .pids()
        .iter()
        .filter_map(pages)
        .sum::<f64>()
        * 4096.0
        / 1e6
}
