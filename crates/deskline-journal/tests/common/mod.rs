//! Journals in temporary folders, trees made of names, and the test binary as other processes.
#![allow(dead_code, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use deskline_core::{App, Element, ElementId, Role, Tree};
use deskline_journal::{Journal, Retention};
use tempfile::TempDir;

/// Gives a process started by [`spawn`] its folder.
const CHILD: &str = "DESKLINE_JOURNAL_TEST_CHILD";

pub fn journal() -> (TempDir, Journal) {
    let dir = tempfile::tempdir().unwrap();
    let journal = open(&dir.path().join("journal"), Retention::default());
    (dir, journal)
}

pub fn open(path: &Path, keep: Retention) -> Journal {
    Journal::open(Some(path), keep).unwrap()
}

/// The folder that [`spawn`] gave this process; `None` in the test itself.
pub fn child_dir() -> Option<PathBuf> {
    std::env::var_os(CHILD).map(PathBuf::from)
}

/// The test `name` of this binary, as another process that works in `dir`.
pub fn command(name: &str, dir: &Path) -> Command {
    command_of(&std::env::current_exe().unwrap(), name, dir)
}

pub fn command_of(binary: &Path, name: &str, dir: &Path) -> Command {
    let mut command = Command::new(binary);
    command
        .args(["--exact", name, "--nocapture"])
        .env(CHILD, dir)
        .stdout(Stdio::piped());
    command
}

pub fn spawn(name: &str, dir: &Path) -> Child {
    command(name, dir).spawn().unwrap()
}

/// The lines of a process's output that start with `tag`.
pub fn lines_of(child: Child, tag: &str) -> Vec<String> {
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    text.lines()
        .filter_map(|line| line.split_once(tag))
        .map(|(_, rest)| rest.to_owned())
        .collect()
}

pub fn tree(ids: impl IntoIterator<Item = String>) -> Tree {
    Tree::new(
        App {
            name: "Messages".into(),
            pid: 4821,
        },
        ids.into_iter().map(element).collect(),
    )
}

fn element(id: String) -> Element {
    Element {
        visible: false,
        ..Element::new(ElementId::new(id), Role::BUTTON, "push button")
    }
}
