//! Implements the trait for the fake.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use deskline_contract::wait::pause;
use deskline_input::clock::Instant;

use super::attributes::{computed, handles};
use super::keyboard::US;
use super::{App, Fake, Handle, KEYS, Registered, SYSTEM, text};
use crate::os::{
    Asked, Ax, AxError, Display, Event, Heard, Image, InputSource, Judge, Launch, Layout,
    LayoutKey, NewValue, Os, Panel, PasteboardItem, Process, RunningApp, Seat, Seen, ServerWindow,
    Shot, TAG, Tapped, Value, Verdict,
};

/// How often the thread of a tap ticks.
const TICK: Duration = Duration::from_millis(20);

impl Os for Fake {
    type Element = Handle;
    type Observer = Registered;
    type Tap = Registered;

    fn trusted(&self) -> bool {
        let world = self.world();
        world.trusted || world.revoked && world.quirks.stale_trust
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
    fn system(&self) -> Handle {
        Handle::new(&self.world(), SYSTEM)
    }
    fn pid_of(&self, element: &Handle) -> Ax<u32> {
        let world = self.world();
        let node = world.nodes.get(&element.id);
        node.map(|n| n.pid).ok_or(AxError::INVALID_UI_ELEMENT)
    }
    fn set_timeout(&self, element: &Handle, time: Duration) {
        let mut world = self.world();
        if element.id == SYSTEM {
            world.timeout = time;
        } else if time.is_zero() {
            world.timeouts.remove(&element.id);
        } else {
            world.timeouts.insert(element.id, time);
        }
    }
    fn hash(&self, element: &Handle) -> u64 {
        element.hash
    }
    fn attributes(&self, element: &Handle, names: &[&'static str]) -> Ax<Vec<Value<Handle>>> {
        self.ask("attributes", element, |world| {
            if element.id == SYSTEM && world.quirks.no_system_batch {
                return Err(AxError::NOT_IMPLEMENTED);
            }
            world.calls += 1;
            let mut values = Vec::new();
            for name in names {
                let value = computed(world, element.id, name);
                values.push(handles(world, &value));
            }
            Ok(values)
        })
    }
    fn attribute(&self, element: &Handle, name: &'static str) -> Ax<Value<Handle>> {
        self.ask("attribute", element, |world| {
            let value = computed(world, element.id, name);
            Ok(handles(world, &value))
        })
    }
    fn string(&self, element: &Handle, from: usize, length: usize) -> Ax<Value<Handle>> {
        self.ask("string", element, |world| {
            let all: Vec<u16> = world.value(element.id).encode_utf16().collect();
            let part = all.get(from..from + length).ok_or(AxError::NO_VALUE)?;
            let part = text(&String::from_utf16_lossy(part));
            Ok(handles(world, &part))
        })
    }
    fn element_at(&self, at: (f64, f64)) -> Ax<Handle> {
        let world = self.world();
        let under = world.seen_at(at).filter(|_| !world.quirks.no_hit_test);
        let under = under.ok_or(AxError::NO_VALUE)?;
        Ok(Handle::new(&world, under))
    }
    fn window_of(&self, element: &Handle) -> Option<u32> {
        let world = self.world();
        let is = world.stack.contains(&element.id) && !world.quirks.no_window_numbers;
        is.then_some(element.id as u32)
    }
    fn count(&self, element: &Handle, name: &'static str) -> Ax<usize> {
        self.ask("count", element, |world| {
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
        self.ask("range", element, |world| {
            let all = &world.nodes[&element.id].children;
            let part = all.iter().skip(from).take(most);
            Ok(part.map(|id| Handle::new(world, *id)).collect())
        })
    }
    fn settable(&self, element: &Handle, name: &'static str) -> Ax<bool> {
        self.ask("settable", element, |world| {
            Ok(world.nodes[&element.id].settable.contains(name))
        })
    }
    fn set(&self, element: &Handle, name: &'static str, value: &NewValue<Handle>) -> Ax<()> {
        let done = self.ask("set", element, |world| {
            let id = element.id;
            let pid = world.nodes[&id].pid;
            let is_root = world.apps[&pid].root == id;
            if name == "AXFrontmost" && is_root {
                if world.quirks.refuses_frontmost {
                    return Err(AxError::FAILURE);
                }
                let due = Instant::now() + world.quirks.late_front;
                let comes: super::Behaviour = Arc::new(move |w| w.bring_forward(pid));
                world.later.push((due, comes));
                world.run_due();
                return Ok(());
            }
            if matches!(name, "AXManualAccessibility" | "AXEnhancedUserInterface")
                && let Some(wakes) = world.apps[&pid].wakes.clone().filter(|_| is_root)
            {
                let on = *value == NewValue::Bool(true);
                world.requests.push((name, on));
                if !on {
                    world.withdrawn(pid, &wakes, name);
                    return wakes.answers.map_or(Ok(()), Err);
                }
                let app = world.apps.get_mut(&pid).unwrap();
                let deaf = &mut app.wakes.as_mut().unwrap().deaf;
                *deaf = deaf.saturating_sub(1);
                // Each request begins the wait anew.
                let is_deaf = wakes.deaf > 0 || wakes.deaf_behind && world.front != pid;
                if !is_deaf && wakes.hears.is_none_or(|hears| hears == name) {
                    world
                        .later
                        .retain(|(_, does)| !Arc::ptr_eq(does, &wakes.page));
                    let due = Instant::now() + wakes.after;
                    world.later.push((due, wakes.page));
                    if !wakes.builds.is_zero() {
                        let hangs = move |on: bool| -> super::Behaviour {
                            Arc::new(move |w| w.apps.get_mut(&pid).unwrap().hung = on)
                        };
                        world.later.push((due, hangs(true)));
                        world.later.push((due + wakes.builds, hangs(false)));
                    }
                }
                return wakes.answers.map_or(Ok(()), Err);
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
            match name {
                "AXFullScreen" => world.full_screen(id, value == Value::Bool(true)),
                "AXMinimized" if value == Value::Bool(false) => world.fly_in(id),
                "AXSelectedText" => {
                    if let Value::Text { start, .. } = &value {
                        let all = world.value(id) + start;
                        world.set(id, "AXValue", text(&all));
                    }
                    return Ok(());
                }
                _ => {}
            }
            world.set(id, name, value);
            Ok(())
        });
        self.flush();
        done
    }
    fn actions(&self, element: &Handle) -> Ax<Vec<String>> {
        self.ask("actions", element, |world| {
            let actions = &world.nodes[&element.id].actions;
            Ok(actions.iter().map(ToString::to_string).collect())
        })
    }
    fn perform(&self, element: &Handle, action: &str) -> Ax<()> {
        let done = self.ask("perform", element, |world| {
            let node = &world.nodes[&element.id];
            if action == "AXRaise" {
                world.raise(element.id);
                return Ok(());
            }
            if !node.actions.contains(&action) {
                return Err(AxError::ACTION_UNSUPPORTED);
            }
            // A press of an item with a submenu does nothing (mcp-baepsae #78).
            let is_item = node.attributes.get("AXRole") == Some(&text("AXMenuItem"));
            if is_item && !node.children.is_empty() {
                return Ok(());
            }
            if let Some(pressed) = node.pressed.clone() {
                pressed(world);
            }
            Ok(())
        });
        self.flush();
        done
    }
    fn observe(&self, pid: u32, names: &[&'static str], heard: Heard<Handle>) -> Ax<Registered> {
        // The first message that is not answered ends the subscription.
        for _ in names {
            self.ask("observe", &self.application(pid), |_| Ok(()))?;
        }
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
            parent: app.parent.max(1),
            // The short form, which is available for any process, has no start time.
            started: if app.of_root { 0 } else { app.started },
            name: app.name.clone(),
        })
    }
    fn responsible(&self, pid: u32) -> Option<(u32, PathBuf)> {
        let world = self.world();
        let pid = world.apps.get(&pid)?.responsible.unwrap_or(pid);
        // A process that has ended has no path.
        let path = world.apps.get(&pid).map(|app| app.path.clone());
        Some((pid, path.unwrap_or_default()))
    }
    fn app(&self, pid: u32) -> Option<RunningApp> {
        let mut world = self.world();
        world.message("app");
        world
            .apps
            .get(&pid)
            .filter(|a| !a.daemon)
            .map(|a| described(pid, a))
    }
    fn apps(&self) -> Vec<RunningApp> {
        let mut world = self.world();
        world.message("apps");
        let apps = world.apps.iter().filter(|(_, a)| !a.daemon);
        apps.map(|(pid, app)| described(*pid, app)).collect()
    }
    fn activate(&self, pid: u32) -> bool {
        let mut world = self.world();
        let may = world.quirks.activates && world.apps.contains_key(&pid);
        if may {
            world.bring_forward(pid);
        }
        may
    }
    fn launch(&self, launch: &Launch, _: Duration) -> Result<u32, String> {
        let mut world = self.world();
        let running = world.apps.iter().find(|(_, a)| a.path == launch.path);
        if let Some((&pid, _)) = running {
            if !world.quirks.refuses_frontmost || world.quirks.opening_activates {
                world.bring_forward(pid);
            }
            return Ok(pid);
        }
        let start = world.installed.get(&launch.path).copied();
        let pid = start.ok_or("LaunchServices knows no such app")?(&mut world, launch.path.clone());
        // With cooperative activation, a started app does not come forward either.
        if !world.quirks.refuses_frontmost {
            world.bring_forward(pid);
        }
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
    fn tool(&self, program: &str, arguments: &[&str]) -> Option<String> {
        let line = format!("{program} {}", arguments.join(" "));
        self.world().tools.get(&line).cloned()
    }
    fn stay_awake(&self) {
        self.world().awake = true;
    }
    fn quit(&self, pid: u32) -> bool {
        let mut world = self.world();
        let there = world.apps.contains_key(&pid);
        world.quit(pid);
        there
    }
    fn session(&self) -> String {
        "macos-501-fake".into()
    }
    fn windows(&self) -> Vec<ServerWindow> {
        let mut world = self.world();
        world.message("windows");
        let mut listed = world.listed();
        listed.retain(|w| w.on_screen);
        listed
    }
    fn all_windows(&self) -> Vec<ServerWindow> {
        let mut world = self.world();
        world.message("all_windows");
        let mut listed = world.listed();
        // In the order of their creation, not of the stack.
        listed.sort_by_key(|w| w.number);
        listed
    }
    fn displays(&self) -> Vec<Display> {
        self.world().displays.clone()
    }
    fn may_capture(&self) -> bool {
        let world = self.world();
        world.may_capture && !world.quirks.preflight_lies
    }
    fn ask_to_capture(&self) {
        self.world().asked += 1;
    }
    fn capture(&self, shot: &Shot, time: Duration) -> Result<Image, String> {
        let (width, height) = shot.pixels;
        let mut world = self.world();
        if !world.may_capture {
            return Err("The user declined TCCs".into());
        }
        let lost = world.quirks.lost_pictures > 0;
        world.quirks.lost_pictures -= u32::from(lost);
        if world.quirks.no_pictures || lost {
            drop(world);
            pause(time);
            return Err("ScreenCaptureKit did not answer in time".into());
        }
        let front = world.front;
        world.pictured_behind.push(front);
        world.shots.push(shot.clone());
        let mut rgbx = [250, 250, 250, 0].repeat(width * height);
        let over = world.listed();
        for window in over.iter().filter(|w| shot.over.contains(&w.number)) {
            let [x, y, w, h] = window.bounds;
            let (left, top) = (x - shot.bounds[0], y - shot.bounds[1]);
            for at in 0..width * height {
                let (x, y) = ((at % width) as f64, (at / width) as f64);
                if (left..left + w).contains(&x) && (top..top + h).contains(&y) {
                    rgbx[4 * at..4 * at + 3].fill(200);
                }
            }
        }
        Ok(Image {
            width,
            height,
            rgbx,
        })
    }
    fn seat(&self) -> Option<Seat> {
        let world = self.world();
        Some(Seat {
            locked: world.quirks.locked,
            on_console: !world.quirks.another_user,
        })
    }
    fn presses(&self) -> i64 {
        self.world().presses_before
    }
    fn pointer(&self) -> (f64, f64) {
        self.world().pointer
    }
    fn warp(&self, to: (f64, f64)) {
        self.world().pointer = to;
    }
    fn post(&self, event: &Event, tag: i64) -> Result<(), String> {
        self.world().nap();
        if self.world().is_stuck() {
            return Ok(());
        }
        let presses = matches!(
            event,
            Event::Key { down: true, .. } | Event::Button { down: true, .. }
        );
        self.world().presses_before += i64::from(presses && tag != TAG);
        let judge = self.world().tap.as_ref().map(|(_, judge)| judge.clone());
        let is_key = matches!(event, Event::Key { .. } | Event::Text { .. });
        let seen = !is_key || !self.world().quirks.tap_without_keys;
        if let Some(judge) = judge.filter(|_| seen) {
            let kind = match event {
                Event::Key {
                    code,
                    down: true,
                    flags,
                }
                | Event::Text {
                    code,
                    down: true,
                    flags,
                    ..
                } => Seen::KeyDown {
                    code: *code,
                    flags: *flags,
                },
                Event::Button { down: true, .. } => Seen::ButtonDown,
                _ => Seen::Input,
            };
            match judge.lock().unwrap()(Tapped { kind, tag }) {
                Verdict::Drop => {
                    let mut world = self.world();
                    if let (true, Event::Move { to, .. }) = (world.quirks.drops_still_move, event) {
                        world.pointer = *to;
                    }
                    return Ok(());
                }
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
        let dead = self.world().dead_keys.clone();
        let key = |(code, c): &(u16, char), shift: bool| LayoutKey {
            code: *code,
            shift,
            option: false,
            command: false,
            dead: !shift && dead.contains(code),
            text: match (cyrillic && c.is_ascii_lowercase(), shift, c) {
                (true, ..) => 'ф'.into(),
                (_, true, '=') => '+'.into(),
                (_, true, c) => c.to_uppercase().collect(),
                (_, false, c) => c.to_string(),
            },
        };
        let both = US.iter().flat_map(|k| [key(k, false), key(k, true)]);
        let mut keys: Vec<LayoutKey> = both.collect();
        let command = self.world().command_plane.clone();
        keys.extend(command.into_iter().map(|(code, c)| LayoutKey {
            code,
            shift: false,
            option: false,
            command: true,
            dead: false,
            text: c.into(),
        }));
        keys
    }
    fn input_source(&self) -> Option<InputSource> {
        let on = self.world().method_on;
        let id = if on { "pinyin" } else { "us" };
        Some(InputSource {
            id: id.into(),
            name: id.to_uppercase(),
            layout: !on,
        })
    }
    fn select_source(&self, id: Option<&str>) -> bool {
        let mut world = self.world();
        if !world.quirks.method_stays {
            let on = id == Some("pinyin");
            world.method_next = on && world.quirks.icon_only;
            world.method_on = on && !world.quirks.icon_only;
        }
        true
    }
    fn button_held(&self) -> bool {
        self.world().button_held
    }
    fn secure_input(&self) -> bool {
        let world = self.world();
        world.secure_input || world.secure_holder() == Some(world.front)
    }
    fn secure_holder(&self) -> Option<u32> {
        self.world().secure_holder()
    }
    fn may_tap(&self) -> bool {
        !self.world().revoked
    }
    fn tap(&self, judge: Judge) -> Result<Registered, String> {
        let key = KEYS.fetch_add(1, Ordering::Relaxed);
        let judge = Arc::new(Mutex::new(judge));
        let mut world = self.world();
        if !world.trusted {
            return Err("CGEventTapCreate gave no tap".into());
        }
        world.tap = Some((key, judge.clone()));
        // The tap's thread ticks ten times a second, as long as the tap exists.
        let (weak, weak_world) = (Arc::downgrade(&judge), Arc::downgrade(&self.0));
        std::thread::spawn(move || {
            let mut stuck = Duration::ZERO;
            while let (Some(judge), Some(world)) = (weak.upgrade(), weak_world.upgrade()) {
                let is_stuck = world.lock().unwrap().is_stuck();
                stuck = if is_stuck {
                    stuck + TICK
                } else {
                    Duration::ZERO
                };
                // A tap that answers nothing for a second is disabled.
                let kind = if stuck >= Duration::from_secs(1) {
                    stuck = Duration::ZERO;
                    Seen::Disabled
                } else {
                    Seen::Tick
                };
                let verdict = judge.lock().unwrap()(Tapped { kind, tag: 0 });
                if verdict == Verdict::Close {
                    let mut world = world.lock().unwrap();
                    world.tap.take_if(|(k, _)| *k == key);
                }
                drop((judge, world));
                std::thread::sleep(TICK);
            }
        });
        Ok(Registered {
            world: Arc::downgrade(&self.0),
            key,
            _heard: None,
        })
    }
    fn pasteboard_changes(&self) -> i64 {
        self.world().pasteboard.changes
    }
    fn pasteboard_types(&self) -> Vec<Vec<String>> {
        self.world().pasteboard.types()
    }
    fn pasteboard_data(
        &self,
        item: usize,
        kind: &str,
        time: Duration,
    ) -> Result<Option<Vec<u8>>, String> {
        self.world().pasteboard.data(item, kind, time)
    }
    fn pasteboard_write(&self, items: Vec<PasteboardItem>) -> Result<i64, String> {
        Ok(self.world().pasteboard.copy(items))
    }
    fn pasteboard_promise(
        &self,
        text: &str,
        marks: &[&'static str],
        asked: Asked,
    ) -> Result<i64, String> {
        Ok(self.world().pasteboard.promise(text, marks, asked))
    }
    fn overlay(&self, panels: &[Panel]) {
        let mut world = self.world();
        world.said.extend(panels.iter().map(|p| p.text.clone()));
        world.panels = panels.to_vec();
    }
}

fn described(pid: u32, app: &App) -> RunningApp {
    RunningApp {
        pid,
        name: app.name.clone(),
        bundle_id: match &app.bundle_id {
            Some(id) => id.clone(),
            None => format!("com.example.{}", app.name),
        },
        path: app.path.clone(),
        regular: app.regular,
        finished: !app.unfinished,
    }
}
