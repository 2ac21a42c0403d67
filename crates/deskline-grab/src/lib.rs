//! Grabs the person's keyboards and pointers in the kernel (`EVIOCGRAB`, `linux/input.h`), and
//! releases them at Esc, at a time limit, and when the server that ordered the grab has gone.
//!
//! The server starts the keeper in a separate process, and talks to it on its standard input:
//!
//! - as a helper of the server's own program, where the person's user may read `/dev/input`;
//! - as the program `deskline-grab`, which is installed setgid `input` for users who may not.
//!
//! The program is written so that it is safe to give it the right to read the devices:
//!
//! - It reports that Esc was pressed, that another key was pressed, or that the limit has passed.
//!   It never reports which key, so nobody can log keys with it. The time of a report shows when
//!   the person pressed a key; a desktop gives every program that time too, as its idle time.
//! - It grabs only for the user whose session is in front on `seat0` ([`Seats`]). Others cannot
//!   lock that person out.
//! - It holds the devices for at most [`MOST`]. 200 ms after Esc it releases them whatever the
//!   server does, and it grabs no device until 1 s after Esc. If it is stopped (SIGSTOP), a kernel
//!   timer kills it.
//! - It takes no argument, reads no environment variable and no configuration, writes no file,
//!   opens devices for reading only, and ends at the first malformed message.
//!
//! Another program of the same user can start `deskline-grab` again after each Esc, and so lock
//! that user out. But any program of the user can lock the user out by other means too.
//!
//! - [`message`]: the messages between server and keeper.
//! - `keeper`: the loop that executes the orders.
//! - [`device`]: the devices of `/dev/input`.
//! - `place`, `seat`: which user the keeper works for and for how long, and which user sits at the
//!   machine.
//! - [`program`]: the main function of the keeper's process.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod device;
mod keeper;
pub mod message;
mod place;
pub mod program;
mod seat;

pub use keeper::count;
pub use place::MOST;
pub use seat::Seats;
