//! `deskline status`.

use std::env;
use std::process::ExitCode;

use deskline_link::doctor::{Report, Status};

use crate::cli::Settings;
use crate::output::{Done, print};
use crate::{config, install, platform};

/// Prints what is set up, and what is missing.
pub(crate) fn status(settings: &Settings) -> Done {
    let report = Report::new(platform::examine(settings)?);
    let mut lines = vec![format!(
        "version  {}, {}",
        env!("CARGO_PKG_VERSION"),
        env::current_exe()?.display()
    )];
    let file = config::path().filter(|file| file.is_file());
    let file = file.map_or_else(|| "none".to_owned(), |file| file.display().to_string());
    lines.push(format!("config   {file}"));
    lines.push(format!("log      {}", settings.journal()?.path().display()));
    let checks = report.checks.iter();
    let (well, ill): (Vec<_>, Vec<_>) = checks.partition(|check| check.status == Status::Ok);
    let missing = ill.iter();
    let missing = missing.map(|check| format!("missing  {}: {}", check.name, check.finding));
    let mut missing: Vec<_> = missing.collect();
    let desktop = well.iter().find(|check| check.name == "display");
    let desktop = desktop.map_or("none that works", |check| &check.finding);
    lines.push(format!("desktop  {desktop}"));
    let clients = install::entries();
    if clients.is_empty() {
        lines.push("clients  none; deskline install CLIENT adds it to one".into());
    }
    lines.extend(clients.iter().map(|client| format!("client   {client}")));
    if !missing.is_empty() {
        missing.push("deskline doctor says what to do about it".into());
    }
    lines.extend(missing);
    print(&lines.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}
