//! The cost of a call: `cargo test --release --test speed -- --nocapture`. Takes the best of
//! several runs, as the machine may be busy.
#![allow(clippy::unwrap_used)]

mod common;

use deskline_core::Point;
use deskline_journal::Shot;
use std::time::{Duration, Instant};

use common::{journal, tree};
use deskline_journal::{Outcome, Record, RefStore};

/// A debug build is slower, but not by more than this.
const SLOWER: u32 = if cfg!(debug_assertions) { 30 } else { 1 };

fn best(what: &str, bound: Duration, mut run: impl FnMut() -> Duration) {
    let bound = bound * SLOWER;
    let best = (0..15).map(|_| run()).min().unwrap();
    println!("{what}: {best:?}");
    assert!(best < bound, "{what}: {best:?}, allowed {bound:?}");
}

fn time<T>(run: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    std::hint::black_box(run());
    start.elapsed()
}

/// Like a window: plain areas, a gradient, lines of 8×12 glyphs and a small photograph.
fn screen(width: usize, height: usize) -> Vec<u8> {
    let hash = |n: usize| (n as u32).wrapping_mul(2_654_435_761) >> 16;
    let mut rgb = Vec::with_capacity(width * height * 3);
    for y in 0..height {
        for x in 0..width {
            let noise = hash(y * width + x) as u8;
            // One of sixty glyphs, and whether this pixel of it is ink.
            let glyph = hash(x / 8 * 1_000 + y / 20) as usize % 60;
            let ink = y % 20 < 12 && hash(glyph * 96 + y % 20 * 8 + x % 8) % 3 == 0;
            rgb.extend_from_slice(&match (x, y) {
                (1_500.., 700..) => [noise, noise / 2, (x + y) as u8],
                (..300, _) => [46, 52, 64],
                (_, ..60) => [(x / 8) as u8, 120, 200],
                (..1_200, _) if ink => [30, 30, 30],
                _ => [250, 250, 250],
            });
        }
    }
    rgb
}

#[test]
fn a_call_costs_little() {
    let (_dir, journal) = journal();
    best("begin", Duration::from_micros(200), || {
        time(|| journal.begin("click_and_traverse").unwrap())
    });

    let rgb = screen(1_920, 1_080);
    let entry = journal.begin("click_and_traverse").unwrap();
    best("picture of 1920×1080", Duration::from_millis(15), || {
        time(|| {
            entry.write_picture(&Shot {
                width: 1_920,
                height: 1_080,
                rgb: &rgb,
                origin: Point { x: 0, y: 0 },
                scale: 1.0,
                crosshair: Some((960, 540)),
                clicked: None,
            })
        })
    });
    println!(
        "  {} bytes",
        journal.newest_picture().unwrap().unwrap().bytes
    );

    let text =
        "[AXButton (push button)] \"Open\" x:680 y:520 w:80 h:30 visible #e42\n".repeat(5_000);
    best("text of 5,000 lines", Duration::from_millis(2), || {
        time(|| entry.write_text(&text).unwrap())
    });

    let record = Record::new("click_and_traverse", serde_json::Map::new(), Outcome::Ok);
    best("record", Duration::from_micros(500), || {
        time(|| journal.record(&record).unwrap())
    });

    for index in 0..6_000 {
        let stamp = 1_776_457_217_931_u64 + index;
        std::fs::write(
            journal
                .path()
                .join(format!("{stamp}_click_and_traverse.txt")),
            "x",
        )
        .unwrap();
    }
    best("newest of 6,000 files", Duration::from_millis(20), || {
        time(|| journal.newest_text().unwrap())
    });
    best(
        "opening beside 6,000 files",
        Duration::from_millis(50),
        || {
            let keep = "1GiB,9999d".parse().unwrap();
            time(|| common::open(journal.path(), keep))
        },
    );

    let ids = |round: usize| {
        tree((0..10_000).map(move |i| format!(":1.42/org/a11y/atspi/accessible/{round}/{i}")))
    };
    let mut refs = RefStore::new(&journal);
    let mut round = 0;
    best("10,000 new elements", Duration::from_millis(20), || {
        round += 1;
        let mut tree = ids(round);
        time(|| refs.assign("desktop", &mut tree).unwrap())
    });
    let mut known = ids(1);
    best("10,000 known elements", Duration::from_millis(5), || {
        time(|| refs.assign("desktop", &mut known).unwrap())
    });
    best(
        "first look at 150,000 known elements",
        Duration::from_millis(60),
        || {
            let mut refs = RefStore::new(&journal);
            time(|| refs.assign("desktop", &mut known).unwrap())
        },
    );
}
