//! Editors and terminals.

use super::{append_and_save, command_line, menu};
use crate::content;
use crate::run::Subject;

pub const MOUSEPAD: Subject = Subject {
    name: "mousepad",
    toolkit: "GTK 3",
    open: |bed| format!("mousepad {}", content::note(bed)).into(),
    ready: "Pears",
    click: |run| menu(run, "File", "Open..."),
    text: |run| append_and_save(run, "note.txt"),
    gaps: &[],
};

pub const GEDIT: Subject = Subject {
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
};

pub const KONSOLE: Subject = Subject {
    name: "Konsole",
    toolkit: "Qt 5",
    open: |_| "konsole".to_owned().into(),
    ready: "File",
    click: |run| {
        run.click("AXButton", "New Tab")?;
        run.shows("a second tab", |shown| shown.role == "page tab")
    },
    text: command_line,
    gaps: &[],
};

pub const GEANY: Subject = Subject {
    name: "Geany",
    toolkit: "GTK 3",
    open: |bed| format!("geany {}", content::c_program(bed)).into(),
    ready: "twice",
    click: |run| menu(run, "Search", "Find"),
    text: |run| {
        run.click("AXTextArea", "#include")?;
        append_and_save(run, "orchard.c")
    },
    gaps: &[],
};

pub const KATE: Subject = Subject {
    name: "Kate",
    toolkit: "Qt 5",
    open: |bed| format!("kate {}", content::c_program(bed)).into(),
    ready: "twice",
    click: |run| menu(run, "File", "Save All"),
    text: |run| {
        run.click("AXTextArea", "orchard.c")?;
        append_and_save(run, "orchard.c")
    },
    gaps: &[],
};

pub const GNOME_TERMINAL: Subject = Subject {
    name: "gnome-terminal",
    toolkit: "GTK 3",
    open: |_| "gnome-terminal".to_owned().into(),
    ready: "root@",
    click: |run| {
        run.click("AXCheckBox", "Menu")?;
        run.says("New Window")?;
        run.key("Escape", &[])?;
        run.hides("the menu", |shown| shown.says("New Window"))
    },
    text: command_line,
    gaps: &[],
};

pub const XFCE4_TERMINAL: Subject = Subject {
    name: "xfce4-terminal",
    toolkit: "GTK 3",
    open: |_| "xfce4-terminal --disable-server".to_owned().into(),
    ready: "root@",
    click: |run| menu(run, "File", "Open Tab"),
    text: command_line,
    gaps: &[],
};
