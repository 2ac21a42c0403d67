//! Shows a banner on Wayland while the agent acts.

use std::path::PathBuf;

use deskline_contract::guard::Task;
use deskline_contract::{Error, Result, kept};
use deskline_wayland::Banner;
use deskline_x11::Fonts;

use crate::display::DisplaySystem;

/// Shows a banner through the Wayland compositor, if the compositor supports that.
#[derive(Default)]
pub(crate) struct Announcer {
    /// The compositor's socket. `None` if there is no use in connecting for a banner.
    socket: Option<PathBuf>,
    banner: Option<Banner>,
    /// Whether the compositor itself shows a banner now.
    by_compositor: bool,
    fonts: Fonts,
}

impl Announcer {
    pub(crate) fn new(socket: Option<PathBuf>) -> Self {
        Self {
            socket,
            ..Self::default()
        }
    }

    pub(crate) fn show(&mut self, task: &Task, display: &mut dyn DisplaySystem) -> Result<()> {
        let (Some(socket), Some(caption)) = (&self.socket, &task.caption) else {
            return Ok(());
        };
        if let Some(wayland) = display.wayland()
            && wayland.announce(caption)?
        {
            self.by_compositor = true;
            return Ok(());
        }
        let banner = kept(&mut self.banner, || Banner::connect(socket))?;
        banner.show(task.place, |scale, widest| {
            deskline_x11::banner(&mut self.fonts, caption, scale.into(), widest)
        })
    }

    pub(crate) fn hide(&mut self, display: &mut dyn DisplaySystem) -> Result<()> {
        if std::mem::take(&mut self.by_compositor)
            && let Some(wayland) = display.wayland()
        {
            return wayland.announce("").map(drop);
        }
        self.banner.as_mut().map_or(Ok(()), Banner::hide)
    }

    /// Logs the error of a banner: the link goes on without a banner.
    pub(crate) fn check(&mut self, done: Result<()>) {
        if let Err(error) = done {
            tracing::info!("no banner: {error}");
            self.banner = None;
            // Try again only after a lost connection: the compositor may be back.
            self.socket
                .take_if(|_| !matches!(error, Error::Lost { .. }));
        }
    }
}
