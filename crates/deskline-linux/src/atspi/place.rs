//! Where a toolkit's coordinates are on the screen.
//!
//! GTK 4 gives extents relative to its window whatever it is asked for. Screen = X window origin +
//! `_GTK_FRAME_EXTENTS` + extent; where a window has no such property, half of what the X window is
//! larger than the accessible frame. Checked by clicking, with the window away from the origin.

use deskline_core::Rect;

/// An app's windows, as the window system knows them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Windows {
    /// Its toplevels.
    pub toplevels: Vec<Toplevel>,
    /// Its open pop-ups (menus, drop-downs), shadows included, in root coordinates.
    pub popups: Vec<Rect>,
}

/// A toplevel as the window system knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toplevel {
    /// Its title.
    pub title: String,
    /// The X window, shadow included, in root coordinates.
    pub window: Rect,
    /// `_GTK_FRAME_EXTENTS`: left, right, top, bottom.
    pub shadow: Option<[i32; 4]>,
    /// Whether it says that it is modal.
    pub modal: bool,
}

impl Toplevel {
    /// The window without its shadow.
    pub fn content(&self) -> Rect {
        let [left, right, top, bottom] = self.shadow.unwrap_or_default();
        let Rect { x, y, w, h } = self.window;
        Rect {
            x: x + left,
            y: y + top,
            w: w - left - right,
            h: h - top - bottom,
        }
    }

    /// How far the origin of an accessible frame of this size is from the screen's.
    fn offset(&self, frame: Rect) -> (i32, i32) {
        let content = match self.shadow {
            Some(_) => self.content(),
            None => Rect {
                x: self.window.x + (self.window.w - frame.w) / 2,
                y: self.window.y + (self.window.h - frame.h) / 2,
                ..frame
            },
        };
        (content.x - frame.x, content.y - frame.y)
    }
}

/// Whether a frame of that title and those extents can be that toplevel's.
type Rule<'r> = &'r dyn Fn(&str, Option<Rect>, &Toplevel) -> bool;

/// Pairs accessible frames (title, extents) with toplevels: by title where that decides it, then
/// by size, then by what is left. Each toplevel is taken once.
pub fn pair(frames: &[(&str, Option<Rect>)], toplevels: &[Toplevel]) -> Vec<Option<usize>> {
    let mut taken = vec![false; toplevels.len()];
    let mut pairs = vec![None; frames.len()];
    let same_size = |frame: Option<Rect>, t: &Toplevel| {
        let content = t.content();
        frame.is_some_and(|f| (f.w - content.w).abs() <= 1 && (f.h - content.h).abs() <= 1)
    };
    let rules: [Rule<'_>; 4] = [
        &|title, frame, t| title == t.title && same_size(frame, t),
        &|title, _, t| !title.is_empty() && title == t.title,
        &|_, frame, t| same_size(frame, t),
        &|_, _, _| true,
    ];
    for rule in rules {
        for (i, (title, frame)) in frames.iter().enumerate() {
            if pairs[i].is_some() {
                continue;
            }
            let free = |j: &usize| !taken[*j] && rule(title, *frame, &toplevels[*j]);
            if let Some(j) = (0..toplevels.len()).find(free) {
                taken[j] = true;
                pairs[i] = Some(j);
            }
        }
    }
    pairs
}

/// For each frame, what to add to its coordinates and those of all that is in it.
pub fn offsets(frames: &[(&str, Option<Rect>)], toplevels: &[Toplevel]) -> Vec<Option<(i32, i32)>> {
    pair(frames, toplevels)
        .into_iter()
        .zip(frames)
        .map(|(pair, (_, frame))| Some(toplevels[pair?].offset((*frame)?)))
        .collect()
}

/// A pop-up's size may be told with a pixel more or less.
const LEEWAY: i32 = 2;

/// For each pop-up that is found among `nodes` (the extents of each and of its container, moved by
/// the offset of their toplevel and not by that of their pop-up): its node, and what to add to the
/// coordinates of it and of all that is in it.
///
/// GTK 4 gives the extents of a popover as if its window began where the widget begins that it
/// belongs to, and the popover ends where its window ends.
pub fn popup_offsets(nodes: &[Option<(Rect, Rect)>], popups: &[Rect]) -> Vec<(usize, (i32, i32))> {
    let mut found: Vec<(usize, (i32, i32))> = Vec::new();
    for popup in popups {
        let ends_with_it = |own: Rect, container: Rect| {
            let (x, y) = (own.x - container.x, own.y - container.y);
            let (right, bottom) = (x + own.w - popup.w, y + own.h - popup.h);
            x >= 0 && y >= 0 && right.abs() <= LEEWAY && bottom.abs() <= LEEWAY
        };
        let node = nodes.iter().enumerate().find_map(|(i, node)| {
            let (own, container) = (*node)?;
            let free = found.iter().all(|(taken, _)| *taken != i);
            (free && ends_with_it(own, container)).then_some((i, container))
        });
        if let Some((node, container)) = node {
            found.push((node, (popup.x - container.x, popup.y - container.y)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toplevel(title: &str, window: Rect, shadow: Option<[i32; 4]>) -> Toplevel {
        Toplevel {
            title: title.into(),
            window,
            shadow,
            modal: false,
        }
    }

    #[test]
    fn a_frame_is_placed_at_the_content_of_its_window() {
        let window = Rect {
            x: 984,
            y: 227,
            w: 412,
            h: 552,
        };
        let shadow = Some([26, 26, 23, 29]);
        let frame = Some(Rect {
            x: 0,
            y: 0,
            w: 360,
            h: 500,
        });
        let at = offsets(
            &[("Calculator", frame)],
            &[toplevel("Calculator", window, shadow)],
        );
        assert_eq!(at, [Some((1010, 250))]);
        let at = offsets(
            &[("Calculator", frame)],
            &[toplevel("Calculator", window, None)],
        );
        assert_eq!(at, [Some((984 + 26, 227 + 26))]);
    }

    #[test]
    fn two_windows_with_one_title_are_told_apart_by_size() {
        let small = Rect {
            x: 5,
            y: 6,
            w: 100,
            h: 50,
        };
        let large = Rect {
            x: 300,
            y: 200,
            w: 400,
            h: 300,
        };
        let frames = [
            (
                "A",
                Some(Rect {
                    x: 0,
                    y: 0,
                    w: 400,
                    h: 300,
                }),
            ),
            (
                "A",
                Some(Rect {
                    x: 0,
                    y: 0,
                    w: 100,
                    h: 50,
                }),
            ),
        ];
        let toplevels = [
            toplevel("A", small, Some([0; 4])),
            toplevel("A", large, Some([0; 4])),
        ];
        assert_eq!(pair(&frames, &toplevels), [Some(1), Some(0)]);
    }

    #[test]
    fn a_popover_is_where_its_window_is() {
        let rect = |x, y, w, h| Rect { x, y, w, h };
        let file = rect(1161, 539, 23, 16);
        let menu = rect(1161, 539, 130, 108);
        let nodes = [None, Some((menu, file)), Some((menu, menu))];
        let window = rect(1150, 557, 130, 108);
        assert_eq!(popup_offsets(&nodes, &[window]), [(1, (-11, 18))]);
        assert_eq!(popup_offsets(&nodes, &[rect(0, 0, 1, 1)]), []);
        // A drop-down begins below the top of its window.
        let combo = rect(194, 129, 79, 34);
        let list = rect(194, 135, 93, 120);
        let nodes = [Some((list, combo))];
        assert_eq!(
            popup_offsets(&nodes, &[rect(191, 161, 93, 126)]),
            [(0, (-3, 32))]
        );
    }

    #[test]
    fn a_frame_without_a_window_has_no_place() {
        assert_eq!(
            offsets(
                &[(
                    "A",
                    Some(Rect {
                        x: 0,
                        y: 0,
                        w: 1,
                        h: 1
                    })
                )],
                &[]
            ),
            [None]
        );
    }
}
