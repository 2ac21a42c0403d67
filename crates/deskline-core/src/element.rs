//! One node of an accessibility tree.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::{Rect, Role, Text};

/// The operating system's own identity of an element: a D-Bus name and object path, a handle of
/// an `AXUIElement`, a UIA runtime id. Opaque; equal ids are the same element.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ElementId(Arc<str>);

impl ElementId {
    /// From the platform's representation.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// The platform's representation.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ElementId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A short id for an element, printed `e42`. It stays the same while the element lives, is never
/// given to another element, and is valid in the next server process on the same desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ref(pub u64);

impl fmt::Display for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "e{}", self.0)
    }
}

/// The ref as it is written at the end of an element's line: ` #e42`. Empty for an element without
/// a ref.
pub fn tag(reference: Option<Ref>) -> String {
    reference.map_or_else(String::new, |reference| format!(" #{reference}"))
}

impl std::str::FromStr for Ref {
    type Err = ();

    /// Parses `e42`, and `#e42` as in a tree line.
    fn from_str(s: &str) -> Result<Self, ()> {
        let bare = s.strip_prefix('#').unwrap_or(s);
        let digits = bare.strip_prefix('e').ok_or(())?;
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(());
        }
        digits.parse().map(Self).map_err(|_| ())
    }
}

bitflags::bitflags! {
    /// The states that a tree line can name, in the order in which the line names them.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
    pub struct States: u16 {
        /// Has the keyboard focus.
        const FOCUSED = 1;
        /// Is part of its container's selection.
        const SELECTED = 1 << 1;
        /// A check box, radio button, switch or toggle button that is on.
        const CHECKED = 1 << 2;
        /// A check box that is neither on nor off.
        const MIXED = 1 << 3;
        /// Shows its children; can be collapsed.
        const EXPANDED = 1 << 4;
        /// Hides its children; can be expanded.
        const COLLAPSED = 1 << 5;
        /// Takes no input now.
        const DISABLED = 1 << 6;
        /// Its text can be changed.
        const EDITABLE = 1 << 7;
        /// Holds a secret: its content is never read.
        const SECURE = 1 << 8;
    }
}

impl States {
    /// The word for each state, in the order of a tree line.
    #[rustfmt::skip]
    pub const WORDS: [(&str, Self); 9] = [
        ("focused", Self::FOCUSED), ("selected", Self::SELECTED), ("checked", Self::CHECKED),
        ("mixed", Self::MIXED), ("expanded", Self::EXPANDED), ("collapsed", Self::COLLAPSED),
        ("disabled", Self::DISABLED), ("editable", Self::EDITABLE), ("secure", Self::SECURE),
    ];

    /// The words of the states that are set, in the order of a tree line.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        let set = Self::WORDS.iter().filter(move |(_, s)| self.contains(*s));
        set.map(|(word, _)| *word)
    }
}

/// A cell's position in its table. Row and column count from 1, as in spreadsheets; headers are not
/// counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell {
    pub row: u32,
    pub column: u32,
}

/// One node of an accessibility tree, as one traversal read it.
#[derive(Debug, Clone, PartialEq)]
pub struct Element {
    pub id: ElementId,
    /// The element's ref, once the journal has assigned one.
    pub reference: Option<Ref>,
    /// An index into the same tree; always smaller than the element's own index.
    pub parent: Option<usize>,
    /// The role, under one name on every OS.
    pub role: Role,
    /// The OS's own name for the role.
    pub native_role: Cow<'static, str>,
    /// The label (`AXTitle`).
    pub title: Text,
    /// The content: the text of a field, the number of a slider (`AXValue`). Always empty where
    /// [`States::SECURE`] is set.
    pub value: Text,
    /// A longer description (`AXDescription`).
    pub description: Text,
    /// The bounds on the screen; `None` if the OS reports none.
    pub extents: Option<Rect>,
    /// The position in a table, if the element is a cell and the table reports its position.
    pub cell: Option<Cell>,
    /// Whether the element is visible: see [`crate::tree::Tree::scope_visible`].
    pub visible: bool,
    pub states: States,
    /// Whether all children were read. If not, unread descendants are not reported as added or
    /// removed.
    pub children_read: bool,
}

impl Element {
    /// A visible element without texts and states, all of whose children were read.
    pub fn new(id: ElementId, role: Role, native_role: impl Into<Cow<'static, str>>) -> Self {
        Self {
            id,
            reference: None,
            parent: None,
            role,
            native_role: native_role.into(),
            title: Text::default(),
            value: Text::default(),
            description: Text::default(),
            extents: None,
            cell: None,
            visible: true,
            states: States::empty(),
            children_read: true,
        }
    }

    /// The element's bounds; `None` if they are unknown or empty.
    pub fn place(&self) -> Option<Rect> {
        self.extents.filter(|extents| !extents.is_empty())
    }

    /// The element's bounds, if it is visible.
    pub fn shown(&self) -> Option<Rect> {
        self.extents.filter(|_| self.visible)
    }
}
