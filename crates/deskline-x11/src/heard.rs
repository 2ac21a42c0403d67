use std::collections::HashSet;

use x11rb::protocol::xproto::Window;

/// The state that events have reported, for the caller to read and reset.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Number of the last answered ping.
    pub(super) pong: u32,
    /// Number of the last ping that was sent.
    pub(super) ping: u32,
    /// Clients that have answered a ping, and clients that do not answer pings.
    pub(super) answering: HashSet<u32>,
    pub(super) mute: HashSet<u32>,
    /// The server's time, once known.
    pub(super) time: Option<u32>,
    /// The last change of the keyboard map: the first key code and the number of codes.
    pub(super) keymap: Option<(u8, u8)>,
    /// Whether an override-redirect window was mapped.
    pub(super) popup_mapped: bool,
    /// The windows that clients have asked the window manager to bring to the front. `NONE` stands
    /// for an unknown window that was requested before the root window was watched.
    pub(super) asked_for: Vec<Window>,
    /// Whether the window manager has answered the pending request.
    pub(super) manager_answered: bool,
    /// The window of the last window manager that answered a request, and (`mute_manager`) the
    /// window of the last window manager that did not.
    pub(super) answering_manager: Option<Window>,
    pub(super) mute_manager: Option<Window>,
    /// The number of damage events of a watched window.
    pub(super) damage: u32,
}
