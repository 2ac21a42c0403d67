//! Finds the process whose permissions apply to this process, and writes the advice for permissions
//! that macOS refuses.
//!
//! macOS checks the process that it holds responsible: the terminal, or the client that started
//! Deskline. Claude Desktop starts servers through a helper that disclaims responsibility
//! (<https://github.com/anthropics/claude-code/issues/55169>): then the grant belongs to the
//! `deskline` binary itself.

use std::path::{Path, PathBuf};

use crate::os::{Os, name_of};
use crate::program::{self, ID, INSTALL, RESET};

/// The pane of System Settings that allows screenshots.
pub(crate) const CAPTURE: &str = "Screen & System Audio Recording";

/// The advice if the responsible terminal has ended.
const TMUX: &str = "A tmux server that this process started may still run: restart that server \
                    from the terminal that you use";

/// The app or binary to which macOS has granted a permission, or could grant one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holder {
    /// The name by which the person knows the holder.
    pub(crate) name: String,
    /// The app's bundle, or the binary.
    pub(crate) path: PathBuf,
    /// Whether the holder is this program itself.
    pub(crate) own: bool,
    /// The pid of the responsible process, if it has ended: a terminal whose tmux server still
    /// runs.
    pub(crate) ended: Option<u32>,
}

impl Holder {
    /// The holder of the grants that apply to this process. `pid` is this process's own.
    pub(crate) fn of<O: Os>(os: &O, pid: u32) -> Self {
        let responsible = os.responsible(pid);
        let of = responsible.as_ref().map(|(of, _)| *of);
        let own = of.is_none_or(|of| of == pid);
        let ended = of.filter(|of| os.process(*of).is_none());
        let path = match responsible {
            Some((_, path)) if !path.as_os_str().is_empty() => path,
            _ => std::env::current_exe().unwrap_or_default(),
        };
        let bundle = path
            .ancestors()
            .find(|p| p.extension().is_some_and(|e| e == "app"));
        let path = bundle.map_or(path.clone(), Path::to_owned);
        let named = of.filter(|_| !own).and_then(|of| name_of(os, of));
        let stem = path
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned());
        Self {
            name: named.or(stem).unwrap_or_else(|| "deskline".into()),
            path,
            own,
            ended,
        }
    }

    /// Whether the holder is an interpreter or package runner: a grant to a runner would apply to
    /// every program that it runs, and would end with the runner's next update, which changes its
    /// path (openclaw #22179).
    pub(crate) fn is_runner(&self) -> bool {
        const RUNNERS: [&str; 8] = ["node", "bun", "deno", "npm", "npx", "uv", "uvx", "python"];
        let file = self.path.file_name().unwrap_or_default().to_string_lossy();
        let file = file.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        !self.own && RUNNERS.contains(&file)
    }

    /// Why a grant to the holder would not last, and how to start Deskline instead.
    pub(crate) fn detour(&self) -> Option<(String, &'static str)> {
        let Self { name, path, .. } = self;
        let path = path.display();
        if let Some(pid) = self.ended {
            let why = format!("the process that macOS holds responsible (pid {pid}) has ended");
            return Some((why, TMUX));
        }
        let why = if self.is_runner() {
            format!(
                "macOS holds {name} ({path}) responsible: a permission for it would apply to \
                 every program that it runs, and end with its next update"
            )
        } else {
            let whose = program::passing(&self.path).filter(|_| self.own)?;
            format!(
                "{path} belongs to {whose}, and changes with its updates: a permission ends then"
            )
        };
        Some((why, INSTALL))
    }

    /// How to turn a grant on in a pane of System Settings.
    pub(crate) fn turn_on(&self, pane: &str) -> String {
        let Self {
            name, path, own, ..
        } = self;
        let path = path.display();
        if let Some((why, instead)) = self.detour() {
            return format!("{why}. {instead}, and look under Privacy & Security › {pane} again");
        }
        let then = if *own {
            "restart the client that starts it"
        } else {
            "restart it"
        };
        let is_app = self.path.extension().is_some_and(|kind| kind == "app");
        let anew = match (own, is_app) {
            (true, true) => {
                // For `tccutil`, the screenshot permission has another name than the pane.
                let service = pane.replace(CAPTURE, "ScreenCapture");
                format!("run `{RESET} {service} {ID}`, and turn it on anew")
            }
            (true, false) => format!(
                "remove {name} with −, add {path} again. macOS 26.1 and later list apps alone: \
                 `deskline install CLIENT` makes one"
            ),
            _ => format!("remove {name} with −, add {path} again"),
        };
        format!(
            "System Settings › Privacy & Security › {pane}: turn on {name} ({path}), with + if \
             it is not in the list, then {then}. If it is on already, the grant is for an earlier \
             build: {anew}"
        )
    }
}

/// The advice if Accessibility is not allowed.
pub(crate) fn untrusted<O: Os>(os: &O) -> String {
    let holder = Holder::of(os, std::process::id());
    format!(
        "Deskline is not allowed to use Accessibility: {} needs the permission. {}",
        holder.name,
        holder.turn_on("Accessibility")
    )
}

/// The advice if pictures are not allowed. The advice becomes a note, which is cut after a line, so
/// it begins with the setting to turn on.
pub(crate) fn no_capture<O: Os>(os: &O) -> String {
    let Holder { name, path, .. } = Holder::of(os, std::process::id());
    format!(
        "turn on {name} ({}) under {CAPTURE} in System Settings, and say Later to Quit & Reopen, \
         which would end the server. `deskline doctor` says more",
        path.display()
    )
}

/// Whether pictures are known to be allowed, without asking the person.
///
/// `CGPreflightScreenCaptureAccess` is false for some command-line programs that have the grant
/// (Peekaboo #94, screenpipe #3623). But the list of windows has other apps' titles only with the
/// grant.
pub(crate) fn may_capture<O: Os>(os: &O) -> bool {
    let titled = || {
        let own = std::process::id();
        let windows = os.windows().into_iter();
        let mut others = windows.filter(|w| w.layer == 0 && w.pid != own && w.owner != "Dock");
        others.any(|w| !w.title.is_empty())
    };
    os.may_capture() || titled()
}
