//! `deskline-grab` with fake devices: files in the folder where it is installed.
#![allow(clippy::unwrap_used)]

use std::process::ExitCode;

use deskline_grab::{MOST, Seats, program};

#[path = "../../../crates/deskline-evdev/tests/apart/devices.rs"]
#[allow(dead_code)]
mod devices;

fn main() -> ExitCode {
    let exe = std::env::current_exe().unwrap();
    let folder = exe.parent().unwrap().join("devices");
    let seats = Seats::in_folder(folder.join("seats"));
    match program::run(devices::Devices::in_folder(&folder), Some(seats), MOST) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
