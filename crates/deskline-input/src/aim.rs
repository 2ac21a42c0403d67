//! The target of input.

use std::time::Duration;

use deskline_core::{Rect, WindowId};

/// The target of keys and clicks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aim {
    /// The process. For keys, its window must have the keyboard; for a click, its window must be at
    /// the place.
    pub pid: u32,
    /// The window that must be clicked, if it is known. An open menu of the process counts too.
    pub window: Option<WindowId>,
    /// The bounds of that window when the place of a click was found.
    pub place: Option<Rect>,
    /// Whether a menu of the process is active. If so, a grab of the keyboard or pointer counts as
    /// the process's own.
    pub menu: bool,
    /// The process in which a drag ends, if that is another process than `pid`.
    pub drop_on: Option<u32>,
    /// Whether the app may poll keys and buttons, as games do. If so, each stays down for
    /// [`POLLED`].
    pub polls: bool,
    /// Whether the target is in a web page. A drag then stays at its end for a while, because a
    /// browser learns late whether the page accepts the drop.
    pub in_page: bool,
}

/// How long a key or a button stays down, so that an app that polls 30 times a second sees it.
pub(crate) const POLLED: Duration = Duration::from_millis(40);

impl Aim {
    pub const fn new(pid: u32, window: Option<WindowId>) -> Self {
        Self {
            pid,
            window,
            place: None,
            menu: false,
            drop_on: None,
            polls: false,
            in_page: false,
        }
    }

    /// The target where a drag ends.
    #[must_use]
    pub fn at_end(self) -> Self {
        match self.drop_on {
            Some(pid) => Self {
                pid,
                window: None,
                place: None,
                ..self
            },
            None => self,
        }
    }

    /// How long each key and button has to stay down for this target.
    pub(crate) fn least_hold(aim: Option<Self>) -> Duration {
        let polls = aim.is_some_and(|aim| aim.polls);
        if polls { POLLED } else { Duration::ZERO }
    }
}
