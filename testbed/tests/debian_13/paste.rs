//! Pasting on Debian 13's compositors, by data control or GNOME's own interface: the text arrives
//! in a native app of each toolkit, and the person's clipboard is as it was, with all its types.

use deskline_testbed::{Compositor, Session, Setup, Toolkit, tests};

tests! {
    a_text_is_pasted_on_sway => Session::new(Compositor::Sway).pastes(&Toolkit::DEBIAN_13),
    a_text_is_pasted_on_kwin => Session::new(Compositor::Kwin).pastes(&Toolkit::DEBIAN_13),
    a_text_is_pasted_on_labwc => Session::new(Compositor::Labwc).pastes(&Toolkit::DEBIAN_13),
    a_text_is_pasted_on_gnome => Session::new(Compositor::Gnome).pastes(&Toolkit::DEBIAN_13),
}

#[test]
fn a_text_is_pasted_on_gnome_with_the_extension() {
    let session = Setup::debian_13(Compositor::Gnome).extension().start();
    session.pastes(&[Toolkit::Gtk4, Toolkit::Qt6]);
}
