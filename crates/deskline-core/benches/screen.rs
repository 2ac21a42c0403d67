//! Matching, diffing and writing tree files, on trees of 100,000 elements and of 100.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use deskline_core::{
    App, Diff, Element, ElementId, Rect, Ref, Role, States, Text, Tree, tree_file,
};

/// A tree of groups of a hundred; the value of every thousandth element depends on `age`.
fn tree(elements: usize, age: usize) -> Tree {
    let element = |i: usize| {
        let group = i.is_multiple_of(100);
        let (role, native) = Role::from_atspi(if group { 39 } else { 43 });
        let value = if i.is_multiple_of(1_000) { age } else { 0 };
        let parent = if group { 0 } else { i - i % 100 };
        Element {
            id: ElementId::new(format!(":1.7/org/a11y/atspi/accessible/{i}")),
            reference: Some(Ref(i as u64 + 1)),
            parent: (i > 0).then_some(parent),
            role,
            native_role: native,
            title: Text::new(format!("Button {i}")),
            value: Text::new(format!("{value}")),
            description: Text::default(),
            cell: None,
            extents: Rect::new(10, i as i32, 80, 20),
            visible: i < 500,
            states: States::empty(),
            children_read: true,
        }
    };
    Tree {
        app: App {
            name: "bench".into(),
            pid: 1,
        },
        elements: (0..elements).map(element).collect(),
        dialog: None,
        windows: Vec::new(),
        partial: vec![],
        older: None,
        blind: Vec::new(),
        no_tree: None,
        coordinates: deskline_core::Coordinates::Screen,
        took: Duration::ZERO,
    }
}

/// Inserts `more` elements before element `at`, as an opening menu does.
fn insert(tree: &mut Tree, at: usize, more: usize) {
    for parent in tree.elements.iter_mut().filter_map(|e| e.parent.as_mut()) {
        *parent += if *parent < at { 0 } else { more };
    }
    let template = tree.elements[at].clone();
    let element = |i| Element {
        id: ElementId::new(format!(":1.7/org/a11y/atspi/accessible/new/{i}")),
        ..template.clone()
    };
    tree.elements.splice(at..at, (0..more).map(element));
}

fn screen(c: &mut Criterion) {
    for (name, elements) in [("100,000 elements", 100_000), ("100 elements", 100)] {
        let (before, after) = (tree(elements, 1), tree(elements, 2));
        let mut grown = after.clone();
        insert(&mut grown, 1, 10);
        let mut group = c.benchmark_group(name);
        group.sample_size(if elements > 1_000 { 10 } else { 100 });
        group.bench_function("diff", |b| {
            b.iter(|| Diff::between(black_box(&before), black_box(&after)));
        });
        group.bench_function("diff and format", |b| {
            b.iter(|| {
                let diff = Diff::between(black_box(&before), black_box(&after));
                tree_file::diff_and_tree(&before, &after, &diff, false)
            });
        });
        group.bench_function("diff and format, ten more at the start", |b| {
            b.iter(|| {
                let diff = Diff::between(black_box(&before), black_box(&grown));
                tree_file::diff_and_tree(&before, &grown, &diff, false)
            });
        });
        group.finish();
    }
}

criterion_group!(benches, screen);
criterion_main!(benches);
