//! Rows that GTK 4 does not list. It leaves out widgets of the role `presentation`, such as
//! libadwaita's `AdwSpinRow`, with all that is in them. So where there is a gap between the rows of
//! a list, the app is asked what lies there.

use deskline_core::Rect;

use super::managed::row_of;
use crate::bus::Result;
use crate::engine::{Engine, Node};
use crate::names::role;
use crate::request::Request;

/// The least height of a row.
const ROW: i32 = 24;

/// Adds the rows that GTK 4 does not list to their lists.
pub fn fill(engine: &mut Engine<'_>) -> Result<()> {
    for list in 0..engine.nodes.len() {
        let mut from = i32::MIN;
        while let Some((x, top)) = gap(&engine.nodes, list, from) {
            from = top.saturating_add(1);
            let path = engine.nodes[list].path.clone();
            let at = Request::AtPointInWindow(x, top.saturating_add(ROW / 2));
            if let Some(object) = engine.object(&path, at)?
                && !engine.has(&object)
                && let Some(row) = row_of(engine, &path, object)?
                && engine.add(Some(list), row).is_some()
            {
                engine.pump(None)?;
                let mut rows = std::mem::take(&mut engine.nodes[list].children);
                rows.sort_by_key(|row| engine.nodes[*row].extents.map(|place| place.y));
                engine.nodes[list].children = rows;
            }
        }
    }
    Ok(())
}

/// The first gap between a list's rows, at `from` or below, in which a row fits. Returns the x of
/// the gap's middle and the y of its top.
fn gap(nodes: &[Node], list: usize, from: i32) -> Option<(i32, i32)> {
    let node = &nodes[list];
    let is_list = node.showing && node.role == Some(role::LIST) && node.children_read;
    let area = node.extents.filter(|_| is_list)?;
    let end = area.offset(0, area.h);
    let rows = node
        .children
        .iter()
        .filter_map(|child| nodes[*child].extents);
    let mut rows: Vec<Rect> = rows.chain([end]).collect();
    rows.sort_unstable_by_key(|row| row.y);
    let mut y = area.y;
    for row in rows {
        if y >= from && row.y.saturating_sub(y) >= ROW {
            return Some((area.center().x, y));
        }
        y = y.max(row.y.saturating_add(row.h));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_between_rows_counts_only_if_a_row_fits_into_it() {
        let node = |y, h, children: &[usize]| Node {
            extents: Some(Rect::at(10, y, 200, h)),
            role: Some(role::LIST),
            children: children.to_vec(),
            showing: true,
            children_read: true,
            ..Node::default()
        };
        let nodes = [node(0, 200, &[1, 2]), node(120, 50, &[]), node(10, 50, &[])];
        let gap = |from| gap(&nodes, 0, from);
        assert_eq!(gap(i32::MIN), Some((110, 60)));
        assert_eq!([gap(61), gap(171)], [Some((110, 170)), None]);
    }
}
