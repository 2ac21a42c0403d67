//! wlroots' data control, `zwlr_data_control_v1`, and `ext_data_control_v1`, which is the same
//! protocol under another name.

use std::ffi::CStr;

use deskline_contract::{Missing, Result};
use wayland_client::backend::ObjectId;
use wayland_client::backend::protocol::{Argument, Message};
use wayland_client::{Connection, Proxy as _, delegate_noop};
use wayland_protocols_wlr::data_control::v1::client::zwlr_data_control_device_v1::{
    self, ZwlrDataControlDeviceV1,
};
use wayland_protocols_wlr::data_control::v1::client::zwlr_data_control_manager_v1::ZwlrDataControlManagerV1;
use wayland_protocols_wlr::data_control::v1::client::zwlr_data_control_offer_v1::{
    self, ZwlrDataControlOfferV1 as Offer,
};
use wayland_protocols_wlr::data_control::v1::client::zwlr_data_control_source_v1::{
    self, ZwlrDataControlSourceV1 as Source,
};

use crate::wlroots::client::{Client, lost};
use crate::wlroots::heard::{Clipboard, Heard, on_event};

/// The names of the global for data control. KWin 6.7 offers only the second name.
const NAMES: [&CStr; 2] = [
    c"zwlr_data_control_manager_v1",
    c"ext_data_control_manager_v1",
];

/// Binds data control, by whichever of [`NAMES`] the compositor offers.
pub(super) fn bind(client: &Client) -> Result<ZwlrDataControlManagerV1> {
    let mut globals = client.heard.globals.iter();
    let found = globals.find_map(|(name, its, _)| {
        let mut names = NAMES.into_iter();
        Some((*name, names.find(|n| n.to_bytes() == its.as_bytes())?))
    });
    let missing = Missing::new("the compositor offers no data control");
    let (name, its) = found.ok_or_else(|| missing.for_action("pasting"))?;
    let registry = &client.registry;
    let its = Argument::Str(Some(Box::new(its.into())));
    let [version, new] = [Argument::Uint(1), Argument::NewId(ObjectId::null())];
    // `wl_registry.bind` is built by hand, because wayland-client would always send `zwlr_…` as the
    // name.
    let message = Message {
        sender_id: registry.id(),
        opcode: 0,
        args: [Argument::Uint(name), its, version, new]
            .into_iter()
            .collect(),
    };
    let data = client
        .handle()
        .make_data::<ZwlrDataControlManagerV1, ()>(());
    let kind = (ZwlrDataControlManagerV1::interface(), 1);
    let backend = registry
        .backend()
        .upgrade()
        .ok_or_else(|| lost("the connection is closed"))?;
    let id = backend
        .send_request(message, Some(data), Some(kind))
        .map_err(lost)?;
    let connection = Connection::from_backend(backend);
    ZwlrDataControlManagerV1::from_id(&connection, id).map_err(lost)
}

impl Clipboard {
    /// The offer that is on the clipboard, with its types.
    pub(super) fn selected(&self) -> Option<(Offer, Vec<String>)> {
        let selection = self.selection.as_ref()?;
        let mut offers = self.offers.iter();
        offers.find(|(offer, _)| offer.id() == *selection).cloned()
    }

    fn add_type(&mut self, offer: &ObjectId, kind: String) {
        /// The most types to keep: more than any app offers.
        const MOST: usize = 200;
        let mut offers = self.offers.iter_mut();
        if let Some((_, types)) = offers.find(|(known, _)| known.id() == *offer)
            && types.len() < MOST
        {
            types.push(kind);
        }
    }

    /// Makes this offer the selection, and destroys the earlier offers.
    fn select(&mut self, selection: Option<ObjectId>) {
        let done = |(offer, _): &mut (Offer, Vec<String>)| Some(offer.id()) != selection;
        for (offer, _) in self.offers.extract_if(.., done) {
            offer.destroy();
        }
        self.selection = selection;
        self.changed = true;
    }

    /// Destroys an offer of the primary selection, which is not used.
    fn drop_offer(&mut self, offer: Option<&ObjectId>) {
        let is = |(known, _): &mut (Offer, Vec<String>)| Some(&known.id()) == offer;
        for (offer, _) in self.offers.extract_if(.., is) {
            offer.destroy();
        }
    }
}

on_event!(
    ZwlrDataControlDeviceV1,
    |heard, _, event| {
        use zwlr_data_control_device_v1::Event;
        let clipboard = &mut heard.clipboard;
        match event {
            Event::DataOffer { id } => clipboard.offers.push((id, Vec::new())),
            Event::Selection { id } => clipboard.select(id.map(|id| id.id())),
            Event::PrimarySelection { id } => {
                clipboard.drop_offer(id.map(|id| id.id()).as_ref());
            }
            _ => {}
        }
    },
    zwlr_data_control_device_v1::EVT_DATA_OFFER_OPCODE => Offer
);

on_event!(Offer, |heard, offer, event| {
    if let zwlr_data_control_offer_v1::Event::Offer { mime_type } = event {
        heard.clipboard.add_type(&offer.id(), mime_type);
    }
});

on_event!(Source, |heard, source, event| {
    use zwlr_data_control_source_v1::Event;
    let clipboard = &mut heard.clipboard;
    match event {
        Event::Send { mime_type, fd } => clipboard.wanted.push((source.id(), mime_type, fd)),
        Event::Cancelled => clipboard.cancelled.push(source.id()),
        _ => {}
    }
});

delegate_noop!(Heard: ZwlrDataControlManagerV1);
