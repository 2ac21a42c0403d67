//! `deskline lint`: what the controls of an app lack for people who use a screen reader or the
//! keyboard alone, or see little.

use std::time::Duration;

use deskline_core::{Line, Rect, Role, States, Texts, Tree};
use deskline_journal::Shot;
use deskline_link::{Picture, Scope, Takes};
use deskline_mcp::{labels, pale};

use crate::cli::{LintArgs, Settings};
use crate::output::{Done, Fallible, exit_code, print};
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
    for (index, finding) in &findings {
        let place = tree.elements[*index].extents;
        let picture = place.map(|place| pictured(settings, &pictures, place));
        print(&format!(
            "{finding}{}",
            picture.transpose()?.unwrap_or_default()
        ))?;
    }
    for part in &tree.partial {
        eprintln!("deskline: not checked: {part}");
    }
    Ok(exit_code(findings.is_empty()))
}

/// Writes the picture that shows a place, which is outlined in it. Returns two spaces and the path;
/// nothing if no picture shows the place.
fn pictured(settings: &Settings, pictures: &[Picture], place: Rect) -> Fallible<String> {
    let shows = |picture: &&Picture| {
        let at = picture.pixels(place);
        let (width, height) = (picture.width as i32, picture.height as i32);
        at.is_some_and(|at| Rect::at(0, 0, width, height).contains(at.center()))
    };
    let Some(picture) = pictures.iter().find(shows) else {
        return Ok(String::new());
    };
    let files = settings.journal()?.begin("lint")?;
    files.write_picture(&Shot {
        origin: picture.origin,
        scale: picture.scale,
        clicked: picture.pixels(place),
        ..Shot::new(picture.width, picture.height, &picture.rgb)
    })?;
    Ok(format!("  {}", files.picture_path().display()))
}

/// For each finding, the element's index, and what is wrong with the element's line.
fn findings(tree: &Tree, pictures: &[Picture], takes: &[Takes]) -> Vec<(usize, String)> {
    let texts = Texts::new(tree);
    let mut findings = Vec::new();
    for (index, _) in tree.elements.iter().enumerate().filter(|(_, e)| e.visible) {
        let Some(line) = Line::new(tree, &texts, index) else {
            continue;
        };
        let unfit = unfit(tree, takes, index).into_iter();
        let unfit = unfit.map(|what| format!("{what}: {line}"));
        let mut inside = tree.elements.iter().filter(|e| e.parent == Some(index));
        let is_leaf = !inside.any(|e| e.visible);
        let all = labels(&line, tree.labelled_by_place.contains(&index)).into_iter();
        let all = all
            .chain(unfit)
            .chain(pale(&line, pictures).filter(|_| is_leaf));
        findings.extend(all.map(|finding| (index, finding)));
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
