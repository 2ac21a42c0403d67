//! Runs links one at a time: connects to the desktop, runs the link, and answers whatever happens.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use deskline_core::escape;
use deskline_journal::{Journal, RefStore};

use crate::answer::{self, Answer};
use crate::apps::Application;
use crate::call::Call;
use crate::cancel::Cancel;
use crate::checkpoint::DeferredRestore;
use crate::desktop::{Desktop, Platform};
use crate::error::{Error, Result, panic_text};
use crate::late::LastTrees;
use crate::link::Link;
use crate::policy::Policy;
use crate::report::Report;

/// Runs links on one desktop, one at a time.
pub struct Links {
    platform: Arc<dyn Platform>,
    desktop: Option<Box<dyn Desktop>>,
    journal: Journal,
    refs: RefStore,
    policy: Policy,
    /// A restore that a link deferred to a later one.
    deferred: Option<DeferredRestore>,
    /// The trees of the last answers.
    last_trees: LastTrees,
    /// Whether a link has been answered.
    answered: bool,
    /// The process that a link was about last.
    last: Option<u32>,
}

impl Links {
    /// Links on the desktop that `platform` connects to, recorded in `journal`.
    pub fn new(platform: Arc<dyn Platform>, journal: Journal, policy: Policy) -> Self {
        let refs = RefStore::new(&journal);
        Self {
            platform,
            desktop: None,
            journal,
            refs,
            policy,
            deferred: None,
            last_trees: LastTrees::default(),
            answered: false,
            last: None,
        }
    }

    /// Runs one tool call, from connecting to its line in the journal. Never panics. Ends within
    /// the bounds of its steps, and soon after `cancel` is raised.
    pub fn run(&mut self, call: &Call, cancel: &Cancel) -> Answer {
        let mut report = Report {
            first: !std::mem::replace(&mut self.answered, true),
            ..Report::default()
        };
        let result = catch_unwind(AssertUnwindSafe(|| self.link(call, cancel, &mut report)))
            .unwrap_or_else(|panic| {
                // The panic may have left the connection in any state.
                self.desktop = None;
                Err(internal(panic.as_ref()))
            });
        if result.as_ref().is_err_and(Error::costs_connection) {
            self.desktop = None;
        }
        let result = result.map_err(|e| self.discreet(e));
        let result = result.map_err(|e| self.explained(e, call.pid.or(report.pid)));
        let answer = answer::record(&self.journal, call, &mut report, result);
        self.last = report.pid.or(self.last);
        let Report {
            late,
            before,
            after,
            handoff,
            ..
        } = report;
        let taken = handoff.and_then(|taken| taken.tree);
        self.last_trees.remember(late, [after.or(before), taken]);
        answer
    }

    /// Between links. Returns after which time to call it again, if at all. Never panics.
    pub fn idle(&mut self) -> Option<Duration> {
        let desktop = self.desktop.as_deref_mut()?;
        catch_unwind(AssertUnwindSafe(|| desktop.idle())).unwrap_or_else(|_| {
            self.desktop = None;
            None
        })
    }

    /// The error, and how the app ended, if it did.
    fn explained(&mut self, e: Error, pid: Option<u32>) -> Error {
        if matches!(e, Error::Cancelled(_)) || e.costs_connection() {
            return e;
        }
        let asked = pid.zip(self.desktop.as_deref_mut());
        let Some((pid, end)) = asked.and_then(|(pid, desktop)| Some((pid, desktop.end_of(pid)?)))
        else {
            return e;
        };
        let permitted = match self.desktop.as_deref_mut() {
            Some(desktop) => self.policy.permits_process(desktop, &end.app, pid),
            None => !self.policy.is_bounded(),
        };
        match e {
            e if !permitted => e,
            Error::NoProcess(_) | Error::NoWindow { .. } | Error::NotAnswering { .. } => {
                Error::Ended { pid, end }
            }
            e => Error::Input(format!("{e}. {end}")),
        }
    }

    /// The error, without a window title whose app the policy excludes.
    fn discreet(&mut self, e: Error) -> Error {
        let Error::Elsewhere { title, pid, why } = e else {
            return e;
        };
        let mut listed = || self.desktop.as_deref_mut()?.applications().ok();
        let known = !self.policy.is_bounded()
            || listed().is_some_and(|apps| {
                let app = apps.iter().find(|a| a.app.pid == pid);
                app.is_some_and(|a| {
                    let desktop = self.desktop.as_deref_mut();
                    desktop.is_some_and(|d| self.policy.permits_process(d, &a.app.name, pid))
                })
            });
        let title = if known { title } else { String::new() };
        Error::Elsewhere { title, pid, why }
    }

    fn link(&mut self, call: &Call, cancel: &Cancel, report: &mut Report) -> Result<()> {
        let desktop = connected(&self.platform, &mut self.desktop)?;
        Link {
            desktop,
            refs: &mut self.refs,
            deferred: &mut self.deferred,
            last_trees: &self.last_trees,
            policy: &self.policy,
            call,
            cancel,
        }
        .run(report)
    }

    /// `list_applications`: the running apps with windows whose name contains `name`, ignoring case. Reads
    /// no tree and touches nothing.
    pub fn applications(&mut self, name: &str) -> Answer {
        let listed = catch_unwind(AssertUnwindSafe(|| {
            let desktop = connected(&self.platform, &mut self.desktop)?;
            desktop.begin_link(false);
            desktop.applications()
        }))
        .unwrap_or_else(|panic| {
            self.desktop = None;
            Err(internal(panic.as_ref()))
        });
        match listed {
            Ok(mut applications) => {
                let name = name.trim().to_lowercase();
                applications.retain(|a| a.app.name.to_lowercase().contains(&name));
                if let Some(desktop) = self.desktop.as_deref_mut() {
                    applications
                        .retain(|a| self.policy.permits_process(desktop, &a.app.name, a.app.pid));
                }
                Answer {
                    text: list(&applications, self.last),
                    is_error: false,
                }
            }
            Err(e) => {
                if e.costs_connection() {
                    self.desktop = None;
                }
                answer::error(&e.to_string())
            }
        }
    }
}

/// Answers and records a call whose app failed the ping, and which therefore was not queued.
pub fn unanswered(journal: &Journal, call: &Call, error: Error) -> Answer {
    let mut report = Report {
        pid: call.pid,
        ..Report::default()
    };
    answer::record(journal, call, &mut report, Err(error))
}

/// The desktop. Connects when it is first needed.
fn connected<'d>(
    platform: &Arc<dyn Platform>,
    desktop: &'d mut Option<Box<dyn Desktop>>,
) -> Result<&'d mut dyn Desktop> {
    let connected = match desktop.take() {
        Some(connected) => connected,
        None => platform.connect()?,
    };
    Ok(&mut **desktop.insert(connected))
}

fn internal(panic: &(dyn std::any::Any + Send)) -> Error {
    let text = panic_text(panic);
    tracing::error!("a link panicked: {text}");
    Error::Input(format!(
        "an internal error of Deskline: {}. The desktop was put back; please report it",
        escape::short(text, 200)
    ))
}

/// The maximum number of listed apps, and of titles per app. They keep the answer under 4,000
/// characters.
const MOST_APPS: usize = 25;
const MOST_TITLES: usize = 3;

/// `last` is the process that a link was about last.
fn list(applications: &[Application], last: Option<u32>) -> String {
    let n = applications.len();
    let running = escape::count(n, "running app");
    let acted_on = |a: &&Application| Some(a.app.pid) == last && !a.front;
    let front = if applications.iter().any(|a| acted_on(&a)) {
        // It is put back after each action.
        ". front: the user's; last: where you acted last"
    } else {
        ""
    };
    let mut text = format!("status: success\nsummary: {running} with windows{front}\n");
    if n > 0 {
        text += "applications:\n";
    }
    for application in applications.iter().take(MOST_APPS) {
        let titles: Vec<String> = application
            .windows
            .iter()
            .take(MOST_TITLES)
            .map(|title| format!("\"{}\"", escape::short_escaped(title, 30)))
            .collect();
        let front = match application {
            a if a.front => " front",
            a if acted_on(&a) => " last",
            _ => "",
        };
        let name = escape::name(&application.app.name, 30);
        let _ = writeln!(
            text,
            "  {name} (PID: {}){front} {}",
            application.app.pid,
            titles.join(", ")
        );
    }
    if n > MOST_APPS {
        let _ = writeln!(text, "  … and {} more", n - MOST_APPS);
    }
    text
}
