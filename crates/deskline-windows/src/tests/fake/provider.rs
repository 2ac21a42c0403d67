//! The fake's providers.

use std::time::{Duration, Instant};

use deskline_core::{Text, WindowId};

use super::{Fake, World};
use crate::tree::uia::{
    Action, Answer, Depth, Failure, Hear, Listener, Node, Part, Patterns, Raw, Uia,
};

impl World {
    fn ask(&mut self, request: String, index: usize) -> Answer<()> {
        self.log.push(request);
        if let Some(change) = self.meanwhile.clone() {
            change(self);
        }
        let element = &self.elements[index];
        std::thread::sleep(element.costs);
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
        if self.odd.denies_access {
            return Err(Failure::Denied);
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

    /// The children that the element lists.
    fn listed(&mut self, index: usize) -> Vec<usize> {
        let element = &mut self.elements[index];
        let asked = *element.asked.get_or_insert_with(Instant::now);
        if asked.elapsed() < element.wakes_after {
            return Vec::new();
        }
        let mut children = element.children.clone();
        children.retain(|child| {
            let child = &self.elements[*child];
            !child.gone && !child.unmade
        });
        children
    }

    fn subtree(&mut self, index: usize, depth: usize) -> Node<usize> {
        /// UI Automation gives up on a provider that nests an element in itself.
        const DEEPEST: usize = 10;
        let mut node = self.node(index);
        let listed = if depth < DEEPEST {
            self.listed(index)
        } else {
            Vec::new()
        };
        let children = listed.into_iter();
        node.children = Some(children.map(|at| self.subtree(at, depth + 1)).collect());
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
            Action::Invoke | Action::DefaultAction => {
                if let Some(react) = self.pressed.get(&index).cloned() {
                    react(self);
                }
            }
            Action::Realize => {}
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

    fn window(&self, window: WindowId, depth: Depth) -> Answer<Node<usize>> {
        let mut world = self.world();
        let root = world.win(window).ok_or(Failure::Gone)?.root;
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
        let children = world.listed(*element);
        if world.odd.long_list_times_out && children.len() > 500 {
            return Err(Failure::TimedOut);
        }
        Ok(children.into_iter().map(|at| world.node(at)).collect())
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
        if world.elements[*element].unmade {
            return Err(Failure::Gone);
        }
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

    fn item(&self, container: &usize, name: &str) -> Answer<Option<usize>> {
        let mut world = self.world();
        world.ask("item".into(), *container)?;
        let children = &world.elements[*container].children;
        let found = children
            .iter()
            .find(|child| world.elements[**child].raw.name == name);
        Ok(found.copied())
    }

    fn act(&self, element: &usize, action: &Action, _: Duration) -> Answer<()> {
        let mut world = self.world();
        let name = world.elements[*element].raw.name.clone();
        world.ask(format!("act {action:?} {name}"), *element)?;
        world.elements[*element].unmade &= *action != Action::Realize;
        world.act(*element, action)?;
        if world.odd.events_fail && *action != Action::Realize {
            return Err(Failure::Gone);
        }
        Ok(())
    }

    fn listen(&self, pid: u32, hear: Hear) -> Answer<()> {
        let mut world = self.world();
        world.log.push(format!("listen {pid}"));
        world.hear = Some(hear);
        Ok(())
    }
}

impl Listener for () {
    fn go_on(&self) {}
}
