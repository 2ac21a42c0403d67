//! The script: which event happens before or after which call, the desktop's properties, and the
//! log of calls.

use std::collections::HashMap;
use std::time::Duration;

use deskline_core::{ElementId, Point};
use deskline_input::clock;
use deskline_input::{InputError, Progress, Reason};
use deskline_link::{
    Aim, Cancel, Error, Exit, Obstacle, QuietAction, Refusal, Result, Window, WindowId,
};

use crate::world::{Health, ScriptWindow, World};

/// An event that the link does not cause: the person or an app causes it.
pub(crate) trait Happens: FnOnce(&mut World) + Send + 'static {}

impl<T: FnOnce(&mut World) + Send + 'static> Happens for T {}

pub(crate) type Happening = Box<dyn FnOnce(&mut World) + Send>;

/// The pid of the app that starts.
pub(crate) type Start = fn(&mut World) -> u32;

/// When an event happens.
pub(crate) enum When {
    /// Before the call with this number in the link, counted from 1.
    Before(usize),
    /// After the first call whose line in the log begins with this.
    After(&'static str),
    /// Once the link has waited this long for changes.
    Waited(Duration),
}

/// The script, and the calls so far.
// The booleans are independent switches.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) world: World,
    pub(crate) happenings: Vec<(When, Happening)>,
    /// How long the link has waited for changes.
    pub(crate) waited: Duration,
    /// When an app told that it had switched a control, in `waited`.
    pub(crate) switched: Option<Duration>,
    /// A line for each call.
    pub(crate) calls: Vec<String>,
    /// Why there is no guard.
    pub(crate) unable: Option<&'static str>,
    /// How ended apps have ended, if this desktop reports it.
    pub(crate) exit: Option<Exit>,
    /// For how many more questions apps report that they have computed, and for how long.
    pub(crate) computes: usize,
    pub(crate) computed: Duration,
    /// Whether nobody can be sitting at this desktop.
    pub(crate) private: bool,
    /// Whether this desktop reports the person's key and button presses.
    pub(crate) watches: bool,
    /// Whether the guard may hold on while an app settles.
    pub(crate) holds_on: bool,
    pub(crate) connections: u32,
    /// Whether apps answer with text that cannot be parsed.
    pub(crate) garbled: bool,
    pub(crate) listening: bool,
    pub(crate) aim: Option<Aim>,
    /// Why the person's clipboard cannot be saved.
    pub(crate) unsaved: Option<&'static str>,
    /// The saved clipboard, while the agent's text is on it.
    pub(crate) saved: Option<String>,
    /// Whether a paste key has pasted, and whether apps know this paste key.
    pub(crate) pasted: bool,
    pub(crate) pastes: bool,
    /// Whether apps let accessibility choose in a combo box.
    pub(crate) chooses: bool,
    /// Whether the toolkit sends no event while elements move.
    pub(crate) moves_silently: bool,
    /// The abilities that this desktop lacks, each with the reason: methods of `Display`,
    /// `display` for all of them, and the facts `pids`, `extents` and `pointer`.
    pub(crate) lacks: HashMap<&'static str, &'static str>,
    /// How many looks at a started app find no window yet.
    pub(crate) slow: usize,
    pub(crate) started: Option<u32>,
    /// The programs of processes, if the system reports them.
    pub(crate) programs: Vec<(u32, &'static str)>,
    /// The app that `open` starts.
    pub(crate) installed: Vec<(&'static str, Start)>,
}

impl Script {
    pub(crate) fn new(world: World) -> Self {
        Self {
            world,
            exit: Some(Exit::Unknown),
            watches: true,
            pastes: true,
            ..Self::default()
        }
    }

    pub(crate) fn fire(&mut self, due: impl Fn(&When) -> bool) {
        while let Some(at) = self.happenings.iter().position(|(when, _)| due(when)) {
            let (_, happens) = self.happenings.remove(at);
            happens(&mut self.world);
        }
    }

    /// Lets time pass while the link waits, until something happens.
    pub(crate) fn pass(&mut self, time: Duration) {
        let until = self.waited + time;
        let due = |when: &When| match when {
            When::Waited(after) if *after <= until => Some(*after),
            _ => None,
        };
        let next = self
            .happenings
            .iter()
            .filter_map(|(when, _)| due(when))
            .min();
        let now = next.unwrap_or(until);
        clock::pass(now.saturating_sub(self.waited));
        self.waited = now;
        self.fire(|when| matches!(when, When::Waited(after) if *after <= now));
    }

    /// An error, unless the app answers.
    pub(crate) fn answers(&self, pid: u32) -> Result<()> {
        if self.garbled {
            return Err(Error::system("talking to the app")("a malformed reply"));
        }
        match self.world.health(pid) {
            Health::Well => Ok(()),
            Health::Dead => Err(Error::NoProcess(pid)),
            Health::Hung => Err(Error::NotAnswering {
                app: self.world.name(pid),
                pid,
                ms: 2_000,
            }),
        }
    }

    /// The app that owns an element, if the element still exists.
    pub(crate) fn owner(&mut self, id: &ElementId) -> Result<u32> {
        let mut windows = self.world.stack.iter();
        let owner = windows.find(|w| w.nodes.iter().any(|n| n.id == id.as_str()));
        let pid = owner
            .map(|w| w.pid)
            .ok_or_else(|| refused(Obstacle::Gone))?;
        self.answers(pid).map(|()| pid)
    }

    /// Whether the target is at this place.
    pub(crate) fn require_place(&self, at: Point) -> Result<()> {
        let other = self.aim.and_then(|aim| self.lies_over(aim, at));
        other.map_or(
            Ok(()),
            |other| Err(InputError::Covered { other, at }.into()),
        )
    }

    /// Whether a drag would end in its target.
    pub(crate) fn require_end(&self, at: Point) -> Result<()> {
        let other = self.aim.and_then(|aim| self.lies_over(aim.at_end(), at));
        other.map_or(Ok(()), |other| {
            Err(InputError::EndCovered { other, at }.into())
        })
    }

    /// The window that covers the target at this point, if there is one.
    fn lies_over(&self, aim: Aim, at: Point) -> Option<Window> {
        let (there, _) = self.world.lies_at(at)?;
        let same = aim.window.is_none_or(|id| id.0 == there.id);
        let is_aim = there.pid == aim.pid && (same || there.menu);
        (!is_aim).then(|| other(there))
    }

    pub(crate) fn require_front(&self, typed: usize, all: usize) -> Result<()> {
        match (self.aim, self.world.front()) {
            (Some(aim), Some(front)) if front.pid != aim.pid => {
                let (other, unsure) = (other(front), 0);
                let progress = Progress::Typed { typed, all, unsure };
                Err(InputError::Elsewhere { other, progress }.into())
            }
            _ => Ok(()),
        }
    }

    /// A window as this desktop reports it: some desktops report no pid or no extents.
    pub(crate) fn known(&self, window: &ScriptWindow) -> Window {
        Window {
            id: WindowId(window.id),
            pid: (!self.lacks.contains_key("pids")).then_some(window.pid),
            title: window.title.clone(),
            extents: (!self.lacks.contains_key("extents")).then_some(window.at),
            ..Window::default()
        }
    }

    /// Types a text key by key. Half way through, an event may happen.
    pub(crate) fn typed(&mut self, text: &str, cancel: &Cancel) -> Result<()> {
        self.world.keys_down = true;
        let all = text.chars().count();
        for (typed, key) in text.chars().enumerate() {
            if typed == all / 2 {
                self.fire(|when| matches!(when, When::After("half")));
            }
            cancel.check()?;
            self.require_front(typed, all)?;
            self.world.key(key);
        }
        self.world.keys_down = false;
        Ok(())
    }
}

pub(crate) fn refused(obstacle: Obstacle) -> Error {
    Error::Refused(Refusal {
        action: QuietAction::Press,
        obstacle,
    })
}

fn other(window: &ScriptWindow) -> Window {
    Window {
        title: window.title.clone(),
        pid: Some(window.pid),
        ..Window::default()
    }
}

/// The person's input. While the guard is closed, it reaches no app.
pub(crate) mod person {
    use super::{Point, Reason, World};

    fn acts(world: &mut World, act: impl FnOnce(&mut World)) {
        if world.guarded {
            world.kept_out += 1;
        } else {
            act(world);
        }
    }

    pub(crate) fn moves(x: i32, y: i32) -> impl Fn(&mut World) + Copy {
        move |world| acts(world, |world| world.pointer = Point { x, y })
    }

    pub(crate) fn types(world: &mut World) {
        acts(world, |world| {
            world.person = world.person.map(|_| true);
            world.key('p');
        });
    }

    /// Switches by a key or a click, which count as presses.
    pub(crate) fn switches_to(window: u64) -> impl Fn(&mut World) + Copy {
        move |world| {
            acts(world, |world| {
                world.person = world.person.map(|_| true);
                world.raise(window);
            });
        }
    }

    /// Esc is noticed while the guard is closed, and after that until the end of the link.
    pub(crate) fn presses_esc(world: &mut World) {
        if let Some(ear) = &world.ear {
            ear.cancel(Reason::Person);
        }
    }
}
