//! Processes in Flatpak's sandboxes: Flatpak puts the file `.flatpak-info` into the root of each
//! sandbox.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::process;
use crate::sock_diag::inodes_of;

/// The id of the Flatpak that a process runs in.
pub fn id(pid: u32) -> Option<String> {
    entry(pid, "[Application]", "name=")
}

/// The folder of the Flatpak's files, as `.flatpak-info` gives it.
pub fn files(pid: u32) -> Option<PathBuf> {
    entry(pid, "[Instance]", "app-path=").map(PathBuf::from)
}

/// The processes in the same sandbox as `pid` that have sockets of their own, in ascending order,
/// without `pid` itself. Scripts that start the app have no sockets of their own, nor has the
/// sandbox's own process.
pub fn beside(pid: u32) -> Vec<u32> {
    let instance = |pid| entry(pid, "[Instance]", "instance-id=");
    let Some(its) = instance(pid) else {
        return Vec::new();
    };
    let others = process::all().filter(|other| *other != pid);
    let others = others.filter(|other| instance(*other).as_ref() == Some(&its));
    let sockets: Vec<(u32, Vec<u32>)> = others
        .map(|other| (other, inodes_of(other).collect()))
        .collect();
    own_sockets(sockets)
}

/// The processes that have a socket which no other of `processes` has, in ascending order.
fn own_sockets(mut processes: Vec<(u32, Vec<u32>)>) -> Vec<u32> {
    let mut holders: HashMap<u32, usize> = HashMap::new();
    for (_, sockets) in &mut processes {
        sockets.sort_unstable();
        sockets.dedup();
        for socket in sockets {
            *holders.entry(*socket).or_default() += 1;
        }
    }
    processes.retain(|(_, sockets)| sockets.iter().any(|socket| holders[socket] == 1));
    let mut pids: Vec<u32> = processes.into_iter().map(|(pid, _)| pid).collect();
    pids.sort_unstable();
    pids
}

fn entry(pid: u32, section: &str, key: &str) -> Option<String> {
    let info = process::read_file(&format!("/proc/{pid}/root/.flatpak-info"))?;
    let info = String::from_utf8_lossy(&info);
    let mut lines = info.lines().skip_while(|line| *line != section).skip(1);
    let value = lines
        .by_ref()
        .take_while(|line| !line.starts_with('['))
        .find_map(|line| line.strip_prefix(key))?;
    Some(value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_that_started_the_app_has_no_socket_of_its_own() {
        let journal = 1;
        let processes = [
            (9, vec![journal, 7, 7, 8]),
            (5, vec![journal]),
            (6, vec![]),
            (8, vec![journal, 2]),
        ];
        assert_eq!(own_sockets(processes.to_vec()), [8, 9]);
    }
}
