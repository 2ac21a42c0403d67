use super::*;

#[test]
fn every_index_is_requested_and_neighbours_of_known_ones_first() {
    let mut known: BTreeSet<i32> = (4_000..4_010).collect();
    let next = outwards(&known, 5_000);
    assert_eq!((next.first(), next.last()), (Some(&3_968), Some(&4_041)));
    assert_eq!(next.len(), BATCH);
    loop {
        let next = outwards(&known, 5_000);
        if next.is_empty() {
            break;
        }
        assert!(next.iter().all(|index| known.insert(*index)));
    }
    assert_eq!(known, (0..5_000).collect());
    assert_eq!(outwards(&BTreeSet::new(), 3), (0..3).collect());
}

#[test]
fn a_range_of_children_is_searched_only_if_one_may_show() {
    let rect = |x, y, w, h| Rect { x, y, w, h };
    let clip = rect(0, 1_000, 800, 600);
    let line = |y| rect(10, y, 100, 20);
    assert!(may_show(Some(&line(0)), Some(&line(5_000)), clip));
    assert!(may_show(Some(&line(1_500)), Some(&line(5_000)), clip));
    assert!(!may_show(Some(&line(0)), Some(&line(900)), clip));
    assert!(!may_show(Some(&line(1_600)), Some(&line(5_000)), clip));
    // Between the end of a line and the start of a lower one there are whole lines.
    let (end, start) = (rect(2_000, 900, 50, 20), rect(-3_000, 1_700, 50, 20));
    assert!(may_show(Some(&end), Some(&start), clip));
    // A single line that goes from left to right.
    assert!(may_show(
        Some(&rect(-900, 1_100, 50, 20)),
        Some(&rect(900, 1_100, 50, 20)),
        clip
    ));
    assert!(!may_show(
        Some(&rect(900, 1_100, 50, 20)),
        Some(&rect(1_900, 1_100, 50, 20)),
        clip
    ));
    assert!(!may_show(None, None, clip));
}
