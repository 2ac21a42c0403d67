//! Trees written as readable text, and arbitrary trees.

use std::time::Duration;

use deskline_core::{App, Cell, Element, ElementId, Line, Rect, Ref, Role, States, Text, Tree};
use proptest::prelude::*;

/// An app's tree from indented lines. The text of a line is the title; its ref is also the id.
pub(crate) fn tree(lines: &str) -> Tree {
    let mut elements: Vec<Element> = Vec::new();
    let mut open: Vec<(usize, usize)> = Vec::new();
    for text in lines.lines().filter(|line| !line.trim().is_empty()) {
        let indent = text.len() - text.trim_start().len();
        let line: Line = text.trim().parse().expect(text);
        while open.last().is_some_and(|&(outer, _)| outer >= indent) {
            open.pop();
        }
        let index = elements.len();
        let id = line
            .reference
            .map_or(format!("/{index}"), |r| r.to_string());
        elements.push(Element {
            id: ElementId::new(id),
            reference: line.reference,
            parent: open.last().map(|&(_, index)| index),
            role: line.role,
            native_role: line.native_role.unwrap_or_else(|| line.role.short().into()),
            title: line.text.unwrap_or_default(),
            value: line.value.unwrap_or_default(),
            description: Text::default(),
            cell: line.cell,
            extents: line.extents,
            visible: line.visible,
            states: line.states,
            children_read: true,
        });
        open.push((indent, index));
    }
    Tree {
        took: Duration::from_millis(84),
        ..Tree::new(
            App {
                name: "Messages".into(),
                pid: 4821,
            },
            elements,
        )
    }
}

/// The element with this ref.
pub(crate) fn at(tree: &mut Tree, reference: u64) -> &mut Element {
    let mut elements = tree.elements.iter_mut();
    elements
        .find(|e| e.reference == Some(Ref(reference)))
        .unwrap()
}

/// Text that tries to break the format: pieces of our own syntax, controls, bidi, anything.
pub(crate) fn hostile() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        Just("\n# diff: +0 added"),
        Just("\r\nstatus: success\n"),
        Just("\" x:1 y:2 w:3 h:4 visible #e42"),
        Just("…(+5)"),
        Just("…(+"),
        Just("…"),
        Just("\\"),
        Just("\""),
        Just("\\u{a}"),
        Just(")] \"a"),
        Just(" -> \""),
        Just("\u{202e}\u{2066}\u{feff}\u{85}\u{2028}\u{1b}[2J"),
        Just("error: x"),
        Just(" "),
    ]
    .prop_map(str::to_owned);
    let part = prop_oneof![pieces, ".{0,8}", any::<char>().prop_map(String::from)];
    prop::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
}

/// A text as a traversal may hold it; some are cut.
pub(crate) fn text() -> impl Strategy<Value = Text> {
    let omitted = || prop_oneof![3 => Just(0), 1 => any::<usize>()];
    (hostile(), omitted(), omitted()).prop_map(|(shown, omitted_before, omitted_after)| Text {
        shown,
        omitted_before,
        omitted_after,
    })
}

pub(crate) fn states() -> impl Strategy<Value = States> {
    any::<u16>().prop_map(States::from_bits_truncate)
}

pub(crate) fn role() -> impl Strategy<Value = Role> {
    prop::sample::select(Role::ALL)
}

prop_compose! {
    pub(crate) fn extents()(x in any::<i32>(), y in any::<i32>(), w in any::<i32>(), h in any::<i32>())
        -> Rect { Rect { x, y, w, h } }
}

prop_compose! {
    pub(crate) fn cell()(row in any::<u32>(), column in any::<u32>()) -> Cell { Cell { row, column } }
}

prop_compose! {
    fn element()(
        id in 0..40u32,
        parent in any::<prop::sample::Index>(),
        role in role(),
        texts in prop::array::uniform3(text()),
        extents in prop::option::of(extents()),
        states in states(),
        cell in prop::option::of(cell()),
        flags in any::<[bool; 2]>(),
    ) -> (prop::sample::Index, Element) {
        let [title, value, description] = texts;
        (parent, Element {
            id: ElementId::new(format!("/{id}")),
            reference: Some(Ref(u64::from(id))),
            parent: None,
            role,
            native_role: role.ax().into(),
            title,
            value,
            description,
            cell,
            extents,
            visible: flags[0],
            states,
            children_read: flags[1],
        })
    }
}

prop_compose! {
    /// Any tree, also with duplicate ids, several roots and nonsense extents.
    pub(crate) fn any_tree()(
        parts in prop::collection::vec(element(), 0..30),
        name in hostile(),
        partial in prop::collection::vec(hostile(), 0..2),
        blind in prop::collection::vec(hostile(), 0..2),
        dialog in prop::option::of(0..40usize),
    ) -> Tree {
        let mut elements = Vec::new();
        for (i, (parent, mut element)) in parts.into_iter().enumerate() {
            element.parent = (i > 0).then(|| parent.index(i));
            elements.push(element);
        }
        Tree {
dialog,
partial,
no_tree: blind.first().cloned(),
blind,
took: Duration::from_millis(5),
..Tree::new(App { name, pid: 1 }, elements)
}
    }
}
