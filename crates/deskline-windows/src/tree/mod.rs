//! The trees of apps, over UI Automation: reads them, waits for changes, and acts on elements
//! through control patterns.

mod act;
mod build;
#[cfg(windows)]
pub mod com;
mod facts;
mod fail;
#[cfg(test)]
mod fake;
mod identity;
mod listen;
#[cfg(test)]
mod tests;
mod trees;
pub mod uia;
mod walk;

#[cfg(windows)]
pub use com::client::{UiaTrees, ping};
pub use fail::PATIENCE;
pub use trees::{AppTrees, answers};
