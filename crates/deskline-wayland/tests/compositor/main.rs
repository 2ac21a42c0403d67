//! The display over wlroots' protocols, and the clipboard by data control, against a compositor in
//! the test's process, whose windows record their input. It can refuse, fail, hang or disconnect at
//! any event, which a real one does not do on demand.

#![allow(clippy::expect_used, clippy::panic)] // A test fails by panicking.

mod clipboard;
mod hyprland;
mod input;
mod pictures;
mod server;
mod windows;

use std::sync::Arc;

use deskline_contract::{AppToplevel, Display as _, Result, Screen as _, Window, WindowId};
use deskline_core::{Point, Rect};
use deskline_input::{Aim, Cancel};
use deskline_wayland::{OpenMenu, Part, Toplevels, WlrDisplay};

use server::desktop::{Desktop, Screen, Window as Shown};
use server::{Options, Server};

/// No process has these ids: the kernel's limit is 4,194,304.
const PERSONS: u32 = 5_000_001;
const TARGETS: u32 = 5_000_002;

const TARGET: usize = 1;

/// The person's window is in front, with the keyboard, and covers most of the target's.
fn desktop() -> Desktop {
    let screen = |name, place, scale| Screen { name, place, scale };
    let mut desktop = Desktop::new(
        vec![
            screen("LEFT", rect(-320, 60, 320, 240), 2),
            screen("RIGHT", rect(0, 0, 480, 320), 1),
        ],
        vec![
            Shown::new("Letter", PERSONS, rect(20, 30, 300, 220)),
            Shown::new("Form", TARGETS, rect(50, 60, 300, 200)),
        ],
    );
    desktop.activate(TARGET);
    desktop.activate(0);
    desktop
}

/// The windows as apps describe them to assistive technology.
struct Described(Arc<Server>);

impl Toplevels for Described {
    fn toplevels(&mut self, _: bool) -> Result<Vec<AppToplevel>> {
        Ok(self.0.with(|state| {
            let desktop = &state.desktop;
            let shown = desktop
                .windows
                .iter()
                .enumerate()
                .filter(|(_, window)| !window.closed);
            let described = shown.map(|(index, window)| AppToplevel {
                id: id(index),
                pid: window.pid,
                title: window.title.clone(),
                active: desktop.active == Some(index),
                ..AppToplevel::default()
            });
            described.collect()
        }))
    }

    fn size(&mut self, window: WindowId) -> Result<Option<(i32, i32)>> {
        Ok(self.0.with(move |state| {
            let place = state.desktop.windows[index(window)].place;
            Some((place.w, place.h))
        }))
    }

    fn open_menu(&mut self, _: u32, _: Option<bool>) -> Result<Option<OpenMenu>> {
        Ok(None)
    }

    fn parts(&mut self, window: WindowId) -> Result<Vec<Part>> {
        Ok(self.0.with(move |state| {
            let parts = state.desktop.windows[index(window)].parts();
            let numbered = parts.into_iter().map(|place| Part {
                id: format!("{},{}", place.x, place.y),
                place,
            });
            numbered.collect()
        }))
    }
}

fn id(index: usize) -> WindowId {
    WindowId(1_000 + index as u64)
}

fn index(window: WindowId) -> usize {
    (window.0 - 1_000) as usize
}

/// A compositor with a display that is connected to it.
struct Bed {
    server: Arc<Server>,
    display: WlrDisplay<Described>,
}

impl Bed {
    fn new(options: Options) -> Self {
        let server = Server::start(desktop(), options);
        let display = WlrDisplay::connect(&server.socket(), Described(Arc::clone(&server)));
        let display = display.expect("a display");
        Self { server, display }
    }

    /// Brings the target to the front, as a link does.
    fn raise(&mut self) {
        self.display.set_aim(Aim::new(TARGETS, None));
        let raising = self.display.raising().expect("windows are raised");
        let raised = raising.activate(id(TARGET), &Cancel::new());
        raised.expect("the target comes to the front");
    }

    /// The input that the target's window has recorded.
    fn target(&self) -> Shown {
        self.server
            .with(|state| state.desktop.windows[TARGET].clone())
    }

    /// Whether the person's window has received no input, and no key or button is down.
    fn is_clean(&self) -> bool {
        self.server.with(|state| {
            let persons = &state.desktop.windows[0];
            let got =
                !persons.buttons.is_empty() || !persons.text.is_empty() || !persons.keys.is_empty();
            !got && state.desktop.keys.is_empty() && state.desktop.buttons.is_empty()
        })
    }

    fn titles(&mut self) -> Vec<String> {
        let windows: Vec<Window> = self.display.every_window().expect("the windows");
        windows.into_iter().map(|window| window.title).collect()
    }
}

const fn rect(x: i32, y: i32, w: i32, h: i32) -> Rect {
    Rect { x, y, w, h }
}

const fn at(x: i32, y: i32) -> Point {
    Point { x, y }
}
