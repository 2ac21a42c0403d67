//! The outputs and their positions in the layout (xdg-output).

use deskline_contract::{DisplayError, Error, Result};
use deskline_core::{Point, Rect};
use wayland_client::delegate_noop;
use wayland_client::protocol::wl_output::WlOutput;
use wayland_protocols::xdg::xdg_output::zv1::client::zxdg_output_manager_v1::ZxdgOutputManagerV1;
use wayland_protocols::xdg::xdg_output::zv1::client::zxdg_output_v1::{self, ZxdgOutputV1};

use crate::wlroots::client::Client;
use crate::wlroots::heard::{Heard, on_event};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Screen {
    pub(crate) output: WlOutput,
    /// The bounds in the layout, in logical pixels.
    pub(crate) place: Rect,
    /// Pixels per logical pixel, rounded up.
    pub(crate) scale: i32,
}

impl Client {
    /// The outputs that show a part of the layout.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] if the compositor does not offer xdg-output, or has no output.
    pub(crate) fn screens(&mut self) -> Result<Vec<Screen>> {
        let manager = match self.heard.screens.manager.take() {
            Some(manager) => manager,
            None => self.bind(3)?,
        };
        let handle = self.handle();
        for known in &mut self.heard.screens.all {
            known.described.get_or_insert_with(|| {
                manager.get_xdg_output(&known.output, &handle, known.output.clone())
            });
        }
        self.heard.screens.manager = Some(manager);
        self.roundtrip()?;
        let all = self.heard.screens.all.iter();
        let shown = all.filter(|screen| !screen.place.is_empty());
        let screens: Vec<Screen> = shown
            .map(|known| Screen {
                output: known.output.clone(),
                place: known.place,
                scale: known.scale,
            })
            .collect();
        if screens.is_empty() {
            return Err(Error::Unavailable("the compositor has no output".into()));
        }
        Ok(screens)
    }
}

/// The bounds of all outputs. Fails if a point is on no output: the compositor would move the
/// pointer to the nearest point of an output, and the click would land there.
pub(crate) fn layout_around(screens: &[Rect], points: &[Point]) -> Result<Rect> {
    if let Some(at) = off_screen(screens, points) {
        return Err(DisplayError::OffScreen(at).into());
    }
    let all = screens.iter().copied();
    let all = all.reduce(|all, screen| all.union(&screen));
    Ok(all.unwrap_or(Rect::at(0, 0, 1, 1)))
}

/// The screen that shows the largest part of this area, and that part. `None` if no screen shows
/// any of the area.
pub(crate) fn showing<S>(
    screens: Vec<S>,
    place: impl Fn(&S) -> Rect,
    area: Rect,
) -> Option<(S, Rect)> {
    let parts = screens.into_iter().map(|screen| {
        let part = place(&screen).intersect(&area);
        (screen, part)
    });
    let shown = parts.filter(|(_, part)| !part.is_empty());
    shown.max_by_key(|(_, part)| i64::from(part.w) * i64::from(part.h))
}

/// The first point that is on none of the screens.
fn off_screen(screens: &[Rect], points: &[Point]) -> Option<Point> {
    let shows = |at: &Point| screens.iter().any(|screen| screen.contains(*at));
    points.iter().copied().find(|at| !shows(at))
}

on_event!(ZxdgOutputV1, WlOutput, |heard, _, event, output| {
    let Some(known) = heard.screens.known(output) else {
        return;
    };
    match event {
        zxdg_output_v1::Event::LogicalPosition { x, y } => {
            (known.place.x, known.place.y) = (x, y);
        }
        zxdg_output_v1::Event::LogicalSize { width, height } => {
            (known.place.w, known.place.h) = (width.max(0), height.max(0));
        }
        _ => {}
    }
});

delegate_noop!(Heard: ZxdgOutputManagerV1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_the_union_of_all_outputs() {
        let rect = |x, y, w, h| Rect { x, y, w, h };
        let both = rect(0, 0, 1600, 900).union(&rect(1600, -100, 800, 600));
        assert_eq!(both, rect(0, -100, 2400, 1000));
    }

    #[test]
    fn a_point_between_screens_is_on_none() {
        let rect = |x, y, w, h| Rect { x, y, w, h };
        let screens = [rect(0, 0, 1600, 900), rect(1600, 0, 800, 450)];
        let point = |x, y| Point { x, y };
        let shown = [point(0, 0), point(1600, 449)];
        assert_eq!(off_screen(&screens, &shown), None);
        for off in [point(1700, 450), point(1605, -19)] {
            assert_eq!(off_screen(&screens, &[shown[0], off]), Some(off));
        }
    }
}
