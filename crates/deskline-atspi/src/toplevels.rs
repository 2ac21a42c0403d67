//! The toplevels of all apps on the bus, as the apps describe them. They stand for windows where no
//! display system lists windows.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::{Duration, Instant};

use deskline_contract::AppToplevel;
use deskline_core::{Rect, WindowId};
use deskline_unix::process;

use crate::atspi::{AtSpi, Listed};
use crate::bus::{self, Body, Call, Reader};
use crate::decode::{self, Object, kept};
use crate::names::{ACCESSIBLE, COMPONENT, ROOT, StateSet, WINDOW, role};

/// The name of GNOME Shell's process, whose toplevels are parts of the shell.
const GNOME_SHELL: &str = "gnome-shell";

/// How long the apps may take to answer, all together. A list must not wait for an app that hangs.
const AT_ONCE: Duration = Duration::from_millis(200);

/// The maximum number of toplevels: an app may claim to have any number.
const MOST: usize = 1_000;

impl AtSpi {
    /// The visible toplevels, in the order of their apps and windows. If an app does not answer
    /// within 200 ms, its last answer is used. If `stage`, GNOME Shell's own toplevels are
    /// included, though the shell answers only between two frames.
    pub fn toplevels(&mut self, stage: bool) -> bus::Result<Vec<AppToplevel>> {
        let mut apps = self.apps()?;
        apps.retain(|app| stage || process::name(app.pid) != GNOME_SHELL);
        let (mut found, silent) = self.toplevels_of(&apps)?;
        let silent = apps.iter().zip(silent).filter(|(_, silent)| *silent);
        for (app, _) in silent {
            found.retain(|t| t.bus_name() != app.bus_name);
            let known = self.shown.iter().filter(|t| t.bus_name() == app.bus_name);
            found.extend(known.map(|known| AppToplevel {
                active: false,
                silent: true,
                ..known.clone()
            }));
        }
        self.shown.clone_from(&found);
        Ok(found)
    }

    /// The visible toplevels of these apps. Also, for each app, whether some of its answers did not
    /// come in time. Objects that an app listed last time are queried together with its new list,
    /// unless the app was silent then.
    pub(crate) fn toplevels_of(
        &mut self,
        apps: &[Listed],
    ) -> bus::Result<(Vec<AppToplevel>, Vec<bool>)> {
        let children = |name| Call::new(name, ROOT, ACCESSIBLE, "GetChildren", Body::new());
        let children = apps.iter().map(|app| children(&app.bus_name));
        let last = |app: &Listed| self.tops.get(&app.bus_name).cloned().unwrap_or_default();
        let known = fewest_first(apps.iter().map(last).collect());
        let mut described = vec![Description::default(); known.len()];
        let mut tops: Vec<Option<Vec<Object>>> = vec![None; apps.len()];
        let deadline = Instant::now() + AT_ONCE;
        let calls = children.chain(known.iter().flat_map(about));
        let mut left = MOST;
        let asked = self.bus.batch(calls, 64, deadline, |i, reply| {
            let Some(tops) = tops.get_mut(i) else {
                note(&mut described, i - apps.len(), reply);
                return;
            };
            // A malformed reply counts as an empty list.
            let listed = reply.ok().and_then(|m| m.reader().array(8, object).ok());
            let mut listed = listed.unwrap_or_default();
            listed.truncate(left);
            left -= listed.len();
            *tops = Some(listed);
        });
        unless_late(asked)?;
        let mut silent: Vec<bool> = tops.iter().map(Option::is_none).collect();
        // A set, because a hostile app may list a thousand new toplevels each time.
        let asked: HashSet<&Object> = known.iter().collect();
        let new = |tops: &Vec<Object>| {
            let new = tops.iter().filter(|object| !asked.contains(object));
            new.cloned().collect()
        };
        let new = fewest_first(tops.iter().flatten().map(new).collect());
        let mut new_described = vec![Description::default(); new.len()];
        let deadline = Instant::now() + AT_ONCE;
        let calls = new.iter().flat_map(about);
        let noted = |i, reply| note(&mut new_described, i, reply);
        unless_late(self.bus.batch(calls, 64, deadline, noted))?;
        let described = known
            .iter()
            .chain(&new)
            .zip(described.into_iter().chain(new_described));
        let described: HashMap<&Object, Description> = described.collect();
        let mut found = Vec::new();
        for ((app, tops), silent) in apps.iter().zip(tops).zip(&mut silent) {
            let Some(tops) = tops else {
                self.tops.remove(&app.bus_name);
                continue;
            };
            for top in &tops {
                let description = described.get(top).cloned().unwrap_or_default();
                *silent |= description.answers < QUESTIONS;
                found.extend(description.toplevel(app.pid, top));
            }
            if *silent {
                self.tops.remove(&app.bus_name);
            } else {
                self.tops.insert(app.bus_name.clone(), tops);
            }
        }
        Ok((found, silent))
    }

    /// The bounds of a toplevel, as its app reports them; `None` if the app does not answer within
    /// 200 ms.
    pub fn extents_of(&mut self, toplevel: &AppToplevel) -> bus::Result<Option<Rect>> {
        let (name, path) = (toplevel.bus_name(), toplevel.path());
        let body = Body::new().u32(WINDOW);
        let call = Call::new(name, path, COMPONENT, "GetExtents", body);
        match self.bus.call(&call, AT_ONCE) {
            Ok(message) => Ok(decode::extents(&message).filter(|e| !e.is_empty())),
            Err(bus::Error::Timeout | bus::Error::Remote { .. }) => Ok(None),
            Err(e) => Err(e),
        }
    }
}

/// The objects of all apps in the order in which they are asked. Apps with few objects come first:
/// the calls to a hung app with many would use up the calls in flight.
fn fewest_first(mut of_apps: Vec<Vec<Object>>) -> Vec<Object> {
    of_apps.sort_by_key(Vec::len);
    of_apps.concat()
}

/// How many questions [`about`] asks.
const QUESTIONS: usize = 3;

/// Calls for an object's name, role and states.
fn about((name, path): &Object) -> [Call<'_>; QUESTIONS] {
    [
        Call::get(name, path, ACCESSIBLE, "Name"),
        Call::new(name, path, ACCESSIBLE, "GetRole", Body::new()),
        Call::new(name, path, ACCESSIBLE, "GetState", Body::new()),
    ]
}

/// The answers about an object.
#[derive(Debug, Clone, Default)]
struct Description {
    title: String,
    role: Option<u32>,
    states: StateSet,
    /// How many answers came, errors included.
    answers: usize,
}

/// Records the answer to request `i`.
fn note(described: &mut [Description], i: usize, reply: bus::Reply) {
    let Some(description) = described.get_mut(i / QUESTIONS) else {
        return;
    };
    description.answers += 1;
    let Ok(message) = reply else { return };
    let mut reader = message.reader();
    match i % QUESTIONS {
        0 => description.title = kept(reader.variant_str().unwrap_or_default()).to_owned(),
        1 => description.role = reader.u32().ok(),
        _ => description.states = decode::states(&mut reader).unwrap_or_default(),
    }
}

impl Description {
    /// The toplevel, if it is visible.
    fn toplevel(self, pid: u32, (name, path): &Object) -> Option<AppToplevel> {
        let shows = self.states.has(StateSet::SHOWING) && !self.role.is_none_or(role::pops_up);
        shows.then(|| {
            let object = format!("{name}{path}");
            AppToplevel {
                id: id_of(&object),
                object,
                pid,
                title: self.title,
                active: self.states.has(StateSet::ACTIVE),
                silent: false,
                shell: process::name(pid) == GNOME_SHELL,
                focused: self.states.has(StateSet::FOCUSED),
            }
        })
    }
}

fn id_of(object: &str) -> WindowId {
    let mut hasher = DefaultHasher::new();
    object.hash(&mut hasher);
    WindowId(hasher.finish() >> 1)
}

fn object(r: &mut Reader<'_>) -> Result<Object, bus::WireError> {
    let (name, path) = r.object()?;
    Ok((name.to_owned(), path.to_owned()))
}

/// Turns a timeout into success, because the replies that came before the deadline are used.
fn unless_late(asked: bus::Result) -> bus::Result {
    match asked {
        Err(bus::Error::Timeout) => Ok(()),
        other => other,
    }
}
