//! Carries out tool calls. A link is the transaction of one call: it reads the app, acts, waits,
//! reads again and restores. It is written once, on top of what a backend implements
//! (`deskline-contract`). A backend may lack abilities of the display.
//!
//! [`Links`] runs calls, one link at a time. `link.rs` lists the steps of a link, numbered as in
//! docs/how-it-works.md, and `chain.rs` those of a chain. Each phase has a module:
//!
//! | module | what it does | steps |
//! |---|---|---|
//! | `resolve` | reads the app, finds the target and the late changes | 1 |
//! | `act` | raises the window, brings the target into view, acts | 3, 4 |
//! | `settle` | waits until the app has settled, reads the result back, finds a handoff | 5, 7 |
//! | `picture` | takes and compares pictures, finds what the tree does not describe | 7 |
//! | `answer` | writes the files and the journal's line, renders the summary | 9 |
//!
//! All phases share the processes that a link is for (`subject.rs`), the state of its steps
//! (`link.rs`), what the link has found so far (`report.rs`), the trees that an agent may see
//! (`reader.rs`), the restore (`checkpoint.rs`, steps 2 and 8), and which texts are secrets
//! (`secrecy.rs`).

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod act;
mod alert;
mod answer;
pub mod call;
mod chain;
mod checkpoint;
pub mod facts;
pub mod grants;
pub mod guard;
mod keepers;
mod link;
mod links;
pub mod ocr;
mod picture;
mod policy;
mod reader;
mod report;
mod resolve;
mod secrecy;
mod settle;
mod subject;

pub use act::wait_for::Waiting;
pub use answer::{Answer, error as error_answer};
pub use call::{Action, Call, Expect, Input, Options, Quiet, Target, WindowTarget};
// What a port implements, for crates that compose a desktop.
pub use deskline_contract::*;
pub use links::{Desk, Links, Looked, unanswered};
pub use policy::Policy;
pub use report::STEPS;
