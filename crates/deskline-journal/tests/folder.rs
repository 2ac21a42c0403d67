//! Which folders can be a journal, and the behaviour when the folder or the disk fails.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod common;

use deskline_journal::Shot;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use common::{command, journal, lines_of, open};
use deskline_journal::{Follow, Journal, JournalError, Outcome, Record, Retention};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn refusal(path: &Path) -> JournalError {
    Journal::open(Some(path), Retention::default()).unwrap_err()
}

fn record() -> Record {
    Record::new("click_and_traverse", serde_json::Map::new(), Outcome::Ok)
}

#[test]
fn journal_folders_have_mode_0700_and_files_0600() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a/b/journal");
    let journal = open(&path, Retention::default());
    assert_eq!(mode(&path), 0o700);
    let entry = journal.begin("click_and_traverse").unwrap();
    entry.write_text("text").unwrap();
    entry.write_picture(&Shot::new(1, 1, &[1, 2, 3])).unwrap();
    journal.record(&record()).unwrap();
    let mut refs = deskline_journal::RefStore::new(&journal);
    refs.assign("d", &mut common::tree(["a".to_owned()]))
        .unwrap();
    let files: Vec<_> = fs::read_dir(&path)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    assert_eq!(files.len(), 6, "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn a_symlink_as_journal_folder_is_refused_however_its_path_is_written() {
    let (dir, journal) = journal();
    let link = dir.path().join("link");
    symlink(journal.path(), &link).unwrap();
    for path in [
        link.clone(),
        link.join(""),
        link.join("."),
        dir.path().join("./link//"),
    ] {
        assert!(
            matches!(refusal(&path), JournalError::Symlink(_)),
            "{}",
            path.display()
        );
    }
    let nowhere = dir.path().join("nowhere");
    symlink(dir.path().join("missing"), &nowhere).unwrap();
    assert!(matches!(refusal(&nowhere), JournalError::Symlink(_)));
    assert!(!dir.path().join("missing").exists());
}

#[test]
fn a_file_in_place_of_the_journal_folder_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "mine").unwrap();
    assert!(matches!(refusal(&file), JournalError::NotAFolder(_)));
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn a_folder_open_to_other_users_is_refused_until_its_mode_is_0700() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    fs::create_dir(&path).unwrap();
    for bits in [0o710, 0o704, 0o755, 0o1777, 0o702] {
        fs::set_permissions(&path, PermissionsExt::from_mode(bits)).unwrap();
        let error = refusal(&path);
        let mode = format!("mode {bits:04o}");
        assert!(matches!(&error, JournalError::OpenToOthers { how, .. } if *how == mode));
        let advice = format!("chmod 700 {}", path.display());
        assert!(error.to_string().contains(&advice), "{error}");
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
    }
    fs::set_permissions(&path, PermissionsExt::from_mode(0o700)).unwrap();
    open(&path, Retention::default());
}

#[test]
fn another_users_folder_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let own = dir.path().join("journal");
    fs::create_dir(&own).unwrap();
    // Root can change a folder's owner. For other users `/` belongs to someone else.
    let path = match std::os::unix::fs::chown(&own, Some(1), None) {
        Ok(()) => &own,
        Err(_) => Path::new("/"),
    };
    let error = refusal(path);
    assert!(matches!(error, JournalError::Foreign { .. }), "{error}");
    assert!(error.to_string().contains("--dir"), "{error}");
}

#[test]
fn replacing_the_folder_by_a_symlink_redirects_no_write() {
    let (dir, journal) = journal();
    let trap = dir.path().join("trap");
    fs::create_dir(&trap).unwrap();
    let entry = journal.begin("click_and_traverse").unwrap();
    fs::rename(journal.path(), dir.path().join("moved")).unwrap();
    symlink(&trap, journal.path()).unwrap();
    assert!(matches!(
        entry.write_text("text"),
        Err(JournalError::Symlink(_))
    ));
    assert!(matches!(
        journal.record(&record()),
        Err(JournalError::Symlink(_))
    ));
    assert_eq!(fs::read_dir(&trap).unwrap().count(), 0);
}

#[test]
fn files_that_are_symlinks_are_not_followed() {
    let (dir, journal) = journal();
    let outside = dir.path().join("outside");
    fs::write(&outside, "mine").unwrap();
    for name in ["journal.jsonl", ".stamp", "refs"] {
        let _ = fs::remove_file(journal.path().join(name));
        symlink(&outside, journal.path().join(name)).unwrap();
    }
    journal.record(&record()).unwrap_err();
    journal.begin("click_and_traverse").unwrap_err();
    let mut refs = deskline_journal::RefStore::new(&journal);
    refs.assign("d", &mut common::tree(["a".to_owned()]))
        .unwrap_err();
    assert_eq!(fs::read_to_string(&outside).unwrap(), "mine");
}

#[test]
fn a_fifo_in_place_of_a_journal_file_blocks_no_call() {
    let (_dir, journal) = journal();
    for name in ["journal.jsonl", ".stamp"] {
        let _ = fs::remove_file(journal.path().join(name));
        let made = Command::new("mkfifo")
            .arg(journal.path().join(name))
            .status();
        assert!(made.unwrap().success());
    }
    journal.record(&record()).unwrap_err();
    journal.records(1).unwrap_err();
    journal.begin("click_and_traverse").unwrap_err();
}

#[test]
fn a_log_that_would_fill_the_memory_is_not_read() {
    let (_dir, journal) = journal();
    journal.record(&record()).unwrap();
    let mut follow = Follow::all(&journal);
    assert_eq!(follow.read().unwrap().len(), 1);
    // A file with a hole, which takes no room on the disk.
    let log = fs::OpenOptions::new()
        .append(true)
        .open(journal.path().join("journal.jsonl"));
    log.unwrap().set_len(1 << 40).unwrap();
    let refused = [journal.records(1).err(), follow.read().err()];
    for error in refused {
        let why = error.unwrap().to_string();
        assert!(why.contains("journal.jsonl: file too large"), "{why}");
    }
}

#[test]
fn a_journal_that_is_removed_in_use_is_created_again() {
    let (_dir, journal) = journal();
    let entry = journal.begin("click_and_traverse").unwrap();
    fs::remove_dir_all(journal.path()).unwrap();
    entry.write_text("text").unwrap();
    journal.record(&record()).unwrap();
    assert_eq!(fs::read_to_string(entry.text_path()).unwrap(), "text");
    assert_eq!(mode(journal.path()), 0o700);
    assert!(journal.begin("click_and_traverse").unwrap().stamp() > entry.stamp());
}

#[test]
fn reading_a_journal_that_is_removed_does_not_create_it_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let journal = Journal::open(Some(&path), Retention::default()).unwrap();
    journal.record(&record()).unwrap();
    let reader = Journal::open_to_read(Some(&path)).unwrap();
    assert_eq!(reader.records(9).unwrap().len(), 1);
    fs::remove_dir_all(&path).unwrap();
    assert!(reader.records(9).is_err());
    assert!(!path.exists());
}

#[test]
fn a_folder_without_write_permission_is_an_error() {
    let test = "a_folder_without_write_permission_is_an_error";
    if let Some(path) = common::child_dir() {
        let journal = open(&path, Retention::default());
        for error in [
            journal.begin("click_and_traverse").unwrap_err(),
            journal.record(&record()).unwrap_err(),
        ] {
            println!("error: {error}");
        }
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    fs::create_dir(&path).unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o500)).unwrap();
    let mut child = command(test, &path);
    if fs::metadata(&path).unwrap().uid() == 0 {
        // Permissions do not bind root: run the test as another user, who can reach the test binary
        // only through a copy.
        let binary = dir.path().join("test");
        fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
        fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
        std::os::unix::fs::chown(&path, Some(65_534), Some(65_534)).unwrap();
        child = common::command_of(&binary, test, &path);
        std::os::unix::process::CommandExt::uid(&mut child, 65_534);
    }
    // While another test forks, the copy counts as open for writing, and cannot be started.
    let child = (0..1_000)
        .map(|_| child.spawn())
        .find(|spawned| !matches!(spawned, Err(error) if error.kind() == ErrorKind::ExecutableFileBusy))
        .unwrap();
    let errors = lines_of(child.unwrap(), "error: ");
    assert_eq!(errors.len(), 2);
    for error in errors {
        assert!(error.contains("ermission denied"), "{error}");
        assert!(error.contains("--dir"), "{error}");
    }
}

/// A file system of 64 KiB, unmounted when dropped.
struct TinyDisk(tempfile::TempDir);

impl TinyDisk {
    /// `None` if this user may not mount.
    fn new() -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=64k,mode=0700", "tmpfs"])
            .arg(dir.path())
            .output();
        mounted
            .is_ok_and(|output| output.status.success())
            .then(|| Self(dir))
    }
}

impl Drop for TinyDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_is_an_error_and_loses_nothing() {
    let Some(disk) = TinyDisk::new() else {
        eprintln!("skipped: may not mount a tmpfs");
        return;
    };
    let journal = open(disk.0.path(), Retention::default());
    let entry = journal.begin("click_and_traverse").unwrap();
    entry.write_text("first").unwrap();
    journal.record(&record()).unwrap();

    let error = entry.write_text(&"x".repeat(100_000)).unwrap_err();
    assert!(
        error.to_string().contains("No space left on device"),
        "{error}"
    );
    assert!(error.to_string().contains("--keep"), "{error}");
    assert_eq!(fs::read_to_string(entry.text_path()).unwrap(), "first");

    // Fill the disk to the last byte, then write to the log and the refs.
    let mut wordy = record();
    wordy.app = Some("y".repeat(3_000));
    let mut written = 1;
    let error = loop {
        match journal.record(&wordy) {
            Ok(()) => written += 1,
            Err(error) => break error,
        }
    };
    assert!(
        error.to_string().contains("No space left on device"),
        "{error}"
    );
    let log = fs::read_to_string(journal.path().join("journal.jsonl")).unwrap();
    assert!(log.ends_with('\n'));
    assert_eq!(log.lines().count(), written);
    assert_eq!(journal.records(usize::MAX).unwrap().len(), written);

    let mut refs = deskline_journal::RefStore::new(&journal);
    let mut tree = common::tree((0..10_000).map(|i| i.to_string()));
    let error = refs.assign("d", &mut tree).unwrap_err();
    assert!(
        error.to_string().contains("No space left on device"),
        "{error}"
    );
    assert!(
        tree.elements
            .iter()
            .all(|element| element.reference.is_some())
    );

    let files = fs::read_dir(journal.path()).unwrap();
    let left: Vec<_> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains(".tmp"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}
