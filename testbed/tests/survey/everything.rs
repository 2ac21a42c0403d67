//! The survey's other apps: `scripts/survey` runs them, `scripts/test` does not.
// Parts of the modules are used only by main.rs.
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
    mousepad MOUSEPAD gedit GEDIT geany GEANY calc CALC impress IMPRESS chromium CHROMIUM
    nautilus NAUTILUS dolphin DOLPHIN gnome_terminal GNOME_TERMINAL xfce4_terminal XFCE4_TERMINAL
    okular OKULAR kate KATE gimp GIMP inkscape INKSCAPE audacity AUDACITY filezilla FILEZILLA
    keepassxc KEEPASSXC swing SWING gnome_calculator GNOME_CALCULATOR kcalc KCALC
    gtk3_widget_factory GTK3_WIDGET_FACTORY gtk4_widget_factory GTK4_WIDGET_FACTORY tk TK sdl SDL
    xterm XTERM kitty KITTY notepad NOTEPAD xfce4_panel XFCE4_PANEL vlc VLC qbittorrent QBITTORRENT
    thunderbird THUNDERBIRD wireshark WIRESHARK sandboxed SANDBOXED
}
