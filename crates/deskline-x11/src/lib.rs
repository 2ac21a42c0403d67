//! X11: windows, input and pictures, over one connection that is used from one thread.
//!
//! Requests are sent in batches, and their replies are read afterwards. An operation with two
//! dependent steps takes two round trips, however many windows there are. Every wait has a time
//! limit: the stream's for a reply, the operation's for an event. All coordinates are relative to
//! the root window.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod accessibility_bus;
mod acting;
mod activate;
mod aim;
mod canvas;
mod clipboard;
pub mod connection;
mod display;
mod grab_probe;
mod grabs;
pub mod guard;
mod heard;
mod idle;
mod keymap;
mod overlay;
pub mod people;
mod picture;
mod pictures;
mod pointer;
mod popups;
mod port;
pub mod presses;
mod private;
pub mod question;
mod reply;
mod scene;
mod shared_image;
mod sticky;
mod sync;
mod toplevel;
mod typing;
mod will;
mod windows;
mod workspaces;
pub mod xauth;

pub use overlay::text::{Fonts, banner};
use std::path::{Path, PathBuf};

use deskline_contract::{Error, Result};
use deskline_input::{Hands, Scene as _};
use x11rb::connection::RequestConnection as _;
use x11rb::protocol::xkb::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{AtomEnum, EventMask, Keycode};
use x11rb::protocol::{composite, damage, res, shm, xinput, xtest};

use acting::Acting;
use connection::Connection;
use heard::Heard;
use pictures::Pictures;

pub use display::X11Display;
pub(crate) use reply::{Answer, During, Present};
pub use toplevel::{Kind, Toplevel};

x11rb::atom_manager! {
    /// The atoms of EWMH, ICCCM and the toolkits.
    pub(crate) Atoms:
    AtomsCookie {
        AT_SPI_BUS, UTF8_STRING, WM_CHANGE_STATE, WM_PROTOCOLS, WM_STATE,
        _DESKLINE_BOUND_KEYCODES, _DESKLINE_PRIVATE, _GTK_FRAME_EXTENTS,
        _NET_ACTIVE_WINDOW, _NET_CLIENT_LIST, _NET_CURRENT_DESKTOP, _NET_FRAME_EXTENTS,
        _NET_REQUEST_FRAME_EXTENTS, _NET_SUPPORTING_WM_CHECK,
        _NET_WM_DESKTOP, _NET_WM_NAME, _NET_WM_PID, _NET_WM_PING,
        _NET_WM_STATE, _NET_WM_STATE_HIDDEN, _NET_WM_STATE_MODAL, _NET_WM_STATE_SHADED,
        _NET_WM_WINDOW_TYPE, _NET_WM_WINDOW_TYPE_COMBO, _NET_WM_WINDOW_TYPE_DESKTOP,
        _NET_WM_WINDOW_TYPE_DIALOG, _NET_WM_WINDOW_TYPE_DND, _NET_WM_WINDOW_TYPE_DOCK,
        _NET_WM_WINDOW_TYPE_DROPDOWN_MENU, _NET_WM_WINDOW_TYPE_MENU, _NET_WM_WINDOW_TYPE_NORMAL,
        _NET_WM_WINDOW_TYPE_NOTIFICATION, _NET_WM_WINDOW_TYPE_POPUP_MENU, _NET_WM_WINDOW_TYPE_SPLASH,
        _NET_WM_WINDOW_TYPE_TOOLBAR, _NET_WM_WINDOW_TYPE_TOOLTIP, _NET_WM_WINDOW_TYPE_UTILITY,
    }
}

/// One connection to an X server: its windows, pointer, keyboard and pixels.
///
/// For one thread at a time. Releases pressed keys and buttons when dropped.
pub struct X11 {
    connection: Connection,
    /// The display's name, and the file with its cookie.
    place: (String, Option<PathBuf>),
    root: u32,
    atoms: Atoms,
    /// Our unmapped window: for the server's clock, grab probes and the claim on key codes.
    own: u32,
    /// The XKB device whose map turns our key codes into symbols.
    keyboard: xkb::DeviceSpec,
    has_res: bool,
    /// Whether the server's pids are in the same namespace as those of the accessibility bus.
    has_pids: bool,
    heard: Heard,
    pictures: Pictures,
    hands: Hands<Keycode>,
    acting: Acting,
    /// The focused window, once it is known to be the target's and uncovered.
    sure_focus: Option<u32>,
    /// Whether the window manager has failed to handle a request for the front window in time.
    raises_late: bool,
}

impl X11 {
    /// Connects to `display` (`:0`), with the display's cookie if the file `xauthority` has one.
    /// Reads no environment variables.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] if there is no server, or it refuses us, does not answer within 3 s,
    /// or lacks XTEST or XKB.
    pub fn connect(display: &str, xauthority: Option<&Path>) -> Result<Self> {
        let (connection, screen) = connection::open(display, xauthority)?;
        let lacks = |what| {
            Error::Unavailable(format!(
                "the X server at display {display} has no {what} extension, which input needs. \
                Start it with {what} enabled"
            ))
        };
        #[rustfmt::skip]
        let extensions = [
            composite::X11_EXTENSION_NAME, damage::X11_EXTENSION_NAME, res::X11_EXTENSION_NAME,
            shm::X11_EXTENSION_NAME, xinput::X11_EXTENSION_NAME, xkb::X11_EXTENSION_NAME,
            xtest::X11_EXTENSION_NAME,
        ];
        for extension in extensions {
            connection
                .prefetch_extension_information(extension)
                .during("asking for extensions")?;
        }
        let has = |name| -> Result<bool> {
            let known = connection.extension_information(name);
            Ok(known.during("asking for extensions")?.is_some())
        };
        if !has(xtest::X11_EXTENSION_NAME)? {
            return Err(lacks("XTEST"));
        }
        if !has(xkb::X11_EXTENSION_NAME)? {
            return Err(lacks("XKEYBOARD"));
        }
        let has_res = has(res::X11_EXTENSION_NAME)?;
        let xkb = connection.xkb_use_extension(1, 0).during("using XKB")?;
        let atoms = Atoms::new(&connection).during("asking for atoms")?;
        let pictures = Pictures::new(
            &connection,
            has(composite::X11_EXTENSION_NAME)? && has(damage::X11_EXTENSION_NAME)?,
            has(shm::X11_EXTENSION_NAME)?,
        )?;
        let root = connection::root_of(&connection, screen)?;
        let own = connection::own_window(&connection, root, EventMask::PROPERTY_CHANGE)?;
        if !xkb.reply().during("using XKB")?.supported {
            return Err(lacks("XKEYBOARD"));
        }
        let keyboard = if has(xinput::X11_EXTENSION_NAME)? {
            keymap::xtest_keyboard(&connection)?
        } else {
            xkb::ID::USE_CORE_KBD.into()
        };
        let x11 = Self {
            place: (display.to_owned(), xauthority.map(Path::to_owned)),
            root,
            atoms: atoms.reply().during("asking for atoms")?,
            own,
            keyboard,
            has_res,
            has_pids: has_res,
            // Our pings are numbered from our window's id on, so that no answer to another client's
            // ping matches.
            heard: Heard {
                ping: own,
                ..Heard::default()
            },
            pictures,
            hands: Hands::default(),
            acting: Acting::default(),
            sure_focus: None,
            raises_late: false,
            connection,
        };
        x11.reclaim_keycodes()?;
        Ok(x11)
    }

    /// Whether the connection works. Once it is lost every method fails: connect again.
    pub fn alive(&self) -> bool {
        !self.connection.stream().lost()
    }

    /// Releases all keys and buttons that this connection holds pressed, and reverts the changes of
    /// an unfinished action. The server does neither when a client disconnects.
    pub fn release_all(&mut self) {
        let released = deskline_input::release_all(self);
        if let Err(error) = released.and(self.end()) {
            tracing::warn!(%error, "could not release");
        }
    }

    /// Whether a window manager runs: EWMH `_NET_SUPPORTING_WM_CHECK` on the root, and on the
    /// window that this property names.
    pub fn has_window_manager(&self) -> Result<bool> {
        let check = self.atoms._NET_SUPPORTING_WM_CHECK;
        let Some(manager) = self.number(self.root, check, AtomEnum::WINDOW)? else {
            return Ok(false);
        };
        Ok(self.number(manager, check, AtomEnum::WINDOW)? == Some(manager))
    }
}

impl Drop for X11 {
    fn drop(&mut self) {
        self.release_all();
    }
}
