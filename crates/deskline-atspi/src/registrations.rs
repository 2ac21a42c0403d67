//! Apps that are on the bus more than once. A Qt app with GTK's file dialogs is an example. One
//! registration stands for the app, and the toplevels of the others are read into its tree.

use std::time::{Duration, Instant};

use deskline_contract::Result;

use crate::app::App;
use crate::atspi::{AtSpi, Listed, on_bus};
use crate::bus;
use crate::engine::Node;
use crate::partial::Partial;
use crate::peer::Peer;
use crate::strategies::embedded;

/// How long a registration may take to describe itself.
const AT_ONCE: Duration = Duration::from_millis(200);

/// Hides the app's own toplevel with this title. For each dialog that GTK draws, Qt has an empty
/// toplevel.
fn hide_twin(nodes: &mut [Node], title: &str) {
    let is_twin = |node: &Node| {
        node.parent == Some(0) && node.showing && node.owner.is_none() && &*node.name == title
    };
    let Some(twin) = nodes.iter().position(is_twin) else {
        return;
    };
    nodes[twin].showing = false;
    // Parents come before their children.
    for index in twin + 1..nodes.len() {
        let hidden = |parent: usize| parent >= twin && !nodes[parent].showing;
        if nodes[index].parent.is_some_and(hidden) {
            nodes[index].showing = false;
        }
    }
}

impl AtSpi {
    /// The bus name that stands for the app: its first one with windows. A registration that is
    /// embedded in another app has none. `None` if the app is not on the bus.
    pub(crate) fn main_registration(&mut self, pid: u32) -> Result<Option<String>> {
        let what = "asking the accessibility registry for its apps";
        let mut listed = self.apps().map_err(on_bus(what))?;
        listed.retain(|app| app.pid == pid);
        let windows = match listed.len() {
            0 | 1 => Vec::new(),
            _ => self.toplevels_of(&listed).map_err(on_bus(what))?.0,
        };
        let has_windows = |app: &Listed| windows.iter().any(|w| w.bus_name() == app.bus_name);
        let main = listed.iter().position(has_windows);
        let main = main.unwrap_or(listed.len().saturating_sub(1));
        Ok(listed.into_iter().nth(main).map(|app| app.bus_name))
    }

    /// Updates the app's registrations besides the one that stands for the app: GTK registers a Qt
    /// app once more when the app opens its first GTK dialog.
    pub(crate) fn note_registrations(&mut self, pid: u32) -> bus::Result {
        let mut listed = self.apps()?;
        listed.retain(|l| l.pid == pid);
        let Some(app) = self.apps.get(&pid) else {
            return Ok(());
        };
        if listed.len() > 1 {
            // GTK may have registered the app before Qt did. Then another name stands for the app
            // by now.
            let main = app.peer.bus_name.clone();
            let windows = self.toplevels_of(&listed)?.0;
            let has_windows = |name: &str| windows.iter().any(|w| w.bus_name() == name);
            let other = listed.iter().find(|l| has_windows(&l.bus_name));
            if let Some(other) = other.filter(|_| !has_windows(&main)) {
                let peer = Peer::meet(&mut self.bus, &other.bus_name, pid, AT_ONCE)?;
                self.apps.insert(pid, App::new(peer));
            }
        }
        let Some(app) = self.apps.get_mut(&pid) else {
            return Ok(());
        };
        let main = &app.peer.bus_name;
        let is_beside = |l: &&Listed| l.bus_name != *main;
        let now = listed.iter().filter(is_beside);
        let now: Vec<&str> = now.map(|l| l.bus_name.as_str()).collect();
        app.beside
            .retain(|peer| now.contains(&peer.bus_name.as_str()));
        for name in now {
            if app.beside.iter().all(|peer| peer.bus_name != name) {
                app.beside
                    .push(Peer::meet(&mut self.bus, name, pid, AT_ONCE)?);
            }
        }
        Ok(())
    }

    /// Adds the toplevels of the app's other registrations to its nodes.
    pub(crate) fn read_beside(
        &mut self,
        pid: u32,
        nodes: &mut Vec<Node>,
        partial: &mut Partial,
        end: Instant,
    ) -> bus::Result {
        let beside = self.apps.get(&pid).map_or(&[][..], |app| &app.beside);
        let listed = |peer: &Peer| {
            let bus_name = peer.bus_name.clone();
            (Listed { bus_name, pid }, peer.toolkit)
        };
        let (listed, toolkits): (Vec<_>, Vec<_>) = beside.iter().map(listed).unzip();
        if listed.is_empty() || nodes.is_empty() {
            return Ok(());
        }
        for toplevel in &self.toplevels_of(&listed)?.0 {
            let its = |app: &Listed| app.bus_name == toplevel.bus_name();
            let Some(at) = listed.iter().position(its) else {
                continue;
            };
            hide_twin(nodes, &toplevel.title);
            let object = (0, toplevel.bus_name(), toplevel.path());
            embedded::read(&mut self.bus, toolkits[at], nodes, partial, object, end)?;
        }
        Ok(())
    }
}
