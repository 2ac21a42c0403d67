//! The desktops of one server. Each has its own worker, journal and turns, so that none waits for
//! another. A call names its desktop by a key.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use deskline_journal::Journal;
use deskline_link::Platform;
use serde_json::{Map, Value};

use crate::args::Wrong;
use crate::files::JournalFiles;
use crate::live::Live;
use crate::turns::Turns;
use crate::worker::{Desk, Worker};

/// The argument that names a desktop, where the server has several.
const ARGUMENT: &str = "desktop";

pub(crate) struct Served {
    /// The key by which a call names it.
    key: String,
    pub(crate) platform: Arc<dyn Platform>,
    pub(crate) worker: Worker,
    pub(crate) files: JournalFiles,
    pub(crate) journal: Journal,
    pub(crate) turns: Turns,
}

impl Served {
    /// Starts the worker thread for `desk`.
    pub(crate) fn start(
        key: &str,
        platform: Arc<dyn Platform>,
        desk: Box<dyn Desk>,
        journal: Journal,
        files: JournalFiles,
        live: Live,
    ) -> io::Result<Self> {
        Ok(Self {
            key: key.to_owned(),
            platform,
            worker: Worker::start(desk, live)?,
            files,
            journal,
            turns: Turns::default(),
        })
    }
}

type Arguments = Map<String, Value>;

/// The desktop that a call is for, and the call's arguments without the key.
type Addressed<'a> = (&'a Served, Cow<'a, Arguments>);

/// At least one desktop.
pub(crate) struct Desktops {
    /// The desktop of a call without a key.
    first: Served,
    others: Vec<Served>,
}

impl Desktops {
    pub(crate) fn new(first: Served) -> Self {
        Self {
            first,
            others: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, desktop: Served) {
        self.others.push(desktop);
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Served> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// The desktop of a call, and the other arguments. A server with one desktop has no such
    /// argument.
    pub(crate) fn addressed<'a>(
        &'a self,
        arguments: &'a Arguments,
    ) -> Result<Addressed<'a>, Wrong> {
        let Some(key) = arguments.get(ARGUMENT).filter(|_| !self.others.is_empty()) else {
            return Ok((&self.first, Cow::Borrowed(arguments)));
        };
        let key = key
            .as_str()
            .ok_or_else(|| format!("{ARGUMENT} must be a string"))?;
        let desktop = self.all().find(|desktop| desktop.key == key);
        let desktop = desktop.ok_or_else(|| {
            let keys: Vec<&str> = self.all().map(|desktop| desktop.key.as_str()).collect();
            format!(
                "no desktop has this key. This server has: {}",
                keys.join(", ")
            )
        })?;
        let mut rest = arguments.clone();
        rest.remove(ARGUMENT);
        Ok((desktop, Cow::Owned(rest)))
    }
}
