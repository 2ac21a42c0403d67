//! Deskline: lets an AI agent drive native desktop apps through the accessibility tree.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod cli;
mod config;
#[cfg(target_os = "linux")]
mod demo;
mod facts;
mod grants;
#[cfg(unix)]
mod http;
mod install;
mod lint;
mod log;
mod output;
mod pages;
mod platform;
mod recipe;
mod run;
mod state;
mod status;
mod view;
#[cfg(unix)]
mod warm;

use std::process::ExitCode;

use clap::Parser as _;
use cli::{Cli, Command};

fn main() -> ExitCode {
    #[cfg(windows)]
    deskline_windows::complete_environment();
    match config::command_line(std::env::args_os().collect()) {
        Ok(cli) => platform::run(move || start(cli)),
        Err(why) => {
            eprintln!("deskline: {why}");
            ExitCode::from(2)
        }
    }
}

/// Checks the server's options first, because clients do not show why a server does not start.
fn install(args: &install::InstallArgs) -> output::Done {
    let words = std::iter::once("deskline").chain(args.server.iter().map(String::as_str));
    Cli::try_parse_from(words)?;
    install::install(args)
}

fn start(cli: Cli) -> ExitCode {
    let is_json = cli.settings.log_format == cli::LogFormat::Json;
    output::trace(cli.settings.verbose, is_json);
    let settings = &cli.settings;
    let command = cli
        .command
        .unwrap_or_else(|| Command::Serve(cli::Serve::default()));
    #[cfg(target_os = "linux")]
    if let Err(error) = platform::shield(settings, &command) {
        output::failure(&*error);
        return ExitCode::FAILURE;
    }
    let done = match command {
        #[cfg(unix)]
        Command::Serve(serve) => http::serve(settings, &serve),
        #[cfg(windows)]
        Command::Serve(_) => run::serve(settings),
        #[cfg(unix)]
        Command::Call(call) if call.warm.is_some() => warm::call(settings, call),
        Command::Call(call) => run::call(settings, &call),
        #[cfg(unix)]
        Command::Warm { idle, path } => warm::serve(settings, idle, &path),
        Command::Log(args) => run::log(settings, &args),
        Command::Run(args) => recipe::run(settings, &args),
        Command::Lint(args) => lint::lint(settings, &args),
        Command::Recipes(args) => recipe::list(settings, &args),
        Command::Learn(args) => recipe::learn(settings, &args),
        #[cfg(target_os = "linux")]
        Command::Record(args) => recipe::record(settings, &args),
        Command::Test(args) => recipe::test(settings, &args),
        Command::View(args) => view::view(settings, &args),
        Command::Grants { command } => grants::run(&command.unwrap_or(cli::GrantsCommand::List)),
        Command::Grep { pattern, number } => log::grep(settings, &pattern, number),
        Command::Doctor { json, fix } => platform::doctor(settings, json, fix),
        Command::Status => status::status(settings),
        Command::Facts => facts::facts(settings),
        #[cfg(target_os = "linux")]
        Command::Demo => demo::demo(settings),
        Command::Install(args) => install(&args),
        Command::Uninstall(args) => install::uninstall(&args),
        Command::Skill => pages::skill(),
        Command::Desktop(desktop) => platform::desktop(settings, &desktop),
        #[cfg(target_os = "linux")]
        Command::Helper { name, arguments } => platform::helper(&name, &arguments),
        Command::Completions { shell } => pages::completions(shell),
        Command::Manual { folder } => pages::manual(&folder),
        #[cfg(windows)]
        Command::Guard { parent } => Ok(platform::guard(parent)),
    };
    done.unwrap_or_else(|error| {
        output::failure(&*error);
        ExitCode::FAILURE
    })
}
