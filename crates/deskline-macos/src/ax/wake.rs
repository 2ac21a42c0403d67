//! Makes Chromium and Electron build their trees, which they do only on request.
//!
//! Electron reacts to `AXManualAccessibility`, Chromium's browsers to `AXEnhancedUserInterface`,
//! which `VoiceOver` sets. Other apps react to the latter with slower animations, so only apps that
//! contain Chromium get it.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use deskline_core::{Role, Tree};

use crate::os::{NewValue, Os};

/// How long an app may take to build its tree after that.
pub(crate) const WAKES: Duration = Duration::from_millis(1_500);

/// The polling interval: no notification covers both.
pub(crate) const LOOK: Duration = Duration::from_millis(30);

/// The apps that were asked already: pid and start time.
#[derive(Debug, Default)]
pub(crate) struct Woken(HashSet<(u32, u64)>);

impl Woken {
    /// Asks an app once to build its tree. Returns whether the app accepted, so that a tree will
    /// follow.
    pub(crate) fn wake<O: Os>(&mut self, os: &O, pid: u32) -> bool {
        let started = os.process(pid).map_or(0, |p| p.started);
        if !self.0.insert((pid, started)) {
            return false;
        }
        let app = os.application(pid);
        let on = NewValue::Bool(true);
        if os.set(&app, "AXManualAccessibility", &on).is_ok() {
            return true;
        }
        let running = os.apps().into_iter().find(|a| a.pid == pid);
        running.is_some_and(|a| is_chromium(&a.path))
            && os.set(&app, "AXEnhancedUserInterface", &on).is_ok()
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
