//! A table of consecutive numbers assigned to elements, and its format in the file `refs`.
//!
//! There are two kinds of entries. A record assigns the next number to an element. A move passes
//! numbers on to re-created elements: it is a list of pairs (hash of the old element, hash of the
//! new one) and a mark (magic, number of pairs, checksum). Each hash and mark of a move takes up
//! one number, which is assigned to nothing. If a crash cuts off the mark, the pairs are read as
//! records: they move nothing.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::ops::Range;

use deskline_core::ElementId;
use siphasher::sip128::{Hasher128 as _, SipHasher13};

/// Bytes of the file's header: magic, base (little endian), key.
pub(crate) const HEADER: usize = 32;
/// Bytes of a record: the hash of desktop and element id.
pub(crate) const RECORD: usize = 16;

const MAGIC: &[u8; 8] = b"DLrefs1\n";
/// The start of a move's mark. By chance, a hash starts like this with odds of 1 in 2⁶⁴.
const MOVED: &[u8; 8] = b"DLmoved\n";
/// This program never writes a greater base.
const HIGHEST_BASE: u64 = 1 << 60;

/// Consecutive numbers from `base` on.
#[derive(Debug)]
pub(crate) struct Table {
    base: u64,
    pub(crate) key: [u8; 16],
    count: usize,
    numbers: HashMap<[u8; RECORD], u64>,
    /// The index ranges of moves.
    moves: Vec<Range<usize>>,
}

impl Table {
    /// An empty table with a new random key.
    pub(crate) fn new(base: u64) -> Self {
        // The hash of no input is as random as the hasher's random keys.
        let random = || RandomState::new().build_hasher().finish().to_le_bytes();
        let mut key = [0; 16];
        key[..8].copy_from_slice(&random());
        key[8..].copy_from_slice(&random());
        Self::with_key(base, key)
    }

    fn with_key(base: u64, key: [u8; 16]) -> Self {
        Self {
            base,
            key,
            count: 0,
            numbers: HashMap::new(),
            moves: Vec::new(),
        }
    }

    /// The empty table of a file with this header; `None` if the header is invalid.
    pub(crate) fn from_header(header: [u8; HEADER]) -> Option<Self> {
        let (magic, rest) = header.split_first_chunk::<8>()?;
        let (base, key) = rest.split_first_chunk::<8>()?;
        let base = u64::from_le_bytes(*base);
        (magic == MAGIC && (1..=HIGHEST_BASE).contains(&base))
            .then(|| Some(Self::with_key(base, key.try_into().ok()?)))?
    }

    pub(crate) fn header(&self) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(MAGIC);
        header[8..16].copy_from_slice(&self.base.to_le_bytes());
        header[16..].copy_from_slice(&self.key);
        header
    }

    /// How many numbers the table has used up, those of moves included.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The next number.
    pub(crate) fn next(&self) -> u64 {
        self.base + self.count as u64
    }

    /// The element's number, if it has one in this table.
    pub(crate) fn get(&self, desktop: &str, id: &ElementId) -> Option<u64> {
        self.numbers.get(&self.hash(desktop, id)).copied()
    }

    /// Adds records and moves from the file: everything that was appended since the last time.
    pub(crate) fn extend(&mut self, records: &[u8]) {
        let records = records.as_chunks::<RECORD>().0;
        for (i, record) in records.iter().enumerate() {
            if let Some(pairs) = self.moved(record, &records[..i]) {
                let start = self.count - pairs.len();
                self.count += 1;
                self.apply(pairs, start);
                continue;
            }
            let number = self.next();
            self.numbers.entry(*record).or_insert(number);
            self.count += 1;
        }
    }

    /// The pairs of the move that `mark` ends; `None` if `mark` does not fit the records before it.
    fn moved<'r>(
        &self,
        mark: &[u8; RECORD],
        before: &'r [[u8; RECORD]],
    ) -> Option<&'r [[u8; RECORD]]> {
        let (count, check) = mark.strip_prefix(MOVED)?.split_first_chunk::<4>()?;
        let count = usize::try_from(u32::from_le_bytes(*count)).ok()?;
        let start = before.len().checked_sub(count.checked_mul(2)?)?;
        let pairs = &before[start..];
        (self.check(pairs) == check).then_some(pairs)
    }

    fn check(&self, pairs: &[[u8; RECORD]]) -> [u8; 4] {
        let mut hasher = SipHasher13::new_with_key(&self.key);
        hasher.write(pairs.as_flattened());
        let hash = hasher.finish128().as_bytes();
        [hash[0], hash[1], hash[2], hash[3]]
    }

    /// Applies a move whose entries start at index `start` and are counted already.
    fn apply(&mut self, pairs: &[[u8; RECORD]], start: usize) {
        let first = self.base + start as u64;
        for [old, new] in pairs.as_chunks::<2>().0 {
            match self.numbers.remove(old) {
                Some(number) if number < first => self.numbers.insert(*new, number),
                // The number was dropped with the older half.
                _ => self.numbers.remove(new),
            };
        }
        self.moves.push(start..self.count);
    }

    /// Gives the new element of each pair the number of the old one, if the old one has a number.
    /// Returns the move to write to the file.
    pub(crate) fn rename(&mut self, desktop: &str, pairs: &[(ElementId, ElementId)]) -> Vec<u8> {
        let mut moved = Vec::new();
        for (old, new) in pairs {
            let (old, new) = (self.hash(desktop, old), self.hash(desktop, new));
            if old != new && self.numbers.contains_key(&old) {
                moved.extend([old, new]);
            }
        }
        let count = u32::try_from(moved.len() / 2).unwrap_or_default();
        if count == 0 {
            return Vec::new();
        }
        let mut mark = [0; RECORD];
        mark[..8].copy_from_slice(MOVED);
        mark[8..12].copy_from_slice(&count.to_le_bytes());
        mark[12..].copy_from_slice(&self.check(&moved));
        let start = self.count;
        self.count += moved.len() + 1;
        self.apply(&moved, start);
        moved.push(mark);
        moved.as_flattened().to_vec()
    }

    /// The first index at or after `start` that is not inside a move.
    pub(crate) fn boundary(&self, start: usize) -> usize {
        let inside = |range: &&Range<usize>| range.contains(&start) && range.start != start;
        self.moves
            .iter()
            .find(inside)
            .map_or(start, |range| range.end)
    }

    /// Assigns numbers to those of `ids` that have none. Returns the records to write to the file.
    pub(crate) fn give(&mut self, desktop: &str, ids: &[ElementId]) -> Vec<u8> {
        let mut records = Vec::with_capacity(ids.len() * RECORD);
        for id in ids {
            let (record, number) = (self.hash(desktop, id), self.next());
            if let Entry::Vacant(vacant) = self.numbers.entry(record) {
                vacant.insert(number);
                self.count += 1;
                records.extend_from_slice(&record);
            }
        }
        records
    }

    /// Drops the first `dropped` entries.
    pub(crate) fn drop_first(&mut self, dropped: usize) {
        if dropped == 0 {
            return;
        }
        self.base += dropped as u64;
        self.count -= dropped;
        let base = self.base;
        self.numbers.retain(|_, number| *number >= base);
        self.moves.retain(|range| range.start >= dropped);
        for range in &mut self.moves {
            *range = range.start - dropped..range.end - dropped;
        }
    }

    fn hash(&self, desktop: &str, id: &ElementId) -> [u8; RECORD] {
        let mut hasher = SipHasher13::new_with_key(&self.key);
        // Hashing the length separates ("ab", "c") from ("a", "bc").
        hasher.write(&(desktop.len() as u64).to_le_bytes());
        hasher.write(desktop.as_bytes());
        hasher.write(id.as_str().as_bytes());
        hasher.finish128().as_bytes()
    }
}
