//! The list of windows: `wlr-foreign-toplevel-management`.

use wayland_protocols_wlr::foreign_toplevel::v1::server::zwlr_foreign_toplevel_handle_v1::{
    self, State as Facet, ZwlrForeignToplevelHandleV1,
};
use wayland_protocols_wlr::foreign_toplevel::v1::server::zwlr_foreign_toplevel_manager_v1::ZwlrForeignToplevelManagerV1;
use wayland_server::Resource as _;

use super::State;

/// The clients that list windows, and the last facts that each received.
#[derive(Debug, Default)]
pub(super) struct Listed {
    managers: Vec<ZwlrForeignToplevelManagerV1>,
    handles: Vec<(ZwlrForeignToplevelHandleV1, usize, Option<Facts>)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Facts {
    title: String,
    active: bool,
    full_screen: bool,
    screens: Vec<usize>,
}

impl State {
    pub(super) fn offer_windows(&mut self) {
        self.offer::<ZwlrForeignToplevelManagerV1>(3);
    }

    fn facts(&self, index: usize) -> Facts {
        let window = &self.desktop.windows[index];
        let screens = self.desktop.screens.iter().enumerate();
        let shows = screens.filter(|(_, s)| !s.place.intersect(&window.place).is_empty());
        Facts {
            title: window.title.clone(),
            active: self.desktop.active == Some(index),
            full_screen: window.restored.is_some(),
            screens: shows.map(|(index, _)| index).collect(),
        }
    }

    /// Reports changes of windows.
    pub(super) fn announce_windows(&mut self) {
        for manager in &self.listed.managers {
            let Some(client) = manager.client() else {
                continue;
            };
            for (index, window) in self.desktop.windows.iter().enumerate() {
                let known = |(handle, at, _): &(ZwlrForeignToplevelHandleV1, usize, _)| {
                    *at == index && handle.client() == Some(client.clone())
                };
                if window.closed || self.listed.handles.iter().any(known) {
                    continue;
                }
                let version = manager.version();
                let handle =
                    client.create_resource::<_, usize, Self>(&self.display, version, index);
                let handle: ZwlrForeignToplevelHandleV1 = handle.expect("a client that is there");
                manager.toplevel(&handle);
                self.listed.handles.push((handle, index, None));
            }
        }
        let mut handles = std::mem::take(&mut self.listed.handles);
        handles.retain_mut(|(handle, index, last)| {
            if self.desktop.windows[*index].closed {
                handle.closed();
                return false;
            }
            let facts = self.facts(*index);
            if last.as_ref() != Some(&facts) {
                self.report(handle, &facts, last.as_ref());
                *last = Some(facts);
            }
            true
        });
        self.listed.handles = handles;
    }

    fn report(&self, handle: &ZwlrForeignToplevelHandleV1, now: &Facts, last: Option<&Facts>) {
        handle.title(now.title.clone());
        handle.app_id("app".into());
        for (output, screen) in &self.outputs {
            if output.client() != handle.client() {
                continue;
            }
            let was = last.is_some_and(|last| last.screens.contains(screen));
            match (was, now.screens.contains(screen)) {
                (false, true) => handle.output_enter(output),
                (true, false) => handle.output_leave(output),
                _ => {}
            }
        }
        let facets = [
            (now.active, Facet::Activated),
            (now.full_screen, Facet::Fullscreen),
        ];
        let facets = facets.into_iter().filter(|(is, _)| *is);
        let bytes = facets.flat_map(|(_, facet)| u32::from(facet).to_ne_bytes());
        handle.state(bytes.collect());
        handle.done();
    }
}

on_bind!(
    ZwlrForeignToplevelManagerV1,
    (),
    |state, manager, (), init| {
        let manager = init.init(manager, ());
        state.listed.managers.push(manager);
        // The client learns of the change with the answer to its next round trip.
        state.announce_windows();
    }
);

on_request!(
    ZwlrForeignToplevelManagerV1,
    (),
    |_, _, _, (), _| {},
    |state, gone, ()| {
        state.listed.managers.retain(|manager| manager != gone);
    }
);

on_request!(
    ZwlrForeignToplevelHandleV1,
    usize,
    |state, _, request, index, _| {
        use zwlr_foreign_toplevel_handle_v1::Request;
        match request {
            Request::Activate { .. } => state.desktop.activate(*index),
            Request::SetFullscreen { output } => {
                let screen = output.and_then(|output| state.screen(&output));
                state.desktop.enlarge(*index, screen.unwrap_or_default());
            }
            Request::UnsetFullscreen => state.desktop.restore(*index),
            _ => return,
        }
        state.announce_windows();
    },
    |state, gone, _| {
        state.listed.handles.retain(|(handle, ..)| handle != gone);
    }
);
