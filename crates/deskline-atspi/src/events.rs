//! Subscribes to an app's events, to learn when it changes.
//!
//! The subscription, and the last reading with it, outlive the link: the next link about the same app
//! reads only what shows and what events have invalidated ([`crate::strategies::reuse`]). Between
//! links [`AtSpi::idle`] takes the events, and ends the subscription when they are too many or the
//! reading too old.

use std::time::{Duration, Instant};

use deskline_link::Result;

use crate::atspi::{AtSpi, on_bus};
use crate::bus::{self, Body, Call};
use crate::connection::{AppConnection, PATIENCE};
use crate::engine::Engine;
use crate::names::{REGISTRY, ROOT};
use crate::request::Request;
use crate::strategies::read_on;
use crate::strategies::reuse::LastReading;

/// The events that announce a change. Toolkits send thousands of the others.
const EVENTS: [&str; 7] = [
    "object:children-changed",
    "object:state-changed",
    "object:property-change",
    "object:text-changed",
    "object:selection-changed",
    "object:visible-data-changed",
    "window:",
];

/// How often events are taken while no link runs.
const IDLE: Duration = Duration::from_millis(500);

/// The pause between two batches of what the last reading lacks.
const PAUSE: Duration = Duration::from_millis(10);

/// A batch ends after this time with what it has.
const HANGS: Duration = Duration::from_millis(300);

/// An app that sends more events between two links is not followed any longer: taking them would
/// cost more than the next link saves.
const MOST_IDLE: usize = 2_000;

impl AtSpi {
    /// Subscribes to the app's events. Ends an earlier subscription, unless it is to the same app:
    /// then the last reading is kept, unless it is too old.
    pub fn listen(&mut self, pid: u32) -> Result<()> {
        let bus_name = self.app(pid)?.peer.bus_name.clone();
        if self.listening.as_ref() == Some(&bus_name) {
            self.last.take_if(|last| !last.may_outlive_a_link());
            return Ok(());
        }
        self.stop_listening();
        self.try_listen(&bus_name)
            .map_err(on_bus("listening to accessibility events"))
    }

    /// Subscribes before a reading that the next link can take from, if no app is subscribed. Where
    /// this fails, the next link reads everything.
    pub(crate) fn listen_from_now(&mut self, pid: u32) {
        let app = self.apps.get(&pid);
        let tells = app.is_some_and(|app| app.peer.toolkit.tells_of_hidden_changes());
        if tells && self.listening.is_none() && self.listen(pid).is_ok() {
            self.idle_events = 0;
        }
    }

    fn try_listen(&mut self, bus_name: &str) -> Result<(), bus::Error> {
        self.bus.take_signals();
        if self.registered.insert(bus_name.to_owned()) {
            let calls = EVENTS.iter().map(|event| Call {
                destination: REGISTRY,
                path: "/org/a11y/atspi/registry",
                interface: REGISTRY,
                member: "RegisterEvent",
                body: Body::new().str(event).strs(&[]).str(bus_name),
            });
            self.bus
                .batch(calls, EVENTS.len(), Instant::now() + PATIENCE, |_, _| {})?;
        }
        self.match_rule("AddMatch", bus_name)?;
        self.listening = Some(bus_name.to_owned());
        Ok(())
    }

    fn match_rule(&mut self, member: &str, bus_name: &str) -> Result<(), bus::Error> {
        let rule = format!("type='signal',sender='{bus_name}'");
        let call = Call {
            destination: "org.freedesktop.DBus",
            path: "/org/freedesktop/DBus",
            interface: "org.freedesktop.DBus",
            member,
            body: Body::new().str(&rule),
        };
        self.bus.call(&call, PATIENCE).map(drop)
    }

    /// Takes all events that the app has sent until now: on the bus they come before its reply. On its
    /// private socket a reply can overtake them.
    pub(crate) fn catch_up(&mut self, bus_name: &str) -> Result<(), bus::Error> {
        let reply = AppConnection::by_bus(&mut self.bus, bus_name).ask(ROOT, Request::State);
        self.hear();
        match reply {
            Ok(_) | Err(bus::Error::Remote { .. }) => Ok(()),
            Err(e) => Err(e),
        }
    }

    /// The link is over. Ends the subscription unless the next link can reuse the last reading.
    pub fn rest(&mut self) {
        self.idle_events = 0;
        let of = self.last.as_ref().and_then(|last| self.apps.get(&last.pid));
        let tells = of.is_some_and(|app| app.peer.toolkit.tells_of_hidden_changes());
        if !tells || !self.is_worth_keeping() {
            self.stop_listening();
        }
    }

    fn is_worth_keeping(&self) -> bool {
        let last = self.last.as_ref();
        last.is_some_and(LastReading::may_outlive_a_link) && self.idle_events <= MOST_IDLE
    }

    /// Between links: takes the events that have come, and reads on where the budget cut the last
    /// reading, for some 50 ms. Returns when to call again; `None` if no app is subscribed any longer.
    pub fn idle(&mut self) -> Option<Duration> {
        self.listening.as_ref()?;
        while self.is_worth_keeping() {
            match self.bus.wait_for_signal(Instant::now()) {
                Ok(true) => self.hear(),
                Ok(false) => match self.read_on() {
                    Ok(true) => return Some(PAUSE),
                    Ok(false) => return Some(IDLE),
                    Err(_) => break,
                },
                Err(_) => break,
            }
        }
        self.stop_listening();
        None
    }

    /// Reads a batch of what the last reading lacks. Returns whether there is more.
    fn read_on(&mut self) -> Result<bool, bus::Error> {
        let Some(mut last) = self.last.take_if(|last| last.cut_short) else {
            return Ok(false);
        };
        let Some(app) = self.apps.get_mut(&last.pid) else {
            return Ok(false);
        };
        let (bus_name, toolkit) = (app.peer.bus_name.clone(), app.peer.toolkit);
        let end = Instant::now() + HANGS;
        let connection = app.peer.connection(&mut self.bus);
        let mut engine = Engine::new(connection, &bus_name, toolkit, end);
        // Events that have come meanwhile are still queued, and invalidate what was read before them.
        let more = read_on::read_on(&mut engine, &mut last)?;
        self.last = Some(last);
        Ok(more)
    }

    /// Ends the subscription.
    pub fn stop_listening(&mut self) {
        if let Some(bus_name) = self.listening.take() {
            // If this fails, the bus is gone and the rule with it.
            let _ = self.match_rule("RemoveMatch", &bus_name);
        }
        self.last = None;
        self.bus.take_signals();
    }

    /// Waits for an event of the subscribed app, for `time` at the longest. Returns whether one
    /// came.
    pub fn wait_for_change(&mut self, time: Duration) -> Result<bool> {
        let heard = self
            .bus
            .wait_for_signal(Instant::now() + time)
            .map_err(on_bus("waiting for accessibility events"))?;
        self.hear();
        Ok(heard)
    }

    /// Invalidates the objects that events were sent for.
    pub(crate) fn hear(&mut self) {
        let signals = self.bus.take_signals();
        self.idle_events += signals.len();
        // If the signal queue is full, some signals may have been dropped: discard the previous
        // reading.
        self.last = self
            .last
            .take()
            .filter(|_| signals.len() < bus::SIGNALS_KEPT);
        if let Some(last) = &mut self.last {
            last.invalidate(
                signals
                    .into_iter()
                    .map(|signal| (signal.path, signal.member)),
            );
        }
    }
}
