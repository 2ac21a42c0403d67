//! The errors of a link. Their texts tell the agent what to do next.

mod input;

use deskline_core::escape;
use deskline_input::Reason;

use crate::end::End;

/// The result of a step.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call failed. `Display` gives the summary's `error:` field: what was wrong and what to do
/// next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The call has no pid and needs one.
    #[error("pid is missing. Call list_applications for the running apps")]
    NoPid,
    /// No picture can be taken: the reason.
    #[error("{0}")]
    NoPicture(String),
    /// No process has this pid.
    #[error(
        "no process has pid {0}. Call list_applications for the running apps, or open_application_and_traverse to start one"
    )]
    NoProcess(u32),
    /// The process has ended.
    #[error("{} (pid {pid}) is gone. {end}. Call open_application_and_traverse to start it again", escape::name(&end.app, 80))]
    Ended {
        /// Its pid.
        pid: u32,
        /// How it ended.
        end: End,
    },
    /// The process is not on the accessibility bus, or has no window.
    #[error(
        "pid {pid} ({}) has no window that accessibility can see. {hint}",
        escape::name(name, 80)
    )]
    NoWindow {
        /// The pid.
        pid: u32,
        /// The name of its executable.
        name: String,
        /// What to do about it.
        hint: String,
    },
    /// The app did not answer in time.
    #[error(
        "{} (pid {pid}) does not answer: no reply to an accessibility call within {ms} ms. It is busy or hung: call wait_for_and_traverse, which outlasts that, or refresh_traversal later; other apps are not affected",
        escape::name(app, 80)
    )]
    NotAnswering {
        /// The app's name.
        app: String,
        /// Its pid.
        pid: u32,
        /// The time waited, in milliseconds.
        ms: u128,
    },
    /// No element has the text that was asked for.
    #[error("no element matches {wanted}. {nearest}")]
    NotFound {
        /// What was requested.
        wanted: String,
        /// `Nearest: …`, or that no text is similar; and what to do next.
        nearest: String,
    },
    /// The element of a ref is gone.
    #[error(
        "#{reference} is stale: {why}. Nothing was touched. Call refresh_traversal and take a fresh ref"
    )]
    StaleRef {
        /// The ref.
        reference: deskline_core::Ref,
        /// Why the ref has no element.
        why: String,
    },
    /// The element cannot do what was requested. Returned by backends. The link turns it into
    /// [`Error::RefusedBy`], which names the element.
    #[error("the element {0}")]
    Refused(Refusal),
    /// The element cannot do what was requested.
    #[error("{element} {refusal}")]
    RefusedBy {
        /// The element's name.
        element: String,
        /// Why, and what to do instead.
        refusal: Refusal,
    },
    /// This desktop cannot do what was requested, for any app.
    #[error(
        "{what} is not possible on this desktop: {why}. Nothing was touched. Use press_ax_and_traverse, set_value_and_traverse or set_selected_and_traverse, which go through the accessibility API"
    )]
    Unsupported {
        /// What was requested.
        what: &'static str,
        /// Why it is not possible.
        why: String,
    },
    /// The app to open was not found, or opened no window.
    #[error("{0}")]
    Open(String),
    /// The input cannot be sent to its target.
    #[error("{0}")]
    Input(String),
    /// The app reported success, and what it shows afterwards is not what was asked for.
    #[error("{0}")]
    NoEffect(String),
    /// The input would reach another app's window.
    #[error("{} {why}", window_of(.title, *.pid))]
    Elsewhere {
        /// The window's title. Hostile data. Empty if the agent may not read it.
        title: String,
        /// The window's pid.
        pid: u32,
        /// What is wrong and what to do next.
        why: String,
    },
    /// The link was stopped.
    #[error("cancelled: {0:?}")]
    Cancelled(Reason),
    /// There is no desktop, or no accessibility. The text says what is missing and how to get it.
    #[error("{0}")]
    Unavailable(String),
    /// One step, or one app, failed. The connection to the desktop still works.
    #[error("{what}: {}", reason(source.as_ref()))]
    System {
        /// What was being done.
        what: &'static str,
        /// The underlying error.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The connection to the desktop was lost. The next call reconnects.
    #[error("{what}: {}", reason(source.as_ref()))]
    Lost {
        /// What was being done.
        what: &'static str,
        /// The underlying error.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Why an element refused an action.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("refused {action}: {why}. {instead}")]
pub struct Refusal {
    /// What was requested.
    pub action: &'static str,
    /// Why it was refused.
    pub why: String,
    /// What to do instead.
    pub instead: String,
}

/// The underlying error, cut: a peer on a bus may send any text as one.
fn reason(source: &(dyn std::error::Error + Send + Sync)) -> String {
    escape::short(&source.to_string(), 300)
}

fn window_of(title: &str, pid: u32) -> String {
    if title.is_empty() {
        return format!("a window of pid {pid}");
    }
    format!("the window '{}' (pid {pid})", escape::short(title, 40))
}

impl Error {
    /// Wraps an error of the operating system: `.map_err(Error::system("reading the pointer"))`.
    pub fn system<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
        what: &'static str,
    ) -> impl FnOnce(E) -> Self {
        move |source| Self::System {
            what,
            source: source.into(),
        }
    }

    /// Like [`Error::system`], for errors that break the connection to the desktop.
    pub fn lost<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
        what: &'static str,
    ) -> impl FnOnce(E) -> Self {
        move |source| Self::Lost {
            what,
            source: source.into(),
        }
    }

    /// Whether the connection to the desktop has to be dropped. An error of one app affects only
    /// that app's call.
    pub fn costs_connection(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::Lost { .. })
    }
}

/// The message of a panic, from the payload that `catch_unwind` returns.
pub fn panic_text(payload: &(dyn std::any::Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("no message")
}
