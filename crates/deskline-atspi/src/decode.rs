//! Decodes replies: the types that several requests return.

use std::sync::Arc;

use deskline_core::Rect;

use crate::bus::{Message, Reader, WireError};
use crate::names::{NULL, StateSet};

/// The maximum length of a name, title or description that is kept, in bytes. A tree shows less.
const LONGEST: usize = 64 << 10;

/// The bus name and the path of an object.
pub(crate) type Object = (String, String);

/// A name, cut to `LONGEST` bytes.
pub fn kept(name: &str) -> &str {
    let cut = (0..=LONGEST.min(name.len()))
        .rev()
        .find(|&at| name.is_char_boundary(at));
    &name[..cut.unwrap_or_default()]
}

/// `au`: the words of a state set, low word first.
pub fn states(r: &mut Reader<'_>) -> Result<StateSet, WireError> {
    let words = r.array(4, Reader::u32)?;
    let low = u64::from(words.first().copied().unwrap_or(0));
    let high = u64::from(words.get(1).copied().unwrap_or(0));
    Ok(StateSet(high << 32 | low))
}

/// `(iiii)`: x, y, width and height.
pub fn extents(message: &Message) -> Option<Rect> {
    let mut r = message.reader();
    Rect::new(r.i32().ok()?, r.i32().ok()?, r.i32().ok()?, r.i32().ok()?)
}

/// `(so)`: the path of the object, if there is one.
pub fn object(message: &Message) -> Option<Arc<str>> {
    let (_, path) = message.reader().object().ok()?;
    (path != NULL).then(|| path.into())
}

/// The path of the object that a property holds, if there is one.
pub(crate) fn object_property(message: &Message) -> Option<Arc<str>> {
    let mut reader = message.reader();
    reader.signature().ok().filter(|s| *s == "(so)")?;
    let (_, path) = reader.object().ok()?;
    (path != NULL).then(|| path.into())
}

/// `a(so)`: bus names and paths.
pub fn objects(message: &Message) -> Result<Vec<(&str, &str)>, WireError> {
    message.reader().array(8, Reader::object)
}

/// `a(so)`: the paths.
pub(crate) fn paths(message: &Message) -> Option<Vec<String>> {
    let objects = objects(message).ok()?.into_iter();
    Some(objects.map(|(_, path)| path.to_owned()).collect())
}

/// `a(ua(so))`: the path of the first object of the relation `wanted`, if there is one.
pub(crate) fn relation(r: &mut Reader<'_>, wanted: u32) -> Result<Option<String>, WireError> {
    let relations = r.array(8, |r| {
        r.align(8)?;
        Ok((r.u32()?, r.array(8, Reader::object)?))
    })?;
    let found = relations.into_iter().find(|(kind, _)| *kind == wanted);
    let path = found.and_then(|(_, targets)| Some(targets.first()?.1.to_owned()));
    Ok(path)
}

/// `a{ss}`: the value of the attribute `wanted`.
pub fn attribute(r: &mut Reader<'_>, wanted: &str) -> Result<Option<String>, WireError> {
    let attributes = r.array(8, |r| {
        r.align(8)?;
        Ok((r.str()?, r.str()?))
    })?;
    let value = attributes.into_iter().find(|(name, _)| *name == wanted);
    Ok(value.map(|(_, value)| value.to_owned()))
}

pub(crate) fn number_property(message: &Message) -> Option<i32> {
    message.reader().variant_i32().ok()
}

/// What a label says: its name, or else its text. `replies` has the reply about the name, then the
/// reply about the text.
pub fn label(replies: &[Option<Message>]) -> Option<String> {
    let [name, text] = replies else { return None };
    let name = name.as_ref().and_then(|m| m.reader().variant_str().ok());
    let text = text.as_ref().and_then(|m| m.reader().str().ok());
    let said = name.filter(|name| !name.is_empty()).or(text)?;
    Some(kept(said).to_owned())
}
