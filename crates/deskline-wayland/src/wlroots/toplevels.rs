//! The windows that the compositor lists (wlr-foreign-toplevel): what they are called, their
//! states, and what can be asked for. No places, no processes.

use deskline_link::Result;
use wayland_client::protocol::wl_output::WlOutput;
use wayland_client::{Connection, Dispatch, Proxy as _, QueueHandle, event_created_child};
use wayland_protocols_wlr::foreign_toplevel::v1::client::zwlr_foreign_toplevel_handle_v1::{
    self, State, ZwlrForeignToplevelHandleV1,
};
use wayland_protocols_wlr::foreign_toplevel::v1::client::zwlr_foreign_toplevel_manager_v1::{
    self, ZwlrForeignToplevelManagerV1,
};

use crate::wlroots::client::{self, Client};

/// The windows, as they are announced.
#[derive(Debug, Default)]
pub(crate) struct Toplevels {
    manager: Option<ZwlrForeignToplevelManagerV1>,
    all: Vec<Toplevel>,
    /// How many have been announced.
    count: u64,
}

/// A window.
#[derive(Debug, Clone)]
pub(crate) struct Toplevel {
    pub(crate) handle: ZwlrForeignToplevelHandleV1,
    /// Counts up from 1, and is never used again on this connection.
    pub(crate) number: u64,
    pub(crate) facts: Facts,
    /// What has been said since the last `done`, which makes it true.
    next: Facts,
}

/// What the compositor says of a window.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    /// Hostile data.
    pub(crate) title: String,
    /// The app's name for itself. Hostile data.
    pub(crate) app: String,
    /// Whether it has the keyboard.
    pub(crate) activated: bool,
    pub(crate) fullscreen: bool,
    /// The outputs on which it shows.
    pub(crate) outputs: Vec<WlOutput>,
}

impl Toplevels {
    /// In the order of their announcement.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Toplevel> {
        self.all.iter()
    }

    /// The one with this number, if it is there still.
    pub(crate) fn numbered(&self, number: u64) -> Option<&Toplevel> {
        self.all.iter().find(|t| t.number == number)
    }

    fn of(&mut self, handle: &ZwlrForeignToplevelHandleV1) -> Option<&mut Toplevel> {
        self.all.iter_mut().find(|t| t.handle.id() == handle.id())
    }
}

impl Client {
    /// Asks for the windows, and from then on for what becomes of them.
    ///
    /// # Errors
    ///
    /// [`deskline_link::Error::Unavailable`] where the compositor does not offer them.
    pub(crate) fn watch_toplevels(&mut self) -> Result<()> {
        let manager = self.bind(3)?;
        self.heard.toplevels.manager = Some(manager);
        // The first brings the windows, the second what is said of them.
        self.roundtrip()?;
        self.roundtrip()
    }
}

impl Dispatch<ZwlrForeignToplevelManagerV1, ()> for client::Heard {
    fn event(
        heard: &mut Self,
        _: &ZwlrForeignToplevelManagerV1,
        event: zwlr_foreign_toplevel_manager_v1::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
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
    }

    event_created_child!(client::Heard, ZwlrForeignToplevelManagerV1, [
        zwlr_foreign_toplevel_manager_v1::EVT_TOPLEVEL_OPCODE => (ZwlrForeignToplevelHandleV1, ()),
    ]);
}

impl Dispatch<ZwlrForeignToplevelHandleV1, ()> for client::Heard {
    fn event(
        heard: &mut Self,
        handle: &ZwlrForeignToplevelHandleV1,
        event: zwlr_foreign_toplevel_handle_v1::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        use zwlr_foreign_toplevel_handle_v1::Event;
        let Some(toplevel) = heard.toplevels.of(handle) else {
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
            }
            Event::Done => toplevel.facts = toplevel.next.clone(),
            Event::Closed => {
                heard.toplevels.all.retain(|t| t.handle.id() != handle.id());
                handle.destroy();
            }
            _ => {}
        }
    }
}
