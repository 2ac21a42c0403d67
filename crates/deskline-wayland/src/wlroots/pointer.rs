//! A virtual pointer: absolute motion over the whole layout, buttons and the wheel.

use deskline_contract::Result;
use deskline_core::{Point, Rect};
use wayland_client::protocol::wl_pointer::ButtonState::{Pressed, Released};
use wayland_client::protocol::wl_pointer::{Axis, AxisSource};
use wayland_client::protocol::wl_seat::Capability;
use wayland_protocols_wlr::virtual_pointer::v1::client::zwlr_virtual_pointer_v1::ZwlrVirtualPointerV1;

use crate::wlroots::client::Client;

/// A wheel notch, in the units of `wl_pointer.axis`.
const NOTCH: f64 = 15.0;

pub(crate) struct VirtualPointer {
    device: ZwlrVirtualPointerV1,
}

impl VirtualPointer {
    pub(crate) fn new(client: &mut Client) -> Result<Self> {
        let had = client.has(Capability::Pointer);
        let (seat, handle) = (Some(&client.seat), client.handle());
        let device = client.pointers()?.create_virtual_pointer(seat, &handle, ());
        client.introduce(had)?;
        Ok(Self { device })
    }

    /// Moves the pointer to `to`. `layout` is the bounds of all outputs.
    pub(crate) fn go(&self, client: &mut Client, layout: Rect, to: Point) -> Result<()> {
        let from = |at: i32, start: i32, size: i32| {
            let size = size.max(1);
            at.saturating_sub(start).clamp(0, size - 1).cast_unsigned()
        };
        let x = from(to.x, layout.x, layout.w);
        let y = from(to.y, layout.y, layout.h);
        let [w, h] = [layout.w, layout.h].map(|side| side.max(1).cast_unsigned());
        self.device.motion_absolute(client.time(), x, y, w, h);
        self.device.frame();
        client.roundtrip()
    }

    pub(crate) fn button(&self, client: &mut Client, code: u32, down: bool) -> Result<()> {
        let state = if down { Pressed } else { Released };
        self.device.button(client.time(), code, state);
        self.device.frame();
        client.roundtrip()
    }

    /// Turns the wheel by `notch`: 1, -1 or 0.
    pub(crate) fn turn(&self, client: &mut Client, axis: Axis, notch: i32) -> Result<()> {
        if notch == 0 {
            return Ok(());
        }
        self.device.axis_source(AxisSource::Wheel);
        self.device
            .axis_discrete(client.time(), axis, NOTCH * f64::from(notch), notch);
        self.device.frame();
        client.roundtrip()
    }
}
