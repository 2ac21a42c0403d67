//! The agent's own seat, which ends with the connection: `ext_transient_seat_manager_v1`. Its focus
//! is set through wlroots' list of toplevels, as only that request names a seat.

use std::path::Path;

use deskline_contract::error::setup;
use deskline_contract::{Error, Result};
use wayland_client::delegate_noop;
use wayland_client::protocol::wl_seat::Capability;
use wayland_protocols::ext::transient_seat::v1::client::ext_transient_seat_manager_v1::ExtTransientSeatManagerV1;
use wayland_protocols::ext::transient_seat::v1::client::ext_transient_seat_v1::{
    self, ExtTransientSeatV1,
};
use wayland_protocols_wlr::foreign_toplevel::v1::client::zwlr_foreign_toplevel_handle_v1::ZwlrForeignToplevelHandleV1;

use crate::wlroots::client::Client;
use crate::wlroots::heard::{Heard, Made, on_event};

/// The seat of the agent's devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Seat {
    /// The person's seat: one pointer and one focus for both.
    #[default]
    Shared,
    /// A seat for the agent only, with its own pointer and focus.
    Own,
}

impl Client {
    /// Connects with a new seat for the agent, which ends with the connection.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] if the compositor does not create one.
    pub(crate) fn with_own_seat(path: &Path) -> Result<Self> {
        let mut client = Self::connect(path)?;
        let manager: ExtTransientSeatManagerV1 = client
            .bind(1)
            .map_err(|_| Error::Unavailable(setup::NO_OWN_SEAT.into()))?;
        // Dropping the proxy does not destroy the seat.
        let _transient = manager.create(&client.handle(), ());
        client.wait(|heard| heard.own.made != Made::Asked)?;
        let Made::As(name) = client.heard.own.made else {
            return Err(Error::Unavailable(setup::OWN_SEAT_REFUSED.into()));
        };
        // Before this, these were the devices of the person's seat.
        client.heard.capabilities = Capability::empty();
        client.heard.own.name.clear();
        client.seat = client.registry.bind(name, 2, &client.handle(), ());
        client.wait(|heard| !heard.own.name.is_empty())?;
        client.watch_toplevels()?;
        Ok(client)
    }

    /// The windows with this title, to be passed to [`Client::focus`].
    pub(crate) fn toplevels(&mut self, title: &str) -> Result<Vec<ZwlrForeignToplevelHandleV1>> {
        self.roundtrip()?;
        let all = self.heard.toplevels.iter();
        let named = all.filter(|t| t.facts.title == title);
        Ok(named.map(|t| t.handle.clone()).collect())
    }

    /// Gives a window the seat's keyboard.
    pub(crate) fn focus(&mut self, toplevel: &ZwlrForeignToplevelHandleV1) -> Result<()> {
        toplevel.activate(&self.seat);
        self.roundtrip()
    }
}

on_event!(ExtTransientSeatV1, |heard, _, event| {
    heard.own.made = match event {
        ext_transient_seat_v1::Event::Ready { global_name } => Made::As(global_name),
        _ => Made::Refused,
    };
});

delegate_noop!(Heard: ExtTransientSeatManagerV1);
