//! The state of one app between its readings.

use crate::engine::Questions;
use crate::new_dialogs::NewDialogs;
use crate::peer::Peer;
use crate::strategies::bulk_cache::BulkCache;
use crate::strategies::documents::Documents;
use crate::strategies::unlisted::Unlisted;
use crate::toolkits::{CacheUse, Toolkit, vcl};
use crate::tree::KnownWindows;

/// An app whose toolkit and connection are known.
#[derive(Debug)]
pub struct App {
    /// Its identity and its connection.
    pub peer: Peer,
    /// Its other registrations on the bus.
    pub beside: Vec<Peer>,
    /// Whether its cache is worth fetching.
    pub cache: BulkCache,
    /// The requests of its last reading.
    pub questions: Questions,
    /// Whether a reading has found the same tree as the one before: GTK 4's tree grows as it is
    /// read.
    pub grown: bool,
    /// Whether the last reading had a visible page that was loading.
    pub loads: bool,
    /// Whether it may have been read before a stack had faded to another page.
    pub may_fade: bool,
    /// Its dialogs, if its toolkit ignores clicks in new ones.
    pub dialogs: Option<NewDialogs>,
    /// The windows of its toplevels.
    pub windows: KnownWindows,
    /// Its documents, from the last reading of each.
    pub documents: Documents,
    /// Its objects that may be open menus, if its toolkit does not list these.
    pub unlisted: Unlisted,
}

impl App {
    /// The state of an app before its first reading.
    pub fn new(peer: Peer) -> Self {
        // LibreOffice's cache is never fetched. With five documents it took more than 2 s on a
        // loaded machine, during which LibreOffice answered nothing else, and most of it is not in
        // the tree.
        let cache_use = if vcl::is_office(&peer.name) {
            CacheUse::Never
        } else {
            peer.toolkit.cache_use()
        };
        Self {
            cache: BulkCache::new(cache_use),
            dialogs: (peer.toolkit == Toolkit::Chromium).then(NewDialogs::default),
            peer,
            beside: Vec::new(),
            questions: Questions::default(),
            grown: false,
            loads: false,
            may_fade: false,
            windows: KnownWindows::default(),
            documents: Documents::default(),
            unlisted: Unlisted::default(),
        }
    }
}
