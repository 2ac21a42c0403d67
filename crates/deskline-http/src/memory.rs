//! The memory of desktops, from `/proc`.

use std::fs;

use deskline_unix::process;

/// The memory of these processes and of all that they have started, in bytes. Shared pages count by
/// each process's share, or in full if the kernel does not report shares.
pub(crate) fn of_all_below(roots: &[u32]) -> u64 {
    let is_root = |pid: i32| roots.contains(&pid.cast_unsigned());
    let is_below = |pid: &u32| process::line(*pid).any(|process| is_root(process.pid));
    // Looks at the processes of all users: a process that shields its memory belongs to root in
    // `/proc`.
    process::all().filter(is_below).map(memory).sum()
}

fn memory(pid: u32) -> u64 {
    field(pid, "smaps_rollup", "Pss:")
        .or_else(|| field(pid, "status", "VmRSS:"))
        .unwrap_or(0)
}

/// A field in kB of a file in `/proc/PID`, converted to bytes.
fn field(pid: u32, file: &str, name: &str) -> Option<u64> {
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
