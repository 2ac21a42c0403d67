//! Objects that belong to an app, but have another owner on the bus: web views of WebKitGTK, and
//! the toplevels of an app's other registrations.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use deskline_unix::{flatpak, process};

use super::large_list::LargeLists;
use crate::bus::{Body, Call, Connection, Error, Result};
use crate::connection::{AppConnection, PATIENCE};
use crate::engine::{Engine, Node};
use crate::partial::Partial;
use crate::toolkits::Toolkit;

/// Reads an embedded object and adds it to the nodes of the app, below its container. Adds its
/// missing parts to `partial`.
pub fn read(
    bus: &mut Connection,
    toolkit: Toolkit,
    nodes: &mut Vec<Node>,
    partial: &mut Partial,
    (container, owner, path): (usize, &str, &str),
    end: Instant,
) -> Result {
    let owner_name: Arc<str> = owner.into();
    let connection = AppConnection::by_bus(bus, owner);
    let mut engine = Engine::new(connection, owner, toolkit, end);
    let mut lists = LargeLists::default();
    let read = engine
        .start(path, Some(&owner_name))
        .and_then(|()| lists.read_showing(&mut engine))
        .and_then(|()| engine.details(0, None));
    match read {
        Ok(()) => {}
        // An embedded process that does not answer must not cost the rest of the tree.
        Err(Error::Timeout) => {
            nodes[container].children_read = false;
            partial.silent += 1;
            return Ok(());
        }
        Err(e) => return Err(e),
    }
    partial.crowded += lists.finish(&mut engine).0;
    if engine.unread.cut {
        engine.count_unread();
    }
    partial.add(&engine.unread);
    let base = nodes.len();
    for mut node in engine.nodes {
        node.owner = Some(owner_name.clone());
        node.parent = Some(node.parent.map_or(container, |p| p + base));
        node.children.iter_mut().for_each(|c| *c += base);
        node.showing &= nodes[container].showing;
        nodes.push(node);
    }
    if nodes.len() > base {
        nodes[container].children.push(base);
    }
    Ok(())
}

/// The processes behind these bus names that do not belong to the app. The app's own process, those
/// that it has started, and those of the same Flatpak do belong to it. An app may name any object
/// as its child.
pub fn strangers(bus: &mut Connection, pid: u32, owners: BTreeSet<&str>) -> Vec<u32> {
    let mut owner_pid = |name: &str| {
        let call = Call::to_bus("GetConnectionUnixProcessID", Body::new().str(name));
        bus.call(&call, PATIENCE).ok()?.reader().u32().ok()
    };
    let sandbox = flatpak::id(pid);
    let is_its = |other: u32| {
        let is_beside = || sandbox.is_some() && flatpak::id(other) == sandbox;
        other == pid || process::descends(other, pid) || is_beside()
    };
    let pids = owners.into_iter().map(|name| owner_pid(name).unwrap_or(0));
    pids.filter(|other| !is_its(*other)).collect()
}
