//! `deskline run`, `test`, `learn` and `record`: recipes, without a model.

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
use deskline_recipe::{Edit, Recipe, SUFFIX, Values};
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
    // The run's own log would get the calls otherwise.
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
        eprintln!(
            "deskline: to look at it: deskline view {}",
            own.keep().join("journal").display()
        );
    }
    Ok(done)
}

/// A job for each row that is left.
fn jobs<'r>(
    settings: &Settings,
    args: &RunArgs,
    recipe: &'r Recipe,
    rows: Vec<BTreeMap<String, String>>,
    given: &BTreeMap<String, String>,
    state: &State,
) -> Result<Vec<Job<'r>>, String> {
    let all = rows.len();
    let mut jobs = Vec::new();
    for (row, mut values) in rows.into_iter().enumerate() {
        values.extend(given.clone());
        let values = Values::new(&recipe.inputs, &values);
        let begun = (state.now.step, settings.desktop.is_none() && all == 1);
        let how = How {
            heal: args.heal.clone(),
            literal: args.file.is_dir(),
            from: if begun.1 { begun.0 } else { 0 },
            pid: state.now.pid,
            tells: (all == 1).then_some(jobs::progress),
            ..How::default()
        };
        let name = if all == 1 {
            stem(&args.file)
        } else {
            format!("row {}", row + 1)
        };
        let values = values.map_err(|wrong| wrong.in_file(&args.file))?;
        checked(&args.file, recipe, &values)?;
        if !state.now.done.contains(&row) {
            let at = row;
            jobs.push(Job {
                at,
                name,
                recipe,
                values,
                how,
            });
        }
    }
    Ok(jobs)
}

/// Refuses a recipe that could not be done with these values.
fn checked(file: &Path, recipe: &Recipe, values: &Values) -> Result<(), String> {
    let checked = deskline_mcp::check(recipe, values);
    checked.map_err(|wrong| wrong.in_file(file))
}

/// `deskline test`: each recipe of a folder on a fresh private desktop.
pub(crate) fn test(settings: &Settings, args: &TestArgs) -> Done {
    let files = files(&args.folder)?;
    let all = files.iter().map(|file| read(file));
    let all = all.collect::<Result<Vec<Recipe>, _>>()?;
    let mut jobs = Vec::new();
    for (at, (file, recipe)) in files.iter().zip(&all).enumerate() {
        let values = Values::new(&recipe.inputs, &BTreeMap::new());
        let values = values.map_err(|wrong| wrong.in_file(file))?;
        checked(file, recipe, &values)?;
        jobs.push(Job {
            at,
            name: stem(file),
            recipe,
            values,
            how: How {
                updates: args.update,
                heal: args.update.then(String::new).into_iter().collect(),
                ..How::default()
            },
        });
    }
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

/// `deskline recipes`: those that are kept, or one with its inputs and steps.
pub(crate) fn list(settings: &Settings, args: &RecipesArgs) -> Done {
    let folder = recipes(settings).ok_or("there is no folder for recipes: pass --recipes DIR")?;
    for file in &files(&folder)? {
        let name = stem(file);
        if args.name.as_ref().is_some_and(|wanted| *wanted != name) {
            continue;
        }
        let recipe = match read(file) {
            Ok(recipe) => recipe,
            Err(why) => {
                print(&why)?;
                continue;
            }
        };
        let steps = recipe.steps.len();
        print(&format!(
            "{name}  {}  {steps} steps  {}",
            recipe.app, recipe.about
        ))?;
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
    let Some(Ok(played)) = ends
        .into_iter()
        .find(|e| e.is_good())
        .map(|end| &end.played)
    else {
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
    fn open(recipe: &Path, values: u64, resume: bool) -> Fallible<Self> {
        let name = recipe.to_string_lossy();
        let file = PathBuf::from(format!("{}.resume", name.trim_end_matches('/')));
        if !resume {
            let now = Far {
                values,
                ..Far::default()
            };
            return Ok(Self { file, now });
        }
        let text = fs::read(&file).map_err(|_| "there is nothing to resume: it did not stop")?;
        let now: Far = serde_json::from_slice(&text)?;
        if now.values != values {
            return Err("the values differ from those that it stopped with: pass the same".into());
        }
        Ok(Self { file, now })
    }

    /// Notes how far it got, if it stopped.
    fn close(mut self, ends: &[End], is_run: bool) -> Fallible {
        for end in ends {
            if end.is_good() {
                self.now.done.insert(end.at);
            } else if let Ok(played) = &end.played {
                self.now.step = played.done.len();
                self.now.pid = played.stopped.as_ref().and_then(|stop| stop.pid);
            }
        }
        if is_run || ends.iter().all(End::is_good) {
            let _ = fs::remove_file(&self.file);
            return Ok(());
        }
        write(&self.file, &serde_json::to_string(&self.now)?)
    }
}
