//! The MCP server: tool records, arguments, instructions and resources over a desktop that is driven
//! one link at a time.
//!
//! A call goes `server` (protocol, cancellation, progress) → `dispatch` (which tool) → `tools` and
//! `args` (checked into a [`deskline_link::Call`]) → `worker` (the one thread that owns the
//! desktop). `deskline call` enters at [`Dispatcher::call`], so that both ways do the same.

mod args;
mod base64;
mod dispatch;
mod eof;
mod files;
mod live;
mod picture;
mod resources;
mod scale;
mod search;
mod server;
mod target;
mod tools;
mod turns;
mod worker;

pub use dispatch::{Config, Dispatcher, Reply, UnknownTool};
/// Standard input and output as `serve` wants them.
pub use rmcp::transport::stdio_pipes as stdio;
pub use server::{INSTRUCTIONS, ServeError, serve};
pub use worker::Desk;
