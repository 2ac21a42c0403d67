//! Windows of patterns, on a screen of one colour.

use super::*;

const SCREEN: Rect = Rect::at(100, -20, 400, 300);

/// A picture of the screen, with the pixels that `pixel` returns.
fn shot(scale: usize, pixel: impl Fn(i32, i32) -> u8) -> Shot {
    let (w, h) = (400 * scale, 300 * scale);
    let rgb: Vec<u8> = (0..w * h)
        .flat_map(|n| [pixel((n % w) as i32, (n / w) as i32); 3])
        .collect();
    Shot::new(SCREEN, w as u32, h as u32, &rgb)
}

/// The picture of an element: a unique pattern.
fn pattern(n: i32, x: i32, y: i32) -> u8 {
    let (x, y) = (x / 3, y / 2);
    ((x * (7 + n) + y * (13 + 3 * n) + (x * y) % (5 + n)) % 200 + 20) as u8
}

fn part(n: i32, x: i32, y: i32, w: i32) -> Part {
    Part {
        id: format!("/{n}"),
        place: Rect { x, y, w, h: 20 },
    }
}

/// A window with its corner at these pixels, and these visible parts.
fn window(parts: &[Part], scale: usize, corner: (i32, i32)) -> Shot {
    let factor = scale as i32;
    shot(scale, |x, y| {
        let (x, y) = (x - corner.0, y - corner.1);
        let scaled = |p: &Part| {
            let Rect { x, y, w, h } = p.place;
            let [x, y, w, h] = [x, y, w, h].map(|at| at * factor);
            Rect { x, y, w, h }
        };
        let there = parts
            .iter()
            .enumerate()
            .map(|(n, p)| (n, scaled(p)))
            .find(|(_, place)| place.contains(Point { x, y }));
        there.map_or(255, |(n, place)| {
            pattern(n as i32, x - place.x, y - place.y)
        })
    })
}

fn parts(shift: i32) -> Vec<Part> {
    vec![
        part(0, 10, 10, 60),
        part(1, 80, 10, 60),
        part(2, 10 + shift, 40, 50),
        part(3, 70 + shift, 45, 44),
    ]
}

const TAKEN: Point = Point { x: 100, y: -20 };

#[test]
fn a_window_is_found_by_its_marks_after_its_elements_have_moved() {
    for scale in [1, 2] {
        let marks = Marks::take(&parts(90), TAKEN, &window(&parts(90), scale, (0, 0)));
        let factor = scale as i32;
        let now = window(&parts(0), scale, (130 * factor, 61 * factor));
        let found = marks.find(&parts(0), &[now], None);
        assert_eq!(found, Found::At(Point { x: 230, y: 41 }), "scale {scale}");
    }
}

#[test]
fn a_window_is_not_found_by_marks_that_are_missing_or_ambiguous() {
    let once = window(&parts(0), 1, (130, 61));
    let marks = Marks::take(&parts(0), TAKEN, &window(&parts(0), 1, (0, 0)));
    let twice = shot(1, |x, y| {
        let at = |x: i32, y: i32| once.pixels[(y * 400 + x) as usize] as u8;
        match at(x, y) {
            255 if y >= 100 => at(x, y - 100),
            there => there,
        }
    });
    assert_eq!(marks.find(&parts(0), &[twice], None), Found::Unclear);
    assert_eq!(
        marks.find(&parts(0), &[shot(1, |_, _| 255)], None),
        Found::Nowhere
    );
}

#[test]
fn marks_that_do_not_move_are_dropped() {
    let before = window(&parts(0), 1, (0, 0));
    let mut marks = Marks::take(&parts(0), TAKEN, &before);
    assert!(marks.suffice());
    marks.drop_unmoved(&[before]);
    assert!(!marks.suffice());
}

#[test]
fn a_window_counts_as_still_there_if_half_of_its_marks_are() {
    let here = Point { x: 230, y: 41 };
    let all = window(&parts(0), 1, (130, 61));
    let mut marks = Marks::take(&parts(0), TAKEN, &window(&parts(0), 1, (0, 0)));
    marks.renew(&parts(0), here, &all);
    let shown = |count: usize| {
        let parts = parts(0);
        let mut hidden = parts.clone();
        hidden.truncate(count);
        [window(&hidden, 1, (130, 61))]
    };
    assert_eq!(
        marks.find(&parts(0), &shown(3), Some(here)),
        Found::At(here)
    );
    assert_eq!(marks.find(&parts(0), &shown(2), Some(here)), Found::Unclear);
    let moved = window(&parts(0), 1, (40, 9));
    let found = marks.find(&parts(0), &[moved], Some(here));
    assert_eq!(found, Found::At(Point { x: 140, y: -11 }));
}

#[test]
fn a_recoloured_window_is_recognized_only_where_it_was() {
    let here = Point { x: 230, y: 41 };
    let all = window(&parts(0), 1, (130, 61));
    let mut marks = Marks::take(&parts(0), here, &all);
    marks.renew(&parts(0), here, &all);
    let paler = |shot: Shot| Shot {
        pixels: shot.pixels.iter().map(|pixel| pixel / 2).collect(),
        ..shot
    };
    let pale = paler(window(&parts(0), 1, (130, 61)));
    assert_eq!(
        marks.find(&parts(0), &[pale], Some(here)),
        Found::Recoloured(here)
    );
    let moved = paler(window(&parts(0), 1, (131, 61)));
    assert_eq!(marks.find(&parts(0), &[moved], Some(here)), Found::Nowhere);
}

#[test]
fn unconfirmed_marks_do_not_find_a_window_that_has_moved() {
    let here = Point { x: 230, y: 41 };
    let all = window(&parts(0), 1, (130, 61));
    let marks = Marks::take(&parts(0), here, &all);
    let moved = window(&parts(0), 1, (40, 9));
    assert_eq!(marks.find(&parts(0), &[moved], Some(here)), Found::Nowhere);
}
