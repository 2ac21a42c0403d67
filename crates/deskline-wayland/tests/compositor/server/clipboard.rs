//! The person's clipboard, with access by wlroots' data control.

use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Mutex;

use wayland_protocols_wlr::data_control::v1::server::zwlr_data_control_device_v1::{
    self as device, ZwlrDataControlDeviceV1,
};
use wayland_protocols_wlr::data_control::v1::server::zwlr_data_control_manager_v1::{
    self as manager, ZwlrDataControlManagerV1,
};
use wayland_protocols_wlr::data_control::v1::server::zwlr_data_control_offer_v1::{
    self as offer, ZwlrDataControlOfferV1,
};
use wayland_protocols_wlr::data_control::v1::server::zwlr_data_control_source_v1::{
    self as source, ZwlrDataControlSourceV1,
};
use wayland_server::Resource as _;

use super::State;

/// The clipboard's content and its owner.
#[derive(Debug, Default)]
enum Selection {
    #[default]
    Nothing,
    /// The data that the person has copied, by type.
    Apps(Vec<(String, Vec<u8>)>),
    Client(ZwlrDataControlSourceV1),
}

/// The clipboard.
#[derive(Debug, Default)]
pub struct Clipboard {
    selection: Selection,
    devices: Vec<ZwlrDataControlDeviceV1>,
    /// Whether apps withhold their data.
    pub withholds: bool,
    withheld: Vec<OwnedFd>,
}

type Types = Mutex<Vec<String>>;

impl State {
    pub(super) fn offer_clipboard(&mut self) {
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
        let last = std::mem::replace(&mut self.clipboard.selection, selection);
        if let Selection::Client(source) = last {
            source.cancelled();
        }
        for device in self.clipboard.devices.clone() {
            self.announce(&device);
        }
    }

    /// The types on the clipboard.
    pub fn types(&self) -> Vec<String> {
        match &self.clipboard.selection {
            Selection::Nothing => vec![],
            Selection::Apps(data) => data.iter().map(|(kind, _)| kind.clone()).collect(),
            Selection::Client(source) => {
                let types: &Types = source.data().expect("a source");
                types.lock().expect("types").clone()
            }
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
                // A thread writes it, as in an app, so that the compositor is not blocked.
                std::thread::spawn(move || std::fs::File::from(into).write_all(&data));
            }
            Selection::Client(source) => source.send(kind.to_owned(), into.as_fd()),
        }
    }
}

/// Reads the data to its end.
pub fn read(mut pipe: std::io::PipeReader) -> Vec<u8> {
    let mut data = Vec::new();
    pipe.read_to_end(&mut data).expect("the data");
    data
}

plain!(ZwlrDataControlManagerV1);

impl State {
    fn announce(&self, device: &ZwlrDataControlDeviceV1) {
        let types = self.types();
        if types.is_empty() {
            device.selection(None);
            return;
        }
        let Some(client) = device.client() else {
            return;
        };
        let version = device.version();
        let offer =
            client.create_resource::<ZwlrDataControlOfferV1, (), Self>(&self.display, version, ());
        let offer = offer.expect("a client that is there");
        device.data_offer(&offer);
        for kind in types {
            offer.offer(kind);
        }
        device.selection(Some(&offer));
    }
}

on_request!(
    ZwlrDataControlManagerV1,
    (),
    |state, _, request, (), init| {
        match request {
            manager::Request::CreateDataSource { id } => {
                init.init(id, Types::default());
            }
            manager::Request::GetDataDevice { id, .. } => {
                let device = init.init(id, ());
                state.announce(&device);
                state.clipboard.devices.push(device);
            }
            _ => {}
        }
    }
);

on_request!(
    ZwlrDataControlDeviceV1,
    (),
    |state, _, request, (), _| {
        if let device::Request::SetSelection { source } = request {
            state.select(source.map_or(Selection::Nothing, Selection::Client));
        }
    },
    |state, gone, ()| {
        state.clipboard.devices.retain(|device| device != gone);
    }
);

on_request!(ZwlrDataControlOfferV1, (), |state, _, request, (), _| {
    if let offer::Request::Receive { mime_type, fd } = request {
        state.hand_over(&mime_type, fd);
    }
});

on_request!(
    ZwlrDataControlSourceV1,
    Types,
    |_, _, request, types, _| {
        if let source::Request::Offer { mime_type } = request {
            types.lock().expect("types").push(mime_type);
        }
    },
    |state, gone, _| {
        if matches!(&state.clipboard.selection, Selection::Client(s) if s == gone) {
            state.clipboard.selection = Selection::Nothing;
        }
    }
);
