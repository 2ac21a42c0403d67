//! `deskline grants`: the person's answers about apps.

use std::path::Path;
use std::process::ExitCode;

use deskline_core::escape;
use deskline_journal::StateFile;
use deskline_link::doctor::Check;
use deskline_link::grants::{Answers, Grants, GrantsError, Kept};

use crate::cli::GrantsCommand;
use crate::output::{Done, Fallible, print};
use crate::state;

/// The answers of this user.
pub(crate) fn open(asks: bool) -> Grants {
    let file = state::folder().map(|folder| StateFile::new(folder, "grants.json"));
    Grants::new(file, asks)
}

pub(crate) fn run(command: &GrantsCommand) -> Done {
    let grants = open(false);
    match command {
        GrantsCommand::List => print(&listed(&grants.kept()?))?,
        GrantsCommand::Export => print(&serde_json::to_string_pretty(&grants.kept()?)?)?,
        GrantsCommand::Allow { app } => keep(&grants, app, Some(Kept::Always))?,
        GrantsCommand::Deny { app } => keep(&grants, app, Some(Kept::Never))?,
        GrantsCommand::Revoke { app } => keep(&grants, app, None)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn keep(grants: &Grants, app: &str, answer: Option<Kept>) -> Fallible {
    // A running program is known by its path with all symlinks resolved.
    let path = Path::new(app).canonicalize().ok();
    let path = path.filter(|path| Path::new(app).is_absolute() && path.is_file());
    let app = path.map_or_else(|| app.to_owned(), |path| path.display().to_string());
    let was_there = grants.keep(&app, answer)?;
    if answer.is_none() && !was_there {
        return Err(format!("there is no answer about {app}: see deskline grants").into());
    }
    Ok(())
}

fn listed(answers: &Answers) -> String {
    if answers.0.is_empty() {
        return "No app is allowed or denied for good.".to_owned();
    }
    let line = |(app, kept): (&String, &Kept)| {
        let kept = match kept {
            Kept::Always => "always",
            Kept::Never => "never ",
        };
        format!("{kept}  {}", escape::short(app, 400))
    };
    answers.0.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The doctor's check of the answers.
pub(crate) fn check() -> Check {
    const NAME: &str = "grants";
    match open(false).kept() {
        Ok(answers) if answers.0.is_empty() => {
            Check::ok(NAME, "none; with --ask you are asked about each app")
        }
        Ok(answers) => Check::ok(
            NAME,
            listed(&answers).replace("  ", " ").replace('\n', ", "),
        ),
        Err(GrantsError::NoHome) => Check::ok(NAME, "none, as there is no home directory"),
        Err(e) => Check::fail(
            NAME,
            format!("your answers cannot be read, so no app is allowed: {e}"),
            "repair the file, or remove it and answer again",
        ),
    }
}
