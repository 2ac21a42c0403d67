//! Measures the cost of successive links: a click with the person's window in front and with the
//! app's own, a chain of ten, how often an app still changes after the answer, and the cost of a
//! subscription while no call runs.
//!
//! With `--beside BIN`, another build of Deskline is measured in the same run, in turns.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use deskline_testbed::{Bed, deskline};
use serde_json::{Value, json};

use crate::driver::Driver;
use crate::late::Late;
use crate::mcp::{Mcp, serve};
use crate::measure::Times;
use crate::subject::{ALL, Subject};
use crate::usage::{buses, cpu_ms};

/// Two clicks within 500 ms are a double click. No agent clicks that fast.
const BETWEEN: Duration = Duration::from_millis(550);

/// Subjects that a whole run leaves out, so that it stays under 20 minutes: they resemble others.
const LIKE_OTHERS: [&str; 3] = ["kcalc", "GTK 3, 10,000 nodes", "Chromium, 500"];

/// The number of links in one server's turn. The first is not a second link, so it is not counted.
const TURN: usize = 6;

/// The extent of the measurements.
#[derive(Debug, Clone)]
pub struct Extent {
    /// The number of counted links of each kind, for each app.
    pub links: usize,
    /// How long the CPU time between calls is measured.
    pub idle: Duration,
    /// Another build of Deskline.
    pub beside: Option<PathBuf>,
}

/// The measurements of one build on one app.
#[derive(Debug, Default)]
struct Measured {
    /// A click with the person's window in front, and with the app's own.
    links: [Times; 2],
    steps: BTreeMap<String, Times>,
    chain: Times,
    late: Late,
    /// CPU time of app and bus during the idle time, in milliseconds: with a subscription, and
    /// before any call.
    idle: [f64; 2],
}

/// The results as Markdown tables. `only` is a part of the subjects' names.
pub fn markdown(bed: &Bed, only: &str, extent: &Extent) -> String {
    let mut out = String::from(
        "| app | build | click, your window in front, ms | the app's in front, ms | \
         resolve / act / settle / read back, your window in front, ms | ten steps, ms | \
         links with late changes | \
         app and bus between calls, ms of CPU a minute: subscribed / never asked |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    let wanted = |s: &&Subject| match only {
        "" => !LIKE_OTHERS.contains(&s.name),
        only => s.name.contains(only),
    };
    for subject in ALL.iter().filter(wanted) {
        eprintln!("{}: links", subject.name);
        let measured = measure(bed, subject, extent);
        for (build, result) in measured {
            match result {
                Ok(measured) => row(&mut out, subject.name, build, &measured, extent),
                Err(why) => {
                    let _ = writeln!(out, "| {} | {build} | {why} | | | | | |", subject.name);
                }
            }
        }
    }
    out
}

fn row(out: &mut String, app: &str, build: &str, measured: &Measured, extent: &Extent) {
    let ms = |times: Option<&Times>| {
        times
            .and_then(Times::median)
            .map_or("–".into(), |ms| format!("{ms:.0}"))
    };
    let step = |name| ms(measured.steps.get(name));
    let all: Vec<String> = measured
        .steps
        .iter()
        .map(|(name, t)| format!("{name} {}", ms(Some(t))))
        .collect();
    eprintln!("  {build}: {}", all.join(", "));
    let Late {
        changed: late,
        links: of,
        timed: _,
    } = measured.late;
    let minute = 60.0 / extent.idle.as_secs_f64().max(1.0);
    let [with, without] = measured.idle.map(|ms| ms * minute);
    let [behind, front] = measured.links.each_ref().map(|times| {
        let least = times.least().unwrap_or(f64::NAN);
        format!("{} ({least:.0})", ms(Some(times)))
    });
    let steps = ["resolve", "act", "settle", "read_back"]
        .map(step)
        .join(" / ");
    let _ = writeln!(
        out,
        "| {app} | {build} | {behind} | {front} | {steps} | {} | {late} of {of} | {with:.0} / {without:.0} |",
        ms(Some(&measured.chain)),
    );
}

/// One build's server on one app.
struct Build {
    name: &'static str,
    server: Mcp,
    journal: PathBuf,
    target: Value,
    measured: Measured,
    failed: Option<String>,
}

impl Build {
    fn start(bed: &Bed, name: &'static str, binary: &Path) -> Result<Self, String> {
        let journal = bed.path(&format!("journal-{name}"));
        let server = serve(bed, binary, &journal)?;
        Ok(Self {
            name,
            server,
            journal,
            target: Value::Null,
            measured: Measured::default(),
            failed: None,
        })
    }

    /// The step times of the last call.
    fn last_steps(&self) -> BTreeMap<String, f64> {
        let log = std::fs::read_to_string(self.journal.join("journal.jsonl")).unwrap_or_default();
        let line: Value = log
            .lines()
            .last()
            .and_then(|l| serde_json::from_str(l).ok())
            .unwrap_or_default();
        let steps = line["steps_ms"].as_object().into_iter().flatten();
        steps
            .filter_map(|(name, ms)| Some((name.clone(), ms.as_f64()?)))
            .collect()
    }

    /// The subject's element by its ref: a click may change its text.
    fn target(&mut self, pid: u32, subject: &Subject) -> Result<Value, String> {
        if self.target.is_null() {
            self.target = Driver::Deskline.target(&mut self.server, pid, subject)?;
        }
        Ok(self.target.clone())
    }

    /// A turn of second links, with the person's window in front or with the app's own.
    fn links(&mut self, pid: u32, subject: &Subject, in_front: bool) -> Result<(), String> {
        let click = self.target(pid, subject)?;
        for turn in 0..TURN {
            sleep(BETWEEN);
            let called = self.server.call("click_and_traverse", click.clone())?;
            if turn == 0 {
                continue;
            }
            self.measured.links[usize::from(in_front)].add(called.ms);
            if in_front {
                continue;
            }
            for (step, ms) in self.last_steps() {
                self.measured.steps.entry(step).or_default().add(ms);
            }
        }
        Ok(())
    }

    /// A chain of ten presses.
    fn chain(&mut self, pid: u32, subject: &Subject) -> Result<(), String> {
        let mut press = self.target(pid, subject)?;
        press["do"] = json!("press_ax");
        press.as_object_mut().map(|press| press.remove("pid"));
        let steps = vec![press; 10];
        let called = self
            .server
            .call("chain_and_traverse", json!({"pid": pid, "steps": steps}));
        match called {
            Ok(called) => self.measured.chain.add(called.ms),
            // 0.1.0 has no chains.
            Err(why) if why.contains("unknown tool") || why.contains("tool not found") => {}
            Err(why) => return Err(why),
        }
        Ok(())
    }
}

type Results = Vec<(&'static str, Result<Measured, String>)>;

fn measure(bed: &Bed, subject: &Subject, extent: &Extent) -> Results {
    let running = subject.start(bed);
    let pid = running.app.pid;
    let person = bed.mousepad("").0;
    let window = |pid| bed.screen().windows_of(pid)[0].id;
    let (theirs, its) = (window(person.pid), window(pid));
    let own = deskline();
    let binaries = [
        ("this", Some(Path::new(&own))),
        ("earlier", extent.beside.as_deref()),
    ];
    let buses = buses(&bed.environment()["DESKLINE_DESKTOP"]);
    let used = || cpu_ms(&[pid]) + cpu_ms(&buses);
    let over = |time: Duration| {
        // Wait until the work that the start or the last call has caused is over.
        sleep(Duration::from_secs(1));
        let before = used();
        sleep(time);
        used() - before
    };
    let untouched = over(extent.idle);
    let mut builds = vec![];
    let mut results: Results = vec![];
    for (name, binary) in binaries {
        let Some(binary) = binary else { continue };
        match Build::start(bed, name, binary) {
            Ok(build) => builds.push(build),
            Err(why) => results.push((name, Err(why))),
        }
    }
    let mut turns = |each: &mut dyn FnMut(&mut Build) -> Result<(), String>| {
        for build in builds.iter_mut().filter(|b| b.failed.is_none()) {
            build.failed = each(build).err();
        }
    };
    for _ in 0..extent.links.div_ceil(TURN - 1) {
        for (in_front, window) in [(false, theirs), (true, its)] {
            bed.screen().bring_to_front(window);
            turns(&mut |build| build.links(pid, subject, in_front));
        }
    }
    bed.screen().bring_to_front(theirs);
    for _ in 0..extent.links.div_ceil(5) {
        turns(&mut |build| build.chain(pid, subject));
    }
    for round in 0..extent.links {
        let all = subject.varied;
        let link = &all[round % all.len()];
        turns(&mut |build| {
            build
                .measured
                .late
                .link(build.name, &mut build.server, pid, link, subject.timers);
            Ok(())
        });
    }
    for build in builds {
        let result = build.failed.map_or(Ok(build.measured), Err);
        results.push((build.name, result));
    }
    // Measure each build with only its own server running.
    for (name, binary) in binaries {
        let result = results.iter_mut().find(|(of, _)| *of == name);
        let (Some(binary), Some((_, Ok(measured)))) = (binary, result) else {
            continue;
        };
        let idle = Build::start(bed, name, binary).and_then(|mut build| {
            // Any link subscribes. The clicked element may have another text by now, so read the
            // app.
            let tab = json!({"pid": pid, "keyName": "Tab"});
            build.server.call("press_key_and_traverse", tab)?;
            Ok(over(extent.idle))
        });
        measured.idle = [idle.unwrap_or(f64::NAN), untouched];
    }
    results
}
