//! Apps without a tree: their words are read from the picture.

use deskline_testbed::Bed;
use serde_json::json;

use super::WORDS;
use crate::content;
use crate::run::{Opening, Subject};

pub const fn tk() -> Subject {
    Subject {
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
    }
}

pub const fn sdl() -> Subject {
    Subject {
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
    }
}

fn script(bed: &Bed, name: &str) -> Opening {
    let log = bed.path("log");
    format!(
        "/usr/bin/python3 -B {} {}",
        content::app(name),
        log.display()
    )
    .into()
}
