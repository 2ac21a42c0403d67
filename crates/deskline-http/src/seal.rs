//! Seals a desktop off with bubblewrap: processes, temporary and runtime folders and homes of its
//! own, everything else of the file system read-only.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tokio::process::Command;

/// The program's path in the sandbox: the folder of the program itself may be hidden there.
const PROGRAM: &str = "/run/deskline";

/// The folders of which each desktop has its own, empty one: outside the sandbox they hold other
/// users' files.
const OWN: [&str; 8] = [
    "/tmp", "/var/tmp", "/run", "/home", "/root", "/mnt", "/media", "/srv",
];

/// How a desktop is sealed off.
pub struct Seal {
    /// The program of bubblewrap.
    pub bwrap: PathBuf,
    /// Whether its apps have the network.
    pub net: bool,
    /// More folders to hide from desktops, such as that of the token.
    pub hidden: Vec<PathBuf>,
}

impl Seal {
    /// A command that runs `program` sealed off. Only the folders `lasting` outlive it.
    pub(crate) fn command(&self, program: &Path, journals: &Path, lasting: &[&Path]) -> Command {
        let mut command = Command::new(&self.bwrap);
        command.args(["--die-with-parent", "--new-session", "--cap-drop", "ALL"]);
        command.args(["--unshare-pid", "--unshare-ipc", "--ro-bind", "/", "/"]);
        command.args(["--dev", "/dev", "--proc", "/proc"]);
        if !self.net {
            command.arg("--unshare-net");
        }
        let hidden = self.hidden.iter().map(PathBuf::as_path).chain([journals]);
        let all = OWN.iter().map(Path::new).chain(hidden);
        for folder in all.filter(|folder| folder.is_dir()) {
            command.arg("--tmpfs").arg(folder);
        }
        command.arg("--ro-bind").arg(program).arg(PROGRAM);
        for folder in lasting {
            command.arg("--bind").arg(folder).arg(folder);
        }
        command.args(["--setenv", "HOME", "/tmp", "--chdir", "/tmp"]);
        command.args([OsString::from("--"), PROGRAM.into()]);
        command
    }
}
