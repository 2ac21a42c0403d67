//! Texts that a picture shows and no tree describes: found by [`lines`], read by an OCR engine, and
//! added to the tree as elements. A line that looks as one before is not read again.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use deskline_core::{Element, ElementId, Rect, Role, States, Text, Tree};

use super::change;
use super::lines::{Area, lines, print};
use crate::desktop::Desktop;
use crate::display::{Picture, WindowId};
use crate::ocr::{Ocr, Print};

/// How long a link's reading of an app waits for texts. The engine goes on meanwhile: the next
/// reading has what it reads.
const LIMIT: Duration = Duration::from_millis(700);

/// The most time for all lines of a picture.
const LONGEST: Duration = Duration::from_secs(10);

/// How many lines the engine gets at once: those of a picture that has changed since wait for them.
const AT_ONCE: usize = 64;

/// The most windows of an app that are read, from the front.
const WINDOWS: usize = 3;

/// The number of lines to remember.
const REMEMBERED: usize = 20_000;

/// Begins the ids of these elements.
const PREFIX: &str = "ocr|";

/// The texts that were read, and the lines of each window's last picture.
#[derive(Default)]
pub(crate) struct Texts {
    hasher: RandomState,
    /// By the look of their lines. Empty for what is no text.
    read: HashMap<u64, String>,
    /// The engine at work: the texts that come, by the look of their lines.
    at_work: Option<Receiver<(u64, String)>>,
    windows: HashMap<WindowId, (Picture, Vec<(Area, u64)>)>,
}

/// Whether it is the id of a text from a picture.
pub(crate) fn is_from_picture(id: &ElementId) -> bool {
    id.as_str().starts_with(PREFIX)
}

impl Texts {
    /// Adds the texts that the app's windows show to its tree, if it has no other content.
    pub(crate) fn add(&mut self, desktop: &mut dyn Desktop, tree: &mut Tree) {
        let Some(why) = &mut tree.no_tree else {
            return;
        };
        let engine = match desktop.ocr() {
            Ok(engine) => engine,
            Err(lack) => {
                why.push_str(lack);
                return;
            }
        };
        let end = Instant::now() + LIMIT;
        let on_screen = tree.windows.iter().filter(|w| w.on_screen);
        let on_screen: Vec<WindowId> = on_screen.map(|w| w.id).take(WINDOWS).collect();
        if self.read.len() > REMEMBERED {
            self.read.clear();
            self.windows.clear();
        }
        let mut unread = 0;
        for window in on_screen {
            let Ok(picture) = change::take(desktop, window) else {
                continue;
            };
            self.look(window, picture);
            self.read_lines(&engine, window, end);
            unread += self.elements(window, tree);
        }
        if unread > 0 {
            tree.partial.push(format!(
                "{unread} lines of the picture were not read within {} ms: refresh_traversal \
                 reads on",
                LIMIT.as_millis()
            ));
        }
    }

    /// Has the engine read the lines of a window that are not known, and waits for it.
    fn read_lines(&mut self, engine: &Arc<dyn Ocr>, window: WindowId, end: Instant) {
        let mut lines = self.unread(window);
        let mut before = usize::MAX;
        while !lines.is_empty() {
            let Some(texts) = &self.at_work else {
                // What the engine has not read once it will not read now.
                if lines.len() >= before {
                    return;
                }
                before = lines.len();
                self.at_work = start(engine.clone(), lines.iter().take(AT_ONCE).cloned());
                continue;
            };
            match texts.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok((key, text)) => {
                    lines.retain(|(line, _)| *line != key);
                    self.read.insert(key, text);
                }
                Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => self.at_work = None,
            }
        }
    }

    /// Finds the lines of a picture, unless it is the same as the window's last.
    fn look(&mut self, window: WindowId, picture: Picture) {
        let known = self.windows.get(&window);
        if known.is_some_and(|(last, _)| *last == picture) {
            return;
        }
        let looks = |line: Area| {
            let print = print(&picture, line)?;
            Some((line, self.hasher.hash_one((print.width, &print.grey))))
        };
        let found = lines(&picture).into_iter().filter_map(looks).collect();
        // Windows that have gone are forgotten with the first that are too many.
        if self.windows.len() > 4 * WINDOWS {
            self.windows.clear();
        }
        self.windows.insert(window, (picture, found));
    }

    /// The lines that are not known, each look once.
    fn unread(&self, window: WindowId) -> Vec<(u64, Print)> {
        let mut prints: Vec<(u64, Print)> = Vec::new();
        let Some((picture, lines)) = self.windows.get(&window) else {
            return prints;
        };
        for (line, key) in lines {
            let known = self.read.contains_key(key) || prints.iter().any(|(k, _)| k == key);
            if let (false, Some(print)) = (known, print(picture, *line)) {
                prints.push((*key, print));
            }
        }
        prints
    }

    /// Adds the elements of a window's texts. Returns how many lines are not read yet.
    fn elements(&self, window: WindowId, tree: &mut Tree) -> usize {
        let mut unread = 0;
        let Some((picture, lines)) = self.windows.get(&window) else {
            return unread;
        };
        let Some(top) = tree
            .window(window)
            .and_then(|w| w.elements.first().copied())
        else {
            return unread;
        };
        let Some(origin) = tree.elements[top].extents else {
            return unread;
        };
        let tops = tree.elements.len();
        for (line, key) in lines {
            let place = on_screen(picture, *line);
            match self.read.get(key).map(String::as_str) {
                None => unread += 1,
                Some("") => {}
                Some(text) => {
                    let center = place.center();
                    let popups = (0..tops)
                        .rev()
                        .filter(|i| !tree.windows.iter().any(|w| w.elements.contains(i)));
                    let over = |i: &usize| {
                        let over = tree.elements[*i].extents;
                        tree.elements[*i].parent.is_none()
                            && over.is_some_and(|o| o.contains(center))
                    };
                    let parent = popups.into_iter().find(over).unwrap_or(top);
                    let (x, y) = (place.x - origin.x, place.y - origin.y);
                    let id = format!("{PREFIX}{}|{}|{x},{y}|{text}", tree.app.pid, window.0);
                    tree.elements.push(element(id, parent, text, place));
                }
            }
        }
        unread
    }
}

/// Starts the engine on these lines.
fn start(
    engine: Arc<dyn Ocr>,
    lines: impl Iterator<Item = (u64, Print)>,
) -> Option<Receiver<(u64, String)>> {
    let (sender, texts) = mpsc::sync_channel(AT_ONCE);
    let (keys, prints): (Vec<u64>, Vec<Print>) = lines.unzip();
    let work = move || {
        let found = |index: usize, text| {
            // Nobody waits for it any more where this fails.
            let _ = keys.get(index).map(|key| sender.try_send((*key, text)));
        };
        if let Err(e) = engine.read(&prints, LONGEST, &found) {
            tracing::warn!("no texts from pictures: {e}");
        }
    };
    thread::Builder::new().name("ocr".into()).spawn(work).ok()?;
    Some(texts)
}

/// The screen coordinates of an area of a picture.
fn on_screen(picture: &Picture, area: Area) -> Rect {
    let scaled = |v: usize| (v as f64 / picture.scale.max(0.1)).round() as i32;
    Rect {
        x: picture.origin.x.saturating_add(scaled(area.x)),
        y: picture.origin.y.saturating_add(scaled(area.y)),
        w: scaled(area.w).max(1),
        h: scaled(area.h).max(1),
    }
}

fn element(id: String, parent: usize, text: &str, place: Rect) -> Element {
    Element {
        id: ElementId::new(id),
        reference: None,
        parent: Some(parent),
        role: Role::STATIC_TEXT,
        native_role: "ocr".into(),
        title: Text::new(text),
        value: Text::default(),
        description: Text::default(),
        extents: Some(place),
        cell: None,
        visible: true,
        states: States::empty(),
        children_read: true,
    }
}
