//! The processes of a private desktop.

use std::fs;

/// The running processes that carry the desktop's mark, and their names.
pub(crate) fn processes(directory: &str) -> Vec<(i32, String)> {
    let needle = format!("DESKLINE_DESKTOP={directory}");
    let pids = { fs::read_dir("/proc").unwrap().flatten() }
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let marked = pids.filter(|pid: &i32| {
        fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|block| block.split(|b| *b == 0).any(|v| v == needle.as_bytes()))
    });
    let name = |pid| fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    marked.map(|pid| (pid, name(pid))).collect()
}
