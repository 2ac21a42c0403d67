//! The numbers that elements go by: the same element has the same number, in every process that uses
//! the journal, and no other element ever has it.
//!
//! The file `refs` is a header (magic, base, key) and 16-byte records, one an element in the order in
//! which they were first seen. A record is the keyed 128-bit hash (`SipHash`) of desktop and element
//! id; its index plus the base is the number. The key is random, so that no app can choose ids that
//! collide, and among a million elements by chance two do with odds of 1 in 10²⁶.
//!
//! Where an app has created an element anew as it was, its number goes on to the new one: see
//! [`RefStore::carry_over`] and `table.rs`.
//!
//! The file holds a million records (16 MB). Then the older half is dropped and the base raised:
//! elements of that half get new numbers when they are seen again, and the old numbers are never given
//! again.
//!
//! Where the file cannot be written, or was lost while in use, numbers go on from the microseconds
//! since the epoch: above any that an earlier process could have given out.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use deskline_core::{ElementId, Ref, Tree};
use rustix::fs::OFlags;

use crate::folder::Folder;
use crate::name::REFS;
use crate::table::{HEADER, RECORD, Table};
use crate::{Journal, JournalError, time};

/// The most records of the file.
const LIMIT: usize = 1 << 20;

/// Gives elements their numbers.
#[derive(Debug)]
pub struct RefStore {
    journal: Journal,
    limit: usize,
    /// What the file says, as far as it was read.
    file: Option<Table>,
    /// Numbers that this process has given and the file does not know: it could not be written, or
    /// was lost.
    others: Vec<Table>,
    /// The one of these that still grows.
    unsaved: Option<Table>,
    /// The greatest number that this process has seen, and the greatest that the file had then.
    highest: u64,
    highest_in_file: u64,
    failing: bool,
}

impl RefStore {
    /// The numbers of `journal`'s elements. Nothing is read until the first [`RefStore::assign`].
    pub fn new(journal: &Journal) -> Self {
        Self {
            journal: journal.clone(),
            limit: LIMIT,
            file: None,
            others: Vec::new(),
            unsaved: None,
            highest: 0,
            highest_in_file: 0,
            failing: false,
        }
    }

    /// Sets [`deskline_core::Element::reference`] of every element of `tree`, which is an app's on
    /// `desktop`: whatever tells one desktop from another, as element ids are unique only within one.
    ///
    /// After an error every element has its number all the same, but the next process may not know
    /// it. An error that lasts is returned once.
    pub fn assign(&mut self, desktop: &str, tree: &mut Tree) -> Result<(), JournalError> {
        self.look();
        let mut unknown = Vec::new();
        for element in &mut tree.elements {
            element.reference = self.find(desktop, &element.id);
            if element.reference.is_none() {
                unknown.push(element.id.clone());
            }
        }
        if unknown.is_empty() {
            return Ok(());
        }
        let result = self.give_from_file(desktop, &unknown);
        if result.is_err() {
            self.give_from_clock(desktop, &unknown);
        }
        for element in &mut tree.elements {
            if element.reference.is_none() {
                element.reference = self.find(desktop, &element.id);
            }
        }
        let told = std::mem::replace(&mut self.failing, result.is_err());
        if told { Ok(()) } else { result }
    }

    /// The number of each pair's first element goes on to the second, for good and in every process:
    /// the app has created the element anew. The first has no number then, and gets one of its own
    /// where its id is seen again. A number that the second had already is never seen again.
    ///
    /// After an error nothing has changed.
    pub fn carry_over(
        &mut self,
        desktop: &str,
        pairs: &[(ElementId, ElementId)],
    ) -> Result<(), JournalError> {
        for table in self.others.iter_mut().chain(&mut self.unsaved) {
            table.rename(desktop, pairs);
        }
        let records = |table: &Table| match pairs
            .iter()
            .filter(|(old, _)| table.get(desktop, old).is_some())
            .count()
        {
            0 => 0,
            moved => 1 + 2 * moved,
        };
        self.append(records, |table| table.rename(desktop, pairs))
    }

    /// Takes in what another process has appended to the file: it may have moved a number that is
    /// known here. Two `stat`s where nothing was appended.
    fn look(&mut self) {
        let Some(known) = self.file.as_ref().map(|t| HEADER + t.count() * RECORD) else {
            return;
        };
        let size = self.journal.folder().ok().and_then(|f| f.regular(REFS));
        if size.is_some_and(|(size, _)| size != known as u64)
            && let Err(error) = self.append(|_| 0, |_| Vec::new())
        {
            tracing::debug!(%error, "what others know of refs is not known here");
        }
    }

    fn find(&self, desktop: &str, id: &ElementId) -> Option<Ref> {
        let mut tables = self.file.iter().chain(&self.others).chain(&self.unsaved);
        tables.find_map(|table| table.get(desktop, id)).map(Ref)
    }

    /// Finds `ids` among what others have appended to the file, and appends the rest.
    fn give_from_file(&mut self, desktop: &str, ids: &[ElementId]) -> Result<(), JournalError> {
        let new = |table: &Table| {
            ids.iter()
                .filter(|id| table.get(desktop, id).is_none())
                .count()
        };
        self.append(new, |table| table.give(desktop, ids))
    }

    /// Takes in what others have appended to the file, and appends the records of `write`, of which
    /// there are at most `count`.
    fn append(
        &mut self,
        count: impl Fn(&Table) -> usize,
        write: impl Fn(&mut Table) -> Vec<u8>,
    ) -> Result<(), JournalError> {
        let folder = self.journal.folder()?;
        let fail = |error| folder.failed("write", REFS, error);
        let file = folder.lock_file(REFS, OFlags::empty())?;
        self.catch_up(&folder, &file)?;

        let starts_over = self.file.is_none();
        let mut table = match self.file.take() {
            Some(table) => table,
            None if self.highest == 0 && file.metadata().map_err(fail)?.len() == 0 => Table::new(1),
            None => Table::new(self.base_from_clock()),
        };
        let new = count(&table);
        if new == 0 {
            self.file = Some(table).filter(|_| !starts_over);
            return Ok(());
        }
        let dropped = match (table.count() + new).saturating_sub(self.limit) {
            0 => 0,
            too_many => table.boundary(too_many.max(self.limit / 2).min(table.count())),
        };
        let (start, end) = (dropped * RECORD, table.count() * RECORD);
        table.drop_first(dropped);
        let records = write(&mut table);
        let written = if starts_over || dropped > 0 {
            let mut kept = vec![0; end - start];
            file.read_exact_at(&mut kept, (HEADER + start) as u64)
                .map_err(fail)
                .and_then(|()| folder.put(REFS, &[&table.header(), &kept[..], &records].concat()))
        } else {
            let end = (HEADER + end) as u64;
            file.write_all_at(&records, end).map_err(|error| {
                let _ = file.set_len(end);
                fail(error)
            })
        };
        if written.is_ok() {
            self.accept(table);
        } else {
            // What was written is void: know what the file knows, as before.
            let _ = self.catch_up(&folder, &file);
        }
        written
    }

    /// Takes `table` for what the file says.
    fn accept(&mut self, table: Table) {
        self.highest_in_file = table.next() - 1;
        self.highest = self.highest.max(self.highest_in_file);
        self.file = Some(table);
    }

    /// Reads what was appended since the last look. Where the file is new, broken or has lost numbers
    /// that were given, `self.file` is `None` afterwards and the file has to be started over.
    fn catch_up(&mut self, folder: &Folder, file: &File) -> Result<(), JournalError> {
        let fail = |error| folder.failed("read", REFS, error);
        let length = usize::try_from(file.metadata().map_err(fail)?.len()).unwrap_or(usize::MAX);
        let mut header = [0; HEADER];
        if length >= HEADER {
            file.read_exact_at(&mut header, 0).map_err(fail)?;
        }
        let Some(mut table) = Table::from_header(header) else {
            self.others.extend(self.file.take());
            return Ok(());
        };
        let count = (length - HEADER) / RECORD;
        let known = self.file.as_ref();
        let grown = known.is_some_and(|known| known.header() == header && known.count() <= count);
        let from = known.map_or(0, Table::count) * usize::from(grown);
        let mut records = vec![0; (count - from) * RECORD];
        file.read_exact_at(&mut records, (HEADER + from * RECORD) as u64)
            .map_err(fail)?;

        if let Some(known) = self.file.take() {
            if grown {
                table = known;
            } else if !table.is_kin(&known) || table.next() + (count as u64) < known.next() {
                self.others.push(known);
            }
        }
        table.extend(&records);
        if table.next() > self.highest_in_file {
            self.accept(table);
        }
        Ok(())
    }

    /// Numbers for `ids` that no file knows.
    fn give_from_clock(&mut self, desktop: &str, ids: &[ElementId]) {
        let (next, limit) = (self.highest + 1, self.limit);
        let table = match self.unsaved.take() {
            Some(table) if table.next() == next && table.count() < limit => table,
            other => {
                self.others.extend(other);
                Table::new(self.base_from_clock())
            }
        };
        let table = self.unsaved.insert(table);
        table.give(desktop, ids);
        self.highest = table.next() - 1;
    }

    /// A base above any number that this or an earlier process can have given: who gives a number
    /// takes more than a microsecond to read its element.
    fn base_from_clock(&self) -> u64 {
        time::now_us().max(self.highest + 1)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::HashMap;

    use super::*;
    use crate::Keep;

    #[test]
    fn a_long_file_drops_its_older_half_and_no_number_comes_again() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::open(Some(&dir.path().join("journal")), Keep::default()).unwrap();
        let store = || RefStore {
            limit: 8,
            ..RefStore::new(&journal)
        };
        let number = |refs: &mut RefStore, name: &str| {
            let id = ElementId::new(name);
            if refs.find("d", &id).is_none() {
                refs.give_from_file("d", std::slice::from_ref(&id)).unwrap();
            }
            refs.find("d", &id).unwrap().0
        };
        let (mut one, mut two) = (store(), store());
        for (index, name) in "abcdefgh".chars().enumerate() {
            assert_eq!(number(&mut one, &name.to_string()), index as u64 + 1);
        }
        assert_eq!(number(&mut two, "h"), 8);
        assert_eq!(number(&mut one, "i"), 9);
        let size = std::fs::metadata(journal.path().join(REFS)).unwrap().len();
        assert_eq!(size, (HEADER + 5 * RECORD) as u64);
        // The newer half keeps its numbers, the older half gets new ones, in every store alike.
        for (name, expected) in [("e", 5), ("i", 9), ("a", 10), ("b", 11)] {
            assert_eq!(number(&mut one, name), expected, "{name}");
        }
        for refs in [&mut two, &mut store()] {
            for (name, expected) in [("j", 12), ("a", 10), ("e", 5), ("g", 7), ("i", 9)] {
                assert_eq!(number(refs, name), expected, "{name}");
            }
        }
        // More new elements at once than the file holds: all have numbers.
        let many: Vec<_> = (0..20).map(|i| ElementId::new(i.to_string())).collect();
        one.give_from_file("d", &many).unwrap();
        let given: Vec<_> = many.iter().map(|id| one.find("d", id).unwrap().0).collect();
        assert_eq!(given, (13..33).collect::<Vec<_>>());
        assert_eq!(number(&mut two, "7"), 20);
    }

    #[test]
    fn moves_survive_the_loss_of_the_older_half_and_no_number_comes_again() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::open(Some(&dir.path().join("journal")), Keep::default()).unwrap();
        let store = || RefStore {
            limit: 24,
            ..RefStore::new(&journal)
        };
        let mut stores = [store(), store()];
        let id = |name: u32| ElementId::new(name.to_string());
        // Who has each number now. An element that was renamed is the same element.
        let mut owners: HashMap<u64, u32> = HashMap::new();
        let mut next = 0x2545_f491_u32;
        let mut random = |below: u32| {
            next = next.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (next >> 8) % below
        };
        for turn in 0..2_000 {
            let which = random(2) as usize;
            if random(10) == 0 {
                stores[which] = store();
            }
            let name = random(20);
            let given: Vec<u64> = [which, 1 - which]
                .into_iter()
                .map(|which| {
                    let refs = &mut stores[which];
                    refs.look();
                    if refs.find("d", &id(name)).is_none() {
                        refs.give_from_file("d", &[id(name)]).unwrap();
                    }
                    refs.find("d", &id(name)).unwrap().0
                })
                .collect();
            assert_eq!(given[0], given[1], "turn {turn}: {name}");
            let owner = *owners.entry(given[0]).or_insert(name);
            assert_eq!(owner, name, "turn {turn}: {} was another's", given[0]);
            if random(3) == 0 {
                let new = random(20);
                if new != name {
                    stores[which]
                        .carry_over("d", &[(id(name), id(new))])
                        .unwrap();
                    owners.insert(given[0], new);
                }
            }
        }
    }
}
