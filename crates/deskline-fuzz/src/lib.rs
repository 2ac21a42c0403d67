//! Runs a fuzz target on mutations of real inputs, on stable Rust and inside the test suite.
//!
//! Engines that are guided by coverage need a nightly compiler or a special build. This one does
//! not measure coverage: it starts from real inputs, and changes what parsers depend on (lengths,
//! numbers, separators, words of the other inputs).
//!
//! `DESKLINE_FUZZ` is the number of seconds that each target runs; the default is [`SHORT`]. If it
//! is set, the seed is a new one each time, unless `DESKLINE_SEED` gives one.

#![allow(clippy::print_stdout, clippy::panic)]

use std::fmt::{self, Debug, Formatter};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

pub use fastrand::Rng;

/// How long a target runs in the test suite.
const SHORT: Duration = Duration::from_millis(700);

/// A run on an input that takes longer counts as hung.
const HANG: Duration = Duration::from_secs(20);

/// A target may take this much memory, in KiB.
const MEMORY: u64 = 512 << 10;

/// The longest input, before repetitions.
const LONGEST: usize = 16 << 10;

/// The least and greatest values of common integer types.
const NUMBERS: [u64; 14] = [
    0,
    1,
    7,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0xffff,
    0x0400_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    i64::MAX as u64,
    u64::MAX,
];

/// Runs `target` on each input of `corpus`, and then on mutations of them.
///
/// # Panics
/// If the target panics, hangs or takes too much memory. The input is printed.
pub fn fuzz<I: AsRef<[u8]>>(name: &str, corpus: &[I], mut target: impl FnMut(&[u8])) {
    let mut mutator = Mutator::new(corpus);
    fuzz_with(
        name,
        |rng| Bytes(mutator.next(rng)),
        |Bytes(input)| target(input),
    );
}

/// Runs `target` on the values of `make`. A failure prints the value.
///
/// # Panics
/// As [`fuzz`].
pub fn fuzz_with<T: Debug>(
    name: &str,
    mut make: impl FnMut(&mut Rng) -> T,
    mut target: impl FnMut(&T),
) {
    let given = |name: &str| {
        std::env::var(name)
            .ok()
            .and_then(|value| value.parse().ok())
    };
    let seconds: Option<u64> = given("DESKLINE_FUZZ");
    let time = seconds.map_or(SHORT, Duration::from_secs);
    let since_epoch = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    let new = seconds.map_or(0, |_| since_epoch.as_nanos() as u64);
    let seed = given("DESKLINE_SEED").unwrap_or(new);
    let mut rng = Rng::with_seed(seed);
    let watch = Watch::new(name.to_owned(), seed);
    let before = peak_memory();
    let start = Instant::now();
    let (mut runs, mut longest) = (0_u64, Duration::ZERO);
    while start.elapsed() < time {
        let input = make(&mut rng);
        let began = Instant::now();
        watch.set(Some(began));
        let done = catch_unwind(AssertUnwindSafe(|| target(&input)));
        watch.set(None);
        if let Err(panic) = done {
            println!("{name}, seed {seed}, run {runs}: {input:?}");
            resume_unwind(panic);
        }
        longest = longest.max(began.elapsed());
        runs += 1;
        if runs.is_multiple_of(1_000) {
            let more = peak_memory().saturating_sub(before);
            assert!(
                more < MEMORY,
                "{name} took {more} KiB by run {runs}, seed {seed}"
            );
        }
    }
    let took = start.elapsed().as_secs_f32();
    println!("{name}: {runs} runs in {took:.1} s, the longest took {longest:?}");
}

/// An input, for the message of a failure.
struct Bytes(Vec<u8>);

impl Debug for Bytes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

/// Ends the process if a run takes longer than [`HANG`]: nothing else can end an endless loop.
#[derive(Clone, Default)]
struct Watch(Arc<Mutex<Option<Instant>>>);

impl Watch {
    fn new(name: String, seed: u64) -> Self {
        let watch = Self::default();
        let weak = Arc::downgrade(&watch.0);
        std::thread::spawn(move || {
            while let Some(since) = weak.upgrade() {
                let since = *since.lock().unwrap_or_else(PoisonError::into_inner);
                if since.is_some_and(|since| since.elapsed() > HANG) {
                    println!("{name}, seed {seed}: a run hangs. DESKLINE_SEED repeats it");
                    std::process::abort();
                }
                std::thread::sleep(HANG / 20);
            }
        });
        watch
    }

    fn set(&self, since: Option<Instant>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = since;
    }
}

/// How long this thread was ready to run, but had no processor. 0 if the system does not report it.
#[must_use]
pub fn halted() -> Duration {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let halted = times.split_whitespace().nth(1).and_then(|n| n.parse().ok());
    Duration::from_nanos(halted.unwrap_or(0))
}

/// The most memory that this process has had, in KiB. 0 if the system does not report it.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|line| line.split_whitespace().next()?.parse().ok());
    peak.unwrap_or(0)
}

/// Makes inputs from real ones.
pub struct Mutator {
    corpus: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
    made: usize,
}

impl Mutator {
    pub fn new<I: AsRef<[u8]>>(corpus: &[I]) -> Self {
        let corpus: Vec<Vec<u8>> = corpus.iter().map(|input| input.as_ref().to_vec()).collect();
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-:/".contains(byte);
        let mut words: Vec<Vec<u8>> = Vec::new();
        for input in &corpus {
            for word in input.chunk_by(|a, b| is_word(a) == is_word(b)) {
                words.push(word.to_vec());
            }
        }
        words.sort();
        words.dedup();
        Self {
            corpus,
            words,
            made: 0,
        }
    }

    /// The next input: first, each input of the corpus unchanged.
    pub fn next(&mut self, rng: &mut Rng) -> Vec<u8> {
        self.made += 1;
        if let Some(input) = self.corpus.get(self.made - 1) {
            return input.clone();
        }
        let mut input = rng.choice(&self.corpus).cloned().unwrap_or_default();
        for _ in 0..rng.usize(1..8) {
            self.mutate(&mut input, rng);
        }
        input
    }

    /// Makes one random change.
    pub fn mutate(&self, input: &mut Vec<u8>, rng: &mut Rng) {
        let at = rng.usize(..=input.len());
        let end = (at + rng.usize(..32)).min(input.len());
        match rng.u8(..12) {
            0 => input
                .iter_mut()
                .skip(at)
                .take(1)
                .for_each(|byte| *byte ^= 1 << rng.u8(..8)),
            1 => input
                .iter_mut()
                .skip(at)
                .take(1)
                .for_each(|byte| *byte = rng.u8(..)),
            2 => drop(input.drain(at..end)),
            3 => input.truncate(at),
            4 => replace(
                input,
                at..at,
                &std::iter::repeat_with(|| rng.u8(..))
                    .take(end - at)
                    .collect::<Vec<_>>(),
            ),
            5 => {
                let part = input[at..end].to_vec();
                let times = if rng.u8(..) == 0 {
                    rng.usize(..2_000)
                } else {
                    rng.usize(1..4)
                };
                if input.len() < LONGEST {
                    replace(input, at..at, &part.repeat(times));
                }
            }
            // A length or a count.
            6 | 7 => {
                let number = NUMBERS[rng.usize(..NUMBERS.len())]
                    .wrapping_add(rng.u64(..3))
                    .wrapping_sub(1);
                let at = if rng.bool() { at / 4 * 4 } else { at };
                let width = [1, 2, 4, 8][rng.usize(..4)];
                let end = (at + width).min(input.len());
                input[at.min(end)..end].copy_from_slice(&number.to_le_bytes()[..end - at.min(end)]);
            }
            // A length or a count, in decimal digits.
            8 => {
                let digits = |byte: &u8| byte.is_ascii_digit();
                let from = input.iter().skip(at).position(digits).map(|skip| at + skip);
                if let Some(from) = from {
                    let to = input.iter().skip(from).position(|byte| !digits(byte));
                    let to = to.map_or(input.len(), |skip| from + skip);
                    let number = NUMBERS[rng.usize(..NUMBERS.len())].to_string();
                    replace(input, from..to, number.as_bytes());
                }
            }
            9 | 10 => {
                if let Some(word) = rng.choice(&self.words) {
                    replace(input, at..end, word);
                }
            }
            _ => {
                if let Some(other) = rng.choice(&self.corpus) {
                    let from = rng.usize(..=other.len());
                    replace(input, at..input.len(), &other[from..]);
                }
            }
        }
    }
}

fn replace(input: &mut Vec<u8>, range: std::ops::Range<usize>, with: &[u8]) {
    input.splice(range, with.iter().copied());
}
