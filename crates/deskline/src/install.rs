//! `deskline install` and `deskline uninstall`: add and remove one entry in an MCP client's
//! configuration, and change nothing else in that file.

#[cfg(any(target_os = "macos", test))]
mod app;
pub(crate) mod client;
mod file;
mod json;
mod server;
mod toml;
mod yaml;

use std::process::{Command, ExitCode};

use clap::{Args, ValueEnum as _};
pub(crate) use client::settings_folder;
use client::{Client, Format, Location};
use file::File;
use server::{NAME, Server};

use crate::output::{Done, say};

type Result<T> = std::result::Result<T, String>;

/// The arguments of `install` and `uninstall`.
#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// The client
    #[arg(value_enum)]
    pub(crate) client: Client,
    /// Only show what would be written or run
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// For the project in the current folder only
    #[arg(long)]
    pub(crate) project: bool,
    /// Options of the server, such as: -- --desktop private
    #[arg(last = true, value_name = "OPTIONS")]
    pub(crate) server: Vec<String>,
}

/// Adds this program to the client's configuration.
pub(crate) fn install(args: &InstallArgs) -> Done {
    Ok(add(args).map(|()| ExitCode::SUCCESS)?)
}

/// Removes the entry. If nothing else has changed since `install`, the file is restored byte for
/// byte.
pub(crate) fn uninstall(args: &InstallArgs) -> Done {
    Ok(take_out(args).map(|()| ExitCode::SUCCESS)?)
}

/// A line for each client that has an entry for all projects: its file, and how it starts Deskline.
pub(crate) fn entries() -> Vec<String> {
    let line = |client: &Client| {
        let location = client.location(None).ok()?;
        let file = File::read(&location.path).ok()?;
        let server = location.entry(&file.text).ok()??;
        let command = [&[server.program][..], &server.arguments].concat();
        let (title, path) = (client.title(), location.path.display());
        Some(format!("{title} ({path}): {}", command.join(" ")))
    };
    Client::value_variants().iter().filter_map(line).collect()
}

fn add(args: &InstallArgs) -> Result<()> {
    let server = Server::this(&args.server, args.dry_run)?;
    let location = location(args)?;
    if let Some(command) = location.own_command(&server) {
        return run(command, args.dry_run).map(|()| next(args.client));
    }
    let (file, path) = (File::read(&location.path)?, location.path.display());
    let text = location.with_entry(&file.text, &server);
    let text = text.map_err(|why| format!("{path}: {why}. It was left as it is"))?;
    if text == file.text {
        say!("{path} has this entry already.");
        return Ok(());
    }
    if args.dry_run {
        say!("{path} would become:\n{text}");
        return Ok(());
    }
    let backup = file.replace(&text, location.entry(&file.text)?.is_some())?;
    say!("Added {NAME} to {path}.");
    if let Some(backup) = backup {
        say!("The file as it was: {}", backup.display());
    }
    next(args.client);
    Ok(())
}

fn take_out(args: &InstallArgs) -> Result<()> {
    let location = location(args)?;
    if let Some(command) = location.own_removal() {
        return run(command, args.dry_run);
    }
    let (file, path) = (File::read(&location.path)?, location.path.display());
    let then = removed(&location, &file);
    let then = then.map_err(|why| format!("{path}: {why}. It was left as it is"))?;
    match then {
        Removal::Nothing => say!("{path} has no {NAME}."),
        Removal::File if args.dry_run => say!("{path} would be removed."),
        Removal::To(text) if args.dry_run => say!("{path} would become:\n{text}"),
        Removal::File => {
            file.remove()?;
            say!("Removed {path}, which had nothing else.");
        }
        Removal::To(text) => {
            file.put_back(&text)?;
            say!("Removed {NAME} from {path}.");
        }
    }
    Ok(())
}

enum Removal {
    Nothing,
    /// Remove the file, which was created for the entry.
    File,
    To(String),
}

fn removed(location: &Location, file: &File) -> Result<Removal> {
    let Some(server) = location.entry(&file.text)? else {
        return Ok(Removal::Nothing);
    };
    // Whether `install` has turned `text` into the current content.
    let became = |text: &str| {
        location
            .with_entry(text, &server)
            .is_ok_and(|t| t == file.text)
    };
    if let Some(before) = file.backup().filter(|before| became(before)) {
        return Ok(Removal::To(before));
    }
    if became("") {
        return Ok(Removal::File);
    }
    location.without_entry(&file.text).map(Removal::To)
}

impl Location {
    fn with_entry(&self, text: &str, server: &Server) -> Result<String> {
        match self.format {
            Format::Json(kind) => json::with(text, self.section, &kind.entry(server)),
            Format::Toml => toml::with(text, self.section, server),
            Format::Yaml => yaml::with(text, self.section, server),
        }
    }

    fn without_entry(&self, text: &str) -> Result<String> {
        match self.format {
            Format::Json(_) => json::without(text, self.section),
            Format::Toml => toml::without(text, self.section),
            Format::Yaml => yaml::without(text, self.section),
        }
    }

    /// The server in the entry; `None` if there is no entry.
    fn entry(&self, text: &str) -> Result<Option<Server>> {
        match self.format {
            Format::Json(_) => json::server(text, self.section),
            Format::Toml => toml::server(text, self.section),
            Format::Yaml => yaml::server(text, self.section),
        }
    }
}

fn location(args: &InstallArgs) -> Result<Location> {
    let project = args.project.then(std::env::current_dir).transpose();
    let project = project.map_err(|e| format!("the current folder: {e}"))?;
    args.client.location(project.as_deref())
}

/// Runs the client's own command.
fn run(mut command: Command, dry_run: bool) -> Result<()> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let shown: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    let shown = shown.join(" ");
    if dry_run {
        say!("It would run: {shown}");
        return Ok(());
    }
    say!("$ {shown}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{shown} ended with {status}")),
        Err(e) => Err(format!("{shown} cannot be run: {e}")),
    }
}

fn next(client: Client) {
    say!("{}", client.next_step());
    say!("Then ask it, for example: open the calculator with {NAME} and work out 7 × 6.");
}
