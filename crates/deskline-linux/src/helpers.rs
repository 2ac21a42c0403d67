//! The small processes of this program that outlive a server.

use std::error::Error;
use std::ffi::OsString;
use std::path::Path;

use deskline_wayland::helper::{CAPTURE, HOLD_POINTER, capture, hold_pointer};
use deskline_x11::guard::watchdog;

/// Runs the helper of this name until it ends.
///
/// # Errors
///
/// If there is no helper of this name with these arguments, or if the helper fails.
pub fn run(name: &str, arguments: &[OsString]) -> Result<(), Box<dyn Error>> {
    match (name, arguments) {
        (deskline_evdev::COMMAND, []) => deskline_evdev::run_for_reader()?,
        (HOLD_POINTER, [socket]) => hold_pointer(Path::new(socket))?,
        (CAPTURE, [address, pid]) => {
            capture(&address.to_string_lossy(), pid.to_string_lossy().parse()?)?;
        }
        (watchdog::COMMAND, [display, mark, xauthority @ ..]) => {
            let mark = mark.to_string_lossy().parse()?;
            let xauthority = xauthority.first().map(Path::new);
            watchdog::run(&display.to_string_lossy(), mark, xauthority)?;
        }
        _ => return Err(format!("there is no helper {name:?} with these arguments").into()),
    }
    Ok(())
}
