//! LibreOffice 7.4. The peculiarities of its spreadsheet cells are in `strategies/spreadsheet.rs`.

use std::time::Duration;

use deskline_core::Rect;

use crate::names::role;

/// How long after keys LibreOffice takes to update the status bar, and the states of toolbars and
/// menus. A timer updates them 305 ms after the last change of the document.
pub(crate) const STATUS_LAG: Duration = Duration::from_millis(400);

/// Whether an app of this name is LibreOffice, whatever toolkit draws its widgets.
pub(crate) fn is_office(name: &str) -> bool {
    name == "soffice"
}

/// Whether a table is a spreadsheet, whose 10⁹ cells cannot all have objects: for each request for
/// a cell, LibreOffice creates an object of 7 kB and never frees it.
pub(crate) fn is_spreadsheet(rows: i32, columns: i32) -> bool {
    i64::from(rows) * i64::from(columns) > 1_000_000
}

/// The offset of a node from its reported extents. `outer` are the container's reported extents,
/// `by` is the container's own offset.
///
/// Until its window is resized, LibreOffice does not count its own menu bar: the root pane fills
/// its panel, but is reported to begin higher. A node in the pane that lies outside the container's
/// reported extents, but inside the real ones, is a widget of GTK, whose extents are right.
pub fn offset(number: Option<u32>, own: Rect, outer: Rect, by: (i32, i32)) -> (i32, i32) {
    let within = |inner: Rect, outer: Rect| inner.intersect(&outer) == inner;
    let same_size = (own.w, own.h) == (outer.w, outer.h);
    if number == Some(role::ROOT_PANE) && same_size {
        (outer.x + by.0 - own.x, outer.y + by.1 - own.y)
    } else if by != (0, 0) && !within(own, outer) && within(own, outer.offset(by.0, by.1)) {
        (0, 0)
    } else {
        by
    }
}

/// Whether this is VCL's own menu bar, which is hidden where GTK draws the menu bar. Its hundreds
/// of items repeat GTK's.
pub(crate) fn is_undrawn_menu_bar(number: Option<u32>, extents: Option<Rect>) -> bool {
    number == Some(role::MENU_BAR) && extents.is_some_and(|e| e.w > 0 && e.h == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_moved_down_only_in_a_root_pane_that_begins_too_high() {
        let rect = |x, y, w, h| Rect { x, y, w, h };
        let (panel, pane) = (rect(0, 100, 800, 600), rect(0, 70, 800, 600));
        assert_eq!(offset(Some(role::ROOT_PANE), pane, panel, (0, 0)), (0, 30));
        assert_eq!(offset(Some(role::PANEL), pane, panel, (0, 0)), (0, 0));
        let below = rect(10, 80, 50, 20);
        assert_eq!(offset(None, below, pane, (0, 30)), (0, 30));
        let of_gtk = rect(10, 675, 50, 20);
        assert_eq!(offset(None, of_gtk, pane, (0, 30)), (0, 0));
    }
}
