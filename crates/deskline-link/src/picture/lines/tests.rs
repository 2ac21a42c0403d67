use super::*;
use crate::picture::fixture::{paint, plain as picture};

const PAPER: Colour = [250, 250, 240];
const INK: Colour = [20, 30, 90];

/// The width and the height of a letter, and the gap to the next one.
const LETTER: (usize, usize) = (6, 10);
const GAP: usize = 2;

/// Draws letters like an H. Returns their bounds.
fn write(picture: &mut Picture, (x, y): (usize, usize), letters: usize, ink: Colour) -> Area {
    let (w, h) = LETTER;
    for n in 0..letters {
        let x = x + n * (w + GAP);
        paint(picture, (x, y, 1, h), ink);
        paint(picture, (x + w - 1, y, 1, h), ink);
        paint(picture, (x, y + h / 2, w, 1), ink);
    }
    let w = letters * (w + GAP) - GAP;
    Area { x, y, w, h }
}

#[test]
fn a_line_has_the_bounds_of_its_letters() {
    for (paper, ink) in [(PAPER, INK), (INK, PAPER), ([90, 90, 90], [90, 140, 90])] {
        let mut picture = picture(200, 60, paper);
        let line = write(&mut picture, (20, 20), 9, ink);
        assert_eq!(lines(&picture), [line]);
    }
}

#[test]
fn words_of_a_line_are_joined_and_texts_far_apart_are_separate() {
    for (space, count) in [(APART - GAP, 1), (APART + 2, 2)] {
        let mut picture = picture(300, 60, PAPER);
        let first = write(&mut picture, (20, 20), 5, INK);
        write(&mut picture, (20 + first.w + space, 20), 5, INK);
        assert_eq!(lines(&picture).len(), count, "{space}");
    }
    // In a terminal a word without tall letters is lower than the words beside it, and forms a
    // block of its own.
    for (rule, count) in [(false, 1), (true, 2)] {
        let mut picture = picture(300, 60, PAPER);
        let first = write(&mut picture, (20, 20), 5, INK);
        paint(&mut picture, (20, 16, 2, 14), INK);
        write(&mut picture, (20 + first.w + APART + 3, 20), 5, INK);
        if rule {
            paint(&mut picture, (20 + first.w + 6, 5, 1, 40), INK);
        }
        assert_eq!(lines(&picture).len(), count);
    }
    // Larger letters have larger gaps.
    let mut picture = picture(300, 60, PAPER);
    for x in [20, 50, 90] {
        for stroke in [(x, 10, 3, 20), (x + 13, 10, 3, 20), (x, 19, 16, 3)] {
            paint(&mut picture, stroke, INK);
        }
    }
    let found = lines(&picture);
    assert_eq!(found.iter().map(|l| l.w).collect::<Vec<_>>(), [86]);
}

#[test]
fn lines_are_separated_and_a_dot_is_not_a_line() {
    let mut picture = picture(200, 80, PAPER);
    let first = write(&mut picture, (20, 10), 8, INK);
    let second = write(&mut picture, (20, 13 + LETTER.1), 8, INK);
    let third = write(&mut picture, (20, 50), 8, INK);
    // An empty row lies between the letter and its dot.
    paint(&mut picture, (26, 47, 2, 2), INK);
    assert_eq!(lines(&picture), [first, second, third]);
}

#[test]
fn frames_rules_and_large_shapes_are_no_text() {
    let mut picture = picture(300, 200, PAPER);
    for (x, y, w, h) in [
        (10, 10, 200, 1),
        (10, 50, 200, 1),
        (10, 10, 1, 41),
        (209, 10, 1, 41),
    ] {
        paint(&mut picture, (x, y, w, h), INK);
    }
    paint(&mut picture, (10, 100, 60, 70), INK);
    paint(&mut picture, (100, 120, 180, 2), INK);
    assert_eq!(lines(&picture), []);
    let framed = write(&mut picture, (20, 25), 8, INK);
    assert_eq!(lines(&picture), [framed]);
}

#[test]
fn a_line_for_the_ocr_engine_is_enlarged_and_dark_on_white() {
    let mut picture = picture(200, 60, INK);
    let line = write(&mut picture, (20, 20), 4, PAPER);
    let print = print(&picture, line).unwrap();
    assert_eq!((print.width, print.height), (3 * 38, 3 * 18));
    assert_eq!(print.grey.len(), 3 * 38 * 3 * 18);
    let at = |x: usize, y: usize| print.grey[y * 3 * 38 + x];
    assert_eq!((at(0, 0), at(3 * 38 - 1, 3 * 18 - 1)), (255, 255));
    // The pixels of the first stroke, and of the paper inside the letter.
    assert_eq!((at(3 * 4, 3 * 5), at(3 * 7, 3 * 5)), (0, 255));
    let tall = Area { h: 30, ..line };
    assert_eq!(super::print(&picture, tall).unwrap().height, 38);
}

#[test]
fn lines_in_noise_are_limited_and_malformed_pixels_cause_no_panic() {
    let mut noise = picture(2_000, 1_200, PAPER);
    for y in (0..1_180).step_by(20) {
        for x in (0..1_980).step_by(30) {
            write(&mut noise, (x, y), 1, INK);
        }
    }
    assert_eq!(lines(&noise).len(), MOST);
    for (width, height) in [(0, 0), (7, 3), (1_000, 1_000)] {
        let mut odd = picture(10, 10, PAPER);
        (odd.width, odd.height) = (width, height);
        assert_eq!(lines(&odd), []);
    }
}

#[test]
fn the_lines_of_a_window_are_found_in_linear_time() {
    let mut window = picture(1_280, 800, PAPER);
    for y in (10..780).step_by(16) {
        write(&mut window, (10, y), 150, INK);
    }
    let start = std::time::Instant::now();
    assert_eq!(lines(&window).len(), 49);
    let took = start.elapsed();
    println!("found in {took:?}");
    // Only work that grows faster than the number of pixels could take this long.
    let limit = if cfg!(debug_assertions) { 20_000 } else { 500 };
    assert!(took.as_millis() < limit, "{took:?}");
}
