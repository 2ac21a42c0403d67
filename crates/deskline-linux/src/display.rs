//! The display systems of Linux: what a desktop of this crate needs of one, and how to reach it.

mod x11;

use deskline_atspi as atspi;
use deskline_link::{Display, Error, Result, Window};
use deskline_x11::X11Display;

use crate::session::Session;

/// A display system: the contract's display, and what AT-SPI and the start of apps need beyond it.
pub(crate) trait DisplaySystem: Display + Send {
    /// The app's windows, for the coordinates of toolkits that do not know their own; with its open
    /// pop-ups if `popups`.
    fn windows_for_tree(&mut self, pid: u32, popups: bool) -> Result<atspi::Windows>;

    /// Those of [`Display::every_window`] that are not minimised.
    fn mapped_windows(&mut self) -> Result<Vec<Window>>;
}

/// Connects to the display of the session. A further display system is a line here.
pub(crate) fn connect(session: &Session) -> Result<Box<dyn DisplaySystem>> {
    if let Some(name) = &session.display {
        return Ok(Box::new(X11Display::connect(
            name,
            session.xauthority.as_deref(),
        )?));
    }
    Err(Error::Unavailable(
        "this session is Wayland without Xwayland, which Deskline cannot drive yet. Use an X11 \
         session, or a private desktop: deskline serve --desktop private"
            .into(),
    ))
}
