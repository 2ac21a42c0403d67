//! Refs: the same for the same element, never shared by two.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::HashMap;
use std::fs;

use common::{journal, tree};
use deskline_journal::{Journal, RefStore};
use proptest::collection::vec;
use proptest::prelude::*;

fn numbers(refs: &mut RefStore, ids: &[&str]) -> Vec<u64> {
    let mut tree = tree(ids.iter().map(|id| (*id).to_owned()));
    refs.assign("desktop", &mut tree).unwrap();
    given(&tree)
}

fn given(tree: &deskline_core::Tree) -> Vec<u64> {
    tree.elements
        .iter()
        .map(|element| element.reference.unwrap().0)
        .collect()
}

#[test]
fn refs_are_numbered_from_one_and_do_not_change() {
    let (_dir, journal) = journal();
    let mut refs = RefStore::new(&journal);
    assert_eq!(numbers(&mut refs, &["a", "b", "a", "c"]), [1, 2, 1, 3]);
    assert_eq!(numbers(&mut refs, &["d", "c", "a"]), [4, 3, 1]);
    assert!(numbers(&mut refs, &[]).is_empty());
}

#[test]
fn refs_outlive_the_process_that_assigned_them() {
    let (_dir, journal) = journal();
    assert_eq!(numbers(&mut RefStore::new(&journal), &["a", "b"]), [1, 2]);
    assert_eq!(numbers(&mut RefStore::new(&journal), &["c", "b"]), [3, 2]);
}

#[test]
fn two_open_stores_assign_the_same_refs() {
    let (_dir, journal) = journal();
    let (mut one, mut two) = (RefStore::new(&journal), RefStore::new(&journal));
    assert_eq!(numbers(&mut one, &["a"]), [1]);
    assert_eq!(numbers(&mut two, &["b", "a"]), [2, 1]);
    assert_eq!(numbers(&mut one, &["c", "b"]), [3, 2]);
    assert_eq!(numbers(&mut two, &["c", "d"]), [3, 4]);
}

#[test]
fn the_same_id_on_another_desktop_is_another_element() {
    let (_dir, journal) = journal();
    let mut refs = RefStore::new(&journal);
    let mut number = |desktop: &str, id: &str| {
        let mut tree = tree([id.to_owned()]);
        refs.assign(desktop, &mut tree).unwrap();
        given(&tree)[0]
    };
    assert_eq!(number("d", "a"), 1);
    assert_eq!(number("e", "a"), 2);
    assert_eq!(number("da", ""), 3);
    assert_eq!(number("", "da"), 4);
    assert_eq!(number("d", "a"), 1);
}

fn refs_file(journal: &Journal) -> std::path::PathBuf {
    journal.path().join("refs")
}

#[test]
fn a_truncated_record_is_overwritten() {
    let (_dir, journal) = journal();
    numbers(&mut RefStore::new(&journal), &["a", "b"]);
    let file = fs::OpenOptions::new()
        .write(true)
        .open(refs_file(&journal))
        .unwrap();
    file.set_len(32 + 16 + 5).unwrap();
    let mut refs = RefStore::new(&journal);
    // b's record is lost. Its number is free: no process that assigned it still lives.
    assert_eq!(numbers(&mut refs, &["a", "c"]), [1, 2]);
    assert_eq!(numbers(&mut RefStore::new(&journal), &["c", "a"]), [2, 1]);
    assert_eq!(
        fs::metadata(refs_file(&journal)).unwrap().len(),
        32 + 2 * 16
    );
}

#[test]
fn no_ref_is_reused_after_the_ref_file_was_lost_or_damaged() {
    type Harm = fn(&std::path::Path);
    let harms: [Harm; 4] = [
        |file| fs::remove_file(file).unwrap(),
        |file| fs::write(file, "garbage that is longer than a header is").unwrap(),
        |file| fs::write(file, "").unwrap(),
        |file| {
            let file = fs::OpenOptions::new().write(true).open(file).unwrap();
            file.set_len(32 + 16).unwrap();
        },
    ];
    for (index, harm) in harms.iter().enumerate() {
        let (_dir, journal) = journal();
        let mut refs = RefStore::new(&journal);
        assert_eq!(numbers(&mut refs, &["a", "b", "c"]), [1, 2, 3]);
        harm(&refs_file(&journal));
        let new = numbers(&mut refs, &["d", "c", "b", "a", "e"]);
        assert_eq!(new[1..4], [3, 2, 1], "harm {index}");
        assert!(
            new[0] > 1_000_000 && new[4] == new[0] + 1,
            "harm {index}: {new:?}"
        );
        // Other processes read the new numbers, and append after them.
        let other = numbers(&mut RefStore::new(&journal), &["e", "d", "f"]);
        assert_eq!(other, [new[4], new[0], new[4] + 1], "harm {index}");
        assert_eq!(
            numbers(&mut refs, &["f", "a"]),
            [other[2], 1],
            "harm {index}"
        );
    }
}

#[cfg(unix)] // On Windows the folder cannot be removed meanwhile.
#[test]
fn no_ref_is_reused_after_another_process_began_a_new_ref_file() {
    let (_dir, journal) = journal();
    let mut refs = RefStore::new(&journal);
    assert_eq!(numbers(&mut refs, &["a", "b", "c"]), [1, 2, 3]);
    fs::remove_dir_all(journal.path()).unwrap();
    assert_eq!(numbers(&mut RefStore::new(&journal), &["x"]), [1]);
    let new = numbers(&mut refs, &["y", "c"]);
    assert!(new[0] > 1_000_000, "{new:?}");
    assert_eq!(new[1], 3);
}

#[test]
fn without_a_ref_file_elements_get_numbers_and_one_error_is_reported() {
    let (_dir, journal) = journal();
    let assign = |refs: &mut RefStore, ids: &[&str]| {
        let mut tree = tree(ids.iter().map(|id| (*id).to_owned()));
        let result = refs.assign("desktop", &mut tree);
        (given(&tree), result.is_err())
    };
    let mut refs = RefStore::new(&journal);
    assert_eq!(assign(&mut refs, &["a"]), (vec![1], false));
    fs::remove_file(refs_file(&journal)).unwrap();
    fs::create_dir(refs_file(&journal)).unwrap();

    let (first, failed) = assign(&mut refs, &["b", "a"]);
    assert!(failed && first[0] > 1_000_000 && first[1] == 1, "{first:?}");
    let (second, failed) = assign(&mut refs, &["c", "b"]);
    assert_eq!((second, failed), (vec![first[0] + 1, first[0]], false));
    // A later process reuses none of the numbers.
    let (later, failed) = assign(&mut RefStore::new(&journal), &["z"]);
    assert!(failed && later[0] > first[0] + 1, "{later:?}");

    fs::remove_dir(refs_file(&journal)).unwrap();
    let (restored, failed) = assign(&mut refs, &["d", "c", "a"]);
    assert!(!failed && restored[0] > first[0] + 1, "{restored:?}");
    assert_eq!(restored[1..], [first[0] + 1, 1]);
    fs::remove_file(refs_file(&journal)).unwrap();
    fs::create_dir(refs_file(&journal)).unwrap();
    let mut many = tree((0..200_000).map(|i| format!("many {i}")));
    refs.assign("desktop", &mut many).unwrap_err();
    assert!(!given(&many).contains(&restored[0]), "the file gave it");
}

fn carry_over(refs: &mut RefStore, pairs: &[(&str, &str)]) {
    let id = |id: &str| deskline_core::ElementId::new(id.to_owned());
    let pairs: Vec<_> = pairs.iter().map(|(old, new)| (id(old), id(new))).collect();
    refs.carry_over("desktop", &pairs).unwrap();
}

#[test]
fn a_number_moves_to_a_re_created_element() {
    let (_dir, journal) = journal();
    let (mut one, mut two) = (RefStore::new(&journal), RefStore::new(&journal));
    assert_eq!(numbers(&mut one, &["a", "b", "c"]), [1, 2, 3]);
    assert_eq!(numbers(&mut two, &["b"]), [2]);
    carry_over(&mut one, &[("a", "A"), ("b", "B"), ("unknown", "U")]);
    // All processes agree: the one that moved the number, a running one, and a later one.
    for refs in [&mut one, &mut two, &mut RefStore::new(&journal)] {
        assert_eq!(numbers(refs, &["A", "B", "c"]), [1, 2, 3]);
    }
    // An id that is seen again is another element, and no number is used again.
    let again = numbers(&mut two, &["a", "A", "d"]);
    assert!(again[0] > 3 && again[2] > again[0], "{again:?}");
    assert_eq!(again[1], 1);
    assert_eq!(numbers(&mut one, &["d", "a", "A"]), [again[2], again[0], 1]);
    // An element that was re-created once more, and one that already had a number.
    let own = numbers(&mut one, &["C"])[0];
    carry_over(&mut one, &[("A", "AA"), ("c", "C")]);
    assert_eq!(numbers(&mut two, &["AA", "C", "B"]), [1, 3, 2]);
    assert!(!numbers(&mut two, &["x", "y", "A", "c"]).contains(&own));
}

#[test]
fn a_truncated_move_moves_nothing_and_reuses_no_number() {
    let (_dir, journal) = journal();
    let mut refs = RefStore::new(&journal);
    assert_eq!(numbers(&mut refs, &["a", "b"]), [1, 2]);
    carry_over(&mut refs, &[("a", "A"), ("b", "B")]);
    let whole = fs::metadata(refs_file(&journal)).unwrap().len();
    assert_eq!(whole, 32 + (2 + 1 + 4) * 16);
    for lost in 1..=4 {
        let (_dir, journal) = crate::common::journal();
        let mut refs = RefStore::new(&journal);
        numbers(&mut refs, &["a", "b"]);
        carry_over(&mut refs, &[("a", "A"), ("b", "B")]);
        let file = fs::OpenOptions::new().write(true).open(refs_file(&journal));
        file.unwrap().set_len(whole - lost * 16).unwrap();
        let (mut one, mut two) = (RefStore::new(&journal), RefStore::new(&journal));
        let ids = ["a", "b", "A", "B", "c", "d", "e", "f", "g"];
        let given = numbers(&mut one, &ids);
        assert_eq!(given[..2], [1, 2]);
        let mut distinct = given.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), ids.len(), "{given:?}");
        assert_eq!(numbers(&mut two, &ids), given);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Any number of stores, opened and dropped in any order, agree with one plain map.
    #[test]
    fn stores_assign_the_same_refs_as_one_plain_map(
        turns in vec((0..3_usize, any::<bool>(), vec(0..60_u8, 0..20)), 1..25)
    ) {
        let (_dir, journal) = journal();
        let mut stores: Vec<RefStore> = (0..3).map(|_| RefStore::new(&journal)).collect();
        let mut model: HashMap<u8, u64> = HashMap::new();
        for (store, restart, ids) in turns {
            if restart {
                stores[store] = RefStore::new(&journal);
            }
            let mut tree = tree(ids.iter().map(ToString::to_string));
            stores[store].assign("desktop", &mut tree).unwrap();
            for (id, number) in ids.iter().zip(given(&tree)) {
                let next = model.len() as u64 + 1;
                prop_assert_eq!(*model.entry(*id).or_insert(next), number);
            }
        }
    }

    /// A moved number stays with its new element in all stores, and no number is assigned twice.
    #[test]
    fn stores_agree_while_elements_are_re_created(
        turns in vec(
            (
                0..3_usize,
                any::<bool>(),
                vec(0..30_u8, 0..10),
                vec((0..30_u8, 0..60_u8), 0..4),
            ),
            1..25,
        )
    ) {
        let (_dir, journal) = journal();
        let mut stores: Vec<RefStore> = (0..3).map(|_| RefStore::new(&journal)).collect();
        let mut model: HashMap<u8, u64> = HashMap::new();
        let mut given_so_far = std::collections::HashSet::new();
        for (store, restart, ids, moves) in turns {
            if restart {
                stores[store] = RefStore::new(&journal);
            }
            let mut tree = tree(ids.iter().map(ToString::to_string));
            stores[store].assign("desktop", &mut tree).unwrap();
            for (id, number) in ids.iter().zip(given(&tree)) {
                match model.get(id) {
                    Some(known) => prop_assert_eq!(*known, number),
                    None => prop_assert!(given_so_far.insert(number), "{} came twice", number),
                }
                model.insert(*id, number);
            }
            for (old, new) in moves {
                carry_over(&mut stores[store], &[(&old.to_string(), &new.to_string())]);
                if old != new && let Some(number) = model.remove(&old) {
                    model.insert(new, number);
                }
            }
        }
    }
}
