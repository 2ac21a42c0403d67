//! The state that the compositor has reported.

use std::os::fd::OwnedFd;

use deskline_core::Rect;
use wayland_client::backend::ObjectId;
use wayland_client::protocol::wl_buffer::WlBuffer;
use wayland_client::protocol::wl_callback::{self, WlCallback};
use wayland_client::protocol::wl_output::{self, WlOutput};
use wayland_client::protocol::wl_registry::{self, WlRegistry};
use wayland_client::protocol::wl_seat::{self, Capability, WlSeat};
use wayland_client::protocol::wl_shm::{Format, WlShm};
use wayland_client::protocol::wl_shm_pool::WlShmPool;
use wayland_client::{Connection, Dispatch, Proxy as _, QueueHandle, WEnum, delegate_noop};
use wayland_protocols::xdg::xdg_output::zv1::client::zxdg_output_manager_v1::ZxdgOutputManagerV1;
use wayland_protocols::xdg::xdg_output::zv1::client::zxdg_output_v1::ZxdgOutputV1;
use wayland_protocols_misc::zwp_virtual_keyboard_v1::client::zwp_virtual_keyboard_manager_v1::ZwpVirtualKeyboardManagerV1;
use wayland_protocols_misc::zwp_virtual_keyboard_v1::client::zwp_virtual_keyboard_v1::ZwpVirtualKeyboardV1;
use wayland_protocols_wlr::data_control::v1::client::zwlr_data_control_offer_v1::ZwlrDataControlOfferV1;
use wayland_protocols_wlr::foreign_toplevel::v1::client::zwlr_foreign_toplevel_handle_v1::ZwlrForeignToplevelHandleV1;
use wayland_protocols_wlr::foreign_toplevel::v1::client::zwlr_foreign_toplevel_manager_v1::ZwlrForeignToplevelManagerV1;
use wayland_protocols_wlr::screencopy::v1::client::zwlr_screencopy_manager_v1::ZwlrScreencopyManagerV1;
use wayland_protocols_wlr::virtual_pointer::v1::client::zwlr_virtual_pointer_manager_v1::ZwlrVirtualPointerManagerV1;
use wayland_protocols_wlr::virtual_pointer::v1::client::zwlr_virtual_pointer_v1::ZwlrVirtualPointerV1;

/// Implements `Dispatch` for an object, without its unused arguments. An event with the opcode
/// `$code` creates a `$child`.
macro_rules! on_event {
    ($object:ty, |$heard:ident, $from:pat_param, $event:ident| $body:expr $(, $code:path => $child:ty)?) => {
        $crate::wlroots::heard::on_event!(
            $object, (), |$heard, $from, $event, _| $body $(, $code => $child)?
        );
    };
    ($object:ty, $data:ty,
     |$heard:ident, $from:pat_param, $event:ident, $its:pat_param| $body:expr
     $(, $code:path => $child:ty)?) => {
        impl wayland_client::Dispatch<$object, $data> for Heard {
            fn event(
                $heard: &mut Self,
                $from: &$object,
                $event: <$object as wayland_client::Proxy>::Event,
                $its: &$data,
                _: &wayland_client::Connection,
                _: &wayland_client::QueueHandle<Self>,
            ) {
                $body
            }

            $(wayland_client::event_created_child!(Heard, $object, [$code => ($child, ())]);)?
        }
    };
}
pub(crate) use on_event;

/// The highest version of `wl_output` to bind: the first version with the event `name`.
const VERSION: u32 = 4;

/// An empty rectangle: no part of the layout.
pub(crate) const NOWHERE: Rect = Rect::at(0, 0, 0, 0);

/// The state that the compositor has reported.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) globals: Vec<(u32, String, u32)>,
    pub(crate) screens: Screens,
    /// The windows, after [`Client::watch_toplevels`](super::client::Client::watch_toplevels).
    pub(crate) toplevels: Toplevels,
    /// Whether the seat has a pointer and a keyboard.
    pub(crate) capabilities: Capability,
    /// The number of the last completed round trip.
    pub(crate) done: u32,
    /// The picture that is being taken.
    pub(crate) frame: Frame,
    pub(crate) clipboard: Clipboard,
    /// The serial of the last event by which the compositor has configured our banner.
    pub(crate) banner: Option<u32>,
    /// The keymap of the seat's keyboard.
    pub(crate) keymap: Option<Vec<u8>>,
}

impl Heard {
    pub(crate) fn new() -> Self {
        Self {
            globals: Vec::new(),
            screens: Screens::default(),
            toplevels: Toplevels::default(),
            capabilities: Capability::empty(),
            done: 0,
            frame: Frame::default(),
            clipboard: Clipboard::default(),
            banner: None,
            keymap: None,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Screens {
    pub(crate) all: Vec<Known>,
    pub(crate) manager: Option<ZxdgOutputManagerV1>,
}

/// An output, as far as the compositor has described it.
#[derive(Debug)]
pub(crate) struct Known {
    /// The number of the output's global.
    pub(crate) global: u32,
    pub(crate) output: WlOutput,
    pub(crate) described: Option<ZxdgOutputV1>,
    pub(crate) place: Rect,
    /// Pixels per logical pixel, rounded up.
    pub(crate) scale: i32,
}

impl Screens {
    pub(crate) fn added(&mut self, global: u32, output: WlOutput) {
        self.all.push(Known {
            global,
            output,
            described: None,
            place: NOWHERE,
            scale: 1,
        });
    }

    pub(crate) fn removed(&mut self, global: u32) {
        self.all.retain(|known| known.global != global);
    }

    pub(crate) fn known(&mut self, output: &WlOutput) -> Option<&mut Known> {
        let mut all = self.all.iter_mut();
        all.find(|known| known.output.id() == output.id())
    }
}

/// The windows, in the order of their announcement.
#[derive(Debug, Default)]
pub(crate) struct Toplevels {
    pub(crate) manager: Option<ZwlrForeignToplevelManagerV1>,
    pub(crate) all: Vec<Toplevel>,
    /// How many windows have been announced.
    pub(crate) count: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Toplevel {
    pub(crate) handle: ZwlrForeignToplevelHandleV1,
    /// The window's number. Numbers count up from 1, and are not reused on this connection.
    pub(crate) number: u64,
    pub(crate) facts: Facts,
    /// The facts that become valid with the next `done`.
    pub(crate) next: Facts,
}

/// The state of a window.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    /// The title that the app has chosen: hostile data.
    pub(crate) title: String,
    /// The app's name for itself. Hostile data.
    pub(crate) app: String,
    /// Whether the window has the keyboard.
    pub(crate) activated: bool,
    pub(crate) fullscreen: bool,
    pub(crate) minimised: bool,
    /// The outputs on which the window is visible.
    pub(crate) outputs: Vec<WlOutput>,
}

impl Toplevels {
    /// The window with this number; `None` if it has closed.
    pub(crate) fn numbered(&self, number: u64) -> Option<&Toplevel> {
        self.all.iter().find(|t| t.number == number)
    }

    pub(crate) fn known(&mut self, handle: &ZwlrForeignToplevelHandleV1) -> Option<&mut Toplevel> {
        self.all.iter_mut().find(|t| t.handle.id() == handle.id())
    }
}

/// A picture, as far as the compositor has described it.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    /// The format, width, height and bytes per row of the buffer to provide.
    pub(crate) buffer: Option<(Format, u32, u32, u32)>,
    pub(crate) described: bool,
    pub(crate) upside_down: bool,
    /// Whether the picture was taken; `None` until the compositor reports it.
    pub(crate) taken: Option<bool>,
}

/// The clipboard, as far as the compositor has reported it.
#[derive(Debug, Default)]
pub(crate) struct Clipboard {
    /// The offers with their types: the last selection's offer, and offers that were just
    /// announced.
    pub(crate) offers: Vec<(ZwlrDataControlOfferV1, Vec<String>)>,
    /// The offer that is on the clipboard.
    pub(crate) selection: Option<ObjectId>,
    /// Whether the selection has changed.
    pub(crate) changed: bool,
    /// Requests for data: our source, the type, and the pipe to write to.
    pub(crate) wanted: Vec<(ObjectId, String, OwnedFd)>,
    /// Our sources that have been replaced.
    pub(crate) cancelled: Vec<ObjectId>,
}

impl Dispatch<WlRegistry, ()> for Heard {
    fn event(
        heard: &mut Self,
        registry: &WlRegistry,
        event: wl_registry::Event,
        (): &(),
        _: &Connection,
        handle: &QueueHandle<Self>,
    ) {
        match event {
            wl_registry::Event::Global {
                name,
                interface,
                version,
            } => {
                if interface == WlOutput::interface().name {
                    let most = version.min(VERSION);
                    let output = registry.bind::<WlOutput, _, _>(name, most, handle, ());
                    heard.screens.added(name, output);
                }
                heard.globals.push((name, interface, version));
            }
            wl_registry::Event::GlobalRemove { name } => {
                heard.globals.retain(|(known, ..)| *known != name);
                heard.screens.removed(name);
            }
            _ => {}
        }
    }
}

on_event!(WlCallback, u32, |heard, _, event, number| {
    if let wl_callback::Event::Done { .. } = event {
        heard.done = *number;
    }
});

on_event!(WlOutput, |heard, output, event| {
    if let (wl_output::Event::Scale { factor }, Some(known)) = (event, heard.screens.known(output))
    {
        known.scale = factor.max(1);
    }
});

on_event!(WlSeat, |heard, _, event| {
    if let wl_seat::Event::Capabilities {
        capabilities: WEnum::Value(capabilities),
    } = event
    {
        heard.capabilities = capabilities;
    }
});

delegate_noop!(Heard: ignore WlShm);
delegate_noop!(Heard: ignore WlBuffer);
delegate_noop!(Heard: WlShmPool);
delegate_noop!(Heard: ZwlrScreencopyManagerV1);
delegate_noop!(Heard: ZwlrVirtualPointerManagerV1);
delegate_noop!(Heard: ZwlrVirtualPointerV1);
delegate_noop!(Heard: ZwpVirtualKeyboardManagerV1);
delegate_noop!(Heard: ZwpVirtualKeyboardV1);
