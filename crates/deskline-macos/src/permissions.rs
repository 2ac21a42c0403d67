//! What to say where macOS does not allow something.

/// What to say where Accessibility is not allowed.
pub(crate) const UNTRUSTED: &str = "Deskline is not allowed to use Accessibility. Open System \
     Settings › Privacy & Security › Accessibility, turn on the app that starts deskline (Terminal, \
     Claude, Cursor, …; deskline doctor names it), then restart that app";

/// What to say where pictures are not allowed.
pub(crate) const NO_CAPTURE: &str = "Deskline is not allowed to take pictures. Open System \
     Settings › Privacy & Security › Screen & System Audio Recording, turn on the app that starts \
     deskline, then restart that app";
