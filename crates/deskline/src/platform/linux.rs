//! Linux: the user's session, or a private desktop.

use std::cell::Cell;
use std::env;
use std::ffi::OsString;
use std::future::pending;
use std::process::ExitCode;
use std::sync::Arc;

use deskline_http::SEALED;
use deskline_link::doctor::Check;
use deskline_link::{Error, Platform, Result};
use deskline_linux::private::{self, Announce, Supervised, Until};
use deskline_linux::session::Session;
use deskline_linux::{LinuxPlatform, doctor};
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use tokio::task::spawn_blocking;

use crate::cli::{Command, DesktopArgs, Own, Serve, Settings};
use crate::output::{self, Done, Fallible};

/// An open desktop. A private one ends when this is dropped.
pub(crate) struct OpenDesktop {
    pub(crate) platform: Arc<dyn Platform>,
    private: Option<Supervised>,
    has_ended: Cell<bool>,
}

impl OpenDesktop {
    /// Completes when `stop` does, or when a private desktop has ended by itself, for example
    /// because its X server has crashed: the desktop cannot be used any more.
    pub(crate) async fn until(&self, stop: impl Future<Output = ()>) {
        let end = self.private.as_ref().map(Supervised::end);
        let ended = async {
            match end {
                Some(Ok(end)) => drop(spawn_blocking(end).await),
                Some(Err(error)) => {
                    tracing::warn!("the private desktop's end will not be seen: {error}");
                    pending::<()>().await;
                }
                None => pending().await,
            }
        };
        tokio::select! {
            () = stop => {}
            () = ended => {
                output::note("the private desktop has ended");
                self.has_ended.set(true);
            }
        }
    }

    /// A failure if the desktop has ended by itself.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(u8::from(self.has_ended.get()))
    }
}

/// Keeps apps of the same user from this server's memory, environment and pipes, and seals off a
/// server that is to be sealed off. To be called while the process has one thread.
pub(crate) fn shield(settings: &Settings, command: &Command) -> Fallible {
    let has_own = |serve: &Serve| settings.desktop.is_some() || serve.desktops.is_some();
    let (serves, has_own) = match command {
        Command::Serve(serve) => (true, has_own(serve)),
        // This process has the environment of the server that starts it.
        Command::Desktop(_) => (true, true),
        Command::Call(_)
        | Command::Warm { .. }
        | Command::Run(_)
        | Command::Learn(_)
        | Command::Record(_)
        | Command::Test(_) => (true, settings.desktop.is_some()),
        _ => (false, false),
    };
    // KWin and portals look into /proc before they give pictures and input to a program.
    if serves && (has_own || env::var_os("WAYLAND_DISPLAY").is_none()) {
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    }
    if matches!(command, Command::Serve(_)) && env::var_os(SEALED).is_some() {
        deskline_http::give_up()?;
    }
    Ok(())
}

/// Opens the user's desktop, or a private one if the settings say so.
pub(crate) fn open(settings: &Settings) -> Result<OpenDesktop> {
    let private = spawn_private(settings)?;
    let platform = match &private {
        Some(desktop) => LinuxPlatform::on(desktop.session().clone()),
        None => LinuxPlatform::find(),
    };
    Ok(OpenDesktop {
        platform: Arc::new(platform.attended(settings.attended)),
        private,
        has_ended: Cell::default(),
    })
}

/// Starts a private desktop, if the settings ask for one, as a process of its own: the desktop ends
/// even if this process is killed.
fn spawn_private(settings: &Settings) -> Result<Option<Supervised>> {
    let Some(own) = settings.desktop else {
        return Ok(None);
    };
    let exe = env::current_exe().map_err(Error::system("finding the program's own file"))?;
    Supervised::spawn(&exe, &options(settings, own)).map(Some)
}

fn options(settings: &Settings, Own { size, wayland }: Own) -> private::Options {
    private::Options {
        home: settings.home.clone(),
        width: size.width,
        height: size.height,
        wayland,
        ..private::Options::default()
    }
}

/// `deskline desktop`.
pub(crate) fn desktop(settings: &Settings, args: &DesktopArgs) -> Done {
    let own = Own {
        size: args.size,
        wayland: args.wayland,
    };
    let options = private::Options {
        watch: args.watch,
        ..options(settings, own)
    };
    let until = if args.until_eof {
        Until::Eof
    } else if args.command.is_empty() {
        Until::Signal
    } else {
        Until::Command(args.command.clone())
    };
    let announce = match &until {
        _ if args.json => Announce::Json,
        Until::Command(_) => Announce::Nothing,
        _ => Announce::Shell,
    };
    Ok(ExitCode::from(private::run_supervised(
        &options, announce, &until,
    )?))
}

/// `deskline helper`.
pub(crate) fn helper(name: &str, arguments: &[OsString]) -> Done {
    deskline_linux::helpers::run(name, arguments)?;
    Ok(ExitCode::SUCCESS)
}

/// The doctor's checks.
pub(crate) fn examine(settings: &Settings) -> Result<Vec<Check>> {
    let private = spawn_private(settings)?;
    let session = match &private {
        Some(desktop) => desktop.session().clone(),
        None => Session::find(),
    };
    Ok(doctor::examine(&session, settings.attended))
}

/// Repairs everything that needs no root, and returns a line for each repair.
pub(crate) fn repair(checks: &[Check]) -> Vec<std::result::Result<String, String>> {
    let session = Session::find();
    let mut fixes: Vec<_> = checks.iter().filter(|check| check.fix.is_some()).collect();
    // One step can repair several findings.
    let mut seen = Vec::new();
    fixes.retain(|check| {
        let new = !seen.contains(&&check.fix);
        seen.push(&check.fix);
        new
    });
    let repair = |check| doctor::repair(check, &session);
    fixes.into_iter().filter_map(repair).collect()
}
