//! `deskline run`, `test`, `learn` and `record`: do, test and make recipes without a model.

mod jobs;
mod learn;
#[cfg(target_os = "linux")]
mod record;
mod report;

use std::collections::{BTreeMap, BTreeSet};
#[cfg(target_os = "linux")]
use std::error::Error;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

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
    let mut hash = DefaultHasher::new();
    (&rows, &given).hash(&mut hash);
    let state = State::open(&args.file, hash.finish(), args.resume)?;
    let jobs = jobs(settings, args, &recipe, rows, &given, &state)?;
    // Without a separate folder, the calls would go into the log that is being repeated.
    let own = is_run.then(|| tempfile::Builder::new().prefix("deskline-run-").tempdir());
    let own = own.transpose()?;
    let mut settings = settings.clone();
    if let (Some(own), None) = (&own, &settings.dir) {
        settings.dir = Some(own.path().join("journal"));
    }
    let ends = all_of(&settings, &jobs, args.all.jobs, true)?;
    state.close(&ends, is_run)?;
    if !args.heal.is_empty() && !is_run {
        heal(&args.file, &ends)?;
    }
    let done = report::told(&ends, args.all.report.as_deref())?;
    if let Some(own) = own.filter(|_| done != ExitCode::SUCCESS) {
        let journal = own.keep().join("journal");
        eprintln!(
            "deskline: to look at it: deskline view {}",
            journal.display()
        );
    }
    Ok(done)
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
    jobs.retain(|job| !state.done.contains(&job.at));
    Ok(jobs)
}

/// `deskline test`: each recipe of a folder on a fresh private desktop.
pub(crate) fn test(settings: &Settings, args: &TestArgs) -> Done {
    let files = files(&args.folder)?;
    let all = files.iter().map(|file| read(file));
    let all = all.collect::<Result<Vec<Recipe>, _>>()?;
    let mut how = How::default();
    let heals = args.update.then(String::new).into_iter();
    (how.updates, how.heal) = (args.update, heals.collect());
    let jobs = files.iter().zip(&all).enumerate();
    let jobs =
        jobs.map(|(at, (file, recipe))| Job::new(at, file, recipe, &BTreeMap::new(), how.clone()));
    let jobs = jobs.collect::<Result<Vec<_>, _>>()?;
    let settings = Settings {
        desktop: settings.desktop.or(Some(crate::cli::Own::default())),
        ..settings.clone()
    };
    let ends = all_of(&settings, &jobs, args.all.jobs, false)?;
    for end in ends.iter().filter(|_| args.update) {
        heal(&files[end.at], [end])?;
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
    let all = fs::read_dir(folder).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => format!(
            "{} does not exist: deskline learn and record make recipes",
            folder.display()
        ),
        _ => format!("{}: {e}", folder.display()),
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
fn heal<'e>(file: &Path, ends: impl IntoIterator<Item = &'e End>) -> Fallible {
    let good = ends.into_iter().find(|end| end.is_good());
    let Some(Ok(played)) = good.map(|end| &end.played) else {
        return Ok(());
    };
    if played.healed.is_empty() && played.updated.is_empty() {
        return Ok(());
    }
    let mut edit = Edit::new(&fs::read_to_string(file)?)?;
    let steps = &played.recipe.steps;
    for index in &played.healed {
        if let Some(target) = &steps[*index].target {
            edit.target(*index, target);
        }
    }
    for index in &played.updated {
        edit.checks(*index, &steps[*index].checks);
    }
    write(file, &edit.text())?;
    let (targets, checks) = (played.healed.len(), played.updated.len());
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
    fn open(recipe: &Path, values: u64, resume: bool) -> Fallible<Self> {
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
    fn close(mut self, ends: &[End], is_run: bool) -> Fallible {
        for end in ends {
            if end.is_good() {
                self.done.insert(end.at);
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
