//! How a client starts the server.

use std::path::{Path, PathBuf};

/// The server's name in the client's configuration.
pub(super) const NAME: &str = "deskline";

/// How a client starts the server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Server {
    /// The absolute path of this program.
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
}

impl Server {
    /// This program; on a Mac, its copy in the fixed place. Makes that copy unless `dry_run` is
    /// set.
    pub(super) fn this(arguments: &[String], dry_run: bool) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|e| format!("cannot find itself: {e}"))?;
        let program = fixed(&program, dry_run)?;
        let program = program
            .into_os_string()
            .into_string()
            .map_err(|path| format!("its path is not UTF-8: {}", path.display()))?;
        Ok(Self {
            program,
            arguments: arguments.to_vec(),
        })
    }
}

#[cfg(not(target_os = "macos"))]
#[allow(clippy::unnecessary_wraps)] // as on macOS
fn fixed(program: &Path, _: bool) -> Result<PathBuf, String> {
    Ok(program.to_owned())
}

#[cfg(target_os = "macos")]
fn fixed(program: &Path, dry_run: bool) -> Result<PathBuf, String> {
    let home = std::env::home_dir().ok_or("no home folder is known")?;
    if !dry_run {
        super::app::put(program, &home, sign)?;
        crate::output::say!("Put the app in {}.", super::app::place(&home).display());
    }
    Ok(super::app::program(&home))
}

/// Signs an app ad hoc.
#[cfg(target_os = "macos")]
fn sign(app: &Path) -> Result<(), String> {
    let signed = std::process::Command::new("/usr/bin/codesign")
        .args([
            "--force",
            "--identifier",
            "dev.deskline.deskline",
            "--sign",
            "-",
        ])
        .arg(app)
        .output()
        .map_err(|e| format!("codesign: {e}"))?;
    if signed.status.success() {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&signed.stderr);
    Err(format!(
        "codesign refuses {}: {}",
        app.display(),
        why.trim()
    ))
}
