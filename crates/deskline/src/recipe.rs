//! `deskline run`, `test`, `learn` and `record`: do, test and make recipes without a model.

mod jobs;
mod learn;
#[cfg(target_os = "linux")]
mod record;
mod report;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use deskline_mcp::How;
use deskline_recipe::{Edit, Recipe, SUFFIX};
use serde::{Deserialize, Serialize};

use crate::cli::{RecipesArgs, RunArgs, Settings, TestArgs};
use crate::output::{Done, Fallible, exit_code, print};
use crate::run::recipes;
use jobs::{End, Job, all_of, given, read, stem, text, write};
pub(crate) use learn::learn;
#[cfg(target_os = "linux")]
pub(crate) use record::record;

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
        Some(table) => deskline_recipe::rows(&text(table)?)
            .map_err(|why| format!("{}:{why}", table.display()))?,
    };
    let given = given(&recipe, &args.set)?;
    let state = State::open(&args.file, &(&rows, &given), args.resume)?;
    let jobs = jobs(settings, args, &recipe, rows, &given, &state)?;
    let settings = learn::apart(settings, &args.file)?;
    let ends = all_of(&settings, &jobs, args.all.jobs, true)?;
    state.close(&ends, is_run)?;
    if !args.heal.is_empty() && !is_run {
        heal(&args.file, &ends)?;
    }
    report::told(&ends, args.all.report.as_deref())
}

/// A job for each row that is not done yet.
fn jobs<'r>(
    settings: &Settings,
    args: &RunArgs,
    recipe: &'r Recipe,
    rows: Vec<BTreeMap<String, String>>,
    given: &BTreeMap<String, String>,
    state: &State,
) -> Result<Vec<Job<'r>>, String> {
    let (alone, mut jobs) = (rows.len() == 1, Vec::new());
    let goes_on = alone && settings.desktop.is_none();
    for (row, mut values) in rows.into_iter().enumerate() {
        values.extend(given.clone());
        let how = How {
            heal: args.heal.clone(),
            literal: args.file.is_dir(),
            from: if goes_on { state.step } else { 0 },
            pid: state.pid,
            tells: alone.then_some(jobs::progress),
            ..How::default()
        };
        let mut job = Job::new(row, &args.file, recipe, &values, how)?;
        if !alone {
            job.name = format!("row {}", row + 1);
        }
        jobs.push(job);
    }
    jobs.retain(|job| !state.done.contains(&job.row));
    Ok(jobs)
}

/// `deskline test`: each recipe of a folder on a fresh private desktop.
pub(crate) fn test(settings: &Settings, args: &TestArgs) -> Done {
    let files = files(&args.folder)?;
    let all: Vec<Recipe> = files
        .iter()
        .map(|file| read(file))
        .collect::<Result<_, _>>()?;
    let how = How {
        updates: args.update,
        heal: args.update.then(String::new).into_iter().collect(),
        ..How::default()
    };
    let jobs = files.iter().zip(&all).map(|(file, recipe)| {
        let none = BTreeMap::new();
        Job::new(0, file, recipe, &none, how.clone())
    });
    let jobs = jobs.collect::<Result<Vec<_>, _>>()?;
    let settings = Settings {
        desktop: settings.desktop.or(Some(crate::cli::Own::default())),
        ..settings.clone()
    };
    let ends = all_of(&settings, &jobs, args.all.jobs, false)?;
    for (file, end) in files.iter().zip(&ends).filter(|_| args.update) {
        heal(file, [end])?;
    }
    report::told(&ends, args.all.report.as_deref())
}

/// `deskline recipes`: lists the kept recipes, or shows one with its inputs and steps.
pub(crate) fn list(settings: &Settings, args: &RecipesArgs) -> Done {
    let folder = recipes(settings).ok_or("there is no folder for recipes: pass --recipes DIR")?;
    for file in &files(&folder)? {
        let name = stem(file);
        if args.name.as_ref().is_some_and(|wanted| *wanted != name) {
            continue;
        }
        let recipe = read(file);
        let Ok(recipe) = recipe.as_ref().map_err(|why| print(why)) else {
            continue;
        };
        let (steps, app, about) = (recipe.steps.len(), &recipe.app, &recipe.about);
        print(&format!("{name}  {app}  {steps} steps  {about}"))?;
        let Some(_) = &args.name else { continue };
        for input in &recipe.inputs {
            let default = input.default.as_ref();
            let default = default.map_or_else(String::new, |text| format!(", default {text}"));
            let (name, kind, about) = (&input.name, input.kind.word(), &input.about);
            print(&format!("  {name} ({kind}{default}) {about}"))?;
        }
        for (number, step) in (1..).zip(&recipe.steps) {
            print(&format!("  {number}. {}", step.words()))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    match &args.name {
        Some(name) => Err(format!("{} has no recipe {name}", folder.display()).into()),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// The recipes' files in a folder, in order.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let all = fs::read_dir(folder).map_err(|e| {
        let folder = folder.display();
        format!("{folder}: {e}. deskline learn and record make recipes")
    })?;
    let mut files: Vec<PathBuf> = all
        .filter_map(|file| Some(file.ok()?.path()))
        .filter(|file| file.to_string_lossy().ends_with(SUFFIX))
        .collect();
    files.sort();
    if files.is_empty() {
        return Err(format!("{} has no NAME{SUFFIX}", folder.display()));
    }
    Ok(files)
}

/// Writes the targets and checks that were noted anew back into the file.
fn heal<'e>(file: &Path, ends: impl IntoIterator<Item = &'e End<'e>>) -> Fallible {
    let good = ends.into_iter().find(|end| end.is_good());
    let Some((Ok(played), job)) = good.map(|end| (&end.played, end.job)) else {
        return Ok(());
    };
    let mut edit = Edit::new(&fs::read_to_string(file)?)?;
    let (mut targets, mut checks) = (0, 0);
    let steps = job.recipe.steps.iter().zip(&played.recipe.steps);
    for (index, (old, new)) in steps.enumerate() {
        if let Some(target) = new.target.as_ref().filter(|_| new.target != old.target) {
            edit.target(index, target);
            targets += 1;
        }
        if new.checks != old.checks {
            edit.checks(index, &new.checks);
            checks += 1;
        }
    }
    if targets + checks == 0 {
        return Ok(());
    }
    write(file, &edit.text())?;
    let file = file.display();
    Ok(print(&format!(
        "healed {targets} targets, updated {checks} steps in {file}"
    ))?)
}

/// How far a recipe got, for `--resume`.
#[derive(Default, Serialize, Deserialize)]
struct State {
    #[serde(skip)]
    file: PathBuf,
    /// The hash of the values that the recipe was done with.
    values: u64,
    /// The rows that are done.
    done: BTreeSet<usize>,
    /// For a recipe without a table: how many steps are done, and the app's process.
    step: usize,
    pid: Option<u32>,
}

impl State {
    fn open(recipe: &Path, values: &impl Hash, resume: bool) -> Fallible<Self> {
        let mut hash = DefaultHasher::new();
        values.hash(&mut hash);
        let values = hash.finish();
        let name = recipe.to_string_lossy();
        let file = PathBuf::from(format!("{}.resume", name.trim_end_matches('/')));
        let mut state = Self::default();
        if resume {
            let text = fs::read(&file);
            let text = text.map_err(|_| "there is nothing to resume: it did not stop")?;
            state = serde_json::from_slice(&text)?;
            if state.values != values {
                let why = "the values differ from those that it stopped with: pass the same";
                return Err(why.into());
            }
        }
        Ok(Self {
            file,
            values,
            ..state
        })
    }

    /// Notes how far the recipe got, if it stopped.
    fn close(mut self, ends: &[End<'_>], is_run: bool) -> Fallible {
        for end in ends {
            if end.is_good() {
                self.done.insert(end.job.row);
            } else if let Ok(played) = &end.played {
                self.step = played.done.len();
                self.pid = played.stopped.as_ref().and_then(|stop| stop.pid);
            }
        }
        if is_run || ends.iter().all(End::is_good) {
            let _ = fs::remove_file(&self.file);
            return Ok(());
        }
        write(&self.file, &serde_json::to_string(&self)?)
    }
}
