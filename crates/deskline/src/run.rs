//! The commands serve, call, log and grep.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use deskline_journal::{Follow, Turns};
use deskline_link::guard::{Guarding, Mode};
use deskline_link::{Cancel, Links, Policy, Reason};
use deskline_mcp::{Config, Dispatcher, NoReply, Nobody, Reply};
use serde::{Deserialize, Serialize};
use tokio::runtime::{Builder, Runtime};

use crate::cli::{Call, GuardMode, LogArgs, Settings};
use crate::install::settings_folder;
use crate::log::Table;
use crate::output::{Done, Fallible, is_read, print};
use crate::{facts, grants, platform};

/// How long a cancelled call may take to restore the desktop.
pub(crate) const RESTORE: Duration = Duration::from_secs(5);

/// Builds the server: the only place that connects the crates.
pub(crate) fn dispatcher(settings: &Settings) -> Fallible<(Dispatcher, platform::OpenDesktop)> {
    let journal = settings.journal()?;
    let open = platform::open(settings)?;
    let policy = Policy {
        allow: settings.allow_app.clone(),
        deny: settings.deny_app.clone(),
        commands: settings.allow_commands,
        grants: grants::open(settings.ask),
        guard: Guarding {
            mode: match settings.guard {
                GuardMode::Off => Mode::Off,
                GuardMode::Input => Mode::Input,
                GuardMode::Full => Mode::Full,
            },
            limit: Duration::from_secs(settings.guard_timeout.into()),
        },
    };
    // Without a guard, servers do not take turns: neither the input of other servers nor the
    // person's is kept out.
    let guarded = policy.guard.mode != Mode::Off;
    let turns = guarded.then(Turns::open).transpose();
    let turns = turns.inspect_err(|error| tracing::warn!("no turns: {error}"));
    let links = Links::new(Arc::clone(&open.platform), journal.clone(), policy.clone())
        .in_turns(turns.ok().flatten());
    let config = Config {
        policy,
        read_only: settings.read_only,
        compat_macos_use: settings.compat.is_some(),
        recipes: recipes(settings),
    };
    let platform = Arc::clone(&open.platform);
    let dispatcher = Dispatcher::new(platform, Box::new(links), journal, config)?;
    Ok((dispatcher, open))
}

/// `deskline serve`.
pub(crate) fn serve(settings: &Settings) -> Done {
    if io::stdin().is_terminal() {
        eprintln!(
            "deskline: serving MCP on standard input and output, which is meant for an agent; \
            see deskline --help. Ctrl-D ends it."
        );
    }
    let (dispatcher, open) = dispatcher(settings)?;
    facts::tell_of(settings, &open.platform, &settings.journal()?);
    if !settings.read_only {
        let platform = Arc::clone(&open.platform);
        let prepare = std::thread::Builder::new().name("prepare".into());
        prepare.spawn(move || platform.prepare())?;
    }
    in_runtime(async {
        let (input, output) = deskline_mcp::stdio();
        let stop = open.until(stopped()?);
        deskline_mcp::serve(Arc::new(dispatcher), input, output, stop).await?;
        Ok(open.exit_code())
    })
}

/// `deskline call`.
pub(crate) fn call(settings: &Settings, call: &Call) -> Done {
    let (dispatcher, _open) = dispatcher(settings)?;
    in_runtime(async {
        let cancel = Cancel::new();
        let answer = dispatcher.call(&call.tool, &call.arguments, &cancel, &Nobody);
        let reply = until_stopped(&cancel, Box::pin(answer)).await?;
        let done = Printed::new(reply, call.json).show();
        dispatcher.stop(RESTORE).await;
        done
    })
}

/// The output of `deskline call`, and its exit code.
#[derive(Serialize, Deserialize)]
pub(crate) struct Printed {
    text: String,
    exit: u8,
}

impl Printed {
    pub(crate) fn new(reply: Result<Reply, NoReply>, json: bool) -> Self {
        let reply = match reply {
            Ok(reply) => reply,
            Err(error) => {
                let text = error.to_string();
                return Self { text, exit: 2 };
            }
        };
        Self {
            exit: reply.is_error.into(),
            text: if json { reply.into_json() } else { reply.text },
        }
    }

    pub(crate) fn show(&self) -> Done {
        if self.exit == 2 {
            eprintln!("deskline: {}", self.text);
        } else {
            print(&self.text)?;
        }
        Ok(ExitCode::from(self.exit))
    }
}

/// The polling interval of `deskline log --follow`.
const LOOK: Duration = Duration::from_millis(200);

/// `deskline log`.
pub(crate) fn log(settings: &Settings, args: &LogArgs) -> Done {
    let journal = settings.journal()?;
    let all = if args.app.is_none() && args.tool.is_none() && args.outcome.is_none() {
        args.number
    } else {
        usize::MAX
    };
    let mut records = journal.records(all)?;
    let mut newer = Follow::after(&journal, records.last().cloned());
    records.retain(|record| args.lets(record));
    let records = records.split_off(records.len().saturating_sub(args.number));
    let mut table = Table::new();
    if records.is_empty() && !args.json && !args.follow {
        print("No calls yet.")?;
    } else if !args.json {
        print(&table.header(&records))?;
    }
    let mut new = records;
    loop {
        for record in &new {
            let line = if args.json {
                record.to_json()?
            } else {
                table.lines(record)
            };
            if !is_read(&line)? {
                return Ok(ExitCode::SUCCESS);
            }
        }
        if !args.follow {
            return Ok(ExitCode::SUCCESS);
        }
        deskline_link::wait::pause(LOOK);
        new = newer.read()?;
        new.retain(|record| args.lets(record));
    }
}

/// Runs a command that waits for several things at once.
pub(crate) fn in_runtime<T>(work: impl Future<Output = Fallible<T>>) -> Fallible<T> {
    let runtime: Runtime = Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(work);
    // A thread may still be reading standard input: let it end with the process.
    runtime.shutdown_background();
    done
}

/// Runs `work`, and returns its result. A signal cancels the running link, which then restores the
/// desktop.
pub(crate) async fn until_stopped<T>(
    cancel: &Cancel,
    work: impl Future<Output = T>,
) -> Fallible<T> {
    tokio::pin!(work);
    tokio::select! {
        done = &mut work => Ok(done),
        () = stopped()? => {
            cancel.cancel(Reason::Stopping);
            let done = tokio::time::timeout(RESTORE, work).await;
            Ok(done.map_err(|_| "the call did not end within 5 s of the signal")?)
        }
    }
}

/// Completes when a signal asks the process to end.
#[cfg(unix)]
pub(crate) fn stopped() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}

/// Completes at an event of the console or of the system: Ctrl+C, Ctrl+Break, a closed window, a
/// logout, a shutdown.
#[cfg(windows)]
pub(crate) fn stopped() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_logoff, ctrl_shutdown};

    let (mut interrupt, mut end, mut close) = (ctrl_c()?, ctrl_break()?, ctrl_close()?);
    let (mut logoff, mut shutdown) = (ctrl_logoff()?, ctrl_shutdown()?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = end.recv() => {}
            _ = close.recv() => {}
            _ = logoff.recv() => {}
            _ = shutdown.recv() => {}
        }
    })
}

/// The folder of the recipes that are offered as tools: `--recipes`, or the default.
pub(crate) fn recipes(settings: &Settings) -> Option<PathBuf> {
    match &settings.recipes {
        Some(off) if off.as_os_str() == "off" => None,
        Some(folder) => Some(folder.clone()),
        None => Some(settings_folder()?.join("deskline/recipes")),
    }
}
