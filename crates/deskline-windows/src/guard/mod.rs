//! The guard: low-level hooks that swallow the person's input, let this program's marked input
//! pass, and watch for Esc.
//!
//! They run in a process of their own, `deskline guard`: a hook in a process that hangs or is
//! stopped delays each event by up to two seconds. That process ends when its pipe closes or its
//! parent ends, and Windows then removes its hooks.

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

/// A caption for the person, and the place that it refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Banner {
    caption: String,
    place: Option<Rect>,
}

impl Banner {
    fn words(&self) -> String {
        let caption = self.caption.replace(char::is_control, " ");
        match self.place {
            Some(Rect { x, y, w, h }) => format!("{x},{y},{w},{h} {caption}"),
            None => format!("- {caption}"),
        }
    }

    fn parse(words: &str) -> Option<Self> {
        let (place, caption) = words.split_once(' ')?;
        let numbers: Option<Vec<i32>> = place.split(',').map(|n| n.parse().ok()).collect();
        Some(Self {
            caption: caption.to_owned(),
            place: numbers.and_then(|n| match n[..] {
                [x, y, w, h] => Some(Rect::at(x, y, w, h)),
                _ => None,
            }),
        })
    }
}

/// An order to the guard's process, a line of its standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Order {
    /// Watch for presses of the person, and for Esc.
    Watch,
    /// Swallow the person's input, at most for this long, and show the banner.
    Grab(Duration, Option<Banner>),
    /// Show an outline around the place, and a banner if it has a caption.
    Show(Banner),
    /// Let the person's input pass, but keep watching. Show nothing.
    Release,
    /// Remove the hooks.
    Unwatch,
}

impl Order {
    fn line(&self) -> String {
        match self {
            Self::Watch => "watch\n".into(),
            Self::Grab(limit, banner) => {
                let banner = banner.as_ref().map(Banner::words).unwrap_or_default();
                format!("grab {} {banner}\n", limit.as_millis())
            }
            Self::Show(banner) => format!("show {}\n", banner.words()),
            Self::Release => "release\n".into(),
            Self::Unwatch => "unwatch\n".into(),
        }
    }

    fn parse(line: &str) -> Option<Self> {
        let line = line.trim_end_matches(['\r', '\n']);
        if let Some(banner) = line.strip_prefix("show ") {
            return Some(Self::Show(Banner::parse(banner)?));
        }
        Some(match line {
            "watch" => Self::Watch,
            "release" => Self::Release,
            "unwatch" => Self::Unwatch,
            line => {
                let (limit, banner) = line.strip_prefix("grab ")?.split_once(' ')?;
                let limit = Duration::from_millis(limit.parse().ok()?);
                Self::Grab(limit, Banner::parse(banner))
            }
        })
    }
}

/// A report of the guard's process, a line of its standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// The prefix of each report, because in tests the output has other lines too.
const REPORT: &str = "guard: ";

impl Report {
    fn line(self) -> String {
        match self {
            Self::Ready => format!("{REPORT}ready\n"),
            Self::Failed(code) => format!("{REPORT}failed {code}\n"),
            Self::Escape => format!("{REPORT}escape\n"),
            Self::Limit => format!("{REPORT}limit\n"),
            Self::Pressed => format!("{REPORT}pressed\n"),
        }
    }

    fn parse(line: &str) -> Option<Self> {
        Some(match line.trim_end().rsplit_once(REPORT)?.1 {
            "ready" => Self::Ready,
            "escape" => Self::Escape,
            "limit" => Self::Limit,
            "pressed" => Self::Pressed,
            rest => Self::Failed(rest.strip_prefix("failed ")?.parse().ok()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_are_written() {
        let limit = Duration::from_secs(30);
        let banner = |place| Banner {
            caption: "AI: clicking 'Büsh' — press Esc".into(),
            place,
        };
        let place = Some(Rect::at(-10, 20, 30, 40));
        let shown = Banner {
            caption: String::new(),
            place,
        };
        for order in [
            Order::Watch,
            Order::Grab(limit, None),
            Order::Grab(limit, Some(banner(None))),
            Order::Grab(limit, Some(banner(place))),
            Order::Show(shown),
            Order::Release,
            Order::Unwatch,
        ] {
            assert_eq!(Order::parse(&order.line()), Some(order));
        }
        for report in [
            Report::Ready,
            Report::Failed(5),
            Report::Escape,
            Report::Limit,
            Report::Pressed,
        ] {
            assert_eq!(Report::parse(&report.line()), Some(report));
        }
        assert_eq!(Order::parse("grab soon"), None);
        assert_eq!(Report::parse("running 1 test"), None);
    }
}
