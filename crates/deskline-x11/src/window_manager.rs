//! Whether the window manager is ready.

use deskline_contract::Result;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _,
    CreateWindowAux, EventMask, Window, WindowClass,
};

use crate::connection::{Connection, root_of};
use crate::{Answer as _, Atoms, During as _};

const WHAT: &str = "waiting for the window manager";

/// A request that the window manager answers from its main loop: the size of the frame that a
/// window would get (EWMH `_NET_REQUEST_FRAME_EXTENTS`).
///
/// `_NET_SUPPORTING_WM_CHECK` is set too early: xfwm4 4.18 sets it, then queries all existing
/// windows, and exits with `BadWindow` if one of them is destroyed meanwhile.
pub struct Question<'x> {
    connection: &'x Connection,
    root: Window,
    /// Our window, which is never mapped and ends with the connection.
    window: Window,
    atoms: Atoms,
    asked: bool,
}

impl<'x> Question<'x> {
    /// Prepares the request. Call [`answered`](Self::answered) after each event on `connection`.
    pub fn new(connection: &'x Connection, screen: usize) -> Result<Self> {
        let root = root_of(connection, screen)?;
        let atoms = Atoms::new(connection).during(WHAT)?.reply().during(WHAT)?;
        let window = connection.generate_id().during(WHAT)?;
        let events = EventMask::PROPERTY_CHANGE;
        let aux = CreateWindowAux::new().event_mask(events);
        let class = WindowClass::INPUT_OUTPUT;
        connection
            .create_window(0, window, root, 0, 0, 1, 1, 0, class, 0, &aux)
            .during(WHAT)?;
        let of_root = ChangeWindowAttributesAux::new().event_mask(events);
        connection
            .change_window_attributes(root, &of_root)
            .during(WHAT)?;
        Ok(Self {
            connection,
            root,
            window,
            atoms,
            asked: false,
        })
    }

    /// Whether the answer has arrived. Sends the request as soon as there is a window manager, and
    /// reads all pending events.
    pub fn answered(&mut self) -> Result<bool> {
        loop {
            if !self.asked && self.is_set(self.root, self.atoms._NET_SUPPORTING_WM_CHECK)? {
                self.ask()?;
            }
            if self.asked && self.is_set(self.window, self.atoms._NET_FRAME_EXTENTS)? {
                return Ok(true);
            }
            let mut changed = false;
            while self.connection.poll_for_event().during(WHAT)?.is_some() {
                changed = true;
            }
            if !changed {
                return Ok(false);
            }
        }
    }

    fn ask(&mut self) -> Result<()> {
        let request = self.atoms._NET_REQUEST_FRAME_EXTENTS;
        let message = ClientMessageEvent::new(32, self.window, request, [0; 5]);
        let to = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
        self.connection
            .send_event(false, self.root, to, message)
            .during(WHAT)?;
        self.asked = true;
        Ok(())
    }

    fn is_set(&self, window: Window, property: Atom) -> Result<bool> {
        let reply = self
            .connection
            .get_property(false, window, property, AtomEnum::ANY, 0, 0)
            .answer(WHAT)?;
        Ok(reply.type_ != x11rb::NONE)
    }
}
