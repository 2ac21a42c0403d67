//! MCP over streamable HTTP, by rmcp's transport on hyper.
//!
//! A request first passes `gate`, which checks the token, and rmcp, which checks `Host` and
//! `Origin` and handles sessions and both generations of the protocol. It then goes to the handler
//! of the server's only desktop or, with a `fleet`, to a `relay`, which passes it on to the
//! client's own desktop. Each desktop of a fleet is a separate process: this program as a server on
//! standard input and output. A desktop that crashes affects no other desktop. The end of this
//! server closes the input of all desktops, so no desktop outlives the server.
//!
//! Below `/view/` are the viewer's pages of the journals, for browsers that send the viewer's own
//! token.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod audit;
mod client;
mod desktop;
mod error;
mod fleet;
mod gate;
mod journals;
mod limits;
#[cfg(target_os = "linux")]
mod memory;
/// Only Linux has desktops for clients.
#[cfg(not(target_os = "linux"))]
mod memory {
    pub(crate) fn of_all_below(_: &[u32]) -> u64 {
        0
    }
}
mod metrics;
mod profile;
mod relay;
mod seal;
mod server;
mod token;

pub use error::HttpError;
pub use fleet::{Fleet, FleetOptions};
pub use limits::Limits;
pub use relay::Relay;
pub use seal::{Net, SEALED, Seal};
#[cfg(target_os = "linux")]
pub use seal::{closes_abstract_sockets, give_up};
pub use server::{HttpServer, Listen, Viewer};
pub use token::{TOKEN, Token, VIEW_TOKEN};
