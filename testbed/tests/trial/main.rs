//! Eight office tasks on a private desktop, done by a scripted agent as a good one would do them:
//! chains of steps that name elements by their visible text. Judged by files, by a web server and
//! by the apps' answers; the calls, bytes and seconds have bounds.
//!
//! `scripts/trial` runs it and prints the table. `DESKLINE_TRIAL_OUT` names a new folder to keep
//! the transcript, the journal and the documents in; `DESKLINE_TRIAL_SECONDS` is the bound of the
//! time, which a loaded machine does not keep.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod agent;
mod office;
mod tools;

use std::path::Path;
use std::time::{Duration, Instant};

use agent::{Agent, Cost, Failed};

/// The most that the eight tasks may cost together.
const CALLS: usize = 45;
const BYTES: usize = 45_000;
const SECONDS: u64 = 180;
const TOOL_LIST: usize = 12_000;

/// A task: files go into the folder.
type Task = fn(&mut Agent, &Path) -> Result<(), Failed>;

static TASKS: [(&str, Task); 8] = [
    ("a note, mousepad", office::note),
    ("a sum, gnome-calculator", tools::sum),
    ("a sheet as CSV, Calc", office::sheet),
    ("a letter as PDF, Writer", office::letter),
    ("a file renamed, one moved, thunar", tools::files),
    ("a form, Chromium", tools::form),
    ("a name replaced, featherpad", tools::replace),
    ("a value looked up in a PDF, evince", tools::look_up),
];

#[test]
fn eight_office_tasks_are_done_in_few_calls() {
    let (temporary, kept) = (tempdir(), std::env::var_os("DESKLINE_TRIAL_OUT"));
    let folder = kept.as_deref().map_or(temporary.path(), Path::new);
    if kept.is_some() {
        std::fs::create_dir(folder).expect("a new folder");
    }
    let mut agent = Agent::new(&folder.join("journal"));
    let tool_list = agent.tool_list();
    let mut total = Cost::default();
    let mut failures = Vec::new();
    println!("\n| task | calls | bytes | seconds | pictures |\n|---|---|---|---|---|");
    for (name, task) in TASKS {
        let outcome = task(&mut agent, folder);
        let cost = agent.spent();
        print_row(name, cost);
        total += cost;
        if let Err(why) = outcome {
            failures.push(format!("{name}: {why}"));
        }
    }
    print_row("total", total);
    println!("\ntool list: {tool_list} bytes");
    std::fs::write(folder.join("transcript.txt"), agent.transcript()).unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(total.calls <= CALLS, "{} calls", total.calls);
    assert!(total.bytes <= BYTES, "{} bytes", total.bytes);
    let seconds = std::env::var("DESKLINE_TRIAL_SECONDS");
    let seconds = seconds.map_or(SECONDS, |seconds| seconds.parse().unwrap());
    let time = total.time;
    assert!(time <= Duration::from_secs(seconds), "{time:?} in tools");
    assert!(tool_list <= TOOL_LIST, "tool list: {tool_list} bytes");
}

fn tempdir() -> tempfile::TempDir {
    let mut builder = tempfile::Builder::new();
    builder.prefix("deskline-trial-").tempdir().unwrap()
}

fn print_row(name: &str, cost: Cost) {
    let Cost {
        calls,
        bytes,
        time,
        pictures,
    } = cost;
    let seconds = time.as_secs_f64();
    println!("| {name} | {calls} | {bytes} | {seconds:.1} | {pictures} |");
}

/// Waits until a value is the wanted one: apps write files after they have answered.
fn becomes<T: PartialEq + std::fmt::Debug>(
    what: &str,
    wanted: &T,
    mut look: impl FnMut() -> T,
) -> Result<(), Failed> {
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        let found = look();
        if found == *wanted {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(format!("{what}: {found:?}, not {wanted:?}"));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The content of a file; empty if there is none.
fn content(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}
