//! A seat of the agent's own, which ends with the connection: `ext_transient_seat_manager_v1`. Its
//! focus is set through wlroots' list of toplevels, the only way to name a seat.

use deskline_link::{Error, Result};
use wayland_client::protocol::wl_registry::WlRegistry;
use wayland_client::protocol::wl_seat::WlSeat;
use wayland_client::{Connection, Dispatch, QueueHandle, delegate_noop};
use wayland_protocols::ext::transient_seat::v1::client::ext_transient_seat_manager_v1::ExtTransientSeatManagerV1;
use wayland_protocols::ext::transient_seat::v1::client::ext_transient_seat_v1::{
    self, ExtTransientSeatV1,
};
use wayland_protocols_wlr::foreign_toplevel::v1::client::zwlr_foreign_toplevel_handle_v1::ZwlrForeignToplevelHandleV1;

use crate::wlroots::client::{self, Binder, Client};

/// How far the seat has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Made {
    #[default]
    Asked,
    Refused,
    /// It is this global.
    As(u32),
}

/// What the compositor has said of the seat.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    made: Made,
    /// The seat's name.
    pub(crate) seat: String,
}

/// The seat. wayland-client does not destroy it when this is dropped: it ends with the connection.
pub(crate) struct OwnSeat {
    _transient: ExtTransientSeatV1,
}

impl OwnSeat {
    pub(crate) fn create(binder: &Binder<'_>) -> Result<Self> {
        let manager: ExtTransientSeatManagerV1 = binder.bind(1).map_err(|_| {
            Error::Unavailable(
                "this compositor makes no seat for an agent (ext_transient_seat_manager_v1; sway 1.10 does). Serve with --seat shared".into(),
            )
        })?;
        Ok(Self {
            _transient: manager.create(binder.handle, ()),
        })
    }

    /// The seat itself, once it is there.
    pub(crate) fn bind(client: &mut Client, registry: &WlRegistry) -> Result<WlSeat> {
        client.wait(|heard| heard.own.made != Made::Asked)?;
        let Made::As(name) = client.heard.own.made else {
            return Err(Error::Unavailable(
                "the compositor refuses a seat for the agent. Serve with --seat shared".into(),
            ));
        };
        // What was said so far is the other seat's.
        client.heard.capabilities = wayland_client::protocol::wl_seat::Capability::empty();
        let seat = registry.bind::<WlSeat, _, _>(name, 2, &client.handle(), ());
        client.wait(|heard| !heard.own.seat.is_empty())?;
        client.watch_toplevels()?;
        Ok(seat)
    }
}

impl Client {
    /// The windows with this title, as the seat can be given them.
    pub(crate) fn toplevels(&mut self, title: &str) -> Result<Vec<ZwlrForeignToplevelHandleV1>> {
        self.roundtrip()?;
        let all = self.heard.toplevels.iter();
        let named = all.filter(|t| t.facts.title == title);
        Ok(named.map(|t| t.handle.clone()).collect())
    }

    /// Gives the seat's keyboard to a window.
    pub(crate) fn focus(&mut self, toplevel: &ZwlrForeignToplevelHandleV1) -> Result<()> {
        toplevel.activate(&self.seat);
        self.roundtrip()
    }
}

impl Dispatch<ExtTransientSeatV1, ()> for client::Heard {
    fn event(
        heard: &mut Self,
        _: &ExtTransientSeatV1,
        event: ext_transient_seat_v1::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        heard.own.made = match event {
            ext_transient_seat_v1::Event::Ready { global_name } => Made::As(global_name),
            _ => Made::Refused,
        };
    }
}

delegate_noop!(client::Heard: ExtTransientSeatManagerV1);
