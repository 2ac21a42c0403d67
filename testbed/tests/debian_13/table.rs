//! The toolkit table with GTK 3, GTK 4.18 and Qt 6.8, on X11, sway, labwc, KWin and GNOME, with Deskline's extension
//! too. A cell that is not served is refused for its reason.

use deskline_testbed::table::{Subject, render, whole_column};
use deskline_testbed::{Compositor, Session, Toolkit};

/// A row that is refused, and a part of the error.
type Lack = (&'static str, &'static str);

const GTK_3: &[Lack] = &[("press, tab", "it has no action")];

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

/// What the person's layout has no key for: KWin and GNOME take only keys.
const OTHER_TEXT: &[Lack] = &[
    ("click, text field", "no key for 'é'"),
    ("click, text area", "no key for '漢'"),
    ("type, text field", "no key for '£'"),
];

const PICTURE: &[Lack] = &[("picture", "this KWin has no org.kde.KWin.ScreenShot")];

/// A toolkit, and what it and the compositor lack.
type Column<'l> = (Toolkit, &'l [&'l [Lack]]);

/// The columns of the toolkits' test apps, one after the other in one session.
fn serves_all_but(session: &Session, columns: &[Column<'_>]) {
    let server = session.server();
    let mut wrong = Vec::new();
    for (toolkit, lacks) in columns {
        let app = session.widgets(*toolkit, &server);
        let subject = Subject::native(&app, *toolkit, &server);
        let column = whole_column(&subject);
        println!("{}", render(&format!("{toolkit:?}"), &column));
        wrong.extend(unlike(&column, &lacks.concat()).map(|what| format!("{toolkit:?}, {what}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The cells that are served and should not be, or the other way round, or are refused for another reason.
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

#[test]
fn x11() {
    let columns: [Column<'_>; 3] = [
        (Toolkit::Gtk3, &[GTK_3]),
        (Toolkit::Gtk4, &[GTK_4]),
        (Toolkit::Qt6, &[QT_6]),
    ];
    serves_all_but(&Session::new(Compositor::X11), &columns);
}

#[test]
fn sway() {
    let columns: [Column<'_>; 3] = [
        (Toolkit::Gtk3, &[GTK_3]),
        (Toolkit::Gtk4, &[GTK_4]),
        (Toolkit::Qt6, &[QT_6]),
    ];
    serves_all_but(&Session::new(Compositor::Sway), &columns);
}

#[test]
fn labwc() {
    let columns: [Column<'_>; 3] = [
        (Toolkit::Gtk3, &[GTK_3]),
        (Toolkit::Gtk4, &[GTK_4]),
        (Toolkit::Qt6, &[QT_6]),
    ];
    serves_all_but(&Session::new(Compositor::Labwc), &columns);
}

#[test]
fn kwin() {
    let columns: [Column<'_>; 3] = [
        (Toolkit::Gtk3, &[GTK_3, OTHER_TEXT, PICTURE]),
        (Toolkit::Gtk4, &[GTK_4, OTHER_TEXT, PICTURE]),
        (Toolkit::Qt6, &[QT_6, OTHER_TEXT, PICTURE]),
    ];
    serves_all_but(&Session::new(Compositor::Kwin), &columns);
}

#[test]
fn gnome() {
    let columns: [Column<'_>; 3] = [
        (Toolkit::Gtk3, &[GTK_3, OTHER_TEXT]),
        (Toolkit::Gtk4, &[GTK_4, OTHER_TEXT]),
        (Toolkit::Qt6, &[QT_6, OTHER_TEXT]),
    ];
    serves_all_but(&Session::new(Compositor::Gnome), &columns);
}

#[test]
fn gnome_extension() {
    let columns: [Column<'_>; 3] = [
        (Toolkit::Gtk3, &[GTK_3, OTHER_TEXT]),
        (Toolkit::Gtk4, &[GTK_4, OTHER_TEXT]),
        (Toolkit::Qt6, &[QT_6, OTHER_TEXT]),
    ];
    serves_all_but(&Session::gnome_with_extension(), &columns);
}
