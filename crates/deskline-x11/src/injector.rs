//! Keys and buttons that this connection holds pressed. The server does not release synthetic keys when a
//! client goes, so all presses go through [`Injector`], whose `Drop` releases them.

use std::ops::{Deref, DerefMut};

use deskline_link::Result;
use x11rb::protocol::xproto::{
    BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, KEY_PRESS_EVENT, KEY_RELEASE_EVENT,
    MOTION_NOTIFY_EVENT,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::wrapper::ConnectionExt as _;

use super::connection::Connection;
use super::{During as _, X11};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pressed {
    /// A key code.
    Key(u8),
    /// A pointer button.
    Button(u8),
}

impl Pressed {
    fn events(self) -> (u8, u8, u8) {
        match self {
            Self::Key(code) => (KEY_PRESS_EVENT, KEY_RELEASE_EVENT, code),
            Self::Button(button) => (BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, button),
        }
    }
}

/// Pressed keys and buttons, in the order in which they were pressed.
#[derive(Debug, Default)]
pub(super) struct SyntheticPresses(Vec<Pressed>);

impl SyntheticPresses {
    /// Releases all, last pressed first. Ignores a lost connection: nothing can be done then.
    pub(super) fn release_all(&mut self, connection: &Connection) {
        if self.0.is_empty() {
            return;
        }
        for pressed in self.0.drain(..).rev() {
            let (_, release, detail) = pressed.events();
            if let Err(error) =
                connection.xtest_fake_input(release, detail, 0, x11rb::NONE, 0, 0, 0)
            {
                tracing::warn!(?pressed, %error, "could not release");
            }
        }
        // Sync, not flush: the server drops unread requests of a client that has gone.
        if let Err(error) = connection.sync() {
            tracing::warn!(%error, "could not release");
        }
    }
}

/// The right to press keys and buttons, for one operation. Releases them when dropped.
pub(super) struct Injector<'a>(&'a mut X11);

impl<'a> Injector<'a> {
    pub(super) fn of(x11: &'a mut X11) -> Self {
        Self(x11)
    }

    pub(super) fn press(&mut self, what: Pressed) -> Result<()> {
        let (press, _, detail) = what.events();
        self.fake(press, detail, 0, 0)?;
        self.synthetic.0.push(what);
        Ok(())
    }

    pub(super) fn release(&mut self, what: Pressed) -> Result<()> {
        let (_, release, detail) = what.events();
        self.fake(release, detail, 0, 0)?;
        self.synthetic.0.retain(|held| *held != what);
        Ok(())
    }

    /// Presses and releases in one write, so that the process cannot die in between.
    pub(super) fn tap(&mut self, what: Pressed) -> Result<()> {
        self.press(what)?;
        self.release(what)
    }

    /// Moves the pointer to root coordinates, as a motion event that apps see.
    pub(super) fn motion(&mut self, x: i16, y: i16) -> Result<()> {
        self.fake(MOTION_NOTIFY_EVENT, 0, x, y)
    }

    fn fake(&mut self, event: u8, detail: u8, x: i16, y: i16) -> Result<()> {
        let root = self.root;
        self.connection
            .xtest_fake_input(event, detail, 0, root, x, y, 0)
            .during("sending input")?;
        Ok(())
    }
}

impl Deref for Injector<'_> {
    type Target = X11;

    fn deref(&self) -> &X11 {
        self.0
    }
}

impl DerefMut for Injector<'_> {
    fn deref_mut(&mut self) -> &mut X11 {
        self.0
    }
}

impl Drop for Injector<'_> {
    fn drop(&mut self) {
        self.0.release_all();
    }
}
