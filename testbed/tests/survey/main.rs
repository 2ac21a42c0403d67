//! Finds visible texts that are missing from the tree, in apps that Deskline was not tuned for.
// Parts of the modules are used only by everything.rs.
#![allow(dead_code, unused_imports)]
#![allow(clippy::unwrap_used, clippy::expect_used, unreachable_pub)]

mod apps;
mod compare;
mod content;
mod run;
mod shown;

macro_rules! survey {
    ($($name:ident $app:ident)*) => {
        $(#[test]
        fn $name() {
            run::survey(&apps::$app);
        })*
    };
}

survey! {
    writer WRITER firefox FIREFOX evince EVINCE konsole KONSOLE thunar THUNAR pyqt_6 PYQT_6
    gtk4_demo GTK4_DEMO
}
