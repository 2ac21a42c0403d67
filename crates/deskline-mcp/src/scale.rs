//! Shrinks pictures with a box filter: each new pixel is the average of the old pixels that it
//! covers.

/// An 8-bit RGB picture without padding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rgb {
    /// Pixels a row, at least one.
    pub(crate) width: usize,
    /// Rows, at least one.
    pub(crate) height: usize,
    /// `3 × width × height` bytes.
    pub(crate) bytes: Vec<u8>,
}

impl Rgb {
    /// Shrinks the picture so that its longer side is `longest`; `None` if that side is not longer
    /// now.
    pub(crate) fn shrunk(&self, longest: usize) -> Option<Self> {
        let long = self.width.max(self.height);
        if long <= longest {
            return None;
        }
        let side = |side: usize| ((side * longest + long / 2) / long).max(1);
        let (width, height) = (side(self.width), side(self.height));
        let columns: Vec<_> = (0..width).map(|x| spans(x, self.width, width)).collect();
        let mut bytes = Vec::with_capacity(3 * width * height);
        for y in 0..height {
            let rows = spans(y, self.height, height);
            for across in &columns {
                let mut sum = [0_u64; 3];
                let mut area = 0;
                for &(row, tall) in &rows {
                    for &(column, wide) in across {
                        let start = 3 * (row * self.width + column);
                        let pixel = self.bytes.get(start..start + 3).unwrap_or(&[0; 3]);
                        let weight = tall * wide;
                        area += weight;
                        for (sum, &byte) in sum.iter_mut().zip(pixel) {
                            *sum += weight * u64::from(byte);
                        }
                    }
                }
                bytes.extend(sum.map(|sum| ((sum + area / 2) / area.max(1)) as u8));
            }
        }
        Some(Self {
            width,
            height,
            bytes,
        })
    }
}

/// The old pixels that the new pixel `at` covers, if a side of `from` pixels shrinks to `to`
/// pixels. The weight of an old pixel is the covered part of it, in units of 1/`to`.
fn spans(at: usize, from: usize, to: usize) -> Vec<(usize, u64)> {
    let (start, end) = (at * from, (at + 1) * from);
    (start / to..end.div_ceil(to))
        .map(|pixel| {
            let covered = end.min((pixel + 1) * to) - start.max(pixel * to);
            (pixel, covered as u64)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grey(width: usize, height: usize, at: impl Fn(usize, usize) -> u8) -> Rgb {
        let bytes = (0..height)
            .flat_map(|y| (0..width).map(move |x| (x, y)))
            .flat_map(|(x, y)| [at(x, y); 3])
            .collect();
        Rgb {
            width,
            height,
            bytes,
        }
    }

    #[test]
    fn small_pictures_are_left_alone() {
        assert_eq!(grey(10, 5, |_, _| 7).shrunk(10), None);
    }

    #[test]
    fn each_pixel_is_the_average_of_the_pixels_that_it_covers() {
        let halved = grey(4, 2, |x, _| if x < 2 { 0 } else { 200 }).shrunk(2);
        assert_eq!(
            halved.unwrap(),
            grey(2, 1, |x, _| if x == 0 { 0 } else { 200 })
        );
        // 3 → 2: each covers one whole pixel and half of the middle one.
        let thirds = grey(3, 1, |x, _| [0, 90, 240][x]).shrunk(2).unwrap();
        assert_eq!(thirds, grey(2, 1, |x, _| [30, 190][x]));
    }

    #[test]
    fn a_shrunk_picture_keeps_its_shape_and_its_colour() {
        let white = grey(2001, 1333, |_, _| 255).shrunk(1568).unwrap();
        assert_eq!((white.width, white.height), (1568, 1045));
        assert!(white.bytes.iter().all(|&byte| byte == 255));
        let line = grey(5000, 1, |_, _| 9).shrunk(1568).unwrap();
        assert_eq!((line.width, line.height), (1568, 1));
    }
}
