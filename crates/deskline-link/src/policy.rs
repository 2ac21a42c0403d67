//! What the person who set up the server allows.

use std::time::Duration;

use deskline_core::escape;

use crate::error::{Error, Result};
use crate::guard::Guarding;

/// Bounds on what links may read and touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// If not empty, only apps whose name contains one of these (case-insensitive) are allowed.
    pub allow: Vec<String>,
    /// Apps whose name contains one of these (case-insensitive) are never allowed.
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
    pub fn permits(&self, app: &str) -> bool {
        let app = app.to_lowercase();
        let names = |list: &[String]| list.iter().any(|name| app.contains(&name.to_lowercase()));
        !names(&self.deny) && (self.allow.is_empty() || names(&self.allow))
    }

    /// Fails if this app is excluded.
    pub(crate) fn permit(&self, app: &str, pid: u32) -> Result<()> {
        if self.permits(app) {
            return Ok(());
        }
        Err(self.out_of_bounds(&format!("{app} (pid {pid})")))
    }

    /// Fails if the identifier of the app to open is denied by itself.
    pub(crate) fn permit_identifier(&self, identifier: &str) -> Result<()> {
        let denied = Self {
            allow: Vec::new(),
            ..self.clone()
        };
        if denied.permits(identifier) {
            Ok(())
        } else {
            Err(self.out_of_bounds(identifier))
        }
    }

    /// Fails if the app to open is excluded. `names` are the names that it is known by: none may be
    /// denied, and one must be allowed.
    pub(crate) fn permit_names(&self, names: &[&str]) -> Result<()> {
        let known: Vec<&str> = names.iter().copied().filter(|n| !n.is_empty()).collect();
        let denied = Self {
            allow: Vec::new(),
            ..self.clone()
        };
        let any_denied = known.iter().any(|name| !denied.permits(name));
        let any_allowed = self.allow.is_empty() || known.iter().any(|name| self.permits(name));
        // An app without a known name may be a denied one.
        let unknown = known.is_empty() && self.is_bounded();
        if !any_denied && any_allowed && !unknown {
            return Ok(());
        }
        Err(self.out_of_bounds(known.first().unwrap_or(&"an app without a known name")))
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

    fn out_of_bounds(&self, what: &str) -> Error {
        Error::Input(format!(
            "{} is out of bounds, which the person who set Deskline up has drawn (--allow-app, \
             --deny-app). {}. Nothing was touched; do not look for a way around",
            escape::short(what, 60),
            self.bounds()
        ))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn deny_beats_allow_and_case_does_not_matter() {
        let policy = Policy {
            allow: vec!["Pad".into()],
            deny: vec!["secret".into()],
            ..Policy::default()
        };
        assert!(policy.permits("mousepad"));
        assert!(!policy.permits("SecretPad"));
        assert!(!policy.permits("kcalc"));
        assert!(policy.permit_identifier("anything").is_ok());
        assert!(policy.permit_identifier("secretpad").is_err());
    }

    #[test]
    fn an_app_to_open_must_be_allowed_by_a_name_and_denied_by_none() {
        let policy = |allow: &[&str], deny: &[&str]| Policy {
            allow: allow.iter().map(|s| (*s).to_owned()).collect(),
            deny: deny.iter().map(|s| (*s).to_owned()).collect(),
            ..Policy::default()
        };
        let calculator = policy(&["Calculator"], &[]);
        let permitted = |p: &Policy, names: &[&str]| p.permit_names(names).is_ok();
        assert!(permitted(
            &calculator,
            &["Rechner", "org.gnome.Calculator", "gnome-calculator"]
        ));
        let refused = calculator.permit_names(&["bash"]).unwrap_err().to_string();
        assert!(
            refused.contains("bash") && refused.contains("'Calculator'"),
            "{refused}"
        );
        assert!(!permitted(&calculator, &[]));
        let denied = policy(&[], &["firefox"]);
        assert!(permitted(&denied, &["mousepad"]));
        assert!(!permitted(&denied, &["Web Browser", "firefox-esr"]));
        assert!(!permitted(&denied, &[""]));
        assert!(permitted(&policy(&[], &[]), &[]));
    }
}
