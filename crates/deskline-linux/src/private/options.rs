//! The options of a private desktop.

use std::path::PathBuf;

/// The options of a private desktop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Width of the screen in pixels.
    pub width: u16,
    /// Height of the screen in pixels.
    pub height: u16,
    /// Whether the desktop is a Wayland one, not X11.
    pub wayland: bool,
    /// Whether a person can watch and control the desktop with a VNC viewer.
    pub watch: bool,
    /// The home directory of the desktop's apps. If `None`, the apps get an empty home that is
    /// removed with the desktop, so that they can neither read nor change anybody's settings.
    pub home: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            width: 1280,
            height: 800,
            wayland: false,
            watch: false,
            home: None,
        }
    }
}

impl Options {
    /// The arguments of `deskline desktop` for these options.
    pub(crate) fn to_args(&self) -> Vec<String> {
        let mut args = vec![format!("--size={}x{}", self.width, self.height)];
        if self.wayland {
            args.push("--wayland".to_owned());
        }
        if self.watch {
            args.push("--watch".to_owned());
        }
        if let Some(home) = &self.home {
            args.push(format!("--home={}", home.display()));
        }
        args
    }
}
