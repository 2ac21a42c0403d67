//! Makes Deskline known to KWin. KWin gives pictures only to a program whose `.desktop` file
//! requests them, and finds that file by the program's path in `Exec`.

use deskline_unix::wait;
use std::fs;
use std::path::Path;
use std::time::Duration;

use super::remedy::carry_out;
use crate::display;
use crate::session::Session;
use deskline_contract::doctor::Fix;

/// The name of Deskline's `.desktop` file.
const FILE: &str = "org.deskline.Deskline.desktop";

/// The line of the file that requests KWin's interface for pictures.
const ASKS: &str = "X-KDE-DBUS-Restricted-Interfaces=org.kde.KWin.ScreenShot2\n";

/// Programs that make KDE read the `.desktop` files again: on Plasma 6, and on Plasma 5.
const READ: [&str; 2] = ["kbuildsycoca6", "kbuildsycoca5"];

/// How long KWin may take to notice a new file. It looks at most every 1.5 s, and sends no signal.
/// It may then take seconds to read the files of all programs again, and answers nobody meanwhile.
const KNOWS: Duration = Duration::from_secs(15);
const LOOK: Duration = Duration::from_millis(100);

/// Writes Deskline's `.desktop` file into the user's own `applications` folder. Returns what was
/// done.
pub(super) fn grant(session: &Session) -> Result<String, String> {
    let program = std::env::current_exe().and_then(fs::canonicalize);
    let program = program.map_err(|e| format!("the path of this program: {e}"))?;
    let data = session.folder("XDG_DATA_HOME", ".local/share");
    let data = data.ok_or("the session has no home directory")?;
    let folder = data.join("applications");
    let runs = display::kwin(session).is_some_and(|kwin| kwin.is_ok());
    write(&folder, &program)?;
    let path = folder.join(FILE).display().to_string();
    let mut reads = READ.map(|program| carry_out(&[program.to_owned()], session));
    reads.sort_by_key(Result::is_err);
    // If none of these programs is installed, KDE reads the file at the next login.
    if let Err(e) = &reads[0] {
        return Ok(format!(
            "wrote {path}, which KDE reads at the next login ({e})"
        ));
    }
    if runs {
        wait::until(KNOWS, LOOK, || (!is_missing(session)).then_some(()));
    }
    Ok(format!("wrote {path}"))
}

/// Whether KWin does not know the file, or gives no answer.
fn is_missing(session: &Session) -> bool {
    let file = Some(Fix::KwinFile);
    let Some(Ok(mut kwin)) = display::kwin(session) else {
        return true;
    };
    kwin.compositor().findings().mends_pictures == file
}

fn write(folder: &Path, program: &Path) -> Result<(), String> {
    let text = entry(program).ok_or_else(|| {
        let program = program.display();
        format!("{program} has characters that a .desktop file cannot have. Move the program")
    })?;
    let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
    fs::create_dir_all(folder).map_err(failed)?;
    // KDE may read the file at any moment, so it is replaced in one step.
    let new = folder.join(format!("{FILE}.new"));
    fs::write(&new, text).map_err(failed)?;
    fs::rename(&new, folder.join(FILE)).map_err(failed)
}

/// The text of the file. Desktop Entry Specification, "The Exec key": `None` if the path has a
/// character that needs an escape. Quotes a path that has other special characters.
fn entry(program: &Path) -> Option<String> {
    let program = program.to_str()?;
    if program
        .chars()
        .any(|c| c.is_control() || "\"`$\\%".contains(c))
    {
        return None;
    }
    let plain = |c: char| c.is_alphanumeric() || "/._+-".contains(c);
    let exec = if program.chars().all(plain) {
        program.to_owned()
    } else {
        format!("\"{program}\"")
    };
    Some(format!(
        "[Desktop Entry]\nType=Application\nName=Deskline\nNoDisplay=true\nExec={exec}\n{ASKS}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exec(program: &str) -> Option<String> {
        let entry = entry(Path::new(program))?;
        let exec = entry.lines().find_map(|line| line.strip_prefix("Exec="));
        exec.map(str::to_owned)
    }

    #[test]
    fn a_program_path_is_quoted_or_refused_in_the_desktop_file() {
        assert_eq!(exec("/usr/bin/deskline").unwrap(), "/usr/bin/deskline");
        assert_eq!(exec("/my apps/deskline").unwrap(), "\"/my apps/deskline\"");
        for hostile in ["/a\nExec=b", "/a\"b", "/a$b", "/a`b", "/a\\b", "/a%f"] {
            assert_eq!(exec(hostile), None, "{hostile}");
        }
    }

    #[test]
    fn the_desktop_file_is_written_to_the_users_own_folder() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().to_str().unwrap().to_owned();
        let environment = [("HOME".to_owned(), path)].into_iter().collect();
        let session = Session::from_environment(&environment);
        let said = grant(&session).unwrap();
        let file = home.path().join(".local/share/applications").join(FILE);
        assert!(said.contains(file.to_str().unwrap()), "{said}");
        let written = fs::read_to_string(&file).unwrap();
        let program = std::env::current_exe().unwrap().canonicalize().unwrap();
        assert!(written.contains(&format!("Exec={}\n", program.display())));
        assert!(written.ends_with(ASKS));
    }
}
