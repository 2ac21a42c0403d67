//! Texts from pictures, among the elements of a tree.

pub use deskline_contract::ocr::{Ocr, Print};
use deskline_core::{ElementId, Tree};

/// The prefix of the ids of elements that are texts from pictures.
pub(crate) const PREFIX: &str = "ocr|";

/// Whether an element with this id is a text from a picture.
pub(crate) fn is_from_picture(id: &ElementId) -> bool {
    id.as_str().starts_with(PREFIX)
}

/// Whether the tree has texts from pictures.
pub(crate) fn has_texts(tree: &Tree) -> bool {
    tree.elements.iter().any(|e| is_from_picture(&e.id))
}
