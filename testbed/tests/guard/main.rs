//! A person with their own keyboard and mouse works while an agent does: nobody is locked out, and
//! their keys are not mixed.
//!
//! `DESKLINE_GUARD_RUNS` sets how often random tests repeat.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod kills;
mod limits;
mod links;
mod person;
mod table;
mod turns;

use std::path::Path;
use std::time::{Duration, Instant};

use deskline_testbed::{App, Bed, Client, until};

fn runs(usual: usize) -> usize {
    let asked = std::env::var("DESKLINE_GUARD_RUNS").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(usual)
}

struct Dice(u64);

impl Dice {
    fn new() -> Self {
        let now = std::time::SystemTime::now();
        let now = now.duration_since(std::time::UNIX_EPOCH).unwrap();
        Self(now.as_nanos() as u64 | 1)
    }

    /// xorshift64.
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    /// Random text without the letter that the person types.
    fn text(&mut self, length: usize) -> String {
        let letters: Vec<char> = "abcdefghijklmnopqrstuvw ABCDEFGHIJK,.;-é".chars().collect();
        let letter = |_| letters[self.below(letters.len() as u64) as usize];
        (0..length).map(letter).collect()
    }
}

/// The content of the editor. Saving adds a final line break.
fn saved(server: &Client, app: &App<'_>, file: &Path) -> String {
    let before = std::fs::read(file).unwrap();
    // A click by the person may have opened a menu or dialog, which would get the first key.
    let mut asked: Option<Instant> = None;
    until("the saved file", || {
        if asked.is_none_or(|at| at.elapsed() > Duration::from_secs(5)) {
            server.press_key(app.pid, "s", &["Control"]).ok();
            asked = Some(Instant::now());
        }
        let now = std::fs::read(file).unwrap();
        (now != before && !now.is_empty()).then_some(())
    });
    let text = std::fs::read_to_string(file).unwrap();
    text.strip_suffix('\n').unwrap_or(&text).to_owned()
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of.get(of.len() / 2).copied().unwrap_or(f64::NAN)
}

fn bed() -> Bed {
    Bed::with(&["--watch"])
}
