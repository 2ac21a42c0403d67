//! A Wayland session in which Deskline reaches the apps' accessibility trees alone. The core protocol
//! lets no program see the windows of others, and none send input.

use deskline_atspi as atspi;
use deskline_link::{Capabilities, Display, Result};

use super::DisplaySystem;
use crate::session::Session;

/// A display of which nothing can be seen or moved.
pub(super) struct TreesOnly {
    /// Why, as a clause.
    why: String,
}

impl TreesOnly {
    pub(super) fn of(session: &Session) -> Self {
        let compositor = session.compositor();
        let compositor = compositor.as_deref().unwrap_or("unknown compositor");
        Self {
            why: format!(
                "this is a Wayland session ({compositor}), of which Deskline reaches only the accessibility trees of its apps"
            ),
        }
    }
}

impl Display for TreesOnly {
    fn capabilities(&self) -> Capabilities {
        Capabilities::none(self.why.clone())
    }
}

impl DisplaySystem for TreesOnly {
    fn windows_for_tree(&mut self, _pid: u32, _popups: bool) -> Result<atspi::Windows> {
        Ok(atspi::Windows::default())
    }
}
