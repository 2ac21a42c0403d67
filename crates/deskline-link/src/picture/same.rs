//! Finds the lines of a picture that are the same as in the picture before, apart from colours. An
//! app draws an inactive window in paler colours. In these the engine may read other letters, or
//! one line as two, although the app has changed nothing.

use super::area::Area;
use super::lines::alike;
use crate::display::Picture;

/// A line, and the hash by which its text is known.
type Line = (Area, u64);

/// The lines of the new picture. Lines that are the same as before keep their places and texts.
pub(super) fn unchanged(
    (last, before): (&Picture, &[Line]),
    (shown, now): (&Picture, Vec<Line>),
) -> Vec<Line> {
    let is_same =
        |(area, _): &Line| last.scale.total_cmp(&shown.scale).is_eq() && alike(last, shown, *area);
    let (old, new): (Vec<Line>, Vec<Line>) = now.into_iter().partition(is_same);
    let is_in = |all: &[Line], (area, _): &Line| all.iter().any(|(other, _)| area.meets(*other));
    // A line that is longer now is replaced by the new line.
    let mut lines: Vec<Line> = before.to_vec();
    lines.retain(|line| !is_in(&new, line) && is_same(line));
    // In the paler colours of the picture before, a row may have been missed, or read as two lines.
    let missed = old.into_iter().filter(|line| !is_in(&lines, line));
    let missed: Vec<Line> = missed.chain(new).collect();
    lines.extend(missed);
    lines.sort_by_key(|(line, _)| (line.y, line.x));
    lines
}

#[cfg(test)]
mod tests {
    use deskline_core::Point;

    use super::*;
    use crate::picture::lines::lines;

    const FRONT: [[u8; 3]; 2] = [[255, 255, 255], [20, 30, 90]];
    const BEHIND: [[u8; 3]; 2] = [[250, 249, 248], [146, 149, 149]];

    /// A picture of letters like an H. Each letter is given by its left, its top and the height of
    /// its bar. The edges are smooth, like those of real letters.
    fn picture(letters: &[(usize, usize, usize)], [paper, ink]: [[u8; 3]; 2]) -> Picture {
        const WIDTH: usize = 300;
        let mut rgb = paper.repeat(WIDTH * 100);
        let mut paint = |x: usize, y: usize, share: i32| {
            for channel in 0..3 {
                let (from, to) = (i32::from(paper[channel]), i32::from(ink[channel]));
                let mixed = from + (to - from) * share / 100;
                rgb[(y * WIDTH + x) * 3 + channel] = u8::try_from(mixed).unwrap_or(0);
            }
        };
        for &(x, y, bar) in letters {
            for row in 0..10 {
                for (column, share) in [(0, 45), (1, 100), (6, 100), (7, 30)] {
                    paint(x + column, y + row, share);
                }
            }
            (2..6).for_each(|column| paint(x + column, y + bar, 80));
        }
        Picture {
            width: 300,
            height: 100,
            rgb,
            origin: Point::at(0, 0),
            scale: 1.0,
        }
    }

    /// The lines of a picture, with these keys.
    fn read(picture: &Picture, first: u64) -> Vec<Line> {
        lines(picture).into_iter().zip(first..).collect()
    }

    fn keys(lines: &[Line]) -> Vec<u64> {
        lines.iter().map(|(_, key)| *key).collect()
    }

    #[test]
    fn other_colours_are_no_change() {
        let letters = [(10, 10, 5), (20, 10, 3), (10, 50, 2), (90, 50, 5)];
        for (before, now) in [(FRONT, BEHIND), (BEHIND, FRONT)] {
            let (last, shown) = (picture(&letters, before), picture(&letters, now));
            let was = read(&last, 1);
            assert_eq!(keys(&was), [1, 2, 3]);
            assert_eq!(unchanged((&last, &was), (&shown, read(&shown, 7))), was);
            // The row was found as two lines before, and is one line now.
            let (first, second) = (was[1].0, was[2].0);
            let w = second.x + second.w - first.x;
            let row = (Area { w, ..first }, 9);
            let joined = vec![(was[0].0, 8), row];
            assert_eq!(unchanged((&last, &was), (&shown, joined.clone())), was);
            assert_eq!(unchanged((&last, &joined), (&shown, was)), joined);
            // The line was not found in the other colours.
            let found = unchanged((&last, &joined[..1]), (&shown, vec![row]));
            assert_eq!(keys(&found), [8, 9]);
        }
    }

    #[test]
    fn a_line_with_one_paler_colour_is_unchanged() {
        let mark = picture(&[(10, 10, 5)], FRONT);
        let line = |ink: [[u8; 3]; 2]| {
            let mut both = picture(&[(20, 10, 3)], ink);
            for y in 10..20 {
                let row = (y * 300 + 10) * 3..(y * 300 + 18) * 3;
                both.rgb[row.clone()].copy_from_slice(&mark.rgb[row]);
            }
            both
        };
        let paler = [FRONT[0], BEHIND[1]];
        let (last, shown) = (line(FRONT), line(paler));
        let was = read(&last, 1);
        assert_eq!(unchanged((&last, &was), (&shown, read(&shown, 7))), was);
    }

    #[test]
    fn other_letters_and_places_are_changes() {
        let letters = [(10, 10, 5), (20, 10, 3), (10, 50, 2)];
        let last = picture(&letters, FRONT);
        let was = read(&last, 1);
        for colours in [FRONT, BEHIND] {
            let now = |letters: &[(usize, usize, usize)]| {
                let shown = picture(letters, colours);
                keys(&unchanged((&last, &was), (&shown, read(&shown, 7))))
            };
            assert_eq!(
                now(&[(10, 10, 5), (20, 10, 4), letters[2]]),
                [7, 2],
                "a letter"
            );
            assert_eq!(
                now(&[(10, 11, 5), (20, 11, 3), letters[2]]),
                [7, 2],
                "a place"
            );
            let longer = [letters[0], letters[1], (30, 10, 5), letters[2]];
            assert_eq!(now(&longer), [7, 2], "a letter more");
            assert_eq!(now(&[letters[0], letters[2]]), [7, 2], "one less");
            assert_eq!(now(&letters[..2]), [1], "a line less");
            assert_eq!(
                now(&[letters[0], letters[1], (10, 30, 1), letters[2]]),
                [1, 8, 2]
            );
        }
    }

    #[test]
    fn lines_that_still_show_in_a_smaller_picture_are_unchanged() {
        let letters = [(10, 10, 5), (20, 10, 3), (10, 50, 2)];
        let last = picture(&letters, FRONT);
        let was = read(&last, 1);
        let mut shorter = picture(&letters[..2], BEHIND);
        shorter.height = 40;
        shorter.rgb.truncate(300 * 40 * 3);
        let found = unchanged((&last, &was), (&shorter, read(&shorter, 7)));
        assert_eq!(keys(&found), [1]);
        let mut finer = picture(&letters, FRONT);
        finer.scale = 2.0;
        let found = unchanged((&last, &was), (&finer, read(&finer, 7)));
        assert_eq!(keys(&found), [7, 8], "another scale");
    }
}
