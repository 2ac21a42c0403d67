//! The folder on Windows: who may read it, files in use, locks.
#![cfg(windows)]
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::Command;

use deskline_journal::{Follow, Journal, JournalError, Outcome, Record, Retention};

fn open(path: &Path) -> Result<Journal, JournalError> {
    Journal::open(Some(path), Retention::default())
}

fn icacls(path: &Path, arguments: &[&str]) -> String {
    let output = Command::new("icacls").arg(path).args(arguments).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Wine keeps no access control list beyond the mode of the file below it.
fn is_wine() -> bool {
    std::env::var_os("WINEPREFIX").is_some()
}

#[test]
fn a_new_folder_is_accessible_to_the_user_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    open(&path).unwrap();
    open(&path).unwrap();
    if !is_wine() {
        let list = icacls(&path, &[]);
        assert_eq!(list.matches("(F)").count(), 1, "{list}");
    }
}

#[test]
fn a_folder_that_is_open_to_others_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    fs::create_dir(&path).unwrap();
    if !is_wine() {
        icacls(&path, &["/grant", "*S-1-1-0:(OI)(CI)R"]);
    }
    let error = open(&path).unwrap_err();
    assert!(
        matches!(&error, JournalError::OpenToOthers { how, .. } if how.contains("S-1-1-0")),
        "{error}"
    );
    assert!(error.to_string().contains("icacls"), "{error}");
}

#[test]
fn a_file_or_symlink_in_place_of_the_folder_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "mine").unwrap();
    assert!(matches!(
        open(&file),
        Err(JournalError::NotAFolder(_) | JournalError::Io { .. })
    ));
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    let link = dir.path().join("link");
    // Creating links needs a privilege.
    if !is_wine() && std::os::windows::fs::symlink_dir(dir.path(), &link).is_ok() {
        assert!(matches!(open(&link), Err(JournalError::Symlink(_))));
    }
}

#[test]
fn the_folder_cannot_be_replaced_while_it_is_open() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    let journal = open(&path).unwrap();
    let entry = journal.begin("click").unwrap();
    entry.write_text("text").unwrap();
    fs::rename(&path, dir.path().join("elsewhere")).unwrap_err();
    assert_eq!(journal.list().unwrap()[0].bytes, 4);
    drop((entry, journal));
    fs::rename(&path, dir.path().join("elsewhere")).unwrap();
}

#[test]
fn paths_in_answers_have_slashes() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(&dir.path().join("journal")).unwrap();
    let entry = journal.begin("click").unwrap();
    entry.write_text("text").unwrap();
    let path = entry.text_path();
    let shown = path.display().to_string();
    assert!(!shown.contains('\\') && shown.contains(":/"), "{shown}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "text");
    assert_eq!(journal.resolve_inside(&shown).unwrap(), path);
    let name = shown.rsplit_once('/').unwrap().1;
    let native = journal.path().join(name).display().to_string();
    assert_eq!(
        journal.resolve_inside(&native.replace('/', "\\")).unwrap(),
        path
    );
}

#[test]
fn a_file_that_is_open_is_replaced_and_readers_keep_the_old_one() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(&dir.path().join("journal")).unwrap();
    let entry = journal.begin("click").unwrap();
    entry.write_text("old").unwrap();
    let mut old = fs::File::open(entry.text_path()).unwrap();
    entry.write_text("newer").unwrap();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut old, &mut text).unwrap();
    assert_eq!(text, "old");
    assert_eq!(fs::read_to_string(entry.text_path()).unwrap(), "newer");
}

#[test]
fn the_log_grows_under_a_reader() {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(&dir.path().join("journal")).unwrap();
    let record = || Record::new("click", serde_json::Map::new(), Outcome::Ok);
    journal.record(&record()).unwrap();
    let mut follow = Follow::all(&journal);
    assert_eq!(follow.read().unwrap().len(), 1);
    journal.record(&record()).unwrap();
    assert_eq!(follow.read().unwrap().len(), 1);
    assert_eq!(journal.records(9).unwrap().len(), 2);
}
