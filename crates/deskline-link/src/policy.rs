//! The permissions that the person who set up the server has given.

use deskline_core::escape;

use crate::apps::{Identity, identify};
use crate::desktop::Desktop;
use crate::error::{Error, Result, Unasked};
use crate::grants::{Grants, Kept, Question, is_same};
use crate::guard::Guarding;
use crate::keepers::is_keeper;
use crate::question::Alert;

/// Bounds on what links may read and touch.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// If not empty, only apps that have one of these names are allowed. A path that ends in a
    /// slash stands for every app below it.
    pub allow: Vec<String>,
    /// Apps with a name or claim that contains one of these (case-insensitive) are never allowed.
    pub deny: Vec<String>,
    /// Whether apps may be opened with any arguments even if some apps are excluded.
    pub commands: bool,
    /// The person's answers about apps.
    pub grants: Grants,
    /// Whether and how the person's devices are grabbed while the agent's input is sent.
    pub guard: Guarding,
}

impl Policy {
    /// Whether any apps are excluded.
    pub fn is_bounded(&self) -> bool {
        let never = |kept: &Kept| *kept == Kept::Never;
        let kept = || self.grants.kept();
        let denies = || kept().map_or(true, |kept| kept.0.values().any(never));
        !self.allow.is_empty() || !self.deny.is_empty() || denies()
    }

    /// Whether a link has to read the app's tree before it acts, so that the policy can be checked.
    pub(crate) fn needs_tree(&self) -> bool {
        self.grants.asks || self.is_bounded()
    }

    /// Whether links may read and touch this app.
    pub fn permits(&self, app: &Identity) -> bool {
        let never = || {
            self.grants
                .about(app)
                .map_or(true, |kept| kept == Some(Kept::Never))
        };
        !self.denies(app) && self.allows(app) && !never()
    }

    fn denies(&self, app: &Identity) -> bool {
        all_names(app).any(|name| matches(name, &self.deny))
    }

    fn allows(&self, app: &Identity) -> bool {
        let is = |rule: &String| app.names.iter().any(|name| is_rule(rule, name));
        self.allow.is_empty() || self.allow.iter().any(is)
    }

    /// Whether the person who set up the server has allowed this app by name.
    fn names(&self, app: &Identity) -> bool {
        let granted = || matches!(self.grants.about(app), Ok(Some(Kept::Always)));
        !self.allow.is_empty() && self.allows(app) || granted()
    }

    /// The name that a process gives itself. Empty if no app is excluded, because the name does not
    /// matter then. `None` if the process is not listed.
    pub(crate) fn own_name(&self, desktop: &mut dyn Desktop, pid: u32) -> Result<Option<String>> {
        if !self.is_bounded() {
            return Ok(Some(String::new()));
        }
        let mut listed = desktop.applications()?.into_iter();
        let listed = listed.find(|listed| listed.app.pid == pid);
        Ok(listed.map(|listed| listed.app.name))
    }

    /// Whether links may read and touch this process, which calls itself `own`.
    pub(crate) fn permits_process(&self, desktop: &mut dyn Desktop, own: &str, pid: u32) -> bool {
        self.permit(desktop, own, pid).is_ok()
    }

    /// Fails if the app shows permissions or keeps passwords, and the person has not allowed it by
    /// name: an agent could grant itself permissions, revoke Deskline's, or read passwords. Allows
    /// all on a private desktop, where nothing of the person's is at risk.
    fn permit_delicate(
        &self,
        desktop: &mut dyn Desktop,
        own: &str,
        pid: u32,
        app: &Identity,
    ) -> Result<()> {
        if desktop.is_private() {
            return Ok(());
        }
        let what = format!("{} (pid {pid})", escape::name(own, 40));
        if desktop.shows_permissions(pid) && !self.names(app) {
            let why = "shows the permissions of programs";
            return Err(delicate(&what, why, app));
        }
        self.permit_keeper(&what, app)
    }

    fn permit_keeper(&self, what: &str, app: &Identity) -> Result<()> {
        if is_keeper(all_names(app)) && !self.names(app) {
            return Err(delicate(what, "keeps or asks for passwords", app));
        }
        Ok(())
    }

    /// Fails if this process is blocked. `own` is the name that the process gives itself.
    pub(crate) fn permit(&self, desktop: &mut dyn Desktop, own: &str, pid: u32) -> Result<()> {
        let app = identify(desktop, own, pid);
        self.permit_delicate(desktop, own, pid, &app)?;
        if self.permits(&app) {
            return Ok(());
        }
        let what = format!("{} (pid {pid})", escape::name(own, 40));
        Err(self.blocked(&what, own, &app))
    }

    /// Fails if the person is to be asked before a link acts in this process.
    pub(crate) fn approve(&self, desktop: &mut dyn Desktop, pid: u32) -> Result<()> {
        if !self.grants.asks {
            return Ok(());
        }
        let app = desktop.known_as(pid);
        let name = app.names.first().map_or("", String::as_str);
        // Check the policy first: the person is not asked about an app that is denied.
        self.permit(desktop, name, pid)?;
        if let Some(since) = self.grants.shown()
            && desktop.may_be_clients(pid, since)
        {
            return Err(Error::asking(pid));
        }
        self.approve_app(&app, Some(pid))
    }

    fn approve_app(&self, app: &Identity, pid: Option<u32>) -> Result<()> {
        if !self.grants.asks || self.names(app) {
            return Ok(());
        }
        self.answered(app, Question::about(app, pid), None)
    }

    /// Fails unless the person has allowed what `question` asks. `approved` is the id of the
    /// question that they have approved for this call.
    fn answered(
        &self,
        app: &Identity,
        question: Option<Question>,
        approved: Option<&str>,
    ) -> Result<()> {
        match question {
            None => Err(self.blocked(UNKNOWN, UNKNOWN, app)),
            Some(it) if approved == Some(&*it.id()) || self.grants.allows(&it) => Ok(()),
            Some(question) => Err(Error::Unapproved(Box::new(question), Unasked::Yet)),
        }
    }

    /// Fails if the person is to be asked before a link answers an alert of this process.
    /// `approved` is the id of the question that they have approved for this call.
    pub(crate) fn approve_answer(
        &self,
        desktop: &mut dyn Desktop,
        pid: u32,
        alert: impl FnOnce() -> Option<Alert>,
        approved: Option<&str>,
    ) -> Result<()> {
        let Some(alert) = self.grants.asks.then(alert).flatten() else {
            return Ok(());
        };
        let app = desktop.known_as(pid);
        let question = Question::about(&app, Some(pid)).map(|question| question.with(alert));
        self.answered(&app, question, approved)
    }

    /// Fails if the identifier of the app to open contains a denied name.
    pub(crate) fn permit_identifier(&self, identifier: &str) -> Result<()> {
        if self.deny.iter().any(|word| contains(identifier, word)) {
            return Err(self.blocked(identifier, identifier, &Identity::default()));
        }
        Ok(())
    }

    /// Fails if the app to open is excluded, or if the person has to be asked first. An app whose
    /// names are unknown is excluded as soon as any app is, because it may be the excluded one.
    pub(crate) fn permit_start(&self, app: &Identity, is_private: bool) -> Result<()> {
        if !is_private {
            let name = app.names.first().map_or(UNKNOWN, String::as_str);
            self.permit_keeper(&escape::short(name, 40), app)?;
        }
        let has_bounds = self.is_bounded() || self.grants.asks;
        if has_bounds && app.is_command && !self.commands {
            let bounds = format!("{PLAIN}. {}", self.bounds());
            return Err(Error::Blocked {
                what: "a command".to_owned(),
                names: Vec::new(),
                bounds,
            });
        }
        if !self.is_bounded() || (!app.names.is_empty() && self.permits(app)) {
            return self.approve_app(app, None);
        }
        let name = app.names.first().map_or(UNKNOWN, String::as_str);
        Err(self.blocked(name, name, app))
    }

    /// The allowed apps, as a sentence without a full stop.
    pub(crate) fn bounds(&self) -> String {
        let list = |names: &[String]| {
            let quoted: Vec<String> = names.iter().map(|n| format!("'{n}'")).collect();
            quoted.join(", ")
        };
        let never = |(app, kept): (String, Kept)| (kept == Kept::Never).then_some(app);
        let never: Vec<String> = match self.grants.kept() {
            Ok(kept) => kept.0.into_iter().filter_map(never).collect(),
            Err(e) => {
                return format!("The user's answers cannot be read, so nothing is allowed: {e}");
            }
        };
        let deny = [self.deny.as_slice(), &never].concat();
        match (self.allow.is_empty(), deny.is_empty()) {
            (false, true) => format!("Allowed are apps named {}", list(&self.allow)),
            (true, false) => format!("Allowed are all apps but those named {}", list(&deny)),
            (false, false) => format!(
                "Allowed are apps named {}, but not {}",
                list(&self.allow),
                list(&deny)
            ),
            (true, true) if self.grants.asks => {
                "The user is asked about each app. Open one by its name or path".to_owned()
            }
            (true, true) => "All apps are allowed".to_owned(),
        }
    }

    /// The error for a blocked app. Adds the system's names for the app if they differ from
    /// `called`.
    fn blocked(&self, what: &str, called: &str, app: &Identity) -> Error {
        let names = app.names.iter().filter(|name| *name != called);
        Error::Blocked {
            what: what.to_owned(),
            names: names.cloned().collect(),
            bounds: self.bounds(),
        }
    }
}

/// The error for an app that only the person uses.
fn delicate(what: &str, why: &str, app: &Identity) -> Error {
    let name = app.key.as_ref().or(app.names.first());
    let name = escape::short(name.map_or("", String::as_str), 120);
    Error::Blocked {
        what: format!("{what}, which {why},"),
        names: Vec::new(),
        bounds: format!(
            "Only the user may use it. Ask them to act there, or to run: deskline grants allow '{name}'"
        ),
    }
}

const UNKNOWN: &str = "a command whose app is unknown until it runs";

/// What can be opened if apps are excluded or the person is asked.
const PLAIN: &str = "Open takes an app's name, id or path here, alone or with one document. \
    Options, interpreters and programs that run others are not taken, unless the user allows them \
    with --allow-commands";

fn all_names(app: &Identity) -> impl Iterator<Item = &String> {
    app.names.iter().chain(&app.claims)
}

/// Whether a rule of `--allow-app` covers this name.
fn is_rule(rule: &str, name: &str) -> bool {
    is_same(rule, name) || rule.ends_with(['/', '\\']) && name.starts_with(rule)
}

/// Whether `name` contains one of `words`, ignoring case. A path matches only words with a `/`:
/// `lib` does not match every app in `/usr/lib`.
fn matches(name: &str, words: &[String]) -> bool {
    let is_path = name.starts_with('/');
    let fit = |word: &&String| !is_path || word.contains('/');
    words.iter().filter(fit).any(|word| contains(name, word))
}

fn contains(name: &str, word: &str) -> bool {
    name.to_lowercase().contains(&word.to_lowercase())
}

#[cfg(test)]
mod tests;
