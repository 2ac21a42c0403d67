//! The trees of apps, over UI Automation: reads them, waits for changes, and acts on elements
//! through control patterns.

mod act;
mod build;
#[cfg(windows)]
pub mod com;
pub(crate) mod facts;
mod fail;
mod identity;
mod listen;
#[cfg(all(test, not(windows)))]
mod tests;
mod toplevels;
mod trees;
pub mod uia;
mod walk;

#[cfg(windows)]
pub(crate) use com::client::connect;
pub use fail::PATIENCE;
pub(crate) use trees::{AppTrees, answers};
