//! The extensions that pictures need, and the state kept between two pictures.

use std::collections::HashSet;

use deskline_contract::Result;
use x11rb::cookie::Cookie;
use x11rb::protocol::composite::{self, ConnectionExt as _};
use x11rb::protocol::damage::{self, ConnectionExt as _};
use x11rb::protocol::shm::{self, ConnectionExt as _};
use x11rb::protocol::xproto::Window;

use super::During as _;
use super::connection::Connection;
use super::shared_image::SharedImage;

const WHAT: &str = "taking a picture";

#[derive(Debug)]
pub(super) struct Pictures {
    pub(super) composite: bool,
    pub(super) shm: bool,
    pub(super) shared: Option<SharedImage>,
    /// The windows that we have redirected and that still exist.
    pub(super) redirected: HashSet<Window>,
}

/// Version requests, which the extensions require before use.
pub(super) struct Versions<'c> {
    composite: Option<Cookie<'c, Connection, composite::QueryVersionReply>>,
    damage: Option<Cookie<'c, Connection, damage::QueryVersionReply>>,
    shm: Option<Cookie<'c, Connection, shm::QueryVersionReply>>,
}

impl Pictures {
    pub(super) fn versions(c: &Connection, composite: bool, shm: bool) -> Result<Versions<'_>> {
        Ok(Versions {
            composite: composite
                .then(|| c.composite_query_version(0, 4).during(WHAT))
                .transpose()?,
            damage: composite
                .then(|| c.damage_query_version(1, 1).during(WHAT))
                .transpose()?,
            shm: shm
                .then(|| c.shm_query_version().during(WHAT))
                .transpose()?,
        })
    }
}

impl Versions<'_> {
    pub(super) fn reply(self) -> Result<Pictures> {
        let composite = self.composite.map(|c| c.reply().during(WHAT)).transpose()?;
        let damage = self.damage.map(|c| c.reply().during(WHAT)).transpose()?;
        let shm = self.shm.map(|c| c.reply().during(WHAT)).transpose()?;
        Ok(Pictures {
            // 0.2 has NameWindowPixmap, and MIT-SHM 1.2 passes file descriptors.
            composite: damage.is_some()
                && composite.is_some_and(|v| (v.major_version, v.minor_version) >= (0, 2)),
            shm: shm.is_some_and(|v| (v.major_version, v.minor_version) >= (1, 2)),
            shared: None,
            redirected: HashSet::new(),
        })
    }
}
