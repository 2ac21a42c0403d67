//! Subscribes to an app's events, to learn when it changes.
//!
//! The subscription, and the last reading with it, outlive the link ([`crate::mirrors`]): the next
//! link about the same app reads only visible nodes and nodes that events have invalidated
//! ([`crate::strategies::reuse`]). Between links [`AtSpi::idle`] takes the events, and ends the
//! subscription when there are too many events or the reading is too old.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use deskline_contract::{Result, Sign};
use deskline_core::ElementId;

use crate::app::App;
use crate::atspi::{AtSpi, on_bus};
use crate::bus::{self, Body, Call};
use crate::connection::{AppConnection, PATIENCE};
use crate::engine::Engine;
use crate::mirrors::Mirror;
use crate::names::{REGISTRY, ROOT};
use crate::request::Request;
use crate::strategies::read_on;
use crate::tree::split_id;

/// The events that announce a change. Toolkits send thousands of others.
#[rustfmt::skip]
const EVENTS: [&str; 7] = [
    "object:children-changed", "object:state-changed", "object:property-change",
    "object:text-changed", "object:selection-changed", "object:visible-data-changed", "window:",
];

/// How often events are taken while no link runs.
const IDLE: Duration = Duration::from_millis(500);

/// The pause between two batches of the last reading's missing nodes.
const PAUSE: Duration = Duration::from_millis(10);

/// The time limit of a batch.
const HANGS: Duration = Duration::from_millis(300);

impl AtSpi {
    /// Subscribes to the app's events. If an earlier link has subscribed to the app, the app's last
    /// reading can still be used, unless that reading is too old.
    pub fn listen(&mut self, pid: u32) -> Result<()> {
        let bus_name = self.app(pid)?.peer.bus_name.clone();
        if self.mirrors.current(&bus_name).is_none() {
            self.rest();
        }
        if self.mirrors.current.is_some() || self.mirrors.resume(&bus_name) {
            return Ok(());
        }
        self.try_listen(&bus_name)
            .map_err(on_bus("listening to accessibility events"))
    }

    /// Subscribes before a reading, so that the next link can reuse it. Does nothing if the running
    /// link is subscribed to an app already. If it fails, the next link reads everything.
    pub(crate) fn listen_from_now(&mut self, pid: u32) {
        let app = self.apps.get(&pid);
        let tells = app.is_some_and(|app| app.peer.toolkit.reports_hidden_changes());
        if tells && self.mirrors.current.is_none() {
            let _ = self.listen(pid);
        }
    }

    fn try_listen(&mut self, bus_name: &str) -> bus::Result {
        if self.registered.insert(bus_name.to_owned()) {
            let calls = EVENTS.iter().map(|event| {
                let body = Body::new().str(event).strs(&[]).str(bus_name);
                let path = "/org/a11y/atspi/registry";
                Call::new(REGISTRY, path, REGISTRY, "RegisterEvent", body)
            });
            self.bus
                .batch(calls, EVENTS.len(), Instant::now() + PATIENCE, |_, _| {})?;
        }
        self.match_rule("AddMatch", bus_name)?;
        self.mirrors.current = Some(Mirror::new(bus_name.to_owned()));
        Ok(())
    }

    fn match_rule(&mut self, member: &str, bus_name: &str) -> bus::Result {
        let rule = format!("type='signal',sender='{bus_name}'");
        let call = Call::to_bus(member, Body::new().str(&rule));
        self.bus.call(&call, PATIENCE).map(drop)
    }

    /// Whether the app still shows what it showed at its last reading, as far as its events tell
    /// that came before its last reply on the bus.
    pub(crate) fn shows_the_same(&mut self, bus_name: &str) -> bool {
        self.hear();
        let current = self.mirrors.current(bus_name);
        current.is_some_and(|mirror| !mirror.shows_other)
    }

    /// Takes all events that the app has sent so far. A request over the bus makes sure: they
    /// arrive before its reply. A reply over the private socket can overtake events.
    pub(crate) fn catch_up(&mut self, bus_name: &str) -> bus::Result {
        let reply = AppConnection::by_bus(&mut self.bus, bus_name).ask(ROOT, Request::State);
        self.hear();
        match reply {
            Ok(_) | Err(bus::Error::Remote { .. }) => Ok(()),
            Err(e) => Err(e),
        }
    }

    /// To be called when the link is over. The app stays subscribed if the next link can reuse its
    /// last reading.
    pub fn rest(&mut self) {
        self.acted_in.clear();
        let of = self.mirrors.current.as_ref();
        let app = of.and_then(|mirror| app_of(&mut self.apps, &mirror.bus_name));
        if !app.is_some_and(|app| app.peer.toolkit.reports_hidden_changes())
            && let Some(last) = self.mirrors.last()
        {
            *last = None;
        }
        let dropped = self.mirrors.rest();
        self.unsubscribe(dropped);
    }

    /// From now to the end of the link, only events about this control count as changes. `false` if
    /// the toolkit may switch the control without an event, or if the control has changed since the
    /// last reading.
    pub fn watch(&mut self, control: &ElementId) -> bool {
        let Some((bus_name, path)) = split_id(control) else {
            return false;
        };
        let app = app_of(&mut self.apps, bus_name);
        let (Some(app), Some(mirror)) = (app, self.mirrors.current(bus_name)) else {
            return false;
        };
        mirror.watched = Some(path.to_owned());
        app.peer.toolkit.tells_states() && !mirror.changed.contains(path)
    }

    /// How long ago this object last became selected or checked, or ceased to be, since the last
    /// click, and whether it was on at any time since then.
    pub fn switched(&mut self, element: &ElementId) -> Option<(Duration, bool)> {
        self.hear();
        let (bus_name, path) = split_id(element)?;
        let mirror = self.mirrors.current(bus_name)?;
        let (at, on) = mirror.switched.get(path)?;
        Some((at.elapsed(), *on))
    }

    /// Between links: takes the pending events, and for about 50 ms continues a last reading that
    /// the budget cut short. Returns the time after which to call again, `None` if no app is
    /// subscribed.
    pub fn idle(&mut self) -> Option<Duration> {
        self.rest();
        let now = Instant::now();
        while !self.mirrors.resting.is_empty() {
            match self.bus.wait_for_signal(now) {
                Ok(true) => {
                    self.hear();
                    let dropped = self.mirrors.prune();
                    self.unsubscribe(dropped);
                }
                Ok(false) if self.read_on() => return Some(PAUSE),
                Ok(false) => return Some(IDLE),
                Err(_) => self.stop_listening(),
            }
        }
        None
    }

    /// Reads a batch of the nodes that are missing in an app's last reading. Returns `false` if no
    /// last reading was cut short.
    fn read_on(&mut self) -> bool {
        let Self {
            bus, apps, mirrors, ..
        } = self;
        let Some(mirror) = mirrors.cut_short() else {
            return false;
        };
        let app = app_of(apps, &mirror.bus_name);
        let (Some(app), Some(mut last)) = (app, mirror.last.take()) else {
            return true;
        };
        let toolkit = app.peer.toolkit;
        let end = Instant::now() + HANGS;
        let mut engine = Engine::new(app.peer.connection(bus), &mirror.bus_name, toolkit, end);
        // The nodes that were read before an event of this batch will be invalidated by it, because
        // it is still queued. If the batch fails, the next link reads everything.
        if read_on::read_on(&mut engine, &mut last).is_ok() {
            mirror.last = Some(last);
        }
        true
    }

    /// The process ids of the apps that stay subscribed between links.
    pub fn kept(&self) -> Vec<u32> {
        let names: Vec<&str> = self.mirrors.kept().collect();
        let apps = self.apps.values().map(|app| &app.peer);
        let kept = apps.filter(|peer| names.contains(&peer.bus_name.as_str()));
        kept.map(|peer| peer.pid).collect()
    }

    /// Ends all subscriptions.
    pub fn stop_listening(&mut self) {
        let all = self.mirrors.take_all();
        self.unsubscribe(all);
        self.bus.take_signals();
    }

    fn unsubscribe(&mut self, mirrors: Vec<Mirror>) {
        for mirror in mirrors {
            // If this fails, the bus is gone and the rule with it.
            let _ = self.match_rule("RemoveMatch", &mirror.bus_name);
        }
    }

    /// Waits at most `time` for an event of the app that the link is about.
    pub fn wait_for_change(&mut self, time: Duration) -> Result<Option<Sign>> {
        let end = Instant::now() + time;
        let waited = loop {
            match self.bus.wait_for_signal(end) {
                Ok(true) => {
                    let heard = self.hear();
                    if heard.is_some() {
                        break Ok(heard);
                    }
                }
                Ok(false) => break Ok(None),
                Err(e) => break Err(e),
            }
        };
        waited.map_err(on_bus("waiting for accessibility events"))
    }

    /// Invalidates the objects of pending events. Returns the strongest sign about the current app.
    pub(crate) fn hear(&mut self) -> Option<Sign> {
        let signals = self.bus.take_signals();
        for signal in &signals {
            let sender = app_of(&mut self.apps, &signal.sender);
            if let Some(app) = sender.filter(|app| app.peer.toolkit.omits_menus()) {
                app.unlisted.hear(signal);
            }
        }
        self.mirrors.hear(signals.into_iter())
    }
}

/// The app with this bus name.
fn app_of<'a>(apps: &'a mut HashMap<u32, App>, bus_name: &str) -> Option<&'a mut App> {
    let mut apps = apps.values_mut();
    apps.find(|app| app.peer.bus_name == bus_name)
}
