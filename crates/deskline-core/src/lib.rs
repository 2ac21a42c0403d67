//! The model of a screen: elements, trees, diffs, search, and their text forms on disk and in a
//! summary.
//!
//! Pure: no I/O, no clock, no platform. A platform crate reads an app into a [`Tree`]; this crate
//! makes everything that an agent sees of it.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod diff;
pub mod element;
pub mod escape;
mod excerpt;
mod find_again;
pub mod focus;
pub mod fold;
pub mod geometry;
pub mod keys;
mod keysyms;
mod labels;
pub mod line;
mod line_writer;
pub mod listing;
pub mod matching;
mod mirror;
pub mod nearest;
pub mod number;
mod opened;
mod own_line;
mod receives;
pub mod role;
mod role_table;
pub mod search;
pub mod summary;
pub mod target;
pub mod text;
pub mod texts;
pub mod tree;
pub mod tree_file;
pub mod tree_reader;
mod visible;
mod window;

pub use diff::{Attribute, Change, Diff, Modified, Value};
pub use element::{Cell, Element, ElementId, Ref, States, tag};
pub use fold::fold;
pub use geometry::{Point, Rect};
pub use keys::{Key, KeyError, KeyPress, Modifiers};
pub use line::DeltaLine;
pub use line_writer::Line;
pub use matching::Matching;
pub use nearest::nearest;
pub use opened::is_dialog;
pub use role::Role;
pub use search::{Match, RoleFilter};
pub use summary::Summary;
pub use text::Text;
pub use texts::Texts;
pub use tree::{App, Coordinates, Older, Tree, TreeWindow, document_order};
pub use window::{Place, Window, WindowId};
