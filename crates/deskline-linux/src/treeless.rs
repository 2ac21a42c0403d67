//! Apps that are not on the accessibility bus. Their tree is made of the windows that the display
//! lists.

use std::collections::HashSet;

use deskline_atspi as atspi;
use deskline_contract::{Error, WindowHint};
use deskline_core::{App, Element, ElementId, Rect, Role, Text, Tree, TreeWindow};
use deskline_unix::process;

/// The apps that have had a tree. One that has none any more is about to end.
#[derive(Debug, Default)]
pub(crate) struct Readable(HashSet<u32>);

impl Readable {
    pub(crate) fn note(&mut self, pid: u32) {
        self.0.insert(pid);
    }

    /// A tree made from the windows of an app that is not on the bus, for the reason `hint`. `None`
    /// if the app may still join the bus, or if it has no window on the screen.
    pub(crate) fn instead(
        &self,
        pid: u32,
        hint: &WindowHint,
        windows: &atspi::Windows,
    ) -> Option<Tree> {
        let may_be_driven = matches!(
            hint,
            WindowHint::NotOnBus | WindowHint::Restart { .. } | WindowHint::TurnedOn { .. }
        );
        if !may_be_driven || process::are_elsewhere() {
            return None;
        }
        let joins = process::age(pid)? < hint.joins();
        if joins || self.0.contains(&pid) || windows.unplaced {
            return None;
        }
        let tree = tree(pid, hint, windows);
        tree.windows.iter().any(|w| w.on_screen).then_some(tree)
    }
}

/// Whether an app of an unknown toolkit has just been started, and may still join the bus. It is
/// waited for then, because an error would advise to start it again.
pub(crate) fn may_join(pid: u32, e: &Error) -> bool {
    let Error::NoWindow { hint, .. } = e else {
        return false;
    };
    matches!(hint, WindowHint::NotOnBus) && process::age(pid).is_some_and(|age| age < hint.joins())
}

fn tree(pid: u32, hint: &WindowHint, windows: &atspi::Windows) -> Tree {
    let element = |id: String, native_role: &'static str, title: &str, extents: Rect, visible| {
        let visible = visible && !extents.is_empty();
        Element {
            title: Text::new(title),
            extents: Some(extents),
            visible,
            ..Element::new(
                ElementId::new(format!("{pid}{NO_BUS}{id}")),
                Role::WINDOW,
                native_role,
            )
        }
    };
    let toplevels = windows.toplevels.iter();
    let mut elements: Vec<Element> = toplevels
        .map(|w| {
            let id = w.id.0.to_string();
            element(id, "window", &w.title, w.content(), w.on_screen)
        })
        .collect();
    let popups = windows.popups.iter().enumerate();
    elements.extend(popups.map(|(n, place)| element(format!("p{n}"), "pop-up", "", *place, true)));
    let windows = windows.toplevels.iter().enumerate();
    Tree {
        windows: windows
            .map(|(index, w)| TreeWindow {
                id: w.id,
                extents: w.content(),
                on_screen: w.on_screen,
                elements: vec![index],
            })
            .collect(),
        no_tree: Some(hint.no_tree()),
        ..Tree::new(App::new(pid, process::name(pid)), elements)
    }
}

/// Separates the parts of the ids of elements that stand for windows. No name on the bus has this
/// character, so no other id looks like that.
const NO_BUS: char = '|';
