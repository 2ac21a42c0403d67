//! The trait that an OS implements ([`Desktop`]), and the link transaction that is written once on
//! top of it.
//!
//! Start with [`link`](Links::run): its steps are SPEC §7's.

mod act;
mod answer;
mod blind;
pub mod call;
pub mod cancel;
mod checkpoint;
pub mod desktop;
mod detail;
pub mod doctor;
mod done;
pub mod error;
mod front;
pub mod guard;
mod handoff;
mod late;
mod link;
mod links;
mod policy;
mod reach;
mod report;
mod resolve;
mod secrecy;
mod settle;
mod sight;
mod wait;

pub use answer::{Answer, error as error_answer};
pub use call::{Action, Call, Options, Target, Tool};
pub use cancel::Cancel;
pub use desktop::{
    Application, Button, Clicks, Desktop, Permit, Picture, Platform, Pointer, Scope, Window,
    WindowId,
};
pub use error::{Error, Result};
pub use links::{Links, unanswered};
pub use policy::Policy;
