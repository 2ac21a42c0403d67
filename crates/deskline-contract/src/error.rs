//! The errors of a link. A backend or the link returns typed errors; only this folder turns them
//! into words, which end with the agent's next step.

mod display;
mod effect;
mod input;
mod open;
mod refusal;
pub mod setup;
mod target;
mod unasked;

use std::borrow::Cow;
use std::time::Duration;

use deskline_core::escape;
use deskline_input::Reason;

use crate::end::End;
use crate::question::Question;
pub use deskline_input::character_of;
pub use display::DisplayError;
pub use effect::{Mismatch, NoEffect, shown};
pub use open::OpenError;
pub use refusal::{Obstacle, QuietAction, Refusal};
pub use target::{AWAY, TargetError, WindowHint};
pub use unasked::Unasked;

/// The result of a step.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call failed. `Display` gives the summary's `error:` field: the cause and the next step.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The call has no pid and needs one.
    #[error("pid is missing. Call list_applications for the running apps")]
    NoPid,
    /// No picture can be taken. The text is the reason.
    #[error("{0}")]
    NoPicture(String),
    #[error(
        "no process has pid {0}. Call list_applications for the running apps, or \
         open_application_and_traverse to start one"
    )]
    NoProcess(u32),
    /// The process has ended.
    #[error("{} (pid {pid}) is gone. {end}. {}", escape::name(&end.app, 80), again.map_or_else(
        || "Call open_application_and_traverse to start it again".to_owned(),
        |pid| format!("It runs again as pid {pid}: use that pid")
    ))]
    Ended {
        pid: u32,
        /// How the process ended.
        end: End,
        /// A running process of the same name, if there is one.
        again: Option<u32>,
    },
    /// The process is not on the accessibility bus, or has no window.
    #[error(
        "pid {pid} ({}) has no window that accessibility can see. {hint}",
        escape::name(name, 80)
    )]
    NoWindow {
        pid: u32,
        /// The name of the process's executable.
        name: String,
        /// The likely reason, with the next step.
        hint: WindowHint,
    },
    /// The app did not answer in time.
    #[error(
        "{} (pid {pid}) does not answer: no reply to an accessibility call within {ms} ms. It is \
         busy or hung. Call wait_for_and_traverse, which waits longer, or refresh_traversal later. \
         Other apps are not affected",
        escape::name(app, 80)
    )]
    NotAnswering {
        app: String,
        pid: u32,
        /// The time waited, in milliseconds.
        ms: u128,
    },
    /// No element has the text that was asked for.
    #[error("no element matches {wanted}. {nearest}")]
    NotFound {
        wanted: String,
        /// `Nearest: …` or a sentence that no text is similar, and then the next step.
        nearest: String,
    },
    /// The element of a ref is gone.
    #[error(
        "#{reference} is stale: {why}. Nothing was touched. Call refresh_traversal and take a \
         fresh ref"
    )]
    StaleRef {
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
        element: String,
        /// The reason, and an alternative.
        refusal: Refusal,
    },
    /// This desktop cannot do what was requested, for any app.
    #[error(
        "{what} is not possible on this desktop: {why}. Nothing was touched. Use \
         press_ax_and_traverse, set_value_and_traverse or set_selected_and_traverse, which go \
         through the accessibility API"
    )]
    Unsupported {
        what: &'static str,
        /// Why the action is not possible on this desktop.
        why: String,
    },
    /// The app was not opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The target cannot be acted on.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The display sent nothing.
    #[error(transparent)]
    Display(#[from] DisplayError),
    /// The time limit of a wait was reached.
    #[error("timed out after {seconds:.1} s: {instead}")]
    TimedOut {
        /// The time limit.
        seconds: f64,
        /// The state that was found instead of the awaited one.
        instead: String,
    },
    /// The app is excluded by the policy.
    #[error(
        "{} is blocked for agents (--allow-app, --deny-app).{} {bounds}. Nothing was touched. Do \
         not look for a way around",
        escape::short(.what, 60),
        known_as(.names)
    )]
    Blocked {
        /// The app, as the call or the app itself names it.
        what: String,
        /// The app's other names.
        names: Vec<String>,
        /// The allowed apps, as a sentence.
        bounds: String,
    },
    /// The person has not allowed what the question asks.
    #[error("the user has not allowed agents to {deed}. {1}", deed = .0.deed())]
    Unapproved(Box<Question>, Unasked),
    /// A step failed, and the app has ended.
    #[error("{error}. {end}")]
    EndedAfter {
        error: Box<Self>,
        /// How the app ended.
        end: End,
    },
    /// A step panicked.
    #[error(
        "an internal error of Deskline: {}. The desktop was put back. Please report it",
        escape::short(.0, 200)
    )]
    Internal(String),
    /// The input cannot be sent to its target.
    #[error("{0}")]
    Input(String),
    /// The call may not act now. Nothing was touched. A function below composes the words.
    #[error("{0}")]
    Barred(String),
    /// The app reported success, but its state is not the requested one.
    #[error(transparent)]
    NoEffect(#[from] NoEffect),
    /// The input would reach another app's window.
    #[error("{} {why}", window_of(.title, *.pid))]
    Elsewhere {
        /// The window's title. Hostile data. Empty if the agent may not read it.
        title: String,
        /// The window's pid.
        pid: u32,
        /// The cause and the next step.
        why: String,
        /// Whether it is known that nothing of the input was sent.
        unsent: bool,
    },
    /// The link was stopped.
    #[error("cancelled: {0:?}")]
    Cancelled(Reason),
    /// There is no desktop, or no accessibility. The text names the missing part and the way to get
    /// it.
    #[error("{0}")]
    Unavailable(String),
    /// One step, or one app, failed. The connection to the desktop still works.
    #[error("{what}: {}", reason(source.as_ref()))]
    System {
        /// The failed operation.
        what: &'static str,
        /// The underlying error.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The connection to the desktop was lost. The next call reconnects.
    #[error("{what}: {}. The connection is lost. The next call reconnects", reason(source.as_ref()))]
    Lost {
        /// The failed operation.
        what: &'static str,
        /// The underlying error.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Why a display lacks an ability: a clause without a full stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing(pub Cow<'static, str>);

impl Missing {
    pub fn new(why: impl Into<Cow<'static, str>>) -> Self {
        Self(why.into())
    }

    /// The error for an action that needs the ability.
    pub fn for_action(self, what: &'static str) -> Error {
        let why = self.0.into_owned();
        Error::Unsupported { what, why }
    }
}

/// This conversion loses the name of the action. The link avoids it: before an action, it asks for
/// the abilities that the action needs.
impl From<Missing> for Error {
    fn from(missing: Missing) -> Self {
        missing.for_action("this")
    }
}

/// The underlying error's text, cut to a limit: a peer on a bus may send any text as an error.
fn reason(source: &(dyn std::error::Error + Send + Sync)) -> String {
    escape::short(&source.to_string(), 300)
}

/// ` The system knows it as 'a', 'b'.`, or nothing.
fn known_as(names: &[String]) -> String {
    let quoted = names
        .iter()
        .take(3)
        .map(|name| format!("'{}'", escape::short(name, 60)));
    let quoted: Vec<String> = quoted.collect();
    if quoted.is_empty() {
        return String::new();
    }
    format!(" The system knows it as {}.", quoted.join(", "))
}

fn window_of(title: &str, pid: u32) -> String {
    match (title, pid) {
        ("", 0) => "a window of the desktop, such as a lock screen or launcher,".to_owned(),
        ("", _) => format!("a window of pid {pid}"),
        _ => format!("the window '{}' (pid {pid})", escape::short(title, 40)),
    }
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

    /// Refuses to read Deskline's own process: the thread that waits for the replies of an app
    /// would have to send them itself. A program with this fault has crashed (screenpipe #4459).
    ///
    /// # Errors
    /// [`Error::NoWindow`].
    pub fn unless_own(pid: u32) -> Result<()> {
        if pid != std::process::id() {
            return Ok(());
        }
        let hint = WindowHint::SystemError("this is Deskline itself".into());
        Err(Self::no_window(pid, "deskline", hint))
    }

    /// The process is not on the accessibility bus, or has no window.
    pub fn no_window(pid: u32, name: impl Into<String>, hint: WindowHint) -> Self {
        let name = name.into();
        Self::NoWindow { pid, name, hint }
    }

    /// The app did not answer within the time `after`.
    pub fn not_answering(pid: u32, app: impl Into<String>, after: Duration) -> Self {
        let (app, ms) = (app.into(), after.as_millis());
        Self::NotAnswering { app, pid, ms }
    }

    /// The client shows a question, and this may be the process that shows it.
    pub fn asking(pid: u32) -> Self {
        Self::Barred(format!(
            "pid {pid} may be asking the user whether an agent may act: agents cannot act in it \
             meanwhile. Wait for the answer of the call that asks, then call again. Nothing was touched"
        ))
    }

    /// A click brought an app to the front, and the policy, whose `bounds` are a sentence, excludes
    /// that app.
    pub fn led_to_blocked(pid: u32, bounds: &str) -> Self {
        Self::Barred(format!(
            "the click brought a blocked app to the front (pid {pid}), so no key was sent. {bounds}"
        ))
    }

    /// Another server has not ended its link on this desktop for this long.
    pub fn others_turn(pid: Option<u32>, time: Duration) -> Self {
        let pid = pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default();
        Self::Barred(format!(
            "another Deskline server{pid} has been acting on this desktop for {} s. Nothing was \
             touched. Call again once it is done. If that server is stopped or hangs, end it",
            time.as_secs()
        ))
    }

    /// Whether it is known that the failed step did nothing.
    pub fn did_nothing(&self) -> bool {
        match self {
            Self::EndedAfter { error, .. } => error.did_nothing(),
            Self::Input(_)
            | Self::Barred(_)
            | Self::Target(_)
            | Self::Display(_)
            | Self::TimedOut { .. }
            | Self::Blocked { .. }
            | Self::Unapproved(..)
            | Self::NoPid
            | Self::RefusedBy { .. }
            | Self::Unsupported { .. } => true,
            Self::Elsewhere { unsent, .. } => *unsent,
            _ => false,
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
