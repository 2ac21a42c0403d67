//! The toplevels of all apps on the bus, as the apps describe them. Where no display system lists
//! windows, these stand for them.

use std::time::{Duration, Instant};

use deskline_core::Rect;

use crate::app_toplevel::AppToplevel;
use crate::atspi::{AtSpi, Listed};
use crate::bus::{self, Body, Call, Reader};
use crate::decode::{self, kept};
use crate::names::{ACCESSIBLE, COMPONENT, PROPERTIES, ROOT, StateSet, WINDOW, role};

/// How long the apps may take to answer, all together. A list must not wait for one that hangs.
const AT_ONCE: Duration = Duration::from_millis(200);

/// The maximum number of toplevels: an app may claim to have any number.
const MOST: usize = 1_000;

impl AtSpi {
    /// The toplevels that show, in the order of their apps and windows. Those of an app that does
    /// not answer within 200 ms are as they were when it last did.
    pub fn toplevels(&mut self) -> Result<Vec<AppToplevel>, bus::Error> {
        let apps = self.apps()?;
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

    /// The toplevels of these apps that show, and which apps did not answer all of it in time.
    pub(crate) fn toplevels_of(
        &mut self,
        apps: &[Listed],
    ) -> Result<(Vec<AppToplevel>, Vec<bool>), bus::Error> {
        let children = apps.iter().map(|app| Call {
            destination: &app.bus_name,
            path: ROOT,
            interface: ACCESSIBLE,
            member: "GetChildren",
            body: Body::new(),
        });
        let mut objects: Vec<(usize, String, String)> = Vec::new();
        let mut silent = vec![true; apps.len()];
        let deadline = Instant::now() + AT_ONCE;
        let asked = self.bus.batch(children, 64, deadline, |app, reply| {
            if let Some(silent) = silent.get_mut(app) {
                *silent = false;
            }
            let Ok(message) = reply else { return };
            // A malformed reply is no toplevel.
            let listed = message.reader().array(8, Reader::object);
            for (name, path) in listed.unwrap_or_default() {
                if objects.len() < MOST {
                    objects.push((app, name.to_owned(), path.to_owned()));
                }
            }
        });
        unless_late(asked)?;
        objects.sort_by_key(|(app, ..)| *app);
        let found = self.describe(apps, &objects, &mut silent)?;
        Ok((found, silent))
    }

    /// The bounds of a toplevel, as its app reports them; `None` where it does not answer within
    /// 200 ms.
    pub fn extents_of(&mut self, toplevel: &AppToplevel) -> Result<Option<Rect>, bus::Error> {
        let call = Call {
            destination: toplevel.bus_name(),
            path: toplevel.path(),
            interface: COMPONENT,
            member: "GetExtents",
            body: Body::new().u32(WINDOW),
        };
        match self.bus.call(&call, AT_ONCE) {
            Ok(message) => Ok(decode::extents(&message).filter(|e| !e.is_empty())),
            Err(bus::Error::Timeout | bus::Error::Remote { .. }) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Asks each object for its name, role and states, and keeps the toplevels that show. Marks the
    /// apps that do not answer all of it in time.
    fn describe(
        &mut self,
        apps: &[Listed],
        objects: &[(usize, String, String)],
        silent: &mut [bool],
    ) -> Result<Vec<AppToplevel>, bus::Error> {
        let about = |(_, name, path): &'_ (usize, String, String)| {
            let accessible = |member, body| (name.clone(), path.clone(), member, body);
            let property = Body::new().str(ACCESSIBLE).str("Name");
            [
                accessible("Get", property),
                accessible("GetRole", Body::new()),
                accessible("GetState", Body::new()),
            ]
        };
        let asked: Vec<_> = objects.iter().flat_map(about).collect();
        let calls = asked.iter().map(|(name, path, member, body)| Call {
            destination: name,
            path,
            interface: if *member == "Get" {
                PROPERTIES
            } else {
                ACCESSIBLE
            },
            member,
            body: body.clone(),
        });
        let mut found: Vec<(Option<u32>, StateSet, String)> =
            vec![Default::default(); objects.len()];
        let mut answers = vec![0; objects.len()];
        let deadline = Instant::now() + AT_ONCE;
        let done = self.bus.batch(calls, 64, deadline, |i, reply| {
            if let Some(answers) = answers.get_mut(i / 3) {
                *answers += 1;
            }
            let (Ok(message), Some(found)) = (reply, found.get_mut(i / 3)) else {
                return;
            };
            let mut reader = message.reader();
            match i % 3 {
                0 => found.2 = kept(reader.variant_str().unwrap_or_default()).to_owned(),
                1 => found.0 = reader.u32().ok(),
                _ => found.1 = decode::states(&mut reader).unwrap_or_default(),
            }
        });
        unless_late(done)?;
        for ((app, ..), answers) in objects.iter().zip(answers) {
            silent[*app] |= answers < 3;
        }
        let toplevel =
            |((app, name, path), (number, states, title)): (&(usize, String, String), _)| {
                let (number, states): (Option<u32>, StateSet) = (number, states);
                let shows = states.has(StateSet::SHOWING) && !number.is_none_or(role::pops_up);
                shows.then(|| AppToplevel {
                    pid: apps[*app].pid,
                    id: format!("{name}{path}"),
                    title,
                    active: states.has(StateSet::ACTIVE),
                    silent: false,
                })
            };
        Ok(objects.iter().zip(found).filter_map(toplevel).collect())
    }
}

/// Use the replies that arrived before the deadline.
fn unless_late(asked: Result<(), bus::Error>) -> Result<(), bus::Error> {
    match asked {
        Err(bus::Error::Timeout) => Ok(()),
        other => other,
    }
}
