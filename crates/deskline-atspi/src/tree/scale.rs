//! Maps a toolkit's units to the screen's pixels.
//!
//! At `GDK_SCALE=2` or `QT_SCALE_FACTOR=1.5` a toolkit reports accessible extents in its own units,
//! while X counts pixels. No toolkit reports its scale factor on the bus. So the factor is computed
//! for each toplevel: the size of the X window divided by the size of the accessible frame. The
//! position of the X window then gives the frame's origin, which also works across screens with
//! different factors.

use deskline_core::Rect;

use super::windows::Toplevel;
use crate::toolkits::Toolkit;

/// The minimum width and height of a frame from which a factor is computed: in a smaller frame,
/// rounding by one pixel would change the factor too much.
const SMALLEST: i32 = 24;

/// The maximum factor.
const MOST: f64 = 4.0;

impl Toolkit {
    /// The step sizes that a factor may have, as steps per 1.0. Only Qt has fine steps, because its
    /// frames are exactly as large as their windows. In other toolkits a shadow could be taken for
    /// a small factor. GTK scales by whole numbers.
    fn steps(self) -> &'static [f64] {
        match self {
            Self::Gtk4 | Self::Gtk3 => &[1.0],
            Self::Qt => &[4.0, 20.0, 16.0],
            _ => &[4.0],
        }
    }

    /// The factor that scales `frame` to the size of `target`. `None` if no factor is plausible.
    fn factor(self, frame: Rect, target: Rect) -> Option<f64> {
        let fits = |k: f64| {
            // The toolkit has rounded to its units. The window system may have rounded too.
            let near = |own: i32, there: i32| (f64::from(own) * k - f64::from(there)).abs() <= k;
            near(frame.w, target.w) && near(frame.h, target.h)
        };
        if fits(1.0) {
            return Some(1.0);
        }
        if frame.w < SMALLEST || frame.h < SMALLEST {
            return None;
        }
        // The longer side gives the more exact factor.
        let ratio = if frame.w > frame.h {
            f64::from(target.w) / f64::from(frame.w)
        } else {
            f64::from(target.h) / f64::from(frame.h)
        };
        let mut near = self.steps().iter().map(|n| (ratio * n).round() / n);
        near.find(|k| (1.0..=MOST).contains(k) && fits(*k))
    }

    /// Maps a frame with these extents to that window. `None` if the sizes do not fit. GTK 4's
    /// frames are the content of their windows, GTK 3's those of the window manager's frame, Qt's
    /// those of the X window.
    pub fn fit(self, frame: Rect, toplevel: &Toplevel) -> Option<Map> {
        let content = toplevel.content();
        if self == Self::Gtk4 {
            return match self.factor(frame, content) {
                Some(k) => Some(Map::between(frame, content, k)),
                None if toplevel.shadow.is_none() => self.fit_with_shadow(frame, toplevel),
                None => None,
            };
        }
        // If a GTK 3 window has client-side decorations, its frame includes the shadow.
        let targets = [content, toplevel.outer(), toplevel.window];
        let fits = targets.iter().filter_map(|target| {
            let k = self.factor(frame, *target)?;
            Some(Map::between(frame, *target, k))
        });
        // If several targets fit, take the smallest factor.
        fits.min_by(|a, b| a.scale.total_cmp(&b.scale))
    }

    /// Like [`Self::fit`], for a GTK 4 window that does not report its shadow. The window has to be
    /// larger than the frame by about the same amount in width and height.
    fn fit_with_shadow(self, frame: Rect, toplevel: &Toplevel) -> Option<Map> {
        const WIDEST: f64 = 96.0;
        const UNEVEN: f64 = 8.0;
        let map = self.guess(frame, toplevel)?;
        let content = toplevel.content();
        let more = |whole: i32, part: i32| f64::from(whole) / map.scale - f64::from(part);
        let shadow = |units: f64| (0.0..=WIDEST).contains(&units);
        let (wider, higher) = (more(content.w, frame.w), more(content.h, frame.h));
        let fits = shadow(wider) && shadow(higher) && (wider - higher).abs() <= UNEVEN;
        fits.then_some(map)
    }

    /// Maps a GTK 4 frame to its window even if the sizes do not fit: during a resize, or if the
    /// window does not report its shadow. A shadow that is not reported is taken to be equally wide
    /// on opposite sides. `None` for other toolkits.
    pub fn guess(self, frame: Rect, toplevel: &Toplevel) -> Option<Map> {
        if self != Self::Gtk4 {
            return None;
        }
        let content = toplevel.content();
        let ratio = |whole: i32, part: i32| f64::from(whole) / f64::from(part.max(1));
        let ratio = ratio(content.w, frame.w).min(ratio(content.h, frame.h));
        let scale = if frame.w < SMALLEST || frame.h < SMALLEST {
            1.0
        } else {
            ratio.floor().clamp(1.0, MOST)
        };
        if toplevel.shadow.is_some() {
            return Some(Map::between(frame, content, scale));
        }
        let middle = |at: i32, whole: i32, part: i32| {
            at + (f64::from(whole) - f64::from(part) * scale) as i32 / 2
        };
        let target = Rect {
            x: middle(content.x, content.w, frame.w),
            y: middle(content.y, content.h, frame.h),
            ..content
        };
        Some(Map::between(frame, target, scale))
    }
}

/// Maps a toolkit's coordinates to the screen's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Map {
    /// Pixels per unit.
    pub scale: f64,
    x: f64,
    y: f64,
}

impl Map {
    /// The identity.
    pub const SAME: Self = Self {
        scale: 1.0,
        x: 0.0,
        y: 0.0,
    };

    /// Maps the origin of `frame` to that of `target`.
    fn between(frame: Rect, target: Rect, scale: f64) -> Self {
        Self {
            scale,
            x: f64::from(target.x) - f64::from(frame.x) * scale,
            y: f64::from(target.y) - f64::from(frame.y) * scale,
        }
    }

    /// Maps a frame of a native Wayland window, whose toolkit reports no screen coordinates.
    /// `before` is the distance from the frame's corner to the content's. `unit` is the size of the
    /// toolkit's unit, in the compositor's units.
    pub fn in_window(frame: Rect, content: Rect, before: (i32, i32), unit: i32) -> Self {
        let (x, y) = (before.0.saturating_mul(unit), before.1.saturating_mul(unit));
        Self::between(frame, content.offset(-x, -y), unit.into())
    }

    /// Maps to coordinates relative to the frame's corner.
    pub fn from_corner(frame: Rect) -> Self {
        Self::between(frame, Rect::at(0, 0, frame.w, frame.h), 1.0)
    }

    /// Whether the frame's reported position is nearly that of the window. If so, the toolkit
    /// reports screen coordinates.
    pub fn agrees(&self) -> bool {
        // A frame's coordinates are rounded to the toolkit's units.
        let most = 2.0 * self.scale;
        self.x.abs() <= most && self.y.abs() <= most
    }

    /// Maps a rectangle to the screen.
    pub fn apply(&self, place: Rect) -> Rect {
        // Casts from f64 saturate.
        let at = |v: i32, origin: f64| (f64::from(v) * self.scale + origin).round() as i32;
        let (x, y) = (at(place.x, self.x), at(place.y, self.y));
        let right = at(place.x.saturating_add(place.w), self.x);
        let bottom = at(place.y.saturating_add(place.h), self.y);
        Rect::at(x, y, right.saturating_sub(x), bottom.saturating_sub(y))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::float_cmp)] // factors come from a table
mod tests {
    use super::*;
    use deskline_core::WindowId;

    fn toplevel(window: Rect, shadow: Option<[i32; 4]>, border: [i32; 4]) -> Toplevel {
        Toplevel {
            shadow,
            border,
            ..Toplevel::new(WindowId(1), String::new(), window)
        }
    }

    #[test]
    fn the_scale_of_kcalc_at_twice_its_size_is_found() {
        let window = toplevel(Rect::at(200, 100, 536, 576), None, [5, 5, 29, 5]);
        let map = Toolkit::Qt
            .fit(Rect::at(100, 50, 268, 288), &window)
            .unwrap();
        assert_eq!(map.scale, 2.0);
        assert!(map.agrees());
        assert_eq!(
            map.apply(Rect::at(110, 60, 20, 10)),
            Rect::at(220, 120, 40, 20)
        );
    }

    #[test]
    fn a_fractional_scale_is_found_despite_rounding() {
        let window = toplevel(Rect::at(455, 179, 374, 300), None, [5, 5, 29, 5]);
        let map = Toolkit::Qt
            .fit(Rect::at(303, 119, 249, 200), &window)
            .unwrap();
        assert_eq!(map.scale, 1.5);
        assert_eq!(map.apply(Rect::at(303, 119, 249, 200)).x, 455);
        let window = toplevel(Rect::at(0, 0, 720, 600), None, [0; 4]);
        let map = Toolkit::Qt.fit(Rect::at(0, 0, 600, 500), &window).unwrap();
        assert_eq!(map.scale, 1.2);
    }

    #[test]
    fn the_window_managers_border_is_part_of_a_gtk_3_frame() {
        let window = toplevel(Rect::at(205, 129, 600, 400), None, [5, 5, 29, 5]);
        let map = Toolkit::Gtk3
            .fit(Rect::at(100, 50, 305, 217), &window)
            .unwrap();
        assert_eq!(map.scale, 2.0);
        assert_eq!(
            map.apply(Rect::at(102, 64, 300, 34)),
            Rect::at(204, 128, 600, 68)
        );
        let window = toplevel(Rect::at(485, 312, 300, 200), None, [5, 5, 29, 5]);
        let map = Toolkit::Gtk3
            .fit(Rect::at(480, 283, 310, 234), &window)
            .unwrap();
        assert_eq!(map, Map::SAME);
    }

    #[test]
    fn a_frame_of_gtk_3_includes_the_shadow_that_its_window_reports() {
        let shadow = Some([52, 52, 46, 58]);
        let window = toplevel(Rect::at(-52, -46, 2816, 1568), shadow, [0; 4]);
        let map = Toolkit::Gtk3
            .fit(Rect::at(-26, -23, 1408, 784), &window)
            .unwrap();
        assert_eq!(map.scale, 2.0);
        assert_eq!(
            map.apply(Rect::at(617, 0, 121, 46)),
            Rect::at(1234, 0, 242, 92)
        );
        let window = toplevel(Rect::at(74, 77, 452, 352), Some([26, 26, 23, 29]), [0; 4]);
        let map = Toolkit::Gtk3
            .fit(Rect::at(74, 77, 452, 352), &window)
            .unwrap();
        assert_eq!(map, Map::SAME);
    }

    #[test]
    fn a_shadow_is_not_taken_for_a_scale_factor() {
        // Client-side decorations of 10 pixels on each side that the window does not report.
        let window = toplevel(Rect::at(0, 0, 420, 410), None, [0; 4]);
        assert_eq!(
            Toolkit::Other.fit(Rect::at(10, 10, 400, 390), &window),
            None
        );
        let map = Toolkit::Gtk4.guess(
            Rect::at(0, 0, 240, 190),
            &toplevel(Rect::at(710, 340, 500, 400), None, [0; 4]),
        );
        let map = map.unwrap();
        assert_eq!(
            map.apply(Rect::at(17, 51, 206, 24)),
            Rect::at(754, 452, 412, 48)
        );
    }

    #[test]
    fn a_gtk_4_frame_is_placed_at_the_content_of_its_window() {
        let (window, frame) = (Rect::at(984, 227, 412, 552), Rect::at(0, 0, 360, 500));
        let with = toplevel(window, Some([26, 26, 23, 29]), [0; 4]);
        let map = Toolkit::Gtk4.fit(frame, &with).unwrap();
        assert_eq!(map.apply(frame), Rect::at(1010, 250, 360, 500));
        let without = toplevel(window, None, [0; 4]);
        let map = Toolkit::Gtk4.fit(frame, &without).unwrap();
        assert_eq!(map.apply(frame), Rect::at(1010, 253, 360, 500));
    }

    #[test]
    fn a_native_wayland_window_is_placed_with_or_without_its_shadow() {
        let (content, button) = (Rect::at(100, 50, 400, 300), Rect::at(36, 33, 20, 10));
        let gtk3 = Map::in_window(Rect::at(0, 0, 452, 352), content, (26, 23), 1);
        assert_eq!(gtk3.apply(button), Rect::at(110, 60, 20, 10));
        let gtk4 = Map::in_window(Rect::at(0, 0, 400, 300), content, (0, 0), 1);
        assert_eq!(gtk4.apply(button), Rect::at(136, 83, 20, 10));
    }

    #[test]
    fn extents_of_any_size_cause_no_panic() {
        let window = toplevel(Rect::at(0, 0, 65_535, 1), None, [0; 4]);
        assert_eq!(
            Toolkit::Qt.fit(Rect::at(i32::MIN, i32::MAX, 0, 0), &window),
            None
        );
        let small = Rect::at(0, 0, 30, 30);
        assert_eq!(Toolkit::Gtk4.fit(small, &window), None);
        let map = Toolkit::Gtk4.guess(small, &window).unwrap();
        map.apply(Rect::at(i32::MAX, i32::MIN, i32::MAX, i32::MAX));
    }
}
