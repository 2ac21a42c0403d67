//! `deskline demo`: a series of calls on a private desktop, as an agent would make them, with the
//! answers as the model sees them.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use deskline_link::Cancel;
use deskline_mcp::{Dispatcher, Nobody};
use serde_json::{Value, json};

use crate::cli::Settings;
use crate::output::{Done, Fallible, print};
use crate::run::{RESTORE, dispatcher, in_runtime, until_stopped};

/// The demo leaves its files here.
const FOLDER: &str = "/tmp/deskline-demo";

/// How many lines of the last diff are shown.
const MOST: usize = 12;

/// `deskline demo`.
pub(crate) fn demo(settings: &Settings) -> Done {
    let folder = new_folder()?;
    let journal = folder.join("journal");
    let settings = Settings {
        dir: Some(journal.clone()),
        desktop: Some(settings.desktop.unwrap_or_default()),
        ..settings.clone()
    };
    let (dispatcher, _open) = dispatcher(&settings)?;
    in_runtime(async {
        let cancel = Cancel::new();
        let done = until_stopped(&cancel, Box::pin(links(&dispatcher, &cancel, &folder))).await?;
        dispatcher.stop(RESTORE).await;
        done
    })?;
    show_files(&journal)?;
    let dir = journal.display();
    print(&format!(
        "\nTo look at it in a browser: deskline --dir {dir} view"
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Makes an empty folder that only this user can read. Removes the folder of an earlier demo.
fn new_folder() -> Result<PathBuf, String> {
    let folder = Path::new(FOLDER);
    let made = || {
        if folder.symlink_metadata().is_ok() {
            fs::remove_dir_all(folder)?;
        }
        DirBuilder::new().mode(0o700).create(folder)
    };
    made().map_err(|e| format!("{FOLDER}: {e}"))?;
    Ok(folder.to_owned())
}

/// The calls: a sum on the calculator, and a note in an editor, saved through the file dialog.
async fn links(server: &Dispatcher, cancel: &Cancel, folder: &Path) -> Fallible {
    let link = async |tool: &str, arguments: Value| link(server, cancel, tool, &arguments).await;
    let open = async |app: &str| {
        let identifier = json!({"identifier": app});
        link("open_application_and_traverse", identifier).await
    };
    let calculator = open("org.gnome.Calculator").await?;
    let pid = pid(&calculator)?;
    let mut product = String::new();
    for key in ["7", "×", "6", "="] {
        let click = json!({"pid": pid, "element": key, "role": "AXButton"});
        product = link("click_and_traverse", click).await?;
    }
    if !product.contains("42") {
        return Err("the calculator does not show 42".into());
    }
    let editor = open("mousepad").await?;
    let pid = self::pid(&editor)?;
    let note = folder.join("note.txt");
    let steps = json!([
        {"do": "type", "text": "7 × 6 = 42\n"},
        {"do": "press_key", "keyName": "s", "modifierFlags": ["Control"]},
        {"do": "type", "text": note.to_string_lossy(), "pressKey": "Return"},
        {"do": "wait_for", "element": "Save As", "role": "AXWindow", "state": "absent"},
    ]);
    link("chain_and_traverse", json!({"pid": pid, "steps": steps})).await?;
    let saved = fs::read_to_string(&note).map_err(|e| format!("the note was not saved: {e}"))?;
    print(&format!("\n$ cat {}\n{}", note.display(), saved.trim_end()))?;
    Ok(())
}

/// Calls a tool, and prints the answer as the model sees it.
async fn link(
    server: &Dispatcher,
    cancel: &Cancel,
    tool: &str,
    arguments: &Value,
) -> Fallible<String> {
    print(&format!("\n▸ {tool} {arguments}"))?;
    let arguments = arguments.as_object().ok_or("no object")?;
    let reply = server.call(tool, arguments, cancel, &Nobody).await?;
    for line in reply.text.lines() {
        print(&format!("  {line}"))?;
    }
    if reply.is_error {
        return Err(format!("{tool} failed. The demo needs gnome-calculator and mousepad").into());
    }
    Ok(reply.text)
}

fn pid(answer: &str) -> Fallible<u32> {
    let pid = answer.lines().find_map(|line| line.strip_prefix("pid: "));
    Ok(pid.ok_or("the answer has no pid")?.trim().parse()?)
}

/// Lists the journal's files, and prints the newest diff.
fn show_files(journal: &Path) -> Fallible {
    let mut files = fs::read_dir(journal)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>, std::io::Error>>()?;
    files.sort();
    print(&format!("\n$ ls -s {}", journal.display()))?;
    for file in &files {
        let size = file.metadata()?.len().div_ceil(1024);
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        print(&format!("{size:5}K {name}"))?;
    }
    let tree = |file: &&PathBuf| file.extension().is_some_and(|e| e == "txt");
    let newest = files.iter().rev().find(tree).ok_or("no tree file")?;
    print(&format!("\n$ grep '^[+~-] ' {}", newest.display()))?;
    let text = fs::read_to_string(newest)?;
    let changes = text
        .lines()
        .filter(|l| l.starts_with(['+', '~', '-']))
        .take(MOST);
    for line in changes {
        print(line)?;
    }
    Ok(())
}
