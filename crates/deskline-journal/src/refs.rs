//! Assigns refs to elements: an element has the same ref in every process that uses the journal,
//! and no two elements ever share a ref.
//!
//! The file `refs` is a header (magic, base, key) and 16-byte records, one an element, in the order
//! in which the elements were first seen. A record is a keyed 128-bit hash (`SipHash`) of desktop
//! and element id. The record's index plus the base is the element's number, its ref. The key is
//! random, so apps cannot choose ids that collide. The odds that two of a million elements collide
//! by chance are 1 in 10²⁶.
//!
//! If an app re-creates an element, the new element inherits the number: see
//! [`RefStore::carry_over`] and `table.rs`.
//!
//! The file holds at most a million records (16 MB). Then the older half is dropped and the base is
//! raised: those elements get new numbers when they are seen again, and their old numbers are never
//! reused.
//!
//! If the file cannot be written, is not written in time, or is lost while in use, numbers continue
//! from the microseconds since the epoch. That is above any number that an earlier process can have
//! assigned.

use std::fs::File;
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use deskline_core::{ElementId, Ref, Tree};

use crate::folder::Folder;
use crate::name::REFS;
use crate::os::At as _;
use crate::table::{HEADER, RECORD, Table};
use crate::{Journal, Result, time};

/// The maximum number of records in the file.
const LIMIT: usize = 1 << 20;

/// How long the disk may take for one operation. The limit is short because the person's window
/// stays behind the agent's until the refs are assigned.
const PATIENCE: Duration = Duration::from_millis(500);

/// Assigns refs to elements.
#[derive(Debug)]
pub struct RefStore {
    journal: Journal,
    limit: usize,
    /// The content of the file, as far as it was read.
    file: Option<Table>,
    /// Numbers that this process has assigned and that are not in the file, because the file could
    /// not be written or was lost.
    others: Vec<Table>,
    /// The newest table of unsaved numbers, to which more are still added.
    unsaved: Option<Table>,
    /// The greatest number that this process has seen, and the greatest seen in the file.
    highest: u64,
    highest_in_file: u64,
    failing: bool,
    /// The operation that the disk did not finish in time. It ends once the disk responds.
    standing: Option<JoinHandle<()>>,
}

impl RefStore {
    /// The refs of `journal`. Reads nothing until the first [`RefStore::assign`].
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
            standing: None,
        }
    }

    /// Sets [`deskline_core::Element::reference`] of every element of `tree`. `desktop` identifies
    /// the desktop that the app is on: element ids are unique only within one desktop.
    ///
    /// After an error all elements have refs nevertheless, but the next process may not know them.
    /// A lasting error is returned only once.
    pub fn assign(&mut self, desktop: &str, tree: &mut Tree) -> Result {
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
        let reported = std::mem::replace(&mut self.failing, result.is_err());
        if reported { Ok(()) } else { result }
    }

    /// Moves the number of each pair's first element to the second, permanently and for all
    /// processes: the app has re-created the element. If the first element's id is seen again, it
    /// gets a new number. A number that the second element already had is never used again.
    ///
    /// After an error nothing has changed.
    pub fn carry_over(&mut self, desktop: &str, pairs: &[(ElementId, ElementId)]) -> Result {
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

    /// Reads the entries that other processes have appended to the file: they may move a number
    /// that is known here. Costs two `stat`s if nothing was appended.
    fn look(&mut self) {
        let Some(known) = self.file.as_ref().map(|t| HEADER + t.count() * RECORD) else {
            return;
        };
        let size = self.journal.folder().ok().and_then(|f| f.regular(REFS));
        if size.is_some_and(|(size, _)| size != known as u64)
            && let Err(error) = self.append(|_| 0, |_| Vec::new())
        {
            tracing::debug!(%error, "the refs of other processes could not be read");
        }
    }

    /// The element's ref. A number that this process has assigned takes precedence over the number
    /// in the file: a write that was not finished in time may still change the file later.
    fn find(&self, desktop: &str, id: &ElementId) -> Option<Ref> {
        let mut tables = self.others.iter().chain(&self.unsaved).chain(&self.file);
        tables.find_map(|table| table.get(desktop, id)).map(Ref)
    }

    /// Reads numbers of `ids` that other processes have appended, and appends numbers for the rest.
    fn give_from_file(&mut self, desktop: &str, ids: &[ElementId]) -> Result {
        let new = |table: &Table| {
            ids.iter()
                .filter(|id| table.get(desktop, id).is_none())
                .count()
        };
        self.append(new, |table| table.give(desktop, ids))
    }

    /// Reads the entries that other processes have appended to the file, then appends the records
    /// that `write` returns, at most `count` of them.
    fn append(
        &mut self,
        count: impl Fn(&Table) -> usize,
        write: impl Fn(&mut Table) -> Vec<u8>,
    ) -> Result {
        let folder = self.journal.folder()?;
        let fail = |error| folder.failed("write", REFS, error);
        let file = Arc::new(self.in_time(&folder, |folder| folder.lock_file(REFS))?);
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
        let (header, its) = (table.header(), Arc::clone(&file));
        let written = self.in_time(&folder, move |folder| {
            let fail = |error| folder.failed("write", REFS, error);
            if starts_over || dropped > 0 {
                let mut kept = vec![0; end - start];
                its.read_exact_at(&mut kept, (HEADER + start) as u64)
                    .map_err(fail)?;
                return folder.put(REFS, &[&header, &kept[..], &records].concat());
            }
            let end = (HEADER + end) as u64;
            its.write_all_at(&records, end).map_err(|error| {
                let _ = its.set_len(end);
                fail(error)
            })
        });
        if written.is_ok() {
            self.accept(table);
        } else {
            // Nothing was written yet: go back to the content of the file.
            let _ = self.catch_up(&folder, &file);
        }
        written
    }

    /// Runs an operation on the disk. Fails if it does not finish in time, or if an earlier
    /// operation has not finished yet.
    fn in_time<T: Send + 'static>(
        &mut self,
        folder: &Arc<Folder>,
        act: impl FnOnce(&Folder) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let fail = |error: ErrorKind| folder.failed("write", REFS, error);
        if self.standing.as_ref().is_some_and(|act| !act.is_finished()) {
            return Err(fail(ErrorKind::TimedOut));
        }
        let (done, result) = channel();
        let its = Arc::clone(folder);
        let act = thread::Builder::new().spawn(move || {
            // A result that comes after the time limit is dropped; a lock is then released.
            let _ = done.send(act(&its));
        });
        let act = act.map_err(|error| folder.failed("write", REFS, error))?;
        result.recv_timeout(PATIENCE).unwrap_or_else(|_| {
            self.standing = Some(act);
            Err(fail(ErrorKind::TimedOut))
        })
    }

    /// Makes `table` the known content of the file.
    fn accept(&mut self, table: Table) {
        self.highest_in_file = table.next() - 1;
        self.highest = self.highest.max(self.highest_in_file);
        self.file = Some(table);
    }

    /// Reads the entries appended since the last call. If the file is new, damaged or has lost
    /// numbers, leaves `self.file` empty: the file must be started over.
    fn catch_up(&mut self, folder: &Folder, file: &File) -> Result {
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
            } else if table.key != known.key || table.next() + (count as u64) < known.next() {
                self.others.push(known);
            }
        }
        table.extend(&records);
        if table.next() > self.highest_in_file {
            self.accept(table);
        }
        Ok(())
    }

    /// Assigns numbers to `ids` by the clock, outside the file.
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

    /// A base above any number that this or an earlier process can have assigned: reading an
    /// element takes longer than a microsecond, so numbers grow more slowly than the clock.
    fn base_from_clock(&self) -> u64 {
        time::now_us().max(self.highest + 1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::Retention;

    #[test]
    fn a_long_ref_file_drops_its_older_half_and_reuses_no_number() {
        let dir = tempfile::tempdir().unwrap();
        let journal =
            Journal::open(Some(&dir.path().join("journal")), Retention::default()).unwrap();
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
        // In every store, the newer half keeps its numbers and the older half gets new ones.
        for (name, expected) in [("e", 5), ("i", 9), ("a", 10), ("b", 11)] {
            assert_eq!(number(&mut one, name), expected, "{name}");
        }
        for refs in [&mut two, &mut store()] {
            for (name, expected) in [("j", 12), ("a", 10), ("e", 5), ("g", 7), ("i", 9)] {
                assert_eq!(number(refs, name), expected, "{name}");
            }
        }
        // More new elements than fit the file: all get numbers.
        let many: Vec<_> = (0..20).map(|i| ElementId::new(i.to_string())).collect();
        one.give_from_file("d", &many).unwrap();
        let given: Vec<_> = many.iter().map(|id| one.find("d", id).unwrap().0).collect();
        assert_eq!(given, (13..33).collect::<Vec<_>>());
        assert_eq!(number(&mut two, "7"), 20);
    }

    #[test]
    fn moves_survive_the_loss_of_the_older_half_and_no_number_is_reused() {
        let dir = tempfile::tempdir().unwrap();
        let journal =
            Journal::open(Some(&dir.path().join("journal")), Retention::default()).unwrap();
        let store = || RefStore {
            limit: 24,
            ..RefStore::new(&journal)
        };
        let mut stores = [store(), store()];
        let id = |name: u32| ElementId::new(name.to_string());
        // The owner of each number. A renamed element is the same element.
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
