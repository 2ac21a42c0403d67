//! The state that events have reported.

use std::collections::HashSet;

use x11rb::protocol::xproto::Window;

/// The state that events have reported since it was last looked at.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Number of the last ping that was answered.
    pub(super) pong: u32,
    /// Number of the last ping that was sent.
    pub(super) ping: u32,
    /// Clients that have answered a ping, and clients that have not answered one.
    pub(super) answering: HashSet<u32>,
    pub(super) mute: HashSet<u32>,
    /// The server's time, once known.
    pub(super) time: Option<u32>,
    /// Key codes other than ours that were rebound.
    pub(super) keymap: Option<(u8, u8)>,
    /// Whether an override-redirect window was mapped.
    pub(super) came_up: bool,
    /// How often something was drawn into a watched window.
    pub(super) damage: u32,
}

impl Heard {
    /// Numbers pings from the id of a window of ours on, so that answers to other clients' pings do
    /// not match.
    pub(super) fn by(own: Window) -> Self {
        Self {
            ping: own,
            ..Self::default()
        }
    }
}
