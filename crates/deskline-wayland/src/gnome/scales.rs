//! The scales of a GNOME session's screens.

use std::collections::HashMap;

use zbus::zvariant::OwnedValue;

use super::bus::{Bus, On};

const CONFIG: On<'static> = (
    "org.gnome.Mutter.DisplayConfig",
    "/org/gnome/Mutter/DisplayConfig",
    "org.gnome.Mutter.DisplayConfig",
);

type Properties = HashMap<String, OwnedValue>;

/// A connector, vendor, product and serial number.
type Monitor = (String, String, String, String);

/// Its id, width, height, refresh rate, preferred scale and supported scales.
type Mode = (String, i32, i32, f64, f64, Vec<f64>, Properties);

/// Its corner, scale, transform, whether it is the primary one, and its monitors.
type Screen = (i32, i32, f64, u32, bool, Vec<Monitor>, Properties);

/// The answer to `GetCurrentState`.
type State = (
    u32,
    Vec<(Monitor, Vec<Mode>, Properties)>,
    Vec<Screen>,
    Properties,
);

/// The scales of the screens, each once.
pub(crate) fn of_screens(bus: &Bus) -> Vec<f64> {
    let state = bus.ask::<_, State>(CONFIG, "GetCurrentState", &());
    let screens = match state {
        Ok((_, _, screens, _)) => screens,
        Err(e) => {
            tracing::debug!("the scales of the screens are not known: {e}");
            Vec::new()
        }
    };
    sane(screens.iter().map(|screen| screen.2))
}

fn sane(told: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut scales = Vec::new();
    for scale in told.filter(|scale| (0.1..=10.0).contains(scale)) {
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
    fn each_scale_is_listed_once_and_no_odd_one() {
        let told = [1.5, 2.0, 1.5, 0.0, f64::NAN, 1e9];
        assert_eq!(sane(told.into_iter()), [1.5, 2.0]);
    }
}
