//! Spaces, and the app in front.
//!
//! `AXWindows` lists the windows of the current Space and the minimised ones (alt-tab-macos #1324).
//! A full-screen window has a Space of its own. When an app without a window on the current Space
//! comes forward, macOS switches to a Space with one of its windows.

use std::sync::Arc;

use super::quirks::Wakes;
use super::{Id, Node, World};
use crate::os::ServerWindow;
use deskline_input::clock::Instant;

impl World {
    /// Puts a window on a Space. The first Space is 0.
    pub(crate) fn move_to_space(&mut self, window: Id, space: u32) {
        self.space_of.insert(window, space);
    }

    /// Puts a window in full screen, on a Space of its own, or back on the first.
    pub(super) fn full_screen(&mut self, window: Id, on: bool) {
        self.move_to_space(window, u32::from(on));
        self.space = u32::from(on);
    }

    /// A request for an app's tree is withdrawn.
    pub(super) fn withdrawn(&mut self, pid: u32, wakes: &Wakes, name: &str) {
        self.later
            .retain(|(_, does)| !Arc::ptr_eq(does, &wakes.page));
        if wakes.forgets && wakes.hears.is_none_or(|hears| hears == name) {
            let area = super::text("AXWebArea");
            let is_page = |node: &Node| node.pid == pid && node.attributes["AXRole"] == area;
            let pages = self.nodes.iter().filter(|(_, node)| is_page(node));
            for page in pages.map(|(id, _)| *id).collect::<Vec<_>>() {
                self.remove(page);
            }
        }
    }

    /// Ends an app.
    pub(crate) fn quit(&mut self, pid: u32) {
        for window in self.windows_of(pid) {
            self.remove(window);
        }
        self.apps.remove(&pid);
        let next = self.stack.first().map(|w| self.nodes[w].pid);
        if let Some(next) = next.filter(|_| self.front == pid) {
            self.bring_forward(next);
        }
    }

    /// Whether a window is on the current Space. Other nodes always are.
    pub(crate) fn is_here(&self, node: Id) -> bool {
        let space = self.space_of.get(&node).copied().unwrap_or(0);
        space == self.space || !self.stack.contains(&node)
    }

    /// The app's windows, frontmost first, on all Spaces.
    pub(crate) fn windows_of(&self, pid: u32) -> Vec<Id> {
        let mine = |w: &&Id| self.nodes.get(w).is_some_and(|n| n.pid == pid);
        self.stack.iter().filter(mine).copied().collect()
    }

    /// A minimised window comes out of the Dock.
    pub(super) fn fly_in(&mut self, window: Id) {
        if !self.quirks.animation.is_zero() {
            self.flying.insert(window);
            let due = Instant::now() + self.quirks.animation;
            let lands = move |w: &mut Self| {
                w.flying.remove(&window);
            };
            self.later.push((due, Arc::new(lands)));
        }
    }

    /// Goes to the Space of a window.
    pub(super) fn travel_to(&mut self, window: Id) {
        let space = self.space_of.get(&window).copied().unwrap_or(0);
        let due = Instant::now() + self.quirks.animation;
        self.later.push((due, Arc::new(move |w| w.space = space)));
    }

    /// Brings an app to the front with all its windows.
    pub(crate) fn bring_forward(&mut self, pid: u32) {
        if self.is_tiled(pid) {
            self.arriving = Some(pid);
            let due = Instant::now() + self.quirks.animation;
            self.later.push((due, Arc::new(|w| w.arriving = None)));
        }
        self.method_on |= std::mem::take(&mut self.method_next) && self.front != pid;
        if self.front != pid && !self.quirks.late_key.is_zero() {
            self.not_key = Some(pid);
            let due = Instant::now() + self.quirks.late_key;
            self.later.push((due, Arc::new(|w| w.not_key = None)));
        }
        self.front = pid;
        self.fronts.push(pid);
        let mut own = self.windows_of(pid);
        if self.quirks.last_key_first
            && let Some(last) = self.last_key.get(&pid)
        {
            own.sort_by_key(|w| w != last);
        }
        let here = own.iter().any(|w| self.is_here(*w));
        let travels = !here && !self.quirks.stays_on_space;
        if let Some(first) = own.first().filter(|_| travels) {
            self.travel_to(*first);
        }
        let rest = self.stack.iter().filter(|w| !own.contains(w));
        let rest: Vec<Id> = rest.copied().collect();
        own.extend(rest);
        self.stack = own;
        self.sort_by_layer();
        self.uncover();
        self.run_due();
    }

    /// Whether Stage Manager shows this app's windows as tiles.
    pub(super) fn is_tiled(&self, pid: u32) -> bool {
        self.quirks.tile.is_some() && (self.front != pid || self.arriving == Some(pid))
    }

    /// The window server's windows, front to back.
    pub(super) fn listed(&self) -> Vec<ServerWindow> {
        let server = |number: u32, pid, bounds, layer| ServerWindow {
            number,
            pid,
            owner: String::new(),
            title: String::new(),
            bounds,
            layer,
            on_screen: true,
            alpha: 1.0,
        };
        let extra = self.extra.iter().enumerate();
        let extra = extra.map(|(i, e)| server(9_000 + i as u32, e.0, e.1, e.2));
        let plain = self.stack.iter().map(|id| {
            let pid = self.nodes[id].pid;
            let tile = self.quirks.tile.filter(|_| self.is_tiled(pid));
            let flies = self
                .flying
                .contains(id)
                .then_some([700.0, 840.0, 60.0, 40.0]);
            let bounds = tile.or(flies).or_else(|| self.extents(*id)).unwrap();
            let layer = self.layers.get(id).copied().unwrap_or(0);
            let mut window = server(*id as u32, pid, bounds, layer);
            // Without Screen Recording the list has no titles.
            if self.may_capture {
                window.title = self.title(*id);
            }
            window.on_screen = self.shown(*id);
            window
        });
        let covers = self.covers.iter().enumerate();
        let covers = covers
            .map(|(i, (root, bounds))| server(8_000 + i as u32, self.nodes[root].pid, *bounds, 20));
        let ghosts = self.ghosts.iter().enumerate();
        let ghosts = ghosts.map(|(i, (pid, bounds))| server(7_000 + i as u32, *pid, *bounds, 0));
        ghosts.chain(covers).chain(extra).chain(plain).collect()
    }

    /// `AXFocusedApplication` follows the focused window: it names no app if the app in front has
    /// no window (Interceptor #198).
    pub(super) fn focused_app(&self) -> Option<Id> {
        let windows = self.windows_of(self.front);
        let focused = windows.iter().any(|w| self.is_here(*w));
        self.apps
            .get(&self.front)
            .filter(|_| focused && !self.quirks.no_focused_app)
            .map(|a| a.root)
    }
}
