//! Tables, outlines and lists: the rows that show, however many there are.
//!
//! Asking a table for its children makes an object of every row. `AXVisibleRows` gives those that
//! show; the others are read in ranges, as far as there is time.

use deskline_core::Role;

use crate::os::{Ax, AxError, Os, Value};

/// Rows a call, where they are read in ranges.
pub(crate) const RANGE: usize = 100;

/// A container that does not say which of its parts show is read as far as this at once.
const UNKNOWN: usize = 500;

/// How the rows of a container are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Names {
    /// Those that show.
    visible: &'static str,
    /// All of them.
    pub(crate) all: &'static str,
}

/// The attributes of a role that may hold any number of rows.
pub(crate) fn names(role: Role) -> Option<Names> {
    let (visible, all) = match role {
        Role::TABLE | Role::OUTLINE => ("AXVisibleRows", "AXRows"),
        Role::LIST | Role::GRID => ("AXVisibleChildren", "AXChildren"),
        _ => return None,
    };
    Some(Names { visible, all })
}

/// The rows of a container.
#[derive(Debug)]
pub(crate) struct Rows<E> {
    /// What stands over the rows, and those that show, in order.
    pub(crate) shown: Vec<E>,
    /// How many rows there are beside these.
    pub(crate) more: usize,
}

/// Reads the rows that show.
pub(crate) fn read<O: Os>(os: &O, element: &O::Element, names: Names) -> Ax<Rows<O::Element>> {
    let mut values = os.attributes(element, &[names.visible, "AXHeader"])?;
    let header = values.pop();
    let total = match os.count(element, names.all) {
        Ok(total) => Some(total),
        Err(AxError::ATTRIBUTE_UNSUPPORTED | AxError::NO_VALUE) => None,
        Err(e) => return Err(e),
    };
    let (rows, total) = match (values.pop(), total) {
        (Some(Value::Elements(rows)), total) => (rows, total),
        // It does not say what shows: geometry will.
        (_, Some(total)) => (
            os.range(element, names.all, 0, total.min(UNKNOWN))?,
            Some(total),
        ),
        (_, None) => {
            let total = os.count(element, "AXChildren").unwrap_or(0);
            let most = total.min(UNKNOWN);
            (os.range(element, "AXChildren", 0, most)?, Some(total))
        }
    };
    let more = total.map_or(0, |total| total.saturating_sub(rows.len()));
    let mut shown = Vec::with_capacity(rows.len() + 1);
    if let Some(Value::Element(header)) = header {
        shown.push(header);
    }
    shown.extend(rows);
    Ok(Rows { shown, more })
}
