//! Recipes with their values, each done as often as asked.

use std::collections::BTreeMap;
use std::fs;
use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use deskline_link::Cancel;
use deskline_mcp::{How, Nobody, Played};
use deskline_recipe::{Kind, Recipe, SUFFIX, Values};

use crate::cli::{Named, Settings};
use crate::output::Fallible;
use crate::run::{RESTORE, dispatcher, in_runtime, until_stopped};

/// One run of a recipe that is to be done.
pub(super) struct Job<'r> {
    /// The index of the row of the table.
    pub(super) row: usize,
    /// The recipe's name, or the row of the table.
    pub(super) name: String,
    pub(super) recipe: &'r Recipe,
    values: Values,
    how: How,
}

impl<'r> Job<'r> {
    /// # Errors
    /// The recipe could not be done with these values.
    pub(super) fn new(
        row: usize,
        file: &Path,
        recipe: &'r Recipe,
        given: &BTreeMap<String, String>,
        how: How,
    ) -> Result<Self, String> {
        let values = Values::new(&recipe.inputs, given);
        let values = values.and_then(|v| deskline_mcp::check(recipe, &v).map(|_| v));
        Ok(Self {
            row,
            name: stem(file),
            recipe,
            values: values.map_err(|wrong| wrong.in_file(file))?,
            how,
        })
    }

    fn done(&self, settings: &Settings) -> Fallible<Played> {
        let (dispatcher, _open) = dispatcher(settings)?;
        in_runtime(async {
            let (cancel, how) = (Cancel::new(), self.how.clone());
            let play = dispatcher.play(self.recipe, &self.values, how, &cancel, &Nobody);
            let played = until_stopped(&cancel, Box::pin(play)).await?;
            dispatcher.stop(RESTORE).await;
            Ok(played.map_err(|wrong| format!("{}:{wrong}", self.name))?)
        })
    }
}

/// What came of a job: done or stopped, or not even begun.
pub(super) struct End<'j> {
    pub(super) job: &'j Job<'j>,
    pub(super) played: Result<Played, String>,
    pub(super) took: Duration,
}

impl End<'_> {
    pub(super) fn is_good(&self) -> bool {
        matches!(&self.played, Ok(played) if played.stopped.is_none())
    }
}

pub(super) fn text(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))
}

/// Reads a recipe's file.
pub(super) fn read(file: &Path) -> Result<Recipe, String> {
    deskline_recipe::read(&text(file)?).map_err(|wrong| wrong.in_file(file))
}

pub(super) fn stem(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(SUFFIX).unwrap_or(&name).to_owned()
}

/// The values of `--set`. For the value `-`, a line of standard input is read.
pub(super) fn given(recipe: &Recipe, set: &[Named]) -> Fallible<BTreeMap<String, String>> {
    let mut given = BTreeMap::new();
    for Named { name, value } in set {
        let mut inputs = recipe.inputs.iter();
        let is_secret = inputs.any(|i| i.name == *name && i.kind == Kind::Secret);
        let value = if value == "-" {
            let mut line = String::new();
            std::io::stdin().read_line(&mut line)?;
            line.trim_end_matches(['\r', '\n']).to_owned()
        } else if is_secret {
            let why = "others can see a command line: pass --set";
            return Err(format!("{why} {name}=- and write it to standard input").into());
        } else {
            value.clone()
        };
        given.insert(name.clone(), value);
    }
    Ok(given)
}

/// Does the jobs, `most` at a time, each on a desktop of its own if the settings ask for private
/// ones.
pub(super) fn all_of<'j>(
    settings: &Settings,
    jobs: &'j [Job<'j>],
    most: usize,
    stop_at_first: bool,
) -> Fallible<Vec<End<'j>>> {
    if most > 1 && settings.desktop.is_none() {
        return Err("several at a time need desktops of their own: pass --desktop private".into());
    }
    let left = Mutex::new(jobs.iter().enumerate());
    let ends = Mutex::new(BTreeMap::new());
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    std::thread::scope(|scope| {
        for _ in 0..most.min(jobs.len()) {
            scope.spawn(|| {
                while let Some((n, job)) = next() {
                    let start = Instant::now();
                    let played = job.done(settings).map_err(|error| error.to_string());
                    let took = start.elapsed();
                    let end = End { job, played, took };
                    while stop_at_first && !end.is_good() && next().is_some() {}
                    let mut ends = ends.lock().unwrap_or_else(PoisonError::into_inner);
                    ends.insert(n, end);
                    if jobs.len() > 1 {
                        progress(ends.len(), jobs.len(), &job.name);
                    }
                }
            });
        }
    });
    progress(0, 0, "");
    let ends = ends.into_inner().unwrap_or_else(PoisonError::into_inner);
    if !ends.values().all(End::is_good) {
        let log = settings.journal()?;
        eprintln!(
            "deskline: to look at it: deskline view {}",
            log.path().display()
        );
    }
    Ok(ends.into_values().collect())
}

/// Shows the progress on a terminal, in a line that the next one replaces.
pub(super) fn progress(done: usize, of: usize, words: &str) {
    if std::io::stderr().is_terminal() {
        let words = deskline_core::escape::short(words, 60);
        let line = (of > 0).then(|| format!("{done}/{of}  {words}"));
        eprint!("\r\x1b[2K{}", line.unwrap_or_default());
    }
}

/// Replaces a file as a whole, or leaves it as it was.
pub(super) fn write(file: &Path, text: &str) -> Fallible {
    let folder = file.parent().filter(|folder| *folder != Path::new(""));
    let folder = folder.unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let new = tempfile::NamedTempFile::new_in(folder)?;
    fs::write(new.path(), text)?;
    new.persist(file)?;
    Ok(())
}
