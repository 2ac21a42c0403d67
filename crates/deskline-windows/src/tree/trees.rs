//! The trees of apps on UI Automation.

use deskline_contract::{Cancel, Deed, Error, Result, Scope, Sign, WindowHint, wait};
use std::collections::HashMap;
use std::time::{Duration, Instant};

use deskline_core::{ElementId, Tree};

use super::fail::{failed, no_window};
use super::identity::Identities;
use super::listen::Listening;
use super::toplevels::toplevels;
use super::uia::{Depth, Failure, Uia};
use super::walk::Walk;
use super::{act, build};
use crate::os;

/// The state of the trees of all apps.
pub(crate) struct AppTrees<U: Uia> {
    uia: U,
    identities: Identities<U::Element>,
    /// The subscription to the app that a link has listened to last. A new subscription for each
    /// link would slow apps (<https://github.com/nvaccess/nvda/issues/7345>).
    listening: Option<Listening<U>>,
    /// The processes that are read level by level, with their start times.
    by_levels: HashMap<u32, u64>,
    /// How many waits for the page of a process were in vain, by the process and its start time.
    /// [`MOST_WAITS`] once the page has come.
    waits: HashMap<(u32, u64), u32>,
}

/// How long a browser may take to create the elements of a page, from the first request for them
/// on. VS Code takes up to 3 s.
const WAKES: Duration = Duration::from_secs(3);

const LOOK: Duration = Duration::from_millis(50);

/// How many times to wait for the page of a process: its window may stay without a page.
const MOST_WAITS: u32 = 3;

impl<U: Uia> AppTrees<U> {
    pub(crate) fn new(uia: U) -> Self {
        Self {
            uia,
            identities: Identities::default(),
            listening: None,
            by_levels: HashMap::new(),
            waits: HashMap::new(),
        }
    }

    pub(crate) fn read(&mut self, pid: u32, scope: Scope) -> Result<Tree> {
        let start = Instant::now();
        Error::unless_own(pid)?;
        let process = os::process(pid).ok_or(Error::NoProcess(pid))?;
        let by_levels = self.by_levels.get(&pid) == Some(&process.started);
        let budget = match scope {
            Scope::Whole { budget } | Scope::Again { budget } => budget,
            Scope::Showing => Duration::ZERO,
        };
        let mut walk = Walk::run(&self.uia, pid, by_levels, budget);
        let waits = self.waits.entry((pid, process.started)).or_default();
        if *waits < MOST_WAITS {
            let cancel = Cancel::current();
            while walk.lacks_page() && start.elapsed() < WAKES && cancel.wait(LOOK).is_ok() {
                walk = Walk::run(&self.uia, pid, by_levels, budget);
            }
            walk.page_is_late = walk.lacks_page();
            *waits = if walk.page_is_late {
                *waits + 1
            } else {
                MOST_WAITS
            };
        }
        if walk.roots.is_empty() {
            return Err(match (&walk.failed, walk.hung.is_empty()) {
                (_, false) => failed(pid, &Failure::TimedOut),
                (Some(text), true) => {
                    let hint = WindowHint::SystemError(text.clone());
                    no_window(pid, hint)
                }
                (None, true) => no_window(pid, WindowHint::ClosedOrComing),
            });
        }
        if walk.by_levels {
            self.by_levels.insert(pid, process.started);
        }
        if scope != Scope::Showing {
            // Forget the elements of ended processes, and of this app: `build::tree` adds the app's
            // elements anew.
            let mut alive = HashMap::new();
            let is_alive = |pid: &u32| os::process(*pid).is_some();
            self.identities.retain(|_, known| {
                known.pid != pid && *alive.entry(known.pid).or_insert_with_key(is_alive)
            });
        }
        let app = (pid, &process);
        Ok(build::tree(&walk, app, &mut self.identities, scope, start))
    }

    pub(crate) fn listen(&mut self, pid: u32) -> Result<()> {
        let app = (pid, os::process(pid).map(|process| process.started));
        if let Some(known) = self.listening.as_ref().filter(|known| known.app == app) {
            known.go_on();
            return Ok(());
        }
        self.listening = None;
        let listening = Listening::to(&self.uia, app);
        self.listening = Some(listening.map_err(|failure| failed(pid, &failure))?);
        Ok(())
    }

    /// The frameworks of the frontmost window and of its children: a browser's page is in a window
    /// of Win32.
    pub(crate) fn toolkit(&self, pid: u32) -> Option<String> {
        let window = toplevels(pid).into_iter().next()?;
        let window = self.uia.window(window.id, Depth::Element).ok()?;
        let mut found = vec![window.raw.framework];
        let inside = self.uia.children(&window.element).unwrap_or_default();
        found.extend(inside.into_iter().map(|child| child.raw.framework));
        found.retain(|framework| !framework.is_empty());
        found.dedup();
        found.truncate(3);
        Some(found.join("/"))
    }

    pub(crate) fn wait_for_change(&mut self, time: Duration) -> Option<Sign> {
        if let Some(listening) = &self.listening {
            return listening.signs.wait(time);
        }
        wait::pause(time);
        None
    }

    pub(crate) fn act(&self, id: &ElementId, deed: Deed<'_>) -> Result<bool> {
        act::act(&self.uia, &self.identities, id, deed)
    }
}

/// Checks whether the app answers at all, by a request to its frontmost window.
pub(crate) fn answers<U: Uia>(uia: &U, pid: u32) -> Result<()> {
    let Some(front) = toplevels(pid).into_iter().next() else {
        return Ok(());
    };
    match uia.window(front.id, Depth::Element) {
        Err(failure @ Failure::TimedOut) if os::process(pid).is_some() => {
            Err(failed(pid, &failure))
        }
        _ => Ok(()),
    }
}
