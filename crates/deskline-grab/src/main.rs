//! `deskline-grab`: see the library's documentation.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

use std::process::ExitCode;

use deskline_grab::device::InputFolder;
use deskline_grab::{MOST, Seats, program};

fn main() -> ExitCode {
    let ran = match std::env::args_os().len() {
        1 => program::run(InputFolder::system(), Some(Seats::system()), MOST),
        _ => Err("it takes no arguments".to_owned()),
    };
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("deskline-grab: {why}");
            ExitCode::FAILURE
        }
    }
}
