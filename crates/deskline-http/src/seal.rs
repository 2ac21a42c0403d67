//! Seals a desktop off with bubblewrap. The desktop has its own processes, temporary and runtime
//! folders and homes, and it has no network unless [`Net`] gives it one. The rest of the file
//! system is read-only. Then the desktop's server gives up the rights that namespaces leave, for
//! itself and all its apps.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tokio::process::Command;

/// The program's path in the sandbox: the folder of the program itself may be hidden there.
const PROGRAM: &str = "/run/deskline";

/// Each desktop has its own, empty folders at these paths: outside the sandbox, they hold other
/// users' files.
const OWN: [&str; 8] = [
    "/tmp", "/var/tmp", "/run", "/home", "/root", "/mnt", "/media", "/srv",
];

/// Settings of the machine, which root may write even without any capability. For root, bubblewrap
/// 0.8 leaves `/proc/sys` writable.
#[rustfmt::skip]
const SETTINGS: [&str; 6] = [
    "/proc/sys", "/proc/sysrq-trigger", "/proc/mtrr", "/proc/fs", "/proc/acpi", "/proc/scsi",
];

/// The variables that name folders of this user, which need not be below `/home`.
#[rustfmt::skip]
const FOLDERS: [&str; 6] = [
    "HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
];

/// The variable that tells a desktop's server to do the rest of the seal itself.
pub const SEALED: &str = "DESKLINE_SEALED";

/// The program pasta and its arguments. pasta gives a desktop its own network, which reaches other
/// hosts through this machine's network. Neither network's ports are open in the other, and the
/// gateway's address does not lead to this machine.
const PASTA: &str = "pasta";
const APART: &str =
    "--foreground --quiet --config-net --no-map-gw -t none -u none -T none -U none --";

/// The file that names the DNS servers, and the one in which systemd-resolved names them for
/// programs that cannot reach its own server.
const RESOLVER: &str = "/etc/resolv.conf";
const RESOLVERS: &str = "/run/systemd/resolve/resolv.conf";

/// The network of a desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Net {
    None,
    /// All that this machine reaches, except the machine's own ports.
    Internet,
    /// This machine's own network.
    Shared,
}

/// How a desktop is sealed off.
pub struct Seal {
    /// The program of bubblewrap.
    pub bwrap: PathBuf,
    pub net: Net,
    /// More folders to hide from desktops, such as that of the token.
    pub hidden: Vec<PathBuf>,
}

impl Seal {
    /// A command that runs `program` sealed off. Only changes in the folders `lasting` outlive the
    /// command.
    pub(crate) fn command(&self, program: &Path, journals: &Path, lasting: &[&Path]) -> Command {
        let mut command = if self.net == Net::Internet {
            let mut pasta = Command::new(PASTA);
            pasta.args(APART.split(' ')).arg(&self.bwrap);
            // In pasta's namespace this user is root. bubblewrap changes that back.
            let (user, group) = (rustix::process::getuid(), rustix::process::getgid());
            pasta.args(["--unshare-user", "--uid", &user.as_raw().to_string()]);
            pasta.args(["--gid", &group.as_raw().to_string()]);
            pasta
        } else {
            Command::new(&self.bwrap)
        };
        command.args(["--die-with-parent", "--new-session", "--cap-drop", "ALL"]);
        command.args(["--unshare-pid", "--unshare-ipc", "--ro-bind", "/", "/"]);
        command.args(["--dev", "/dev", "--proc", "/proc"]);
        for settings in SETTINGS {
            command.args(["--ro-bind-try", settings, settings]);
        }
        if self.net == Net::None {
            command.arg("--unshare-net");
        }
        let homes = FOLDERS.iter().filter_map(env::var_os).map(PathBuf::from);
        let hidden = self.hidden.iter().cloned().chain([journals.to_owned()]);
        let all = OWN.iter().map(PathBuf::from).chain(homes).chain(hidden);
        // Never hide `/`, where the programs are: it may be the home of a service.
        for folder in all.filter(|folder| folder.is_dir() && folder.parent().is_some()) {
            command.arg("--tmpfs").arg(folder);
        }
        if self.net != Net::None
            && let Ok(file) = Path::new(RESOLVER).canonicalize()
            && file.starts_with("/run")
        {
            let servers = Path::new(RESOLVERS);
            let servers = if servers.exists() { servers } else { &file };
            command.arg("--ro-bind").args([servers, &file]);
        }
        command.arg("--ro-bind").arg(program).arg(PROGRAM);
        for folder in lasting {
            command.arg("--bind").arg(folder).arg(folder);
        }
        command.args(["--setenv", SEALED, "1"]);
        command.args(["--setenv", "HOME", "/tmp", "--chdir", "/tmp"]);
        command.args([OsString::from("--"), PROGRAM.into()]);
        command
    }
}

/// Gives up, for this process and all that it starts, what the namespaces do not separate: abstract
/// sockets of a shared network, keyrings, sockets of hypervisors and devices, and system calls that
/// few apps make and many attacks begin with. To be called while the process has one thread.
#[cfg(target_os = "linux")]
pub fn give_up() -> Result<(), Box<dyn std::error::Error>> {
    use landlock::{Ruleset, RulesetAttr as _, Scope};
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

    // Kernels before 6.12 lack this scope, which is then left out.
    let scope = Ruleset::default().scope(Scope::AbstractUnixSocket)?;
    scope.create()?.restrict_self()?;
    let refuse = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let arch = env::consts::ARCH.try_into()?;
    let filter = SeccompFilter::new(refused()?, SeccompAction::Allow, refuse, arch)?;
    Ok(seccompiler::apply_filter(&BpfProgram::try_from(filter)?)?)
}

/// The refused system calls.
#[cfg(target_os = "linux")]
fn refused()
-> Result<std::collections::BTreeMap<i64, Vec<seccompiler::SeccompRule>>, seccompiler::BackendError>
{
    use seccompiler::{SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};

    #[rustfmt::skip]
    let families = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let others = families.map(|family| {
        let family = u64::from(family.cast_unsigned());
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family)
    });
    let others = SeccompRule::new(others.into_iter().collect::<Result<_, _>>()?)?;
    // With SYS_io_uring_setup, an app could make sockets of any family.
    #[rustfmt::skip]
    let calls = [
        libc::SYS_add_key, libc::SYS_bpf, libc::SYS_io_uring_setup, libc::SYS_keyctl,
        libc::SYS_perf_event_open, libc::SYS_request_key, libc::SYS_syslog, libc::SYS_userfaultfd,
    ];
    let calls = calls.map(|call| (call, Vec::new()));
    let mut calls: std::collections::BTreeMap<_, _> = calls.into();
    calls.insert(libc::SYS_socket, vec![others.clone()]);
    calls.insert(libc::SYS_socketpair, vec![others]);
    Ok(calls)
}

/// Whether the kernel can close abstract sockets of a shared network.
#[cfg(target_os = "linux")]
pub fn closes_abstract_sockets() -> bool {
    use landlock::{CompatLevel, Compatible as _, Ruleset, RulesetAttr as _, Scope};

    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    ruleset
        .scope(Scope::AbstractUnixSocket)
        .and_then(Ruleset::create)
        .is_ok()
}
