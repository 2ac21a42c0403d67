//! The contract that an operating system fulfils ([`Desktop`], in three parts: [`Trees`],
//! [`Display`], [`Apps`]), and the link transaction that is written once on top of it.
//!
//! Start with [`link`](Links::run): its steps are those of the contract's §7. A backend may lack
//! parts of the display: see [`Capabilities`].

mod act;
pub mod aim;
mod answer;
pub mod apps;
mod blind;
pub mod call;
pub mod cancel;
pub mod capabilities;
mod chain;
mod checkpoint;
pub mod clicks;
mod compare;
pub mod desktop;
mod detail;
pub mod display;
pub mod doctor;
mod done;
pub mod drag;
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

pub use aim::{Aim, Other};
pub use answer::{Answer, error as error_answer};
pub use apps::{Application, Apps, Opened, Permit, Progress};
pub use call::{Action, Call, Input, Options, Quiet, Target, Tool, Toplevel};
pub use cancel::Cancel;
pub use capabilities::{Ability, Capabilities};
pub use clicks::{BETWEEN_CLICKS, LastClick};
pub use desktop::{Desktop, Platform};
pub use display::{Button, Clicks, Display, Picture, Pointer, Window, WindowId};
pub use drag::{DragPort, Pace, drag};
pub use end::{End, Exit};
pub use error::{Error, Refusal, Result};
pub use links::{Links, Looked, unanswered};
pub use policy::{Identity, Policy};
pub use trees::{Scope, Sent, Sign, Trees};
pub use wait::Waiting;
