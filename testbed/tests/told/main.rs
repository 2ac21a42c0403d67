//! What an app did is what the answer says, in programs and pages of these tests. Another app's
//! window, the person's, is in front.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod pages;
mod programs;
