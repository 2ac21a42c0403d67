//! The fixed place of this program on a Mac.
//!
//! macOS grants permissions to a program at a path. Package managers change a program's path with
//! each update (Homebrew's Cellar, npx and uvx caches), and the settings of macOS 26.1 and later
//! list only apps, no bare programs (yabai #2086, #2688). So the client starts
//! `~/Applications/Deskline.app`, however this program was installed.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The app's description, without its version.
const INFO: &str = include_str!("../../../../packaging/macos/Info.plist");

/// The program within an app.
const PROGRAM: &str = "Contents/MacOS/deskline";

/// The app's path in this user's home.
pub(super) fn place(home: &Path) -> PathBuf {
    home.join("Applications/Deskline.app")
}

/// The program that a client is to start.
pub(super) fn program(home: &Path) -> PathBuf {
    place(home).join(PROGRAM)
}

/// Puts the app in its place: a copy of the app that contains `exe`, or a new one with `exe` alone.
/// A new app has no signature, so `sign` is called on it.
pub(super) fn put(
    exe: &Path,
    home: &Path,
    sign: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<(), String> {
    let app = place(home);
    let exe = fs::canonicalize(exe).map_err(|e| failed(exe, &e))?;
    if fs::canonicalize(&app).is_ok_and(|app| exe.starts_with(app)) {
        return Ok(());
    }
    let new = app.with_extension("new");
    let bundle = exe
        .ancestors()
        .find(|path| path.extension().is_some_and(|kind| kind == "app"));
    let made = remove(&new).and_then(|()| match bundle {
        Some(bundle) => copy(bundle, &new),
        None => make(&exe, &new),
    });
    made.map_err(|e| failed(&new, &e))?;
    if bundle.is_none() {
        sign(&new)?;
    }
    remove(&app)
        .and_then(|()| fs::rename(&new, &app))
        .map_err(|e| failed(&app, &e))
}

fn failed(path: &Path, e: &io::Error) -> String {
    format!("{}: {e}", path.display())
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Copies a folder. `fs::copy` keeps the quarantine attribute of a download, so Gatekeeper still
/// checks it.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

fn make(exe: &Path, app: &Path) -> io::Result<()> {
    let program = app.join(PROGRAM);
    fs::create_dir_all(program.parent().unwrap_or(app))?;
    fs::copy(exe, &program)?;
    let info = INFO.replace("@VERSION@", env!("CARGO_PKG_VERSION"));
    fs::write(app.join("Contents/Info.plist"), info)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_installation_puts_the_app_in_the_same_place() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        for (nth, from) in ["Cellar/deskline/0.2.0/bin", ".npm/_npx/ab12/bin"]
            .into_iter()
            .enumerate()
        {
            let exe = home.join(from).join("deskline");
            fs::create_dir_all(exe.parent().unwrap()).unwrap();
            fs::write(&exe, from).unwrap();
            let mut signed = 0;
            put(&exe, home, |_| {
                signed += 1;
                Ok(())
            })
            .unwrap();
            assert_eq!(
                (fs::read_to_string(program(home)).unwrap(), signed),
                (from.into(), 1)
            );
            let info = fs::read_to_string(place(home).join("Contents/Info.plist")).unwrap();
            assert!(
                info.contains(env!("CARGO_PKG_VERSION")) && !info.contains('@'),
                "{nth}"
            );
        }
        let left = fs::read_dir(home.join("Applications")).unwrap().count();
        assert_eq!(left, 1);
    }

    #[test]
    fn an_app_is_copied_with_its_signature_and_signed_by_nobody_else() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let bundle = home.join("Caskroom/deskline/0.2.0/Deskline.app");
        fs::create_dir_all(bundle.join("Contents/MacOS")).unwrap();
        fs::create_dir_all(bundle.join("Contents/_CodeSignature")).unwrap();
        fs::write(bundle.join("Contents/_CodeSignature/CodeResources"), "seal").unwrap();
        fs::write(bundle.join(PROGRAM), "program").unwrap();
        let refuses = |_: &Path| Err("signed".to_owned());
        put(&bundle.join(PROGRAM), home, refuses).unwrap();
        let seal = place(home).join("Contents/_CodeSignature/CodeResources");
        assert_eq!(fs::read_to_string(seal).unwrap(), "seal");
        // A program that was started from there leaves the app as it is.
        put(&program(home), home, refuses).unwrap();
        assert_eq!(fs::read_to_string(program(home)).unwrap(), "program");
    }

    #[test]
    fn an_app_that_cannot_be_signed_does_not_replace_the_one_that_is_there() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let exe = home.join("deskline");
        fs::write(&exe, "old").unwrap();
        put(&exe, home, |_| Ok(())).unwrap();
        fs::write(&exe, "new").unwrap();
        put(&exe, home, |_| Err("no codesign".into())).unwrap_err();
        assert_eq!(fs::read_to_string(program(home)).unwrap(), "old");
    }
}
