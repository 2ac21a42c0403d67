//! The guard of a display, as a link uses it: it keeps the person's input out of apps.

use std::time::Duration;

use deskline_core::Rect;
use deskline_input::Cancel;

use crate::error::Result;

/// The watchdog releases the devices after this long, even if everything else hangs.
pub const LIMIT: Duration = Duration::from_secs(30);

/// The input that a grab protects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The text of the overlay: one line, without secrets. `None` for no overlay.
    pub caption: Option<String>,
    /// The bounds of the action. The overlay is on the same screen and does not cover them.
    pub place: Option<Rect>,
    /// Whether the input uses the pointer. A button that the person holds would interfere with it.
    pub pointer: bool,
    /// The devices are released automatically after this long.
    pub limit: Duration,
}

/// Whether the person's devices are grabbed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Grab {
    /// The devices are grabbed: the person's input reaches no app.
    Held,
    /// The devices are grabbed, but some person's input cannot be distinguished from the agent's,
    /// and gets through. The text gives the reason in one line.
    Partly(String),
    /// The devices cannot be grabbed. The text gives the reason in one line.
    Unable(String),
    /// The devices cannot be grabbed while another app is in front. Try again once the target is in
    /// front. The text gives the reason in one line.
    NotYet(String),
}

/// Keeps the person's input out of apps, and watches it.
pub trait Guards {
    /// Starts to watch whether the person presses a key or a button, until [`Guards::unwatch`].
    /// Presses while the devices are grabbed reach no app and do not count.
    fn watch(&mut self) {}

    /// Stops watching the person, and listening for their Esc.
    fn unwatch(&mut self) {}

    /// Whether the person has pressed a key or a button since [`Guards::watch`]; `None` if that is
    /// unknown.
    fn pressed(&mut self) -> Option<bool> {
        None
    }

    /// Grabs the person's devices, so that their input reaches no app. They are released by
    /// [`Guards::ungrab`], by the task's limit even if everything else hangs, and when the process
    /// dies. Raises `cancel` when the person presses Esc without modifiers, and at the limit. Does
    /// nothing if the devices are grabbed already.
    ///
    /// An error means that nothing may be sent now.
    fn grab(&mut self, task: &Task, cancel: &Cancel) -> Result<Grab>;

    /// Releases the person's devices. Their Esc still raises the `cancel` that was passed to
    /// [`Guards::grab`], until [`Guards::unwatch`].
    fn ungrab(&mut self);

    /// Why some of the person's input may have reached an app since the last [`Guards::grab`],
    /// although their devices were grabbed. `None` if none has. Called once after each
    /// [`Guards::ungrab`].
    fn lapse(&mut self) -> Option<String> {
        None
    }

    /// Whether the devices may stay grabbed while an app settles and the person's window comes back
    /// to the front. That needs an overlay that is in no picture, and a window that can be raised
    /// during a grab.
    fn holds_on(&mut self) -> bool {
        false
    }
}

/// A drawn banner: rows of B, G, R, X bytes without padding.
#[derive(Debug)]
pub struct Image {
    pub width: usize,
    pub height: usize,
    pub bgrx: Vec<u8>,
}

/// The bounds of a banner of this size: at the top of the screen `area`, or at its bottom if at the
/// top it would cover `avoid`. `scale` is pixels per unit of 1/96 inch.
pub fn banner_place(area: Rect, scale: f64, (w, h): (i32, i32), avoid: Option<Rect>) -> Rect {
    /// The distance from the edge of the screen and from the target, at 96 dpi.
    const MARGIN: f64 = 12.0;

    let margin = (MARGIN * scale).round() as i32;
    let x = area.x + (area.w - w).max(0) / 2;
    let top = Rect::at(x, area.y + margin, w, h);
    // A target that fills the screen is covered at the bottom too.
    if avoid.is_some_and(|avoid| !top.grown(margin).intersect(&avoid).is_empty()) {
        return Rect::at(x, area.y + area.h - h - margin, w, h);
    }
    top
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_banner_does_not_cover_the_target() {
        let area = Rect::at(1920, 0, 1280, 800);
        let top = banner_place(area, 1.0, (400, 40), None);
        assert_eq!((top.x, top.y), (1920 + 440, 12));
        let target = Rect::at(2500, 20, 100, 30);
        let bottom = banner_place(area, 1.0, (400, 40), Some(target));
        assert!(bottom.intersect(&target).is_empty());
        assert_eq!(bottom.y, 800 - 40 - 12);
    }
}
