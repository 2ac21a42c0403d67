//! Random events on the desktop: an app or the person does something, or a part breaks. The text of
//! each element ends in a number that no other element has.

use std::fmt::Write as _;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use deskline_core::{Point, States};
use fastrand::Rng;

use crate::script::{Happening, When, person};
use crate::world::{Health, World};

/// The events of a link that the desktop does not show.
#[derive(Default)]
pub(super) struct Log {
    /// The last number that was assigned to an element, an app or a text.
    pub(super) next: u32,
    /// The points that the person moved the pointer to, and the windows that they switched to.
    pub(super) moved: Vec<Point>,
    pub(super) switched: Vec<u64>,
    pub(super) panicked: bool,
    pub(super) broken: bool,
    /// Whether a menu was open at an event.
    pub(super) menus: bool,
}

pub(super) type Shared = Arc<Mutex<Log>>;

pub(super) fn number(log: &Shared) -> u32 {
    let mut log = log.lock().unwrap();
    log.next += 1;
    log.next
}

pub(super) fn app_starts(world: &mut World, rng: &mut Rng, log: &Shared) -> u32 {
    let pid = 100 + number(log);
    world.app(pid, &format!("App {pid}"));
    window_opens(world, rng, log, pid);
    pid
}

fn window_opens(world: &mut World, rng: &mut Rng, log: &Shared, pid: u32) {
    const KINDS: [(&str, &str, &str); 8] = [
        ("AXButton", "Press", ""),
        ("AXButton", "Go", ""),
        ("AXTextField", "Field", " editable"),
        ("AXTextField", "Secret", " editable secure"),
        ("AXCheckBox", "Check", ""),
        ("AXStaticText", "Row", ""),
        ("AXStaticText", "\\n# diff: +1 \\u{202e}\\\" #e4 added", ""),
        ("AXComboBox", "Size", " value:\"Small\""),
    ];
    let (x, y) = (rng.i32(0..600), rng.i32(0..400));
    let rows = rng.i32(1..7);
    let mut lines = String::new();
    let mut texts = Vec::new();
    for row in 0..rows {
        let (role, text, states) = KINDS[rng.usize(..KINDS.len())];
        let (indent, n) = (rng.usize(..2), number(log));
        let away = if row > 3 && rng.bool() { " away" } else { "" };
        let top = y + 20 + row * 30;
        let indent = " ".repeat(if row > 0 { indent } else { 0 });
        let left = x + 10;
        let place = format!("x:{left} y:{top} w:200 h:24{states}{away}");
        let _ = writeln!(lines, "{indent}[{role}] \"{text} {n}\" {place}");
        texts.push(format!("{text} {n}"));
    }
    let title = format!("Window {}", number(log));
    let at = [x, y, 260, 40 + rows * 30];
    let id = world.window(pid, &title, at, &lines);
    if rng.u8(..) < 40 {
        world.dialogs.push(id);
    }
    for text in &texts {
        if (text.starts_with("Press") || text.starts_with("Size")) && rng.u8(..) < 200 {
            let (log, seed) = (log.clone(), rng.u64(..));
            let menu = text.starts_with("Size");
            world.on_press(text, move |world| {
                let mut rng = Rng::with_seed(seed);
                if menu {
                    menu_opens(world, &mut rng, &log, pid);
                } else {
                    app_acts(world, &mut rng, &log, pid);
                }
            });
        }
    }
    if rng.u8(..) < 60 {
        let (log, seed) = (log.clone(), rng.u64(..));
        world.on_return(id, move |world| {
            app_acts(world, &mut Rng::with_seed(seed), &log, pid);
        });
    }
    if let Some(field) = texts.iter().find(|text| text.starts_with(['F', 'S'])) {
        let node = world.node(field).map(|node| node.id.clone());
        world.focused.extend(node.map(|node| (id, node)));
    }
}

fn menu_opens(world: &mut World, rng: &mut Rng, log: &Shared, pid: u32) {
    let (x, y) = (rng.i32(0..600), rng.i32(0..400));
    let mut lines = format!("[AXMenuItem] \"Pick\" x:{x} y:{y} w:100 h:20\n");
    for row in 1..rng.i32(1..4) {
        let top = y + row * 20;
        let n = number(log);
        let _ = writeln!(lines, "[AXMenuItem] \"Item {n}\" x:{x} y:{top} w:100 h:20");
    }
    world.menu(pid, [x, y, 100, 80], &lines);
}

/// An app does something.
fn app_acts(world: &mut World, rng: &mut Rng, log: &Shared, pid: u32) {
    let n = number(log);
    let own: Vec<usize> = (0..world.stack.len())
        .filter(|&i| world.stack[i].pid == pid && !world.stack[i].menu)
        .collect();
    let what = rng.u8(..16);
    match what {
        0 => window_opens(world, rng, log, pid),
        1 => menu_opens(world, rng, log, pid),
        2 => _ = app_starts(world, rng, log),
        3 if rng.u8(..) < 60 => world.becomes(pid, Health::Hung),
        4 if rng.bool() => world.becomes(pid, Health::Dead),
        5 => world.closes_menus(),
        _ => {}
    }
    let Some(&at) = own.get(rng.usize(..own.len().max(1))) else {
        return;
    };
    // One of the events above may have removed it.
    let Some(window) = world.stack.get_mut(at).filter(|w| w.pid == pid && !w.menu) else {
        return;
    };
    let id = window.id;
    let Some(index) = window.nodes.len().checked_sub(1).map(|n| rng.usize(..=n)) else {
        return;
    };
    let node = &mut window.nodes[index];
    match what {
        6 => world.close(id),
        7 => node.id = format!("again {n}"),
        8 => {
            let text = node.text();
            let number = text.rsplit(' ').next().unwrap_or_default();
            node.says(&format!("Other {number}"));
        }
        9 if !node.line.states.contains(States::SECURE) => node.take(&format!("value {n}")),
        10 => node.line.states.toggle(States::CHECKED),
        11 => node.line.states.toggle(States::SELECTED),
        12 => node.away = !node.away,
        13 => {
            let mut new = node.clone();
            new.id = format!("new {n}");
            new.says(&format!("New {n}"));
            if let Some(extents) = &mut new.line.extents {
                extents.y += 7;
            }
            window.nodes.push(new);
        }
        14 => _ = window.nodes.pop().filter(|_| window.nodes.len() > 1),
        15 => world.retitle(id, &format!("Renamed {n}")),
        _ => {}
    }
    world.changes(deskline_link::Sign::Change);
}

fn any_app(world: &World, rng: &mut Rng) -> Option<u32> {
    rng.choice(&world.apps).map(|(app, _)| app.pid)
}

fn person_acts(rng: &mut Rng, log: &Shared) -> Happening {
    let (log, kind) = (log.clone(), rng.u8(..4));
    let (x, y, n) = (rng.i32(0..900), rng.i32(0..700), rng.usize(..));
    Box::new(move |world| {
        let free = !world.guarded;
        match kind {
            0 => {
                person::moves(x, y)(world);
                if free {
                    log.lock().unwrap().moved.push(Point { x, y });
                }
            }
            1 => person::types(world),
            2 => {
                let windows: Vec<u64> = world
                    .stack
                    .iter()
                    .filter(|w| !w.menu)
                    .map(|w| w.id)
                    .collect();
                if let Some(&window) = windows.get(n % windows.len().max(1)) {
                    person::switches_to(window)(world);
                    if free {
                        log.lock().unwrap().switched.push(window);
                    }
                }
            }
            _ => person::presses_esc(world),
        }
    })
}

/// Any event that may happen in a link.
pub(super) fn any(rng: &mut Rng, log: &Shared) -> (When, Happening) {
    const AFTER: [&str; 9] = [
        "read",
        "grab",
        "activate",
        "click",
        "half",
        "ungrab",
        "release_all",
        "type_text",
        "picture",
    ];
    let when = match rng.u8(..4) {
        0 => When::Waited(Duration::from_millis(rng.u64(..200))),
        1 => When::After(AFTER[rng.usize(..AFTER.len())]),
        _ => When::Before(rng.usize(1..45)),
    };
    let happens: Happening = match rng.u8(..40) {
        0 => {
            let log = log.clone();
            Box::new(move |_| {
                log.lock().unwrap().panicked = true;
                resume_unwind(Box::new("scripted"))
            })
        }
        1 => {
            let log = log.clone();
            Box::new(move |world| {
                log.lock().unwrap().broken = true;
                world.broken = true;
            })
        }
        2..20 => person_acts(rng, log),
        _ => {
            let (log, mut rng) = (log.clone(), rng.fork());
            Box::new(move |world| {
                if let Some(pid) = any_app(world, &mut rng) {
                    app_acts(world, &mut rng, &log, pid);
                }
            })
        }
    };
    let log = log.clone();
    let noted = move |world: &mut World| {
        log.lock().unwrap().menus |= world.stack.iter().any(|w| w.menu);
        happens(world);
    };
    (when, Box::new(noted))
}

/// Ends some apps and starts others, so that the desktop stays small.
pub(super) fn between_links(world: &mut World, rng: &mut Rng, log: &Shared) {
    for (_, health) in &mut world.apps {
        if *health == Health::Hung && rng.bool() {
            *health = Health::Well;
        }
    }
    if rng.u8(..) < 30
        && let Some(pid) = any_app(world, rng)
    {
        app_acts(world, rng, log, pid);
    }
    while world.stack.len() > 8 {
        let last = world.stack[world.stack.len() - 1].id;
        world.close(last);
    }
    let windows: Vec<u32> = world.stack.iter().map(|w| w.pid).collect();
    world
        .apps
        .retain(|(app, health)| *health != Health::Dead && windows.contains(&app.pid));
    while world.apps.len() < 3 {
        app_starts(world, rng, log);
    }
    if rng.u8(..) < 30 {
        person_acts(rng, log)(world);
    }
}
