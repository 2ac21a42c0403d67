//! The subscribed apps: that of the running link, and those of earlier links. Each is kept with the
//! reading that the next link about it reuses.

use std::collections::{HashMap, HashSet};
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
    /// Whether anything may have appeared or disappeared since the last reading, not counting
    /// readings of visible nodes alone.
    pub shows_other: bool,
    /// How many events came since the last link about the app.
    idle_events: usize,
    /// The only object whose events are signs of a change; `None` if the events of all objects are.
    pub watched: Option<String>,
    /// The objects that have changed since the last reading.
    pub changed: HashSet<String>,
    /// When each object last became selected or checked, or ceased to be, since the last click, and
    /// whether it was on at any time since then.
    pub switched: HashMap<String, (Instant, bool)>,
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
            switched: HashMap::new(),
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

    pub(crate) fn switch(&mut self, path: &str, on: bool) {
        if self.switched.len() < MOST_IDLE {
            let before = self.switched.get(path).is_some_and(|(_, on)| *on);
            let switched = (Instant::now(), on || before);
            self.switched.insert(path.to_owned(), switched);
        }
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
    /// The app of the running link, if it has this bus name.
    pub fn current(&mut self, bus_name: &str) -> Option<&mut Mirror> {
        let current = self.current.as_mut();
        current.filter(|mirror| mirror.bus_name == bus_name)
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
        // With a full queue, some signals may have been dropped. So no reading can be reused.
        let lost = signals.len() >= SIGNALS_KEPT;
        let mut heard = None;
        for signal in signals {
            let current = self.current(&signal.sender);
            heard = heard.max(current.map(|mirror| mirror.sign(&signal)));
            let mut all = self.current.iter_mut().chain(&mut self.resting);
            let Some(mirror) = all.find(|mirror| mirror.bus_name == signal.sender) else {
                continue;
            };
            mirror.idle_events += 1;
            mirror.shows_other |= is_about_showing(&signal);
            if event(&signal) == Sign::Change && mirror.changed.len() < MOST_IDLE {
                mirror.changed.insert(signal.path.clone());
            }
            if let Some(on) = switched_on(&signal) {
                mirror.switch(&signal.path, on);
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

/// Whether an object is now selected or checked, if the event says so.
fn switched_on(signal: &Message) -> Option<bool> {
    let mut reader = signal.reader();
    let state = reader
        .str()
        .ok()
        .filter(|_| signal.member == "StateChanged")?;
    let now = reader.i32().ok()?;
    matches!(state, "selected" | "checked").then_some(now == 1)
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
    fn all_kept_readings_together_have_a_bounded_number_of_nodes() {
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
    fn only_the_current_apps_events_count_and_after_lost_ones_all_is_read_again() {
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
