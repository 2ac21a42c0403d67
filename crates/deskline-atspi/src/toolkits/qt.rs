//! Qt 5 and Qt 6.

use deskline_core::{Element, Rect, Role};

use crate::names::role;

/// Whether a container that is reported as showing without extents is a closed list. Qt 5 reports
/// the list of a closed combo box like that.
pub(crate) fn is_closed_list(number: Option<u32>) -> bool {
    number.is_some_and(role::is_list)
}

/// The extents of a row, cut to the width of its list: Qt 5 makes the rows of a drop-down twice as
/// wide as the drop-down, so that their centres lie outside of it.
pub(crate) fn row_extents(extents: Rect, row: &Element, list: &Element) -> Rect {
    let Some(area) = list.extents.filter(|area| !area.is_empty()) else {
        return extents;
    };
    if row.role != Role::ROW || list.role != Role::LIST || extents.w <= area.w {
        return extents;
    }
    let cut = extents.intersect(&Rect {
        y: extents.y,
        h: extents.h,
        ..area
    });
    if cut.is_empty() { extents } else { cut }
}
