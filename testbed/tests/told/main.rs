//! No visible change goes untold: what diffs and summaries say of changes, on real apps.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    unreachable_pub
)]

mod blind;
mod pictures;
mod texts;
mod twins;
mod view;
