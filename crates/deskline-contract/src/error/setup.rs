//! The messages about what a desktop lacks, and how to get it.

/// Why KWin gives no pictures: a clause.
pub const KWIN_PICTURES: &str = "KWin gives screenshots only to programs that it knows by a .desktop \
    file; `deskline doctor --fix` writes it";

/// No X server answers at this display.
pub fn no_x_server(display: &str, why: &dyn std::fmt::Display) -> String {
    format!(
        "cannot reach the X server at display {display}: {why}. Check that the desktop session is \
         running and that DISPLAY and XAUTHORITY name it; run `deskline doctor`"
    )
}
