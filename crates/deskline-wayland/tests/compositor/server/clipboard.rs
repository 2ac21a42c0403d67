//! The person's clipboard, with access by `ext-data-control` and `wlr-data-control`.

use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Mutex;

use wayland_protocols::ext::data_control::v1::server::ext_data_control_device_v1::{
    self as ext_device, ExtDataControlDeviceV1,
};
use wayland_protocols::ext::data_control::v1::server::ext_data_control_manager_v1::{
    self as ext_manager, ExtDataControlManagerV1,
};
use wayland_protocols::ext::data_control::v1::server::ext_data_control_offer_v1::{
    self as ext_offer, ExtDataControlOfferV1,
};
use wayland_protocols::ext::data_control::v1::server::ext_data_control_source_v1::{
    self as ext_source, ExtDataControlSourceV1,
};
use wayland_protocols_wlr::data_control::v1::server::zwlr_data_control_device_v1::{
    self as wlr_device, ZwlrDataControlDeviceV1,
};
use wayland_protocols_wlr::data_control::v1::server::zwlr_data_control_manager_v1::{
    self as wlr_manager, ZwlrDataControlManagerV1,
};
use wayland_protocols_wlr::data_control::v1::server::zwlr_data_control_offer_v1::{
    self as wlr_offer, ZwlrDataControlOfferV1,
};
use wayland_protocols_wlr::data_control::v1::server::zwlr_data_control_source_v1::{
    self as wlr_source, ZwlrDataControlSourceV1,
};
use wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource as _};

use super::State;

/// The clipboard's content and its owner.
#[derive(Debug, Default)]
enum Selection {
    #[default]
    Nothing,
    /// The data that the person has copied in an app, by type.
    Apps(Vec<(String, Vec<u8>)>),
    Ext(ExtDataControlSourceV1),
    Wlr(ZwlrDataControlSourceV1),
}

/// The clipboard.
#[derive(Debug, Default)]
pub struct Clipboard {
    selection: Selection,
    ext: Vec<ExtDataControlDeviceV1>,
    wlr: Vec<ZwlrDataControlDeviceV1>,
    /// Whether apps withhold their data.
    pub withholds: bool,
    withheld: Vec<OwnedFd>,
}

type Types = Mutex<Vec<String>>;

impl State {
    pub(super) fn offer_clipboard(&mut self) {
        self.offer::<ExtDataControlManagerV1>(1);
        self.offer::<ZwlrDataControlManagerV1>(2);
    }

    /// The person copies something in an app.
    pub fn copy(&mut self, data: &[(&str, &[u8])]) {
        let data = data
            .iter()
            .map(|(kind, data)| ((*kind).to_owned(), data.to_vec()));
        self.select(Selection::Apps(data.collect()));
    }

    fn select(&mut self, selection: Selection) {
        match std::mem::replace(&mut self.clipboard.selection, selection) {
            Selection::Ext(source) => source.cancelled(),
            Selection::Wlr(source) => source.cancelled(),
            Selection::Nothing | Selection::Apps(_) => {}
        }
        for device in self.clipboard.ext.clone() {
            self.announce_ext(&device);
        }
        for device in self.clipboard.wlr.clone() {
            self.announce_wlr(&device);
        }
    }

    /// The types on the clipboard.
    pub fn types(&self) -> Vec<String> {
        let types = |types: Option<&Types>| types.expect("a source").lock().expect("types").clone();
        match &self.clipboard.selection {
            Selection::Nothing => vec![],
            Selection::Apps(data) => data.iter().map(|(kind, _)| kind.clone()).collect(),
            Selection::Ext(source) => types(source.data()),
            Selection::Wlr(source) => types(source.data()),
        }
    }

    /// Requests the data of a type, as an app does. Returns the pipe to read it from.
    pub fn paste(&mut self, kind: &str) -> std::io::PipeReader {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        self.hand_over(kind, writer.into());
        reader
    }

    fn hand_over(&mut self, kind: &str, into: OwnedFd) {
        match &self.clipboard.selection {
            Selection::Nothing => {}
            Selection::Apps(_) if self.clipboard.withholds => self.clipboard.withheld.push(into),
            Selection::Apps(data) => {
                let data = data.iter().find(|(known, _)| known == kind);
                let data = data.map(|(_, data)| data.clone()).unwrap_or_default();
                // On a thread, as an app would, without blocking the compositor.
                std::thread::spawn(move || std::fs::File::from(into).write_all(&data));
            }
            Selection::Ext(source) => source.send(kind.to_owned(), into.as_fd()),
            Selection::Wlr(source) => source.send(kind.to_owned(), into.as_fd()),
        }
    }
}

/// Reads the data to its end.
pub fn read(mut pipe: std::io::PipeReader) -> Vec<u8> {
    let mut data = Vec::new();
    pipe.read_to_end(&mut data).expect("the data");
    data
}

macro_rules! control {
    ($family:ident, $devices:ident, $announce:ident,
     $manager:ident: $manager_type:ident, $device:ident: $device_type:ident,
     $offer:ident: $offer_type:ident, $source:ident: $source_type:ident) => {
        plain!($manager_type);

        impl State {
            fn $announce(&self, device: &$device_type) {
                let types = self.types();
                if types.is_empty() {
                    device.selection(None);
                    return;
                }
                let Some(client) = device.client() else {
                    return;
                };
                let version = device.version();
                let offer = client.create_resource::<$offer_type, (), Self>(&self.display, version, ());
                let offer = offer.expect("a client that is there");
                device.data_offer(&offer);
                for kind in types {
                    offer.offer(kind);
                }
                device.selection(Some(&offer));
            }
        }

        impl Dispatch<$manager_type, ()> for State {
            fn request(
                state: &mut Self,
                _: &Client,
                _: &$manager_type,
                request: $manager::Request,
                (): &(),
                _: &DisplayHandle,
                init: &mut DataInit<'_, Self>,
            ) {
                match request {
                    $manager::Request::CreateDataSource { id } => {
                        init.init(id, Types::default());
                    }
                    $manager::Request::GetDataDevice { id, .. } => {
                        let device = init.init(id, ());
                        state.$announce(&device);
                        state.clipboard.$devices.push(device);
                    }
                    _ => {}
                }
            }
        }

        impl Dispatch<$device_type, ()> for State {
            fn request(
                state: &mut Self,
                _: &Client,
                _: &$device_type,
                request: $device::Request,
                (): &(),
                _: &DisplayHandle,
                _: &mut DataInit<'_, Self>,
            ) {
                if let $device::Request::SetSelection { source } = request {
                    state.select(source.map_or(Selection::Nothing, Selection::$family));
                }
            }

            fn destroyed(
                state: &mut Self,
                _: wayland_server::backend::ClientId,
                gone: &$device_type,
                (): &(),
            ) {
                state.clipboard.$devices.retain(|device| device != gone);
            }
        }

        impl Dispatch<$offer_type, ()> for State {
            fn request(
                state: &mut Self,
                _: &Client,
                _: &$offer_type,
                request: $offer::Request,
                (): &(),
                _: &DisplayHandle,
                _: &mut DataInit<'_, Self>,
            ) {
                if let $offer::Request::Receive { mime_type, fd } = request {
                    state.hand_over(&mime_type, fd);
                }
            }
        }

        impl Dispatch<$source_type, Types> for State {
            fn request(
                _: &mut Self,
                _: &Client,
                _: &$source_type,
                request: $source::Request,
                types: &Types,
                _: &DisplayHandle,
                _: &mut DataInit<'_, Self>,
            ) {
                if let $source::Request::Offer { mime_type } = request {
                    types.lock().expect("types").push(mime_type);
                }
            }

            fn destroyed(
                state: &mut Self,
                _: wayland_server::backend::ClientId,
                gone: &$source_type,
                _: &Types,
            ) {
                if matches!(&state.clipboard.selection, Selection::$family(s) if s == gone) {
                    state.clipboard.selection = Selection::Nothing;
                }
            }
        }
    };
}

control!(Ext, ext, announce_ext,
    ext_manager: ExtDataControlManagerV1, ext_device: ExtDataControlDeviceV1,
    ext_offer: ExtDataControlOfferV1, ext_source: ExtDataControlSourceV1);
control!(Wlr, wlr, announce_wlr,
    wlr_manager: ZwlrDataControlManagerV1, wlr_device: ZwlrDataControlDeviceV1,
    wlr_offer: ZwlrDataControlOfferV1, wlr_source: ZwlrDataControlSourceV1);
