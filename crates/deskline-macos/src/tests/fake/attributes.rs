//! The attributes that are computed when they are requested.

use super::{Handle, Id, SYSTEM, World};
use crate::os::{AxError, TEXT_UNITS, Value};

pub(super) fn handles(world: &World, value: &Value<Id>) -> Value<Handle> {
    match value {
        Value::Error(e) => Value::Error(*e),
        Value::Bool(b) => Value::Bool(*b),
        Value::Number(n) => Value::Number(*n),
        Value::Text { start, units } => Value::Text {
            start: start.chars().take(TEXT_UNITS).collect(),
            units: *units,
        },
        Value::Element(id) => Value::Element(Handle::new(world, *id)),
        Value::Elements(all) => {
            Value::Elements(all.iter().map(|id| Handle::new(world, *id)).collect())
        }
        Value::Point(x, y) => Value::Point(*x, *y),
        Value::Size(w, h) => Value::Size(*w, *h),
        Value::Range(from, length) => Value::Range(*from, *length),
        Value::Other => Value::Other,
    }
}

pub(super) fn computed(world: &mut World, id: Id, name: &str) -> Value<Id> {
    if name == "AXValue" && world.nodes.contains_key(&id) {
        world.moved += world.value(id).len();
    }
    if id == SYSTEM {
        let app = world
            .focused_app()
            .filter(|_| name == "AXFocusedApplication");
        return app.map_or(Value::Error(AxError::NO_VALUE), Value::Element);
    }
    let node = &world.nodes[&id];
    let app = world.apps.get(&node.pid);
    let is_root = app.is_some_and(|a| a.root == id);
    let windows = || -> Vec<Id> {
        let all = world.windows_of(node.pid).into_iter();
        let unlisted = world.quirks.tiles_are_unlisted && world.is_tiled(node.pid);
        all.filter(|w| world.is_here(*w) && !unlisted).collect()
    };
    let one = |id: Option<Id>| id.map_or(Value::Error(AxError::NO_VALUE), Value::Element);
    match name {
        "AXParent" => Value::Element(node.parent),
        "AXChildren" => {
            let here = node.children.iter().filter(|c| world.is_here(**c));
            let all = Value::Elements(here.copied().collect());
            *world.whole_reads.entry(id).or_default() += 1;
            all
        }
        "AXFrontmost" if is_root => Value::Bool(world.front == node.pid),
        "AXWindows" if is_root => Value::Elements(windows()),
        "AXMainWindow" | "AXFocusedWindow" | "AXFocusedUIElement"
            if is_root && world.not_key == Some(node.pid) =>
        {
            one(None)
        }
        "AXMainWindow" | "AXFocusedWindow" if is_root => one(windows().first().copied()),
        "AXFocusedUIElement" if is_root => one(app.map(|a| a.focused).filter(|f| *f != 0)),
        "AXRows" => Value::Elements(node.children.clone()),
        "AXNumberOfCharacters" if node.attributes.contains_key("AXSelectedTextRange") => {
            Value::Number(world.value(id).encode_utf16().count() as f64)
        }
        name => match node.attributes.get(name) {
            Some(value) => value.clone(),
            None => Value::Error(AxError::ATTRIBUTE_UNSUPPORTED),
        },
    }
}
