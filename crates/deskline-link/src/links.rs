//! Runs links one at a time: connects to the desktop, runs the link, and gives an answer in any
//! case.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use deskline_core::escape;
use deskline_journal::{Journal, RefStore, Turn, Turns};

use crate::act::wait_for::{Waiting, Wanted};
use crate::answer::{self, Answer};
use crate::apps::{Application, identify};
use crate::call::Call;
use crate::checkpoint::DeferredRestore;
use crate::desktop::{Desktop, Platform};
use crate::display::{Window, WindowId};
use crate::error::{Error, Missing, Result, TargetError, Unasked, panic_text};
use crate::grants::Question;
use crate::link::{Found, Link};
use crate::picture::texts::Texts;
use crate::policy::Policy;
use crate::reader::Reader;
use crate::report::Report;
use crate::resolve::late_changes::LastTrees;
use crate::resolve::targets::Targets;
use crate::resolve::windows::Windows;
use crate::settle::front_watch::FrontWatch;
use crate::subject::Subject;
use crate::wait;
use deskline_input::Cancel;
use deskline_input::clock::Instant;

/// Runs links on one desktop, one at a time.
pub struct Links {
    platform: Arc<dyn Platform>,
    desktop: Option<Box<dyn Desktop>>,
    journal: Journal,
    refs: RefStore,
    policy: Policy,
    /// The turns that this server takes with the other servers on this desktop.
    turns: Option<Turns>,
    /// A restore that a link deferred to a later link.
    deferred: Option<DeferredRestore>,
    /// The trees of the last answers.
    last_trees: LastTrees,
    texts: Texts,
    /// Whether any link has been answered yet.
    answered: bool,
    /// The process of the last link.
    last: Option<u32>,
    /// The windows of helpers that an answer has named.
    helpers_named: HashSet<WindowId>,
    /// What the desktop lacks, as far as an answer has said so.
    lacks_named: HashSet<String>,
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
            turns: None,
            deferred: None,
            last_trees: LastTrees::default(),
            texts: Texts::default(),
            answered: false,
            last: None,
            helpers_named: HashSet::new(),
            lacks_named: HashSet::new(),
        }
    }

    /// Makes links that act take turns with the links of other servers on the same desktop.
    #[must_use]
    pub fn in_turns(self, turns: Option<Turns>) -> Self {
        Self { turns, ..self }
    }

    /// If the call acts, waits for its turn on the desktop: at most as long as another link may
    /// hold the devices. `None` if the call does not act, or if it cannot be found out whether
    /// there are other servers.
    fn turn(&mut self, call: &Call, cancel: &Cancel, report: &mut Report) -> Result<Option<Turn>> {
        /// The polling interval. A lock has no wait with a timeout.
        const LOOK: Duration = Duration::from_millis(2);
        let Some(turns) = self.turns.as_ref().filter(|_| call.acts()) else {
            return Ok(None);
        };
        let desktop = connected(&self.platform, &mut self.desktop)?.id();
        let limit = self.policy.guard.limit;
        let end = Instant::now() + limit;
        let take = |name| {
            let mut holder = None;
            let left = end.saturating_duration_since(Instant::now());
            let turn = wait::until(cancel, left, LOOK, || match turns.take(name, &desktop) {
                Ok(Ok(turn)) => Ok::<_, Error>(Some(Some(turn))),
                Ok(Err(pid)) => {
                    holder = pid;
                    Ok(None)
                }
                Err(error) => {
                    tracing::warn!("other servers may act at the same time: {error}");
                    Ok(Some(None))
                }
            })?;
            turn.ok_or_else(|| Error::others_turn(holder, limit))
        };
        let start = std::time::Instant::now();
        // Only one server at a time waits for the turn; the others wait to be that one. So no
        // server is overtaken for ever.
        let turn = take("next").and_then(|_place| take("turn"));
        report.took("turn", start);
        turn
    }

    /// Runs one tool call, from connecting to its line in the journal. Never panics. Ends within
    /// the bounds of its steps, and soon after `cancel` is raised.
    pub fn run(&mut self, call: &Call, cancel: &Cancel) -> Answer {
        Desk::run(self, call, cancel).unwrap_or_else(|question| {
            let unasked = Unasked::Unable("nobody is there to ask".into(), question.lasting_key());
            unanswered(&self.journal, call, Error::Unapproved(question, unasked))
        })
    }

    /// Looks for the awaited element, and runs the link if it is there. Returns `false` if the wait
    /// has to continue later.
    fn look_for(
        &mut self,
        waiting: &mut Waiting,
        cancel: &Cancel,
        others: &dyn Fn() -> bool,
    ) -> Result<bool> {
        cancel.check()?;
        let _current = cancel.enter();
        let (mut link, desktop, _) =
            self.begin(&waiting.call, cancel, &waiting.subject, &mut waiting.report)?;
        let found = link.listen(desktop).and_then(|()| {
            // The first look gives the state before the wait.
            if !std::mem::replace(&mut waiting.has_looked, true) {
                link.resolve(desktop)?;
            }
            match Wanted::new(link.action, waiting.since) {
                Some(wanted) => link.wait_for(desktop, &wanted, Some(others)),
                None => Ok(None),
            }
        });
        desktop.rest();
        match found? {
            Some(found) => self
                .link(
                    &waiting.call,
                    cancel,
                    &waiting.subject,
                    Some(found),
                    &mut waiting.report,
                )
                .map(|()| true),
            None => Ok(false),
        }
    }

    /// The link of a call, and the desktop. Connects to the desktop at its first use.
    fn begin<'l>(
        &'l mut self,
        call: &'l Call,
        cancel: &'l Cancel,
        subject: &'l Subject,
        report: &'l mut Report,
    ) -> Result<(
        Link<'l>,
        &'l mut dyn Desktop,
        &'l mut Option<DeferredRestore>,
    )> {
        let desktop = connected(&self.platform, &mut self.desktop)?;
        let link = Link {
            policy: &self.policy,
            call,
            cancel,
            subject,
            reader: Reader {
                id: desktop.id(),
                refs: &mut self.refs,
                policy: &self.policy,
                texts: &mut self.texts,
            },
            last_trees: &self.last_trees,
            windows: Windows::default(),
            action: &call.action,
            targets: Targets::default(),
            front: FrontWatch::default(),
            found: None,
            report,
        };
        Ok((link, desktop, &mut self.deferred))
    }

    fn caught<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let result = catch_unwind(AssertUnwindSafe(|| run(self)));
        // After a panic the connection may be in any state.
        let is_lost = |result: &Result<T>| result.as_ref().is_err_and(Error::costs_connection);
        if result.as_ref().map_or(true, is_lost) {
            self.desktop = None;
        }
        result.unwrap_or_else(|panic| {
            let text = panic_text(panic.as_ref());
            tracing::error!("a link panicked: {text}");
            Err(Error::Internal(text.to_owned()))
        })
    }

    /// Answers and records a link that has ended.
    fn answer(
        &mut self,
        call: &Call,
        subject: &Subject,
        mut report: Report,
        result: Result<()>,
    ) -> Answer {
        let is_first = !std::mem::replace(&mut self.answered, true);
        let result = self.caught(|links| {
            links.name_helpers(&mut report);
            links.name_lacks(&mut report);
            links.identify(&mut report);
            let result = result.map_err(|e| links.discreet(e));
            result.map_err(|e| links.explained(e, subject.home()))
        });
        let answer = answer::record(&self.journal, call, subject, is_first, &mut report, result);
        self.last = subject.home().or(self.last);
        let changed = report.step.control.take();
        self.last_trees.changed = changed.filter(|_| call.options.goes_on);
        let taken = report.handoff.and_then(|taken| taken.tree);
        let readings = report.readings;
        // The tree of the answer's file.
        let last = readings.after.or(readings.step_before);
        let last = last.or(readings.before);
        let dropped_on = report.drops.into_iter().map(|drop| drop.after);
        let trees = last.into_iter().chain(taken).chain(dropped_on);
        self.last_trees.remember(report.late, trees);
        answer
    }

    /// Records the system's names for the apps whose trees the answer has.
    fn identify(&mut self, report: &mut Report) {
        let Some(desktop) = self.desktop.as_deref_mut() else {
            return;
        };
        let dropped_on = report.drops.iter().map(|drop| &drop.after);
        let trees = report.readings.latest().into_iter().chain(report.taken());
        let trees = trees.chain(dropped_on);
        let known = trees.map(|tree| identify(desktop, &tree.app.name, tree.app.pid));
        report.apps = known.collect();
    }

    /// Removes the note that the desktop has no guard or no pictures, if an earlier answer already
    /// had it.
    fn name_lacks(&mut self, report: &mut Report) {
        let Some(desktop) = self.desktop.as_deref_mut() else {
            return;
        };
        let lacks = [desktop.guard().err(), desktop.pictures().err()];
        let lacks: HashSet<_> = lacks
            .into_iter()
            .flatten()
            .map(|Missing(why)| why)
            .collect();
        for why in lacks {
            let has_why = |text: &String| text.contains(&*why);
            let (notes, picture) = (&mut report.notes.0, &mut report.pictures.after);
            let failed = picture.as_ref().and_then(|after| after.as_ref().err());
            let named = notes.iter().chain(failed).any(has_why);
            if named && !self.lacks_named.insert(why.clone().into_owned()) {
                notes.retain(|note| !has_why(note));
                picture.take_if(|after| after.as_ref().is_err_and(has_why));
            }
        }
    }

    /// Adds a note about each window that another process draws for the app, if no earlier answer
    /// had it.
    fn name_helpers(&mut self, report: &mut Report) {
        /// The maximum number of windows to remember. A session hardly has so many; with more, all
        /// are forgotten, and each is reported once more.
        const MOST: usize = 256;
        if self.helpers_named.len() > MOST {
            self.helpers_named.clear();
        }
        for Window { id, pid, title, .. } in std::mem::take(&mut report.helpers) {
            if let (Some(pid), true) = (pid, self.helpers_named.insert(id)) {
                report.notes.add(format!(
                    "another process draws \"{}\" for this app. To act on it, pass pid {pid}",
                    escape::short_escaped(&title, 40)
                ));
            }
        }
    }

    /// Adds to an error how the app ended, if it has ended.
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
            Error::NoProcess(_)
            | Error::NoWindow { .. }
            | Error::NotAnswering { .. }
            | Error::Target(TargetError::WindowGone) => {
                let again = self.runs_again(&end.app, pid);
                Error::Ended { pid, end, again }
            }
            e => Error::EndedAfter {
                error: Box::new(e),
                end,
            },
        }
    }

    /// The new process of an app that has ended and started again.
    fn runs_again(&mut self, name: &str, ended: u32) -> Option<u32> {
        let desktop = self.desktop.as_deref_mut()?;
        let listed = desktop.applications().ok()?.into_iter();
        let mut pids = listed.filter(|l| l.app.name == name).map(|l| l.app.pid);
        pids.find(|pid| *pid != ended && self.policy.permits_process(desktop, name, *pid))
    }

    /// The error without the title of a window, if the policy excludes the window's app.
    fn discreet(&mut self, mut e: Error) -> Error {
        let Error::Elsewhere { title, pid, .. } = &mut e else {
            return e;
        };
        let pid = *pid;
        let known = self.desktop.as_deref_mut().is_some_and(|desktop| {
            let own = self.policy.own_name(desktop, pid).ok().flatten();
            own.is_some_and(|own| self.policy.permits_process(desktop, &own, pid))
        });
        if !known {
            title.clear();
        }
        e
    }

    fn link(
        &mut self,
        call: &Call,
        cancel: &Cancel,
        subject: &Subject,
        found: Option<Found>,
        report: &mut Report,
    ) -> Result<()> {
        let _turn = self.turn(call, cancel, report)?;
        let _current = cancel.enter();
        let (mut link, desktop, deferred) = self.begin(call, cancel, subject, report)?;
        link.found = found;
        link.run(desktop, deferred)
    }

    /// `list_applications`: the running apps with windows whose name contains `name`, ignoring
    /// case. Reads no tree and touches nothing.
    pub fn applications(&mut self, name: &str) -> Answer {
        let listed = self.caught(|links| {
            let desktop = connected(&links.platform, &mut links.desktop)?;
            desktop.begin_link(false);
            desktop.applications()
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
                    ..Answer::default()
                }
            }
            Err(e) => answer::error(&e.to_string()),
        }
    }
}

/// The desktop that a server drives: [`Links`], or a script in a test.
pub trait Desk: Send {
    /// Runs one link. If the person has to be asked first, returns the question, and nothing is
    /// touched or recorded. Otherwise the same as [`Links::run`].
    fn run(&mut self, call: &Call, cancel: &Cancel) -> Result<Answer, Box<Question>>;

    /// Looks for the awaited element of a `wait_for`. Ends when the element appears, when the time
    /// of the wait is over, or when `others` tells that another call wants the desktop. Holds
    /// nothing of the desktop between two looks. When the element appears, a link that finds it
    /// gives the answer. Never panics. Ends soon after `cancel` is raised.
    fn look(&mut self, waiting: Box<Waiting>, cancel: &Cancel, others: &dyn Fn() -> bool)
    -> Looked;

    /// As [`Links::applications`].
    fn applications(&mut self, name: &str) -> Answer;

    /// Handles pending events between links. Returns the time after which to call `idle` again, if
    /// at all. Never panics.
    fn idle(&mut self) -> Option<Duration>;
}

impl Desk for Links {
    fn run(&mut self, call: &Call, cancel: &Cancel) -> Result<Answer, Box<Question>> {
        let (subject, mut report) = (Subject::new(call.pid), Report::default());
        let result = self.caught(|links| links.link(call, cancel, &subject, None, &mut report));
        let step = &report.step.done;
        let untouched = report.ended_runs.is_empty() && step.is_empty() && !step.underway;
        match result {
            Err(Error::Unapproved(question, Unasked::Yet)) if untouched => Err(question),
            result => Ok(self.answer(call, &subject, report, result)),
        }
    }

    fn look(
        &mut self,
        mut waiting: Box<Waiting>,
        cancel: &Cancel,
        others: &dyn Fn() -> bool,
    ) -> Looked {
        let result = self.caught(|links| links.look_for(&mut waiting, cancel, others));
        match result {
            Ok(false) => Looked::NotYet(waiting),
            result => {
                let (all, result) = (*waiting, result.map(drop));
                Looked::Answer(self.answer(&all.call, &all.subject, all.report, result))
            }
        }
    }

    fn applications(&mut self, name: &str) -> Answer {
        Links::applications(self, name)
    }

    fn idle(&mut self) -> Option<Duration> {
        let desktop = self.desktop.as_deref_mut()?;
        catch_unwind(AssertUnwindSafe(|| desktop.idle())).unwrap_or_else(|_| {
            self.desktop = None;
            None
        })
    }
}

/// The result of [`Desk::look`].
#[derive(Debug)]
pub enum Looked {
    /// The wait is over.
    Answer(Answer),
    /// The person has to be asked first. Nothing was touched.
    Asks(Box<Question>),
    /// Another call wanted the desktop, or the app does not answer: look again later.
    NotYet(Box<Waiting>),
}

/// Answers and records a call that was not queued, because its app had failed the ping.
pub fn unanswered(journal: &Journal, call: &Call, error: Error) -> Answer {
    let subject = Subject::new(call.pid);
    answer::record(
        journal,
        call,
        &subject,
        false,
        &mut Report::default(),
        Err(error),
    )
}

/// The desktop. Connects to it at its first use.
fn connected<'d>(
    platform: &Arc<dyn Platform>,
    desktop: &'d mut Option<Box<dyn Desktop>>,
) -> Result<&'d mut dyn Desktop> {
    Ok(&mut **crate::kept(desktop, || platform.connect())?)
}

/// The maximum number of listed apps, and of titles per app. These limits keep the answer under
/// 4,000 characters.
const MOST_APPS: usize = 25;
const MOST_TITLES: usize = 3;

/// `last` is the process of the last link.
fn list(applications: &[Application], last: Option<u32>) -> String {
    let n = applications.len();
    let running = escape::count(n, "running app");
    let acted_on = |a: &&Application| Some(a.app.pid) == last && !a.front;
    let front = if applications.iter().any(|a| acted_on(&a)) {
        // The user's window is back in front by now. So the app that was acted on last is marked
        // apart.
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
            .map(|window| {
                let title = escape::short_escaped(&window.title, 30);
                format!("\"{title}\" {}", window.state())
                    .trim_end()
                    .to_owned()
            })
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
