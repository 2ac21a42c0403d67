//! Where the content of a native Wayland window begins in the window's buffer, which may have a
//! shadow around the content. GTK 3 and Chromium count extents from the corner of the buffer, GTK 4
//! and Qt from that of the content, and Qt from below the title bar if it draws one itself.

use std::ops::RangeInclusive;

use deskline_core::Rect;

use super::windows::{InBuffer, Toplevel};
use crate::engine::Node;

/// The maximum width of the border that Qt draws around its window, in Qt's units. The border is
/// usually 1 wide.
const BORDER: i32 = 4;

/// How high a title bar may be, in the toolkit's units. Qt's are 22 to 38 high. A smaller
/// difference in height comes from rounding.
const TITLE_BAR: RangeInclusive<i32> = 16..=80;

/// Where the content of the window begins in the frame, in the toolkit's units; negative if the
/// frame is a part of the content. `None` for a window that is not native to Wayland.
pub(crate) fn before_content(
    nodes: &[Node],
    frame: usize,
    toplevel: &Toplevel,
) -> Option<(i32, i32)> {
    let (outer, content) = (nodes[frame].extents?, toplevel.content());
    match toplevel.in_buffer? {
        InBuffer::At(left, top) => {
            let decorated = below_title_bar(outer, content);
            Some(decorated.unwrap_or_else(|| after_shadow(outer, content, left, top)))
        }
        InBuffer::Framed { left, top, unit } => {
            let unit = unit.max(1);
            let content = Rect {
                w: content.w / unit,
                h: content.h / unit,
                ..content
            };
            let decorated = below_title_bar(outer, content);
            Some(decorated.unwrap_or_else(|| after_shadow(outer, content, left / unit, top / unit)))
        }
        InBuffer::NotTold => Some(found(nodes, frame, outer, content)),
    }
}

/// The size of the toolkit's unit, in the compositor's units.
pub fn unit(toplevel: &Toplevel) -> i32 {
    match toplevel.in_buffer {
        Some(InBuffer::Framed { unit, .. }) => unit.max(1),
        _ => 1,
    }
}

fn after_shadow(outer: Rect, content: Rect, left: i32, top: i32) -> (i32, i32) {
    let with_shadow = outer.w >= content.w.saturating_add(left) && left > 0
        || outer.h >= content.h.saturating_add(top) && top > 0;
    if with_shadow { (left, top) } else { (0, 0) }
}

/// Like [`before_content`], for a frame that is less high than the content by a title bar; `None`
/// for other frames. The border is as wide below as at the sides.
fn below_title_bar(outer: Rect, content: Rect) -> Option<(i32, i32)> {
    let wider = content.w.saturating_sub(outer.w);
    let higher = content.h.saturating_sub(outer.h);
    let border = wider / 2;
    let title_bar = higher.saturating_sub(border);
    let has = (0..=2 * BORDER).contains(&wider) && TITLE_BAR.contains(&title_bar);
    has.then_some((-border, -title_bar))
}

/// Finds the corner of the content in the frame. The frame's visible parts together fill the
/// content.
fn found(nodes: &[Node], frame: usize, outer: Rect, content: Rect) -> (i32, i32) {
    let most = (outer.w - content.w, outer.h - content.h);
    if most.0 <= 0 && most.1 <= 0 {
        return (0, 0);
    }
    let parts = parts(nodes, frame, content);
    // Parts as wide as the content come first: another part may be a pop-up, which extends beyond
    // the content.
    let wide = |part: &&Rect| part.w == content.w;
    let filled = if parts.iter().any(|part| wide(&part)) {
        let wide = parts.iter().filter(wide).copied();
        wide.reduce(|all, part| all.union(&part))
    } else {
        parts.into_iter().reduce(|all, part| all.union(&part))
    };
    let filled = filled.unwrap_or(outer);
    // If the parts do not fill the content, the margins are assumed to be equal.
    let begins = |start: i32, size: i32, whole: i32, most: i32| {
        (start + (size - whole) / 2).clamp(0, most.max(0))
    };
    (
        begins(filled.x - outer.x, filled.w, content.w, most.0),
        begins(filled.y - outer.y, filled.h, content.h, most.1),
    )
}

/// The outermost parts of the frame that are no larger than the content.
fn parts(nodes: &[Node], frame: usize, content: Rect) -> Vec<Rect> {
    let mut parts = Vec::new();
    let mut open: Vec<usize> = nodes[frame].children.clone();
    while let Some(index) = open.pop() {
        let node = &nodes[index];
        let Some(extents) = node.extents.filter(|e| node.showing && !e.is_empty()) else {
            continue;
        };
        if extents.w <= content.w && extents.h <= content.h {
            parts.push(extents);
        } else {
            open.extend(&node.children);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use deskline_core::WindowId;

    /// A frame and its descendants, each with the index of its container.
    fn tree(extents: &[(usize, Rect)]) -> Vec<Node> {
        let mut nodes: Vec<Node> = Vec::new();
        for (index, (parent, extents)) in extents.iter().enumerate() {
            nodes.push(Node {
                extents: Some(*extents),
                showing: true,
                ..Node::default()
            });
            if index > 0 {
                nodes[*parent].children.push(index);
            }
        }
        nodes
    }

    fn window(content: Rect, in_buffer: InBuffer) -> Toplevel {
        Toplevel {
            in_buffer: Some(in_buffer),
            ..Toplevel::new(WindowId(1), String::new(), content)
        }
    }

    #[test]
    fn a_reported_shadow_counts_if_the_frame_includes_it() {
        let there = window(Rect::at(100, 50, 400, 300), InBuffer::At(26, 23));
        let frame = |w, h| before_content(&tree(&[(0, Rect::at(0, 0, w, h))]), 0, &there);
        assert_eq!(frame(452, 352), Some((26, 23)));
        assert_eq!(frame(400, 300), Some((0, 0)));
    }

    #[test]
    fn a_title_bar_drawn_by_the_toolkit_lies_above_the_frame() {
        let framed = |content, left, top, unit| {
            let in_buffer = InBuffer::Framed { left, top, unit };
            window(content, in_buffer)
        };
        let at = |toplevel: &Toplevel, w, h| {
            before_content(&tree(&[(0, Rect::at(0, 0, w, h))]), 0, toplevel)
        };
        let qt = framed(Rect::at(100, 50, 422, 284), 10, 10, 1);
        assert_eq!(at(&qt, 420, 260), Some((-1, -23)));
        let gtk4 = framed(Rect::at(100, 50, 420, 260), 14, 12, 1);
        assert_eq!(at(&gtk4, 420, 260), Some((0, 0)));
        let gtk3 = framed(Rect::at(100, 50, 420, 297), 26, 23, 1);
        assert_eq!(at(&gtk3, 472, 349), Some((26, 23)));
        // A screen that is laid out in physical pixels.
        let qt = framed(Rect::at(100, 50, 844, 568), 20, 20, 2);
        assert_eq!((at(&qt, 420, 260), unit(&qt)), (Some((-1, -23)), 2));
        let gtk3 = framed(Rect::at(100, 50, 840, 594), 52, 46, 2);
        assert_eq!(at(&gtk3, 472, 349), Some((26, 23)));
    }

    #[test]
    fn the_content_of_a_gtk_3_window_is_its_header_and_its_body() {
        let nodes = [
            (0, Rect::at(0, 0, 952, 799)),
            (0, Rect::at(26, 23, 900, 47)),
            (0, Rect::at(26, 70, 900, 700)),
            // The last part is an open popover.
            (0, Rect::at(700, 600, 300, 190)),
        ];
        let there = window(Rect::at(350, 76, 900, 747), InBuffer::NotTold);
        assert_eq!(before_content(&tree(&nodes), 0, &there), Some((26, 23)));
    }

    #[test]
    fn the_content_is_found_inside_panels_as_large_as_the_buffer() {
        let nodes = [
            (0, Rect::at(0, 0, 1000, 800)),
            (0, Rect::at(0, 0, 1000, 800)),
            (1, Rect::at(16, 10, 968, 758)),
            (1, Rect::at(952, 10, 32, 40)),
        ];
        let there = window(Rect::at(316, 71, 968, 758), InBuffer::NotTold);
        assert_eq!(before_content(&tree(&nodes), 0, &there), Some((16, 10)));
    }

    #[test]
    fn content_is_centred_on_a_child_that_has_margins() {
        let nodes = [
            (0, Rect::at(0, 0, 252, 152)),
            (0, Rect::at(33, 30, 186, 86)),
        ];
        let there = window(Rect::at(0, 0, 200, 100), InBuffer::NotTold);
        assert_eq!(before_content(&tree(&nodes), 0, &there), Some((26, 23)));
        let whole = window(Rect::at(0, 0, 252, 152), InBuffer::NotTold);
        assert_eq!(before_content(&tree(&nodes), 0, &whole), Some((0, 0)));
    }

    #[test]
    fn extents_of_any_size_cause_no_panic() {
        let far = 1_000_000;
        let nodes = [
            (0, Rect::at(-far, far, far, far)),
            (0, Rect::at(far, -far, 1, 1)),
        ];
        let there = window(Rect::at(0, 0, 10, 10), InBuffer::NotTold);
        assert!(before_content(&tree(&nodes), 0, &there).is_some());
        assert!(before_content(&tree(&nodes[..1]), 0, &there).is_some());
    }
}
