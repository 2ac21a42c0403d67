//! The scales of a GNOME session's screens.

use std::collections::HashMap;

use zbus::zvariant::OwnedValue;

use super::bus::{Calls, On};

const CONFIG: On<'static> = (
    "org.gnome.Mutter.DisplayConfig",
    "/org/gnome/Mutter/DisplayConfig",
    "org.gnome.Mutter.DisplayConfig",
);

type Properties = HashMap<String, OwnedValue>;

/// A monitor's connector, vendor, product and serial number.
type Monitor = (String, String, String, String);

/// A mode's id, width, height, refresh rate, preferred scale and supported scales.
type Mode = (String, i32, i32, f64, f64, Vec<f64>, Properties);

/// A screen's corner, scale, transform, whether the screen is primary, and its monitors.
type Screen = (i32, i32, f64, u32, bool, Vec<Monitor>, Properties);

/// The answer to `GetCurrentState`.
type State = (
    u32,
    Vec<(Monitor, Vec<Mode>, Properties)>,
    Vec<Screen>,
    Properties,
);

/// The value of the property `layout-mode` if screens are laid out in physical pixels.
const PHYSICAL: u32 = 2;

/// The scales of the screens, each once.
pub(crate) fn of_screens(bus: &Calls) -> Vec<f64> {
    let screens = state(bus).map(|(_, _, screens, _)| screens);
    let screens = screens.unwrap_or_default();
    sane(screens.iter().map(|screen| screen.2))
}

/// Whether Mutter's coordinates are physical pixels. Mutter then scales the content of windows, not
/// the screens.
pub(crate) fn are_in_windows(bus: &Calls) -> bool {
    let mode = state(bus).and_then(|(.., mut properties)| properties.remove("layout-mode"));
    mode.and_then(|mode| u32::try_from(mode).ok()) == Some(PHYSICAL)
}

fn state(bus: &Calls) -> Option<State> {
    let state = bus.ask(CONFIG, "GetCurrentState", &());
    state
        .inspect_err(|e| tracing::debug!("the scales of the screens are unknown: {e}"))
        .ok()
}

fn sane(reported: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut scales = Vec::new();
    for scale in reported.filter(|scale| (0.1..=10.0).contains(scale)) {
        if !scales.contains(&scale) {
            scales.push(scale);
        }
    }
    scales
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scale_is_listed_once_and_invalid_scales_are_left_out() {
        let reported = [1.5, 2.0, 1.5, 0.0, f64::NAN, 1e9];
        assert_eq!(sane(reported.into_iter()), [1.5, 2.0]);
    }
}
