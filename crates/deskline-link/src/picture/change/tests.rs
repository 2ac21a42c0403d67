use super::*;
use crate::picture::fixture::{paint, plain};

fn picture(width: u32, height: u32) -> Picture {
    plain(width, height, [200; 3])
}

/// The reported change if these rectangles are painted.
fn seen(rects: &[(usize, usize, usize, usize)]) -> Option<(u32, Rect)> {
    let before = picture(200, 100);
    let mut after = before.clone();
    for rect in rects {
        paint(&mut after, *rect, [7; 3]);
    }
    let changed = compare(&before, &after)?;
    Some(((changed.share * 20_000.0).round() as u32, changed.area))
}

#[test]
fn a_change_is_placed_on_the_screen_to_the_pixel() {
    assert_eq!(
        seen(&[(30, 20, 41, 9)]),
        Some((369, Rect::at(130, 70, 41, 9)))
    );
    assert_eq!(
        seen(&[(0, 0, 200, 100)]),
        Some((20_000, Rect::at(100, 50, 200, 100)))
    );
    let two = seen(&[(10, 10, 20, 20), (150, 60, 20, 20)]);
    assert_eq!(two, Some((800, Rect::at(110, 60, 160, 70))));
    // A focus ring is a change.
    assert!(seen(&[(10, 10, 60, 1), (10, 40, 60, 1)]).is_some());
}

#[test]
fn a_caret_and_a_few_pixels_are_no_change() {
    assert_eq!(seen(&[]), None);
    assert_eq!(seen(&[(15, 30, 2, 20)]), None);
    // A caret that moved makes two changes.
    assert_eq!(seen(&[(15, 30, 2, 20), (120, 30, 2, 20)]), None);
    assert_eq!(seen(&[(50, 50, 4, 3)]), None);
    // A caret beside a real change does not extend its bounds.
    let both = seen(&[(15, 30, 2, 20), (100, 10, 50, 20)]);
    assert_eq!(both, Some((1_000, Rect::at(200, 60, 50, 20))));
}

#[test]
fn a_resized_window_has_changed_and_a_moved_window_has_not() {
    let before = picture(200, 100);
    let changed = compare(&before, &picture(200, 120)).map(|c| c.area);
    assert_eq!(changed, Some(Rect::at(100, 50, 200, 120)));
    let moved = Picture {
        origin: Point { x: 0, y: 0 },
        ..before.clone()
    };
    assert_eq!(compare(&before, &moved), None);
}

#[test]
fn changes_on_a_dense_display_are_placed_in_screen_units() {
    let mut before = picture(200, 100);
    before.scale = 2.0;
    let mut after = before.clone();
    paint(&mut after, (20, 40, 60, 20), [7; 3]);
    assert_eq!(
        compare(&before, &after).map(|c| c.area),
        Some(Rect::at(110, 70, 30, 10))
    );
}

#[test]
fn pixels_of_the_wrong_length_cause_no_panic() {
    for (width, height) in [(0, 0), (7, 3), (1_000, 1_000)] {
        let mut odd = picture(10, 10);
        (odd.width, odd.height) = (width, height);
        let _ = compare(&odd, &odd.clone());
        let mut other = odd.clone();
        other.rgb.truncate(100);
        let _ = compare(&odd, &other);
        let _ = compare(&other, &odd);
    }
}

#[test]
fn two_whole_screens_are_compared_in_linear_time() {
    let before = picture(1_920, 1_080);
    let mut after = before.clone();
    paint(&mut after, (0, 0, 1_920, 1_080), [7; 3]);
    let start = std::time::Instant::now();
    assert!(compare(&before, &after).is_some());
    let took = start.elapsed();
    println!("compared in {took:?}");
    // Only work that grows faster than the number of pixels could take this long.
    let limit = if cfg!(debug_assertions) { 5_000 } else { 15 };
    assert!(took.as_millis() < limit, "{took:?}");
}
