//! A Wayland session in which Deskline reaches only the apps' accessibility trees. The core
//! protocol lets no program list the windows of others or send input.

use deskline_contract::guard::Guards;
use deskline_contract::offers;
use deskline_contract::{
    Aim, Clipboard, Display, KeyInput, Missing, Offer, Overlay, Pictures, PointerInput, Raising,
    Result, Screen,
};

use super::system::DisplaySystem;
use crate::session::Session;

/// A display without windows, input and pictures: each ability is missing for the same reason.
pub(super) struct TreesOnly {
    /// Why it lacks them, as a clause.
    why: String,
}

impl TreesOnly {
    pub(super) fn new(session: &Session) -> Self {
        let compositor = session.compositor();
        let compositor = compositor.as_deref().unwrap_or("unknown compositor");
        Self {
            why: format!(
                "this is a Wayland session ({compositor}), where Deskline reaches only the \
                accessibility trees of apps"
            ),
        }
    }

    fn missing<T>(&self) -> Offer<T> {
        Err(Missing::new(self.why.clone()))
    }
}

impl Display for TreesOnly {
    fn begin_link(&mut self, _acts: bool) {}

    fn set_aim(&mut self, _aim: Aim) {}

    fn release_all(&mut self) {}

    offers!(self => self.missing();
        screen Screen, raising Raising, pointer_input PointerInput, key_input KeyInput,
        pictures Pictures, guard Guards, overlay Overlay);

    fn clipboard(&mut self) -> Result<&mut dyn Clipboard> {
        let missing: Offer<_> = self.missing();
        missing.map_err(|missing| missing.for_action("pasting"))
    }
}

impl DisplaySystem for TreesOnly {}
