//! Computes the position and size of the overlay's windows.

use deskline_contract::Result;
use deskline_core::{Point, Rect};
use x11rb::connection::RequestConnection as _;
use x11rb::protocol::randr::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, Window};

use crate::connection::Connection;
use crate::{During as _, Present as _};

/// How much of the resource database to read, in 4-byte units; it usually has a few hundred bytes.
const MAX_RESOURCES: u32 = 4096;

const WHAT: &str = "looking for the screen";

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Monitor {
    /// The bounds in root coordinates.
    pub(super) area: Rect,
    /// Pixels per unit of 1/96 inch.
    pub(super) scale: f64,
}

/// The monitor that contains `place`, or the primary one.
pub(super) fn monitor(c: &Connection, root: Window, place: Option<Rect>) -> Result<Monitor> {
    let has_randr = c.extension_information(randr::X11_EXTENSION_NAME);
    let has_randr = has_randr.during(WHAT)?.is_some();
    let resources = (AtomEnum::RESOURCE_MANAGER, AtomEnum::STRING);
    let resources = c
        .get_property(false, root, resources.0, resources.1, 0, MAX_RESOURCES)
        .during(WHAT)?;
    let whole = c.get_geometry(root).during(WHAT)?;
    let monitors = has_randr
        .then(|| c.randr_get_monitors(root, true).during(WHAT))
        .transpose()?;
    let resources = resources.reply().during(WHAT)?.value;
    let whole = whole.reply().during(WHAT)?;
    // A server with RandR older than 1.5 answers with an error.
    let monitors = monitors
        .map(|m| m.reply().present(WHAT))
        .transpose()?
        .flatten();
    let scale = scale_of(&String::from_utf8_lossy(&resources));
    let mut monitors: Vec<(bool, Monitor)> = monitors
        .iter()
        .flat_map(|reply| &reply.monitors)
        .map(|m| {
            let area = Rect::at(m.x.into(), m.y.into(), m.width.into(), m.height.into());
            let inches = f64::from(m.width_in_millimeters) / 25.4;
            let scale = scale.unwrap_or_else(|| dense(area.w, inches));
            (m.primary, Monitor { area, scale })
        })
        .filter(|(_, m)| !m.area.is_empty())
        .collect();
    monitors.sort_by_key(|(primary, _)| !primary);
    let on = |point: Point| monitors.iter().find(|(_, m)| m.area.contains(point));
    let found = place.and_then(|place| on(place.center()));
    let whole = Monitor {
        area: Rect::at(0, 0, whole.width.into(), whole.height.into()),
        scale: scale.unwrap_or(1.0),
    };
    Ok(found
        .or(monitors.first())
        .map_or(whole, |(_, monitor)| *monitor))
}

/// The scale that the desktop sets for apps: 2.0 for `Xft.dpi: 192`.
fn scale_of(resources: &str) -> Option<f64> {
    let line = resources
        .lines()
        .find_map(|line| line.strip_prefix("Xft.dpi:"))?;
    let dpi: f64 = line.trim().parse().ok()?;
    (48.0..=480.0).contains(&dpi).then(|| (dpi / 96.0).max(1.0))
}

/// The scale by a monitor's density: 2.0 if that is high, else 1.0. Virtual monitors report no
/// size.
fn dense(pixels: i32, inches: f64) -> f64 {
    let dense = inches > 4.0 && f64::from(pixels) / inches > 180.0;
    if dense { 2.0 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_overlays_scale_comes_from_the_desktop_or_the_screens_density() {
        assert_eq!(scale_of("Xcursor.size:\t24\nXft.dpi:\t192\n"), Some(2.0));
        assert_eq!(scale_of("Xft.dpi: 0"), None);
        assert_eq!(scale_of(""), None);
        assert!((dense(3840, 13.6) - 2.0).abs() < 0.1);
        assert!((dense(1920, 13.6) - 1.0).abs() < 0.1);
        assert!((dense(1920, 0.0) - 1.0).abs() < 0.1);
    }
}
