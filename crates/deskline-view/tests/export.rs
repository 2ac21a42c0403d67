//! The file of `--export`: readable by its owner alone, and replaces any earlier file.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod common;

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use common::Run;

#[test]
fn an_exported_file_is_private_and_does_not_replace_a_symlink() {
    let run = Run::new();
    run.click("Notes", "Send");
    let export = |path: &Path| deskline_view::export(&run.journal, 9, path, &mut |_, _| None);
    let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let there = run.outside("run.html", "old");
    std::fs::set_permissions(&there, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(export(&there).unwrap(), 1);
    assert_eq!(mode(&there), 0o600);
    assert!(
        std::fs::read_to_string(&there)
            .unwrap()
            .contains("Sending Send")
    );

    let target = run.outside("target.txt", "mine");
    let link = target.with_file_name("link.html");
    symlink(&target, &link).unwrap();
    let refused = export(&link).unwrap_err();
    assert!(
        refused.to_string().contains("not a regular file"),
        "{refused}"
    );
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "mine");
    assert!(link.is_symlink());

    let folder = target.parent().unwrap();
    assert!(export(folder).is_err());
    let left: Vec<_> = std::fs::read_dir(folder).unwrap().collect();
    assert_eq!(left.len(), 4, "{left:?}");
}
