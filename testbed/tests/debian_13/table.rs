//! The toolkit table with GTK 3, GTK 4.18 and Qt 6.8 on X11 and GNOME, and with one of them on
//! sway, labwc, KWin and GNOME with Deskline's extension. A cell that is not served is refused for
//! its reason.

use deskline_testbed::table::{Column, GTK_3, GTK_4, Lack, OTHER_TEXT, serves_all_but};
use deskline_testbed::{Compositor, Session, Setup, Toolkit};

const QT_6: &[Lack] = &[(
    "set value, combo box",
    "none of the choices that accessibility lists",
)];

const PICTURE: &[Lack] = &[("picture", "this KWin has no org.kde.KWin.ScreenShot")];

/// Pictures are of the screen, or of the window that has the keyboard.
const IN_FRONT: &[Lack] = &[("picture", "the window is not in front")];

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
    let columns: [Column<'_>; 1] = [(Toolkit::Gtk3, &[GTK_3])];
    serves_all_but(&Session::new(Compositor::Sway), &columns);
}

#[test]
fn labwc() {
    let columns: [Column<'_>; 1] = [(Toolkit::Gtk4, &[GTK_4, IN_FRONT])];
    serves_all_but(&Session::new(Compositor::Labwc), &columns);
}

#[test]
fn kwin() {
    let columns: [Column<'_>; 1] = [(Toolkit::Qt6, &[QT_6, OTHER_TEXT, PICTURE])];
    serves_all_but(&Session::new(Compositor::Kwin), &columns);
}

#[test]
fn gnome() {
    let columns: [Column<'_>; 3] = [
        (Toolkit::Gtk3, &[GTK_3, OTHER_TEXT, IN_FRONT]),
        (Toolkit::Gtk4, &[GTK_4, OTHER_TEXT, IN_FRONT]),
        (Toolkit::Qt6, &[QT_6, OTHER_TEXT, IN_FRONT]),
    ];
    serves_all_but(&Session::new(Compositor::Gnome), &columns);
}

#[test]
fn gnome_extension() {
    let columns: [Column<'_>; 1] = [(Toolkit::Gtk4, &[GTK_4, OTHER_TEXT])];
    serves_all_but(
        &Setup::debian_13(Compositor::Gnome).extension().start(),
        &columns,
    );
}
