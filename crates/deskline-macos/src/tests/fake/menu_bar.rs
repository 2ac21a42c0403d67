//! The menu bar, which belongs to no window. The front app's menu bar is on the screen; menu extras
//! always are.

use std::sync::Arc;

use super::{Behaviour, Id, World, text};
use crate::os::Value;

impl World {
    /// Gives an app a menu bar with one menu. Its only item has this title, and does `does`.
    pub(crate) fn menu_bar(&mut self, pid: u32, item: &str, does: Behaviour) -> (Id, Id) {
        let root = self.apps[&pid].root;
        let bar = self.add(root, "AXMenuBar", "", [0.0, 0.0, 1_440.0, 24.0]);
        let title = self.add(bar, "AXMenuBarItem", "File", [50.0, 0.0, 40.0, 24.0]);
        let menu = self.add(title, "AXMenu", "", [50.0, 24.0, 200.0, 60.0]);
        let item = self.add(menu, "AXMenuItem", item, [50.0, 30.0, 200.0, 22.0]);
        let open = (pid, [50.0, 24.0, 200.0, 60.0], 101);
        self.node(title).pressed = Some(Arc::new(move |world| {
            world.extra.push(open);
            world.set(title, "AXSelected", Value::Bool(true));
        }));
        self.node(item).pressed = Some(Arc::new(move |world| {
            world.extra.clear();
            world.set(title, "AXSelected", Value::Bool(false));
            does(world);
        }));
        (title, item)
    }

    /// Gives an app a menu extra (a status item), which no `AXChildren` lists.
    pub(crate) fn menu_extra(&mut self, pid: u32, name: &str) -> Id {
        let root = self.apps[&pid].root;
        let bar = self.add(root, "AXMenuBar", "", [1_300.0, 0.0, 100.0, 24.0]);
        self.node(root).children.retain(|c| *c != bar);
        let known = Value::Element(bar);
        self.node(root).attributes.insert("AXExtrasMenuBar", known);
        let extra = self.add(bar, "AXMenuBarItem", name, [1_310.0, 0.0, 24.0, 24.0]);
        self.extra.push((pid, [1_310.0, 0.0, 24.0, 24.0], 25));
        extra
    }

    /// The node at a point of an open menu or of the menu bar.
    pub(super) fn in_menu_bar(&self, at: (f64, f64)) -> Option<Id> {
        let extras = self.apps.values().filter_map(|app| {
            match self.nodes.get(&app.root)?.attributes.get("AXExtrasMenuBar") {
                Some(Value::Element(bar)) => Some(*bar),
                _ => None,
            }
        });
        let front = self.apps.get(&self.front).map(|a| a.root);
        let front = front.and_then(|root| self.nodes.get(&root));
        let bars = front.iter().flat_map(|n| n.children.iter().copied());
        let role = Some(text("AXMenuBar"));
        let bars = bars.filter(|c| self.nodes[c].attributes.get("AXRole").cloned() == role);
        bars.chain(extras).find_map(|bar| self.hit_menu(bar, at))
    }

    fn hit_menu(&self, id: Id, at: (f64, f64)) -> Option<Id> {
        let node = self.nodes.get(&id)?;
        let inner = node.children.iter().find_map(|c| self.hit_menu(*c, at));
        let leaf = node.children.is_empty() || node.pressed.is_some();
        // A closed menu takes no clicks.
        let open = node.attributes.get("AXRole") != Some(&text("AXMenuItem"))
            || self.extra.iter().any(|e| e.2 == 101);
        inner.or_else(|| (leaf && open && self.has(id, at)).then_some(id))
    }
}
