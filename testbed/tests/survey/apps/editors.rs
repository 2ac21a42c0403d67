//! Editors and terminals.

use super::{append_and_save, command_line, menu};
use crate::content;
use crate::run::{Gap, Subject};

pub const fn mousepad() -> Subject {
    Subject {
        name: "mousepad",
        toolkit: "GTK 3",
        open: |bed| format!("mousepad {}", content::note(bed)).into(),
        ready: "Pears",
        click: |run| menu(run, "File", "Open..."),
        text: |run| append_and_save(run, "note.txt"),
        gaps: &[],
    }
}

pub const fn gedit() -> Subject {
    Subject {
        name: "gedit",
        toolkit: "GTK 3",
        open: |bed| format!("gedit {}", content::note(bed)).into(),
        ready: "Pears",
        click: |run| {
            run.click("AXButton", "New")?;
            run.says("Untitled Document 1")?;
            run.key("w", &["Control"])?;
            run.says("Pears")
        },
        text: |run| append_and_save(run, "note.txt"),
        gaps: &[],
    }
}

pub const fn konsole() -> Subject {
    Subject {
        name: "Konsole",
        toolkit: "Qt 5",
        open: |_| "konsole".to_owned().into(),
        ready: "File",
        click: |run| {
            run.click("AXButton", "New Tab")?;
            run.shows("a second tab", |shown| shown.role == "page tab")
        },
        text: command_line,
        gaps: &[Gap {
            role: "terminal",
            text: "",
            reason: "the Text interface of a Qt terminal is not read yet",
        }],
    }
}
