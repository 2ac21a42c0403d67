//! The toolkit table with GTK 4.18 and Qt 6.8, on X11, sway and KWin. A cell that is not served is refused
//! for its reason.

use deskline_testbed::table::{Subject, render, whole_column};
use deskline_testbed::{Compositor, Session, Toolkit};

/// A row that is refused, and a part of the error.
type Lack = (&'static str, &'static str);

const GTK_4: &[Lack] = &[
    ("press, check box", "it has no action"),
    ("press, radio button", "it has no action"),
    ("press, tab", "it has no action"),
    // Not in the tree before the menu opens.
    ("press, menu item", "no element matches 'Close'"),
    (
        "set value, combo box",
        "no value that accessibility can set",
    ),
];

const QT_6: &[Lack] = &[(
    "set value, combo box",
    "no value that accessibility can set",
)];

/// What the person's layout has no key for, and KWin takes only keys.
const OTHER_TEXT: &[Lack] = &[
    ("click, text field", "no key for 'é'"),
    ("click, text area", "no key for '漢'"),
    ("type, text field", "no key for '£'"),
];

const PICTURE: &[Lack] = &[("picture", "by a .desktop file")];

/// The column of a toolkit's test app in a session of its own.
fn serves_all_but(compositor: Compositor, toolkit: Toolkit, lacks: &[&[Lack]]) {
    let session = Session::new(compositor);
    let server = session.server();
    let app = session.widgets(toolkit, &server);
    let subject = Subject::native(&app, toolkit, &server);
    let column = whole_column(&subject);
    println!("{}", render(&format!("{toolkit:?}"), &column));
    let lacks = lacks.concat();
    for (row, outcome) in &column {
        match lacks.iter().find(|(lacking, _)| lacking == row) {
            None => assert_eq!(outcome, "✓", "{row}"),
            Some((_, reason)) => assert!(
                outcome.starts_with("refused: ") && outcome.contains(reason),
                "{row}: {outcome}"
            ),
        }
    }
    for (row, _) in lacks {
        assert!(column.iter().any(|(name, _)| name == row), "no row {row}");
    }
}

#[test]
fn x11_gtk_4() {
    serves_all_but(Compositor::X11, Toolkit::Gtk4, &[GTK_4]);
}

#[test]
fn x11_qt_6() {
    serves_all_but(Compositor::X11, Toolkit::Qt6, &[QT_6]);
}

#[test]
fn sway_gtk_4() {
    serves_all_but(Compositor::Sway, Toolkit::Gtk4, &[GTK_4]);
}

#[test]
fn sway_qt_6() {
    serves_all_but(Compositor::Sway, Toolkit::Qt6, &[QT_6]);
}

#[test]
fn kwin_gtk_4() {
    let lacks = [GTK_4, OTHER_TEXT, PICTURE];
    serves_all_but(Compositor::Kwin, Toolkit::Gtk4, &lacks);
}

#[test]
fn kwin_qt_6() {
    let lacks = [QT_6, OTHER_TEXT, PICTURE];
    serves_all_but(Compositor::Kwin, Toolkit::Qt6, &lacks);
}
