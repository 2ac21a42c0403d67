//! UI Automation in memory, with faults of real providers. Each has a switch, and a source.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use deskline_core::{Rect, Text};
use deskline_link::Sign;

use super::uia::{
    Action, Answer, Depth, Failure, Handle, Hear, Node, Part, Patterns, Process, Raw, Toplevel, Uia,
};

pub const PID: u32 = 40;

/// Faults of providers, all off at first.
#[derive(Debug, Clone, Copy, Default)]
#[allow(clippy::struct_excessive_bools)]
pub struct Oddities {
    /// A request for a whole subtree times out (<https://github.com/FlaUI/FlaUI/issues/364>:
    /// caching a
    /// `TreeScope.Subtree` of a large app).
    pub subtree_times_out: bool,
    /// A request for all children of a list times out (NVDA's `UIAHandler/utils.py` reads text
    /// ranges in parts for this reason).
    pub long_list_times_out: bool,
    /// Selecting an item of a closed combo box does not choose it (Qt 6 selects the item in the
    /// popup's view).
    pub closed_combo_ignores: bool,
    /// `AddToSelection` fails in a single-selection container (Microsoft's documentation of
    /// `ISelectionItemProvider::AddToSelection`).
    pub single_selection: bool,
    /// `SetValue` succeeds, but the field keeps its text
    /// (<https://github.com/pywinauto/pywinauto/issues/1140>).
    pub ignores_values: bool,
    /// `Invoke` returns only when the dialog that it opened is closed (against Microsoft's remarks
    /// on `IInvokeProvider::Invoke`).
    pub invoke_blocks: bool,
}

#[derive(Debug, Default)]
struct Element {
    raw: Raw,
    children: Vec<usize>,
    parent: Option<usize>,
    gone: bool,
    hung: bool,
    text: Option<Part>,
}

#[derive(Default)]
pub struct World {
    elements: Vec<Element>,
    pub toplevels: Vec<(u32, Toplevel, usize)>,
    pub odd: Oddities,
    /// The requests and actions in order.
    pub log: Vec<String>,
    hear: Option<Hear>,
    pub ended: bool,
}

#[derive(Clone, Default)]
pub struct Fake(Arc<Mutex<World>>);

/// An element with these properties that shows.
pub fn raw(control_type: i32, name: &str, bounds: [f64; 4]) -> Raw {
    Raw {
        control_type,
        name: name.into(),
        bounds: Some(bounds),
        enabled: true,
        is_control: true,
        expand: 3,
        ..Raw::default()
    }
}

pub fn with(mut raw: Raw, patterns: Patterns) -> Raw {
    raw.patterns |= patterns;
    raw
}

impl Fake {
    pub fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a toplevel, in front of the others. Returns its element.
    pub fn window(&self, handle: Handle, title: &str, at: [f64; 4]) -> usize {
        let mut root = raw(50_032, title, at);
        root.window = Some(handle);
        let root = self.add(None, root);
        let [x, y, w, h] = at.map(|n| n as i32);
        let toplevel = Toplevel {
            handle,
            title: title.into(),
            extents: Rect { x, y, w, h },
            on_screen: true,
            owner: None,
            enabled: true,
            thread: handle as u32,
        };
        self.world().toplevels.insert(0, (PID, toplevel, root));
        root
    }

    pub fn add(&self, parent: impl Into<Option<usize>>, mut raw: Raw) -> usize {
        let parent = parent.into();
        let mut world = self.world();
        let index = world.elements.len();
        if raw.runtime_id.is_empty() {
            raw.runtime_id = vec![42, index as i32];
        }
        world.elements.push(Element {
            raw,
            parent,
            ..Element::default()
        });
        if let Some(parent) = parent {
            world.elements[parent].children.push(index);
        }
        index
    }

    /// Lists an element once more, below another.
    pub fn list_also(&self, parent: usize, child: usize) {
        self.world().elements[parent].children.push(child);
    }

    pub fn change(&self, index: usize, change: impl FnOnce(&mut Raw)) {
        change(&mut self.world().elements[index].raw);
    }

    pub fn raw(&self, index: usize) -> Raw {
        self.world().elements[index].raw.clone()
    }

    pub fn remove(&self, index: usize) {
        self.world().elements[index].gone = true;
    }

    pub fn hang(&self, index: usize, hung: bool) {
        self.world().elements[index].hung = hung;
    }

    pub fn say(&self, index: usize, part: Part) {
        self.world().elements[index].text = Some(part);
    }

    pub fn event(&self, sign: Sign) {
        let hear = self.world().hear.clone();
        if let Some(hear) = hear {
            hear(sign);
        }
    }

    pub fn actions(&self) -> Vec<String> {
        let world = self.world();
        let acts = world.log.iter().filter(|entry| entry.starts_with("act"));
        acts.cloned().collect()
    }

    pub fn requests(&self, kind: &str) -> usize {
        let world = self.world();
        world
            .log
            .iter()
            .filter(|entry| entry.starts_with(kind))
            .count()
    }
}

impl World {
    fn ask(&mut self, request: String, index: usize) -> Answer<()> {
        self.log.push(request);
        let element = &self.elements[index];
        let mut above = Some(index);
        while let Some(at) = above {
            if self.elements[at].hung {
                return Err(Failure::TimedOut);
            }
            above = self.elements[at].parent;
        }
        if element.gone {
            return Err(Failure::Gone);
        }
        Ok(())
    }

    fn node(&self, index: usize) -> Node<usize> {
        Node {
            element: index,
            raw: self.elements[index].raw.clone(),
            children: None,
        }
    }

    fn subtree(&self, index: usize, depth: usize) -> Node<usize> {
        /// UI Automation gives up on a provider that nests an element in itself.
        const DEEPEST: usize = 10;
        let mut node = self.node(index);
        let children = self.elements[index].children.iter();
        let listed = children.filter(|child| !self.elements[**child].gone && depth < DEEPEST);
        node.children = Some(
            listed
                .map(|&child| self.subtree(child, depth + 1))
                .collect(),
        );
        node
    }

    fn select(&mut self, index: usize) {
        let parent = self.elements[index].parent;
        let siblings = parent.map(|parent| self.elements[parent].children.clone());
        for sibling in siblings.unwrap_or_default() {
            self.elements[sibling].raw.selected = sibling == index;
        }
    }

    /// The combo box of an item, and whether it is closed.
    fn combo(&self, index: usize) -> Option<(usize, bool)> {
        let mut at = self.elements[index].parent;
        while let Some(above) = at {
            let element = &self.elements[above];
            if element.raw.control_type == 50_003 {
                return Some((above, element.raw.expand == 0));
            }
            at = element.parent;
        }
        None
    }

    fn act(&mut self, index: usize, action: &Action) -> Answer<()> {
        let odd = self.odd;
        let combo = self.combo(index);
        let name = self.elements[index].raw.name.clone();
        let raw = &mut self.elements[index].raw;
        if !raw.enabled {
            return Err(Failure::Disabled);
        }
        match action {
            Action::Invoke if odd.invoke_blocks => return Err(Failure::TimedOut),
            Action::Invoke | Action::DefaultAction | Action::Realize => {}
            Action::Toggle => raw.toggle = (raw.toggle + 1) % 2,
            Action::Expand => raw.expand = 1,
            Action::Collapse => raw.expand = 0,
            Action::AddToSelection if odd.single_selection => {
                return Err(Failure::Other("invalid operation (0x80131509)".into()));
            }
            Action::AddToSelection => raw.selected = true,
            Action::RemoveFromSelection => raw.selected = false,
            Action::SetValue(_) if odd.ignores_values => {}
            Action::SetValue(value) => raw.value = value.clone(),
            Action::SetRange(value) => {
                if let Some(range) = &mut raw.range {
                    range.value = *value;
                }
            }
            Action::Select => {
                self.select(index);
                match combo {
                    Some((_, true)) if odd.closed_combo_ignores => {}
                    Some((combo, _)) => self.elements[combo].raw.value = name,
                    None => {}
                }
            }
            Action::ScrollIntoView if raw.patterns.contains(Patterns::SCROLL_ITEM) => {
                raw.offscreen = false;
            }
            Action::ScrollIntoView => return Err(Failure::Unsupported),
        }
        Ok(())
    }
}

impl Uia for Fake {
    type Element = usize;
    type Listener = ();

    fn process(&self, pid: u32) -> Option<Process> {
        let ended = self.world().ended;
        (pid == PID && !ended).then(|| Process {
            name: "notes".into(),
            started: 7,
        })
    }

    fn toplevels(&self, pid: u32) -> Vec<Toplevel> {
        let world = self.world();
        let own = world.toplevels.iter().filter(|(of, ..)| *of == pid);
        own.map(|(_, toplevel, _)| toplevel.clone()).collect()
    }

    fn window(&self, window: Handle, depth: Depth) -> Answer<Node<usize>> {
        let mut world = self.world();
        let root = world.toplevels.iter().find(|(_, t, _)| t.handle == window);
        let root = root.ok_or(Failure::Gone)?.2;
        world.ask(format!("window {depth:?}"), root)?;
        match depth {
            Depth::Element => Ok(world.node(root)),
            Depth::Subtree if world.odd.subtree_times_out => Err(Failure::TimedOut),
            Depth::Subtree => Ok(world.subtree(root, 0)),
        }
    }

    fn children(&self, element: &usize) -> Answer<Vec<Node<usize>>> {
        let mut world = self.world();
        world.ask("children".into(), *element)?;
        let children = &world.elements[*element].children;
        if world.odd.long_list_times_out && children.len() > 500 {
            return Err(Failure::TimedOut);
        }
        let listed = children
            .iter()
            .filter(|child| !world.elements[**child].gone);
        Ok(listed.map(|&child| world.node(child)).collect())
    }

    fn next(&self, parent: &usize, after: Option<&usize>) -> Answer<Option<Node<usize>>> {
        let mut world = self.world();
        world.ask("next".into(), *parent)?;
        let children = &world.elements[*parent].children;
        let at = after.map_or(0, |after| {
            children
                .iter()
                .position(|child| child == after)
                .map_or(0, |at| at + 1)
        });
        Ok(children.get(at).map(|&child| world.node(child)))
    }

    fn properties(&self, element: &usize) -> Answer<Raw> {
        let mut world = self.world();
        world.ask("properties".into(), *element)?;
        Ok(world.elements[*element].raw.clone())
    }

    fn visible_text(&self, element: &usize, limit: usize) -> Answer<Part> {
        assert!(limit <= Text::LIMIT);
        let mut world = self.world();
        world.ask("text".into(), *element)?;
        world.elements[*element]
            .text
            .clone()
            .ok_or(Failure::Unsupported)
    }

    fn item(&self, container: &usize, name: &str) -> Answer<Option<Node<usize>>> {
        let mut world = self.world();
        world.ask("item".into(), *container)?;
        let children = &world.elements[*container].children;
        let found = children
            .iter()
            .find(|child| world.elements[**child].raw.name == name);
        Ok(found.map(|&child| world.node(child)))
    }

    fn act(&self, element: &usize, action: &Action, _: Duration) -> Answer<()> {
        let mut world = self.world();
        let name = world.elements[*element].raw.name.clone();
        world.ask(format!("act {action:?} {name}"), *element)?;
        world.act(*element, action)
    }

    fn listen(&self, _: u32, hear: Hear) -> Answer<()> {
        self.world().hear = Some(hear);
        Ok(())
    }
}
