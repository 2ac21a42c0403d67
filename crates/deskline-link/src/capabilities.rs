//! The abilities of a display. A backend may lack any of them, and the link works without it.

use std::borrow::Cow;

use crate::call::{Input, Typing};
use crate::error::{Error, Result};

/// Whether a display can do one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ability {
    /// Supported.
    Yes,
    /// Not supported. The reason is a clause without a full stop.
    No(Cow<'static, str>),
}

impl Ability {
    /// Whether it can.
    pub fn is_there(&self) -> bool {
        *self == Self::Yes
    }

    /// Why it cannot.
    pub fn why_not(&self) -> Option<&str> {
        match self {
            Self::Yes => None,
            Self::No(why) => Some(why),
        }
    }
}

/// The abilities of a display, and the link's behaviour without each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// Windows can be listed, and it is known which is in front. Without it no input is sent: it
    /// could go anywhere. An app has ended only when its process or its tree is gone.
    pub windows: Ability,
    /// Windows have extents. Without it a place is not checked against the app's windows.
    pub extents: Ability,
    /// Windows have a pid. Without it no handoff is known, and the front window is recognised by
    /// its id.
    pub pids: Ability,
    /// A window can be brought to the front. Without it input goes only to the window in front.
    pub raise: Ability,
    /// The pointer can be asked where it is. Without it the pointer is not put back, and a button
    /// that the person holds is not waited for.
    pub locate_pointer: Ability,
    /// Clicks, drags and the wheel.
    pub pointer: Ability,
    /// Keys and text.
    pub keys: Ability,
    /// Windows can be pictured. Without it the answer has no picture, and gives the reason.
    pub pictures: Ability,
    /// The person's input can be kept out. Without it the answer reports that it was not.
    pub guard: Ability,
}

impl Capabilities {
    pub const ALL: Self = Self {
        windows: Ability::Yes,
        extents: Ability::Yes,
        pids: Ability::Yes,
        raise: Ability::Yes,
        locate_pointer: Ability::Yes,
        pointer: Ability::Yes,
        keys: Ability::Yes,
        pictures: Ability::Yes,
        guard: Ability::Yes,
    };

    /// None of them, all for one reason.
    pub fn none(why: impl Into<Cow<'static, str>>) -> Self {
        let why = why.into();
        let no = || Ability::No(why.clone());
        Self {
            windows: no(),
            extents: no(),
            pids: no(),
            raise: no(),
            locate_pointer: no(),
            pointer: no(),
            keys: no(),
            pictures: no(),
            guard: no(),
        }
    }

    /// An error if the input cannot be sent here. Asked before anything is touched.
    pub(crate) fn require(&self, input: &Input) -> Result<()> {
        let types = |then: &Typing| then.text.is_some() || then.key.is_some();
        let (what, points, types) = match input {
            Input::Click { then, .. } if types(then) => ("clicking and typing", true, true),
            Input::Click { .. } => ("clicking", true, false),
            Input::Hover { .. } => ("moving the pointer", true, false),
            Input::Type { .. } | Input::PressKey { .. } => ("typing", false, true),
            Input::Scroll { .. } => ("scrolling", true, false),
            Input::Drag { .. } => ("dragging", true, false),
        };
        let pointer = self.pointer.why_not().filter(|_| points);
        let keys = self.keys.why_not().filter(|_| types);
        match pointer.or(keys).or(self.windows.why_not()) {
            Some(why) => Err(unsupported(what, why)),
            None => Ok(()),
        }
    }
}

/// The error for an ability that the display lacks.
pub(crate) fn unsupported(what: &'static str, why: &str) -> Error {
    Error::Unsupported {
        what,
        why: why.to_owned(),
    }
}
