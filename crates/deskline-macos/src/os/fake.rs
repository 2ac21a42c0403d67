//! A fake Mac for tests: apps with trees, a window server, a keyboard and a tap, as far as the
//! trait [`Os`] exposes them, with Accessibility's own errors and reference counts.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod world;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use world::US;
pub(crate) use world::{App, World, text};

use super::{
    Ax, AxError, Display, Event, Heard, Image, Judge, Launch, Layout, LayoutKey, MouseButton,
    NewValue, Os, Panel, Process, RunningApp, Seen, ServerWindow, Tapped, Value, Verdict,
};

/// A node of an app's tree; 0 is no node.
pub(crate) type Id = u64;

/// What happens when a node is pressed or clicked, or when an app gets a shortcut.
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
        self.0.lock().unwrap()
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

    fn ask<T>(&self, element: &Handle, answer: impl FnOnce(&mut World) -> Ax<T>) -> Ax<T> {
        let mut world = self.world();
        if !world.trusted {
            return Err(AxError::API_DISABLED);
        }
        let Some(node) = world.nodes.get_mut(&element.id) else {
            return Err(AxError::INVALID_UI_ELEMENT);
        };
        if node.busy > 0 {
            node.busy -= 1;
            return Err(AxError::CANNOT_COMPLETE);
        }
        let pid = node.pid;
        match world.apps.get(&pid) {
            None => Err(AxError::CANNOT_COMPLETE),
            Some(app) if app.hung => {
                let time = world.timeout;
                drop(world);
                std::thread::sleep(time);
                Err(AxError::CANNOT_COMPLETE)
            }
            Some(_) => answer(&mut world),
        }
    }
}

fn handles(world: &World, value: &Value<Id>) -> Value<Handle> {
    match value {
        Value::Error(e) => Value::Error(*e),
        Value::Bool(b) => Value::Bool(*b),
        Value::Number(n) => Value::Number(*n),
        Value::Text { start, units } => Value::Text {
            start: start.chars().take(super::TEXT_UNITS).collect(),
            units: *units,
        },
        Value::Element(id) => Value::Element(Handle::new(world, *id)),
        Value::Elements(all) => {
            Value::Elements(all.iter().map(|id| Handle::new(world, *id)).collect())
        }
        Value::Point(x, y) => Value::Point(*x, *y),
        Value::Size(w, h) => Value::Size(*w, *h),
        Value::Other => Value::Other,
    }
}

fn computed(world: &mut World, id: Id, name: &str) -> Value<Id> {
    let node = &world.nodes[&id];
    let app = world.apps.get(&node.pid);
    let is_root = app.is_some_and(|a| a.root == id);
    let windows = || -> Vec<Id> {
        let mine = |w: &&Id| world.nodes[*w].pid == node.pid;
        world.stack.iter().filter(mine).copied().collect()
    };
    let one = |id: Option<Id>| id.map_or(Value::Error(AxError::NO_VALUE), Value::Element);
    match name {
        "AXParent" => Value::Element(node.parent),
        "AXChildren" => {
            let all = Value::Elements(node.children.clone());
            *world.whole_reads.entry(id).or_default() += 1;
            all
        }
        "AXWindows" if is_root => Value::Elements(windows()),
        "AXMainWindow" | "AXFocusedWindow" if is_root => one(windows().first().copied()),
        "AXFocusedUIElement" if is_root => one(app.map(|a| a.focused).filter(|f| *f != 0)),
        "AXRows" => Value::Elements(node.children.clone()),
        name => match node.attributes.get(name) {
            Some(value) => value.clone(),
            None => Value::Error(AxError::ATTRIBUTE_UNSUPPORTED),
        },
    }
}

impl Os for Fake {
    type Element = Handle;
    type Observer = Registered;
    type Tap = Registered;

    fn trusted(&self) -> bool {
        self.world().trusted
    }
    fn ask_for_trust(&self) {
        self.world().asked += 1;
    }
    fn application(&self, pid: u32) -> Handle {
        let world = self.world();
        let root = world
            .apps
            .get(&pid)
            .map_or(u64::MAX - u64::from(pid), |a| a.root);
        Handle::new(&world, root)
    }
    fn set_timeout(&self, time: Duration) {
        self.world().timeout = time;
    }
    fn hash(&self, element: &Handle) -> u64 {
        element.hash
    }
    fn attributes(&self, element: &Handle, names: &[&'static str]) -> Ax<Vec<Value<Handle>>> {
        self.ask(element, |world| {
            world.calls += 1;
            let mut values = Vec::new();
            for name in names {
                let value = computed(world, element.id, name);
                values.push(handles(world, &value));
            }
            Ok(values)
        })
    }
    fn count(&self, element: &Handle, name: &'static str) -> Ax<usize> {
        self.ask(element, |world| {
            let node = &world.nodes[&element.id];
            match name {
                "AXRows" | "AXChildren" => Ok(node.children.len()),
                _ => Err(AxError::ATTRIBUTE_UNSUPPORTED),
            }
        })
    }
    fn range(
        &self,
        element: &Handle,
        _: &'static str,
        from: usize,
        most: usize,
    ) -> Ax<Vec<Handle>> {
        self.ask(element, |world| {
            let all = &world.nodes[&element.id].children;
            let part = all.iter().skip(from).take(most);
            Ok(part.map(|id| Handle::new(world, *id)).collect())
        })
    }
    fn settable(&self, element: &Handle, name: &'static str) -> Ax<bool> {
        self.ask(element, |world| {
            Ok(world.nodes[&element.id].settable.contains(name))
        })
    }
    fn set(&self, element: &Handle, name: &'static str, value: &NewValue<Handle>) -> Ax<()> {
        let done = self.ask(element, |world| {
            let id = element.id;
            let pid = world.nodes[&id].pid;
            if name == "AXFrontmost" && world.apps[&pid].root == id {
                world.bring_forward(pid);
                return Ok(());
            }
            if !world.nodes[&id].settable.contains(name) {
                return Err(AxError::ATTRIBUTE_UNSUPPORTED);
            }
            let value = match value {
                NewValue::Bool(b) => Value::Bool(*b),
                NewValue::Number(n) => Value::Number(*n),
                NewValue::Text(t) => text(t),
                NewValue::Elements(all) => Value::Elements(all.iter().map(|e| e.id).collect()),
            };
            world.set(id, name, value);
            Ok(())
        });
        self.flush();
        done
    }
    fn actions(&self, element: &Handle) -> Ax<Vec<String>> {
        self.ask(element, |world| {
            let actions = &world.nodes[&element.id].actions;
            Ok(actions.iter().map(ToString::to_string).collect())
        })
    }
    fn perform(&self, element: &Handle, action: &str) -> Ax<()> {
        let done = self.ask(element, |world| {
            let node = &world.nodes[&element.id];
            if action == "AXRaise" {
                world.stack.retain(|w| *w != element.id);
                world.stack.insert(0, element.id);
                return Ok(());
            }
            if !node.actions.contains(&action) {
                return Err(AxError::ACTION_UNSUPPORTED);
            }
            if let Some(pressed) = node.pressed.clone() {
                pressed(world);
            }
            Ok(())
        });
        self.flush();
        done
    }
    fn observe(&self, pid: u32, _: &[&'static str], heard: Heard<Handle>) -> Ax<Registered> {
        let key = KEYS.fetch_add(1, Ordering::Relaxed);
        let heard = Arc::new(heard);
        let mut world = self.world();
        world.told.clear();
        world.observers.push((key, pid, Arc::downgrade(&heard)));
        Ok(Registered {
            world: Arc::downgrade(&self.0),
            key,
            _heard: Some(heard),
        })
    }
    fn computed(&self, _: u32) -> Option<Duration> {
        Some(Duration::ZERO)
    }
    fn process(&self, pid: u32) -> Option<Process> {
        let world = self.world();
        let app = world.apps.get(&pid)?;
        Some(Process {
            parent: 1,
            started: app.started,
            name: app.name.clone(),
        })
    }
    fn apps(&self) -> Vec<RunningApp> {
        let world = self.world();
        let described = |(pid, app): (&u32, &App)| RunningApp {
            pid: *pid,
            name: app.name.clone(),
            bundle_id: format!("com.example.{}", app.name),
            path: app.path.clone(),
            regular: app.regular,
            finished: !app.unfinished,
        };
        world.apps.iter().map(described).collect()
    }
    fn front_pid(&self) -> Option<u32> {
        let world = self.world();
        world.apps.contains_key(&world.front).then_some(world.front)
    }
    fn activate(&self, _: u32) -> bool {
        // As on macOS 14 and later: a background process may not activate another app.
        false
    }
    fn launch(&self, launch: &Launch, _: Duration) -> Result<u32, String> {
        let mut world = self.world();
        let running = world.apps.iter().find(|(_, a)| a.path == launch.path);
        if let Some((&pid, _)) = running {
            world.bring_forward(pid);
            return Ok(pid);
        }
        let start = world.installed.get(&launch.path).copied();
        let pid = start.ok_or("LaunchServices knows no such app")?(&mut world, launch.path.clone());
        world.bring_forward(pid);
        Ok(pid)
    }
    fn bundle_path(&self, bundle_id: &str) -> Option<PathBuf> {
        let name = bundle_id.strip_prefix("com.example.")?;
        let world = self.world();
        let file = format!("{name}.app");
        world.installed.keys().find(|p| p.ends_with(&file)).cloned()
    }
    fn app_folders(&self) -> Vec<PathBuf> {
        self.world().folders.clone()
    }
    fn session(&self) -> String {
        "macos-501-fake".into()
    }
    fn windows(&self) -> Vec<ServerWindow> {
        let world = self.world();
        let extra = world.extra.iter().enumerate().map(|(i, e)| ServerWindow {
            number: 9_000 + i as u32,
            pid: e.0,
            owner: String::new(),
            title: String::new(),
            bounds: e.1,
            layer: e.2,
            on_screen: true,
            alpha: 1.0,
        });
        let plain = world.stack.iter().map(|id| ServerWindow {
            number: *id as u32,
            pid: world.nodes[id].pid,
            owner: String::new(),
            title: String::new(),
            bounds: world.extents(*id).unwrap(),
            layer: 0,
            on_screen: world.shown(*id),
            alpha: 1.0,
        });
        extra.chain(plain).collect()
    }
    fn displays(&self) -> Vec<Display> {
        self.world().displays.clone()
    }
    fn may_capture(&self) -> bool {
        self.world().may_capture
    }
    fn ask_to_capture(&self) {
        self.world().asked += 1;
    }
    fn capture(
        &self,
        _: u32,
        (width, height): (usize, usize),
        _: Duration,
    ) -> Result<Image, String> {
        Ok(Image {
            width,
            height,
            rgbx: [250, 250, 250, 0].repeat(width * height),
        })
    }
    fn pointer(&self) -> (f64, f64) {
        self.world().pointer
    }
    fn warp(&self, to: (f64, f64)) {
        self.world().pointer = to;
    }
    fn post(&self, event: &Event, tag: i64) -> Result<(), String> {
        let judge = self.world().tap.as_ref().map(|(_, judge)| judge.clone());
        if let Some(judge) = judge {
            let kind = match event {
                Event::Key {
                    code,
                    down: true,
                    flags,
                } => Seen::KeyDown {
                    code: *code,
                    flags: *flags,
                },
                Event::Button { down: true, .. } => Seen::ButtonDown,
                _ => Seen::Input,
            };
            match judge.lock().unwrap()(Tapped { kind, tag }) {
                Verdict::Drop => return Ok(()),
                Verdict::Pass | Verdict::Enable | Verdict::Close => {}
            }
        }
        let mut world = self.world();
        world.reached.push((event.clone(), tag));
        world.deliver(event);
        drop(world);
        self.flush();
        Ok(())
    }
    fn held_keys(&self) -> Vec<u16> {
        self.world().held_keys.clone()
    }
    fn keys(&self, layout: Layout) -> Vec<LayoutKey> {
        let cyrillic = self.world().no_layout_letters && layout == Layout::Current;
        let key = |(code, c): &(u16, char), shift: bool| LayoutKey {
            code: *code,
            shift,
            option: false,
            text: match (cyrillic && c.is_ascii_lowercase(), shift, c) {
                (true, ..) => 'ф'.into(),
                (_, true, '=') => '+'.into(),
                (_, true, c) => c.to_uppercase().collect(),
                (_, false, c) => c.to_string(),
            },
        };
        let both = US.iter().flat_map(|k| [key(k, false), key(k, true)]);
        both.collect()
    }
    fn button_held(&self) -> bool {
        self.world().button_held
    }
    fn secure_input(&self) -> bool {
        self.world().secure_input
    }
    fn tap(&self, judge: Judge) -> Result<Registered, String> {
        let key = KEYS.fetch_add(1, Ordering::Relaxed);
        let judge = Arc::new(Mutex::new(judge));
        let mut world = self.world();
        if !world.trusted {
            return Err("CGEventTapCreate gave none".into());
        }
        world.tap = Some((key, judge.clone()));
        // Its thread ticks ten times a second, as long as the tap exists.
        let weak = Arc::downgrade(&judge);
        std::thread::spawn(move || {
            while let Some(judge) = weak.upgrade() {
                let kind = Seen::Tick;
                judge.lock().unwrap()(Tapped { kind, tag: 0 });
                drop(judge);
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        Ok(Registered {
            world: Arc::downgrade(&self.0),
            key,
            _heard: None,
        })
    }
    fn overlay(&self, panels: &[Panel]) {
        let mut world = self.world();
        world.said.extend(panels.iter().map(|p| p.text.clone()));
        world.panels = panels.to_vec();
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
