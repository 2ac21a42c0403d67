//! The memory of desktops, from `/proc`.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use deskline_unix::process;

/// The memory of these processes and of all that they have started, in bytes. Shared pages count by
/// each process's share, or in full if the kernel does not report shares.
pub(crate) fn of_all_below(roots: &[u32]) -> u64 {
    // A process that shields its memory has no owner but root.
    let read = |pid: u32| process::read(Path::new("/proc"), pid.cast_signed());
    let all: Vec<_> = process::all().filter_map(read).collect();
    let mut below: HashSet<i32> = roots.iter().map(|pid| pid.cast_signed()).collect();
    loop {
        let before = below.len();
        let children = all.iter().filter(|process| below.contains(&process.parent));
        let children: Vec<i32> = children.map(|process| process.pid).collect();
        below.extend(children);
        if below.len() == before {
            break;
        }
    }
    below.into_iter().map(memory).sum()
}

fn memory(pid: i32) -> u64 {
    field(pid, "smaps_rollup", "Pss:")
        .or_else(|| field(pid, "status", "VmRSS:"))
        .unwrap_or(0)
}

/// A field of a file of `/proc/pid` in kB, as bytes.
fn field(pid: i32, file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/{file}")).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kb: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kb * 1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_this_process_is_measured() {
        let own = of_all_below(&[std::process::id()]);
        assert!((1 << 20..1 << 34).contains(&own), "{own}");
        assert_eq!(of_all_below(&[]), 0);
    }
}
