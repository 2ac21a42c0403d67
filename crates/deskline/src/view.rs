//! `deskline view`: the journal as a page in a browser.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::Args;
use deskline_journal::Journal;
use deskline_view::Server;

use crate::cli::Settings;
use crate::output::{Done, print};
use crate::run::{in_runtime, stopped};

#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    /// The journal of the run [default: as --dir]
    #[arg(value_name = "DIR")]
    run: Option<PathBuf>,
    /// Write one file with everything in it, to keep or to mail, instead of serving a page
    #[arg(long, value_name = "FILE.html", conflicts_with_all = ["port", "no_open"])]
    export: Option<PathBuf>,
    /// With --export: only the newest N calls
    #[arg(short, value_name = "N", requires = "export")]
    number: Option<usize>,
    /// The port on 127.0.0.1 [default: any free one]
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true
    )]
    port: u16,
    /// Print the page's address, but open no browser
    #[arg(long)]
    no_open: bool,
}

/// `deskline view`.
pub(crate) fn view(settings: &Settings, args: &ViewArgs) -> Done {
    let dir = args.run.as_deref().or(settings.folder());
    let journal = Journal::open_to_read(dir)?;
    if let Some(file) = &args.export {
        let links = deskline_view::export(&journal, args.number.unwrap_or(usize::MAX), file)?;
        let calls = deskline_core::escape::count(links, "call");
        let size = std::fs::metadata(file)?.len().div_ceil(1024);
        print(&format!("{}: {calls}, {size} KiB", file.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    in_runtime(async {
        let stop = stopped()?;
        let server = Server::bind(&journal, args.port).await?;
        let url = server.url();
        print(&url)?;
        eprintln!(
            "deskline: showing {} until Ctrl+C. The address is for you alone.",
            journal.path().display()
        );
        if !args.no_open {
            match server.url_for_one() {
                Ok(url) => open(&url),
                Err(error) => tracing::info!(%error, "no browser was opened"),
            }
        }
        tokio::select! {
            () = server.run() => {}
            () = stop => {}
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// Opens this address, which other users can read meanwhile, in the person's browser, if there is one. The address has been printed: failing to
/// open it is no error.
fn open(url: &str) {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    // Without a display, xdg-open would start a browser in this terminal.
    let has_display = cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .into_iter()
            .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if !has_display {
        return;
    }
    let started = Command::new(Path::new(opener))
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match started {
        Ok(mut opener) => {
            std::thread::spawn(move || opener.wait());
        }
        Err(error) => tracing::info!(%error, "no browser was opened"),
    }
}
