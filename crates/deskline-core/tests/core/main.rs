//! The core's promises, tested from outside.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod diffs;
mod excerpts;
mod fixture;
mod focus;
mod fuzz;
mod keys;
mod labels;
mod lines;
mod opened;
mod receives;
mod roles;
mod search;
mod summaries;
mod tree_files;
mod visible;
