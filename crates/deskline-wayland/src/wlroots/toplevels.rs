//! The windows that the compositor lists (wlr-foreign-toplevel), with titles and states, but
//! without positions and processes.

use deskline_contract::Result;
use wayland_client::Proxy as _;
use wayland_protocols_wlr::foreign_toplevel::v1::client::zwlr_foreign_toplevel_handle_v1::{
    self, State, ZwlrForeignToplevelHandleV1,
};
use wayland_protocols_wlr::foreign_toplevel::v1::client::zwlr_foreign_toplevel_manager_v1::{
    self, ZwlrForeignToplevelManagerV1,
};

use crate::wlroots::client::Client;
use crate::wlroots::heard::{Facts, Heard, Toplevel, on_event};

impl Client {
    /// Subscribes to the list of windows.
    ///
    /// # Errors
    ///
    /// [`deskline_contract::Error::Unavailable`] if the compositor does not offer the list.
    pub(crate) fn watch_toplevels(&mut self) -> Result<()> {
        let manager = self.bind(3)?;
        self.heard.toplevels.manager = Some(manager);
        // The first round trip brings the windows, the second their facts.
        self.roundtrip()?;
        self.roundtrip()
    }
}

on_event!(
    ZwlrForeignToplevelManagerV1,
    |heard, _, event| {
        if let zwlr_foreign_toplevel_manager_v1::Event::Toplevel { toplevel } = event {
            heard.toplevels.count += 1;
            let number = heard.toplevels.count;
            heard.toplevels.all.push(Toplevel {
                handle: toplevel,
                number,
                facts: Facts::default(),
                next: Facts::default(),
            });
        }
    },
    zwlr_foreign_toplevel_manager_v1::EVT_TOPLEVEL_OPCODE => ZwlrForeignToplevelHandleV1
);

on_event!(ZwlrForeignToplevelHandleV1, |heard, handle, event| {
    use zwlr_foreign_toplevel_handle_v1::Event;
    let Some(toplevel) = heard.toplevels.known(handle) else {
        return;
    };
    match event {
        Event::Title { title } => toplevel.next.title = title,
        Event::AppId { app_id } => toplevel.next.app = app_id,
        Event::OutputEnter { output } => {
            toplevel.next.outputs.retain(|known| *known != output);
            toplevel.next.outputs.push(output);
        }
        Event::OutputLeave { output } => {
            toplevel.next.outputs.retain(|known| *known != output);
        }
        Event::State { state } => {
            let states = state
                .chunks_exact(4)
                .filter_map(|bytes| bytes.try_into().ok());
            let states: Vec<u32> = states.map(u32::from_ne_bytes).collect();
            let has = |state: State| states.contains(&u32::from(state));
            toplevel.next.activated = has(State::Activated);
            toplevel.next.fullscreen = has(State::Fullscreen);
            toplevel.next.minimised = has(State::Minimized);
        }
        Event::Done => toplevel.facts = toplevel.next.clone(),
        Event::Closed => {
            heard.toplevels.all.retain(|t| t.handle.id() != handle.id());
            handle.destroy();
        }
        _ => {}
    }
});
