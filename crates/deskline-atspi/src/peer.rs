//! One app on the accessibility bus, and the calls that can be made to its objects.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use crate::bus::{Body, Call, Connection, Error, Reply};

use super::names::{
    ACCESSIBLE, ACTION, APPLICATION, CACHE, CACHE_INTERFACE, COLLECTION, COMPONENT, PROPERTIES,
    ROOT, SCREEN, TEXT, WINDOW,
};
use super::pair::Learnt;
use super::scale::Units;
use super::sheet::Sheets;

/// How long an app may take for any one reply before it counts as not answering (SPEC §4).
pub const PATIENCE: Duration = Duration::from_secs(2);

/// How long connecting to a private socket may take; the bus will do where it does not.
const PRIVATE_CONNECT: Duration = Duration::from_millis(300);

/// Where a toolkit puts the text of a page, so that no element is asked in vain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prose {
    /// Each run of text is an element of its own, with the text for its name.
    InLeaves,
    /// A paragraph has its text, in which U+FFFC stands for each child.
    InParents,
    /// Apps of this toolkit differ.
    Anywhere,
}

/// Where a toolkit has the headers of a table that manages its own cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Headers {
    /// `Table.GetColumnHeader` answers with the same object each time.
    OfColumns,
    /// The table's first children. Qt makes another object for each `GetColumnHeader`, and keeps it.
    FirstChildren,
    /// Not known.
    Nowhere,
}

/// An app: its bus name, its private socket where it has one, and what it said of itself.
#[derive(Debug)]
pub struct Peer {
    /// Its unique name on the accessibility bus.
    pub bus_name: String,
    /// Its process id, as the bus daemon knows it.
    pub pid: u32,
    /// The name that it gives itself.
    pub name: String,
    /// `Application.ToolkitName`
    pub toolkit: String,
    /// `Application.Version` of the toolkit
    pub version: String,
    /// Its own socket: half the cost of a call, as no daemon is in between.
    pub private: Option<Connection>,
    /// After how many readings its cache is asked for before its objects are; `None`: never.
    pub bulk: Option<u32>,
    /// Whether all of its tree is there, as far as that depends on being read.
    pub grown: bool,
    /// The spreadsheets that were read lately.
    pub sheets: Sheets,
    /// Which windows its toplevels are, where that was seen.
    pub learnt: Learnt,
    /// The toplevels of its last reading that have no place without their windows, and whose
    /// windows were not there yet.
    pub missing: HashSet<String>,
    /// Those of them whose windows were waited for in vain.
    pub windowless: HashSet<String>,
}

impl Peer {
    /// Asks an app what it is. Bounded by `patience`.
    pub fn meet(
        bus: &mut Connection,
        bus_name: &str,
        pid: u32,
        patience: Duration,
    ) -> Result<Self, Error> {
        let property = |interface, name| Call {
            destination: bus_name,
            path: ROOT,
            interface: PROPERTIES,
            member: "Get",
            body: Body::new().str(interface).str(name),
        };
        let address = Call {
            destination: bus_name,
            path: ROOT,
            interface: APPLICATION,
            member: "GetApplicationBusAddress",
            body: Body::new(),
        };
        let calls = [
            property(ACCESSIBLE, "Name"),
            property(APPLICATION, "ToolkitName"),
            property(APPLICATION, "Version"),
            address,
        ];
        let mut answers: [String; 4] = Default::default();
        bus.batch(calls, 4, Instant::now() + patience, |i, reply| {
            if let Ok(message) = reply {
                let mut reader = message.reader();
                let text = if i == 3 {
                    reader.str()
                } else {
                    reader.variant_str()
                };
                if let Ok(text) = text {
                    text.clone_into(&mut answers[i]);
                }
            }
        })?;
        let [name, toolkit, version, address] = answers;
        let private = (!address.is_empty())
            .then(|| Connection::private(&address, PRIVATE_CONNECT).ok())
            .flatten();
        // A document's cache may be any size, so that to ask for it may take longer than all else:
        // 1.6 s of Chromium's page of 10,000 elements. Their toolkits are not tried.
        let documents = ["Chromium", "Gecko", "VCL"].contains(&toolkit.as_str());
        Ok(Self {
            bus_name: bus_name.to_owned(),
            pid,
            name,
            toolkit,
            version,
            private,
            bulk: (!documents).then_some(0),
            grown: false,
            sheets: Sheets::new(),
            learnt: Learnt::default(),
            missing: HashSet::new(),
            windowless: HashSet::new(),
        })
    }

    /// Remembers whether its cache was worth asking for. GTK 3 fills it some time after it has
    /// started, so it is not given up for good. GTK 4's has the pages of stacks as parents of what
    /// is in them, and its lists of children have not: it is asked for each time, so that the tree
    /// stays the same.
    pub fn judge_bulk(&mut self, worth: bool) {
        const LATER: u32 = 16;
        let worth = worth || self.is_gtk4();
        self.bulk = self.bulk.map(|_| if worth { 0 } else { LATER });
    }

    /// Where its toolkit puts the text of a page.
    pub fn prose(&self) -> Prose {
        match self.toolkit.as_str() {
            "Chromium" => Prose::InLeaves,
            "Gecko" | "WebKitGTK" | "WebKitGtk" => Prose::InParents,
            _ => Prose::Anywhere,
        }
    }

    /// Where its toolkit has the headers of tables.
    pub fn headers(&self) -> Headers {
        match self.toolkit.to_lowercase().as_str() {
            "gtk" => Headers::OfColumns,
            "qt" => Headers::FirstChildren,
            _ => Headers::Nowhere,
        }
    }

    /// Whether its cache is to be asked for in this reading.
    pub fn asks_bulk(&mut self) -> bool {
        let now = self.bulk == Some(0);
        self.bulk = self.bulk.map(|readings| readings.saturating_sub(1));
        now
    }

    /// Its units and extents.
    pub fn units(&self) -> Units {
        Units::of(&self.toolkit, &self.version)
    }

    /// GTK 4 places its elements in window coordinates and sets SHOWING on the toplevel only.
    pub fn is_gtk4(&self) -> bool {
        self.units() == Units::Gtk4
    }
}

/// The quickest way to an app's objects: its private socket, else the bus.
pub struct Line<'a> {
    /// Where to send.
    pub connection: &'a mut Connection,
    /// The destination to put on it.
    pub destination: String,
}

impl Line<'_> {
    /// Queues a call to an object of this app.
    pub fn send(&mut self, tag: u64, path: &str, question: Question) {
        let (interface, member, body) = question.call();
        let call = Call {
            destination: &self.destination,
            path,
            interface,
            member,
            body,
        };
        self.connection.send(tag, &call);
    }

    /// One call and its reply, within [`PATIENCE`].
    pub fn ask(&mut self, path: &str, question: Question) -> Reply {
        let (interface, member, body) = question.call();
        self.call(path, interface, member, body)
    }

    /// One call of any method, within [`PATIENCE`].
    pub fn call(&mut self, path: &str, interface: &str, member: &str, body: Body) -> Reply {
        let call = Call {
            destination: &self.destination,
            path,
            interface,
            member,
            body,
        };
        self.connection.call(&call, PATIENCE)
    }
}

/// What the traversal asks of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
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
    /// The same in window coordinates
    ExtentsInWindow,
    /// `Accessible.ChildCount`
    ChildCount,
    /// `Accessible.GetChildAtIndex`
    ChildAt(i32),
    /// `Text.CharacterCount`
    TextLength,
    /// `Text.GetText` of the characters from one place to another; -1 is the end
    Text(i32, i32),
    /// `Text.CaretOffset`
    Caret,
    /// `Text.GetOffsetAtPoint` in screen coordinates
    OffsetAt(i32, i32),
    /// `Value.CurrentValue`
    Value,
    /// `Accessible.GetInterfaces`
    Interfaces,
    /// `Accessible.GetIndexInParent`
    Index,
    /// `Accessible.Parent`
    Parent,
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
    /// `Table.GetRowAtIndex`
    RowAtIndex(i32),
    /// `Table.GetColumnAtIndex`
    ColumnAtIndex(i32),
    /// `Collection.GetTree`, with names: the object and all that is in it
    Tree,
}

impl Question {
    /// The path of the object that answers [`Question::Items`].
    pub const ITEMS_PATH: &'static str = CACHE;

    fn call(self) -> (&'static str, &'static str, Body) {
        use super::names::{TABLE, VALUE};
        let plain = |interface, member| (interface, member, Body::new());
        let get = |interface, name| (PROPERTIES, "Get", Body::new().str(interface).str(name));
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
            Self::TextLength => get(TEXT, "CharacterCount"),
            Self::Text(start, end) => (TEXT, "GetText", Body::new().i32(start).i32(end)),
            Self::Caret => get(TEXT, "CaretOffset"),
            Self::OffsetAt(x, y) => {
                let body = Body::new().i32(x).i32(y).u32(SCREEN);
                (TEXT, "GetOffsetAtPoint", body)
            }
            Self::Value => get(VALUE, "CurrentValue"),
            Self::Interfaces => plain(ACCESSIBLE, "GetInterfaces"),
            Self::Index => plain(ACCESSIBLE, "GetIndexInParent"),
            Self::Parent => get(ACCESSIBLE, "Parent"),
            Self::Actions => plain(ACTION, "GetActions"),
            Self::Items => plain(CACHE_INTERFACE, "GetItems"),
            Self::Table(name) => get(TABLE, name),
            Self::CellAt(row, column) => {
                (TABLE, "GetAccessibleAt", Body::new().i32(row).i32(column))
            }
            Self::ColumnHeader(i) => (TABLE, "GetColumnHeader", Body::new().i32(i)),
            Self::AtPoint(x, y) => (
                COMPONENT,
                "GetAccessibleAtPoint",
                Body::new().i32(x).i32(y).u32(SCREEN),
            ),
            Self::RowAtIndex(i) => (TABLE, "GetRowAtIndex", Body::new().i32(i)),
            Self::ColumnAtIndex(i) => (TABLE, "GetColumnAtIndex", Body::new().i32(i)),
            Self::Tree => {
                let body = Body::new().no_conditions().strs(&["Name"]);
                (COLLECTION, "GetTree", body)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_that_was_not_worth_it_is_asked_for_again_later() {
        let mut peer = Peer {
            bus_name: ":1.1".into(),
            pid: 1,
            name: String::new(),
            toolkit: String::new(),
            version: String::new(),
            private: None,
            bulk: Some(0),
            grown: true,
            sheets: Sheets::new(),
            learnt: Learnt::default(),
            missing: HashSet::new(),
            windowless: HashSet::new(),
        };
        let asked = |peer: &mut Peer| (0..40).filter(|_| peer.asks_bulk()).count();
        assert_eq!(asked(&mut peer), 40);
        peer.judge_bulk(false);
        assert!(!peer.asks_bulk());
        let again = (0..40).position(|_| peer.asks_bulk());
        assert_eq!(again, Some(15));
        peer.judge_bulk(true);
        assert_eq!(asked(&mut peer), 40);
        peer.bulk = None;
        peer.judge_bulk(true);
        assert_eq!(asked(&mut peer), 0);
    }
}
