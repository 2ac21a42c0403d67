//! Detects that the window's picture changed although the tree did not.
//!
//! A picture of the window is taken before the action and compared with the one after it. Taking a
//! picture costs about a millisecond, converting it up to five (1920×1080).
//!
//! Raising a window changes its look. So a window that is behind others is pictured once it is in
//! front and has stopped changing. This waits for the animation, so it is done only if the tree
//! does not describe the target.

use std::time::Duration;

use deskline_core::{Point, Rect, Tree};

use crate::call::Action;
use crate::desktop::Desktop;
use crate::display::{Picture, PictureNature, Window, WindowId};
use crate::error::{Error, Missing, Result};
use crate::ocr::is_from_picture;
use crate::picture::area::Area;
use crate::wait;
use deskline_input::Cancel;

/// Side length of the compared blocks, in pixels. Touching blocks form one change.
const BLOCK: usize = 16;

/// A change of at most this width and height is a blinking caret. Text carets are 1 to 4 pixels
/// wide, block carets of small fonts up to 8.
const CARET: (usize, usize) = (4, 64);

/// How far a focus ring or a shadow reaches beyond its element.
const RING: i32 = 8;

/// How far the drawing of an element reaches beyond its bounds, by the same amount on opposite
/// sides: GTK 4 reports buttons without their padding.
const PADDING: i32 = 24;

/// A change of at most this many pixels is noise.
const FEW: usize = 12;

/// The value of `picture_changed:` for an unchanged picture.
pub(crate) const SAME: &str = "no";

/// A window as it looked before the action.
#[derive(Debug)]
pub(crate) struct Before {
    pub(crate) window: WindowId,
    picture: Picture,
}

/// Pictures the window that the answer will show. `target` is an index in `tree`. `None` if the
/// action changes nothing, or if no picture can be taken.
pub(crate) fn before_action(
    desktop: &mut dyn Desktop,
    action: &Action,
    tree: &Tree,
    target: Option<usize>,
) -> Option<Before> {
    let quiet = match action {
        Action::Quiet(_) => true,
        Action::Input(_) => false,
        Action::Open { .. } | Action::Refresh | Action::Read { .. } | Action::WaitFor { .. } => {
            return None;
        }
    };
    let windows = desktop.windows_of(tree.app.pid).ok()?;
    let window = pictured(&windows, Some(tree), Some(tree), target)?;
    if !quiet && desktop.front().ok()??.id != window {
        return None;
    }
    let picture = take(desktop, window).ok()?;
    Some(Before { window, picture })
}

/// Takes a picture of the window.
///
/// # Errors
/// Why this desktop cannot take pictures, or why this picture failed.
pub(crate) fn take(desktop: &mut dyn Desktop, window: WindowId) -> Result<Picture> {
    let pictures = desktop.pictures();
    pictures
        .map_err(|Missing(why)| Error::NoPicture(why.into_owned()))?
        .picture(window)
}

/// Whether this display takes a picture in little time.
pub(crate) fn are_quick(desktop: &mut dyn Desktop) -> bool {
    use PictureNature::{Quick, QuickOfScreen};
    let pictures = desktop.pictures();
    pictures.is_ok_and(|pictures| matches!(pictures.nature(), Quick | QuickOfScreen))
}

/// Pictures the front window right before input goes to it, to compare it with a later one. `None`
/// if this display's pictures take long.
pub(crate) fn before_input(desktop: &mut dyn Desktop, window: Option<WindowId>) -> Option<Before> {
    if !are_quick(desktop) {
        return None;
    }
    let window = match window {
        Some(window) => window,
        None => desktop.front().ok()??.id,
    };
    let picture = take(desktop, window).ok()?;
    Some(Before { window, picture })
}

/// How long a raised window may go on changing its look. GTK 3 fades for 200 ms.
const FADES: Duration = Duration::from_millis(400);

/// The interval between two pictures of a raised window: two frames.
const FRAMES: Duration = Duration::from_millis(33);

/// A window counts as still after this many pairs of equal pictures in a row. An app takes a moment
/// before it draws that it has the focus.
const STILL: u32 = 3;

/// Whether the tree does not describe the target, or the element at `at`, as with a canvas.
pub(crate) fn is_undescribed(tree: &Tree, target: Option<usize>, at: Point) -> bool {
    let Some(element) = target
        .or_else(|| tree.find_at(at))
        .map(|i| &tree.elements[i])
    else {
        return true;
    };
    if tree.is_picture_only() || is_from_picture(&element.id) {
        return true;
    }
    let says = [&element.title, &element.value, &element.description];
    !element.role.is_interactive() && says.iter().all(|text| text.is_blank())
}

/// Pictures the front window once it has stopped changing, as after it was raised. `None` if it
/// does not stop in time.
pub(crate) fn before_when_still(desktop: &mut dyn Desktop, cancel: &Cancel) -> Option<Before> {
    let window = desktop.front().ok()??.id;
    let mut last: Option<Picture> = None;
    let mut same = 0;
    let still = wait::until(cancel, FADES, FRAMES, || {
        let picture = take(desktop, window)?;
        let is_same = last
            .as_ref()
            .is_some_and(|last| compare(last, &picture).is_none());
        same = if is_same { same + 1 } else { 0 };
        last = Some(picture);
        Ok(last.take_if(|_| same == STILL))
    });
    let picture = still.ok()??;
    Some(Before { window, picture })
}

impl Before {
    /// Whether the window looks different in a later picture.
    pub(crate) fn differs(&self, later: &Self) -> bool {
        self.window == later.window && compare(&self.picture, &later.picture).is_some()
    }

    /// Whether the window's picture has changed outside the places `but`, where a change is
    /// expected: a clicked element is drawn pressed, and a focused one has a ring. `None` if no
    /// picture can be taken.
    pub(crate) fn has_moved(&self, desktop: &mut dyn Desktop, but: &[Rect]) -> Option<bool> {
        let mut places = self.changes(desktop)?.into_iter();
        let rings = |place: &Rect| {
            let mut ringed = but.iter().map(|own| own.grown(RING));
            ringed.any(|ringed| ringed.union(place) == ringed)
        };
        // If two elements lie side by side, the changes of both touch, and are found as one.
        let both = |place: &Rect, a: &Rect| but.iter().any(|b| is_look_of(&a.union(b), place));
        let looks = |place: &Rect| but.iter().any(|a| both(place, a));
        Some(places.any(|place| !rings(&place) && !looks(&place)))
    }

    /// [`Before::has_moved`], but waits until the window has stopped fading: elements that a drag
    /// has passed fade for a while.
    pub(crate) fn has_moved_for_good(
        &self,
        desktop: &mut dyn Desktop,
        but: &[Rect],
        cancel: &Cancel,
    ) -> Option<bool> {
        let mut moved = None;
        let still = wait::until(cancel, FADES, FRAMES, || {
            moved = self.has_moved(desktop, but);
            Ok((moved != Some(true)).then_some(()))
        });
        still.ok().and(moved)
    }

    /// Where the window looks different now. `None` if no picture can be taken.
    pub(crate) fn changes(&self, desktop: &mut dyn Desktop) -> Option<Vec<Rect>> {
        let after = take(desktop, self.window).ok()?;
        let places = spots(&self.picture, &after).into_iter();
        Some(places.map(|spot| spot.area.on_screen(&after)).collect())
    }

    /// How the window's picture changed: `12% in (40,610 300×80)` or `no`. `None` for a picture of
    /// another window.
    pub(crate) fn changed(&self, window: WindowId, after: &Picture) -> Option<String> {
        if self.window != window {
            return None;
        }
        Some(match compare(&self.picture, after) {
            None => SAME.into(),
            Some(Changed { share, area }) => {
                let percent = (share * 100.0).round();
                let percent = if percent < 1.0 {
                    "<1".into()
                } else {
                    percent.to_string()
                };
                let Rect { x, y, w, h } = area;
                format!("{percent}% in ({x},{y} {w}×{h})")
            }
        })
    }
}

/// The window to picture: the open dialog, a window that has just opened, the target's window, or
/// the app's frontmost. `target` is an index in the tree `before`.
pub(crate) fn pictured(
    windows: &[Window],
    tree: Option<&Tree>,
    before: Option<&Tree>,
    target: Option<usize>,
) -> Option<WindowId> {
    let of = |tree: &Tree, index: usize| match tree.windows_of(index).as_slice() {
        [window] => Some(window.id).filter(|id| windows.iter().any(|w| w.id == *id)),
        _ => None,
    };
    let front = windows.first()?.id;
    let dialog = tree.and_then(|tree| of(tree, tree.dialog?));
    let came_up = before.is_some_and(|b| !b.windows.is_empty() && b.window(front).is_none());
    let target = || of(before?, target?);
    dialog
        .or(came_up.then_some(front))
        .or_else(target)
        .or(Some(front))
}

/// Whether a change at `place` may be a change of how an element with the bounds `own` is drawn.
fn is_look_of(own: &Rect, place: &Rect) -> bool {
    let beyond = |start: i32, end: i32| (start - end).abs() <= 2 && (0..=PADDING).contains(&start);
    let right = place.x + place.w - own.x - own.w;
    let bottom = place.y + place.h - own.y - own.h;
    beyond(own.x - place.x, right) && beyond(own.y - place.y, bottom)
}

/// How two pictures differ.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Changed {
    /// The share of all pixels that differ.
    share: f64,
    /// The bounds of the differing pixels, in screen coordinates.
    area: Rect,
}

/// An area of the picture, and how many of its pixels differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Spot {
    area: Area,
    pixels: usize,
}

impl Spot {
    fn join(self, other: Self) -> Self {
        Self {
            area: self.area.around(other.area),
            pixels: self.pixels + other.pixels,
        }
    }

    /// Whether the change is only a caret, or a few pixels.
    fn is_nothing(&self) -> bool {
        let Area { w, h, .. } = self.area;
        self.pixels <= FEW || w <= CARET.0 && h <= CARET.1
    }
}

/// Compares two pictures of a window. `None` if they differ at most by a caret.
fn compare(before: &Picture, after: &Picture) -> Option<Changed> {
    let all = spots(before, after).into_iter().reduce(Spot::join)?;
    let pixels = after.width as usize * after.height as usize;
    Some(Changed {
        share: all.pixels as f64 / pixels.max(1) as f64,
        area: all.area.on_screen(after),
    })
}

/// Where two pictures of a window differ by more than a caret. If the window's size differs, or a
/// pop-up reaches beyond its edges, the whole window counts as changed.
fn spots(before: &Picture, after: &Picture) -> Vec<Spot> {
    let (w, h) = (after.width as usize, after.height as usize);
    let whole = Spot {
        area: Area { x: 0, y: 0, w, h },
        pixels: w * h,
    };
    let same_size = (before.width, before.height) == (after.width, after.height);
    let mut spots = if same_size {
        join_touching(&differing_blocks(before, after), w.div_ceil(BLOCK))
    } else {
        vec![whole]
    };
    spots.retain(|spot| !spot.is_nothing());
    spots
}

/// The differing pixels of each block, in row-major order. Most pixel rows are equal, so whole rows
/// are compared first.
fn differing_blocks(before: &Picture, after: &Picture) -> Vec<Option<Spot>> {
    const PIXEL: usize = 3;
    let width = after.width as usize;
    let columns = width.div_ceil(BLOCK);
    let mut blocks = vec![None; columns * (after.height as usize).div_ceil(BLOCK)];
    let row = (width * PIXEL).max(1);
    let rows = before
        .rgb
        .chunks_exact(row)
        .zip(after.rgb.chunks_exact(row));
    for (y, (old, new)) in rows.enumerate().filter(|(_, (old, new))| old != new) {
        let parts = old.chunks(BLOCK * PIXEL).zip(new.chunks(BLOCK * PIXEL));
        for (column, (old, new)) in parts.enumerate().filter(|(_, (old, new))| old != new) {
            let pixels = old.chunks_exact(PIXEL).zip(new.chunks_exact(PIXEL));
            let mut differ = pixels
                .enumerate()
                .filter(|(_, (a, b))| a != b)
                .map(|(x, _)| x);
            let Some(first) = differ.next() else { continue };
            let (count, last) = differ.fold((1, first), |(count, _), x| (count + 1, x));
            let (x, w) = (column * BLOCK + first, last + 1 - first);
            let spot = Spot {
                area: Area { x, y, w, h: 1 },
                pixels: count,
            };
            if let Some(block) = blocks.get_mut(y / BLOCK * columns + column) {
                *block = Some(block.map_or(spot, |known: Spot| known.join(spot)));
            }
        }
    }
    blocks
}

/// Joins the changes in touching blocks, corners included.
fn join_touching(blocks: &[Option<Spot>], columns: usize) -> Vec<Spot> {
    let mut left: Vec<Option<Spot>> = blocks.to_vec();
    let mut found = Vec::new();
    for start in 0..left.len() {
        let Some(mut spot) = left[start].take() else {
            continue;
        };
        let mut open = vec![start];
        while let Some(at) = open.pop() {
            let (x, y) = (at % columns, at / columns);
            for next_y in y.saturating_sub(1)..=y + 1 {
                for next_x in x.saturating_sub(1)..=(x + 1).min(columns - 1) {
                    let next = next_y * columns + next_x;
                    if let Some(more) = left.get_mut(next).and_then(Option::take) {
                        spot = spot.join(more);
                        open.push(next);
                    }
                }
            }
        }
        found.push(spot);
    }
    found
}

#[cfg(test)]
mod tests;
