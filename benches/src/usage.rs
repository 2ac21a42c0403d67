//! CPU time and memory of processes, as the kernel counts them.

use std::collections::HashMap;
use std::fs;

/// A process and all its descendants.
fn family(pid: u32) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for pid in all() {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // pid (name) state parent …; the name may contain any character.
        let parent = stat
            .rsplit(") ")
            .next()
            .and_then(|rest| rest.split(' ').nth(1));
        if let Some(parent) = parent.and_then(|p| p.parse().ok()) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = vec![pid];
    let mut at = 0;
    while at < found.len() {
        found.extend(children.remove(&found[at]).unwrap_or_default());
        at += 1;
    }
    found
}

fn all() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|e| e.file_name().to_str()?.parse().ok())
        .collect()
}

/// The D-Bus daemons of the desktop with this environment.
pub fn buses(desktop: &str) -> Vec<u32> {
    let is_bus = |pid: &u32| {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let needle = format!("{desktop}/");
        name.starts_with("dbus-") && String::from_utf8_lossy(&environment).contains(&needle)
    };
    all().into_iter().filter(is_bus).collect()
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
    let families = pids.iter().flat_map(|pid| family(*pid));
    families.map(time).sum()
}

/// The resident memory of a process and its descendants, in MB.
pub fn memory_mb(pid: u32) -> f64 {
    let pages = |pid: u32| -> Option<f64> {
        let statm = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
        statm.split(' ').nth(1)?.parse().ok()
    };
    family(pid).into_iter().filter_map(pages).sum::<f64>() * 4096.0 / 1e6
}
