//! The permissions that the person who set up the server has given.

use std::time::Duration;

use deskline_core::escape;

use crate::apps::Identity;
use crate::desktop::Desktop;
use crate::error::{Error, Result};
use crate::guard::Guarding;

/// A running process. `own` is its own name for itself: the only one if the system reports none.
pub fn identify(desktop: &mut dyn Desktop, own: &str, pid: u32) -> Identity {
    let mut names = desktop.names_of(pid);
    if names.is_empty() {
        names.push(own.to_owned());
    }
    Identity {
        names,
        claims: vec![own.to_owned()],
    }
}

/// Bounds on what links may read and touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// If not empty, only apps with a name that contains one of these (case-insensitive) are
    /// allowed.
    pub allow: Vec<String>,
    /// Apps with a name or claim that contains one of these (case-insensitive) are never allowed.
    pub deny: Vec<String>,
    /// The time per traversal for reading elements that are not showing.
    pub budget: Duration,
    /// Whether and how the person's devices are grabbed while the agent's input is sent.
    pub guard: Guarding,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            allow: Vec::new(),
            deny: Vec::new(),
            budget: Duration::from_millis(500),
            guard: Guarding::default(),
        }
    }
}

impl Policy {
    /// Whether any apps are excluded.
    pub fn is_bounded(&self) -> bool {
        !self.allow.is_empty() || !self.deny.is_empty()
    }

    /// Whether links may read and touch this app.
    pub fn permits(&self, app: &Identity) -> bool {
        !self.denies(app) && self.allows(app)
    }

    fn denies(&self, app: &Identity) -> bool {
        app.names
            .iter()
            .chain(&app.claims)
            .any(|name| matches(name, &self.deny))
    }

    fn allows(&self, app: &Identity) -> bool {
        self.allow.is_empty() || app.names.iter().any(|name| matches(name, &self.allow))
    }

    /// Whether links may read and touch this process, which calls itself `own`.
    pub(crate) fn permits_process(&self, desktop: &mut dyn Desktop, own: &str, pid: u32) -> bool {
        !self.is_bounded() || self.permits(&identify(desktop, own, pid))
    }

    /// Fails where an agent could give itself permissions, or take those that Deskline needs,
    /// unless the app is allowed by name. Nobody is harmed on a private desktop.
    fn permit_permissions(&self, desktop: &mut dyn Desktop, own: &str, pid: u32) -> Result<()> {
        let named = !self.allow.is_empty() && self.allows(&identify(desktop, own, pid));
        if desktop.is_private() || named || !desktop.shows_permissions(pid) {
            return Ok(());
        }
        let app = escape::name(own, 40);
        Err(Error::OutOfBounds {
            what: format!("{app} (pid {pid}), which shows the permissions of programs,"),
            names: Vec::new(),
            bounds: format!(
                "Only the person changes these. Ask them to, or to start Deskline with \
                 --allow-app '{app}'"
            ),
        })
    }

    /// Fails if this process is blocked. `own` is its own name for itself.
    pub(crate) fn permit(&self, desktop: &mut dyn Desktop, own: &str, pid: u32) -> Result<()> {
        self.permit_permissions(desktop, own, pid)?;
        if !self.is_bounded() {
            return Ok(());
        }
        let app = identify(desktop, own, pid);
        if self.permits(&app) {
            return Ok(());
        }
        let what = format!("{} (pid {pid})", escape::name(own, 40));
        Err(self.out_of_bounds(&what, own, &app))
    }

    /// Fails if the identifier of the app to open is denied by itself.
    pub(crate) fn permit_identifier(&self, identifier: &str) -> Result<()> {
        if self.deny.iter().any(|word| contains(identifier, word)) {
            return Err(self.out_of_bounds(identifier, identifier, &Identity::default()));
        }
        Ok(())
    }

    /// Fails if the app to open is excluded. One that is not known may be a denied one.
    pub(crate) fn permit_start(&self, app: &Identity) -> Result<()> {
        if !self.is_bounded() || (!app.names.is_empty() && self.permits(app)) {
            return Ok(());
        }
        let unknown = "a command whose app is not known before it runs";
        let name = app.names.first().map_or(unknown, String::as_str);
        Err(self.out_of_bounds(name, name, app))
    }

    /// The allowed apps, as a sentence without a full stop.
    pub(crate) fn bounds(&self) -> String {
        let list = |names: &[String]| {
            let quoted: Vec<String> = names.iter().map(|n| format!("'{n}'")).collect();
            quoted.join(", ")
        };
        match (self.allow.is_empty(), self.deny.is_empty()) {
            (false, true) => format!("Allowed are apps named {}", list(&self.allow)),
            (true, false) => format!("Allowed are all apps but those named {}", list(&self.deny)),
            (false, false) => format!(
                "Allowed are apps named {}, but not {}",
                list(&self.allow),
                list(&self.deny)
            ),
            (true, true) => "All apps are allowed".to_owned(),
        }
    }

    /// The error for a blocked app. Adds the system's names for it if they differ from its own.
    fn out_of_bounds(&self, what: &str, called: &str, app: &Identity) -> Error {
        let names = app.names.iter().filter(|name| *name != called);
        Error::OutOfBounds {
            what: what.to_owned(),
            names: names.cloned().collect(),
            bounds: self.bounds(),
        }
    }
}

/// Whether `name` contains one of these, ignoring case. A path does only with a word that has a
/// `/`: `lib` is not each app in `/usr/lib`.
fn matches(name: &str, words: &[String]) -> bool {
    let is_path = name.starts_with('/');
    let fit = |word: &&String| !is_path || word.contains('/');
    words.iter().filter(fit).any(|word| contains(name, word))
}

fn contains(name: &str, word: &str) -> bool {
    name.to_lowercase().contains(&word.to_lowercase())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn policy(allow: &[&str], deny: &[&str]) -> Policy {
        Policy {
            allow: allow.iter().map(|s| (*s).to_owned()).collect(),
            deny: deny.iter().map(|s| (*s).to_owned()).collect(),
            ..Policy::default()
        }
    }

    fn app(names: &[&str], claims: &[&str]) -> Identity {
        Identity {
            names: names.iter().map(|s| (*s).to_owned()).collect(),
            claims: claims.iter().map(|s| (*s).to_owned()).collect(),
        }
    }

    #[test]
    fn deny_beats_allow_and_case_does_not_matter() {
        let policy = policy(&["Pad"], &["secret"]);
        let permits = |name| policy.permits(&app(&[name], &[]));
        assert!(permits("mousepad"));
        assert!(!permits("SecretPad"));
        assert!(!permits("kcalc"));
        assert!(!permits("/opt/pad/evil"));
        assert!(policy.permit_identifier("anything").is_ok());
        assert!(policy.permit_identifier("secretpad").is_err());
    }

    #[test]
    fn an_app_to_open_must_be_allowed_by_a_name_and_denied_by_none() {
        let permitted = |p: &Policy, names: &[&str]| p.permit_start(&app(names, &[])).is_ok();
        let calculator = policy(&["Calculator"], &[]);
        assert!(permitted(
            &calculator,
            &["Rechner", "org.gnome.Calculator", "gnome-calculator"]
        ));
        let refused = calculator.permit_start(&app(&["bash"], &[]));
        let refused = refused.unwrap_err().to_string();
        assert!(
            refused.contains("bash") && refused.contains("'Calculator'"),
            "{refused}"
        );
        assert!(!permitted(&calculator, &[]));
        let denied = policy(&[], &["firefox"]);
        assert!(permitted(&denied, &["mousepad"]));
        assert!(!permitted(&denied, &["Web Browser", "firefox-esr"]));
        assert!(!permitted(&denied, &[]));
        assert!(permitted(&policy(&[], &[]), &[]));
    }

    #[test]
    fn an_apps_own_name_can_deny_it_and_never_allow_it() {
        let claims = |p: &Policy, claim| p.permits(&app(&["thing"], &[claim]));
        assert!(!claims(&policy(&[], &["vault"]), "My Vault"));
        assert!(claims(&policy(&[], &["vault"]), "Calculator"));
        assert!(!claims(&policy(&["Calculator"], &[]), "Calculator"));
    }
}
