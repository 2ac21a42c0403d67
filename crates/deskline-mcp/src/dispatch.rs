//! Carries out a call: from the tool's name and arguments to its answer. Both the MCP server and
//! `deskline call` use it.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use deskline_journal::Journal;
use deskline_link::error::Unasked;
use deskline_link::grants::{Approval, Grants, Question};
use deskline_link::{
    Call, Cancel, Desk, Error, Looked, Platform, Policy, Waiting, error_answer, unanswered,
};
use serde_json::{Map, Value};

use crate::args::Wrong;
use crate::files::JournalFiles;
use crate::live::Live;
use crate::person::{Asked, PATIENCE, Person};
use crate::reply::Reply;
use crate::tools::{self, COMPAT_PREFIX, Handler, TOOLS, ToolRecord};
use crate::turns::{Turn, Turns};
use crate::worker::{Job, Worker};
use crate::{picture, recipes, search};

/// The pause between two pings of an app that does not answer. A ping itself waits 2 s.
const BETWEEN_PINGS: Duration = Duration::from_millis(20);

/// The pause between two looks of a `wait_for` while other calls want the desktop.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// The options of the server.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// Which apps are blocked. Their files in the journal are not shown either.
    pub policy: Policy,
    /// Whether to offer only the tools that change nothing on the desktop.
    pub read_only: bool,
    /// Whether to list the tools as `macos-use_<tool>`.
    pub compat_macos_use: bool,
    /// The folder of the recipes that are offered as tools.
    pub recipes: Option<PathBuf>,
}

/// The maximum number of tries of a call. A try may end with a question to the person: about the
/// call's app, or about the app that a drag ends in.
const QUESTIONS: usize = 3;

/// Why a call gets no answer from a tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoReply {
    /// No tool has this name. The text is for the agent.
    #[error("{0}")]
    UnknownTool(String),
    /// The client has to ask its user, and then repeat the call with the answer.
    #[error("the user has to be asked about {0}")]
    Asks(Box<Question>),
}

/// Carries out calls. Links run one at a time.
pub struct Dispatcher {
    platform: Arc<dyn Platform>,
    worker: Worker,
    files: JournalFiles,
    journal: Journal,
    turns: Turns,
    config: Config,
    live: Live,
    /// Locked by the call that asks the person, so that the person gets one question at a time.
    asking: tokio::sync::Mutex<()>,
}

impl Dispatcher {
    /// Starts the worker thread for `desk`.
    pub fn new(
        platform: Arc<dyn Platform>,
        desk: Box<dyn Desk>,
        journal: Journal,
        config: Config,
    ) -> io::Result<Self> {
        let live = Live::default();
        Ok(Self {
            platform,
            worker: Worker::start(desk, live.clone())?,
            files: JournalFiles::new(journal.clone(), config.policy.clone()),
            journal,
            turns: Turns::default(),
            config,
            live,
            asking: tokio::sync::Mutex::default(),
        })
    }

    /// The files that clients may read.
    pub(crate) fn files(&self) -> &JournalFiles {
        &self.files
    }

    /// Whether only tools that read are offered.
    pub fn is_read_only(&self) -> bool {
        self.config.read_only
    }

    /// The tools on offer, for `tools/list`.
    pub fn tools(&self) -> Vec<rmcp::model::Tool> {
        let prefix = if self.config.compat_macos_use {
            COMPAT_PREFIX
        } else {
            ""
        };
        let looks = self.config.read_only;
        let offered = TOOLS.iter().filter(|tool| !looks || tool.reads_only());
        let tools = offered.map(|tool| tool.entry(prefix));
        let recipes = self.recipes().map(|folder| recipes::listed(folder));
        tools.chain(recipes.into_iter().flatten()).collect()
    }

    /// The folder of the recipes on offer.
    pub(crate) fn recipes(&self) -> Option<&PathBuf> {
        self.config
            .recipes
            .as_ref()
            .filter(|_| !self.config.read_only)
    }

    pub(crate) fn catalogues(&self, pid: u32) -> Vec<PathBuf> {
        self.platform.catalogues(pid)
    }

    pub(crate) fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Carries out one call of a client. `person` is the person behind the client. Raising `cancel`
    /// stops the call, which still restores the desktop and answers.
    pub async fn call(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        cancel: &Cancel,
        person: &dyn Person,
    ) -> Result<Reply, NoReply> {
        let arguments = (arguments, false);
        self.call_one(name, arguments, cancel, person).await
    }

    /// Like [`Self::call`]. The flag beside the arguments tells whether another call follows at
    /// once.
    pub(crate) async fn call_one(
        &self,
        name: &str,
        arguments: (&Map<String, Value>, bool),
        cancel: &Cancel,
        person: &dyn Person,
    ) -> Result<Reply, NoReply> {
        let record = tools::find(name).map_err(NoReply::UnknownTool)?;
        let _registration = self.live.register(cancel);
        match self.carry_out(record, arguments, cancel, person).await {
            Ok(reply) => Ok(self.in_this_mode(record, reply)),
            Err(Failed::Wrong(wrong)) => Ok(self.in_this_mode(record, Reply::failure(&wrong))),
            Err(Failed::Asks(question)) => Err(NoReply::Asks(question)),
        }
    }

    /// Replaces the names of tools that are not offered. An error, or the advice for an app without
    /// a tree, may contain such a name.
    fn in_this_mode(&self, called: &ToolRecord, mut reply: Reply) -> Reply {
        if !(self.config.read_only && called.reads_only()) {
            return reply;
        }
        let offered = |line: &str| {
            let left_out = TOOLS.iter().filter(|record| !record.reads_only());
            left_out.fold(line.to_owned(), |line, record| {
                let name = format!(" {}", record.name);
                line.replace(&name, " a tool that --read-only leaves out")
            })
        };
        let advises = |line: &str| reply.is_error || line.starts_with("no_tree:");
        let lines = reply.text.split_inclusive('\n').map(|line| {
            let offered = advises(line).then(|| offered(line));
            offered.unwrap_or_else(|| line.to_owned())
        });
        reply.text = lines.collect();
        reply
    }

    async fn carry_out(
        &self,
        record: &ToolRecord,
        (arguments, goes_on): (&Map<String, Value>, bool),
        cancel: &Cancel,
        person: &dyn Person,
    ) -> Result<Reply, Failed> {
        if self.config.read_only && !record.reads_only() {
            return Err(Failed::Wrong(format!(
                "{} is not available: this server was started with --read-only. It offers \
                refresh_traversal, wait_for_and_traverse, list_applications, search_tree and \
                view_screenshot",
                record.name
            )));
        }
        let arguments = if self.config.compat_macos_use {
            Cow::Owned(tools::from_macos_use(arguments)?)
        } else {
            Cow::Borrowed(arguments)
        };
        let arguments = arguments.as_ref();
        let answer = match record.handler {
            Handler::Link(..) | Handler::Chain => {
                let mut call = tools::call(record, arguments)?;
                call.options.goes_on = goes_on;
                return self.link(call, cancel, person).await;
            }
            Handler::Applications => {
                let args = crate::args::Args(arguments);
                record.check(args)?;
                let name = args.text("name")?.unwrap_or_default().to_owned();
                let job = Job::Applications { name };
                self.worker.submit(job, cancel.clone())
            }
            Handler::Search => {
                let query = search::Query::read(record, arguments)?;
                let files = self.files.clone();
                return Ok(blocking(move || query.run(&files)).await?);
            }
            Handler::Screenshot => {
                let args = crate::args::Args(arguments);
                record.check(args)?;
                let file = args
                    .filled("file", "a path from a summary")?
                    .map(str::to_owned);
                let files = self.files.clone();
                return Ok(blocking(move || picture::shown(&files, file.as_deref())).await?);
            }
        };
        answered(answer.await)
    }

    /// Carries out a link. If the person has to be asked first, the link is carried out again after
    /// the answer. Until then it does not occupy the desktop, and other calls run.
    async fn link(
        &self,
        mut call: Call,
        cancel: &Cancel,
        person: &dyn Person,
    ) -> Result<Reply, Failed> {
        let grants = &self.config.policy.grants;
        let mut asking = None;
        for _ in 0..QUESTIONS {
            let question = match link(self, call.clone(), cancel).await {
                Err(Failed::Asks(question)) => question,
                done => return done,
            };
            if asking.is_none() {
                while asking.is_none() {
                    let turn = tokio::time::timeout(BETWEEN_PINGS, self.asking.lock()).await;
                    if let Some(reason) = cancel.reason() {
                        return not_linked(self, call, Error::Cancelled(reason)).await;
                    }
                    asking = turn.ok();
                }
                // An earlier call may have asked the same question.
                if grants.allows(&question) {
                    continue;
                }
            }
            grants.show(Some(PATIENCE));
            let asked = person.ask(&question).await;
            if !matches!(asked, Asked::Later) {
                grants.show(None);
            }
            let asked = match asked {
                Asked::Unable(why) => at_the_desktop(self, &question, cancel, &why).await?,
                asked => asked,
            };
            let why = match asked {
                Asked::Later => return Err(Failed::Asks(question)),
                Asked::Answered(answer) => match keep(grants, &question, answer).await {
                    Ok(true) => {
                        call.approved = Some(question.id());
                        continue;
                    }
                    Ok(false) => Unasked::Declined,
                    Err(why) => Unasked::NotKept(why),
                },
                Asked::Declined => Unasked::Declined,
                Asked::Unable(why) => Unasked::Unable(why, question.lasting_key()),
            };
            return not_linked(self, call, Error::Unapproved(question, why)).await;
        }
        Err(Failed::Wrong(
            "the user's answers have not allowed this call. Nothing was touched".into(),
        ))
    }

    /// Stops all calls and refuses new ones. Each call restores the desktop first.
    pub fn interrupt(&self) {
        self.live.stop();
    }

    /// Interrupts all calls, then waits until the desktop is restored. `false` if that takes longer
    /// than `limit` since the first interruption.
    pub async fn stop(&self, limit: Duration) -> bool {
        let since = self.live.stop();
        let left = limit.saturating_sub(since.elapsed());
        self.worker.stop(left).await
    }
}

/// Why a call gets no answer from a tool.
enum Failed {
    Wrong(Wrong),
    Asks(Box<Question>),
}

impl From<Wrong> for Failed {
    fn from(wrong: Wrong) -> Self {
        Self::Wrong(wrong)
    }
}

/// Asks the person at the desktop. `why` is the reason why the client cannot ask the person.
async fn at_the_desktop(
    served: &Dispatcher,
    question: &Question,
    cancel: &Cancel,
    why: &str,
) -> Result<Asked, Wrong> {
    let platform = Arc::clone(&served.platform);
    let (question, cancel) = (question.clone(), cancel.clone());
    Ok(
        match blocking(move || Ok(platform.ask(&question, &cancel))).await? {
            Ok(answer) => answer.map_or(Asked::Declined, Asked::Answered),
            Err(reason) => Asked::Unable(format!("{why} and {reason}")),
        },
    )
}

/// Stores the person's answer. Returns whether the link can be carried out again.
async fn keep(grants: &Grants, question: &Question, answer: Approval) -> Result<bool, Wrong> {
    let (grants, question) = (grants.clone(), question.clone());
    blocking(move || {
        let kept = grants.answered(&question, answer);
        kept.map_err(|error| error.to_string())?;
        Ok(match answer {
            Approval::Once | Approval::Always => true,
            Approval::Never => question.can_be_kept,
            Approval::No => false,
        })
    })
    .await
}

async fn link(served: &Dispatcher, call: Call, cancel: &Cancel) -> Result<Reply, Failed> {
    let Some(pid) = call.pid else {
        let job = Job::Link(Box::new(call));
        return answered(served.worker.submit(job, cancel.clone()).await);
    };
    let call = match Waiting::new(call) {
        Ok(waiting) => return wait_for(served, pid, waiting, cancel).await,
        Err(call) => call,
    };
    let turn = match answering(served, pid, call.patience(), cancel).await? {
        Ok(turn) => turn,
        Err(error) => return not_linked(served, *call, error).await,
    };
    let answer = served.worker.submit(Job::Link(call), cancel.clone());
    drop(turn);
    answered(answer.await)
}

/// A `wait_for`: a series of looks, each a job of its own, between which the worker runs other
/// calls.
async fn wait_for(
    served: &Dispatcher,
    pid: u32,
    waiting: Waiting,
    cancel: &Cancel,
) -> Result<Reply, Failed> {
    let mut waiting = Box::new(waiting);
    let mut first = true;
    loop {
        // Ping first: a look at a hung app would block the worker for 2 s.
        let turn = match answering(served, pid, waiting.left(), cancel).await? {
            Ok(turn) => Some(turn),
            // The app's end may be the awaited state.
            Err(Error::NoProcess(_) | Error::NoWindow { .. }) if !first => None,
            Err(error) => return not_linked(served, waiting.into_call(), error).await,
        };
        let looked = served.worker.submit(Job::Look(waiting), cancel.clone());
        drop(turn);
        waiting = match looked.await {
            Ok(Looked::NotYet(waiting)) => waiting,
            looked => return answered(looked),
        };
        first = false;
        tokio::time::sleep(BETWEEN_LOOKS.min(waiting.left())).await;
    }
}

/// Pings the app until it answers, for at most `patience` but at least once; a ping waits 2 s. Then
/// waits for the call's turn. Other calls take their turns between two pings.
async fn answering(
    served: &Dispatcher,
    pid: u32,
    patience: Duration,
    cancel: &Cancel,
) -> Result<Result<Turn, Error>, Wrong> {
    let start = Instant::now();
    loop {
        let platform = Arc::clone(&served.platform);
        let ping = tokio::task::spawn_blocking(move || platform.ping(pid));
        // Queue for the turn before the ping is over, so that requests keep their order.
        let (turn, answers) = tokio::join!(served.turns.take(pid), ping);
        match answers {
            Ok(Ok(())) => return Ok(Ok(turn)),
            Ok(Err(Error::NotAnswering { .. })) if start.elapsed() < patience => {}
            Ok(Err(error)) => return Ok(Err(error)),
            Err(error) => return Err(format!("internal error in the server: {error}")),
        }
        drop(turn);
        if let Some(reason) = cancel.reason() {
            return Ok(Err(Error::Cancelled(reason)));
        }
        tokio::time::sleep(BETWEEN_PINGS).await;
    }
}

/// Answers and records a call for which no link ran.
async fn not_linked(served: &Dispatcher, call: Call, error: Error) -> Result<Reply, Failed> {
    let journal = served.journal.clone();
    Ok(blocking(move || Ok(unanswered(&journal, &call, error).into())).await?)
}

/// Does `work` on a thread that may block.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Wrong> + Send + 'static,
) -> Result<T, Wrong> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(format!("internal error in the server: {error}")))
}

fn answered<E>(looked: Result<Looked, E>) -> Result<Reply, Failed> {
    match looked {
        Ok(Looked::Answer(answer)) => Ok(answer.into()),
        Ok(Looked::Asks(question)) => Err(Failed::Asks(question)),
        Ok(Looked::NotYet(_)) | Err(_) => {
            Ok(error_answer("the server is stopping. Nothing was touched").into())
        }
    }
}
