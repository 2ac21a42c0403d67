//! The two protocols, which differ only in their names.

use std::os::fd::{BorrowedFd, OwnedFd};

use wayland_client::backend::ObjectId;
use wayland_client::protocol::wl_callback::{self, WlCallback};
use wayland_client::protocol::wl_registry::{self, WlRegistry};
use wayland_client::protocol::wl_seat::WlSeat;
use wayland_client::{
    Connection, Dispatch, Proxy, QueueHandle, delegate_noop, event_created_child,
};
use wayland_protocols::ext::data_control::v1::client::ext_data_control_device_v1::{
    self as ext_device, ExtDataControlDeviceV1,
};
use wayland_protocols::ext::data_control::v1::client::ext_data_control_manager_v1::ExtDataControlManagerV1;
use wayland_protocols::ext::data_control::v1::client::ext_data_control_offer_v1::{
    self as ext_offer, ExtDataControlOfferV1,
};
use wayland_protocols::ext::data_control::v1::client::ext_data_control_source_v1::{
    self as ext_source, ExtDataControlSourceV1,
};
use wayland_protocols_wlr::data_control::v1::client::zwlr_data_control_device_v1::{
    self as wlr_device, ZwlrDataControlDeviceV1,
};
use wayland_protocols_wlr::data_control::v1::client::zwlr_data_control_manager_v1::ZwlrDataControlManagerV1;
use wayland_protocols_wlr::data_control::v1::client::zwlr_data_control_offer_v1::{
    self as wlr_offer, ZwlrDataControlOfferV1,
};
use wayland_protocols_wlr::data_control::v1::client::zwlr_data_control_source_v1::{
    self as wlr_source, ZwlrDataControlSourceV1,
};

use crate::wlroots::heard::on_event;

/// The state that the compositor has reported.
#[derive(Debug, Default)]
pub(super) struct Heard {
    pub(super) globals: Vec<(u32, String)>,
    /// The number of the last completed round trip.
    pub(super) done: u32,
    /// The offers with their types: that of the last selection, and those just announced.
    pub(super) offers: Vec<(Offer, Vec<String>)>,
    /// The offer that is on the clipboard.
    pub(super) selection: Option<ObjectId>,
    /// Whether the selection has changed.
    pub(super) changed: bool,
    /// Requests for data: our source, the type, and the pipe to write to.
    pub(super) wanted: Vec<(ObjectId, String, OwnedFd)>,
    /// Our sources that have been replaced.
    pub(super) cancelled: Vec<ObjectId>,
}

impl Heard {
    /// The offer that is on the clipboard, with its types.
    pub(super) fn selected(&self) -> Option<(Offer, Vec<String>)> {
        let selection = self.selection.as_ref()?;
        let mut offers = self.offers.iter();
        offers.find(|(offer, _)| offer.id() == *selection).cloned()
    }

    fn announces(&mut self, offer: Offer) {
        self.offers.push((offer, Vec::new()));
    }

    fn types(&mut self, offer: &ObjectId, kind: String) {
        /// More types than any app offers.
        const MOST: usize = 200;
        let mut offers = self.offers.iter_mut();
        if let Some((_, types)) = offers.find(|(known, _)| known.id() == *offer)
            && types.len() < MOST
        {
            types.push(kind);
        }
    }

    /// Makes this offer the selection, and destroys the earlier offers.
    fn selects(&mut self, selection: Option<ObjectId>) {
        let done = |(offer, _): &mut (Offer, Vec<String>)| Some(offer.id()) != selection;
        for (offer, _) in self.offers.extract_if(.., done) {
            offer.destroy();
        }
        self.selection = selection;
        self.changed = true;
    }

    /// Destroys an offer of the primary selection, which is not used.
    fn drops(&mut self, offer: Option<&ObjectId>) {
        let is = |(known, _): &mut (Offer, Vec<String>)| Some(&known.id()) == offer;
        for (offer, _) in self.offers.extract_if(.., is) {
            offer.destroy();
        }
    }
}

/// The manager, which creates sources, and the device, which reports a seat's selection.
#[derive(Debug)]
pub(super) enum Control {
    Ext(ExtDataControlManagerV1, ExtDataControlDeviceV1),
    Wlr(ZwlrDataControlManagerV1, ZwlrDataControlDeviceV1),
}

/// Another client's offer.
#[derive(Debug, Clone)]
pub(super) enum Offer {
    Ext(ExtDataControlOfferV1),
    Wlr(ZwlrDataControlOfferV1),
}

/// Our offer.
#[derive(Debug)]
pub(super) enum Source {
    Ext(ExtDataControlSourceV1),
    Wlr(ZwlrDataControlSourceV1),
}

impl Control {
    /// `None` if the compositor offers neither protocol, or has no seat.
    pub(super) fn bind(
        heard: &Heard,
        registry: &WlRegistry,
        handle: &QueueHandle<Heard>,
    ) -> Option<Self> {
        let number = |interface: &str| {
            let mut globals = heard.globals.iter();
            globals.find(|(_, name)| name == interface).map(|(n, _)| *n)
        };
        let seat: WlSeat = registry.bind(number(WlSeat::interface().name)?, 1, handle, ());
        if let Some(number) = number(ExtDataControlManagerV1::interface().name) {
            let manager: ExtDataControlManagerV1 = registry.bind(number, 1, handle, ());
            let device = manager.get_data_device(&seat, handle, ());
            return Some(Self::Ext(manager, device));
        }
        let number = number(ZwlrDataControlManagerV1::interface().name)?;
        let manager: ZwlrDataControlManagerV1 = registry.bind(number, 1, handle, ());
        let device = manager.get_data_device(&seat, handle, ());
        Some(Self::Wlr(manager, device))
    }

    /// Sets a selection with these types.
    pub(super) fn offer<'t>(
        &self,
        types: impl Iterator<Item = &'t str>,
        handle: &QueueHandle<Heard>,
    ) -> Source {
        match self {
            Self::Ext(manager, device) => {
                let source = manager.create_data_source(handle, ());
                types.for_each(|kind| source.offer(kind.to_owned()));
                device.set_selection(Some(&source));
                Source::Ext(source)
            }
            Self::Wlr(manager, device) => {
                let source = manager.create_data_source(handle, ());
                types.for_each(|kind| source.offer(kind.to_owned()));
                device.set_selection(Some(&source));
                Source::Wlr(source)
            }
        }
    }

    /// Empties the clipboard.
    pub(super) fn clear(&self) {
        match self {
            Self::Ext(_, device) => device.set_selection(None),
            Self::Wlr(_, device) => device.set_selection(None),
        }
    }
}

impl Offer {
    fn id(&self) -> ObjectId {
        match self {
            Self::Ext(offer) => offer.id(),
            Self::Wlr(offer) => offer.id(),
        }
    }

    /// Asks the owner to write its data of this type into a pipe.
    pub(super) fn receive(&self, kind: &str, into: BorrowedFd<'_>) {
        match self {
            Self::Ext(offer) => offer.receive(kind.to_owned(), into),
            Self::Wlr(offer) => offer.receive(kind.to_owned(), into),
        }
    }

    fn destroy(self) {
        match self {
            Self::Ext(offer) => offer.destroy(),
            Self::Wlr(offer) => offer.destroy(),
        }
    }
}

impl Source {
    pub(super) fn id(&self) -> ObjectId {
        match self {
            Self::Ext(source) => source.id(),
            Self::Wlr(source) => source.id(),
        }
    }

    pub(super) fn destroy(self) {
        match self {
            Self::Ext(source) => source.destroy(),
            Self::Wlr(source) => source.destroy(),
        }
    }
}

macro_rules! events {
    ($family:ident, $device:ident: $device_type:ident, $offer:ident: $offer_type:ident, $source:ident: $source_type:ident) => {
        impl Dispatch<$device_type, ()> for Heard {
            fn event(
                heard: &mut Self,
                _: &$device_type,
                event: $device::Event,
                (): &(),
                _: &Connection,
                _: &QueueHandle<Self>,
            ) {
                match event {
                    $device::Event::DataOffer { id } => heard.announces(Offer::$family(id)),
                    $device::Event::Selection { id } => heard.selects(id.map(|id| id.id())),
                    $device::Event::PrimarySelection { id } => {
                        heard.drops(id.map(|id| id.id()).as_ref());
                    }
                    _ => {}
                }
            }

            event_created_child!(Heard, $device_type, [
                $device::EVT_DATA_OFFER_OPCODE => ($offer_type, ()),
            ]);
        }

        on_event!($offer_type, |heard, offer, event| {
            if let $offer::Event::Offer { mime_type } = event {
                heard.types(&offer.id(), mime_type);
            }
        });

        on_event!($source_type, |heard, source, event| match event {
            $source::Event::Send { mime_type, fd } => {
                heard.wanted.push((source.id(), mime_type, fd));
            }
            $source::Event::Cancelled => heard.cancelled.push(source.id()),
            _ => {}
        });
    };
}

events!(Ext, ext_device: ExtDataControlDeviceV1, ext_offer: ExtDataControlOfferV1, ext_source: ExtDataControlSourceV1);
events!(Wlr, wlr_device: ZwlrDataControlDeviceV1, wlr_offer: ZwlrDataControlOfferV1, wlr_source: ZwlrDataControlSourceV1);
delegate_noop!(Heard: ExtDataControlManagerV1);
delegate_noop!(Heard: ZwlrDataControlManagerV1);
delegate_noop!(Heard: ignore WlSeat);

on_event!(WlRegistry, |heard, _, event| {
    if let wl_registry::Event::Global {
        name, interface, ..
    } = event
    {
        heard.globals.push((name, interface));
    }
});

impl Dispatch<WlCallback, u32> for Heard {
    fn event(
        heard: &mut Self,
        _: &WlCallback,
        _: wl_callback::Event,
        number: &u32,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        heard.done = *number;
    }
}
