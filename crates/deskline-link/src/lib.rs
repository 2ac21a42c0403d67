//! The contract that an operating system fulfils ([`Desktop`], in three parts: [`Trees`],
//! [`Display`], [`Apps`]), and the link transaction that is written once on top of it.
//!
//! Start with [`link`](Links::run): its steps are those of the contract's §7. A backend may lack
//! parts of the display: see [`Capabilities`].

mod act;
mod answer;
pub mod apps;
mod blind;
pub mod call;
pub mod capabilities;
mod chain;
mod checkpoint;
mod compare;
pub mod desktop;
mod detail;
pub mod display;
pub mod doctor;
mod done;
mod effect;
pub mod end;
pub mod error;
mod expected;
mod field;
pub mod guard;
mod handoff;
mod late;
mod link;
mod links;
mod open;
mod policy;
mod readback;
mod readings;
mod report;
mod resolve;
mod secrecy;
mod settle;
mod sight;
mod steps;
mod trailing;
pub mod trees;
mod wait;
mod within;

pub use answer::{Answer, error as error_answer};
pub use apps::{Application, Apps, Opened, Permit, Progress};
pub use call::{Action, Call, Input, Options, Quiet, Target, Tool, Toplevel};
pub use capabilities::{Ability, Capabilities};
pub use deskline_input::{
    Aim, BETWEEN_CLICKS, Button, Cancel, Cancelled, Clicks, DragPort, InputError, LastClick, Other,
    Pace, Reason, drag, no_keyboard,
};
pub use desktop::{Desktop, Platform};
pub use display::{Display, Picture, Pointer, Window, WindowId};
pub use end::{End, Exit};
pub use error::{Error, Refusal, Result};
pub use links::{Links, Looked, unanswered};
pub use policy::{Identity, Policy};
pub use trees::{Scope, Sent, Sign, Trees};
pub use wait::Waiting;
