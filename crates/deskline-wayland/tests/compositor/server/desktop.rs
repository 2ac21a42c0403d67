//! The compositor's model: screens, windows, the keyboard focus, and the received input.

use std::collections::BTreeSet;

use deskline_core::{Point, Rect};

/// An output.
#[derive(Debug, Clone)]
pub struct Screen {
    pub name: &'static str,
    /// The bounds in the layout, in logical pixels.
    pub place: Rect,
    /// Pixels per logical pixel.
    pub scale: i32,
}

/// A window with its app: it draws a pattern, and records its input.
#[derive(Debug, Clone)]
pub struct Window {
    pub title: String,
    pub pid: u32,
    pub place: Rect,
    /// The position to return to after full screen.
    pub restored: Option<Rect>,
    pub closed: bool,
    /// Whether the compositor never gives it the keyboard, as sway with some layers.
    pub never_active: bool,
    /// Button, whether it was pressed, and the point in the window.
    pub buttons: Vec<(u32, bool, Point)>,
    /// The points of the pointer's motion over the window.
    pub motions: Vec<Point>,
    /// Notches right and down.
    pub wheel: (i32, i32),
    /// The typed text.
    pub text: String,
    /// Symbols that type no text, and letters with a modifier, each with the modifiers' mask.
    pub keys: Vec<(u32, u32)>,
}

impl Window {
    pub fn new(title: &str, pid: u32, place: Rect) -> Self {
        Self {
            title: title.to_owned(),
            pid,
            place,
            restored: None,
            closed: false,
            never_active: false,
            buttons: Vec::new(),
            motions: Vec::new(),
            wheel: (0, 0),
            text: String::new(),
            keys: Vec::new(),
        }
    }

    /// Its elements, relative to its corner.
    pub fn parts(&self) -> Vec<Rect> {
        let cells = (0..4).flat_map(|row| (0..5).map(move |column| (row, column)));
        let part = |(row, column): (i32, i32)| Rect {
            x: CELL.0 * column + INSET,
            y: CELL.1 * row + INSET,
            w: CELL.0 - 2 * INSET,
            h: CELL.1 - 2 * INSET,
        };
        let fits = |part: &Rect| part.x + part.w < self.place.w && part.y + part.h < self.place.h;
        cells.map(part).filter(fits).collect()
    }

    /// Its colour at a point relative to its corner.
    fn colour(&self, at: Point) -> u32 {
        let seed = self.pid.wrapping_mul(0x9e37_79b9);
        let inside = |at: i32, cell: i32| (INSET..cell - INSET).contains(&(at % cell));
        let is_part = inside(at.x, CELL.0) && inside(at.y, CELL.1);
        let [x, y] = [at.x, at.y].map(i32::cast_unsigned);
        let noise = (seed ^ y << 12 ^ x).wrapping_mul(0x85eb_ca6b);
        if is_part { noise >> 8 } else { seed >> 8 }
    }
}

/// The cell at a point, and the distances of the point from the cell's edges.
const CELL: (i32, i32) = (60, 40);
const INSET: i32 = 8;

/// The whole desktop.
#[derive(Debug)]
pub struct Desktop {
    pub screens: Vec<Screen>,
    pub windows: Vec<Window>,
    /// Indices of windows, the topmost last.
    pub stack: Vec<usize>,
    /// The window with the keyboard.
    pub active: Option<usize>,
    pub pointer: Point,
    /// The pressed keys and buttons, and the window in which a button was pressed.
    pub buttons: BTreeSet<u32>,
    pub keys: BTreeSet<u32>,
    grab: Option<usize>,
}

impl Desktop {
    pub fn new(screens: Vec<Screen>, windows: Vec<Window>) -> Self {
        Self {
            stack: (0..windows.len()).collect(),
            screens,
            windows,
            active: None,
            pointer: Point { x: 0, y: 0 },
            buttons: BTreeSet::new(),
            keys: BTreeSet::new(),
            grab: None,
        }
    }

    /// Gives a window the keyboard, and puts it above the others.
    pub fn activate(&mut self, index: usize) {
        if self.windows[index].never_active {
            return;
        }
        self.stack.retain(|other| *other != index);
        self.stack.push(index);
        self.active = Some(index);
    }

    /// The bounds of all screens.
    pub fn bounds(&self) -> Rect {
        let [left, top] = [|r: &Rect| r.x, |r: &Rect| r.y].map(|edge| {
            let all = self.screens.iter().map(|screen| edge(&screen.place));
            all.min().unwrap_or_default()
        });
        let [right, bottom] = [|r: &Rect| r.x + r.w, |r: &Rect| r.y + r.h].map(|edge| {
            let all = self.screens.iter().map(|screen| edge(&screen.place));
            all.max().unwrap_or_default()
        });
        Rect::at(left, top, right - left, bottom - top)
    }

    fn window_at(&self, at: Point) -> Option<usize> {
        let mut shown = self.stack.iter().rev().copied();
        shown.find(|index| !self.windows[*index].closed && self.windows[*index].place.contains(at))
    }

    pub fn colour(&self, at: Point) -> u32 {
        match self.window_at(at) {
            Some(index) => {
                let window = &self.windows[index];
                window.colour(from_corner(window, at))
            }
            None => 0x20_40_60,
        }
    }

    /// The window that receives the pointer's events: while a button is down, the window in which
    /// it was pressed.
    fn under_pointer(&mut self) -> Option<(&mut Window, Point)> {
        let index = self.grab.or_else(|| self.window_at(self.pointer))?;
        let at = from_corner(&self.windows[index], self.pointer);
        Some((&mut self.windows[index], at))
    }

    pub fn move_pointer(&mut self, to: Point) {
        self.pointer = to;
        if let Some((window, at)) = self.under_pointer() {
            window.motions.push(at);
        }
    }

    pub fn button(&mut self, code: u32, down: bool) {
        if down && self.buttons.is_empty() {
            self.grab = self.window_at(self.pointer);
            if let Some(index) = self.grab {
                self.activate(index);
            }
        }
        if down {
            self.buttons.insert(code);
        } else {
            self.buttons.remove(&code);
        }
        if let Some((window, at)) = self.under_pointer() {
            window.buttons.push((code, down, at));
        }
        if self.buttons.is_empty() {
            self.grab = None;
        }
    }

    pub fn wheel(&mut self, right: i32, down: i32) {
        if let Some((window, _)) = self.under_pointer() {
            window.wheel.0 += right;
            window.wheel.1 += down;
        }
    }

    /// Records the press of a key with this symbol and these modifiers.
    pub fn key_down(&mut self, symbol: u32, modifiers: u32, char: Option<char>) {
        let Some(window) = self.active.map(|index| &mut self.windows[index]) else {
            return;
        };
        match char {
            Some(char) if modifiers == 0 => window.text.push(char),
            _ => window.keys.push((symbol, modifiers)),
        }
    }

    /// Shows a window on a whole screen.
    pub fn enlarge(&mut self, index: usize, screen: usize) {
        let place = self.screens[screen].place;
        let window = &mut self.windows[index];
        window.restored.get_or_insert(window.place);
        window.place = place;
    }

    pub fn restore(&mut self, index: usize) {
        let window = &mut self.windows[index];
        if let Some(place) = window.restored.take() {
            window.place = place;
        }
    }
}

fn from_corner(window: &Window, at: Point) -> Point {
    Point::at(at.x - window.place.x, at.y - window.place.y)
}
