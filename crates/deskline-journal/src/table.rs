//! A run of numbers, given to elements in turn, and the form it has in the file `refs`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use deskline_core::ElementId;
use siphasher::sip128::{Hasher128 as _, SipHasher13};

/// Bytes of the file's header: magic, base (little endian), key.
pub(crate) const HEADER: usize = 32;
/// Bytes of a record: the hash of desktop and element.
pub(crate) const RECORD: usize = 16;

const MAGIC: &[u8; 8] = b"DLrefs1\n";
/// A base above this was never written by this program.
const HIGHEST_BASE: u64 = 1 << 60;

/// Numbers from `base` on.
#[derive(Debug)]
pub(crate) struct Table {
    base: u64,
    key: [u8; 16],
    count: usize,
    numbers: HashMap<[u8; RECORD], u64>,
}

impl Table {
    /// An empty table with a key of its own.
    pub(crate) fn new(base: u64) -> Self {
        // What a hasher with random keys makes of nothing is as random as its keys.
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
        }
    }

    /// The empty table of a file's header; `None` where it is not one.
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

    /// How many numbers were given.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The number that will be given next.
    pub(crate) fn next(&self) -> u64 {
        self.base + self.count as u64
    }

    /// Whether both are the same table, one perhaps older than the other.
    pub(crate) fn is_kin(&self, other: &Self) -> bool {
        self.key == other.key
    }

    /// The element's number, if it has one here.
    pub(crate) fn get(&self, desktop: &str, id: &ElementId) -> Option<u64> {
        self.numbers.get(&self.hash(desktop, id)).copied()
    }

    /// Takes in records from a file.
    pub(crate) fn extend(&mut self, records: &[u8]) {
        for record in records.as_chunks::<RECORD>().0 {
            let number = self.next();
            self.numbers.entry(*record).or_insert(number);
            self.count += 1;
        }
    }

    /// Gives numbers to those of `ids` that have none, and answers their records.
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

    /// Forgets the first `dropped`.
    pub(crate) fn drop_first(&mut self, dropped: usize) {
        if dropped == 0 {
            return;
        }
        self.base += dropped as u64;
        self.count -= dropped;
        let base = self.base;
        self.numbers.retain(|_, number| *number >= base);
    }

    fn hash(&self, desktop: &str, id: &ElementId) -> [u8; RECORD] {
        let mut hasher = SipHasher13::new_with_key(&self.key);
        // The length keeps ("ab", "c") and ("a", "bc") apart.
        hasher.write(&(desktop.len() as u64).to_le_bytes());
        hasher.write(desktop.as_bytes());
        hasher.write(id.as_str().as_bytes());
        hasher.finish128().as_bytes()
    }
}
