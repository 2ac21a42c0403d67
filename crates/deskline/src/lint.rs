//! `deskline lint`: what the controls of an app lack for people who use a screen reader or see
//! little.

use std::time::Duration;

use deskline_core::{Line, Texts, Tree};
use deskline_link::{Picture, Scope};
use deskline_mcp::{labels, pale};

use crate::cli::{LintArgs, Settings};
use crate::output::{Done, exit_code, print};
use crate::platform;

pub(crate) fn lint(settings: &Settings, args: &LintArgs) -> Done {
    let open = platform::open(settings)?;
    let mut desktop = open.platform.connect()?;
    let budget = Duration::from_secs(2);
    let tree = desktop.read(args.pid, Scope::Whole { budget })?;
    let mut pictures = Vec::new();
    for window in tree.windows.iter().filter(|window| window.on_screen) {
        let offered = desktop.pictures().map_err(deskline_link::Error::from);
        match offered.and_then(|pictures| pictures.picture(window.id)) {
            Ok(picture) => pictures.push(picture),
            Err(why) => eprintln!("deskline: contrast was not checked: {why}"),
        }
    }
    let findings = findings(&tree, &pictures);
    for finding in &findings {
        print(finding)?;
    }
    for part in &tree.partial {
        eprintln!("deskline: not checked: {part}");
    }
    Ok(exit_code(findings.is_empty()))
}

/// A line for each: what is wrong, and the element's line.
fn findings(tree: &Tree, pictures: &[Picture]) -> Vec<String> {
    let texts = Texts::new(tree);
    let mut findings = Vec::new();
    for (index, _) in tree.elements.iter().enumerate().filter(|(_, e)| e.visible) {
        let Some(line) = Line::new(tree, &texts, index) else {
            continue;
        };
        findings.extend(labels(&line, tree.labelled_by_place.contains(&index)));
        let mut inside = tree.elements.iter().filter(|e| e.parent == Some(index));
        if !inside.any(|e| e.visible) {
            findings.extend(pale(&line, pictures));
        }
    }
    findings
}
