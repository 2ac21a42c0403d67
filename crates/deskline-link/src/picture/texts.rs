//! Texts that a picture shows and no tree describes, in windows of apps without a tree and in blind
//! spots. [`lines`] finds their lines, an OCR engine reads them, and they become elements of the
//! tree. A line that looks the same as an earlier one is not read again. Passwords are painted over
//! first.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use deskline_core::{
    Coordinates, Element, ElementId, Point, Rect, Role, States, Text, Tree, texts,
};

use super::area::Area;
use super::lines::{lines, look, print};
use super::same::unchanged;
use super::{change, undescribed};
use crate::desktop::Desktop;
use crate::display::{Picture, PictureNature, WindowId};
use crate::ocr::{Ocr, PREFIX, Print};

/// How long a reading of an app waits for the texts. The engine goes on after that, and the next
/// reading has the rest.
const LIMIT: Duration = Duration::from_millis(700);

/// The most time for all lines of a picture.
const LONGEST: Duration = Duration::from_secs(10);

/// How many lines the engine gets at once. The lines of a newer picture have to wait for these, so
/// there are few.
const AT_ONCE: usize = 64;

/// The most windows of an app that are read, from the front.
const WINDOWS: usize = 3;

/// A spot that covers at least 1/3 of its window is the window's main content, such as the files in
/// a file manager.
const LARGE: i64 = 3;

/// The number of lines to remember.
const REMEMBERED: usize = 20_000;

/// A single letter of at most this height is a corner or a dot.
const SPECK: i32 = 6;

/// Bytes per pixel.
const PIXEL: usize = 3;

/// The texts that were read, and the lines of each part's last picture.
#[derive(Default)]
pub(crate) struct Texts {
    hasher: RandomState,
    /// The texts by a hash of their lines. A text is empty if the line shows none.
    read: HashMap<u64, String>,
    /// The running engine: it sends each text with a hash of its line.
    at_work: Option<Receiver<(u64, String)>>,
    parts: HashMap<Part, (Picture, Vec<(Area, u64)>)>,
}

/// A part of the screen that no tree describes: a blind spot, with the element it is in, or a whole
/// window (`None`).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Part {
    window: WindowId,
    spot: Option<ElementId>,
}

/// Which blind spots to read. A window without a tree is always read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Spots<'s> {
    None,
    /// The spots that cover a large part of their window ([`LARGE`]).
    Large,
    /// All spots, because a text is looked for.
    All,
    /// The spots at these places of this window, which an action has changed.
    At(WindowId, &'s [Rect]),
}

impl Spots<'_> {
    /// Whether to read a spot at `place` in a window with the bounds `whole`.
    fn has(self, place: &Rect, whole: &Rect) -> bool {
        let area = |place: &Rect| i64::from(place.w) * i64::from(place.h);
        match self {
            Self::None => false,
            Self::Large => LARGE * area(place) >= area(whole),
            Self::All => true,
            Self::At(_, places) => places.iter().any(|at| !at.intersect(place).is_empty()),
        }
    }

    /// Whether to read a line at this place of a spot.
    fn has_line(self, place: &Rect) -> bool {
        !matches!(self, Self::At(..)) || self.has(place, place)
    }
}

/// The windows of an app that may show texts without elements, frontmost first.
pub(crate) fn blind_windows(tree: &Tree, spots: Spots<'_>) -> Vec<WindowId> {
    let on_screen = tree.windows.iter().filter(|w| w.on_screen);
    let is_blind = |w: &WindowId| {
        let wanted = match spots {
            Spots::None => false,
            Spots::At(window, _) => window == *w,
            Spots::Large | Spots::All => true,
        };
        let placed = tree.coordinates == Coordinates::Screen;
        tree.is_picture_only() || wanted && placed && undescribed::may_have_spots(tree, *w)
    };
    let blind = on_screen.map(|w| w.id).filter(is_blind);
    blind.take(WINDOWS).collect()
}

impl Texts {
    /// Adds the texts that these windows of the app show and its tree does not describe.
    pub(crate) fn add(
        &mut self,
        desktop: &mut dyn Desktop,
        tree: &mut Tree,
        blind: &[WindowId],
        spots: Spots<'_>,
    ) {
        let engine = match desktop.ocr() {
            Ok(engine) => engine,
            Err(lack) => {
                if let Some(why) = &mut tree.no_tree {
                    why.push_str(lack);
                }
                return;
            }
        };
        let end = Instant::now() + LIMIT;
        if self.read.len() > REMEMBERED {
            self.read.clear();
            self.parts.clear();
        }
        let mut unread = 0;
        for &window in blind {
            // Finding the lines in a picture of 1920x1080 pixels takes about 50 ms.
            let late = Instant::now() >= end;
            let parts = match change::take(desktop, window) {
                Ok(picture) if !late => self.look(desktop, tree, (window, spots), picture),
                // The compositor may have no picture of a window that is behind others. The
                // window's texts then stay as they were.
                _ => self.known(tree, window),
            };
            for part in parts {
                self.read_lines(&engine, (&part, spots), end);
                unread += self.elements((&part, spots), tree);
            }
        }
        if unread > 0 {
            tree.partial.push(format!(
                "{unread} lines of the screenshot were not read within {} ms: refresh_traversal \
                 reads the rest",
                LIMIT.as_millis()
            ));
        }
    }

    /// Has the engine read the unknown lines of a part, and waits for their texts until `end`.
    fn read_lines(
        &mut self,
        engine: &Arc<dyn Ocr>,
        (part, spots): (&Part, Spots<'_>),
        end: Instant,
    ) {
        let mut lines = self.unread(part, spots);
        let mut before = usize::MAX;
        while !lines.is_empty() {
            let Some(texts) = &self.at_work else {
                // The last attempt has read none of these lines, so the engine cannot read them.
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

    /// Finds the lines in the parts of a window's picture that the tree does not describe.
    fn look(
        &mut self,
        desktop: &mut dyn Desktop,
        tree: &Tree,
        (window, wanted): (WindowId, Spots<'_>),
        mut picture: Picture,
    ) -> Vec<Part> {
        let mut over: Vec<Rect> = Vec::new();
        if let Ok(pictures) = desktop.pictures()
            && pictures.nature() == PictureNature::QuickOfScreen
        {
            let windows = desktop.every_window().unwrap_or_default();
            let others = windows.iter().take_while(|w| w.id != window);
            let others = others.filter(|w| w.is_plain());
            over.extend(others.filter_map(|w| w.extents));
            paint_over(&mut picture, &over);
        }
        let mut found = Vec::new();
        if tree.is_picture_only() {
            found.push((Part { window, spot: None }, picture));
        } else {
            for spot in undescribed::spots(tree, window, &picture) {
                let place = spot.place;
                let whole = tree.window(window).map_or(place, |w| w.extents);
                let wanted = wanted.has(&place, &whole);
                if let Some(mut shown) = cut(&picture, place).filter(|_| wanted) {
                    paint_over(&mut shown, &spot.described);
                    let spot = Some(tree.elements[spot.element].id.clone());
                    found.push((Part { window, spot }, shown));
                }
            }
        }
        // Some parts are of windows that have closed. If there are too many, all are forgotten.
        if self.parts.len() > 8 * WINDOWS {
            self.parts.clear();
        }
        let looked = found.into_iter().map(|(part, mut shown)| {
            let known = self.parts.get(&part);
            if let Some((last, _)) = known {
                keep(&mut shown, last, &over);
            }
            if known.is_none_or(|(last, _)| *last != shown) {
                let looks = |line: Area| {
                    let look = look(&shown, line)?;
                    Some((line, self.hasher.hash_one(look)))
                };
                let now = lines(&shown).into_iter().filter_map(looks).collect();
                let lines = match known {
                    Some((last, before)) => unchanged((last, before), (&shown, now)),
                    None => now,
                };
                self.parts.insert(part.clone(), (shown, lines));
            }
            part
        });
        looked.collect()
    }

    /// The parts of a window that were seen before.
    fn known(&self, tree: &Tree, window: WindowId) -> Vec<Part> {
        let parts = self.parts.iter().filter(|(part, (picture, _))| {
            let place = match &part.spot {
                None => tree.window(window).map(|w| w.extents),
                Some(id) => find(tree, id).and_then(|i| tree.elements[i].extents),
            };
            part.window == window && place.is_some_and(|place| place.contains(picture.origin))
        });
        parts.map(|(part, _)| part.clone()).collect()
    }

    /// The lines whose text is unknown. Of several lines that look the same, only one.
    fn unread(&self, part: &Part, spots: Spots<'_>) -> Vec<(u64, Print)> {
        let mut prints: Vec<(u64, Print)> = Vec::new();
        let Some((picture, lines)) = self.parts.get(part) else {
            return prints;
        };
        let wanted = |line: &Area| spots.has_line(&on_screen(picture, *line));
        for (line, key) in lines.iter().filter(|(line, _)| wanted(line)) {
            let known = self.read.contains_key(key) || prints.iter().any(|(k, _)| k == key);
            if let (false, Some(print)) = (known, print(picture, *line)) {
                prints.push((*key, print));
            }
        }
        prints
    }

    /// Adds the elements of a part's texts. Returns the number of lines that are not read yet.
    fn elements(&mut self, (part, spots): (&Part, Spots<'_>), tree: &mut Tree) -> usize {
        let (Some((picture, lines)), Some(own)) = (self.parts.get(part), tree.window(part.window))
        else {
            return 0;
        };
        let origin = own.extents;
        let inside = match &part.spot {
            Some(id) => find(tree, id),
            None => own.elements.first().copied(),
        };
        let Some(inside) = inside else {
            return 0;
        };
        let wanted = |line: &Area| spots.has_line(&on_screen(picture, *line));
        let texts = lines.iter().filter(|(line, _)| wanted(line));
        let texts = texts.map(|(line, key)| (line, self.read.get(key)));
        let unread = texts.clone().filter(|(_, text)| text.is_none()).count();
        let tops = tree.elements.len();
        for (line, text) in texts {
            let place = on_screen(picture, *line);
            let Some(text) = text.filter(|text| !is_speck(text, place)) else {
                continue;
            };
            // A line may begin outside a secure field that was painted over, and reach into it.
            let is_secret = |e: &Element| {
                let place_of = e.extents.map(|e| e.intersect(&place));
                e.states.contains(States::SECURE) && place_of.is_some_and(|e| !e.is_empty())
            };
            if tree.elements[..tops].iter().any(is_secret) {
                continue;
            }
            let is_over = |i: &usize| {
                let over = &tree.elements[*i];
                let in_window = tree.windows.iter().any(|w| w.elements.contains(i));
                let center = place.center();
                over.parent.is_none()
                    && !in_window
                    && over.extents.is_some_and(|over| over.contains(center))
            };
            let popup = (0..tops).rev().filter(|_| part.spot.is_none());
            let parent = popup.into_iter().find(is_over).unwrap_or(inside);
            let (x, y) = (place.x - origin.x, place.y - origin.y);
            let id = format!("{PREFIX}{}|{}|{x},{y}|{text}", tree.app.pid, part.window.0);
            tree.elements.push(element(id, parent, text, place));
        }
        unread
    }
}

/// Whether the text is empty, or one letter that is as small as a dot.
fn is_speck(text: &str, place: Rect) -> bool {
    let mut letters = text.trim().chars();
    let single = letters.next().is_none_or(char::is_alphabetic) && letters.next().is_none();
    text.trim().is_empty() || single && place.h <= SPECK
}

fn find(tree: &Tree, id: &ElementId) -> Option<usize> {
    tree.elements.iter().position(|e| e.id == *id)
}

/// The part of a picture that shows `place`.
fn cut(picture: &Picture, place: Rect) -> Option<Picture> {
    let part = Area::new(picture, place)?;
    let mut rgb = Vec::with_capacity(part.w * part.h * PIXEL);
    for row in rows(picture, &[place]) {
        rgb.extend_from_slice(picture.rgb.get(row)?);
    }
    let Rect { x, y, .. } = part.on_screen(picture);
    Some(Picture {
        width: u32::try_from(part.w).ok()?,
        height: u32::try_from(part.h).ok()?,
        rgb,
        origin: Point { x, y },
        scale: picture.scale,
    })
}

/// Paints places over in the colour of the picture's corner.
fn paint_over(picture: &mut Picture, places: &[Rect]) {
    let Some(colour) = picture.rgb.get(..PIXEL).map(<[u8]>::to_vec) else {
        return;
    };
    for row in rows(picture, places) {
        if let Some(row) = picture.rgb.get_mut(row) {
            row.chunks_exact_mut(PIXEL)
                .for_each(|pixel| pixel.copy_from_slice(&colour));
        }
    }
}

/// Restores these places from the last picture, if that had the same size.
fn keep(picture: &mut Picture, last: &Picture, places: &[Rect]) {
    if (picture.width, picture.height) != (last.width, last.height) {
        return;
    }
    for row in rows(picture, places) {
        if let (Some(now), Some(before)) = (picture.rgb.get_mut(row.clone()), last.rgb.get(row)) {
            now.copy_from_slice(before);
        }
    }
}

/// The rows of pixels of these places of the screen, as ranges of the picture's bytes.
fn rows(picture: &Picture, places: &[Rect]) -> Vec<Range<usize>> {
    let areas = places.iter().filter_map(|place| Area::new(picture, *place));
    let rows = areas.flat_map(|area| {
        let at = |x: usize, y: usize| (y * picture.width as usize + x) * PIXEL;
        (area.y..area.y + area.h).map(move |y| at(area.x, y)..at(area.x + area.w, y))
    });
    rows.collect()
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
            // If sending fails, nobody waits for the text any more.
            let _ = keys.get(index).map(|key| sender.try_send((*key, text)));
        };
        if let Err(e) = engine.read(&prints, LONGEST, &found) {
            tracing::warn!("no texts from pictures: {e}");
        }
    };
    thread::Builder::new().name("ocr".into()).spawn(work).ok()?;
    Some(texts)
}

/// The place of a line on the screen.
fn on_screen(picture: &Picture, line: Area) -> Rect {
    let Rect { x, y, w, h } = line.on_screen(picture);
    Rect::at(x, y, w.max(1), h.max(1))
}

fn element(id: String, parent: usize, text: &str, place: Rect) -> Element {
    Element {
        parent: Some(parent),
        title: Text::new(text),
        extents: Some(place),
        ..Element::new(ElementId::new(id), Role::STATIC_TEXT, texts::FROM_PICTURE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture of 40×20 screen units at (100,50), each pixel of another colour.
    fn picture() -> Picture {
        let (width, height) = (80, 40);
        let rgb = (0..width * height).flat_map(|i: u32| [i as u8, (i >> 8) as u8, 9]);
        Picture {
            width,
            height,
            rgb: rgb.collect(),
            origin: Point { x: 100, y: 50 },
            scale: 2.0,
        }
    }

    fn pixel(picture: &Picture, x: usize, y: usize) -> &[u8] {
        let at = (y * picture.width as usize + x) * PIXEL;
        &picture.rgb[at..at + PIXEL]
    }

    #[test]
    fn a_cut_out_part_of_a_picture_keeps_its_place_on_the_screen() {
        let whole = picture();
        let place = Rect::at(110, 55, 60, 5);
        let part = cut(&whole, place).unwrap();
        assert_eq!((part.width, part.height), (60, 10));
        assert_eq!((part.origin, part.scale), (Point { x: 110, y: 55 }, 2.0));
        assert_eq!(pixel(&part, 0, 0), pixel(&whole, 20, 10));
        assert_eq!(pixel(&part, 59, 9), pixel(&whole, 79, 19));
        let line = Area {
            x: 4,
            y: 2,
            w: 20,
            h: 6,
        };
        let shown = Rect::at(112, 56, 10, 3);
        assert_eq!(on_screen(&part, line), shown);
        assert!(cut(&whole, Rect { x: 500, ..place }).is_none());
    }

    #[test]
    fn a_painted_over_part_shows_nothing() {
        let whole = picture();
        let mut covered = whole.clone();
        let far = Rect::at(0, 0, 20, 20);
        paint_over(&mut covered, &[Rect::at(110, 55, 5, 5), far]);
        for y in 0..40 {
            for x in 0..80 {
                let is_over = (20..30).contains(&x) && (10..20).contains(&y);
                let from = if is_over { (0, 0) } else { (x, y) };
                assert_eq!(pixel(&covered, x, y), pixel(&whole, from.0, from.1));
            }
        }
        let mut kept = covered.clone();
        keep(&mut kept, &whole, &[Rect { w: 3, ..far }, far]);
        assert_eq!(kept, covered);
        keep(
            &mut kept,
            &whole,
            &[Rect {
                x: 110,
                y: 55,
                w: 5,
                h: 5,
            }],
        );
        assert_eq!(kept, whole);
        covered.rgb.truncate(100);
        paint_over(&mut covered, &[Rect::at(110, 55, 5, 5)]);
    }
}
