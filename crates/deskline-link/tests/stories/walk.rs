//! A random walk of links: after each, all promises are checked. `DESKLINE_WALK` is the number of
//! links, `DESKLINE_SEED` the first session's seed. A failure names the seed and the link.

mod answers;
mod calls;
mod happenings;
mod person;
mod trees;

use std::time::{Duration, Instant};

use deskline_input::clock;
use deskline_link::{Action, Call, Input};
use fastrand::Rng;

use crate::story::Story;
use crate::world::World;
use answers::Answered;
use happenings::{Log, Shared};
use person::Person;
use trees::Seen;

/// The links of a session: a desktop of its own, on which the server is restarted at times.
const SESSION: usize = 40;

/// The longest time that a step may take. The longest waits are for a hung app in which a text is
/// pasted, and for a field that never appears.
const STEP: Duration = Duration::from_secs(12);

fn from_environment(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(default, |text| text.parse().expect(name))
}

#[test]
fn the_promises_hold_after_each_link_of_a_random_walk() {
    let links = from_environment("DESKLINE_WALK", 1_000) as usize;
    let first = from_environment("DESKLINE_SEED", 0);
    let (start, mut errors, mut longest) = (Instant::now(), 0, Duration::ZERO);
    let seeds = (0..links.div_ceil(SESSION)).map(|session| first + session as u64);
    // In session 5772 an element is hidden when it is added, and visible later.
    for seed in seeds.chain([5772]) {
        let mut walk = Walk::new(seed);
        for link in 0..SESSION {
            walk.link(link);
        }
        errors += walk.errors;
        longest = longest.max(walk.longest);
    }
    let took = start.elapsed();
    println!("{links} links in {took:?}, {errors} of them errors, the longest took {longest:?}");
}

struct Walk {
    seed: u64,
    rng: Rng,
    story: Story,
    log: Shared,
    person: Person,
    seen: Seen,
    errors: usize,
    longest: Duration,
}

impl Walk {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let story = Story::new();
        let log = Shared::default();
        story.given(|world| {
            *world = World::new();
            for _ in 0..3 {
                happenings::app_starts(world, &mut rng, &log);
            }
        });
        {
            let mut script = story.script();
            script.private = rng.u8(..) < 20;
            script.watches = rng.u8(..) > 20;
            script.holds_on = seed.is_multiple_of(2);
            script.chooses = rng.bool();
            script.pastes = rng.u8(..) > 20;
            if rng.u8(..) < 20 {
                script.unable = Some("the script says so");
            }
            let abilities = ["guard", "pictures", "raising", "pids", "extents", "pointer"];
            if let Some(lacks) = rng.choice(abilities).filter(|_| rng.u8(..) < 40) {
                script.lacks.insert(lacks, "the script says so");
            }
        }
        let person = story.given(|world| Person::new(world));
        Self {
            seed,
            rng,
            story,
            log,
            person,
            seen: Seen::default(),
            errors: 0,
            longest: Duration::ZERO,
        }
    }

    /// One link, with random events before and during it, then a check of all promises.
    fn link(&mut self, number: usize) {
        let Self {
            rng,
            story,
            log,
            person,
            seen,
            ..
        } = self;
        {
            let mut log = log.lock().unwrap();
            let next = log.next;
            *log = Log {
                next,
                ..Log::default()
            };
        }
        story.given(|world| {
            happenings::between_links(world, rng, log);
            person.before(world, log);
        });
        if rng.u8(..) < 8 {
            // The next server process does not know what its predecessor had still to restore.
            story.restart();
            seen.forget_trees();
            *person = story.given(|world| Person::new(world));
            story.given(|world| person.before(world, log));
        }
        let call = story.given(|world| calls::any(rng, log, world, &seen.refs()));
        for _ in 0..rng.usize(..3) {
            let (when, happens) = happenings::any(rng, log);
            story.script().happenings.push((when, happens));
        }
        let before = story.given(|world| Before::new(world));
        let lines = story.journal().lines().count();
        let (start, real) = (clock::Instant::now(), Instant::now());
        story.run_call(&call);
        let took = start.elapsed();
        story.script().happenings.clear();
        let listening = story.script().listening;
        let fail = |why: String| -> ! {
            let file = std::fs::read_to_string(story.field("file")).unwrap_or_default();
            panic!(
                "seed {}, link {number}: {why}\n{call:?}\n{}\n{file}\n{}\n{}",
                self.seed,
                story.text(),
                story.calls().join("\n"),
                story.seen()
            )
        };
        let check = |result: Result<(), String>| result.unwrap_or_else(|why| fail(why));
        let happened = log.lock().unwrap();
        let broken = story.given(|world| std::mem::take(&mut world.broken));
        let harmed = broken || happened.panicked || happened.broken;

        let bound = STEP * u32::try_from(call.actions().count() * 3).unwrap();
        if took.max(real.elapsed()) > bound {
            fail(format!("it took {took:?}, and {:?} really", real.elapsed()));
        }
        if listening && !harmed {
            fail("the events of an app are still listened to".into());
        }
        let private = story.script().private;
        let lacks = story.script().lacks.clone();
        check(story.given(|world| let_go(world, harmed)));
        let mut known = false;
        if lacks.is_empty() && !private {
            let link = person::Link {
                call: &call,
                is_error: story.is_error(),
                hands_over: story.text().contains("\napp_switch: "),
                harmed,
                happened: &happened,
            };
            let still = story.given(|world| person.after(world, &link));
            known = still.unwrap_or_else(|why| fail(why));
        }
        let full = lacks.is_empty() && story.script().watches;
        if full && !happened.panicked {
            check(story.given(|world| before.only_the_target_was_reached(world, &call)));
        }
        let answered = Answered::parse(story.text(), story.is_error());
        let answered = answered.unwrap_or_else(|why| fail(why));
        check(answers::journal_line(
            &story.journal(),
            lines,
            &call,
            &answered,
        ));
        check(answers::secrets(story, &call, before.opened));
        check(seen.learn(&call, &answered));
        drop(happened);
        if !known {
            story.restart();
            seen.forget_trees();
            story.given(|world| *person = Person::new(world));
        }
        self.errors += usize::from(answered.is_error);
        self.longest = self.longest.max(took);
    }
}

/// No key is pressed, no device held, no clipboard lent and no app listened to.
fn let_go(world: &mut World, harmed: bool) -> Result<(), String> {
    let kept = [
        (world.guarded, "the guard holds"),
        (world.keys_down, "a key is down"),
        (world.ear.is_some() && !harmed, "Esc is listened for"),
        (
            world.person.is_some() && !harmed,
            "the person is still watched",
        ),
        (
            world.clipboard != "theirs" && !harmed,
            "the clipboard is not theirs",
        ),
    ];
    world.guarded = false;
    world.ear = None;
    world.person = None;
    world.clipboard = "theirs".into();
    match kept.into_iter().find(|(is, _)| *is) {
        Some((_, what)) => Err(what.to_owned()),
        None => Ok(()),
    }
}

/// The input that had reached apps before a link, and how many windows had opened.
struct Before {
    reached: usize,
    opened: usize,
}

impl Before {
    fn new(world: &World) -> Self {
        Self {
            reached: world.reached.len(),
            opened: world.opened.len(),
        }
    }

    /// The agent's input reached only the target, an app that opened a window meanwhile, or the app
    /// where the drag was to end. `p` is the person's key.
    fn only_the_target_was_reached(&self, world: &World, call: &Call) -> Result<(), String> {
        let to = call.actions().find_map(|action| match action {
            Action::Input(Input::Drag { to_pid, .. }) => *to_pid,
            _ => None,
        });
        let meant = |app: &str| {
            let pid = world.apps.iter().find(|(known, _)| known.name == app);
            let Some(pid) = pid.map(|(app, _)| app.pid) else {
                return true;
            };
            let came = world.opened[self.opened..].iter().any(|(_, of)| *of == pid);
            Some(pid) == call.pid || Some(pid) == to || came || call.action.opens()
        };
        for reached in &world.reached[self.reached..] {
            let (app, what) = reached.split_once(": ").unwrap_or((reached, ""));
            if what != "p" && !meant(app) {
                return Err(format!("the input reached another app: {reached}"));
            }
        }
        Ok(())
    }
}
