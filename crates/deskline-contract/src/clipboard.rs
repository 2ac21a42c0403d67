//! The clipboard: lent to the agent for one paste, then given back to the person with all its
//! types.
//!
//! An app that puts data on the clipboard owns the clipboard, and serves the data while it does. It
//! cannot be made the owner again. So a backend saves the data of every type, and later serves it
//! in the app's place, until somebody copies something else or the server ends.

mod thread;

use std::time::Duration;

use deskline_core::{Key, KeyPress, Modifiers};

use crate::error::Result;

use deskline_input::Cancel;
pub use thread::{Board, ClipboardThread, Lending, Order, Reading};

/// The most bytes that are saved, of all types together. A picture of a 4K screen, as a bitmap and
/// as a TIFF together, has 66 MB.
pub const MOST_SAVED: usize = 96 << 20;

/// How long the owner of the clipboard may take to hand over the data of all types. LibreOffice
/// offers a selection in some twenty types.
pub const SAVES: Duration = Duration::from_secs(3);

/// How long the app may take to read the text after the paste key.
pub const READS: Duration = Duration::from_secs(3);

/// The type by which password managers ask clipboard managers not to record the copied data.
/// Klipper, CopyQ and Clipman comply.
pub const HINT: &str = "x-kde-passwordManagerHint";

pub const HINT_DATA: &[u8] = b"secret";

/// The types under which a text is offered, as UTF-8. Clients of X11 ask for the first type, GTK 4
/// and clients of Wayland for the second.
pub const TEXT_TYPES: [&str; 3] = ["UTF8_STRING", "text/plain;charset=utf-8", "text/plain"];

/// The selection targets of X11 that have no data: those that describe the selection, and those
/// that act (DELETE). Xwayland passes them on.
#[rustfmt::skip]
pub const NO_DATA: [&str; 7] = [
    "TARGETS", "MULTIPLE", "TIMESTAMP", "SAVE_TARGETS", "DELETE", "INSERT_PROPERTY",
    "INSERT_SELECTION",
];

/// A display's clipboard. At most one text is lent at a time.
pub trait Clipboard {
    /// Saves the clipboard. Changes nothing. Blocks for at most [`SAVES`]. Returns a note for the
    /// agent about the parts that cannot be given back: further formats of pictures.
    ///
    /// # Errors
    ///
    /// [`Display`](crate::Error::Display) if the clipboard cannot be saved: it is too large, or its
    /// owner does not answer.
    fn save(&mut self, cancel: &Cancel) -> Result<Option<String>>;

    /// Puts `text` on the clipboard, for the process `app` to read. If the person has copied
    /// something since [`Clipboard::save`], saves the new content first.
    ///
    /// # Errors
    /// As [`Clipboard::save`]. After an error the clipboard is as it was before.
    fn offer(&mut self, text: &str, app: u32, cancel: &Cancel) -> Result<()>;

    /// Waits, for at most [`READS`], until the process to which the text was offered has read the
    /// text. Returns `false` if it has not. If the display does not report readers, any reader
    /// counts.
    fn await_reader(&mut self, cancel: &Cancel) -> Result<bool>;

    /// Puts back the saved clipboard, unless the person has copied something since. Does nothing if
    /// no text is lent.
    fn give_back(&mut self) -> Result<()>;

    /// The keys that paste. They are different in terminals, where Control+V types a character.
    fn keys(&self, terminal: bool) -> KeyPress;
}

/// The keys that paste on Linux.
pub fn keys(terminal: bool) -> KeyPress {
    let modifiers = if terminal {
        Modifiers::CONTROL | Modifiers::SHIFT
    } else {
        Modifiers::CONTROL
    };
    KeyPress::new(Key::Char('v'), modifiers)
}

/// Sorts the types of a clipboard into the order in which to save them. The necessary ones come
/// first. A picture that is there as PNG loses nothing without its further formats, so these come
/// last. Returns the number of necessary types.
pub fn order<T>(types: &mut [T], name: impl Fn(&T) -> &str) -> usize {
    let png = types.iter().any(|kind| name(kind) == "image/png");
    let repeats = |kind: &T| {
        let name = name(kind);
        png && name.starts_with("image/") && !matches!(name, "image/png" | "image/svg+xml")
    };
    types.sort_by_key(&repeats);
    types.iter().filter(|kind| !repeats(kind)).count()
}

/// The note that a picture was saved as PNG, without its `count` other formats. `None` if there are
/// no other formats.
pub fn lost_formats(count: usize) -> Option<String> {
    (count > 0).then(|| {
        format!(
            "the picture on the user's clipboard was kept as PNG and without {count} other formats"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_that_repeat_a_picture_are_saved_last() {
        let ordered = |mut types: Vec<&'static str>| {
            let needed = order(&mut types, |kind| kind);
            (types, needed)
        };
        let types = vec!["image/bmp", "image/png", "text/html", "image/svg+xml"];
        let wanted = vec!["image/png", "text/html", "image/svg+xml", "image/bmp"];
        assert_eq!(ordered(types), (wanted, 3));
        assert_eq!(ordered(vec!["image/bmp"]), (vec!["image/bmp"], 1));
    }
}
