//! `deskline learn`: a run becomes a recipe, which is kept only after it has worked.

use std::path::{Path, PathBuf};

use deskline_journal::{FileKind, Journal, Outcome, Record};
use deskline_recipe::{Input, Kind, Learn, Link, Screen};

use super::jobs::{Job, all_of, given, stem, write};
use super::{Done, Fallible, How, Recipe, SUFFIX, Settings, print, report};
use crate::cli::{KeepArgs, LearnArgs, Named};
use crate::run::recipes;

pub(super) const VERSION: &str = concat!("deskline ", env!("CARGO_PKG_VERSION"));

/// `deskline learn`.
pub(crate) fn learn(settings: &Settings, args: &LearnArgs) -> Done {
    let (links, run) = (links(&args.run)?, args.run.display());
    let calls = links.len();
    let file = file(settings, &args.keep, &args.run)?;
    let from = format!("Learned by {VERSION} from the {calls} calls in {run}");
    let settings = apart(settings, &args.run)?;
    keep(&settings, &args.keep, &file, &links, &from)
}

/// The settings, with another folder for the log if it would be `run`: what is done again must not
/// go into the log that it comes from.
pub(super) fn apart(settings: &Settings, run: &Path) -> Fallible<Settings> {
    let mut settings = settings.clone();
    let own = settings.journal()?.path().canonicalize()?;
    if run.canonicalize().is_ok_and(|run| run == own) {
        settings.dir = Some(format!("{}-again", own.display()).into());
    }
    Ok(settings)
}

/// The new recipe's file, which must not exist.
pub(super) fn file(settings: &Settings, args: &KeepArgs, of: &Path) -> Fallible<PathBuf> {
    let name = args.name.clone().unwrap_or_else(|| stem(of));
    let folder = recipes(settings).ok_or("there is no folder for recipes: pass --recipes DIR")?;
    let file = folder.join(format!("{name}{SUFFIX}"));
    if file.exists() {
        let file = file.display();
        return Err(format!("{file} exists: pass another --name, or remove it").into());
    }
    Ok(file)
}

/// Makes a recipe of what was done, and keeps it if it works from a clean start.
pub(super) fn keep(
    settings: &Settings,
    args: &KeepArgs,
    file: &Path,
    links: &[Link],
    from: &str,
) -> Done {
    let inputs = args.input.iter();
    let inputs = inputs.map(|named| (named.name.clone(), named.value.clone()));
    let learn = Learn {
        inputs: inputs.collect(),
        ..Learn::default()
    };
    let recipe = learn.recipe(links)?;
    let mut set = args.set.clone();
    let secrets = recipe.inputs.iter();
    let secrets = secrets.filter(|input| input.kind == Kind::Secret);
    for Input { name, .. } in secrets {
        if set.iter().all(|named| named.name != *name) {
            eprintln!(
                "deskline: the password {name} was not recorded. Type it, to try the recipe:"
            );
            let (name, value) = (name.clone(), "-".into());
            set.push(Named { name, value });
        }
    }
    let mut settings = settings.clone();
    settings.desktop = match settings.desktop {
        _ if args.here => None,
        None if cfg!(target_os = "linux") => Some(crate::cli::Own::default()),
        given => given,
    };
    let how = How {
        learns: true,
        ..How::default()
    };
    let job = Job::new(0, file, &recipe, &given(&recipe, &set)?, how)?;
    let jobs = [job];
    let ends = all_of(&settings, &jobs, 1, true)?;
    let done = report::told(&ends, None)?;
    let good = ends.iter().find(|end| end.is_good());
    let Some(Ok(played)) = good.map(|end| &end.played) else {
        eprintln!("deskline: no recipe is kept, as it did not work from a clean start");
        return Ok(done);
    };
    for check in &played.dropped {
        print(&format!("not checked, as it changes by itself: {check}"))?;
    }
    let origin = format!("{from}, and done once.");
    write(file, &played.recipe.write(&origin))?;
    print(&format!("{}: {} steps", file.display(), recipe.steps.len()))?;
    Ok(done)
}

/// A recipe that repeats a run exactly: every call, with a check of each change that the call made.
pub(super) fn literal(run: &Path) -> Fallible<Recipe> {
    Ok(Learn {
        literal: true,
        ..Learn::default()
    }
    .recipe(&links(run)?)?)
}

/// The calls of a log.
fn links(run: &Path) -> Fallible<Vec<Link>> {
    let run = Journal::open_to_read(Some(run))?;
    let records = run.records(usize::MAX)?;
    if records.is_empty() {
        return Err(format!("the log {} has no calls", run.path().display()).into());
    }
    let numbered = (1..).zip(&records);
    Ok(numbered.map(|(n, record)| link(&run, n, record)).collect())
}

fn link(run: &Journal, number: usize, record: &Record) -> Link {
    let text = record.file_name(FileKind::Text);
    let text = text.and_then(|name| run.read(name).ok());
    let names = record.known_as.first().map(|known| &known.names);
    let words = deskline_view::words(&record.tool, &record.arguments, record.answer.as_deref());
    Link {
        tool: record.tool.clone(),
        arguments: record.arguments.as_object().cloned().unwrap_or_default(),
        worked: record.outcome == Outcome::Ok,
        pid: record.pid,
        app: record.app.clone().unwrap_or_default(),
        program: names.and_then(|names| names.first().cloned()),
        answer: record.answer.clone(),
        screen: text.map(|text| Screen::parse(&String::from_utf8_lossy(&text))),
        words: format!("call {number}: {words}"),
    }
}
