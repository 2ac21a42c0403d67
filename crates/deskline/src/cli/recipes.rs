//! The arguments of the commands about recipes.

use std::path::PathBuf;

use clap::Args;
use clap::builder::RangedU64ValueParser;

use super::values::{Named, named};

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The recipe's file, or the folder of a log
    #[arg(value_name = "FILE|RUN")]
    pub(crate) file: PathBuf,
    /// The value of an input; `-` as a value reads a line of standard input
    #[arg(long, value_name = "NAME=VALUE", value_parser = named)]
    pub(crate) set: Vec<Named>,
    /// A table of values: the recipe is done once for each row
    #[arg(long, value_name = "TABLE.csv")]
    pub(crate) from: Option<PathBuf>,
    /// Go on where it stopped
    #[arg(long)]
    pub(crate) resume: bool,
    /// Write changed targets into the file if all checks held; TEXT is the new text of a renamed
    /// target
    #[arg(long, value_name = "TEXT", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "")]
    pub(crate) heal: Vec<String>,
    #[command(flatten)]
    pub(crate) all: AllArgs,
}

/// How to do several rows or recipes.
#[derive(Debug, Args)]
pub(crate) struct AllArgs {
    /// How many rows or recipes at a time, each on a private desktop
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = several())]
    pub(crate) jobs: usize,
    /// Write a report: JSON, JUnit's XML, or a page with screenshots
    #[arg(long, value_name = "FILE.json|.xml|.html", value_parser = report)]
    pub(crate) report: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct LintArgs {
    /// The app's process
    pub(crate) pid: u32,
}

#[derive(Debug, Args)]
pub(crate) struct RecipesArgs {
    /// The recipe to describe: its inputs and steps
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// The folder of the recipes
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Write what shows now into the recipes whose checks do not hold
    #[arg(long)]
    pub(crate) update: bool,
    #[command(flatten)]
    pub(crate) all: AllArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LearnArgs {
    /// The folder of the log
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    #[command(flatten)]
    pub(crate) keep: KeepArgs,
}

#[cfg(target_os = "linux")]
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// The app, as an agent opens it: its name, desktop file or command
    #[arg(value_name = "APP")]
    pub(crate) app: String,
    #[command(flatten)]
    pub(crate) keep: KeepArgs,
}

/// How a new recipe is kept.
#[derive(Debug, Args)]
pub(crate) struct KeepArgs {
    /// The recipe's name [default: the folder's or the app's]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// A typed value that becomes an input
    #[arg(long, value_name = "NAME=VALUE", value_parser = named)]
    pub(crate) input: Vec<Named>,
    /// Another value of an input, to try the recipe with
    #[arg(long, value_name = "NAME=VALUE", value_parser = named)]
    pub(crate) set: Vec<Named>,
    /// Try it on your desktop, not on a private one
    #[arg(long)]
    pub(crate) here: bool,
}

fn several() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..)
}

fn report(text: &str) -> Result<PathBuf, String> {
    let ends = [".json", ".xml", ".html"]
        .iter()
        .any(|end| text.ends_with(end));
    ends.then(|| text.into())
        .ok_or("it must end in .json, .xml or .html".into())
}
