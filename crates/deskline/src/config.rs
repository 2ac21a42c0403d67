//! The configuration file. It sets the options of `serve` that the command line does not set.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, FromArgMatches as _};
use deskline_core::nearest;
use toml_edit::{Document, Item, Value};

use crate::cli::{self, Cli};
use crate::install;

/// The commands that read the file.
const READERS: [&str; 12] = [
    "serve", "call", "doctor", "status", "log", "view", "grep", "run", "test", "learn", "record",
    "recipes",
];

/// Options that set a bound to what agents may do. An agent that can write the file must not be
/// able to widen a bound.
#[rustfmt::skip]
const BOUNDS: [&str; 6] = [
    "read_only", "allow_app", "deny_app", "ask", "desktop", "desktops",
];

/// The only options that are taken from the file if the command line sets a bound: they widen no
/// bound.
#[rustfmt::skip]
const HARMLESS: [&str; 7] = [
    "ask", "compat", "deny-app", "dir", "keep", "log-format", "read-only",
];

/// `~/.config/deskline/config.toml`; on Windows it is in `%APPDATA%`.
pub(crate) fn path() -> Option<PathBuf> {
    Some(install::settings_folder()?.join("deskline/config.toml"))
}

/// The command line, completed by the file. Help and wrong usage end the program.
pub(crate) fn command_line(given: Vec<OsString>) -> Result<Cli, String> {
    let matches = cli::command().get_matches_from(&given);
    let reads = matches
        .subcommand_name()
        .is_none_or(|name| READERS.contains(&name));
    let Some(file) = path().filter(|_| reads) else {
        return cli(&matches);
    };
    match fs::read_to_string(&file) {
        Ok(text) => {
            let (matches, ignored) = complete(given, &matches, &file, &text)?;
            for line in ignored {
                eprintln!("deskline: {line}");
            }
            cli(&matches)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => cli(&matches),
        Err(error) => Err(format!("{} cannot be read: {error}", file.display())),
    }
}

fn cli(matches: &ArgMatches) -> Result<Cli, String> {
    Cli::from_arg_matches(matches).map_err(|error| error.to_string())
}

/// The command line with the file's options, and a line for each option that was ignored.
fn complete(
    mut given: Vec<OsString>,
    matches: &ArgMatches,
    file: &Path,
    text: &str,
) -> Result<(ArgMatches, Vec<String>), String> {
    let document = Document::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line(text, span.start));
        format!("{}:{line}: {}", file.display(), error.message())
    })?;
    let program = cli::command();
    let serve = program
        .find_subcommand("serve")
        .ok_or("there is no serve")?;
    let serving = matches.subcommand_matches("serve");
    let is_given = |arg: &Arg| {
        [Some(matches), serving].into_iter().flatten().any(|m| {
            let id = arg.get_id().as_str();
            m.try_contains_id(id).is_ok()
                && !matches!(m.value_source(id), None | Some(ValueSource::DefaultValue))
        })
    };
    let all = || program.get_arguments().chain(serve.get_arguments());
    // An option sets no bound if its value is `false`, from the environment, or the default
    // `yours`.
    let sets = |arg: &Arg| {
        let mut raw = matches.get_raw(arg.get_id().as_str()).into_iter().flatten();
        !raw.any(|value| value == "false" || value == "yours")
    };
    let bound = all()
        .filter(|arg| BOUNDS.contains(&arg.get_id().as_str()))
        .any(|arg| is_given(arg) && (arg.get_id() == "desktops" || sets(arg)));
    let (mut general, mut own, mut ignored) = (vec![], vec![], vec![]);
    for (key, item) in document.as_table() {
        let span = document.as_table().key(key).and_then(toml_edit::Key::span);
        let at = line(text, span.map_or(0, |span| span.start));
        let place = format!("{}:{at}", file.display());
        let wrong = |why: String| format!("{place}: {why}");
        let is_it = |arg: &&Arg| arg.get_long() == Some(key) && takes(arg).is_some();
        let arg = all().find(is_it).ok_or_else(|| {
            let names = all()
                .filter(|arg| takes(arg).is_some())
                .filter_map(Arg::get_long);
            let near = nearest(key, names).unwrap_or_default();
            wrong(format!("there is no option {key}. Did you mean {near}?"))
        })?;
        let words = words(arg, item).map_err(wrong)?;
        let is_own = serve.get_arguments().any(|other| other == arg);
        check(&words, is_own).map_err(wrong)?;
        if is_given(arg) {
        } else if bound && !HARMLESS.contains(&key) {
            let why = "is not taken, as the command line says what the agent may do";
            ignored.push(format!("{place}: {key} {why}"));
        } else if !is_own {
            general.extend(words);
        } else if serving.is_some() || matches.subcommand_name().is_none() {
            own.extend(words);
        }
    }
    if matches.subcommand_name().is_none() {
        given.push("serve".into());
    }
    given.splice(1..1, general);
    given.extend(own);
    let matches = cli::command().try_get_matches_from(given);
    let matches = matches.map_err(|error| format!("{}: {}", file.display(), first(&error)))?;
    Ok((matches, ignored))
}

/// The kind of value that an option takes in the file. `None` if the option is for the command line
/// only.
fn takes(arg: &Arg) -> Option<&'static str> {
    match arg.get_action() {
        ArgAction::SetTrue => Some("true or false"),
        ArgAction::Append => Some("a list of strings, such as [\"gedit\"]"),
        ArgAction::Set => Some("a string or a number"),
        _ => None,
    }
}

/// The option as words of a command line.
fn words(arg: &Arg, item: &Item) -> Result<Vec<OsString>, String> {
    let name = arg.get_long().unwrap_or_default();
    let word = |value: &Value| match value {
        Value::String(text) => Some(format!("--{name}={}", text.value())),
        Value::Integer(number) => Some(format!("--{name}={}", number.value())),
        _ => None,
    };
    let words = match (arg.get_action(), item.as_value()) {
        (ArgAction::SetTrue, Some(Value::Boolean(on))) if *on.value() => {
            Some(vec![format!("--{name}")])
        }
        (ArgAction::SetTrue, Some(Value::Boolean(_))) => Some(vec![]),
        (ArgAction::Append, Some(Value::Array(all))) => all.iter().map(word).collect(),
        (ArgAction::Set, Some(value)) => word(value).map(|word| vec![word]),
        _ => None,
    };
    let words: Vec<String> =
        words.ok_or_else(|| format!("{name} must be {}", takes(arg).unwrap_or_default()))?;
    Ok(words.into_iter().map(OsString::from).collect())
}

/// Checks an option by its own parser. A later check finds out whether the options that it requires
/// are missing.
fn check(words: &[OsString], is_own: bool) -> Result<(), String> {
    let start = ["deskline", "serve"].map(OsString::from);
    let start = if is_own { &start[..] } else { &start[..1] };
    match cli::command().try_get_matches_from(start.iter().chain(words)) {
        Err(error) if error.kind() != ErrorKind::MissingRequiredArgument => Err(first(&error)),
        _ => Ok(()),
    }
}

/// The error of clap on one line, without the help that follows.
fn first(error: &clap::Error) -> String {
    let text = error.to_string();
    let what = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = what
        .trim_start_matches("error: ")
        .split_whitespace()
        .collect();
    words.join(" ")
}

fn line(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The program's settings with this command line and this file, and what was not taken.
    fn read(command_line: &str, text: &str) -> Result<(Cli, Vec<String>), String> {
        let given: Vec<OsString> = command_line.split(' ').map(OsString::from).collect();
        let matches = cli::command().try_get_matches_from(&given).unwrap();
        let (matches, ignored) = complete(given, &matches, Path::new("F"), text)?;
        Ok((cli(&matches).unwrap(), ignored))
    }

    #[test]
    fn the_configuration_file_fills_in_what_the_command_line_leaves_out() {
        let text = "keep = \"3d\"\nguard-timeout = 9\nask = true\nread-only = false\n\
            allow-app = [\"gedit\", \"gimp\"]\n";
        for line in [
            "deskline",
            "deskline serve",
            "deskline call list_applications {}",
        ] {
            let (cli, ignored) = read(line, text).unwrap();
            let settings = cli.settings;
            assert_eq!(settings.keep, "3d".parse().unwrap(), "{line}");
            assert_eq!((settings.guard_timeout, settings.ask), (9, true));
            assert!(!settings.read_only && ignored.is_empty());
            assert_eq!(settings.allow_app, ["gedit", "gimp"]);
        }
        let (cli, _) = read("deskline log --keep=1d --guard-timeout 3", text).unwrap();
        assert_eq!(cli.settings.keep, "1d".parse().unwrap());
        assert_eq!(cli.settings.guard_timeout, 3);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn options_of_serve_in_the_file_apply_to_serve_alone() {
        let text = "http = \"127.0.0.1:0\"\ndesktops = 3\nidle = 5";
        for line in ["deskline", "deskline serve"] {
            let (cli, ignored) = read(line, text).unwrap();
            let Some(cli::Command::Serve(serve)) = cli.command else {
                panic!("{line} serves nothing");
            };
            assert_eq!((serve.desktops, serve.warm), (Some(3), 1), "{line}");
            assert!(ignored.is_empty() && serve.http.is_some());
        }
        assert!(matches!(
            read("deskline log", text).unwrap().0.command,
            Some(cli::Command::Log { .. })
        ));
        let error = read("deskline", "host = [\"a\"]").unwrap_err();
        assert_eq!(
            error,
            "F: the following required arguments were not provided: --http <ADDR>"
        );
    }

    /// An agent that can write the file gets nothing that the command line keeps from it.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_configuration_file_widens_no_bound_of_the_command_line() {
        let text = "allow-commands = true\nallow-app = [\"keepassxc\"]\nguard = \"off\"\n\
            home = \"/home/you\"\nattended = true\ndeny-app = [\"gimp\"]\n";
        let bounds = "--allow-app=gedit --deny-app=vlc --ask --read-only --desktop=private";
        for bound in bounds.split(' ') {
            let line = format!("deskline {bound}");
            let alone = read(&line, "").unwrap().0.settings;
            let (with, ignored) = read(&line, text).unwrap();
            let with = with.settings;
            assert!(
                !with.allow_commands && with.home.is_none() && !with.attended,
                "{bound}"
            );
            assert_eq!(
                (with.guard, &with.allow_app),
                (alone.guard, &alone.allow_app),
                "{bound}"
            );
            assert!(
                with.deny_app == ["gimp"] || with.deny_app == ["vlc"],
                "{bound}"
            );
            assert!(
                ignored[0].starts_with("F:1: allow-commands is not taken"),
                "{ignored:?}"
            );
        }
        let (cli, _) = read("deskline", text).unwrap();
        assert!(cli.settings.allow_commands && cli.settings.attended);
        let (cli, _) = read("deskline --desktop yours", text).unwrap();
        assert!(cli.settings.allow_commands && cli.settings.desktop.is_none());
    }

    #[test]
    fn an_error_in_the_file_names_the_line_and_the_accepted_form() {
        let rows = [
            "keep = \"3d\"\nguards = 1 => F:2: there is no option guards. Did you mean guard?",
            "\n\nask = \"yes\" => F:3: ask must be true or false",
            "allow-app = \"gedit\" => F:1: allow-app must be a list of strings, such as [\"gedit\"]",
            "allow-app = [1.5] => F:1: allow-app must be a list of strings, such as [\"gedit\"]",
            "guard-timeout = true => F:1: guard-timeout must be a string or a number",
            "guard-timeout = 999 => F:1: invalid value '999' for '--guard-timeout <SECONDS>': \
                999 is not in 1..=600",
            "[asks]\nask = true => F:1: there is no option asks. Did you mean ask?",
            "help = true => F:1: there is no option help. Did you mean keep?",
            "ask = true\nask = true => F:2: duplicate key",
            "ask =  => F:1: string values must be quoted, expected literal string",
        ];
        for (text, error) in rows.iter().filter_map(|row| row.split_once(" => ")) {
            let Err(found) = read("deskline", text) else {
                panic!("{text} was taken");
            };
            assert_eq!(found, error, "{text}");
        }
    }
}
