use deskline_core::Rect;

use super::*;

fn toplevel(id: u64, title: &str, window: Rect) -> Toplevel {
    Toplevel::new(WindowId(id), title.into(), window)
}

fn frame(path: &str, title: &str, extents: Rect, active: bool) -> &'static Node {
    Box::leak(Box::new(Node {
        path: path.into(),
        name: title.into(),
        extents: Some(extents),
        states: StateSet(u64::from(active) << StateSet::ACTIVE),
        ..Node::default()
    }))
}

fn windows(toplevels: Vec<Toplevel>, front: Option<u64>) -> Windows {
    Windows {
        toplevels,
        front: front.map(WindowId),
        ..Windows::default()
    }
}

fn paired(toolkit: Toolkit, frames: &[&Node], windows: &Windows) -> Vec<Vec<usize>> {
    let pairs = pair(toolkit, frames, windows, &mut Learnt::default());
    pairs.into_iter().map(|pair| pair.windows).collect()
}

const FULL: Rect = Rect::at(0, 24, 1280, 776);

#[test]
fn a_window_is_paired_with_the_frame_that_it_names() {
    let mut named = [2_u64, 1].map(|id| toplevel(id, "A", Rect::at(0, 0, 0, 0)));
    for (window, path) in named.iter_mut().zip(["/2", "/1"]) {
        window.frame = Some(path.to_owned());
    }
    let alike = Rect::at(0, 0, 400, 300);
    let frames = [
        frame("/1", "A", alike, false),
        frame("/2", "A", alike, true),
    ];
    let there = windows(named.to_vec(), Some(1));
    assert_eq!(paired(Toolkit::Gtk4, &frames, &there), [[1], [0]]);
}

#[test]
fn two_windows_are_distinguished_by_title_size_or_place() {
    let (small, large) = (Rect::at(5, 6, 100, 50), Rect::at(300, 200, 400, 300));
    let moved = Rect::at(600, 6, 100, 50);
    let frames = [
        frame("/1", "A", Rect::at(0, 0, 400, 300), false),
        frame("/2", "A", Rect::at(0, 0, 100, 50), false),
    ];
    let there = windows(vec![toplevel(1, "A", small), toplevel(2, "A", large)], None);
    assert_eq!(paired(Toolkit::Gtk4, &frames, &there), [[1], [0]]);
    let frames = [
        frame("/1", "A", moved, false),
        frame("/2", "A", small, false),
    ];
    let there = windows(vec![toplevel(1, "A", small), toplevel(2, "A", moved)], None);
    assert_eq!(paired(Toolkit::Qt, &frames, &there), [[1], [0]]);
    let frames = [frame("/1", "B", FULL, true), frame("/2", "A", FULL, false)];
    let there = windows(
        vec![toplevel(1, "A", FULL), toplevel(2, "B", FULL)],
        Some(1),
    );
    assert_eq!(paired(Toolkit::Gtk3, &frames, &there), [[1], [0]]);
}

#[test]
fn of_two_twin_frames_the_active_one_is_paired_with_the_front_window() {
    let frames = [frame("/1", "A", FULL, false), frame("/2", "A", FULL, true)];
    let twins = vec![toplevel(7, "A", FULL), toplevel(9, "A", FULL)];
    for toolkit in [Toolkit::Gtk3, Toolkit::Gtk4, Toolkit::Qt] {
        let there = windows(twins.clone(), Some(7));
        assert_eq!(paired(toolkit, &frames, &there), [[1], [0]]);
    }
    // Without ACTIVE each frame may be either window. The one with the same index comes first.
    let quiet = [frame("/1", "A", FULL, false), frame("/2", "A", FULL, false)];
    let there = windows(twins.clone(), Some(99));
    assert_eq!(paired(Toolkit::Gtk4, &quiet, &there), [[0, 1], [1, 0]]);
    // ACTIVE does not count while another app is in front.
    assert_eq!(paired(Toolkit::Gtk4, &frames, &there), [[0, 1], [1, 0]]);
}

#[test]
fn a_frame_and_window_that_were_active_together_twice_stay_paired() {
    let active = [frame("/1", "A", FULL, false), frame("/2", "A", FULL, true)];
    let quiet = [frame("/1", "A", FULL, false), frame("/2", "A", FULL, false)];
    let twins = vec![toplevel(7, "A", FULL), toplevel(9, "A", FULL)];
    let (front, behind) = (windows(twins.clone(), Some(7)), windows(twins, Some(99)));
    let mut learnt = Learnt::default();
    let mut pair = |frames, windows| -> Vec<Vec<usize>> {
        let pairs = pair(Toolkit::Gtk4, frames, windows, &mut learnt);
        pairs.into_iter().map(|pair| pair.windows).collect()
    };
    assert_eq!(pair(&active, &front), [[1], [0]]);
    assert_eq!(pair(&quiet, &behind), [[0, 1], [1, 0]], "once is not sure");
    std::thread::sleep(SURE);
    assert_eq!(pair(&active, &front), [[1], [0]]);
    assert_eq!(pair(&quiet, &behind), [[1], [0]]);
    // Closing a window discards its remembered pair.
    let other = windows(vec![toplevel(9, "A", FULL), toplevel(11, "A", FULL)], None);
    assert_eq!(pair(&quiet, &other), [[0, 1], [1, 0]]);
}

/// Chromium 156 on Wayland: its cards are frames without a window of their own.
#[test]
fn a_frame_keeps_its_window_if_its_own_title_changes_first() {
    let card = Rect::at(260, 46, 832, 88);
    let frames = |title| {
        [
            frame("/1", title, Rect::at(115, 11, 1050, 780), true),
            frame("/2", "", card, false),
            frame("/3", "", card, false),
        ]
    };
    let there = windows(
        vec![toplevel(1, "A", Rect::at(125, 21, 1030, 760))],
        Some(1),
    );
    let mut learnt = Learnt::default();
    let mut pair = |frames: &[&Node]| pair(Toolkit::Other, frames, &there, &mut learnt);
    for title in ["A", "B", "C", "A"] {
        assert_eq!(pair(&frames(title))[0].windows, [0], "{title}");
    }
    assert_eq!(pair(&frames("A")[1..])[0].windows, [0; 0]);
}

#[test]
fn a_minimised_window_of_qt_has_no_title_on_the_bus() {
    let frames = [
        frame("/1", "", FULL, false),
        frame("/2", "A", FULL, true),
        frame("/3", "A", FULL, false),
    ];
    let twins = [7, 9, 11].map(|id| toplevel(id, "A", FULL)).to_vec();
    let there = windows(twins, Some(9));
    assert_eq!(
        paired(Toolkit::Qt, &frames, &there),
        [vec![0, 2], vec![1], vec![0, 2]]
    );
}

#[test]
fn a_frame_is_left_unpaired_if_there_is_no_window() {
    let frames = [frame("/1", "A", FULL, true)];
    let pairs = pair(
        Toolkit::Gtk4,
        &frames,
        &Windows::default(),
        &mut Learnt::default(),
    );
    assert_eq!(pairs, [Pair::default()]);
}
