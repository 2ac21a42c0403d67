//! The promise to the person: their front window and pointer are restored after each link.

use deskline_core::Point;
use deskline_link::{Action, Call, Input};

use super::happenings::{Log, Shared};
use crate::world::World;

/// The person's front window and pointer.
pub(super) struct Person {
    front: Option<u64>,
    pointer: Point,
    owes: Owes,
    /// The desktop at the start of the link.
    windows_then: Vec<u64>,
}

/// The state that a link has left for a later one to restore.
#[derive(Clone, Copy, PartialEq)]
enum Owes {
    Nothing,
    /// Everything, once the menu closes.
    Menu,
    /// The pointer, which hovers at this point.
    Pointer(Point),
}

/// A link, and the events during it.
pub(super) struct Link<'l> {
    pub(super) call: &'l Call,
    pub(super) is_error: bool,
    /// Whether the answer reports a handoff: then nothing is restored.
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

    /// Whether the link may have ended before it took over an earlier link's deferred restore.
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

    /// To be called right before a link.
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

    /// To be called right after a link. `false` if it is unknown from now on what has to be
    /// restored: with an open menu it depends on the next link.
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
        // It is unknown where the pointer was when the link first moved it, and, if a window has
        // opened, whether it was left there on purpose.
        let unsure = !back && (new || !happened.moved.is_empty());
        Ok(!link.harmed && !unsure)
    }
}
