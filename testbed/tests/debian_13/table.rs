//! The toolkit table with GTK 3, GTK 4.18 and Qt 6.8 on X11, and the cells that send input with one
//! of these toolkits on each compositor. A cell that does not pass must be refused for the expected
//! reason.

use deskline_testbed::table::{
    Column, GTK_3, GTK_4, Lack, OTHER_TEXT, serves_all_but, serves_input_but,
};
use deskline_testbed::{Compositor, Session, Setup, Toolkit};

const QT_6: &[Lack] = &[("set value, combo box", "accessibility lists no choice")];

const PICTURE: &[Lack] = &[("picture", "this KWin has no org.kde.KWin.ScreenShot")];

/// Pictures are of the screen, or of the window that has the keyboard.
const IN_FRONT: &[Lack] = &[("picture", "the window is not in front")];

#[test]
fn every_tool_works_or_is_refused_on_x11() {
    let columns: [Column<'_>; 3] = [
        (Toolkit::Gtk3, &[GTK_3]),
        (Toolkit::Gtk4, &[GTK_4]),
        (Toolkit::Qt6, &[QT_6]),
    ];
    serves_all_but(&Session::new(Compositor::X11), "X11 (Debian 13)", &columns);
}

#[test]
fn every_tool_that_sends_input_works_or_is_refused_on_sway() {
    serves_input_but(
        &Session::new(Compositor::Sway),
        "sway",
        (Toolkit::Gtk3, &[GTK_3]),
    );
}

#[test]
fn every_tool_that_sends_input_works_or_is_refused_on_labwc() {
    let session = Session::new(Compositor::Labwc);
    serves_input_but(&session, "labwc", (Toolkit::Gtk4, &[GTK_4, IN_FRONT]));
}

#[test]
fn every_tool_that_sends_input_works_or_is_refused_on_kwin() {
    let session = Session::new(Compositor::Kwin);
    serves_input_but(
        &session,
        "KWin 6",
        (Toolkit::Qt6, &[QT_6, OTHER_TEXT, PICTURE]),
    );
}

#[test]
fn every_tool_that_sends_input_works_or_is_refused_on_gnome() {
    let session = Session::new(Compositor::Gnome);
    serves_input_but(
        &session,
        "GNOME",
        (Toolkit::Gtk3, &[GTK_3, OTHER_TEXT, IN_FRONT]),
    );
}

#[test]
fn every_tool_that_sends_input_works_or_is_refused_on_gnome_with_the_extension() {
    let session = Setup::debian_13(Compositor::Gnome).extension().start();
    serves_input_but(
        &session,
        "GNOME + extension",
        (Toolkit::Gtk4, &[GTK_4, OTHER_TEXT]),
    );
}
