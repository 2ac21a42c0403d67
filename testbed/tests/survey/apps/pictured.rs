//! Apps without a tree: their words are read from the picture.

use deskline_testbed::Bed;
use serde_json::json;

use super::{WORDS, append_and_save};
use crate::content;
use crate::run::{Opening, Subject};

pub const TK: Subject = Subject {
    name: "Tk",
    toolkit: "Tk, no tree",
    open: |bed| script(bed, "tk.py"),
    ready: "Total 42",
    click: |run| {
        run.click("AXStaticText", "Go")?;
        run.file_has("log", "go \n")
    },
    text: |run| {
        let window = run.window()?;
        let entry = json!({"x": window.x + 60, "y": window.y + 55, "text": WORDS});
        run.call("click_and_traverse", entry)?;
        run.says(WORDS)?;
        run.click("AXStaticText", "Go")?;
        run.file_has("log", &format!("go {WORDS}\n"))
    },
    gaps: &[],
};

pub const SDL: Subject = Subject {
    name: "pygame",
    toolkit: "SDL, no tree",
    open: |bed| script(bed, "sdl.py"),
    ready: "Total 42",
    click: |run| {
        run.click("AXStaticText", "Start")?;
        run.file_has("log", "pressed\n")
    },
    text: |run| {
        run.types(WORDS, Some("Return"))?;
        run.says(WORDS)?;
        run.file_has("log", &format!("typed {WORDS}\n"))
    },
    gaps: &[],
};

fn script(bed: &Bed, name: &str) -> Opening {
    let log = bed.path("log");
    format!(
        "/usr/bin/python3 -B {} {}",
        content::app(name),
        log.display()
    )
    .into()
}

pub const NOTEPAD: Subject = Subject {
    name: "notepad",
    toolkit: "Wine, no tree",
    open: |bed| {
        let prefix = content::wine(bed);
        format!("env {prefix} wine notepad {}", content::note(bed)).into()
    },
    ready: "Pears are green",
    click: |run| {
        run.click("AXStaticText", "Edit")?;
        run.says("Time/Date")?;
        run.click("AXStaticText", "Time/Date")?;
        run.key("s", &["Control"])?;
        // The app shows the time.
        run.file_has("note.txt", ":")
    },
    text: |run| append_and_save(run, "note.txt"),
    gaps: &[],
};

pub const XTERM: Subject = Subject {
    name: "xterm",
    toolkit: "Xlib, no tree",
    open: |bed| terminal(bed, "xterm -fa Monospace -fs 14 -e sh"),
    ..KITTY
};

/// A terminal, whose program reports clicks and keys.
pub const KITTY: Subject = Subject {
    name: "kitty",
    toolkit: "OpenGL, no tree",
    open: |bed| terminal(bed, "kitty sh"),
    ready: "Total 42",
    click: |run| {
        run.click("AXStaticText", "Total 42")?;
        run.file_has("said", "\x1b[<0;")
    },
    text: |run| {
        run.types(WORDS, None)?;
        run.file_has("said", WORDS)
    },
    gaps: &[],
};

fn terminal(bed: &Bed, start: &str) -> Opening {
    format!("{start} {}", content::mouse_report(bed)).into()
}
