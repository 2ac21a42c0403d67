//! The person's answers to the question whether agents may act in an app.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use deskline_journal::{JournalError, StateFile};
use serde::{Deserialize, Serialize};

use crate::apps::Identity;
pub use crate::question::{Approval, Question};

/// A stored answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kept {
    Always,
    Never,
}

/// The stored answers. The key is the path of an app's executable or script, or the id of its
/// desktop file or package.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Answers(pub BTreeMap<String, Kept>);

/// Whether a rule or a key matches this name. Case matters in paths.
pub(crate) fn is_same(rule: &str, name: &str) -> bool {
    rule == name || !name.contains('/') && rule.eq_ignore_ascii_case(name)
}

impl Answers {
    /// The answer about this app; if there are several, `never` counts.
    fn about(&self, app: &Identity) -> Option<Kept> {
        let never = |(key, kept): (&String, &Kept)| {
            let mut all = app.names.iter().chain(&app.claims);
            *kept == Kept::Never && all.any(|name| is_same(key, name))
        };
        if self.0.iter().any(never) {
            return Some(Kept::Never);
        }
        // An app without a key has no name that belongs to it alone.
        app.key.as_ref()?;
        let is_named = |key: &String| app.names.iter().any(|name| is_same(key, name));
        self.0.keys().any(is_named).then_some(Kept::Always)
    }

    fn parsed(text: &str) -> Result<Self, GrantsError> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        serde_json::from_str(text).map_err(GrantsError::Content)
    }
}

/// Why the file of the answers cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum GrantsError {
    #[error("{0}")]
    File(#[from] JournalError),
    #[error("the file is not in the format that deskline writes: {0}")]
    Content(#[source] serde_json::Error),
    /// There is no folder for the file.
    #[error("there is no home directory to keep answers in")]
    NoHome,
}

/// The person's answers. Clones share the answers that count until this server ends.
#[derive(Debug, Clone, Default)]
pub struct Grants {
    /// Whether the person is asked at all.
    pub asks: bool,
    file: Option<StateFile>,
    session: Arc<Mutex<HashSet<String>>>,
    /// When the client began to show a question, and when it stops at the latest. `None` if it
    /// shows no question.
    shown: Arc<Mutex<Option<(Instant, Instant)>>>,
}

impl Grants {
    /// The person's answers, which are stored in `file`, if there is a file.
    pub fn new(file: Option<StateFile>, asks: bool) -> Self {
        Self {
            asks,
            file,
            session: Arc::default(),
            shown: Arc::default(),
        }
    }

    /// The stored answers. The person may change them while the server runs.
    pub fn kept(&self) -> Result<Answers, GrantsError> {
        let Some(file) = &self.file else {
            return Ok(Answers::default());
        };
        Answers::parsed(&file.read()?)
    }

    /// Stores an answer, or with `None` removes the stored answer. Returns whether an answer was
    /// stored before.
    pub fn keep(&self, app: &str, answer: Option<Kept>) -> Result<bool, GrantsError> {
        let file = self.file.as_ref().ok_or(GrantsError::NoHome)?;
        let mut was_there = false;
        file.change(|text| {
            let mut answers = Answers::parsed(text)?;
            let count = answers.0.len();
            answers.0.retain(|key, _| !key.eq_ignore_ascii_case(app));
            was_there = answers.0.len() < count;
            answers
                .0
                .extend(answer.map(|answer| (app.to_owned(), answer)));
            serde_json::to_string_pretty(&answers).map_err(GrantsError::Content)
        })?;
        Ok(was_there)
    }

    /// Notes that the client shows a question for at most this time, or (`None`) shows no question.
    pub fn show(&self, most: Option<Duration>) {
        let now = Instant::now();
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        *shown = most.map(|most| (now, now + most));
    }

    /// How long the client has shown a question. `None` if it shows no question.
    pub(crate) fn shown(&self) -> Option<Duration> {
        let shown = *self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, until) = shown?;
        (Instant::now() < until).then(|| since.elapsed())
    }

    /// Records the person's answer. If the answer cannot be stored, it counts until this server
    /// ends.
    pub fn answered(&self, question: &Question, answer: Approval) -> Result<(), GrantsError> {
        let kept = match answer {
            Approval::Once | Approval::No => None,
            Approval::Always => Some(Kept::Always),
            Approval::Never => Some(Kept::Never),
        };
        let for_all = answer == Approval::Once && question.alert.is_none();
        if for_all || answer == Approval::Always {
            self.session().insert(question.key.clone());
        }
        match kept.filter(|_| question.can_be_kept) {
            Some(kept) => self.keep(&question.key, Some(kept)).map(drop),
            None => Ok(()),
        }
    }

    /// The answer about this app: the stored one, or else the one that this server was given. `Err`
    /// if the stored answers cannot be read.
    pub(crate) fn about(&self, app: &Identity) -> Result<Option<Kept>, GrantsError> {
        if self.file.is_none() && !self.asks {
            return Ok(None);
        }
        let kept = self.kept()?.about(app);
        let once = || app.key.is_some() && app.names.iter().any(|name| self.allows_key(name));
        Ok(kept.or_else(|| once().then_some(Kept::Always)))
    }

    /// Whether the person has allowed this meanwhile, in another call or with `deskline grants`.
    pub fn allows(&self, question: &Question) -> bool {
        let kept = || self.kept().ok()?.0.get(&question.key).copied();
        self.allows_key(&question.key) || kept() == Some(Kept::Always)
    }

    fn allows_key(&self, key: &str) -> bool {
        self.session().contains(key)
    }

    fn session(&self) -> MutexGuard<'_, HashSet<String>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(names: &[&str], key: Option<&str>) -> Identity {
        Identity {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            key: key.map(str::to_owned),
            ..Identity::default()
        }
    }

    #[test]
    fn answers_are_kept_by_the_system_names_of_apps_and_a_refusal_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let file = StateFile::new(folder.path().join("state"), "grants.json");
        let grants = Grants::new(Some(file.clone()), true);
        let pad = app(
            &["Mousepad", "/usr/bin/mousepad"],
            Some("/usr/bin/mousepad"),
        );
        let question = Question::about(&pad, Some(7)).unwrap();
        assert_eq!(question.to_string(), "Mousepad (/usr/bin/mousepad)");
        assert_eq!(grants.about(&pad).unwrap(), None);

        grants.answered(&question, Approval::Once).unwrap();
        assert_eq!(grants.about(&pad).unwrap(), Some(Kept::Always));
        let next = Grants::new(Some(file.clone()), true);
        assert_eq!(next.about(&pad).unwrap(), None, "once was kept");

        next.answered(&question, Approval::Always).unwrap();
        let next = Grants::new(Some(file), true);
        assert_eq!(next.about(&pad).unwrap(), Some(Kept::Always));
        // Neither an app that only claims this name nor one with another key has the answer.
        assert_eq!(
            next.about(&app(&["/usr/bin/mousepad"], None)).unwrap(),
            None
        );
        let other = app(&["mousepad", "/tmp/mousepad"], Some("/tmp/mousepad"));
        assert_eq!(next.about(&other).unwrap(), None);

        next.keep("mousepad", Some(Kept::Never)).unwrap();
        assert_eq!(next.about(&pad).unwrap(), Some(Kept::Never));
        assert!(next.keep("MOUSEPAD", None).unwrap());
        assert!(!next.keep("mousepad", None).unwrap());
        assert_eq!(next.about(&pad).unwrap(), Some(Kept::Always));
    }

    #[test]
    fn a_file_that_cannot_be_read_allows_nothing_and_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let file = StateFile::new(folder.path().join("state"), "grants.json");
        file.change(|_| Ok::<_, JournalError>("{\"pad\": \"perhaps\"}".into()))
            .unwrap();
        let grants = Grants::new(Some(file.clone()), false);
        let pad = app(&["pad"], Some("pad"));
        assert!(grants.about(&pad).is_err());
        assert!(grants.keep("pad", Some(Kept::Always)).is_err());
        assert!(file.read().unwrap().contains("perhaps"));
    }

    #[test]
    fn an_app_that_the_system_does_not_name_is_asked_about_by_pid() {
        let grants = Grants::new(None, true);
        let nameless = app(&["Calculator"], None);
        let question = Question::about(&nameless, Some(7)).unwrap();
        assert_eq!(question.to_string(), "pid 7");
        assert!(Question::about(&nameless, None).is_none());
        grants.answered(&question, Approval::Always).unwrap();
        assert!(grants.allows(&question));
    }
}
