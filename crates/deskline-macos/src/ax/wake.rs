//! Makes Chromium and Electron build their trees, which they do only on request.
//!
//! Electron reacts to `AXManualAccessibility`, Chromium's browsers to `AXEnhancedUserInterface`,
//! which `VoiceOver` sets. Other apps react to the latter with slower animations, so only apps that
//! contain Chromium get it.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use deskline_core::{Role, Tree};
use deskline_input::clock::Instant;

use crate::os::{Ax, AxError, NewValue, Os};
use crate::{front, windows};

/// How long an app may take to build its tree after the request: Electron and Chromium at first
/// wait 2 s for a further request (different-ai/openwork #4595), and then build it.
pub(crate) const WAKES: Duration = Duration::from_millis(3_500);

/// How often to check whether the page has come: no notification reports it in both Electron and
/// Chromium.
pub(crate) const LOOK: Duration = Duration::from_millis(100);

const MANUAL: &str = "AXManualAccessibility";
const ENHANCED: &str = "AXEnhancedUserInterface";

/// How often in a row to wait for a page that does not come.
const WAITS: u32 = 2;

/// The apps that were already asked to build their trees, by their pids and start times.
pub(crate) struct Woken<O: Os> {
    os: O,
    asked: HashMap<(u32, u64), Asked>,
}

#[derive(Clone, Copy)]
struct Asked {
    /// The attribute by which the app was asked.
    name: &'static str,
    /// Whether the app may still build its tree, judged by its answer to the request.
    may: bool,
    /// When the app was asked last; `None` if it may be asked again at once.
    at: Option<Instant>,
    /// How often the app was asked in a row; 0 once the page has come.
    times: u32,
    /// Whether the request was withdrawn, and whether it must stay because the page went away when
    /// an earlier request was withdrawn.
    withdrawn: bool,
    stays: bool,
}

impl<O: Os> Woken<O> {
    pub(crate) fn new(os: O) -> Self {
        Self {
            os,
            asked: HashMap::new(),
        }
    }

    /// Asks an app that shows no page to build its tree. Returns whether to wait for it.
    ///
    /// Electron may ignore the first request (FuJacob/cotabby #671), and loses its tree with its
    /// renderer, so requests are repeated. But each request makes the app wait anew, so the next
    /// one is made only after [`WAKES`].
    ///
    /// Electron before 26 answers -25205 (no such attribute) but builds the tree (electron/electron
    /// #38102). Some Electron apps build it after answering -25208 (not implemented). From other
    /// apps with Chromium these answers are refusals.
    pub(crate) fn wake(&mut self, pid: u32) -> bool {
        let key = (pid, self.os.process(pid).map_or(0, |p| p.started));
        let before = self.asked.get(&key);
        let is_soon = |at: Instant| at.elapsed() < WAKES;
        if before.is_some_and(|asked| !asked.may || asked.at.is_some_and(is_soon)) {
            return false;
        }
        let times = before.map_or(0, |asked| asked.times) + 1;
        let (app, on) = (self.os.application(pid), NewValue::Bool(true));
        let manual = self.os.set(&app, MANUAL, &on);
        let path = self.os.app(pid).map(|app| app.path).unwrap_or_default();
        let (name, may) = match engine(&path) {
            _ if manual.is_ok() => (MANUAL, true),
            // Do not repeat a request that may have arrived: each one starts the wait anew.
            Some(Engine::Electron) => (MANUAL, may_follow(manual)),
            Some(Engine::Chromium) => (ENHANCED, may_follow(self.os.set(&app, ENHANCED, &on))),
            None => (MANUAL, false),
        };
        let at = Some(Instant::now());
        let asked = Asked {
            name,
            may,
            at,
            times,
            withdrawn: false,
            stays: before.is_some_and(|asked| asked.withdrawn || asked.stays),
        };
        self.asked.insert(key, asked);
        may && times <= WAITS
    }

    /// Withdraws the requests to browsers whose pages have come: while a request stands, other
    /// programs cannot move the browser's windows. Chrome keeps its page, because reading a role
    /// has turned on a basic mode of accessibility too.
    pub(crate) fn rest(&mut self) {
        for ((pid, _), asked) in &mut self.asked {
            let came = asked.name == ENHANCED && asked.times == 0;
            if came && !asked.withdrawn && !asked.stays {
                asked.withdrawn = true;
                withdraw(&self.os, *pid, ENHANCED);
            }
        }
    }

    /// Lets the app be asked again at once, because it has come to the front, or because it shows a
    /// page (`has_page`).
    pub(crate) fn renew(&mut self, pid: u32, has_page: bool) {
        for (_, asked) in self.asked.iter_mut().filter(|((of, _), _)| *of == pid) {
            asked.at = None;
            if has_page {
                asked.times = 0;
            }
        }
    }
}

impl<O: Os> Drop for Woken<O> {
    /// Withdraws the requests when this server ends: VS Code and Cursor take a request for the sign
    /// of a screen reader, and Chromium spends time on its tree.
    fn drop(&mut self) {
        for ((pid, started), asked) in self.asked.drain().filter(|(_, asked)| !asked.withdrawn) {
            if self.os.process(pid).is_some_and(|p| p.started == started) {
                withdraw(&self.os, pid, asked.name);
            }
        }
    }
}

fn withdraw<O: Os>(os: &O, pid: u32, name: &'static str) {
    let app = os.application(pid);
    os.set_timeout(&app, front::SAYS);
    let _ = os.set(&app, name, &NewValue::Bool(false));
}

fn may_follow(answer: Ax<()>) -> bool {
    matches!(
        answer,
        Ok(()) | Err(AxError::ATTRIBUTE_UNSUPPORTED | AxError::NOT_IMPLEMENTED)
    )
}

enum Engine {
    Electron,
    Chromium,
}

/// The engine of the app in a bundle, if the app contains Chromium: one of its frameworks then has
/// Chromium's resources or crash handler.
fn engine(bundle: &Path) -> Option<Engine> {
    let frameworks = std::fs::read_dir(bundle.join("Contents/Frameworks")).ok()?;
    // A bundle has only a few frameworks.
    frameworks.flatten().take(200).find_map(|framework| {
        let path = framework.path();
        // The framework of CEF (Spotify) has no folder of versions.
        let is = [path.join("Versions/Current"), path.clone()]
            .iter()
            .any(|current| {
                current.join("Resources/chrome_100_percent.pak").exists()
                    || current.join("Helpers/chrome_crashpad_handler").exists()
            });
        let electron = path
            .file_name()
            .is_some_and(|name| name == "Electron Framework.framework");
        is.then_some(if electron {
            Engine::Electron
        } else {
            Engine::Chromium
        })
    })
}

/// Notes in the tree if another window covers the app's: Chromium may not update its tree meanwhile
/// (trycua/cua #1367).
pub(crate) fn note_covered<O: Os>(os: &O, tree: &mut Tree) {
    let pid = tree.app.pid;
    let is_chromium = || os.app(pid).is_some_and(|app| engine(&app.path).is_some());
    if has_page(tree) && is_chromium() && windows::is_covered(os, pid) {
        tree.partial.push(
            "another window covers the app's: Chromium may not report what changes meanwhile. A \
             tool that sends input brings it to the front"
                .into(),
        );
    }
}

/// Whether the tree contains a page with contents.
pub(crate) fn has_page(tree: &Tree) -> bool {
    tree.elements.iter().any(|element| {
        element
            .parent
            .and_then(|p| tree.elements.get(p))
            .is_some_and(|parent| parent.role == Role::WEB_AREA)
    })
}
