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
    /// The app's identity and its connection.
    pub peer: Peer,
    /// The app's other registrations on the bus.
    pub beside: Vec<Peer>,
    /// Decides whether the app's cache is worth fetching.
    pub cache: BulkCache,
    /// The requests of the app's last reading.
    pub questions: Questions,
    /// Whether the tree has stopped growing. Reading a tree of GTK 4 makes it grow, until two
    /// readings in a row find the same tree.
    pub grown: bool,
    /// Whether the last reading had a visible page that was loading.
    pub loads: bool,
    /// Whether a stack may still have been fading to another page at the last reading.
    pub may_fade: bool,
    /// The app's dialogs, if its toolkit ignores clicks in dialogs that have just appeared.
    pub dialogs: Option<NewDialogs>,
    /// What is known about the windows of the app's toplevels.
    pub windows: KnownWindows,
    /// The app's documents, each as it was last read.
    pub documents: Documents,
    /// The app's objects that may be open menus, if its toolkit does not list open menus.
    pub unlisted: Unlisted,
}

impl App {
    /// The state of an app before its first reading.
    pub fn new(peer: Peer) -> Self {
        // LibreOffice's cache is never fetched. With five documents on a loaded machine, that took
        // more than 2 s, in which LibreOffice answered nothing else. Most of the cache is not in
        // the tree anyway.
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
