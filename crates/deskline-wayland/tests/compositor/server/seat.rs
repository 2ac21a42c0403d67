//! `wl_seat`, and the virtual devices on it.

use std::collections::BTreeSet;
use std::fs::File;
use std::ops::RangeInclusive;
use std::os::unix::fs::FileExt as _;
use std::sync::Mutex;

use deskline_core::Point;
use kbvm::lookup::LookupTable;
use kbvm::xkb::Context;
use kbvm::xkb::diagnostic::{Diagnostic, DiagnosticHandler, DiagnosticKind};
use kbvm::{GroupIndex, Keycode, ModifierMask};
use wayland_protocols_misc::zwp_virtual_keyboard_v1::server::zwp_virtual_keyboard_manager_v1::{
    self, ZwpVirtualKeyboardManagerV1,
};
use wayland_protocols_misc::zwp_virtual_keyboard_v1::server::zwp_virtual_keyboard_v1::{
    self, ZwpVirtualKeyboardV1,
};
use wayland_protocols_wlr::virtual_pointer::v1::server::zwlr_virtual_pointer_manager_v1::{
    self, ZwlrVirtualPointerManagerV1,
};
use wayland_protocols_wlr::virtual_pointer::v1::server::zwlr_virtual_pointer_v1::{
    self, ZwlrVirtualPointerV1,
};
use wayland_server::WEnum;
use wayland_server::protocol::wl_keyboard::WlKeyboard;
use wayland_server::protocol::wl_pointer::{Axis, ButtonState, WlPointer};
use wayland_server::protocol::wl_seat::{self, Capability, WlSeat};
use wayland_server::protocol::wl_touch::WlTouch;

use super::State;

impl State {
    pub(super) fn offer_seat(&mut self) {
        self.offer::<WlSeat>(7);
        self.offer::<ZwlrVirtualPointerManagerV1>(2);
        self.offer::<ZwpVirtualKeyboardManagerV1>(1);
    }
}

on_bind!(WlSeat, (), |_, seat, (), init| {
    let seat = init.init(seat, ());
    // The person's devices.
    seat.capabilities(Capability::Pointer | Capability::Keyboard);
});

on_request!(WlSeat, (), |_, _, request, (), init| {
    match request {
        wl_seat::Request::GetPointer { id } => drop(init.init(id, ())),
        wl_seat::Request::GetKeyboard { id } => drop(init.init(id, ())),
        wl_seat::Request::GetTouch { id } => drop(init.init(id, ())),
        _ => {}
    }
});

inert!(WlPointer);
inert!(WlKeyboard);
inert!(WlTouch);

plain!(ZwlrVirtualPointerManagerV1);

on_request!(
    ZwlrVirtualPointerManagerV1,
    (),
    |_, _, request, (), init| {
        use zwlr_virtual_pointer_manager_v1::Request;
        match request {
            Request::CreateVirtualPointer { id, .. }
            | Request::CreateVirtualPointerWithOutput { id, .. } => {
                init.init(id, PointerDevice::default());
            }
            _ => {}
        }
    }
);

/// The pressed buttons of a virtual pointer.
#[derive(Debug, Default)]
struct PointerDevice(Mutex<BTreeSet<u32>>);

on_request!(
    ZwlrVirtualPointerV1,
    PointerDevice,
    |state, _, request, device, _| {
        use zwlr_virtual_pointer_v1::Request;
        match request {
            Request::MotionAbsolute {
                x,
                y,
                x_extent,
                y_extent,
                ..
            } => {
                let bounds = state.desktop.bounds();
                let at = |at: u32, extent: u32, start: i32, size: i32| {
                    start + (f64::from(at) / f64::from(extent) * f64::from(size)).round() as i32
                };
                let to = Point {
                    x: at(x, x_extent, bounds.x, bounds.w),
                    y: at(y, y_extent, bounds.y, bounds.h),
                };
                state.desktop.move_pointer(to);
                state.input();
            }
            Request::Button {
                button,
                state: WEnum::Value(pressed),
                ..
            } => {
                let down = pressed == ButtonState::Pressed;
                let mut held = device.0.lock().expect("the device");
                let changed = if down {
                    held.insert(button)
                } else {
                    held.remove(&button)
                };
                assert!(changed, "button {button} went twice: {down}");
                drop(held);
                state.desktop.button(button, down);
                state.input();
            }
            Request::AxisDiscrete {
                axis: WEnum::Value(axis),
                discrete,
                ..
            } => {
                match axis {
                    Axis::HorizontalScroll => state.desktop.wheel(discrete, 0),
                    _ => state.desktop.wheel(0, discrete),
                }
                state.input();
            }
            _ => {}
        }
    },
    |state, _, device| {
        let held = std::mem::take(&mut *device.0.lock().expect("the device"));
        for button in held {
            state.desktop.button(button, false);
        }
    }
);

plain!(ZwpVirtualKeyboardManagerV1);

on_request!(
    ZwpVirtualKeyboardManagerV1,
    (),
    |_, _, request, (), init| {
        if let zwp_virtual_keyboard_manager_v1::Request::CreateVirtualKeyboard { id, .. } = request
        {
            init.init(id, KeyboardDevice::default());
        }
    }
);

/// Ignores kbvm's diagnostics of the system's keymaps.
struct Silent;

impl DiagnosticHandler for Silent {
    fn filter(&self, _: DiagnosticKind, _: bool) -> bool {
        false
    }

    fn handle(&mut self, _: Diagnostic) {}
}

/// The numeric pad's symbols, whose characters depend on Num Lock.
const KEYPAD: RangeInclusive<u32> = 0xff80..=0xffbd;

/// A virtual keyboard: its keymap, its modifiers, and the pressed keys.
#[derive(Default)]
struct KeyboardDevice(Mutex<KeyboardState>);

#[derive(Default)]
struct KeyboardState {
    keymap: Option<LookupTable>,
    modifiers: u32,
    held: BTreeSet<u32>,
}

on_request!(
    ZwpVirtualKeyboardV1,
    KeyboardDevice,
    |state, _, request, device, _| {
        use zwp_virtual_keyboard_v1::Request;
        let mut keyboard = device.0.lock().expect("the device");
        match request {
            Request::Keymap { fd, size, .. } => {
                let mut text = vec![0; size as usize];
                File::from(fd)
                    .read_exact_at(&mut text, 0)
                    .expect("a keymap");
                let context = Context::builder().build();
                let keymap = context.keymap_from_bytes(Silent, None, &text);
                let keymap = keymap.expect("a keymap that compiles");
                keyboard.keymap = Some(keymap.to_builder().build_lookup_table());
                assert!(
                    keyboard.held.is_empty(),
                    "a keymap changes under pressed keys"
                );
            }
            Request::Key { key, state: 1, .. } => {
                assert!(keyboard.held.insert(key), "key {key} went down twice");
                state.desktop.keys.insert(key);
                let keymap = keyboard.keymap.as_ref().expect("keys after a keymap");
                let modifiers = ModifierMask(keyboard.modifiers);
                let found = keymap.lookup(GroupIndex(0), modifiers, Keycode::from_evdev(key));
                for given in found {
                    let is_modifier = (0xffe1..=0xffee).contains(&given.keysym().0)
                        || given.keysym() == kbvm::syms::ISO_Level3_Shift;
                    if !is_modifier {
                        let symbol = given.keysym().0;
                        let char = given.keysym().char().filter(|char| !char.is_control());
                        let char = char.filter(|_| !KEYPAD.contains(&symbol));
                        state.desktop.key_down(symbol, keyboard.modifiers, char);
                    }
                }
                drop(keyboard);
                state.input();
            }
            Request::Key { key, .. } => {
                assert!(keyboard.held.remove(&key), "key {key} went up twice");
                state.desktop.keys.remove(&key);
                drop(keyboard);
                state.input();
            }
            Request::Modifiers { mods_depressed, .. } => keyboard.modifiers = mods_depressed,
            _ => {}
        }
    },
    |state, _, device| {
        let held = std::mem::take(&mut device.0.lock().expect("the device").held);
        for key in held {
            state.desktop.keys.remove(&key);
        }
    }
);
