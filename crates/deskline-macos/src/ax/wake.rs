//! Makes Chromium and Electron build their trees, which they do only on request.
//!
//! Electron reacts to `AXManualAccessibility`, Chromium's browsers to `AXEnhancedUserInterface`,
//! which `VoiceOver` sets. Other apps react to the latter with slower animations, so only apps that
//! contain Chromium get it.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use deskline_core::{Role, Tree};

use crate::os::{Ax, AxError, NewValue, Os};

/// How long an app may take to build its tree after that: both wait 2 s for a further request first
/// (different-ai/openwork #4595), then build.
pub(crate) const WAKES: Duration = Duration::from_millis(3_500);

/// The polling interval: no notification covers both.
pub(crate) const LOOK: Duration = Duration::from_millis(100);

/// The apps that were asked already: pid and start time.
#[derive(Debug, Default)]
pub(crate) struct Woken(HashSet<(u32, u64)>);

impl Woken {
    /// Asks an app once to build its tree. Whether a tree may follow.
    ///
    /// Electron before 26 answers -25205 and builds it all the same (electron/electron #38102), and
    /// so do some with -25208: of an app that contains Chromium these are no refusal.
    pub(crate) fn wake<O: Os>(&mut self, os: &O, pid: u32) -> bool {
        let started = os.process(pid).map_or(0, |p| p.started);
        if !self.0.insert((pid, started)) {
            return false;
        }
        let app = os.application(pid);
        let on = NewValue::Bool(true);
        let manual = os.set(&app, "AXManualAccessibility", &on);
        if manual.is_ok() || !os.app(pid).is_some_and(|a| is_chromium(&a.path)) {
            return manual.is_ok();
        }
        let may = |answer: Ax<()>| {
            matches!(
                answer,
                Ok(()) | Err(AxError::ATTRIBUTE_UNSUPPORTED | AxError::NOT_IMPLEMENTED)
            )
        };
        // Do not repeat a request that may have arrived: each one starts the wait anew.
        may(manual) || may(os.set(&app, "AXEnhancedUserInterface", &on))
    }
}

/// Whether a bundle contains Chromium: its framework contains the renderer's helper apps.
fn is_chromium(bundle: &Path) -> bool {
    let Ok(frameworks) = std::fs::read_dir(bundle.join("Contents/Frameworks")) else {
        return false;
    };
    // A bundle has only a few frameworks.
    frameworks.flatten().take(200).any(|framework| {
        let current = framework.path().join("Versions/Current");
        current.join("Resources/chrome_100_percent.pak").exists()
            || current.join("Helpers/chrome_crashpad_handler").exists()
    })
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
