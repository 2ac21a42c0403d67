//! The apps, with their content and the steps in each.

mod desktop;
mod documents;
mod editors;
mod files;
mod pictured;
mod small;

pub use desktop::*;
pub use documents::*;
pub use editors::*;
pub use files::*;
pub use pictured::*;
pub use small::*;

use crate::compare::plain;
use crate::run::{Outcome, Run, wait};
use crate::shown::Shown;

/// Opens a menu of the menu bar, waits until an item of it shows, and closes the menu.
fn menu(run: &Run<'_>, menu: &str, item: &str) -> Outcome {
    run.click("AXMenuBarItem", menu)?;
    run.shows(&format!("the menu item {item}"), |shown| {
        shown.role.contains("menu") && plain(&shown.name).starts_with(item)
    })?;
    run.key("Escape", &[])?;
    Ok(())
}

/// Clicks a check box with this name, and waits until one more or one fewer is checked.
fn toggle(run: &Run<'_>, name: &str) -> Outcome {
    let on = |shown: &Shown| shown.says(name) && shown.is("checked");
    let before = run.count(on);
    run.click("AXCheckBox", name)?;
    wait("a check box that has changed", || run.count(on) != before)
}

/// Appends text in an editor, and saves.
fn append_and_save(run: &Run<'_>, file: &str) -> Outcome {
    run.key("End", &["Control"])?;
    run.types(WORDS, None)?;
    run.key("s", &["Control"])?;
    run.file_has(file, WORDS)
}

/// Runs a command in a terminal that writes to a file.
fn command_line(run: &Run<'_>) -> Outcome {
    let file = run.path("said.txt");
    run.types(
        &format!("echo {WORDS} > {}", file.display()),
        Some("Return"),
    )?;
    run.file_has("said.txt", WORDS)
}

/// The text to type.
const WORDS: &str = "Quinces are yellow";
