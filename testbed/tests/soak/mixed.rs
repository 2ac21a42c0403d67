//! Mixed links on apps that are killed and hung, beside a person. The window manager restarts. The
//! apps judge. `DESKLINE_SOAK_MINUTES` sets the length of the run; a short run has half of the
//! apps.

use std::collections::{BTreeMap, VecDeque};
use std::process::{Child, Stdio};
use std::sync::atomic::Ordering;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use deskline_testbed::person::Person;
use deskline_testbed::watcher::Watcher;
use deskline_testbed::{Answer, Bed, Client, until};
use fastrand::Rng;
use rustix::process::{Pid, Signal, kill_process};

use crate::apps::{Act, Driven, KINDS, agents};
use crate::held::Held;
use crate::person::{self, Own, Shared};

const SHORT: Duration = Duration::from_secs(15);

/// The apps of a short run.
const FEW: usize = 5;

/// After this many links, resources must not grow any more.
const WARM: usize = 300;

/// A call that takes longer counts as hung.
const HANG: Duration = Duration::from_secs(45);

/// How many links are printed with a finding.
const LAST: usize = 8;

/// How long an app may take to log the effect of a link.
const SOON: Duration = Duration::from_secs(5);

/// An event in the middle of a link.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Harm {
    Kill,
    Stop,
    Manager,
}

impl Harm {
    /// The event in the middle of this link. A short run makes six to nine links.
    fn of(link: usize) -> Option<Self> {
        match link % 24 {
            1 | 13 => Some(Self::Stop),
            5 | 18 => Some(Self::Kill),
            3 => Some(Self::Manager),
            _ => None,
        }
    }
}

#[derive(Debug, Default)]
struct Report {
    links: usize,
    errors: BTreeMap<String, usize>,
    harms: BTreeMap<String, usize>,
    longest: Duration,
    /// Effects that were not requested, or that are missing although the answer reports success.
    wrong: Vec<String>,
    mixed: Vec<String>,
    lockouts: Vec<String>,
    leaks: Vec<String>,
    deaths: Vec<String>,
    /// How often the person's last switch to another window took effect during a later link, in
    /// which they did nothing.
    late_turns: usize,
    /// The person's letters that reached an app of the agent, but not its text.
    strays: usize,
}

impl Report {
    fn findings(&self) -> usize {
        let lists = [
            &self.wrong,
            &self.mixed,
            &self.lockouts,
            &self.leaks,
            &self.deaths,
        ];
        lists.iter().map(|list| list.len()).sum()
    }
}

struct Soak<'b> {
    bed: &'b Bed,
    server: Client,
    own: &'b [Own<'b>],
    apps: Vec<Driven<'b>>,
    shared: &'b Shared,
    rng: Rng,
    watcher: Watcher,
    probe: Person,
    manager: Option<Child>,
    /// The hung app, and the number of the link before which it continues.
    hung: Option<(usize, usize)>,
    /// Whether a link has left the pointer where it hovers.
    hovers: bool,
    held: Option<Held>,
    /// The agent's input that each of the person's windows has received.
    mixed: Vec<String>,
    /// The last links with their answers: a wrong effect may be a late effect of an earlier link.
    last: VecDeque<String>,
    report: Report,
}

/// Ends the person's work, also if the test fails.
struct Ends<'s>(&'s Shared);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::Relaxed);
    }
}

fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid.cast_signed()).unwrap();
    // The thread may have ended already.
    let _ = kill_process(pid, signal);
}

/// Stops an app. If the app holds a grab of the X server, as GTK 3 does for a moment to find the
/// window under the pointer, stopping it would block the person and the test too. Then it is
/// continued, and stopped later.
fn stops(bed: &Bed, pid: u32) {
    let mut holds_all = true;
    while holds_all {
        signal(pid, Signal::STOP);
        holds_all = thread::scope(|scope| {
            let answered = scope.spawn(|| bed.screen().sync());
            let holds_all = !within(SOON / 5, || answered.is_finished());
            if holds_all {
                signal(pid, Signal::CONT);
            }
            holds_all
        });
    }
}

fn within(time: Duration, mut is: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < time {
        if is() {
            return true;
        }
        sleep(Duration::from_millis(10));
    }
    is()
}

#[test]
fn links_beside_a_person_in_failing_apps_do_nothing_wrong() {
    let asked = std::env::var("DESKLINE_SOAK_MINUTES").ok();
    let minutes: Option<u64> = asked.map(|text| text.parse().expect("DESKLINE_SOAK_MINUTES"));
    let seed = std::env::var("DESKLINE_SEED").ok();
    let seed = seed.map_or_else(
        || fastrand::u64(..),
        |text| text.parse().expect("DESKLINE_SEED"),
    );
    println!("seed {seed}");
    let bed = Bed::with_other_managers(&["--watch"]);
    let server = bed.server(&["--keep", "200MiB,1d"]);
    let own = [("gtk3", 40), ("qt5", 400)].map(|(kit, y)| Own::open(&bed, &server, kit, y));
    let shared = Shared::default();
    let mut rng = Rng::with_seed(seed);
    let count = minutes.map_or(FEW, |_| KINDS.len());
    let kinds = KINDS.iter().enumerate().take(count);
    let mut soak = Soak {
        bed: &bed,
        server,
        own: &own,
        apps: kinds
            .map(|(n, kind)| Driven::start(&bed, *kind, n))
            .collect(),
        shared: &shared,
        rng: rng.fork(),
        watcher: Watcher::on(&bed),
        probe: Person::at(&bed),
        manager: None,
        hung: None,
        hovers: false,
        held: None,
        mixed: vec![String::new(); own.len()],
        last: VecDeque::new(),
        report: Report::default(),
    };
    let time = minutes.map_or(SHORT, |minutes| Duration::from_secs(60 * minutes));
    thread::scope(|scope| {
        scope.spawn(|| person::works(&bed, &own, &shared, rng));
        let _ends = Ends(&shared);
        let start = Instant::now();
        while start.elapsed() < time {
            soak.link();
        }
        soak.end();
    });
    let typed = shared.typed.load(Ordering::Relaxed);
    let arrived: usize = own.iter().map(|own| own.text().len()).sum();
    let report = std::mem::take(&mut soak.report);
    println!("{report:#?}");
    println!(
        "{} links in {time:?}, {} of them errors; the person acted {} times and typed {typed} letters: \
        {arrived} arrived, {} went into an app in front",
        report.links,
        report.errors.values().sum::<usize>(),
        shared.acts.load(Ordering::Relaxed),
        report.strays
    );
    // Check this first, so that the server's resources are printed in any case.
    if let Some(held) = soak.held.take() {
        soak.hold();
        held.is_all(&bed, &soak.server, report.links - WARM);
    }
    let found = [
        report.wrong,
        report.mixed,
        report.lockouts,
        report.leaks,
        report.deaths,
    ];
    assert_eq!(found.concat(), [""; 0]);
}

impl Soak<'_> {
    fn link(&mut self) {
        let link = self.report.links;
        self.report.links += 1;
        if self.hung.is_some_and(|(_, until)| link >= until) {
            self.goes_on();
        }
        if link == WARM {
            self.held = Some(self.hold());
        }
        let at = self.rng.usize(..self.apps.len());
        let token = format!("{link:06}{:06}", self.rng.u32(..1_000_000));
        let act = self.apps[at].any_act(&mut self.rng, token);
        let (tool, arguments) = self.apps[at].call(&act);
        // One app hangs at a time.
        let harm = Harm::of(link).filter(|harm| *harm != Harm::Stop || self.hung.is_none());
        let victim = if self.rng.bool() {
            at
        } else {
            self.rng.usize(..self.apps.len())
        };
        let harm = harm
            .filter(|harm| *harm != Harm::Kill || self.hung.is_none_or(|(hung, _)| hung != victim));
        // In some links the person does nothing, and then they must not notice anything.
        let alone =
            (harm.is_none() && self.rng.u8(..4) == 0).then(|| self.shared.desk.lock().unwrap());
        let screen = self.bed.screen();
        let before = (screen.front(), screen.pointer());
        let (pid, wait) = (
            self.apps[victim].app.pid,
            Duration::from_millis(self.rng.u64(..400)),
        );
        let start = Instant::now();
        let (answer, manager) = thread::scope(|scope| {
            let (bed, manager) = (self.bed, self.manager.take());
            let harming = scope.spawn(move || {
                sleep(wait);
                match harm {
                    Some(Harm::Kill) => signal(pid, Signal::KILL),
                    Some(Harm::Stop) => stops(bed, pid),
                    Some(Harm::Manager) => return Some(manager_restarts(bed, manager)),
                    None => {}
                }
                manager
            });
            let answer = self.server.call_timeout(tool, arguments.clone(), HANG);
            (answer, harming.join().unwrap())
        });
        self.manager = manager;
        self.report.longest = self.report.longest.max(start.elapsed());
        let done = self.note(link, &format!("{tool} {arguments}"), answer.as_ref());
        let known = self.report.findings();
        if let Some(turned_to) = alone {
            let now = (screen.front(), screen.pointer());
            let hovers = self.hovers || act == Act::Hover;
            // A window manager that has just started has no window in front yet, and may have
            // handled the person's last click only after the link began, as the display may.
            let late = now.0 != before.0 && *turned_to == Some(now.0);
            self.report.late_turns += usize::from(late);
            let front = before.0 == 0 || now.0 == before.0 || late;
            if !front || now.1 != before.1 && !hovers && !late {
                self.report.wrong.push(format!(
                    "link {link}, {tool}: front window and pointer were {before:?}, now {now:?}"
                ));
            }
        }
        match act {
            Act::Hover => self.hovers = true,
            Act::Look => {}
            _ if done => self.hovers = false,
            _ => {}
        }
        match harm {
            Some(Harm::Stop) => self.hung = Some((victim, link + self.rng.usize(2..5))),
            Some(Harm::Kill) => self.is_opened_anew(victim),
            _ => {}
        }
        if let Some(harm) = harm {
            *self.report.harms.entry(format!("{harm:?}")).or_default() += 1;
        }
        let killed = harm == Some(Harm::Kill) && victim == at;
        let said = answer
            .as_ref()
            .and_then(|answer| answer.get("error").or_else(|| answer.get("summary")))
            .unwrap_or_default();
        let [name, other] = [at, victim].map(|at| self.apps[at].name());
        self.last.push_back(format!(
            "link {link}: {act:?} in {name}, {harm:?} of {other}, done: {done}: {said}"
        ));
        if self.last.len() > LAST {
            self.last.pop_front();
        }
        self.judge((!killed).then_some(at), &act, done, link);
        self.check(link);
        if self.report.findings() > known {
            let text = answer.map(|answer| answer.text).unwrap_or_default();
            println!("{:#?}\n{text}", self.last);
        }
    }

    /// Whether the link succeeded. Counts its error, and prints the first of its kind.
    fn note(&mut self, link: usize, call: &str, answer: Option<&Answer>) -> bool {
        let Some(answer) = answer else {
            self.report
                .lockouts
                .push(format!("link {link}: no answer to {call}"));
            return false;
        };
        if answer.is_error {
            let known = self
                .report
                .errors
                .entry(kind_of(answer.error()))
                .or_default();
            if *known == 0 {
                println!("link {link}: {call}: {}", answer.error());
            }
            *known += 1;
        }
        !answer.is_error
    }

    /// Checks the logs of all apps. The app at `at` may show the effect of `act`.
    fn judge(&mut self, at: Option<usize>, act: &Act, done: bool, link: usize) {
        let hung = self.hung.map(|(hung, _)| hung);
        if let Some(at) = at.filter(|at| done && hung != Some(*at)) {
            let app = &self.apps[at];
            if !within(SOON, || app.shows(act)) {
                self.report.wrong.push(format!(
                    "link {link}: no effect of {act:?} in {}",
                    app.name()
                ));
            }
        }
        for (i, app) in self.apps.iter_mut().enumerate() {
            if hung == Some(i) {
                continue;
            }
            let own = (at == Some(i)).then_some(act);
            let judged = app.judge(own, done);
            let of = |what: String| format!("link {link}: {what}");
            self.report.wrong.extend(judged.wrong.into_iter().map(of));
            self.report.mixed.extend(judged.mixed.into_iter().map(of));
            self.report.strays += judged.strays;
        }
        let dead = (0..self.apps.len()).find(|i| !self.apps[*i].app.is_running());
        if let Some(dead) = dead {
            let dead_app = &mut self.apps[dead];
            let how = format!(
                "link {link}: {}: {}",
                dead_app.name(),
                dead_app.app.ending()
            );
            self.report.deaths.push(how);
            self.is_opened_anew(dead);
        }
    }

    /// Checks that no key is down, no overlay is left, and the person's input passes.
    fn check(&mut self, link: usize) {
        let _alone = self.shared.desk.lock().unwrap();
        let free = within(SOON, || self.bed.screen().pressed() == (vec![], 0));
        if !free {
            let pressed = self.bed.screen().pressed();
            self.report
                .leaks
                .push(format!("link {link}: {pressed:?} pressed"));
        }
        // The guard hides it without making the answer wait for it.
        if !within(SOON, || self.watcher.overlay().is_none()) {
            self.report
                .leaks
                .push(format!("link {link}: the overlay is up"));
        }
        let own = &self.own[link % self.own.len()];
        if link % 10 == 9 && !person::is_let_in(self.bed, &mut self.probe, own, self.shared) {
            self.report
                .lockouts
                .push(format!("link {link}: no key of the person's arrives"));
        }
        for (own, known) in self.own.iter().zip(&mut self.mixed) {
            let text = agents(&own.text());
            if text != *known && !text.is_empty() {
                self.report
                    .mixed
                    .push(format!("link {link}: the person's window has {text:?}"));
            }
            *known = text;
            let of = |what: String| format!("link {link}, the person's window: {what}");
            self.report.wrong.extend(own.wrong().into_iter().map(of));
        }
    }

    fn is_opened_anew(&mut self, at: usize) {
        let _alone = self.shared.desk.lock().unwrap();
        let app = self.apps.remove(at);
        self.apps.insert(at, app.anew());
    }

    /// Continues the hung app. Input that was sent to it meanwhile may take effect now.
    fn goes_on(&mut self) {
        let Some((at, _)) = self.hung.take() else {
            return;
        };
        let pid = self.apps[at].app.pid;
        signal(pid, Signal::CONT);
        until("an answer of the app that hung", || {
            let answer = self.server.refresh(pid);
            (!answer.is_error).then_some(())
        });
        self.apps[at].forgive();
    }

    /// The server's resources, after links in the same three apps.
    fn hold(&mut self) -> Held {
        self.goes_on();
        for app in &self.apps[..3] {
            self.server.refresh(app.app.pid).ok();
        }
        Held::by(self.bed, &self.server)
    }

    fn end(&mut self) {
        self.goes_on();
        let link = self.report.links;
        self.judge(None, &Act::Look, true, link);
        self.check(link.next_multiple_of(10) + 9);
        if let Some(mut manager) = self.manager.take() {
            let _ = manager.kill();
            let _ = manager.wait();
        }
    }
}

/// An error without its variable parts: numbers, names and quotes.
fn kind_of(error: &str) -> String {
    let plain = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase());
    let words: Vec<&str> = error.split(' ').filter(plain).take(9).collect();
    words.join(" ")
}

/// Restarts the window manager, and waits until it manages all windows again.
fn manager_restarts(bed: &Bed, running: Option<Child>) -> Child {
    let count = bed.screen().windows().len();
    match running {
        None => bed.end_manager(),
        Some(mut manager) => {
            manager.kill().unwrap();
            manager.wait().unwrap();
        }
    }
    let mut command = bed.command("xfwm4");
    command.arg("--compositor=off");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let manager = command.spawn().unwrap();
    within(2 * SOON, || bed.screen().windows().len() >= count);
    manager
}
