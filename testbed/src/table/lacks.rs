//! The cells of the table that a toolkit or a compositor refuses, each with its reason.

use super::cells::{Cell, cells};
use super::{Subject, driven, render, whole_column};
use crate::{Session, Toolkit};

/// A row that is refused, and a part of the error.
pub type Lack = (&'static str, &'static str);

pub const GTK_3: &[Lack] = &[("press, tab", "it has no action")];

/// GTK 4.8 and 4.18.
pub const GTK_4: &[Lack] = &[
    ("press, check box", "it has no action"),
    ("press, radio button", "it has no action"),
    ("press, tab", "it has no action"),
    // The item is not in the tree before the menu opens.
    ("press, menu item", "no element matches 'Close'"),
    ("set value, combo box", "accessibility lists no choice"),
];

/// Characters without a key on the person's layout: KWin and GNOME accept only keys.
pub const OTHER_TEXT: &[Lack] = &[
    ("click, text field", "no key for character"),
    ("click, text area", "no key for character"),
    ("type, text field", "no key for character"),
];

/// A toolkit, and the cells that it and the compositor refuse.
pub type Column<'l> = (Toolkit, &'l [&'l [Lack]]);

/// The columns of the toolkits' test apps, one after the other in one session, with another app's
/// window in front before each cell.
pub fn serves_all_but(session: &Session, display: &str, columns: &[Column<'_>]) {
    serves(session, display, columns, &cells());
}

/// The column of one toolkit, without the cells that send no input: a compositor has no part in
/// them.
pub fn serves_input_but(session: &Session, display: &str, (toolkit, lacks): Column<'_>) {
    let (quiet, input): (Vec<_>, Vec<_>) = cells().into_iter().partition(Cell::is_quiet);
    let is_input = |(row, _): &Lack| quiet.iter().all(|cell| cell.name != *row);
    let lacks: Vec<Lack> = lacks.concat().into_iter().filter(is_input).collect();
    serves(session, display, &[(toolkit, &[&lacks])], &input);
}

fn serves(session: &Session, display: &str, columns: &[Column<'_>], cells: &[Cell]) {
    let server = session.server();
    let mut wrong = Vec::new();
    let mut found = Vec::new();
    for (toolkit, lacks) in columns {
        let app = session.widgets(*toolkit, &server);
        let others = match toolkit {
            Toolkit::Gtk3 => Toolkit::Gtk4,
            _ => Toolkit::Gtk3,
        };
        let person = session.widgets(others, &server);
        let subject = Subject::native(session, &app, Some(person.pid()), *toolkit, &server);
        let column = whole_column(&subject, cells);
        println!("{}", render(&format!("{toolkit:?}"), &column));
        wrong.extend(unlike(&column, &lacks.concat()).map(|what| format!("{toolkit:?}, {what}")));
        found.push((toolkit.version(session.is_here()), column));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    for (app, column) in found {
        driven::note(app, display, &column);
    }
}

/// The cells with an unexpected result: passed instead of refused, refused instead of passed, or
/// refused for another reason.
fn unlike(column: &[(String, String)], lacks: &[Lack]) -> impl Iterator<Item = String> {
    let wrong = column.iter().filter(|(row, outcome)| {
        let lack = lacks.iter().find(|(lacking, _)| lacking == row);
        !lack.map_or(outcome == "✓", |(_, reason)| {
            outcome.starts_with("refused: ") && outcome.contains(reason)
        })
    });
    let wrong = wrong.map(|(row, outcome)| format!("{row}: {outcome}"));
    let missing = lacks.iter().map(|(lacking, _)| lacking);
    let missing = missing.filter(|lacking| column.iter().all(|(row, _)| row != *lacking));
    let missing = missing.map(|lacking| format!("no row {lacking}"));
    wrong.chain(missing).collect::<Vec<_>>().into_iter()
}
