//! Measures all drivers on one app.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use deskline_atspi::{AtSpi, Windows};
use deskline_link::Scope;
use deskline_testbed::Bed;
use serde_json::Value;

use crate::driver::Driver;
use crate::mcp::Mcp;
use crate::subject::Subject;
use crate::usage::{buses, cpu_ms, memory_mb};

/// Repeat each measurement this often, or until the time is up.
const TIMES: usize = 15;
const TIME: Duration = Duration::from_secs(2);

/// Durations in milliseconds.
#[derive(Debug, Clone, Default)]
pub struct Times(Vec<f64>);

impl Times {
    pub fn add(&mut self, ms: f64) {
        self.0.push(ms);
        self.0.sort_by(f64::total_cmp);
    }

    /// The quantile at `part`; `None` if there are no values.
    pub fn at(&self, part: f64) -> Option<f64> {
        let last = self.0.len().checked_sub(1)?;
        self.0.get((last as f64 * part).round() as usize).copied()
    }

    pub fn median(&self) -> Option<f64> {
        self.at(0.5)
    }

    /// The minimum, which is the cost on a quiet machine.
    pub fn least(&self) -> Option<f64> {
        self.at(0.0)
    }
}

/// The measurements of one driver on one app.
#[derive(Debug, Clone, Default)]
pub struct Driven {
    pub name: &'static str,
    /// The first tree of a server that has just started, in milliseconds.
    pub first: Option<f64>,
    /// From the call to the answer with the whole tree, after the first.
    pub tree: Times,
    /// The traversal alone, if the driver reports it.
    pub traversal: Times,
    /// A traversal of what is showing, if the driver can do that.
    pub showing: Times,
    /// Elements in its tree.
    pub elements: usize,
    /// The size of a tree for the model, in bytes.
    pub bytes: usize,
    /// The size of the whole tree in bytes: Deskline's is in a file.
    pub whole: usize,
    /// From the click to the answer that should show its effect.
    pub click: Times,
    /// The same time without the time to settle.
    pub overhead: Times,
    /// The size of a click's answer for the model, in bytes.
    pub click_bytes: usize,
    /// Whether that answer is a diff, as opposed to a tree.
    pub diffs: bool,
    /// Whether that answer always showed the effect.
    pub tells: bool,
    /// CPU time of one tree: server, app, buses, in milliseconds.
    pub cpu: [f64; 3],
    /// Resident memory of the server at the end, in MB.
    pub memory: f64,
    /// How much the app's memory grew from its first tree on, in MB.
    pub grown: f64,
    /// Why something is missing.
    pub note: Option<String>,
}

/// The results of all drivers on one app.
#[derive(Debug)]
pub struct Outcome {
    /// The app.
    pub name: &'static str,
    /// By driver, Deskline first.
    pub driven: Vec<Driven>,
}

/// Measures all drivers on one app.
pub fn subject(bed: &Bed, subject: &Subject, drivers: &[Driver], peers: &Path) -> Outcome {
    let mut running = subject.start(bed);
    let mut outcome = Outcome {
        name: subject.name,
        driven: vec![],
    };
    for &driver in drivers {
        let pid = running.app.pid;
        let mut driven = Driven {
            name: driver.name(),
            diffs: driver.diffs(),
            ..Driven::default()
        };
        if let Err(why) = drive(bed, subject, pid, driver, peers, &mut driven) {
            driven.note = Some(why);
        }
        eprintln!("  {driven:.0?}");
        if driven.note.is_some() {
            // Start the app afresh for the next driver.
            drop(running);
            running = subject.start(bed);
        }
        outcome.driven.push(driven);
    }
    outcome
}

fn drive(
    bed: &Bed,
    subject: &Subject,
    pid: u32,
    driver: Driver,
    peers: &Path,
    driven: &mut Driven,
) -> Result<(), String> {
    let mut mcp = driver.start(bed, peers, subject)?;
    // The first call also pays for setup.
    let called = driver.tree(&mut mcp, pid, subject)?;
    driven.first = Some(called.ms);
    let mut last = called.text;
    let mut start = memory_mb(pid);
    let of = [
        vec![mcp.pid()],
        vec![pid],
        buses(&bed.environment()["DESKLINE_DESKTOP"]),
    ];
    let before = of.each_ref().map(|pids| cpu_ms(pids));
    let mut count = 0.0;
    repeat(|| {
        let called = driver.tree(&mut mcp, pid, subject)?;
        driven.tree.add(called.ms);
        last = called.text;
        count += 1.0;
        Ok::<_, String>(())
    })?;
    for (i, pids) in of.iter().enumerate() {
        driven.cpu[i] = (cpu_ms(pids) - before[i]) / count;
    }
    driven.elements = driver.count(&last);
    driven.bytes = last.len();
    let size = last
        .lines()
        .find_map(|line| line.strip_prefix("file_size: "));
    let size = size.and_then(|size| size.split(' ').next()?.parse().ok());
    driven.whole = size.unwrap_or(driven.bytes);
    driven.memory = memory_mb(mcp.pid());
    driven.grown = memory_mb(pid) - start;
    if driver == Driver::Deskline {
        traversals(bed, pid, driven).map_err(|e| e.to_string())?;
    }
    start = memory_mb(pid);
    clicks(subject, pid, driver, &mut mcp, driven)?;
    driven.grown += memory_mb(pid) - start;
    driven.memory = memory_mb(mcp.pid());
    if driver == Driver::Deskline {
        for step in steps(bed, "click_and_traverse") {
            let all = step.as_object().into_iter().flatten();
            let all: f64 = all.filter_map(|(_, ms)| ms.as_f64()).sum();
            driven.overhead.add(all - number(&step, "settle"));
        }
    }
    Ok(())
}

/// Our traversals alone, without server, journal and picture.
fn traversals(bed: &Bed, pid: u32, driven: &mut Driven) -> Result<(), deskline_link::Error> {
    let address = &bed.accessibility();
    let mut atspi = AtSpi::connect(address).map_err(deskline_link::Error::system("connecting"))?;
    let budget = Duration::from_millis(500);
    let whole = (Scope::Whole { budget }, &mut driven.traversal);
    let showing = (Scope::Showing, &mut driven.showing);
    for (scope, times) in [showing, whole] {
        repeat(|| {
            let start = Instant::now();
            atspi.read(pid, scope, &Windows::default())?;
            times.add(start.elapsed().as_secs_f64() * 1e3);
            Ok::<_, deskline_link::Error>(())
        })?;
    }
    Ok(())
}

fn clicks(
    subject: &Subject,
    pid: u32,
    driver: Driver,
    mcp: &mut Mcp,
    driven: &mut Driven,
) -> Result<(), String> {
    let mut tells = (0, 0);
    let mut target = driver.target(mcp, pid, subject)?;
    repeat(|| {
        let before = match driver {
            driver if driver.diffs() => String::new(),
            _ => driver.tree(mcp, pid, subject)?.text,
        };
        // Tokens of elements are invalid after the next reading in these two drivers.
        if matches!(driver, Driver::Cua | Driver::A11y) {
            target = driver.target(mcp, pid, subject)?;
        }
        // Two clicks within 500 ms are a double click. No agent clicks that fast.
        sleep(Duration::from_millis(550));
        let called = driver.click(mcp, pid, subject, target.clone())?;
        driven.click.add(called.ms);
        driven.click_bytes = called.text.len();
        tells.0 += usize::from(driver.tells(&before, &called.text));
        tells.1 += 1;
        if tells.0 < tells.1 {
            eprintln!("  told nothing: {:.300}", called.text);
        }
        Ok::<_, String>(())
    })?;
    driven.tells = tells.0 == tells.1;
    Ok(())
}

/// The journal's step times of the last calls of a tool.
fn steps(bed: &Bed, tool: &str) -> Vec<Value> {
    let lines = bed.journal_lines();
    let of_tool = lines
        .iter()
        .rev()
        .take_while(|l| l["tool"] == tool)
        .take(TIMES);
    of_tool.map(|line| line["steps_ms"].clone()).collect()
}

fn number(steps: &Value, name: &str) -> f64 {
    steps[name].as_f64().unwrap_or(0.0)
}

fn repeat<E>(mut once: impl FnMut() -> Result<(), E>) -> Result<(), E> {
    let start = Instant::now();
    for _ in 0..TIMES {
        once()?;
        if start.elapsed() > TIME {
            break;
        }
    }
    Ok(())
}
