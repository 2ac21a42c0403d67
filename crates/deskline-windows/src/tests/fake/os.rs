//! The calls of `crate::os`.

use std::time::Duration;

use deskline_contract::{DisplayError, Identity, Picture, Result};
use deskline_core::{Point, Rect, WindowId};

use super::{Win, World, current};
use crate::os::{Integrity, Styles};
use crate::tree::uia::Process;

fn ask<T>(about: impl FnOnce(&mut World) -> T) -> T {
    about(&mut current().world())
}

fn of<T: Default>(window: WindowId, about: impl FnOnce(&Win) -> T) -> T {
    ask(|world| world.win(window).map(about).unwrap_or_default())
}

pub(crate) fn all() -> Vec<WindowId> {
    ask(|world| world.windows.iter().map(|window| window.id).collect())
}

pub(crate) fn is_visible(window: WindowId) -> bool {
    exists(window)
}

pub(crate) fn cloaked(window: WindowId) -> u32 {
    of(window, |window| window.cloaked)
}

pub(crate) fn view_cloak(window: WindowId) -> usize {
    of(window, |window| window.view_cloak)
}

pub(crate) fn process_and_thread(window: WindowId) -> (u32, u32) {
    ask(|world| {
        let core = world.windows.iter().find_map(|frame| frame.core);
        match (world.win(window), core) {
            (Some(window), _) => (window.pid, window.thread),
            (None, Some((core, pid))) if core == window => (pid, core.0 as u32),
            _ => (0, 0),
        }
    })
}

pub(crate) fn core_window(frame: WindowId) -> Option<WindowId> {
    of(frame, |frame| frame.core.map(|(core, _)| core))
}

pub(crate) fn class(window: WindowId) -> String {
    of(window, |window| window.class.to_owned())
}

pub(crate) fn focused_class() -> String {
    front().map(class).unwrap_or_default()
}

pub(crate) fn title(window: WindowId) -> String {
    of(window, |window| window.title.clone())
}

pub(crate) fn styles(window: WindowId) -> Styles {
    of(window, |window| window.styles)
}

pub(crate) fn outer(window: WindowId) -> Option<Rect> {
    of(window, |window| Some(window.at))
}

pub(crate) fn frame(window: WindowId) -> Option<Rect> {
    outer(window)
}

pub(crate) fn is_minimised(window: WindowId) -> bool {
    of(window, |window| window.minimised)
}

pub(crate) fn exists(window: WindowId) -> bool {
    ask(|world| world.win(window).is_some())
}

pub(crate) fn is_enabled(window: WindowId) -> bool {
    of(window, |window| window.enabled)
}

pub(crate) fn front() -> Option<WindowId> {
    ask(|world| world.front)
}

pub(crate) fn at(point: Point) -> Option<WindowId> {
    ask(|world| world.at(point).map(|window| window.id))
}

pub(crate) fn owning(window: WindowId) -> Option<WindowId> {
    of(window, |window| window.owner)
}

pub(crate) fn bring(window: WindowId) {
    ask(|world| {
        world.log.push(format!("bring {}", window.0));
        let refused = world.odd.foreground_held || world.odd.foreground_lock && !world.sent_last;
        if !refused {
            let dialog = world
                .windows
                .iter()
                .find(|other| other.owner == Some(window));
            let popup = dialog.map_or(window, |dialog| dialog.id);
            world.come(popup);
        }
    });
}

pub(crate) fn lift(_: WindowId) {}

pub(crate) fn restore(window: WindowId) {
    ask(|world| {
        let was = world
            .win_mut(window)
            .is_some_and(|window| std::mem::take(&mut window.minimised));
        if was && world.odd.rescales {
            world.rescale(window, (1920, 200), 2.0);
        }
    });
}

pub(crate) fn minimise(window: WindowId) {
    ask(|world| {
        if let Some(window) = world.win_mut(window) {
            window.minimised = true;
        }
    });
}

pub(crate) fn takes_message(window: WindowId, _: Duration) -> bool {
    let (pid, _) = process_and_thread(window);
    // Windows regards the window as hung, so the call fails at once.
    ask(|world| world.apps.get(&pid).is_some_and(|app| !app.hung))
}

pub(crate) fn pointer() -> Result<Point> {
    Ok(ask(|world| world.pointer))
}

pub(crate) fn screen() -> Rect {
    ask(|world| world.screen)
}

pub(crate) fn integrity(pid: u32) -> Integrity {
    if pid == std::process::id() {
        return super::MEDIUM;
    }
    ask(|world| {
        world
            .apps
            .get(&pid)
            .map_or(Integrity::Gone, |app| app.integrity)
    })
}

pub(crate) fn input_desktop() -> Option<String> {
    Some("Default".into())
}

pub(crate) fn process(pid: u32) -> Option<Process> {
    ask(|world| {
        let app = world.apps.get(&pid)?;
        Some(Process {
            name: app.name.into(),
            started: app.started,
        })
    })
}

pub(crate) fn name(pid: u32) -> String {
    process(pid).map_or_else(String::new, |app| app.name)
}

pub(crate) fn computed(_: u32) -> Option<Duration> {
    None
}

pub(crate) fn known_as(pid: u32) -> Identity {
    process(pid).map_or_else(Identity::default, |process| Identity::named(process.name))
}

pub(crate) fn session() -> Option<u32> {
    Some(1)
}

/// A grey picture.
pub(crate) fn picture(window: WindowId) -> Result<Picture> {
    let Rect { x, y, w, h } = outer(window).ok_or(DisplayError::Gone)?;
    Ok(Picture {
        width: w as u32,
        height: h as u32,
        rgb: vec![128; 3 * w as usize * h as usize],
        origin: Point::at(x, y),
        scale: 1.0,
    })
}
