//! The guard: low-level hooks that swallow the person's input, let this program's marked input
//! pass, and watch for Esc.
//!
//! The hooks run in a separate process, `deskline guard`: a hook in a process that hangs or is
//! stopped delays each event by up to two seconds. The guard's process ends when its pipe closes or
//! its parent ends, and Windows then removes its hooks.

#[cfg(windows)]
mod client;
#[cfg(windows)]
#[allow(unsafe_code)] // each call has a SAFETY comment
mod hooks;
mod judge;
#[cfg(windows)]
#[allow(unsafe_code)] // each call has a SAFETY comment
mod panels;

#[cfg(all(test, not(windows)))]
pub(crate) use crate::tests::fake::Guard;
#[cfg(windows)]
pub use client::Guard;
#[cfg(windows)]
pub use hooks::{probe, run};
#[cfg(windows)]
pub use panels::CLASS;

use std::time::Duration;

use deskline_core::Rect;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A caption for the person, and the place that the caption refers to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Banner {
    caption: String,
    place: Option<[i32; 4]>,
}

impl Banner {
    fn new(caption: &str, place: Option<Rect>) -> Self {
        Self {
            caption: caption.replace(char::is_control, " "),
            place: place.map(|Rect { x, y, w, h }| [x, y, w, h]),
        }
    }

    fn place(&self) -> Option<Rect> {
        self.place.map(|[x, y, w, h]| Rect::at(x, y, w, h))
    }
}

/// An order to the guard's process, a line of its standard input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Order {
    /// Watch for presses of the person, and for Esc.
    Watch,
    /// Swallow the person's input, at most for this long, and show the banner.
    Grab(Duration, Option<Banner>),
    /// Show an outline around the banner's place, and the banner if its caption is not empty.
    Show(Banner),
    /// Let the person's input pass, but keep watching. Show nothing.
    Release,
    /// Remove the hooks.
    Unwatch,
}

/// A report of the guard's process, a line of its standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Report {
    /// The order is carried out.
    Ready,
    /// Windows refused the hooks, with this error.
    Failed(u32),
    /// The person has pressed Esc.
    Escape,
    /// The limit was reached, and the person's input passes again.
    Limit,
    /// The person has pressed a key or a button that reached an app.
    Pressed,
}

/// The prefix of each line, because in tests the output has other lines too.
const PREFIX: &str = "guard: ";

fn line(message: &impl Serialize) -> String {
    let message = serde_json::to_string(message).unwrap_or_default();
    format!("{PREFIX}{message}\n")
}

fn parse<T: DeserializeOwned>(line: &str) -> Option<T> {
    serde_json::from_str(line.split_once(PREFIX)?.1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_and_reports_are_read_back_from_their_lines() {
        let limit = Duration::from_secs(30);
        let caption = "AI: clicking 'Büsh' — press Esc";
        let place = Some(Rect::at(-10, 20, 30, 40));
        for order in [
            Order::Watch,
            Order::Grab(limit, None),
            Order::Grab(limit, Some(Banner::new(caption, None))),
            Order::Show(Banner::new("", place)),
            Order::Release,
            Order::Unwatch,
        ] {
            assert_eq!(parse(&line(&order)), Some(order));
        }
        for report in [Report::Ready, Report::Failed(5), Report::Pressed] {
            assert_eq!(
                parse(&format!("test a_guard ... {}", line(&report))),
                Some(report)
            );
        }
        assert_eq!(Banner::new("", place).place(), place);
        assert_eq!(parse::<Order>("grab soon"), None);
        assert_eq!(parse::<Report>("running 1 test"), None);
    }
}
