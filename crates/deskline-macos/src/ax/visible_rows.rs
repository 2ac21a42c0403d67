//! The visible rows of tables, outlines and lists, however many rows there are.
//!
//! Asking a table for its children creates an object for every row. `AXVisibleRows` returns the
//! visible ones; the others are read in ranges while there is time.

use deskline_core::Role;

use crate::os::{Ax, AxError, Os, Value};

/// The number of rows per call, when rows are read in ranges.
pub(crate) const RANGE: usize = 100;

/// How many children to read first of a container that does not report which of them are visible.
const UNKNOWN: usize = 500;

/// The attributes with a container's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Names {
    /// The attribute with the visible rows.
    visible: &'static str,
    /// The attribute with all rows.
    pub(crate) all: &'static str,
}

/// The attributes with the rows of a container with this role; `None` for roles other than tables,
/// outlines, lists and grids.
pub(crate) fn names(role: Role) -> Option<Names> {
    let (visible, all) = match role {
        Role::TABLE | Role::OUTLINE => ("AXVisibleRows", "AXRows"),
        Role::LIST | Role::GRID => ("AXVisibleChildren", "AXChildren"),
        _ => return None,
    };
    Some(Names { visible, all })
}

#[derive(Debug)]
pub(crate) struct Rows<E> {
    /// The headers and the visible rows, in order, and the open context menu.
    pub(crate) shown: Vec<E>,
    /// How many rows there are besides those in `shown`.
    pub(crate) more: usize,
    /// Whether the container does not report which rows are visible, so that their bounds have to
    /// tell.
    pub(crate) unsure: bool,
}

/// Reads the visible rows.
pub(crate) fn read<O: Os>(os: &O, element: &O::Element, names: Names) -> Ax<Rows<O::Element>> {
    let wanted = &[names.visible, "AXHeader", "AXShownMenuUIElement"];
    let mut values = os.attributes(element, wanted)?;
    let menu = values.pop();
    let header = values.pop();
    let total = match os.count(element, names.all) {
        Ok(total) => Some(total),
        Err(AxError::ATTRIBUTE_UNSUPPORTED | AxError::NO_VALUE) => None,
        Err(e) => return Err(e),
    };
    let (rows, total, unsure) = match (values.pop(), total) {
        // Firefox and apps based on it return no visible rows although there are some (zotero
        // #2734).
        (Some(Value::Elements(rows)), total) if !rows.is_empty() || total == Some(0) => {
            (rows, total, false)
        }
        (_, Some(total)) => (
            os.range(element, names.all, 0, total.min(UNKNOWN))?,
            Some(total),
            true,
        ),
        (_, None) => {
            let total = os.count(element, "AXChildren").unwrap_or(0);
            let most = total.min(UNKNOWN);
            (os.range(element, "AXChildren", 0, most)?, Some(total), true)
        }
    };
    let more = total.map_or(0, |total| total.saturating_sub(rows.len()));
    let mut shown = Vec::with_capacity(rows.len() + 1);
    shown.extend(header.and_then(Value::element));
    shown.extend(rows);
    shown.extend(menu.and_then(Value::element));
    Ok(Rows {
        shown,
        more,
        unsure,
    })
}
