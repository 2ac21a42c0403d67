//! Grabs the person's keyboards and pointers in the kernel (`EVIOCGRAB`, `linux/input.h`), sees Esc, and
//! releases them: at Esc, at a limit, and when the server that ordered it has gone.
//!
//! It runs in two places, and is the same in both:
//!
//! - on a thread of the server, where the person's user may read `/dev/input`;
//! - as the program `deskline-grab`, which is installed setgid `input` for users who may not. The
//!   server starts it and talks to it on its standard input.
//!
//! The program is written to be given that right:
//!
//! - It says that Esc was pressed, that something was pressed, that the limit has come. It never says
//!   which key, so that nobody can log keys with it. When it says so tells when something was pressed,
//!   which a desktop tells every program too, as the time that it has been idle.
//! - It grabs only for the user whose session is in front on `seat0` ([`Seats`]). Others cannot lock
//!   that person out.
//! - It holds for at most [`MOST`]. Half a second after Esc it releases whatever the server does, and
//!   grabs nothing for another half. If it is stopped (SIGSTOP), a timer of the kernel's kills it.
//! - It takes no argument, reads no variable of the environment and no configuration, writes no file,
//!   opens devices for reading only, and ends at the first message that is not exactly as it should be.
//!
//! A program of the same user's can start it again after each Esc, and keep its own user out. Such a
//! program can do that by other means too.
//!
//! - [`message`]: what the server and the keeper say to each other.
//! - `keeper`: the loop that obeys.
//! - [`device`]: the devices of `/dev/input`.
//! - `place`, `seat`: what depends on where it runs, and who sits there.
//! - [`program`]: the program.

pub mod device;
mod keeper;
pub mod message;
mod place;
pub mod program;
mod seat;

pub use keeper::{count, serve};
pub use place::{Apart, InServer, MOST, Place};
pub use seat::Seats;
