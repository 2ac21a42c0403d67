//! The command line.

#[cfg(test)]
mod page_tests;
mod recipes;
mod values;

use std::ffi::OsString;
#[cfg(unix)]
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::time::Duration;

use clap::builder::FalseyValueParser;
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
use deskline_journal::{Journal, Retention};

use crate::install::InstallArgs;
use crate::output::Fallible;
#[cfg(target_os = "linux")]
pub(crate) use recipes::RecordArgs;
pub(crate) use recipes::{KeepArgs, LearnArgs, LintArgs, RecipesArgs, RunArgs, TestArgs};
#[cfg(unix)]
use values::minutes;
#[cfg(target_os = "linux")]
use values::size;
pub(crate) use values::{Named, Object, Own, Size};
use values::{object, private};

const AFTER: &str = "\
Add it to an agent's client:
  deskline install claude-code                  or another: deskline install --help
  deskline install cursor --project --dry-run   shows what would be written
  deskline install codex -- --desktop private   with options of the server
  deskline skill                                for agents that use a shell instead of MCP

Try it yourself:
  deskline doctor                               checks everything that it needs; --fix repairs what it can
  deskline demo                                 what agents do, on a private desktop
  deskline call list_applications
  deskline call open_application_and_traverse '{\"identifier\": \"gnome-calculator\"}'
  deskline call click_and_traverse '{\"pid\": 4821, \"element\": \"7\", \"role\": \"AXButton\"}'
  deskline --desktop private call open_application_and_traverse '{\"identifier\": \"gedit\"}'
  deskline log --follow                         what agents do
  deskline view                                 the same in a browser, with screenshots
  deskline learn RUN                            a log's calls as a recipe, which needs no model
  deskline grep 'Total: [0-9]+'                 when was that last on a screen?

Exit codes:
  0  it worked; for serve: the client left or a signal came
  1  it failed: a tool answered with an error, doctor found something missing, the server ended
     with an error
  2  the command line is wrong";

/// Lets an AI agent drive native desktop apps through the accessibility tree.
///
/// Without a command it is an MCP server on standard input and output. Each call of a tool acts on
/// an app and answers with what changed. It also writes the app's tree (.txt) and window (.png) to
/// the log, where the agent can search them.
#[derive(Debug, Parser)]
#[command(name = "deskline", version, after_help = AFTER, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) settings: Settings,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

const MAY: &str = "What the agent may do";
const YOURS: &str = "Your keyboard and mouse";
const DESKTOP: &str = "Which desktop";
const LOG: &str = "The log, and the rest";
#[cfg(unix)]
const HTTP: &str = "Over HTTP";
#[cfg(target_os = "linux")]
const CLIENTS: &str = "A desktop for each client";

/// The options of a server. Every command accepts them, but a command's help shows only those that
/// concern it.
#[derive(Debug, Clone, Args)]
pub(crate) struct Settings {
    /// Offer only the tools that change nothing on the desktop
    #[arg(help_heading = MAY, long, global = true, env = "DESKLINE_READ_ONLY")]
    #[arg(value_parser = FalseyValueParser::new())]
    pub(crate) read_only: bool,
    /// Act in and read only apps with this executable, by path or name, or this desktop-file id;
    /// may be given several times
    #[arg(help_heading = MAY, long, global = true, value_name = "NAME")]
    pub(crate) allow_app: Vec<String>,
    /// Never act in or read apps whose name contains this; may be given several times
    #[arg(help_heading = MAY, long, global = true, value_name = "NAME")]
    pub(crate) deny_app: Vec<String>,
    /// Despite --allow-app, --deny-app and --ask, open apps with any arguments
    #[arg(help_heading = MAY, long, global = true)]
    pub(crate) allow_commands: bool,
    /// Ask you, through the MCP client, before the agent acts in an app for the first time, and
    /// before it presses a button of an alert; see deskline grants
    #[arg(help_heading = MAY, long, global = true, env = "DESKLINE_ASK")]
    #[arg(value_parser = FalseyValueParser::new())]
    pub(crate) ask: bool,
    /// The folder of the recipes that agents can call as tools; `off`: none
    #[arg(help_heading = MAY, long, global = true, value_name = "DIR|off")]
    pub(crate) recipes: Option<PathBuf>,
    /// The input lock: `input` blocks your keyboard and mouse while the agent's input is sent,
    /// `full` also shows a banner (on GNOME with the extension), `off` does neither
    #[arg(help_heading = YOURS, long, global = true, value_name = "off|input|full")]
    #[arg(default_value = "full", hide_possible_values = true)]
    pub(crate) guard: GuardMode,
    /// Unblock your input after this many seconds at the latest
    #[arg(help_heading = YOURS, long, global = true, value_name = "SECONDS", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=600))]
    pub(crate) guard_timeout: u16,
    /// The agent's desktop: `yours`, or one of its own, such as `private` or `private=1920x1080`
    /// (X11, on Linux); `private-wayland` is for apps that do not run on X11
    #[arg(help_heading = DESKTOP, long, global = true)]
    #[arg(value_name = "yours|private[=WxH]|private-wayland[=WxH]")]
    #[arg(default_value = "yours", value_parser = private)]
    pub(crate) desktop: Private,
    /// The home directory of the private desktop's apps [default: a temporary, empty one]
    #[cfg(target_os = "linux")]
    #[arg(help_heading = DESKTOP, long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// You take part on the private desktop: block your input there too, and put your window and
    /// pointer back
    #[cfg(target_os = "linux")]
    #[arg(help_heading = DESKTOP, long, global = true)]
    pub(crate) attended: bool,
    /// The log's folder [default: /tmp/deskline]
    #[arg(help_heading = LOG, long, global = true, env = "DESKLINE_DIR", value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// How much the log keeps: a size, an age or both
    #[arg(help_heading = LOG, long, global = true, value_name = "SIZE,AGE")]
    #[arg(default_value = "1GiB,7d")]
    pub(crate) keep: Retention,
    /// The format of standard error: `json` writes one object per line
    #[arg(help_heading = LOG, long, global = true, value_name = "text|json")]
    #[arg(default_value = "text", hide_possible_values = true)]
    pub(crate) log_format: LogFormat,
    /// Print more to standard error; twice for still more
    #[arg(help_heading = LOG, short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Use the tool names and the folder of another server: `macos-use`
    #[arg(help_heading = LOG, long, global = true, value_name = "SERVER")]
    #[arg(hide_possible_values = true)]
    pub(crate) compat: Option<Compat>,
}

/// A private desktop, if there is one. This alias hides the type's name `Option`, which would make
/// clap treat the argument as one without a default.
pub(crate) type Private = Option<Own>;

/// The folder of a macos-use setup.
const MACOS_USE: &str = "/tmp/macos-use";

/// The definition of the command line. Each command shows the options that concern it.
pub(crate) fn command() -> clap::Command {
    let mut program = Cli::command();
    let settings: Vec<clap::Arg> = program.get_arguments().cloned().collect();
    for command in program.get_subcommands_mut() {
        let shown: &[&str] = match command.get_name() {
            "serve" | "call" | "run" | "test" | "learn" | "record" => continue,
            "doctor" | "status" => &["dir", "desktop", "home", "attended"],
            "log" | "view" | "grep" => &["dir", "compat"],
            "demo" | "desktop" => &["home"],
            "recipes" => &["recipes"],
            _ => &[],
        };
        for arg in &settings {
            if !shown.contains(&arg.get_id().as_str()) {
                // Inside the command, this hidden copy replaces the program's own argument.
                *command = std::mem::take(command).arg(arg.clone().hide(true));
            }
        }
    }
    program
}

impl Settings {
    /// Opens the journal.
    pub(crate) fn journal(&self) -> Fallible<Journal> {
        Ok(Journal::open(self.folder(), self.keep)?)
    }

    /// The options that start a server with the same settings, in a fixed order.
    #[cfg(unix)]
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        let mut options: Vec<(&str, OsString)> = Vec::new();
        options.extend(self.dir.iter().map(|dir| ("dir", dir.into())));
        options.extend(self.recipes.iter().map(|dir| ("recipes", dir.into())));
        options.push(("keep", self.keep.to_string().into()));
        options.extend(self.allow_app.iter().map(|app| ("allow-app", app.into())));
        options.extend(self.deny_app.iter().map(|app| ("deny-app", app.into())));
        options.push(("guard", name(&self.guard)));
        options.push(("guard-timeout", self.guard_timeout.to_string().into()));
        options.extend(self.desktop.map(|own| ("desktop", own.to_string().into())));
        options.extend(self.compat.map(|compat| ("compat", name(&compat))));
        #[cfg(target_os = "linux")]
        options.extend(self.home.iter().map(|home| ("home", home.into())));
        let flags = [
            #[cfg(target_os = "linux")]
            (self.attended, "--attended"),
            (self.log_format == LogFormat::Json, "--log-format=json"),
            (self.allow_commands, "--allow-commands"),
            (self.ask, "--ask"),
            (self.read_only, "--read-only"),
        ];
        let option = |(name, value)| {
            let mut argument = OsString::from(format!("--{name}="));
            argument.push::<OsString>(value);
            argument
        };
        let flag = |(is_set, flag): (bool, &str)| is_set.then(|| flag.into());
        let flags = flags.into_iter().filter_map(flag);
        options.into_iter().map(option).chain(flags).collect()
    }

    /// The journal's folder, if it is not the default.
    pub(crate) fn folder(&self) -> Option<&Path> {
        let compat = self.compat.map(|Compat::MacosUse| Path::new(MACOS_USE));
        self.dir.as_deref().or(compat)
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve MCP on standard input and output (the default), or over HTTP
    Serve(Serve),
    /// Call one tool as an agent would, and print its answer
    Call(Call),
    /// Check everything that Deskline needs, and show how to install what is missing
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// First repair everything that needs no root
        #[arg(long)]
        fix: bool,
    },
    /// Show what is set up: version, desktop, clients with an entry, and what is missing
    Status,
    /// Print one page about this desktop for a bug report, without titles and names
    ///
    /// It only reads, for at most 30 s. When a call first goes wrong, a server writes this page as
    /// facts.txt into its log's folder.
    Facts,
    /// Show what agents do, on a private desktop: a sum, and a note that is saved
    ///
    /// Needs gnome-calculator and mousepad. Its files stay in /tmp/deskline-demo.
    #[cfg(target_os = "linux")]
    Demo,
    /// Show the latest calls of the log
    Log(LogArgs),
    /// Show the log in the browser: each call with its screenshot, its changes and its answer
    ///
    /// Serves a page on 127.0.0.1 until Ctrl+C; new calls appear as they come.
    View(ViewArgs),
    /// Do a recipe, or repeat the calls of a log, and stop at the first difference
    ///
    /// No model takes part. Exits with 1 if it stopped.
    #[command(alias = "replay")]
    Run(RunArgs),
    /// Find controls of an app without label, keys or fitting role, and text of little contrast
    ///
    /// Exits with 1 if it found something.
    Lint(LintArgs),
    /// List the recipes that are kept, or describe one
    Recipes(RecipesArgs),
    /// Make a recipe of the calls of a log, and keep it if it works from a clean start
    Learn(LearnArgs),
    /// Make a recipe of what you do in an app (Linux), and keep it if it works from a clean start
    ///
    /// Ctrl+C or the end of the app finishes it. What you type into a password field is not
    /// recorded.
    #[cfg(target_os = "linux")]
    Record(RecordArgs),
    /// Do each recipe of a folder on a fresh private desktop, as a test of its apps
    Test(TestArgs),
    /// Find when some text was last on a screen: searches all tree files, newest first
    ///
    /// Exits with 1 if there is no match.
    Grep {
        /// A regular expression, case-insensitive
        pattern: String,
        /// How many lines at most
        #[arg(short, default_value_t = 20, value_name = "N")]
        number: usize,
    },
    /// List and change your answers to --ask: in which apps agents may act
    Grants {
        #[command(subcommand)]
        command: Option<GrantsCommand>,
    },
    /// Add Deskline to an MCP client: adds one entry to its configuration and changes nothing else
    Install(InstallArgs),
    /// Remove the entry from a client's configuration
    #[command(mut_arg("server", |server| server.hide(true)))]
    Uninstall(InstallArgs),
    /// Print a skill (SKILL.md) for agents that use a shell instead of MCP
    Skill,
    /// Run a private desktop until a signal comes or its command ends
    Desktop(DesktopArgs),
    /// Run a small process that outlives a server
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    Helper {
        name: String,
        arguments: Vec<OsString>,
    },
    /// Serve `call --warm`
    #[cfg(unix)]
    #[command(hide = true)]
    Warm {
        /// The minutes without a call after which it ends
        #[arg(value_parser = minutes)]
        idle: Duration,
        /// The socket, without its extension
        path: PathBuf,
    },
    /// Keep the person's input out for a server of this program, and end with it
    #[cfg(windows)]
    #[command(hide = true)]
    Guard {
        /// The server's process
        parent: u32,
    },
    /// Print the completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages, for packages
    #[command(hide = true)]
    Manual {
        /// The folder, which must exist
        folder: PathBuf,
    },
}

/// An app is the path of its executable or script, the executable's name, or the id of its desktop
/// file, package or bundle.
#[derive(Debug, Subcommand)]
pub(crate) enum GrantsCommand {
    /// List them (the default)
    List,
    /// Let agents act in an app; also in one that keeps passwords
    Allow { app: String },
    /// Keep an app from agents: they cannot read it either
    Deny { app: String },
    /// Remove the answer about an app
    Revoke { app: String },
    /// Print them as JSON
    Export,
}

/// The network of a client's desktop.
#[cfg(target_os = "linux")]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Net {
    #[default]
    None,
    Internet,
    Shared,
}

#[derive(Debug, Default, Args)]
pub(crate) struct Serve {
    /// Serve streamable HTTP at this address, such as 127.0.0.1:8765. Clients send a token: made at
    /// the first start, or taken from DESKLINE_TOKEN
    #[cfg(unix)]
    #[arg(help_heading = HTTP, long, value_name = "ADDR")]
    pub(crate) http: Option<SocketAddr>,
    /// A host name by which clients reach it, besides loopback; may be given several times
    #[cfg(unix)]
    #[arg(help_heading = HTTP, long, value_name = "NAME", requires = "http")]
    pub(crate) host: Vec<String>,
    /// Answer /health and /ready at this address too, which clients cannot keep busy
    #[cfg(unix)]
    #[arg(help_heading = HTTP, long, value_name = "ADDR", requires = "http")]
    pub(crate) probes: Option<SocketAddr>,
    /// Give each client a private desktop of its own, at most N
    #[cfg(target_os = "linux")]
    #[arg(help_heading = CLIENTS, long, value_name = "N", requires = "http")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) desktops: Option<u16>,
    /// Start this many desktops in advance
    #[cfg(target_os = "linux")]
    #[arg(help_heading = CLIENTS, long, value_name = "N", requires = "desktops", default_value_t = 1)]
    pub(crate) warm: u16,
    /// The network of the desktops' apps. `internet`: without this machine's own ports; needs the
    /// package passt, and a server that is not root. `shared`: with its loopback too
    #[cfg(target_os = "linux")]
    #[arg(help_heading = CLIENTS, long, value_name = "none|internet|shared", requires = "desktops")]
    #[arg(default_value = "none", hide_possible_values = true)]
    pub(crate) net: Net,
    /// Do not seal the desktops off from each other, for clients that trust each other
    #[cfg(target_os = "linux")]
    #[arg(help_heading = CLIENTS, long, requires = "desktops")]
    pub(crate) unsealed: bool,
    /// The memory limit of each desktop with its apps, such as 2GiB: apps that need more are killed
    #[cfg(target_os = "linux")]
    #[arg(help_heading = CLIENTS, long, value_name = "SIZE", requires = "desktops", value_parser = size)]
    pub(crate) memory: Option<u64>,
    /// The limit of processes and threads of each desktop with its apps
    #[cfg(target_os = "linux")]
    #[arg(help_heading = CLIENTS, long, value_name = "N", requires = "desktops")]
    pub(crate) processes: Option<u32>,
    /// Answer /metrics without the token: it has numbers and no text of a screen
    #[cfg(unix)]
    #[arg(help_heading = HTTP, long, requires = "http")]
    pub(crate) metrics_open: bool,
    /// Show the desktops' logs to browsers below /view/. The password is the viewer's token: made
    /// at the first start, or taken from DESKLINE_VIEW_TOKEN
    #[cfg(unix)]
    #[arg(help_heading = HTTP, long, requires = "http")]
    pub(crate) view: bool,
    /// End a client's session and its desktop after this many minutes without a call
    #[cfg(unix)]
    #[arg(help_heading = HTTP, long, value_name = "MINUTES", requires = "http")]
    #[arg(default_value = "30", value_parser = minutes)]
    pub(crate) idle: Duration,
}

#[derive(Debug, Args)]
pub(crate) struct Call {
    /// The tool's name
    pub(crate) tool: String,
    /// Its arguments, a JSON object; `-` reads them from standard input, which other users of the
    /// machine cannot see
    #[arg(default_value = "{}", value_parser = object)]
    pub(crate) arguments: Object,
    /// Print the whole MCP result as JSON, with screenshots
    #[arg(long)]
    pub(crate) json: bool,
    /// Leave the server running until it has been idle for these minutes: further calls are faster
    /// and find the same private desktop [10 without a number]
    #[cfg(unix)]
    #[arg(long, value_name = "MINUTES", num_args = 0..=1)]
    #[arg(require_equals = true, default_missing_value = "10")]
    #[arg(value_parser = minutes)]
    pub(crate) warm: Option<Duration>,
}

/// The outcomes by which records can be selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutcomeFilter {
    Ok,
    Cancelled,
    Error,
}

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// How many calls
    #[arg(short, default_value_t = 20, value_name = "N")]
    pub(crate) number: usize,
    /// Print JSON, one object per line
    #[arg(long)]
    pub(crate) json: bool,
    /// Keep printing new calls, until Ctrl+C
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Only calls to apps whose name contains this
    #[arg(long, value_name = "NAME")]
    pub(crate) app: Option<String>,
    /// Only calls of tools whose name contains this
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Only calls with this outcome
    #[arg(long)]
    pub(crate) outcome: Option<OutcomeFilter>,
}

#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    /// The folder of the log [default: as --dir]
    #[arg(value_name = "DIR")]
    pub(crate) run: Option<PathBuf>,
    /// Instead of serving a page, write one: an .html with everything in it, to keep or to mail, or
    /// a .gif of the screenshots
    #[arg(long, value_name = "FILE.html|.gif", conflicts_with_all = ["port", "no_open"])]
    pub(crate) export: Option<PathBuf>,
    /// With --export: only the newest N calls
    #[arg(short, value_name = "N", requires = "export")]
    pub(crate) number: Option<usize>,
    /// The port on 127.0.0.1 [default: any free one]
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    #[arg(hide_default_value = true)]
    pub(crate) port: u16,
    /// Print the page's address, but open no browser
    #[arg(long)]
    pub(crate) no_open: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DesktopArgs {
    /// Width and height of its screen in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x800")]
    pub(crate) size: Size,
    /// Make it a Wayland desktop, not an X11 one
    #[arg(long)]
    pub(crate) wayland: bool,
    /// Watch it and take part with a VNC viewer
    #[arg(long)]
    pub(crate) watch: bool,
    /// Print how to reach it as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// End it when standard input ends
    #[arg(long, conflicts_with = "command")]
    pub(crate) until_eof: bool,
    /// A command to run on it; the desktop ends with it
    #[arg(last = true)]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GuardMode {
    Off,
    Input,
    Full,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compat {
    MacosUse,
}

/// The value as it is written on the command line.
#[cfg(unix)]
fn name(value: &impl ValueEnum) -> OsString {
    let value = value.to_possible_value();
    value.map_or_else(OsString::new, |value| value.get_name().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(line.split(' '))
    }

    #[test]
    fn the_definition_of_the_command_line_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn serving_is_the_default_and_options_may_stand_anywhere() {
        assert!(parse("deskline --read-only").unwrap().command.is_none());
        let cli = parse(
            "deskline call refresh_traversal {\"pid\":1} --keep 3d --desktop private=800x600",
        )
        .unwrap();
        assert_eq!(cli.settings.keep, "3d".parse().unwrap());
        let size = cli.settings.desktop.unwrap().size;
        assert_eq!((size.width, size.height), (800, 600));
        assert!(matches!(cli.command, Some(Command::Call(call)) if call.arguments["pid"] == 1));
    }

    #[test]
    fn the_arguments_of_a_server_have_the_same_settings() {
        let line = "deskline call t --warm=5 --dir=/d --keep=3d --allow-app=a --deny-app=b \
            --guard=input --guard-timeout=9 --desktop=private-wayland=800x600 --compat=macos-use --home=/h \
            --attended --log-format=json --allow-commands --ask \
            --read-only --recipes=/r";
        let settings = parse(line).unwrap().settings;
        let arguments = settings.arguments();
        let again = ["deskline".into()].into_iter().chain(arguments);
        let again = Cli::try_parse_from(again).unwrap().settings;
        assert_eq!(format!("{settings:?}"), format!("{again:?}"));
    }

    #[test]
    fn the_arguments_of_a_spawned_private_desktop_are_parsed() {
        let cli = parse(
            "deskline desktop --json --until-eof --size=1280x800 --wayland --watch --home=/h",
        );
        let cli = cli.unwrap();
        let Some(Command::Desktop(desktop)) = cli.command else {
            panic!("another command");
        };
        assert!(desktop.json && desktop.until_eof && desktop.wayland && desktop.watch);
        assert_eq!(cli.settings.home, Some(PathBuf::from("/h")));
    }

    #[test]
    fn wrong_usage_ends_with_exit_code_2() {
        let wrong = [
            "call; call refresh_traversal [1]; call refresh_traversal {; --keep much; nonsense",
            "--desktop shared; --desktop private=1x1; --desktop private-x11; --compat other",
            "--desktop yours=800x600; --guard maybe",
        ];
        for line in wrong.iter().flat_map(|lines| lines.split("; ")) {
            let line = format!("deskline {line}");
            assert_eq!(parse(&line).unwrap_err().exit_code(), 2, "{line}");
        }
    }
}
