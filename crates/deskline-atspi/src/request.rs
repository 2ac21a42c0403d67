//! The requests to an app's objects.

use crate::bus::Body;
use crate::names::{
    ACCESSIBLE, ACTION, CACHE, CACHE_INTERFACE, COLLECTION, COMPONENT, HYPERLINK, HYPERTEXT,
    PROPERTIES, SCREEN, SELECTION, TABLE, TEXT, VALUE, WINDOW,
};

macro_rules! requests {
    ($($(#[$doc:meta])* $name:ident $(($($argument:ident: $type:ty),+))? = $call:expr;)+) => {
        /// A method call, or a property, of an accessible object.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Request {
            $($(#[$doc])* $name $(($($type),+))?,)+
        }

        impl Request {
            /// The interface, method and arguments.
            pub fn call(self) -> Call {
                match self {
                    $(Self::$name $(($($argument),+))? => $call,)+
                }
            }
        }
    };
}

requests! {
    State = plain(ACCESSIBLE, "GetState");
    Role = plain(ACCESSIBLE, "GetRole");
    Name = get(ACCESSIBLE, "Name");
    Description = get(ACCESSIBLE, "Description");
    Children = plain(ACCESSIBLE, "GetChildren");
    Relations = plain(ACCESSIBLE, "GetRelationSet");
    Extents = (COMPONENT, "GetExtents", Body::new().u32(SCREEN));
    ExtentsInWindow = (COMPONENT, "GetExtents", Body::new().u32(WINDOW));
    ChildCount = get(ACCESSIBLE, "ChildCount");
    ChildAt(index: i32) = at(ACCESSIBLE, "GetChildAtIndex", index);
    LinkCount = plain(HYPERTEXT, "GetNLinks");
    /// The hyperlink object of an embedded child.
    LinkAt(index: i32) = at(HYPERTEXT, "GetLink", index);
    /// The object of a hyperlink's first anchor: the embedded child itself.
    Linked = at(HYPERLINK, "GetObject", 0);
    TextLength = get(TEXT, "CharacterCount");
    /// From one character offset to another; -1 is the end.
    Text(start: i32, end: i32) = (TEXT, "GetText", Body::new().i32(start).i32(end));
    Caret = get(TEXT, "CaretOffset");
    /// The point is in screen coordinates.
    OffsetAt(x: i32, y: i32) = point(TEXT, "GetOffsetAtPoint", x, y, SCREEN);
    TextAttributes = plain(TEXT, "GetDefaultAttributes");
    /// The extents are in screen coordinates.
    CharacterExtents(index: i32) =
        (TEXT, "GetCharacterExtents", Body::new().i32(index).u32(SCREEN));
    Value = get(VALUE, "CurrentValue");
    Attributes = plain(ACCESSIBLE, "GetAttributes");
    Interfaces = plain(ACCESSIBLE, "GetInterfaces");
    Index = plain(ACCESSIBLE, "GetIndexInParent");
    Parent = get(ACCESSIBLE, "Parent");
    /// The first selected child.
    Selected = at(SELECTION, "GetSelectedChild", 0);
    Actions = plain(ACTION, "GetActions");
    Items = plain(CACHE_INTERFACE, "GetItems");
    /// A property of the table.
    Table(name: &'static str) = get(TABLE, name);
    CellAt(row: i32, column: i32) =
        (TABLE, "GetAccessibleAt", Body::new().i32(row).i32(column));
    ColumnHeader(column: i32) = at(TABLE, "GetColumnHeader", column);
    AtPoint(x: i32, y: i32) = point(COMPONENT, "GetAccessibleAtPoint", x, y, SCREEN);
    AtPointInWindow(x: i32, y: i32) = point(COMPONENT, "GetAccessibleAtPoint", x, y, WINDOW);
    RowAtIndex(index: i32) = at(TABLE, "GetRowAtIndex", index);
    ColumnAtIndex(index: i32) = at(TABLE, "GetColumnAtIndex", index);
    /// The object and all its descendants, with names.
    Tree = (COLLECTION, "GetTree", Body::new().no_conditions().strs(&["Name"]));
}

impl Request {
    /// The path of the object that answers [`Request::Items`].
    pub(crate) const ITEMS_PATH: &'static str = CACHE;
}

/// An interface, a method and its arguments.
type Call = (&'static str, &'static str, Body);

fn plain(interface: &'static str, method: &'static str) -> Call {
    (interface, method, Body::new())
}

fn get(interface: &str, property: &str) -> Call {
    (PROPERTIES, "Get", Body::new().str(interface).str(property))
}

fn at(interface: &'static str, method: &'static str, index: i32) -> Call {
    (interface, method, Body::new().i32(index))
}

fn point(interface: &'static str, method: &'static str, x: i32, y: i32, space: u32) -> Call {
    (interface, method, Body::new().i32(x).i32(y).u32(space))
}
