//! A question for the person, and its answers.

use std::fmt;

use deskline_core::escape;

/// A question for the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The key under which the answer is kept: the app. If the system reports none, its process,
    /// for this server only.
    pub key: String,
    /// Whether the answer can outlive this server.
    pub can_be_kept: bool,
    /// The system's name for the app.
    pub(crate) name: String,
}

impl Question {
    /// The question itself.
    pub fn words(&self) -> String {
        format!("An agent wants to act in {self}, through Deskline.")
    }

    /// The answers that it takes.
    pub fn answers(&self) -> Vec<Approval> {
        let takes = |answer: &Approval| self.can_be_kept || *answer != Approval::Always;
        Approval::ALL.into_iter().filter(takes).collect()
    }
}

/// `Text Editor (/usr/bin/gedit)`
impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape::name(&self.name, 40))?;
        if self.name == self.key {
            return Ok(());
        }
        write!(f, " ({})", escape::short(&self.key, 120))
    }
}

/// The person's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    /// Until this server ends.
    Once,
    Always,
    Never,
}

impl Approval {
    pub const ALL: [Self; 3] = [Self::Once, Self::Always, Self::Never];

    /// Its word in a client's form.
    pub fn word(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Always => "always",
            Self::Never => "never",
        }
    }
}
