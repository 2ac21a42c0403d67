//! Limits the memory and the number of processes of a desktop. If the server may create control
//! groups below its own group, these groups limit the desktop as a whole. If not, memory is limited
//! for each process alone, and the number of processes is not limited.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use deskline_unix::wait;
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::Command;

use crate::error::HttpError;

const ROOT: &str = "/sys/fs/cgroup";

/// The prefix of the groups' names; the server's pid and a number follow.
const PREFIX: &str = "deskline-";

/// How long the kernel may take to end the processes of a group.
const END: Duration = Duration::from_secs(5);

/// The limits of each desktop.
pub struct Limits {
    parents: Vec<Parent>,
    /// The memory limit of each process in kB, if there are no groups.
    data: Option<u64>,
}

/// The parent of the desktops' groups, and the files to write in each group.
struct Parent {
    folder: PathBuf,
    files: Vec<(&'static str, u64)>,
}

/// The groups of one desktop. They are removed when this is dropped.
pub(crate) struct Group(Vec<PathBuf>);

impl Limits {
    /// Finds out how to limit each desktop to `memory` bytes, and to `processes` processes and
    /// threads together.
    pub fn find(memory: Option<u64>, processes: Option<u32>) -> Result<Option<Self>, HttpError> {
        if memory.is_none() && processes.is_none() {
            return Ok(None);
        }
        let wanted = [
            memory.map(|bytes| ("memory", "memory.max", "memory.limit_in_bytes", bytes)),
            processes.map(|most| ("pids", "pids.max", "pids.max", most.into())),
        ];
        let wanted: Vec<_> = wanted.into_iter().flatten().collect();
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let names: Vec<_> = wanted.iter().map(|limit| limit.0).collect();
        let parents = if let Some(folder) = unified(&own, &names) {
            let files = wanted.iter().map(|limit| (limit.1, limit.3)).collect();
            Some(vec![Parent { folder, files }])
        } else {
            let one = |limit: &(&str, _, &'static str, u64)| {
                let folder = of_controller(&own, limit.0)?;
                let files = vec![(limit.2, limit.3)];
                Some(Parent { folder, files })
            };
            wanted.iter().map(one).collect()
        };
        match parents {
            Some(parents) => Ok(Some(Self {
                parents,
                data: None,
            })),
            None if processes.is_some() => Err(HttpError::NoGroups),
            None => Ok(Some(Self {
                parents: Vec::new(),
                data: memory.map(|bytes| bytes / 1_024),
            })),
        }
    }

    /// Whether the limits hold for a desktop as a whole.
    pub fn by_groups(&self) -> bool {
        !self.parents.is_empty()
    }

    /// Makes the groups of the desktop with this number.
    pub(crate) fn group(&self, number: usize) -> io::Result<Group> {
        let mut group = Group(Vec::new());
        for Parent { folder, files } in &self.parents {
            let own = folder.join(format!("{PREFIX}{}-{number}", std::process::id()));
            fs::create_dir(&own)?;
            group.0.push(own.clone());
            for (file, most) in files {
                fs::write(own.join(file), most.to_string())?;
            }
            // Without this limit, swapped-out memory would not count. A kernel without swap lacks
            // the file.
            let _ = fs::write(own.join("memory.swap.max"), "0");
        }
        Ok(group)
    }

    /// A command that runs `command` in these groups from its start on.
    pub(crate) fn limited(&self, group: &Group, command: &Command) -> Command {
        let mut limited = Command::new("/bin/sh");
        let limit = self.data.map(|kb| format!("ulimit -d {kb} && "));
        let limit = limit.unwrap_or_default();
        let join = "while [ \"$1\" != -- ]; do echo $$ > \"$1\" || exit 1; shift; done; shift";
        limited.arg("-c").arg(format!("{limit}{join}; exec \"$@\""));
        limited.arg("sh");
        limited.args(group.0.iter().map(|folder| folder.join("cgroup.procs")));
        let command = command.as_std();
        limited
            .arg("--")
            .arg(command.get_program())
            .args(command.get_args());
        limited
    }
}

impl Drop for Group {
    /// Kills the processes left in the groups, and blocks until they have ended.
    fn drop(&mut self) {
        for folder in &self.0 {
            let mut removed = Ok(());
            wait::until(END, Duration::from_millis(20), || {
                removed = fs::remove_dir(folder);
                if removed.is_ok() {
                    return Some(());
                }
                let members = fs::read_to_string(folder.join("cgroup.procs"));
                for pid in members.unwrap_or_default().lines() {
                    if let Some(pid) = pid.parse().ok().and_then(Pid::from_raw) {
                        let _ = kill_process(pid, Signal::KILL);
                    }
                }
                None
            });
            if let Err(error) = removed {
                tracing::warn!("{} stays: {error}", folder.display());
            }
        }
    }
}

/// The path of this process's group, from the line of `/proc/self/cgroup` that has `controller`.
fn path_of<'a>(own: &'a str, controller: &str) -> Option<&'a str> {
    own.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let has_it = controllers.split(',').any(|name| name == controller);
        has_it.then(|| path.trim_start_matches('/'))
    })
}

/// This server's group in the unified hierarchy (version 2), prepared for groups below it. A group
/// with members cannot have limited groups below it, so the server moves to a group of its own.
fn unified(own: &str, controllers: &[&str]) -> Option<PathBuf> {
    let folder = Path::new(ROOT).join(path_of(own, "")?);
    let there = fs::read_to_string(folder.join("cgroup.controllers")).ok()?;
    let has = |name: &&str| {
        there
            .split_whitespace()
            .any(|controller| controller == *name)
    };
    if !controllers.iter().all(has) {
        return None;
    }
    sweep(&folder);
    let server = folder.join(format!("{PREFIX}{}-server", std::process::id()));
    let prepared = fs::create_dir(&server).and_then(|()| {
        fs::write(server.join("cgroup.procs"), "0")?;
        let add: Vec<String> = controllers.iter().map(|name| format!("+{name}")).collect();
        fs::write(folder.join("cgroup.subtree_control"), add.join(" "))
    });
    if let Err(error) = prepared {
        tracing::debug!("no groups in {}: {error}", folder.display());
        let _ = fs::write(folder.join("cgroup.procs"), "0");
        let _ = fs::remove_dir(&server);
        return None;
    }
    Some(folder)
}

/// This server's group in a hierarchy of version 1, if the server may make groups below it.
fn of_controller(own: &str, controller: &str) -> Option<PathBuf> {
    let root = Path::new(ROOT).join(controller);
    let folder = root.join(path_of(own, controller)?);
    // In a container, the server's group may be the root.
    let folder = if folder.is_dir() { folder } else { root };
    sweep(&folder);
    let probe = folder.join(format!("{PREFIX}{}-probe", std::process::id()));
    fs::create_dir(&probe)
        .and_then(|()| fs::remove_dir(&probe))
        .ok()?;
    Some(folder)
}

/// Removes the groups of servers that were killed.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let server = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let server = server.and_then(|rest| rest.split('-').next());
        if server.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_path_is_read_from_the_line_of_its_controller() {
        let own = "9:name=systemd:/a\n3:cpu,cpuacct:/b/c\n4:memory:/\n0::/user.slice/x\n";
        assert_eq!(path_of(own, "cpuacct"), Some("b/c"));
        assert_eq!(path_of(own, "memory"), Some(""));
        assert_eq!(path_of(own, ""), Some("user.slice/x"));
        assert_eq!(path_of(own, "pids"), None);
    }
}
