//! `deskline run`, `test` and `learn`: recipes, without a model.

mod learn;
mod report;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use deskline_link::Cancel;
use deskline_mcp::{How, Nobody, Played};
use deskline_recipe::{Edit, Kind, Recipe, SUFFIX, Values};
use serde::{Deserialize, Serialize};

use crate::cli::{Named, RunArgs, Settings, TestArgs};
use crate::install::settings_folder;
use crate::output::{Done, print};
use crate::run::{RESTORE, dispatcher, in_runtime, until_stopped};
pub(crate) use learn::learn;

/// One time that a recipe is to be done.
struct Job<'r> {
    /// The recipe's name, and the row of the table.
    name: String,
    recipe: &'r Recipe,
    values: Values,
    how: How,
}

/// What came of it: done or stopped, or not even begun.
struct End {
    /// Which of the jobs it was.
    at: usize,
    name: String,
    played: Result<Played, String>,
    took: Duration,
}

impl End {
    fn is_good(&self) -> bool {
        self.played
            .as_ref()
            .is_ok_and(|played| played.stopped.is_none())
    }
}

/// The folder of the recipes that are tools too: `--recipes`, or the default.
pub(crate) fn folder(settings: &Settings) -> Option<PathBuf> {
    match &settings.recipes {
        Some(off) if off.as_os_str() == "off" => None,
        Some(folder) => Some(folder.clone()),
        None => Some(settings_folder()?.join("deskline/recipes")),
    }
}

/// `deskline run`.
pub(crate) fn run(settings: &Settings, args: &RunArgs) -> Done {
    let is_run = args.file.is_dir();
    let recipe = if is_run {
        learn::literal(&args.file)?
    } else {
        read(&args.file)?
    };
    let rows = match &args.from {
        None => vec![BTreeMap::new()],
        Some(table) => deskline_recipe::rows(&fs::read_to_string(table)?)
            .map_err(|why| format!("{}: {why}", table.display()))?,
    };
    let given = given(&recipe, &args.set)?;
    let mut hash = DefaultHasher::new();
    (&rows, &given).hash(&mut hash);
    let state = State::open(&args.file, hash.finish(), args.resume)?;
    let jobs = jobs(settings, args, &recipe, rows, &given, &state)?;
    let (rows, jobs): (Vec<usize>, Vec<Job<'_>>) = jobs.into_iter().unzip();
    // The run's own log would get the calls otherwise.
    let own = is_run.then(|| tempfile::Builder::new().prefix("deskline-run-").tempdir());
    let own = own.transpose()?;
    let mut settings = settings.clone();
    if let (Some(own), None) = (&own, &settings.dir) {
        settings.dir = Some(own.path().join("journal"));
    }
    let ends = all_of(&settings, &jobs, args.jobs, true)?;
    state.close(&rows, &ends, is_run)?;
    if args.heal && !is_run {
        heal(&args.file, &ends)?;
    }
    let done = report::told(&ends, args.report.as_deref())?;
    if let Some(own) = own.filter(|_| done != ExitCode::SUCCESS) {
        eprintln!(
            "deskline: to look at it: deskline view {}",
            own.keep().join("journal").display()
        );
    }
    Ok(done)
}

/// A job for each row that is left, with the row's number.
fn jobs<'r>(
    settings: &Settings,
    args: &RunArgs,
    recipe: &'r Recipe,
    rows: Vec<BTreeMap<String, String>>,
    given: &BTreeMap<String, String>,
    state: &State,
) -> Result<Vec<(usize, Job<'r>)>, String> {
    let all = rows.len();
    let mut jobs = Vec::new();
    for (row, mut values) in rows.into_iter().enumerate() {
        values.extend(given.clone());
        let values = Values::new(recipe, &values);
        let begun = (state.now.step, settings.desktop.is_none() && all == 1);
        let how = How {
            heal: args.heal,
            literal: args.file.is_dir(),
            from: if begun.1 { begun.0 } else { 0 },
            pid: state.now.pid,
            ..How::default()
        };
        let name = if all == 1 {
            stem(&args.file)
        } else {
            format!("row {}", row + 1)
        };
        let values = values.map_err(|why| format!("{name}: {why}"))?;
        if !state.now.done.contains(&row) {
            jobs.push((
                row,
                Job {
                    name,
                    recipe,
                    values,
                    how,
                },
            ));
        }
    }
    Ok(jobs)
}

/// `deskline test`: each recipe of a folder on a fresh private desktop.
pub(crate) fn test(settings: &Settings, args: &TestArgs) -> Done {
    let mut files: Vec<PathBuf> = fs::read_dir(&args.folder)?
        .filter_map(|file| Some(file.ok()?.path()))
        .filter(|file| file.to_string_lossy().ends_with(SUFFIX))
        .collect();
    files.sort();
    if files.is_empty() {
        return Err(format!("{} has no NAME{SUFFIX}", args.folder.display()).into());
    }
    let recipes: Vec<Recipe> = files
        .iter()
        .map(|file| read(file))
        .collect::<Result<_, _>>()?;
    let mut jobs = Vec::new();
    for (file, recipe) in files.iter().zip(&recipes) {
        let values = Values::new(recipe, &BTreeMap::new());
        let values = values.map_err(|why| format!("{}: {why}", file.display()))?;
        jobs.push(Job {
            name: stem(file),
            recipe,
            values,
            how: How::default(),
        });
    }
    let settings = Settings {
        desktop: settings.desktop.or(Some(crate::cli::Own::default())),
        ..settings.clone()
    };
    let ends = all_of(&settings, &jobs, args.jobs, false)?;
    report::told(&ends, args.report.as_deref())
}

/// Reads a recipe's file.
fn read(file: &Path) -> Result<Recipe, String> {
    let text = fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    deskline_recipe::read(&text).map_err(|wrong| format!("{}:{wrong}", file.display()))
}

fn stem(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(SUFFIX).unwrap_or(&name).to_owned()
}

/// The values of `--set`; `-` reads one from standard input, a line each.
fn given(recipe: &Recipe, set: &[Named]) -> Result<BTreeMap<String, String>, Box<dyn Error>> {
    let mut given = BTreeMap::new();
    for Named { name, value } in set {
        let is_secret = recipe
            .inputs
            .iter()
            .any(|i| i.name == *name && i.kind == Kind::Secret);
        let value = if value == "-" {
            let mut line = String::new();
            std::io::stdin().read_line(&mut line)?;
            line.trim_end_matches(['\r', '\n']).to_owned()
        } else if is_secret {
            let why = format!(
                "others can see a command line: pass --set {name}=- and write it to \
                standard input"
            );
            return Err(why.into());
        } else {
            value.clone()
        };
        given.insert(name.clone(), value);
    }
    Ok(given)
}

/// Does the jobs, `most` at a time, each on a desktop of its own if that is private.
fn all_of(
    settings: &Settings,
    jobs: &[Job<'_>],
    most: usize,
    stop_at_first: bool,
) -> Result<Vec<End>, Box<dyn Error>> {
    if most > 1 && settings.desktop.is_none() {
        return Err("several at a time need desktops of their own: pass --desktop private".into());
    }
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let ends = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..most.min(jobs.len()) {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(n).filter(|_| !stopped.load(Ordering::Relaxed)) else {
                        return;
                    };
                    let start = Instant::now();
                    let played = one(settings, job).map_err(|error| error.to_string());
                    let end = End {
                        at: n,
                        name: job.name.clone(),
                        played,
                        took: start.elapsed(),
                    };
                    if stop_at_first && !end.is_good() {
                        stopped.store(true, Ordering::Relaxed);
                    }
                    ends.lock()
                        .unwrap_or_else(std::sync::PoisonError::into_inner)
                        .insert(n, end);
                }
            });
        }
    });
    let ends = ends
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(ends.into_values().collect())
}

/// Does a job.
fn one(settings: &Settings, job: &Job<'_>) -> Result<Played, Box<dyn Error>> {
    let (dispatcher, _open) = dispatcher(settings)?;
    in_runtime(async {
        let cancel = Cancel::new();
        let play = dispatcher.play(job.recipe.clone(), &job.values, job.how, &cancel, &Nobody);
        let played = until_stopped(&cancel, Box::pin(play)).await?;
        dispatcher.stop(RESTORE).await;
        Ok(played.map_err(|wrong| format!("{}:{wrong}", job.name))?)
    })
}

/// Writes the targets that were found anew back into the file.
fn heal(file: &Path, ends: &[End]) -> Result<(), Box<dyn Error>> {
    let good = |end: &&End| end.is_good();
    let Some(Ok(played)) = ends.iter().find(good).map(|end| &end.played) else {
        return Ok(());
    };
    if played.healed.is_empty() {
        return Ok(());
    }
    let mut edit = Edit::new(&fs::read_to_string(file)?)?;
    for index in &played.healed {
        if let Some(target) = &played.recipe.steps[*index].target {
            edit.target(*index, target);
        }
    }
    write(file, &edit.text())?;
    print(&format!(
        "healed {} targets in {}",
        played.healed.len(),
        file.display()
    ))?;
    Ok(())
}

/// Replaces a file as a whole, or leaves it as it was.
fn write(file: &Path, text: &str) -> Result<(), Box<dyn Error>> {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let new = tempfile::NamedTempFile::new_in(folder)?;
    fs::write(new.path(), text)?;
    new.persist(file)?;
    Ok(())
}

/// How far a recipe got, for `--resume`.
struct State {
    file: PathBuf,
    now: Far,
}

#[derive(Default, Serialize, Deserialize)]
struct Far {
    /// Of the values that it was done with.
    values: u64,
    /// The rows that are done.
    done: BTreeSet<usize>,
    /// The steps that are done of a recipe without a table, and the app's process.
    step: usize,
    pid: Option<u32>,
}

impl State {
    fn open(recipe: &Path, values: u64, resume: bool) -> Result<Self, Box<dyn Error>> {
        let file = PathBuf::from(format!(
            "{}.resume",
            recipe.to_string_lossy().trim_end_matches('/')
        ));
        let fresh = Far {
            values,
            ..Far::default()
        };
        if !resume {
            return Ok(Self { file, now: fresh });
        }
        let text = fs::read(&file).map_err(|_| "there is nothing to resume: it did not stop")?;
        let now: Far = serde_json::from_slice(&text)?;
        if now.values != values {
            return Err("the values differ from those that it stopped with: pass the same".into());
        }
        Ok(Self { file, now })
    }

    /// Notes how far it got, if it stopped.
    fn close(mut self, rows: &[usize], ends: &[End], is_run: bool) -> Result<(), Box<dyn Error>> {
        for end in ends {
            if end.is_good() {
                self.now.done.extend(rows.get(end.at));
            } else if let Ok(played) = &end.played {
                self.now.step = played.done.len();
                self.now.pid = played.stopped.as_ref().and_then(|stop| stop.pid);
            }
        }
        if is_run || rows.iter().all(|row| self.now.done.contains(row)) {
            let _ = fs::remove_file(&self.file);
            return Ok(());
        }
        write(&self.file, &serde_json::to_string(&self.now)?)
    }
}
