//! The requests to an app's objects.

use crate::bus::Body;
use crate::names::{
    ACCESSIBLE, ACTION, CACHE, CACHE_INTERFACE, COLLECTION, COMPONENT, HYPERLINK, HYPERTEXT,
    PROPERTIES, SCREEN, SELECTION, TABLE, TEXT, VALUE, WINDOW,
};

/// A method call, or a property, of an accessible object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Request {
    /// `Accessible.GetState`
    State,
    /// `Accessible.GetRole`
    Role,
    /// `Accessible.Name`
    Name,
    /// `Accessible.Description`
    Description,
    /// `Accessible.GetChildren`
    Children,
    /// `Accessible.GetRelationSet`
    Relations,
    /// `Component.GetExtents` in screen coordinates
    Extents,
    /// `Component.GetExtents` in window coordinates
    ExtentsInWindow,
    /// `Accessible.ChildCount`
    ChildCount,
    /// `Accessible.GetChildAtIndex`
    ChildAt(i32),
    /// `Hypertext.GetNLinks`
    LinkCount,
    /// `Hypertext.GetLink`: the hyperlink object of an embedded child
    LinkAt(i32),
    /// `Hyperlink.GetObject` of a hyperlink's first anchor: the embedded child itself
    Linked,
    /// `Text.CharacterCount`
    TextLength,
    /// `Text.GetText` from one character offset to another; -1 is the end
    Text(i32, i32),
    /// `Text.CaretOffset`
    Caret,
    /// `Text.GetOffsetAtPoint` in screen coordinates
    OffsetAt(i32, i32),
    /// `Text.GetDefaultAttributes`
    TextAttributes,
    /// `Text.GetCharacterExtents` in screen coordinates
    CharacterExtents(i32),
    /// `Value.CurrentValue`
    Value,
    /// `Accessible.GetAttributes`
    Attributes,
    /// `Accessible.GetInterfaces`
    Interfaces,
    /// `Accessible.GetIndexInParent`
    Index,
    /// `Accessible.Parent`
    Parent,
    /// `Selection.GetSelectedChild`: the first selected child
    Selected,
    /// `Action.GetActions`
    Actions,
    /// `Cache.GetItems`
    Items,
    /// A property of `Table`
    Table(&'static str),
    /// `Table.GetAccessibleAt(row, column)`
    CellAt(i32, i32),
    /// `Table.GetColumnHeader`
    ColumnHeader(i32),
    /// `Component.GetAccessibleAtPoint` in screen coordinates
    AtPoint(i32, i32),
    /// `Component.GetAccessibleAtPoint` in window coordinates
    AtPointInWindow(i32, i32),
    /// `Table.GetRowAtIndex`
    RowAtIndex(i32),
    /// `Table.GetColumnAtIndex`
    ColumnAtIndex(i32),
    /// `Collection.GetTree`, with names: the object and all its descendants.
    Tree,
}

impl Request {
    /// The path of the object that answers [`Request::Items`].
    pub(crate) const ITEMS_PATH: &'static str = CACHE;

    /// The interface, method and arguments.
    pub fn call(self) -> (&'static str, &'static str, Body) {
        let plain = |interface, member| (interface, member, Body::new());
        let get = |interface, name| (PROPERTIES, "Get", Body::new().str(interface).str(name));
        let point = |x, y, space| Body::new().i32(x).i32(y).u32(space);
        match self {
            Self::State => plain(ACCESSIBLE, "GetState"),
            Self::Role => plain(ACCESSIBLE, "GetRole"),
            Self::Name => get(ACCESSIBLE, "Name"),
            Self::Description => get(ACCESSIBLE, "Description"),
            Self::Children => plain(ACCESSIBLE, "GetChildren"),
            Self::Relations => plain(ACCESSIBLE, "GetRelationSet"),
            Self::Extents => (COMPONENT, "GetExtents", Body::new().u32(SCREEN)),
            Self::ExtentsInWindow => (COMPONENT, "GetExtents", Body::new().u32(WINDOW)),
            Self::ChildCount => get(ACCESSIBLE, "ChildCount"),
            Self::ChildAt(i) => (ACCESSIBLE, "GetChildAtIndex", Body::new().i32(i)),
            Self::LinkCount => plain(HYPERTEXT, "GetNLinks"),
            Self::LinkAt(i) => (HYPERTEXT, "GetLink", Body::new().i32(i)),
            Self::Linked => (HYPERLINK, "GetObject", Body::new().i32(0)),
            Self::TextLength => get(TEXT, "CharacterCount"),
            Self::Text(start, end) => (TEXT, "GetText", Body::new().i32(start).i32(end)),
            Self::Caret => get(TEXT, "CaretOffset"),
            Self::OffsetAt(x, y) => (TEXT, "GetOffsetAtPoint", point(x, y, SCREEN)),
            Self::TextAttributes => plain(TEXT, "GetDefaultAttributes"),
            Self::CharacterExtents(at) => {
                let body = Body::new().i32(at).u32(SCREEN);
                (TEXT, "GetCharacterExtents", body)
            }
            Self::Value => get(VALUE, "CurrentValue"),
            Self::Attributes => plain(ACCESSIBLE, "GetAttributes"),
            Self::Interfaces => plain(ACCESSIBLE, "GetInterfaces"),
            Self::Index => plain(ACCESSIBLE, "GetIndexInParent"),
            Self::Parent => get(ACCESSIBLE, "Parent"),
            Self::Selected => (SELECTION, "GetSelectedChild", Body::new().i32(0)),
            Self::Actions => plain(ACTION, "GetActions"),
            Self::Items => plain(CACHE_INTERFACE, "GetItems"),
            Self::Table(name) => get(TABLE, name),
            Self::CellAt(row, column) => {
                (TABLE, "GetAccessibleAt", Body::new().i32(row).i32(column))
            }
            Self::ColumnHeader(i) => (TABLE, "GetColumnHeader", Body::new().i32(i)),
            Self::AtPoint(x, y) => (COMPONENT, "GetAccessibleAtPoint", point(x, y, SCREEN)),
            Self::AtPointInWindow(x, y) => (COMPONENT, "GetAccessibleAtPoint", point(x, y, WINDOW)),
            Self::RowAtIndex(i) => (TABLE, "GetRowAtIndex", Body::new().i32(i)),
            Self::ColumnAtIndex(i) => (TABLE, "GetColumnAtIndex", Body::new().i32(i)),
            Self::Tree => {
                let body = Body::new().no_conditions().strs(&["Name"]);
                (COLLECTION, "GetTree", body)
            }
        }
    }
}
