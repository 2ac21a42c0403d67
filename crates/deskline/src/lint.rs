//! `deskline lint`: what the controls of an app lack for people who use a screen reader or the
//! keyboard alone, or see little.

use std::time::Duration;

use deskline_core::{Line, Role, States, Texts, Tree};
use deskline_link::{Picture, Scope, Takes};
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
    let takes = tree.elements.iter().map(|element| {
        let takes = element.visible.then(|| desktop.takes(&element.id));
        takes.unwrap_or(Ok(Takes::default()))
    });
    let takes = takes.collect::<Result<Vec<_>, _>>().unwrap_or_else(|why| {
        eprintln!("deskline: keys and roles were not checked: {why}");
        vec![Takes::default(); tree.elements.len()]
    });
    let findings = findings(&tree, &pictures, &takes);
    for finding in &findings {
        print(finding)?;
    }
    for part in &tree.partial {
        eprintln!("deskline: not checked: {part}");
    }
    Ok(exit_code(findings.is_empty()))
}

/// A line for each finding: what is wrong, and the element's line.
fn findings(tree: &Tree, pictures: &[Picture], takes: &[Takes]) -> Vec<String> {
    let texts = Texts::new(tree);
    let mut findings = Vec::new();
    for (index, _) in tree.elements.iter().enumerate().filter(|(_, e)| e.visible) {
        let Some(line) = Line::new(tree, &texts, index) else {
            continue;
        };
        findings.extend(labels(&line, tree.labelled_by_place.contains(&index)));
        let unfit = unfit(tree, takes, index);
        findings.extend(unfit.into_iter().map(|what| format!("{what}: {line}")));
        let mut inside = tree.elements.iter().filter(|e| e.parent == Some(index));
        if !inside.any(|e| e.visible) {
            findings.extend(pale(&line, pictures));
        }
    }
    findings
}

/// What is wrong with an element that can be pressed: the keyboard does not reach it, or its role
/// does not tell that it can be pressed.
fn unfit(tree: &Tree, takes: &[Takes], index: usize) -> Vec<&'static str> {
    let element = &tree.elements[index];
    let enabled = !element.states.contains(States::DISABLED);
    // Elements with these roles take keys through their container, or through one of their parts
    // that no tree of GTK 3 has.
    let held = matches!(
        element.role,
        Role::MENU_ITEM | Role::MENU_BAR_ITEM | Role::TAB | Role::COMBO_BOX
    );
    if !takes[index].press || !enabled || held {
        return Vec::new();
    }
    let plain = [Role::STATIC_TEXT, Role::IMAGE, Role::GROUP, Role::UNKNOWN];
    let is_plain = plain.contains(&element.role);
    // A page may listen for all clicks in an area that contains the actual controls.
    if is_plain && tree.inside(index).any(|at| takes[at].press) {
        return Vec::new();
    }
    let whole = [Role::WINDOW, Role::SHEET, Role::POPOVER, Role::WEB_AREA];
    let around = tree.outwards(index);
    let around = around.take_while(|at| !whole.contains(&tree.elements[*at].role));
    let keys = around.chain(tree.inside(index)).any(|at| takes[at].keys);
    let wrong = [
        (!keys, "unreachable by keyboard"),
        (is_plain, "its role tells of no click"),
    ];
    wrong
        .into_iter()
        .filter_map(|(is, what)| is.then_some(what))
        .collect()
}
