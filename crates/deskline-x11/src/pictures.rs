//! The extensions that pictures need, and the state kept between two pictures.

use std::collections::HashSet;

use deskline_contract::Result;
use x11rb::protocol::composite::ConnectionExt as _;
use x11rb::protocol::damage::ConnectionExt as _;
use x11rb::protocol::shm::ConnectionExt as _;
use x11rb::protocol::xproto::Window;

use super::Answer as _;
use super::connection::Connection;
use super::shared_image::SharedImage;

const WHAT: &str = "taking a screenshot";

#[derive(Debug)]
pub(super) struct Pictures {
    pub(super) composite: bool,
    pub(super) shm: bool,
    pub(super) shared: Option<SharedImage>,
    /// The windows that we have redirected and that still exist.
    pub(super) redirected: HashSet<Window>,
}

impl Pictures {
    /// Asks for the versions of the extensions that the server has: extensions require that before
    /// use.
    pub(super) fn new(c: &Connection, composite: bool, shm: bool) -> Result<Self> {
        if composite {
            c.damage_query_version(1, 1).answer(WHAT)?;
        }
        let composite = composite.then(|| c.composite_query_version(0, 4).answer(WHAT));
        let shm = shm.then(|| c.shm_query_version().answer(WHAT));
        Ok(Self {
            // Composite 0.2 has NameWindowPixmap, and MIT-SHM 1.2 passes file descriptors.
            composite: composite
                .transpose()?
                .is_some_and(|v| (v.major_version, v.minor_version) >= (0, 2)),
            shm: shm
                .transpose()?
                .is_some_and(|v| (v.major_version, v.minor_version) >= (1, 2)),
            shared: None,
            redirected: HashSet::new(),
        })
    }
}
