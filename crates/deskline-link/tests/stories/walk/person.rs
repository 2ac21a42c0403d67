//! The promise to the person: their front window and pointer are back after each link.

use deskline_core::Point;
use deskline_link::{Action, Call, Input};

use super::happenings::{Log, Shared};
use crate::world::World;

/// What the person has in front of them.
pub(super) struct Person {
    front: Option<u64>,
    pointer: Point,
    owes: Owes,
    /// The desktop at the start of the link.
    windows_then: Vec<u64>,
}

/// What a link has left to a later one to put back.
#[derive(Clone, Copy, PartialEq)]
enum Owes {
    Nothing,
    /// All, once the menu closes.
    Menu,
    /// The pointer, which hovers here.
    Pointer(Point),
}

/// A link, and what happened during it.
pub(super) struct Link<'l> {
    pub(super) call: &'l Call,
    pub(super) is_error: bool,
    /// Whether the answer reports a handoff: then nothing is put back.
    pub(super) hands_over: bool,
    /// Whether a part of the desktop broke: then the restore may have failed.
    pub(super) harmed: bool,
    pub(super) happened: &'l Log,
}

impl Link<'_> {
    fn hovers(&self) -> bool {
        let hover = |action: &Action| matches!(action, Action::Input(Input::Hover { .. }));
        self.call.actions().any(hover)
    }

    /// Whether it may have ended before it took over what an earlier link owes.
    fn may_only_look(&self) -> bool {
        let looks = |action: &Action| matches!(action, Action::Refresh | Action::WaitFor { .. });
        self.is_error || self.call.actions().all(looks)
    }
}

fn front(world: &World) -> Option<u64> {
    world.front().map(|w| w.id)
}

fn menu_open(world: &World) -> bool {
    world.stack.iter().any(|w| w.menu)
}

impl Person {
    pub(super) fn new(world: &World) -> Self {
        Self {
            front: front(world),
            pointer: world.pointer,
            owes: Owes::Nothing,
            windows_then: Vec::new(),
        }
    }

    /// Right before a link.
    pub(super) fn before(&mut self, world: &World, log: &Shared) {
        let mut log = log.lock().unwrap();
        if matches!(self.owes, Owes::Pointer(at) if at != world.pointer) {
            self.owes = Owes::Nothing;
        }
        if self.owes == Owes::Nothing || !log.moved.is_empty() {
            self.pointer = world.pointer;
        }
        self.front = front(world);
        log.switched.clear();
        log.moved.clear();
        self.windows_then = world.stack.iter().map(|w| w.id).collect();
    }

    /// Right after it. `false` once it is not known any more what is owed to the person: that of
    /// menus depends on what comes next.
    pub(super) fn after(&mut self, world: &World, link: &Link<'_>) -> Result<bool, String> {
        let happened = link.happened;
        let now = front(world);
        let menu = menu_open(world);
        if menu || happened.menus || self.owes == Owes::Menu {
            self.owes = if menu { Owes::Menu } else { Owes::Nothing };
            return Ok(menu && !link.harmed);
        }
        let theirs_is_there = self
            .front
            .is_some_and(|id| world.stack.iter().any(|w| w.id == id));
        let new = link.hands_over || now.is_some_and(|now| !self.windows_then.contains(&now));
        let chosen = now.is_some_and(|now| happened.switched.contains(&now));
        let fine = now == self.front || new || chosen || !theirs_is_there;
        if !fine && !link.harmed {
            return Err(format!(
                "the person had window {:?} in front, now {now:?}",
                self.front
            ));
        }
        let at = world.pointer;
        let moved = happened.moved.contains(&at);
        let back = at == self.pointer || moved;
        let hovers = link.hovers() || self.owes == Owes::Pointer(at) && link.may_only_look();
        if !back && !hovers && !link.harmed && !new {
            return Err(format!(
                "the pointer was at {:?}, now at {at:?}",
                self.pointer
            ));
        }
        if moved {
            self.pointer = at;
        }
        self.owes = if back {
            Owes::Nothing
        } else {
            Owes::Pointer(at)
        };
        // Where they had it when the link first moved it is not known; nor, with a new window,
        // whether it was left where it is on purpose.
        let unsure = !back && (new || !happened.moved.is_empty());
        Ok(!link.harmed && !unsure)
    }
}
