//! `deskline view`: the journal as a page in a browser.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use deskline_journal::Journal;
use deskline_view::Server;

use crate::cli::{Settings, ViewArgs};
use crate::output::{Done, print};
use crate::run::{in_runtime, stopped};

/// `deskline view`.
pub(crate) fn view(settings: &Settings, args: &ViewArgs) -> Done {
    let dir = args.run.as_deref().or(settings.folder());
    let journal = Journal::open_to_read(dir)?;
    if let Some(file) = &args.export {
        let last = args.number.unwrap_or(usize::MAX);
        let links = deskline_view::export(&journal, last, file, &mut captions())?;
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

/// Draws captions in the way that the banner is drawn.
#[cfg(target_os = "linux")]
fn captions() -> impl FnMut(&str, usize) -> Option<deskline_view::Image> {
    let mut fonts = deskline_linux::Fonts::default();
    move |text, widest| {
        let drawn = deskline_linux::banner(&mut fonts, text, 1.0, widest)?;
        let pixels = drawn.bgrx.chunks_exact(4);
        let rgb = pixels.flat_map(|p| [p[2], p[1], p[0]]).collect();
        let width = drawn.width;
        Some(deskline_view::Image { width, rgb })
    }
}

/// Draws no captions: they need the font of the banner, which only Linux has.
#[cfg(not(target_os = "linux"))]
fn captions() -> impl FnMut(&str, usize) -> Option<deskline_view::Image> {
    |_, _| None
}

/// Opens this address in the person's browser, if there is one; other users can read the address
/// meanwhile. The address was printed before, so a failure to open it is no error.
fn open(url: &str) {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    // Without a display, xdg-open would start a browser in this terminal.
    let has_display = cfg!(any(target_os = "macos", windows))
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
