//! The subscribed apps, each with the reading that the next link about it reuses: the app of the
//! running link, and those of earlier links.

use std::collections::HashSet;
use std::time::Instant;

use deskline_contract::Sign;

use crate::bus::{Message, SIGNALS_KEPT};
use crate::strategies::reuse::LastReading;

/// The maximum number of apps that stay subscribed between links.
const MOST_APPS: usize = 3;

/// The maximum number of nodes that are kept between links: a node takes about 400 bytes.
const MOST_NODES: usize = 50_000;

/// The maximum number of events between two links. An app that sends more is unsubscribed: taking
/// its events would cost more than the next link saves.
const MOST_IDLE: usize = 2_000;

/// A subscribed app.
#[derive(Debug)]
pub(crate) struct Mirror {
    pub bus_name: String,
    /// When the link about the app began.
    pub began: Instant,
    pub last: Option<LastReading>,
    /// Whether anything may have appeared or disappeared since the last reading. Readings of
    /// visible nodes alone do not count.
    pub shows_other: bool,
    /// How many events came since the last link about the app.
    idle_events: usize,
    /// The only object whose events are signs of a change; `None` if the events of all objects are.
    pub watched: Option<String>,
    /// The objects that have changed since the last reading.
    pub changed: HashSet<String>,
    /// The objects that have become selected or checked since the last click.
    pub turned_on: HashSet<String>,
}

impl Mirror {
    pub fn new(bus_name: String) -> Self {
        Self {
            bus_name,
            began: Instant::now(),
            last: None,
            shows_other: true,
            idle_events: 0,
            watched: None,
            changed: HashSet::new(),
            turned_on: HashSet::new(),
        }
    }

    /// The sign that an event of the app gives.
    fn sign(&self, signal: &Message) -> Sign {
        let watched = self.watched.as_ref();
        if watched.is_some_and(|watched| **watched != *signal.path) {
            return Sign::Focus;
        }
        event(signal)
    }

    fn is_worth_keeping(&self) -> bool {
        let last = self.last.as_ref();
        last.is_some_and(LastReading::may_outlive_a_link) && self.idle_events <= MOST_IDLE
    }

    fn nodes(&self) -> usize {
        self.last.as_ref().map_or(0, LastReading::len)
    }
}

/// All subscribed apps.
#[derive(Debug, Default)]
pub(crate) struct Mirrors {
    /// The app of the running link.
    pub current: Option<Mirror>,
    /// The apps of earlier links, the latest last.
    pub(crate) resting: Vec<Mirror>,
}

impl Mirrors {
    /// Whether this is the app of the running link.
    pub fn is_current(&self, bus_name: &str) -> bool {
        let current = self.current.as_ref();
        current.is_some_and(|mirror| mirror.bus_name == bus_name)
    }

    /// The last reading of the current app; `None` if there is no current app.
    pub fn last(&mut self) -> Option<&mut Option<LastReading>> {
        self.current.as_mut().map(|mirror| &mut mirror.last)
    }

    /// Makes an app of an earlier link the current one; `false` if it is not subscribed. There must
    /// be no other current app.
    pub fn resume(&mut self, bus_name: &str) -> bool {
        let resting = &mut self.resting;
        let Some(at) = resting.iter().position(|m| m.bus_name == bus_name) else {
            return false;
        };
        let mut mirror = resting.remove(at);
        mirror.began = Instant::now();
        mirror.last.take_if(|last| !last.may_outlive_a_link());
        self.current = Some(mirror);
        true
    }

    /// To be called when the link is over: keeps the current app's mirror. Returns the apps to
    /// unsubscribe.
    pub fn rest(&mut self) -> Vec<Mirror> {
        if let Some(mut mirror) = self.current.take() {
            mirror.idle_events = 0;
            mirror.watched = None;
            self.resting.push(mirror);
        }
        self.prune()
    }

    /// Removes and returns the resting apps to unsubscribe: their readings are too old or too
    /// large, they send too many events, or other apps were driven since.
    pub fn prune(&mut self) -> Vec<Mirror> {
        let mut nodes = 0;
        let mut kept = Vec::new();
        let mut dropped = Vec::new();
        for mirror in std::mem::take(&mut self.resting).into_iter().rev() {
            let fits = kept.len() < MOST_APPS && nodes + mirror.nodes() <= MOST_NODES;
            if mirror.is_worth_keeping() && fits {
                nodes += mirror.nodes();
                kept.push(mirror);
            } else {
                dropped.push(mirror);
            }
        }
        kept.reverse();
        self.resting = kept;
        dropped
    }

    /// Handles events: they invalidate the facts about their objects. Returns the strongest sign
    /// about the current app.
    pub fn hear(&mut self, signals: impl ExactSizeIterator<Item = Message>) -> Option<Sign> {
        // If the signal queue is full, some signals may have been dropped: discard all readings.
        let lost = signals.len() >= SIGNALS_KEPT;
        let mut heard = None;
        for signal in signals {
            let current = self.current.as_mut();
            let current = current.filter(|mirror| mirror.bus_name == signal.sender);
            heard = heard.max(current.as_ref().map(|mirror| mirror.sign(&signal)));
            let mut resting = self.resting.iter_mut();
            let of = current.or_else(|| resting.find(|mirror| mirror.bus_name == signal.sender));
            let Some(mirror) = of else { continue };
            mirror.idle_events += 1;
            mirror.shows_other |= is_about_showing(&signal);
            if event(&signal) == Sign::Change && mirror.changed.len() < MOST_IDLE {
                mirror.changed.insert(signal.path.clone());
            }
            if is_turned_on(&signal) && mirror.turned_on.len() < MOST_IDLE {
                mirror.turned_on.insert(signal.path.clone());
            }
            if let Some(last) = &mut mirror.last {
                last.invalidate(&signal.path, &signal.member);
            }
        }
        if lost {
            heard = Some(Sign::Change);
            for mirror in self.current.iter_mut().chain(&mut self.resting) {
                (mirror.last, mirror.shows_other) = (None, true);
            }
        }
        heard
    }

    /// An app that no link drives now, and whose last reading was cut short by the budget.
    pub(crate) fn cut_short(&mut self) -> Option<&mut Mirror> {
        let cut = |mirror: &&mut Mirror| mirror.last.as_ref().is_some_and(|last| last.cut_short);
        self.resting.iter_mut().rev().find(cut)
    }

    /// Removes and returns all subscribed apps.
    pub(crate) fn take_all(&mut self) -> Vec<Mirror> {
        let mut all = std::mem::take(&mut self.resting);
        all.extend(self.current.take());
        all
    }

    /// The bus names of the apps whose readings the next link about them can reuse.
    pub fn kept(&self) -> impl Iterator<Item = &str> {
        let kept = self.resting.iter().filter(|m| m.is_worth_keeping());
        kept.map(|mirror| mirror.bus_name.as_str())
    }
}

/// Whether an event may mean that something has begun or ceased to show, or has another place.
fn is_about_showing(signal: &Message) -> bool {
    match signal.member.as_str() {
        "StateChanged" => {
            let state = signal.reader().str().unwrap_or_default();
            matches!(state, "showing" | "visible")
        }
        "ChildrenChanged" | "VisibleDataChanged" => true,
        _ => signal.interface.ends_with(".Window") && event(signal) == Sign::Change,
    }
}

fn is_turned_on(signal: &Message) -> bool {
    let mut reader = signal.reader();
    signal.member == "StateChanged"
        && reader
            .str()
            .is_ok_and(|state| matches!(state, "selected" | "checked"))
        && reader.i32().is_ok_and(|now| now == 1)
}

/// The sign that an event gives.
fn event(signal: &Message) -> Sign {
    // The first argument of a `StateChanged` is the name of the state.
    let state = || signal.reader().str().unwrap_or_default().to_owned();
    let member = signal.member.as_str();
    let interface = signal.interface.strip_prefix("org.a11y.atspi.Event.");
    let of_focus = match interface.unwrap_or_default() {
        "Focus" => true,
        "Window" => matches!(
            member,
            "Activate" | "Deactivate" | "Raise" | "Lower" | "Restore"
        ),
        "Object" => match member {
            "StateChanged" => matches!(state().as_str(), "focused" | "active" | "armed"),
            "TextCaretMoved" | "ActiveDescendantChanged" => true,
            _ => false,
        },
        _ => false,
    };
    if of_focus { Sign::Focus } else { Sign::Change }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Node;
    use std::collections::HashMap;

    fn mirror(bus_name: &str, nodes: usize) -> Mirror {
        let nodes = std::iter::repeat_with(Node::default).take(nodes).collect();
        let last = LastReading::new(1, Instant::now(), nodes, HashMap::new(), false);
        Mirror {
            last: Some(last),
            ..Mirror::new(bus_name.to_owned())
        }
    }

    /// The apps that stay subscribed after links about these.
    fn kept(links: impl IntoIterator<Item = Mirror>) -> Vec<String> {
        let mut mirrors = Mirrors::default();
        for mirror in links {
            mirrors.current = Some(mirror);
            mirrors.rest();
        }
        mirrors.kept().map(str::to_owned).collect()
    }

    #[test]
    fn the_latest_three_apps_are_kept() {
        assert_eq!(
            kept(["a", "b", "c", "d"].map(|name| mirror(name, 10))),
            ["b", "c", "d"]
        );
    }

    #[test]
    fn an_app_whose_reading_is_not_kept_displaces_no_other_app() {
        let links = ["a", "b", "c"].map(|name| mirror(name, 10));
        let unread = Mirror::new("unread".to_owned());
        let large = mirror("large", MOST_NODES + 1);
        let links = links.into_iter().chain([unread, large]);
        assert_eq!(kept(links), ["a", "b", "c"]);
    }

    #[test]
    fn all_mirrors_together_keep_a_bounded_number_of_nodes() {
        let half = MOST_NODES / 2;
        assert_eq!(kept([mirror("a", half), mirror("b", half)]), ["a", "b"]);
        assert_eq!(kept([mirror("a", half), mirror("b", half + 1)]), ["b"]);
        assert!(kept([mirror("a", MOST_NODES + 1)]).is_empty());
    }

    fn event(sender: &str) -> Message {
        let mut event = Message::default();
        sender.clone_into(&mut event.sender);
        event
    }

    #[test]
    fn an_app_that_sends_too_many_events_is_no_longer_followed() {
        let mut mirrors = Mirrors::default();
        for name in ["noisy", "calm"] {
            mirrors.current = Some(mirror(name, 1));
            mirrors.rest();
        }
        mirrors.hear(
            (0..=MOST_IDLE)
                .map(|_| event("noisy"))
                .collect::<Vec<_>>()
                .into_iter(),
        );
        let dropped = mirrors.prune();
        assert_eq!(dropped.len(), 1);
        assert_eq!(mirrors.kept().collect::<Vec<_>>(), ["calm"]);
    }

    #[test]
    fn only_the_current_apps_events_count_and_lost_events_invalidate_mirrors() {
        let mut mirrors = Mirrors::default();
        for name in ["resting", "current"] {
            mirrors.current = Some(mirror(name, 1));
            mirrors.rest();
        }
        assert!(mirrors.resume("current"));
        assert_eq!(
            mirrors.hear([event("resting"), event("other")].into_iter()),
            None
        );
        assert_eq!(
            mirrors.hear([event("current")].into_iter()),
            Some(Sign::Change)
        );
        let many: Vec<Message> = (0..SIGNALS_KEPT).map(|_| event("other")).collect();
        mirrors.hear(many.into_iter());
        assert!(mirrors.last().is_some_and(|last| last.is_none()));
        assert_eq!(mirrors.kept().count(), 0);
    }
}
