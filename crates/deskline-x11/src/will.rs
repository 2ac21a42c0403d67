//! Makes the X server release the agent's keys and buttons once this process is gone, however it
//! ends and whatever ends with it. XTEST's keys stay down when their client ends.
//!
//! A second client of ours waits in the server for the end of the first: SYNC's `Await` returns
//! when a counter of the first client is destroyed, and the releases are queued behind it. The
//! second client outlives this process, because the server holds the last descriptor of its socket.
//! That descriptor came with the request that is queued last (MIT-SHM's `AttachFd`): the server
//! refuses the request and closes the descriptor, which ends the second client.

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
    /// The counter that is destroyed together with the first client.
    life: Counter,
    /// A window of the second client.
    heir: Window,
}

impl Will {
    /// Makes the will of a connection to this display. This fails with a server on another machine.
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
        // Once the second client waits, the server does not answer it any more. So the extensions
        // are asked for now.
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

/// Releases all keys and buttons. The server ignores releases of those that are not down.
fn release_all(heir: &Connection) -> Result<()> {
    let setup = heir.setup();
    let keys = (setup.min_keycode..=setup.max_keycode).map(|code| (KEY_RELEASE_EVENT, code));
    for (event, detail) in keys.chain(BUTTONS.map(|button| (BUTTON_RELEASE_EVENT, button))) {
        heir.xtest_fake_input(event, detail, 0, x11rb::NONE, 0, 0, 0)
            .sent(WHAT)?;
    }
    Ok(())
}
