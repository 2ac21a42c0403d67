//! Points and rectangles in screen coordinates.
//!
//! There is one coordinate space: integer screen pixels (points on macOS), with the origin at the
//! top left of the main display and y pointing down. Platform crates convert to it.

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Point {
    pub x: i32,
    pub y: i32,
}

impl Point {
    pub const fn at(x: i32, y: i32) -> Self {
        Self { x, y }
    }
}

/// `(640, 480)`
impl std::fmt::Display for Point {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "({}, {})", self.x, self.y)
    }
}

/// A rectangle, such as an element's extents. Half-open: `[x, x+w) × [y, y+h)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rect {
    pub x: i32,
    pub y: i32,
    /// Width, never negative in a rectangle that [`Rect::new`] made.
    pub w: i32,
    /// Height, never negative in a rectangle that [`Rect::new`] made.
    pub h: i32,
}

/// Toolkits report coordinates beyond this, often `INT_MIN`, for an element that is nowhere.
const FAR: i32 = 1 << 20;

impl Rect {
    pub const fn at(x: i32, y: i32, w: i32, h: i32) -> Self {
        Self { x, y, w, h }
    }

    /// Extents as a toolkit reported them. `None` if the element is nowhere: its size is negative,
    /// or its origin is beyond [`FAR`].
    pub fn new(x: i32, y: i32, w: i32, h: i32) -> Option<Self> {
        let near = |v: i32| (-FAR..=FAR).contains(&v);
        let sized = |v: i32| (0..=FAR).contains(&v);
        (near(x) && near(y) && sized(w) && sized(h)).then_some(Self::at(x, y, w, h))
    }

    /// Like [`Self::new`], for fractional coordinates. Rounds the edges instead of the size, so
    /// that rectangles that touch still touch afterwards.
    pub fn around(x: f64, y: f64, w: f64, h: f64) -> Option<Self> {
        // `as` would turn infinity into the largest number and NaN into 0. Here both are nowhere.
        if ![x, y, w, h].iter().all(|v| v.is_finite()) {
            return None;
        }
        let (right, bottom) = ((x + w).round() as i32, (y + h).round() as i32);
        let (x, y) = (x.round() as i32, y.round() as i32);
        Self::new(x, y, right.saturating_sub(x), bottom.saturating_sub(y))
    }

    /// The centre, rounded down: `(x + w/2, y + h/2)`.
    pub fn center(&self) -> Point {
        let middle = |start: i32, length: i32| start.saturating_add(length / 2);
        Point::at(middle(self.x, self.w), middle(self.y, self.h))
    }

    /// The centres of the nine cells of a 3 × 3 grid over the rectangle.
    pub fn nine_points(self) -> impl Iterator<Item = Point> {
        let at = |start: i32, length: i32, nth: i32| start + length / 6 * (nth * 2 + 1);
        (0..9).map(move |n| Point::at(at(self.x, self.w, n % 3), at(self.y, self.h, n / 3)))
    }

    pub fn contains(&self, p: Point) -> bool {
        p.x >= self.x
            && p.y >= self.y
            && p.x.saturating_sub(self.x) < self.w
            && p.y.saturating_sub(self.y) < self.h
    }

    pub fn is_empty(&self) -> bool {
        self.w <= 0 || self.h <= 0
    }

    /// The intersection; empty if the two rectangles do not overlap.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        self.between(other, Ord::max, Ord::min)
    }

    /// The smallest rectangle that contains both rectangles.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.between(other, Ord::min, Ord::max)
    }

    /// The rectangle between one start and one end of both, on each axis.
    fn between(
        &self,
        other: &Self,
        start: impl Fn(i32, i32) -> i32,
        end: impl Fn(i32, i32) -> i32,
    ) -> Self {
        let side = |(a, a_length): (i32, i32), (b, b_length): (i32, i32)| {
            let from = start(a, b);
            let to = end(a.saturating_add(a_length), b.saturating_add(b_length));
            (from, to.saturating_sub(from).max(0))
        };
        let (x, w) = side((self.x, self.w), (other.x, other.w));
        let (y, h) = side((self.y, self.h), (other.y, other.h));
        Self::at(x, y, w, h)
    }

    /// The rectangle, enlarged by `margin` on each side. A negative margin shrinks it.
    #[must_use]
    pub fn grown(&self, margin: i32) -> Self {
        let length = |length: i32| length.saturating_add(margin.saturating_mul(2));
        let (w, h) = (length(self.w), length(self.h));
        Self {
            w,
            h,
            ..self.offset(-margin, -margin)
        }
    }

    #[must_use]
    pub fn offset(&self, dx: i32, dy: i32) -> Self {
        Self {
            x: self.x.saturating_add(dx),
            y: self.y.saturating_add(dy),
            ..*self
        }
    }
}
