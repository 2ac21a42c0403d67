//! Why a display sent nothing: the words, and the next step.

use std::time::Duration;

use deskline_core::{Point, escape};

/// The tools that work where the display takes no input.
const QUIET_TOOLS: &str =
    "press_ax_and_traverse, set_value_and_traverse and set_selected_and_traverse";

/// The last sentences of the errors about a paste that did not begin.
const NOT_PASTED: &str = "Nothing was pasted, and the clipboard is as it was. Type the text \
                          instead, without paste";

/// Why a display sent nothing.
#[derive(Debug, thiserror::Error)]
pub enum DisplayError {
    /// The window to act in, or to raise, is gone.
    #[error("the window is gone. Nothing was sent. Call refresh_traversal to see the others")]
    Gone,
    /// A window did not come to the front in time. The text is a clause that says who failed to
    /// raise it.
    #[error(
        "{who} within {secs} s. Nothing was sent. Try again, or use {QUIET_TOOLS}, which need no \
         window in front",
        who = .0,
        secs = .1.as_secs()
    )]
    NotRaised(&'static str, Duration),
    /// A window did not come to the front. The text is a clause that says who failed to raise it.
    #[error("{0}. Nothing was sent")]
    NotBroughtUp(&'static str),
    /// The compositor's list lacks the window.
    #[error(
        "the compositor does not list this window, for example because it is a panel. Nothing was \
         sent. Use {QUIET_TOOLS}, which need no window"
    )]
    NotListed,
    /// The shortcut that switches windows did not bring the target's window to the front.
    #[error(
        "GNOME's Alt+Esc did not bring the window to the front: it is on another workspace, or \
         another program has that shortcut. Nothing was sent to the app. Ask the user to bring the \
         window to the front, or use {QUIET_TOOLS}, which need no window"
    )]
    NotSwitched,
    /// KWin keeps giving keys to its input method.
    #[error(
        "KWin gives every key to its input method first, and could not be made to stop. No more \
         keys were sent. Use {QUIET_TOOLS}, which need no keys, or ask the user to choose no \
         virtual keyboard in Plasma's settings"
    )]
    KeysGoElsewhere,
    /// Another window came to the front while the target's position was searched.
    #[error("the front window has just changed. Nothing was sent. Try again")]
    FrontChanged,
    /// The place is on no screen.
    #[error(
        "{0} is on no screen. Nothing was sent there. Move the window, or use press_ax_and_traverse"
    )]
    OffScreen(Point),
    /// The window's position on the screen is unknown. The text is the reason, as a clause.
    #[error(
        "{0}, and this compositor does not report it. Nothing was sent. Use press_ax_and_traverse, \
         set_value_and_traverse or keys"
    )]
    PlaceUnknown(&'static str),
    /// The window's offset in its screen-cast stream is unknown.
    #[error(
        "this window is translucent, or does not report its size, so the position of its content \
         is unknown. Nothing was sent. Use press_ax_and_traverse, or keys"
    )]
    ContentUnknown,
    /// An open menu may lie over the place.
    #[error(
        "a menu of the app is open at an unknown position on the screen. Nothing was sent. \
         Use press_ax_and_traverse on its items, or press_key_and_traverse with Up, Down, Return \
         or Escape"
    )]
    MenuSomewhere,
    /// The content of the window changed while its position was searched.
    #[error(
        "the content of the window moved while Deskline located the window. Nothing was sent. Call \
         again, with coordinates or a ref from this answer's tree"
    )]
    ContentMoved,
    /// Coordinates have changed their meaning.
    #[error(
        "Deskline's extension of GNOME Shell was switched off during this call, so earlier \
         coordinates are no longer valid. Call refresh_traversal for new coordinates"
    )]
    ExtensionOff,
    /// The keyboard's layout is unknown.
    #[error(
        "the compositor's keymap cannot be read, so no keys are sent. Use set_value_and_traverse"
    )]
    NoKeymap,
    /// No pointer of the compositor reaches this part of the screen.
    #[error(
        "the compositor's pointer cannot go there. Nothing was sent. Use press_ax_and_traverse"
    )]
    OutOfReach,
    /// The compositor no longer offers this device.
    #[error("the compositor offers no {0} any more. Nothing was sent")]
    NoDevice(String),
    /// Another app took the clipboard while it was lent.
    #[error("another app took the clipboard at the same moment. Nothing was pasted. Try again")]
    ClipboardTaken,
    /// The owner of the clipboard did not hand over this type in time. The type is hostile data.
    #[error(
        "the user's clipboard cannot be saved: the app that copied it did not hand over its '{}' \
         within {} s. {NOT_PASTED}",
        escape::short(.0, 60),
        .1.as_secs()
    )]
    ClipboardLate(String, Duration),
    /// The same as `ClipboardLate`, on macOS.
    #[error(
        "the user's clipboard cannot be saved: its '{}' did not arrive within {} s. macOS may be \
         asking the user whether Deskline may paste, or the app that copied it does not answer. \
         {NOT_PASTED}",
        escape::short(.0, 60),
        .1.as_secs()
    )]
    PasteboardLate(String, Duration),
    /// The clipboard holds files that its owner makes when they are pasted.
    #[error(
        "the user's clipboard cannot be saved: it has files that do not exist until they are \
         pasted. {NOT_PASTED}"
    )]
    ClipboardPromised,
    /// The clipboard holds more than this many bytes.
    #[error(
        "the user's clipboard holds more than {} MB, which is more than Deskline saves. \
         {NOT_PASTED}",
        .0 >> 20
    )]
    ClipboardTooLarge(usize),
    /// The person is doing something that input would disturb. The text says what, as a clause.
    #[error("the user {0}. Nothing was sent. Try again in a moment")]
    PersonBusy(&'static str),
}
