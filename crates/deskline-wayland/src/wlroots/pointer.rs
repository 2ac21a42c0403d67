//! A virtual pointer: absolute motion over the whole layout, buttons and the wheel.

use deskline_core::{Point, Rect};
use deskline_link::{BETWEEN_CLICKS, Button, Cancel, Clicks, Result};
use deskline_unix::codes::{LEFT, MIDDLE, RIGHT};
use wayland_client::protocol::wl_pointer::{Axis, AxisSource, ButtonState};
use wayland_client::protocol::wl_seat::Capability;
use wayland_protocols_wlr::virtual_pointer::v1::client::zwlr_virtual_pointer_v1::ZwlrVirtualPointerV1;

use crate::wlroots::client::Client;

/// A wheel's notch, in the units of `wl_pointer.axis`.
const NOTCH: f64 = 15.0;

pub(crate) struct VirtualPointer {
    device: ZwlrVirtualPointerV1,
    pressed: Vec<u32>,
}

impl VirtualPointer {
    pub(crate) fn new(client: &mut Client) -> Result<Self> {
        let had = client.has(Capability::Pointer);
        let (seat, handle) = (Some(&client.seat), client.handle());
        let device = client.pointers()?.create_virtual_pointer(seat, &handle, ());
        client.introduce(had)?;
        Ok(Self {
            device,
            pressed: Vec::new(),
        })
    }

    /// Moves the pointer there. `layout` are the bounds of all outputs.
    pub(crate) fn go(&self, client: &mut Client, layout: Rect, to: Point) -> Result<()> {
        let from = |at: i32, start: i32, size: i32| {
            let size = size.max(1);
            at.saturating_sub(start).clamp(0, size - 1).cast_unsigned()
        };
        let (x, y) = (
            from(to.x, layout.x, layout.w),
            from(to.y, layout.y, layout.h),
        );
        let (w, h) = (
            layout.w.max(1).cast_unsigned(),
            layout.h.max(1).cast_unsigned(),
        );
        self.device.motion_absolute(client.time(), x, y, w, h);
        self.device.frame();
        client.roundtrip()
    }

    fn button(&mut self, client: &mut Client, code: u32, state: ButtonState) -> Result<()> {
        self.pressed.retain(|held| *held != code);
        if state == ButtonState::Pressed {
            self.pressed.push(code);
        }
        self.device.button(client.time(), code, state);
        self.device.frame();
        client.roundtrip()
    }

    pub(crate) fn click(
        &mut self,
        client: &mut Client,
        button: Button,
        clicks: Clicks,
        cancel: &Cancel,
    ) -> Result<()> {
        let code = match button {
            Button::Left => LEFT,
            Button::Middle => MIDDLE,
            Button::Right => RIGHT,
        };
        self.tap(client, code)?;
        if clicks == Clicks::Double {
            cancel.wait(BETWEEN_CLICKS)?;
            self.tap(client, code)?;
        }
        Ok(())
    }

    fn tap(&mut self, client: &mut Client, code: u32) -> Result<()> {
        self.button(client, code, ButtonState::Pressed)?;
        self.button(client, code, ButtonState::Released)
    }

    /// Presses the main button.
    pub(crate) fn press(&mut self, client: &mut Client) -> Result<()> {
        self.button(client, LEFT, ButtonState::Pressed)
    }

    pub(crate) fn scroll(
        &self,
        client: &mut Client,
        axis: Axis,
        lines: i32,
        cancel: &Cancel,
    ) -> Result<()> {
        for _ in 0..lines.unsigned_abs() {
            cancel.check()?;
            let sign = lines.signum();
            self.device.axis_source(AxisSource::Wheel);
            self.device
                .axis_discrete(client.time(), axis, NOTCH * f64::from(sign), sign);
            self.device.frame();
            client.roundtrip()?;
        }
        Ok(())
    }

    /// Releases the buttons that are pressed.
    pub(crate) fn release(&mut self, client: &mut Client) -> Result<()> {
        for code in self.pressed.clone() {
            self.button(client, code, ButtonState::Released)?;
        }
        Ok(())
    }
}
