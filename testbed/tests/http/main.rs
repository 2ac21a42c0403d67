//! MCP over HTTP, by the official Python SDK and the protocol's conformance suite: authentication,
//! and a private desktop for each client. Judged by the files that the apps save, and by the
//! processes.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod client;
mod desktops;
mod escapes;
mod limits;
mod protocol;
mod server;
mod view;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
