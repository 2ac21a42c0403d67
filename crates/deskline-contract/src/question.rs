//! A question for the person, and its answers.

use std::fmt;

use deskline_core::escape;

use crate::identity::Identity;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The key under which the answer is stored. It stands for the app, or for the app's alerts. If
    /// the system has no key of the app, it stands for the process, and is valid in this server
    /// only.
    pub key: String,
    /// Whether the answer can outlive this server.
    pub can_be_kept: bool,
    /// The system's name for the app.
    name: String,
    /// The alert that the agent wants to answer. `None` if the agent wants to act in the app in
    /// general.
    pub alert: Option<Alert>,
}

/// An alert of an app, with texts that are escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alert {
    /// The alert's texts, in quotes.
    pub says: String,
    /// The press that the agent asks to make in the alert: `press "Delete"`.
    pub press: String,
}

impl Question {
    /// The question about this app, whose process is `pid`.
    pub fn about(app: &Identity, pid: Option<u32>) -> Option<Self> {
        let process = pid.map(|pid| format!("pid {pid}"));
        let key = app.key.clone().or(process)?;
        let name = app.names.first().filter(|_| app.key.is_some());
        Some(Self {
            name: name.unwrap_or(&key).clone(),
            can_be_kept: app.key.is_some(),
            key,
            alert: None,
        })
    }

    /// The question about this alert of the same app.
    #[must_use]
    pub fn with(self, alert: Alert) -> Self {
        Self {
            key: format!("{ALERTS}{}", self.key),
            alert: Some(alert),
            ..self
        }
    }

    /// The key under which the answer is stored. `None` if the answer cannot outlive this server.
    pub fn lasting_key(&self) -> Option<String> {
        self.can_be_kept.then(|| self.key.clone())
    }

    /// The text that the person reads.
    pub fn words(&self) -> String {
        let asks = self.alert.as_ref();
        let asks = asks.map(|alert| format!("\nThe app asks: {}", alert.says));
        let asks = asks.unwrap_or_default();
        format!("An agent wants to {}, through Deskline.{asks}", self.deed())
    }

    /// The action that the agent asks for: `act in Text Editor (/usr/bin/gedit)`.
    pub fn deed(&self) -> String {
        match &self.alert {
            Some(alert) => format!("{} in an alert of {self}", alert.press),
            None => format!("act in {self}"),
        }
    }

    /// The id by which an answer finds its question. An answer about an alert is for one press
    /// only, so there the id is the whole text.
    pub fn id(&self) -> String {
        match self.alert {
            Some(_) => self.words(),
            None => self.key.clone(),
        }
    }

    /// The answers that the person can choose from.
    pub fn answers(&self) -> Vec<Approval> {
        let alert = self.alert.as_ref();
        let no = alert.map_or(Approval::Never, |_| Approval::No);
        let always = self.can_be_kept.then_some(Approval::Always);
        let answers = [Some(Approval::Once), always, Some(no)];
        answers.into_iter().flatten().collect()
    }

    /// The meaning of each answer.
    pub fn meaning(&self) -> &'static str {
        match self.alert {
            Some(_) => "once: this press; always: each press in an alert of this app",
            None if self.can_be_kept => "once: until this server ends",
            None => "This app has no name to keep an answer under: once or never",
        }
    }
}

/// `Text Editor (/usr/bin/gedit)`
impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape::name(&self.name, 40))?;
        let app = self.key.strip_prefix(ALERTS).unwrap_or(&self.key);
        if self.name == app {
            return Ok(());
        }
        write!(f, " ({})", escape::short(app, 120))
    }
}

/// The answer about an app's alerts is stored under the app's key with this prefix.
const ALERTS: &str = "alerts of ";

/// The person's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    /// Allowed until this server ends; for an alert, only this press is allowed.
    Once,
    Always,
    Never,
    /// Not allowed this time.
    No,
}

impl Approval {
    /// The answer's word in a client's form.
    pub fn word(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Always => "always",
            Self::Never => "never",
            Self::No => "no",
        }
    }
}
