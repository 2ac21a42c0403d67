//! `deskline replay`: repeats the links of a journal on this desktop, and stops at the first answer
//! that differs. So a run becomes a regression test of an app.

mod compare;
mod translate;

use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

use deskline_journal::{Journal, Outcome, Record};
use deskline_link::Cancel;
use deskline_mcp::{Dispatcher, Nobody};

use crate::cli::{ReplayArgs, Settings};
use crate::output::{Done, print};
use crate::run::{RESTORE, dispatcher, in_runtime, until_stopped};
use compare::Screen;
use translate::Translator;

/// `deskline replay`.
pub(crate) fn replay(settings: &Settings, args: &ReplayArgs) -> Done {
    let run = Journal::open_to_read(Some(&args.run))?;
    let records = run.records(usize::MAX)?;
    if records.is_empty() {
        return Err(format!("the log {} has no calls", run.path().display()).into());
    }
    // The replay has a journal of its own: in the run's journal its links would become a part of
    // the run.
    let folder = tempfile::Builder::new()
        .prefix("deskline-replay-")
        .tempdir()?;
    let mut own = settings.clone();
    own.dir.get_or_insert_with(|| folder.path().join("journal"));
    let journal = own.journal()?;
    if journal.path() == run.path() {
        return Err(
            "the replay would be written into the run itself: pass another --dir, or none".into(),
        );
    }
    let (dispatcher, _open) = dispatcher(&own)?;
    let same = in_runtime(async {
        let cancel = Cancel::new();
        let mut replay = Replay {
            dispatcher: &dispatcher,
            cancel: &cancel,
            translator: Translator::new(&run, &journal),
            run: &run,
            journal: &journal,
            args,
        };
        let same = until_stopped(&cancel, Box::pin(replay.all(&records))).await?;
        if cancel.reason().is_some() {
            return Err("stopped by a signal".into());
        }
        dispatcher.stop(RESTORE).await;
        same
    })?;
    if same {
        return Ok(ExitCode::SUCCESS);
    }
    if settings.dir.is_none() {
        let kept = folder.keep().join("journal");
        eprintln!("deskline: to look at it: deskline view {}", kept.display());
    }
    Ok(ExitCode::FAILURE)
}

/// The result of one link in this replay.
enum End {
    Same,
    /// The answer differs, as described.
    Differs(String),
    /// The call could not be made, for this reason.
    Impossible(String),
    /// The call was not made, because an earlier one differed or it was cancelled.
    Skipped,
}

struct Replay<'r> {
    dispatcher: &'r Dispatcher,
    cancel: &'r Cancel,
    translator: Translator<'r>,
    run: &'r Journal,
    journal: &'r Journal,
    args: &'r ReplayArgs,
}

impl Replay<'_> {
    /// Prints a line about each link. Whether none differs.
    async fn all(&mut self, records: &[Record]) -> Result<bool, Box<dyn Error>> {
        let mut same = true;
        for (number, record) in (1..).zip(records) {
            let start = Instant::now();
            let end = if !same || record.outcome == Outcome::Cancelled {
                End::Skipped
            } else {
                self.one(record).await?
            };
            let (word, why) = match &end {
                End::Same => ("same", None),
                End::Differs(how) => ("differs", Some(how)),
                End::Impossible(why) => ("impossible", Some(why)),
                End::Skipped => ("skipped", None),
            };
            same &= why.is_none();
            let Record {
                tool,
                arguments,
                answer,
                ..
            } = record;
            let words = deskline_view::words(tool, arguments, answer.as_deref());
            let (of, ms) = (records.len(), start.elapsed().as_millis());
            let mut line = format!("{number}/{of}  {word:10}  {words}  {ms} ms");
            if let Some(why) = why {
                line += "\n  ";
                line += &why.replace('\n', "\n  ");
            }
            print(&line)?;
        }
        Ok(same)
    }

    async fn one(&mut self, record: &Record) -> Result<End, Box<dyn Error>> {
        let applications = self.translator.lacks(record);
        let listed = if applications {
            self.call("list_applications", &serde_json::Map::new())
                .await?
                .text
        } else {
            String::new()
        };
        let arguments = match self.translator.arguments(record, &listed) {
            Ok(arguments) => arguments,
            Err(why) => return Ok(End::Impossible(why)),
        };
        let reply = self.call(&record.tool, &arguments).await?;
        self.translator.learn(record, &reply.text);
        let failed = matches!(record.outcome, Outcome::Error(_));
        if failed || reply.is_error {
            let error_of =
                |text: &str| compare::field(text, "error").unwrap_or_default().to_owned();
            return Ok(match (failed, reply.is_error) {
                (true, true) => End::Same,
                (true, false) => End::Differs("it failed then, and succeeds now".into()),
                _ => End::Differs(format!(
                    "the call is an error now: {}",
                    error_of(&reply.text)
                )),
            });
        }
        let was = Screen::of_record(self.run, record);
        let is = compare::file(&reply.text).map(|name| Screen::read(self.journal, &name));
        Ok(match (was, is) {
            (Some(was), Some(Some(is))) => was
                .differs(&is, &self.args.ignore)
                .map_or(End::Same, End::Differs),
            (None, _) => End::Impossible("its tree file is not in the run any more".into()),
            (_, _) => End::Differs("it has no tree file now".into()),
        })
    }

    async fn call(
        &self,
        tool: &str,
        arguments: &serde_json::Map<String, serde_json::Value>,
    ) -> Result<deskline_mcp::Reply, Box<dyn Error>> {
        Ok(self
            .dispatcher
            .call(tool, arguments, self.cancel, &Nobody)
            .await?)
    }
}
