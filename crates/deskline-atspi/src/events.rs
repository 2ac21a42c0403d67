//! Subscribes to an app's events, to learn when it changes.

use std::time::{Duration, Instant};

use deskline_link::Result;

use crate::atspi::{AtSpi, on_bus};
use crate::bus::{self, Body, Call};
use crate::connection::PATIENCE;
use crate::names::REGISTRY;

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

impl AtSpi {
    /// Subscribes to the app's events. Ends an earlier subscription.
    pub fn listen(&mut self, pid: u32) -> Result<()> {
        self.stop_listening();
        let bus_name = self.app(pid)?.peer.bus_name.clone();
        self.try_listen(&bus_name)
            .map_err(on_bus("listening to accessibility events"))
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

    /// Ends the subscription, so that no events pile up between links.
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
        // If the signal queue is full, some signals may have been dropped: discard the previous
        // reading.
        self.last = self
            .last
            .take()
            .filter(|_| signals.len() < bus::SIGNALS_KEPT);
        if let Some(last) = &mut self.last {
            last.invalidate(signals.into_iter().map(|signal| signal.path));
        }
    }
}
