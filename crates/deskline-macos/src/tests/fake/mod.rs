//! A fake Mac for tests: apps with trees, a window server, a keyboard and a tap, as far as the
//! trait [`Os`] exposes them, with Accessibility's own errors and reference counts.

mod attributes;
mod keyboard;
mod menu_bar;
pub(crate) mod pasteboard;
mod pointer;
pub(crate) mod quirks;
mod spaces;
mod system;
mod world;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

pub(crate) use world::{App, Node, World, text};

use deskline_contract::wait::pause;

use crate::os::{Ax, AxError, Event, Heard, MouseButton, Os as _, Seen, Tapped, Verdict};

/// A node of an app's tree; 0 is no node.
pub(crate) type Id = u64;

/// The system-wide element.
const SYSTEM: Id = u64::MAX - (1 << 40);

/// The reaction to a press or click on a node, or to a shortcut of an app.
pub(crate) type Behaviour = Arc<dyn Fn(&mut World) + Send + Sync>;

/// An element: a counted reference to a node.
pub(crate) struct Handle {
    pub(crate) id: Id,
    hash: u64,
    live: Arc<AtomicI64>,
}

impl Handle {
    fn new(world: &World, id: Id) -> Self {
        world.live.fetch_add(1, Ordering::Relaxed);
        Self {
            id,
            hash: world.hash_of(id),
            live: world.live.clone(),
        }
    }
}

impl Clone for Handle {
    fn clone(&self) -> Self {
        self.live.fetch_add(1, Ordering::Relaxed);
        Self {
            id: self.id,
            hash: self.hash,
            live: self.live.clone(),
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.live.fetch_sub(1, Ordering::Relaxed);
    }
}

impl PartialEq for Handle {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Handle {}

impl Hash for Handle {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash.hash(state);
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}", self.id)
    }
}

/// The fake system. Clones share it.
#[derive(Clone)]
pub(crate) struct Fake(pub(crate) Arc<Mutex<World>>);

/// An observer or a tap, removed when dropped.
pub(crate) struct Registered {
    world: Weak<Mutex<World>>,
    key: u64,
    _heard: Option<Arc<Heard<Handle>>>,
}

static KEYS: AtomicU64 = AtomicU64::new(1);

impl Drop for Registered {
    fn drop(&mut self) {
        if let Some(world) = self.world.upgrade() {
            let mut world = world.lock().unwrap();
            let key = self.key;
            world.observers.retain(|(k, ..)| *k != key);
            world.tap.take_if(|(k, _)| *k == key);
        }
    }
}

impl Fake {
    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        let mut world = self.0.lock().unwrap();
        world.run_due();
        world
    }

    /// The number of references to elements.
    pub(crate) fn live(&self) -> i64 {
        self.world().live.load(Ordering::Relaxed)
    }

    /// Notifies observers. Does not hold the lock meanwhile, as the system would not.
    fn flush(&self) {
        let (told, observers, handles) = {
            let mut world = self.world();
            let told = std::mem::take(&mut world.told);
            let observers: Vec<_> = world.observers.clone();
            let handles: Vec<Handle> = told.iter().map(|t| Handle::new(&world, t.2)).collect();
            (told, observers, handles)
        };
        for ((pid, name, _), handle) in told.iter().zip(&handles) {
            for (_, of, heard) in &observers {
                if let Some(heard) = heard.upgrade().filter(|_| of == pid) {
                    heard(name, handle);
                }
            }
        }
    }

    /// An event from the person: it has no tag.
    pub(crate) fn person(&self, event: &Event) {
        self.post(event, 0).unwrap();
    }

    /// Turns off the tap, as the system may, and notifies it.
    pub(crate) fn turn_tap_off(&self) -> Option<Verdict> {
        let judge = self.world().tap.as_ref().map(|(_, judge)| judge.clone())?;
        let kind = Seen::Disabled;
        Some(judge.lock().unwrap()(Tapped { kind, tag: 0 }))
    }

    /// A message to an app: `name` is the method of the trait.
    fn ask<T>(
        &self,
        name: &'static str,
        element: &Handle,
        answer: impl FnOnce(&mut World) -> Ax<T>,
    ) -> Ax<T> {
        self.world().message(name);
        let mut world = self.world();
        if !world.trusted {
            return Err(AxError::API_DISABLED);
        }
        if element.id == SYSTEM {
            return answer(&mut world);
        }
        let Some(node) = world.nodes.get_mut(&element.id) else {
            return Err(AxError::INVALID_UI_ELEMENT);
        };
        if node.busy > 0 {
            node.busy -= 1;
            return Err(AxError::CANNOT_COMPLETE);
        }
        let (pid, hangs, costs) = (node.pid, node.hangs, node.costs);
        if !costs.is_zero() {
            drop(world);
            pause(costs);
            world = self.world();
        }
        match world.apps.get(&pid) {
            None => Err(AxError::CANNOT_COMPLETE),
            Some(app) if app.hung || hangs || world.quirks.hangs.contains(name) => {
                let own = world.timeouts.get(&element.id).copied();
                let time = own.unwrap_or(world.timeout);
                drop(world);
                pause(time);
                Err(AxError::CANNOT_COMPLETE)
            }
            Some(_) => answer(&mut world),
        }
    }
}

/// The clicks among the events that reached the apps.
pub(crate) fn clicks(world: &World) -> Vec<(MouseButton, i64, (f64, f64))> {
    let down = |(event, _): &(Event, i64)| match event {
        Event::Button {
            at,
            button,
            down: true,
            clicks,
            ..
        } => Some((*button, *clicks, *at)),
        _ => None,
    };
    world.reached.iter().filter_map(down).collect()
}
