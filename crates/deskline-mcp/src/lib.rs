//! The MCP server: tools, arguments, instructions and resources, for a desktop that is driven one
//! link at a time.
//!
//! A call goes through `server` (protocol, cancellation, progress), `dispatch` (finds the tool),
//! `tools` and `args` (check the arguments and make a [`deskline_link::Call`]) to `worker` (the
//! thread that owns the desktop). `deskline call` enters at [`Dispatcher::call`], so both ways
//! behave the same.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod args;
mod dispatch;
mod eof;
mod files;
mod live;
mod person;
mod picture;
mod recipe;
mod recipes;
mod reply;
mod resources;
mod scale;
mod search;
mod server;
mod target;
mod tools;
mod turns;
mod worker;

pub use deskline_link::{Desk, STEPS};
pub use dispatch::{Config, Dispatcher, NoReply};
pub use person::{Asked, Nobody, Person};
pub use recipe::{Did, How, Played, Stop, check, field, labels, pale};
pub use reply::{Reply, STEPS_MS};
/// Standard input and output, for `serve`.
pub use rmcp::transport::stdio_pipes as stdio;
pub use server::{
    INSTRUCTIONS, ServeError, Server, remote_instructions, reporting, serve, server_info,
};
