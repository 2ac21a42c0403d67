//! Recipes that lead around the bounds, as an allowed app may have saved them.

use std::fs;

use deskline_testbed::{Bed, deskline};
use serde_json::json;

use crate::TIME;
use crate::trap::Trap;

/// A recipe that opens this, and one that opens the allowed app first.
fn recipes(trap: &Trap) -> [(&'static str, String); 2] {
    let opens = json!(trap.program("mousepad-x"));
    let head = |app: &str| format!("format = 1\napp = {app}\n");
    let step = format!("[[step]]\ndo = \"open\"\nidentifier = {opens}\n");
    let first = "[[step]]\ndo = \"press_key\"\nkeyName = \"F9\"\n";
    [
        ("app", head(&opens.to_string()) + first),
        ("step", head("\"/usr/bin/mousepad\"") + &step),
    ]
}

#[test]
fn a_recipe_runs_nothing_that_its_client_may_not_run() {
    let bed = Bed::new();
    let folder = bed.path("recipes");
    fs::create_dir(&folder).unwrap();
    let at = folder.to_str().unwrap();
    for (number, bounds) in [
        vec!["--allow-app", "mousepad"],
        vec!["--deny-app", "mousepad"],
        vec!["--ask"],
        vec!["--read-only"],
    ]
    .into_iter()
    .enumerate()
    {
        let trap = Trap::new(&bed, number);
        for (name, recipe) in recipes(&trap) {
            let file = folder.join(format!("{name}.recipe.toml"));
            fs::write(&file, recipe).unwrap();
            let options = [&["--recipes", at], &bounds[..]].concat();
            let server = bed.server(&options);
            let tool = format!("recipe_{name}");
            if server.tools().iter().any(|offered| offered.name == tool) {
                // A question waits on the screen for an answer.
                let answer = server.call_timeout(&tool, json!({}), TIME);
                assert!(answer.is_none_or(|a| a.is_error), "{bounds:?}, {name}");
            }
            if bounds == ["--ask"] {
                assert!(!trap.mark.exists(), "{bounds:?}, {name}");
                continue;
            }
            let mut run = bed.command(deskline());
            run.args(&bounds).arg("run").arg(&file);
            let done = run.output().unwrap();
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            assert!(!done.status.success(), "{bounds:?}, {name}: {said}");
            assert!(!trap.mark.exists(), "{bounds:?}, {name}: {said}");
        }
    }
    // It is the bounds that keep them from running. The program has no window to wait for.
    for (number, (name, _)) in recipes(&Trap::new(&bed, 8)).iter().enumerate() {
        let trap = Trap::new(&bed, 10 + number);
        let [app, step] = recipes(&trap);
        for (name, recipe) in [app, step] {
            fs::write(folder.join(format!("{name}.recipe.toml")), recipe).unwrap();
        }
        let server = bed.server(&["--recipes", at]);
        server.call_timeout(&format!("recipe_{name}"), json!({}), TIME);
        assert!(trap.mark.exists(), "{name} runs nothing at all");
    }
}
