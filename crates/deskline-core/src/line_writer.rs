//! Writes the line of an element in a tree. The grammar is in [`crate::line`].
//!
//! A tree file may have a hundred thousand lines, so nothing here copies a text before writing it,
//! and plain ASCII, the usual case, is written in one call.

use std::borrow::{Borrow, Cow};
use std::fmt::{self, Write};

use crate::escape::{escape, is_plain};
use crate::texts::value_beside_name;
use crate::{Cell, Element, Rect, Ref, Role, States, Text, Texts, Tree, tag};

/// An element, as its line shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Line<T = Text, N = Cow<'static, str>> {
    pub role: Role,
    /// The native role; `None` if it adds nothing to the role.
    pub native_role: Option<N>,
    /// The element's text; see [`Texts`].
    pub text: Option<T>,
    /// The bounds on the screen.
    pub extents: Option<Rect>,
    pub visible: bool,
    pub states: States,
    /// The value, if the text is a name and the two differ.
    pub value: Option<T>,
    pub cell: Option<Cell>,
    pub reference: Option<Ref>,
    pub parent: Option<Ref>,
}

/// A borrowed [`Line`].
pub(crate) type Parts<'a> = Line<&'a Text, &'a str>;
impl<'a> Parts<'a> {
    /// Borrows `element`, which is element `index` of `tree`.
    pub(crate) fn of(element: &'a Element, tree: &'a Tree, texts: &Texts, index: usize) -> Self {
        let native = element.native_role.as_ref();
        let parent = element.parent.and_then(|parent| tree.elements.get(parent));
        Self {
            role: element.role,
            native_role: element.role.says_more(native).then_some(native),
            text: texts.text(tree, index),
            extents: element.extents,
            visible: tree.is_seen(index),
            states: element.states,
            value: value_beside_name(element),
            cell: element.cell,
            reference: element.reference,
            parent: parent.and_then(|parent| parent.reference),
        }
    }
}

impl<T: Borrow<Text>, N: AsRef<str>> Line<T, N> {
    pub(crate) fn write(&self, out: &mut impl Write) -> fmt::Result {
        self.head(out)?;
        if let Some(Rect { x, y, w, h }) = self.extents {
            for (name, number) in [(" x:", x), (" y:", y), (" w:", w), (" h:", h)] {
                out.write_str(name)?;
                out.write_str(itoa::Buffer::new().format(number))?;
            }
        }
        self.tail(out)
    }

    /// Writes role and text.
    pub(crate) fn head(&self, out: &mut impl Write) -> fmt::Result {
        out.write_str("[")?;
        out.write_str(self.role.ax())?;
        if let Some(native) = self.native_role.as_ref().map(AsRef::as_ref) {
            out.write_str(" (")?;
            if is_plain(native) && !native.contains(')') {
                out.write_str(native)?;
            } else {
                out.write_str(&escape(native).replace(')', "\\)"))?;
            }
            out.write_str(")")?;
        }
        out.write_str("]")?;
        match &self.text {
            None => Ok(()),
            Some(text) => {
                out.write_str(" ")?;
                quoted(out, text.borrow())
            }
        }
    }

    /// Writes states, value, cell and refs.
    pub(crate) fn tail(&self, out: &mut impl Write) -> fmt::Result {
        if self.visible {
            out.write_str(" visible")?;
        }
        if !self.states.is_empty() {
            for state in self.states.words() {
                out.write_str(" ")?;
                out.write_str(state)?;
            }
        }
        if let Some(value) = &self.value {
            out.write_str(" value:")?;
            quoted(out, value.borrow())?;
        }
        if let Some(Cell { row, column }) = self.cell {
            for (name, number) in [(" row:", row), (" col:", column)] {
                out.write_str(name)?;
                out.write_str(itoa::Buffer::new().format(number))?;
            }
        }
        for (name, reference) in [(" #e", self.reference), (" in #e", self.parent)] {
            if let Some(Ref(number)) = reference {
                out.write_str(name)?;
                out.write_str(itoa::Buffer::new().format(number))?;
            }
        }
        Ok(())
    }
}

/// What follows an element's text in a summary: ` checked value:"12" row:4 col:2 #e42`.
pub(crate) fn short_tail(element: &Element, states: States, value: Option<String>) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    for state in states.words() {
        let _ = write!(out, " {state}");
    }
    if let Some(value) = value {
        let _ = write!(out, " value:\"{value}\"");
    }
    if let Some(Cell { row, column }) = element.cell {
        let _ = write!(out, " row:{row} col:{column}");
    }
    out + &tag(element.reference)
}

/// Writes a text between quotes, with its cut marks.
pub(crate) fn quoted(out: &mut impl Write, text: &Text) -> fmt::Result {
    out.write_str("\"")?;
    // A lone second mark would be parsed as the first one, a cut at the start.
    if text.omitted_before > 0 || text.omitted_after > 0 && text.shown.is_empty() {
        write!(out, "…(+{})", text.omitted_before)?;
    }
    inside(out, &text.shown)?;
    if text.omitted_after > 0 {
        write!(out, "…(+{})", text.omitted_after)?;
    }
    out.write_str("\"")
}

/// Writes the text between the quotes, without the cut marks.
fn inside(out: &mut impl Write, text: &str) -> fmt::Result {
    if is_plain(text) {
        return out.write_str(text);
    }
    let escaped = escape(text);
    if escaped.contains("…(+") {
        out.write_str(&escaped.replace("…(+", "\\u{2026}(+"))
    } else {
        out.write_str(&escaped)
    }
}
