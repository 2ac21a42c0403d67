//! Has the X server itself release the agent's keys and buttons once this process is gone, however
//! it ends and whatever ends with it: XTEST's keys outlive their client.
//!
//! A second client of ours waits in the server for the end of the first (SYNC's `Await`: it ends
//! when the counter is destroyed), with the releases queued behind. It outlives this process, as
//! the server holds its socket's last descriptor: that came with a request (MIT-SHM's `AttachFd`)
//! which is queued last. The server refuses that one and closes the descriptor, and so the client.

use std::os::fd::AsFd as _;
use std::path::PathBuf;

use deskline_contract::{Error, Result};
use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::protocol::shm::{self, ConnectionExt as _};
use x11rb::protocol::sync::{
    self, ConnectionExt as _, Counter, Int64, TESTTYPE, Trigger, VALUETYPE, Waitcondition,
};
use x11rb::protocol::xproto::{
    BUTTON_RELEASE_EVENT, ConnectionExt as _, KEY_RELEASE_EVENT, Window,
};
use x11rb::protocol::xtest::{self, ConnectionExt as _};
use x11rb::wrapper::ConnectionExt as _;

use super::connection::{self, Connection};
use super::reply::During as _;

const WHAT: &str = "providing for this process's end";

/// The buttons of XTEST's pointer.
const BUTTONS: std::ops::RangeInclusive<u8> = 1..=9;

#[derive(Debug)]
pub(super) struct Will {
    /// Destroyed together with the first client.
    life: Counter,
    /// A window of the second client.
    heir: Window,
}

impl Will {
    /// Makes the will of a connection to this display. A server on another machine takes none.
    pub(super) fn make(
        first: &Connection,
        root: Window,
        (display, xauthority): &(String, Option<PathBuf>),
    ) -> Result<Self> {
        let life = first.generate_id().during(WHAT)?;
        first
            .sync_create_counter(life, Int64::default())
            .sent(WHAT)?;
        first.sync().during(WHAT)?;
        let (heir, _) = connection::open(display, xauthority.as_deref())?;
        // Once it waits, no question is answered.
        for extension in [
            shm::X11_EXTENSION_NAME,
            sync::X11_EXTENSION_NAME,
            xtest::X11_EXTENSION_NAME,
        ] {
            heir.prefetch_extension_information(extension)
                .during(WHAT)?;
        }
        let heir_window = connection::mark(&heir, root)?;
        await_end_of(&heir, life)?;
        release_all(&heir)?;
        let own = heir.stream().as_fd().try_clone_to_owned();
        let own = own.map_err(Error::system(WHAT))?;
        let segment = heir.generate_id().during(WHAT)?;
        heir.shm_attach_fd(segment, own, true).sent(WHAT)?;
        heir.flush().during(WHAT)?;
        Ok(Self {
            life,
            heir: heir_window,
        })
    }

    /// Revokes a will before its counter is destroyed, so that nothing is released.
    pub(super) fn revoke(&self, first: &Connection) -> Result<()> {
        first.kill_client(self.heir).sent(WHAT)?;
        first.sync_destroy_counter(self.life).sent(WHAT)
    }
}

fn await_end_of(heir: &Connection, life: Counter) -> Result<()> {
    let never = Trigger {
        counter: life,
        wait_type: VALUETYPE::ABSOLUTE,
        wait_value: Int64 { hi: 1, lo: 0 },
        test_type: TESTTYPE::POSITIVE_COMPARISON,
    };
    let condition = Waitcondition {
        trigger: never,
        event_threshold: Int64::default(),
    };
    heir.sync_await_(&[condition]).sent(WHAT)
}

/// The server ignores releases of what is not down.
fn release_all(heir: &Connection) -> Result<()> {
    let setup = heir.setup();
    let keys = (setup.min_keycode..=setup.max_keycode).map(|code| (KEY_RELEASE_EVENT, code));
    for (event, detail) in keys.chain(BUTTONS.map(|button| (BUTTON_RELEASE_EVENT, button))) {
        heir.xtest_fake_input(event, detail, 0, x11rb::NONE, 0, 0, 0)
            .sent(WHAT)?;
    }
    Ok(())
}
