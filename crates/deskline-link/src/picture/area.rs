//! Areas of a picture, in pixels, and their places on the screen.

use deskline_core::Rect;

use crate::display::Picture;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Area {
    pub(crate) x: usize,
    pub(crate) y: usize,
    pub(crate) w: usize,
    pub(crate) h: usize,
}

impl Area {
    /// The part of the picture that shows these screen bounds. `None` if the picture does not
    /// overlap them.
    pub(crate) fn new(picture: &Picture, place: Rect) -> Option<Self> {
        let span = |start: i32, length: i32, origin: i32, most: u32| {
            let pixel = |v: i32| {
                let pixel = f64::from(v.saturating_sub(origin)) * scale(picture);
                pixel.round().clamp(0.0, f64::from(most)) as usize
            };
            let (from, to) = (pixel(start), pixel(start.saturating_add(length)));
            (from, to.saturating_sub(from))
        };
        let (x, w) = span(place.x, place.w, picture.origin.x, picture.width);
        let (y, h) = span(place.y, place.h, picture.origin.y, picture.height);
        (w > 0 && h > 0).then_some(Self { x, y, w, h })
    }

    /// The smallest area that contains both areas.
    pub(crate) fn around(self, other: Self) -> Self {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        Self {
            x,
            y,
            w: (self.x + self.w).max(other.x + other.w) - x,
            h: (self.y + self.h).max(other.y + other.h) - y,
        }
    }

    pub(crate) fn meets(self, other: Self) -> bool {
        self.x < other.x + other.w
            && other.x < self.x + self.w
            && self.y < other.y + other.h
            && other.y < self.y + self.h
    }

    /// The bounds on the screen of this area of the picture.
    pub(crate) fn on_screen(self, picture: &Picture) -> Rect {
        let units = |pixels: usize| (pixels as f64 / scale(picture)).round() as i32;
        let own = Rect::at(units(self.x), units(self.y), units(self.w), units(self.h));
        own.offset(picture.origin.x, picture.origin.y)
    }
}

/// Pixels per screen unit, never zero.
pub(crate) fn scale(picture: &Picture) -> f64 {
    picture.scale.max(0.1)
}
