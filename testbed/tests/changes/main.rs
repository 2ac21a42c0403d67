//! Every visible change is reported: diffs and summaries of changes in real apps.
#![allow(clippy::unwrap_used, clippy::expect_used, unreachable_pub)]

mod pictures;
mod texts;
mod twins;
mod undescribed;
mod view;
mod web;
