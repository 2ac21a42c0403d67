//! What the person who set the server up allows.

use std::time::Duration;

use crate::error::{Error, Result};
use crate::guard::Guarding;

/// Bounds on what links may read and touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Where not empty, only apps whose name contains one of these (case-insensitive).
    pub allow: Vec<String>,
    /// Never apps whose name contains one of these (case-insensitive).
    pub deny: Vec<String>,
    /// For reading what is not showing, a traversal.
    pub budget: Duration,
    /// Whether and how the person's input is kept out while the agent's goes in.
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
    /// Whether some apps are out of bounds.
    pub fn is_bounded(&self) -> bool {
        !self.allow.is_empty() || !self.deny.is_empty()
    }

    /// Whether links may read and touch this app.
    pub fn permits(&self, app: &str) -> bool {
        let app = app.to_lowercase();
        let names = |list: &[String]| list.iter().any(|name| app.contains(&name.to_lowercase()));
        !names(&self.deny) && (self.allow.is_empty() || names(&self.allow))
    }

    /// An error for an app that is out of bounds.
    pub(crate) fn permit(&self, app: &str, pid: u32) -> Result<()> {
        if self.permits(app) {
            return Ok(());
        }
        Err(out_of_bounds(&format!("{app} (pid {pid})")))
    }

    /// An error where the app to open is out of bounds by its identifier already.
    pub(crate) fn permit_identifier(&self, identifier: &str) -> Result<()> {
        let denied = Self {
            allow: Vec::new(),
            ..self.clone()
        };
        if denied.permits(identifier) {
            Ok(())
        } else {
            Err(out_of_bounds(identifier))
        }
    }
}

fn out_of_bounds(what: &str) -> Error {
    Error::Input(format!(
        "{what} is out of bounds: the person who set Deskline up allows only other apps \
         (--allow-app, --deny-app). Nothing was touched; do not look for a way around"
    ))
}

#[cfg(test)]
mod tests {
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
}
