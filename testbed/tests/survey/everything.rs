//! The survey's other apps: `scripts/survey` runs them, `scripts/test` does not.
// Parts of the modules are for the apps of main.rs.
#![allow(dead_code, unused_imports)]
#![allow(clippy::unwrap_used, clippy::expect_used, unreachable_pub)]

mod apps;
mod compare;
mod content;
mod run;
mod shown;

macro_rules! survey {
    ($($app:ident)*) => {
        $(#[test]
        fn $app() {
            run::survey(&apps::$app());
        })*
    };
}

survey! {
    mousepad gedit geany calc impress chromium nautilus dolphin gnome_terminal xfce4_terminal
    okular kate gimp inkscape audacity filezilla keepassxc swing gnome_calculator kcalc
    gtk3_widget_factory gtk4_widget_factory
    tk sdl xterm kitty notepad xfce4_panel vlc qbittorrent thunderbird wireshark sandboxed
}
