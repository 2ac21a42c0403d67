//! The items that apps have put into the tray (`StatusNotifierItem`), and their menus
//! (`com.canonical.dbusmenu`), as elements of the app. They are pressed over the session bus, so it
//! does not matter whether a panel shows them.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use deskline_contract::{Error, Obstacle, QuietAction, Refusal, Result, kept};
use deskline_core::{App, Element, ElementId, Role, States, Text, Tree};
use deskline_wayland::dbus::{self, Arguments, DAEMON, On, PROPERTIES};
use zbus::blocking::Connection;
use zbus::zvariant::{OwnedValue, Structure, Value};

/// How long a program of the session may take to answer.
const PATIENCE: Duration = Duration::from_millis(500);

/// How long all apps together may take to report the titles of their items.
const LISTS: Duration = Duration::from_secs(1);

/// How long the list of items is reused.
const FRESH: Duration = Duration::from_secs(1);

/// The maximum number of items of a process, and of entries in their menus. An app may have any
/// number, and each silent one costs [`PATIENCE`].
const ITEMS: usize = 4;
const ENTRIES: usize = 500;

const ITEM: &str = "org.kde.StatusNotifierItem";
const WATCHER: &str = "org.kde.StatusNotifierWatcher";
const MENU: &str = "com.canonical.dbusmenu";

/// The path of an item that has a name of its own on the bus.
const ITEM_PATH: &str = "/StatusNotifierItem";

/// The last part of the id of the element that opens the app's own menu.
const OWN_MENU: &str = "menu";

/// The prefix of the ids of tray elements. No name on a bus begins with it.
const TRAY: &str = "tray|";

type Properties = HashMap<String, OwnedValue>;

/// An item: its process, its name on the bus and its path.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Item {
    pid: u32,
    name: String,
    path: String,
}

/// The tray of a session.
#[derive(Debug)]
pub(crate) struct Tray {
    address: Option<String>,
    /// The connection to the session bus, made once.
    bus: Option<Connection>,
    /// All items, and the time when they were listed.
    items: Option<(Instant, Vec<Item>)>,
}

impl Tray {
    pub(crate) fn new(address: Option<String>) -> Self {
        Self {
            address,
            bus: None,
            items: None,
        }
    }

    /// The processes with items, each with its item's title or, once [`LISTS`] has passed, with the
    /// name of the process.
    pub(crate) fn listed(&mut self) -> Vec<(u32, String)> {
        let items = self.items();
        let begun = Instant::now();
        let titled = items.into_iter().map(|item| {
            let properties = if begun.elapsed() < LISTS {
                self.properties(&item)
            } else {
                Properties::new()
            };
            (item.pid, title(&item, &properties))
        });
        titled.collect()
    }

    /// Adds the app's items, and the menus of the items, to the app's tree.
    pub(crate) fn add_to(&mut self, tree: &mut Tree) {
        let pid = tree.app.pid;
        for item in self.items().into_iter().filter(|item| item.pid == pid) {
            let properties = self.properties(&item);
            let at = tree.elements.len();
            let top = [item.name.as_str(), &item.path, "item"].join("|");
            let role = Role::MENU_BAR_ITEM;
            let title = title(&item, &properties);
            tree.elements
                .push(element(&top, None, role, "status item", &title));
            let menu = text(&properties, "Menu").filter(|menu| menu.starts_with('/'));
            let Some((menu, layout)) = menu.and_then(|menu| {
                let layout = (0_i32, -1_i32, Vec::<&str>::new());
                let on = (item.name.as_str(), menu.as_str(), MENU);
                let (_, layout) = self
                    .ask::<(u32, OwnedEntry)>(on, "GetLayout", &layout)
                    .ok()?;
                Some((menu, layout))
            }) else {
                // On X11 the app may open a menu of its own.
                let own = [item.name.as_str(), &item.path, OWN_MENU].join("|");
                let role = Role::MENU_ITEM;
                let entry = element(&own, Some(at), role, "menu item", "Context menu");
                tree.elements.push(entry);
                continue;
            };
            let menu = [item.name.as_str(), &menu].join("|");
            let most = tree.elements.len() + ENTRIES;
            add_entries(layout.2, &menu, at, &mut tree.elements, most);
        }
    }

    /// The tree of an app that has items and no window.
    pub(crate) fn tree_of(&mut self, name: &str, pid: u32) -> Option<Tree> {
        let name = name.to_owned();
        let mut tree = Tree::new(App { name, pid }, Vec::new());
        self.add_to(&mut tree);
        (!tree.elements.is_empty()).then_some(tree)
    }

    /// Presses an item or an entry of its menu. `None` if the element is neither.
    pub(crate) fn press(&mut self, element: &ElementId) -> Option<Result<()>> {
        let parts: Vec<&str> = element.as_str().strip_prefix(TRAY)?.split('|').collect();
        let [name, path, which] = parts[..] else {
            return None;
        };
        let pressed = if let Ok(id) = which.parse::<i32>() {
            let event = (id, "clicked", Value::from(0_i32), 0_u32);
            self.ask::<()>((name, path, MENU), "Event", &event)
        } else {
            let opens = which == OWN_MENU;
            let does = if opens { "ContextMenu" } else { "Activate" };
            self.ask::<()>((name, path, ITEM), does, &(0_i32, 0_i32))
        };
        Some(pressed.map_err(|e| {
            let obstacle = match e {
                // An item that has a menu has an action of its own only if it accepts `Activate`.
                zbus::Error::MethodError(_, why, _) => Obstacle::AppError(why.unwrap_or_default()),
                e => Obstacle::SystemError(e.to_string()),
            };
            Error::Refused(Refusal {
                action: QuietAction::Press,
                obstacle,
            })
        }))
    }

    /// All items: those with a name of their own on the bus, and those in a watcher's list.
    fn items(&mut self) -> Vec<Item> {
        if let Some((at, items)) = &self.items
            && at.elapsed() < FRESH
        {
            return items.clone();
        }
        let names: Vec<String> = self.ask(DAEMON, "ListNames", &()).unwrap_or_default();
        let prefix = format!("{ITEM}-");
        let own = names.iter().filter(|name| name.starts_with(&prefix));
        let mut places: Vec<(String, String)> = own
            .map(|name| (name.clone(), ITEM_PATH.to_owned()))
            .collect();
        if names.iter().any(|name| name == WATCHER) {
            let on = (WATCHER, "/StatusNotifierWatcher", PROPERTIES);
            let known = self.ask(on, "Get", &(WATCHER, "RegisteredStatusNotifierItems"));
            let known = known.and_then(|v: OwnedValue| Ok(Vec::<String>::try_from(v)?));
            places.extend(known.into_iter().flatten().map(|item| split(&item)));
        }
        let mut items: Vec<Item> = Vec::new();
        for (name, path) in places {
            let Ok(owner) = self.ask::<String>(DAEMON, "GetNameOwner", &name.as_str()) else {
                continue;
            };
            // Some items are registered under two names.
            let is_it = |item: &Item| item.name == owner && item.path == path;
            if items.iter().any(is_it) {
                continue;
            }
            let pid = self.ask(DAEMON, "GetConnectionUnixProcessID", &owner.as_str());
            let Ok(pid) = pid else { continue };
            if items.iter().filter(|item| item.pid == pid).count() < ITEMS {
                items.push(Item {
                    pid,
                    name: owner,
                    path,
                });
            }
        }
        self.items = Some((Instant::now(), items.clone()));
        items
    }

    fn properties(&mut self, item: &Item) -> Properties {
        let on = (item.name.as_str(), item.path.as_str(), PROPERTIES);
        self.ask(on, "GetAll", &ITEM).unwrap_or_default()
    }

    fn ask<T>(&mut self, on: On<'_>, member: &str, body: &impl Arguments) -> zbus::Result<T>
    where
        T: for<'d> zbus::zvariant::DynamicDeserialize<'d>,
    {
        let Some(address) = &self.address else {
            return Err(zbus::Error::Failure("there is no session bus".into()));
        };
        let bus = kept(&mut self.bus, || dbus::connect(address, PATIENCE))?;
        let answer = dbus::ask(bus, on, member, body);
        if let Err(zbus::Error::InputOutput(_)) = answer {
            self.bus = None;
        }
        answer
    }
}

/// An entry of a menu: its id, its properties, its children.
type OwnedEntry = (i32, Properties, Vec<OwnedValue>);

/// The name and the path of an item in a watcher's list, which may give the name alone.
fn split(item: &str) -> (String, String) {
    match item.find('/') {
        Some(at) => (item[..at].to_owned(), item[at..].to_owned()),
        None => (item.to_owned(), ITEM_PATH.to_owned()),
    }
}

fn text(properties: &Properties, name: &str) -> Option<String> {
    match &**properties.get(name)? {
        Value::Str(text) => Some(text.to_string()),
        Value::ObjectPath(path) => Some(path.to_string()),
        _ => None,
    }
}

/// The name that an item gives itself.
fn title(item: &Item, properties: &Properties) -> String {
    let tip = properties.get("ToolTip").and_then(|tip| {
        let Value::Structure(tip) = &**tip else {
            return None;
        };
        let Value::Str(text) = tip.fields().get(2)? else {
            return None;
        };
        Some(text.to_string())
    });
    let texts = [text(properties, "Title"), tip, text(properties, "Id")];
    let mut texts = texts.into_iter().flatten();
    let found = texts.find(|text| !text.trim().is_empty());
    found.unwrap_or_else(|| deskline_unix::process::name(item.pid))
}

fn element(
    id: &str,
    parent: Option<usize>,
    role: Role,
    native_role: &'static str,
    title: &str,
) -> Element {
    Element {
        parent,
        title: Text::new(title),
        visible: false,
        ..Element::new(ElementId::new(format!("{TRAY}{id}")), role, native_role)
    }
}

/// Adds the visible entries of a menu, up to `most` elements in all.
fn add_entries(
    entries: Vec<OwnedValue>,
    menu: &str,
    parent: usize,
    into: &mut Vec<Element>,
    most: usize,
) {
    for entry in entries {
        if into.len() >= most {
            return;
        }
        let entry = Structure::try_from(Value::from(entry));
        let Ok((id, properties, children)) =
            entry.and_then(<(i32, Properties, Vec<OwnedValue>)>::try_from)
        else {
            continue;
        };
        let is = |name: &str| properties.get(name).and_then(|v| bool::try_from(&**v).ok());
        let separates = text(&properties, "type").is_some_and(|kind| kind == "separator");
        if separates || is("visible") == Some(false) {
            continue;
        }
        let label = without_mnemonic(&text(&properties, "label").unwrap_or_default());
        let at = into.len();
        let top = format!("{menu}|{id}");
        let mut entry = element(&top, Some(parent), Role::MENU_ITEM, "menu item", &label);
        let on = properties.get("toggle-state");
        let on = on.and_then(|v| i32::try_from(&**v).ok());
        let states = &mut entry.states;
        states.set(States::CHECKED, on == Some(1));
        states.set(States::DISABLED, is("enabled") == Some(false));
        into.push(entry);
        add_entries(children, menu, at, into, most);
    }
}

/// A label without the underscore before its mnemonic.
fn without_mnemonic(label: &str) -> String {
    let mut plain = String::new();
    let mut characters = label.chars();
    while let Some(c) = characters.next() {
        // Two underscores stand for one that is visible.
        plain.extend(if c == '_' { characters.next() } else { Some(c) });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_without_their_mnemonics() {
        assert_eq!(without_mnemonic("_Quit"), "Quit");
        assert_eq!(without_mnemonic("Save _as…"), "Save as…");
        assert_eq!(without_mnemonic("snake__case_"), "snake_case");
    }

    #[test]
    fn a_tray_item_is_read_as_a_bus_name_with_or_without_a_path() {
        let at = |item: &str| split(item);
        assert_eq!(at(":1.7"), (":1.7".into(), ITEM_PATH.into()));
        assert_eq!(at(":1.7/a/b"), (":1.7".into(), "/a/b".into()));
    }
}
