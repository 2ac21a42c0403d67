//! The pages of journals by path, for any server: `deskline view` serves those of one journal,
//! `deskline serve --http --view` those of all its desktops.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use deskline_journal::Journal;
use hyper::StatusCode;

use crate::answer::{self, Answer};
use crate::run::Run;
use crate::{assets, list, routes};

/// How long a run is kept after a request, so that its links keep their numbers and are not read
/// again.
const KEPT: Duration = Duration::from_secs(60);

/// The page of one journal; or for a folder, the pages of all its journals, with a list of them.
/// Reads only.
pub struct Pages(Shown);

enum Shown {
    One(Arc<Run>),
    Folder {
        all: PathBuf,
        /// The runs, by the names of their journals.
        runs: Mutex<HashMap<String, Kept>>,
    },
}

struct Kept {
    run: Arc<Run>,
    asked: Instant,
}

impl Pages {
    /// The page of this journal.
    pub fn new(journal: &Journal) -> Self {
        Self(Shown::One(Arc::new(Run::new(journal))))
    }

    /// A list of the journals that are in this folder when a request comes, and below each
    /// journal's name the page of that journal.
    pub fn in_folder(all: PathBuf) -> Self {
        let runs = Mutex::default();
        Self(Shown::Folder { all, runs })
    }

    /// Answers a request for `path`, without the slash that it begins with. Call it in a tokio
    /// runtime.
    pub async fn answer(&self, path: &str, query: Option<&str>) -> Answer {
        let query = query.unwrap_or_default();
        let (all, runs) = match &self.0 {
            Shown::One(run) => return routes::route(run, path, query).await,
            Shown::Folder { all, runs } => (all, runs),
        };
        let Some((name, rest)) = path.split_once('/') else {
            return match assets::find(path) {
                _ if path.is_empty() => list::answer(all.clone()).await,
                Some((kind, content)) => answer::whole(kind, content),
                None if list::is_name(path) => to_folder(path),
                None => routes::missing(),
            };
        };
        match run(all, runs, name) {
            Some(run) => routes::route(&run, rest, query).await,
            None => routes::missing(),
        }
    }
}

/// The run of the journal `name`, if it can be read.
fn run(all: &Path, runs: &Mutex<HashMap<String, Kept>>, name: &str) -> Option<Arc<Run>> {
    if !list::is_name(name) {
        return None;
    }
    let mut runs = runs.lock().unwrap_or_else(PoisonError::into_inner);
    // An open page has a stream of events, which owns the run.
    runs.retain(|_, kept| Arc::strong_count(&kept.run) > 1 || kept.asked.elapsed() < KEPT);
    let asked = Instant::now();
    if let Some(kept) = runs.get_mut(name) {
        kept.asked = asked;
        return Some(Arc::clone(&kept.run));
    }
    let journal = Journal::open_to_read(Some(&all.join(name))).ok()?;
    let run = Arc::new(Run::new(&journal));
    let kept = Arc::clone(&run);
    runs.insert(name.to_owned(), Kept { run: kept, asked });
    Some(run)
}

/// Redirects to the path with a slash, so that the page's relative links work. The redirect is
/// relative too: a proxy may serve the pages at another path.
pub fn to_folder(name: &str) -> Answer {
    answer::elsewhere(StatusCode::PERMANENT_REDIRECT, &format!("{name}/"))
}
