//! An independent observer at the X server: records who presses which keys and when, the overlay,
//! and state whose change a person would notice.

use std::thread::sleep;
use std::time::{Duration, Instant};

use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::protocol::Event;
use x11rb::protocol::shape::{ConnectionExt as _, SK};
use x11rb::protocol::xinput::{
    self, ConnectionExt as _, Device, DeviceType, EventMask, XIEventMask,
};
use x11rb::protocol::xkb::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, ImageFormat, MapState, ModMask, Window,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

use crate::screen::open;
use crate::{Bed, PATIENCE, until};

/// A key press on a device. Times are the server's, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stroke {
    pub synthetic: bool,
    pub code: u32,
    pub time: u32,
}

/// Layout, locks and held modifiers, and the symbols of all keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keyboard {
    state: (u8, u16, u16, u16),
    symbols: Vec<u32>,
}

/// An observer with a connection of its own.
#[derive(Debug)]
pub struct Watcher {
    x: RustConnection,
    root: Window,
    xtest: Vec<u16>,
}

impl Watcher {
    /// Waits until a client has grabbed the device of this name: the device is then attached to no
    /// master.
    pub fn await_grab(&self, device: &str) {
        until("the grab of the device", || {
            let devices = self.x.xinput_xi_query_device(Device::ALL).unwrap();
            let mut infos = devices.reply().unwrap().infos.into_iter();
            let info = infos.find(|info| info.name == device.as_bytes())?;
            (info.enabled && info.type_ == DeviceType::FLOATING_SLAVE).then_some(())
        });
    }

    /// Whether any device of the person's is grabbed.
    pub fn holds_a_device(&self) -> bool {
        let devices = self.x.xinput_xi_query_device(Device::ALL).unwrap();
        let mut infos = devices.reply().unwrap().infos.into_iter();
        infos.any(|info| info.enabled && info.type_ == DeviceType::FLOATING_SLAVE)
    }

    /// Presses these keys together on the XTEST keyboard of this master, as any app may.
    pub fn chord_on(&self, master: &str, keys: &[u32]) {
        let name = format!("{master} XTEST keyboard");
        let devices = self.x.xinput_xi_query_device(Device::ALL).unwrap();
        let mut infos = devices.reply().unwrap().infos.into_iter();
        let info = infos.find(|info| info.name == name.as_bytes()).unwrap();
        let device = info.deviceid.try_into().unwrap();
        let extension = self.x.extension_information(xinput::X11_EXTENSION_NAME);
        let first = extension.unwrap().unwrap().first_event;
        let kinds = [
            xinput::DEVICE_KEY_PRESS_EVENT,
            xinput::DEVICE_KEY_RELEASE_EVENT,
        ];
        for kind in kinds {
            for key in keys {
                let (kind, code) = (first + kind, self.code_of(*key).try_into().unwrap());
                let sent = self
                    .x
                    .xtest_fake_input(kind, code, 0, x11rb::NONE, 0, 0, device);
                sent.unwrap().check().unwrap();
            }
        }
    }

    /// Starts to record.
    pub fn on(bed: &Bed) -> Self {
        let x = open(bed.environment());
        let root = x.setup().roots[0].root;
        x.xinput_xi_query_version(2, 2).unwrap().reply().unwrap();
        x.xkb_use_extension(1, 0).unwrap().reply().unwrap();
        let devices = x.xinput_xi_query_device(Device::ALL).unwrap();
        let devices = devices.reply().unwrap().infos;
        let xtest = devices
            .iter()
            .filter(|d| d.name.windows(5).any(|part| part == b"XTEST"))
            .map(|d| d.deviceid)
            .collect();
        let mask = EventMask {
            deviceid: Device::ALL.into(),
            mask: vec![XIEventMask::RAW_KEY_PRESS],
        };
        x.xinput_xi_select_events(root, &[mask])
            .unwrap()
            .check()
            .unwrap();
        Self { x, root, xtest }
    }

    /// The key presses on devices, grabbed or not, since the last call.
    pub fn strokes(&self) -> Vec<Stroke> {
        let mut strokes = vec![];
        self.x.get_input_focus().unwrap().reply().unwrap();
        while let Some(event) = self.x.poll_for_event().unwrap() {
            // Each press is reported for the device, and again for the device's master.
            if let Event::XinputRawKeyPress(key) = event
                && key.deviceid == key.sourceid
            {
                strokes.push(Stroke {
                    synthetic: self.xtest.contains(&key.sourceid),
                    code: key.detail,
                    time: key.time,
                });
            }
        }
        strokes
    }

    /// The key code that gives this symbol without modifiers.
    pub fn code_of(&self, symbol: u32) -> u32 {
        let (first, symbols, width) = self.symbols();
        let at = symbols.chunks(width).position(|s| s[0] == symbol).unwrap();
        (usize::from(first) + at) as u32
    }

    fn symbols(&self) -> (u8, Vec<u32>, usize) {
        let (low, high) = (self.x.setup().min_keycode, self.x.setup().max_keycode);
        let map = self.x.get_keyboard_mapping(low, high - low + 1).unwrap();
        let map = map.reply().unwrap();
        (low, map.keysyms, map.keysyms_per_keycode.into())
    }

    /// The current state of the keyboard.
    pub fn keyboard(&self) -> Keyboard {
        let core = xkb::ID::USE_CORE_KBD.into();
        let state = self.x.xkb_get_state(core).unwrap().reply().unwrap();
        let (_, symbols, width) = self.symbols();
        Keyboard {
            state: (
                state.group.into(),
                state.base_mods.into(),
                state.latched_mods.into(),
                state.locked_mods.into(),
            ),
            symbols: symbols
                .chunks(width)
                .flat_map(|s| s[..2].to_vec())
                .collect(),
        }
    }

    /// The latched modifiers, the locked ones, and whether Sticky Keys are on.
    pub fn standing(&self) -> (u16, u16, bool) {
        let core = xkb::ID::USE_CORE_KBD.into();
        let state = self.x.xkb_get_state(core).unwrap().reply().unwrap();
        let controls = self.x.xkb_get_controls(core).unwrap().reply().unwrap();
        let sticky = controls
            .enabled_controls
            .contains(xkb::BoolCtrl::STICKY_KEYS);
        (state.latched_mods.into(), state.locked_mods.into(), sticky)
    }

    /// Turns on Sticky Keys, as a desktop's accessibility settings do.
    pub fn turn_sticky_keys_on(&self) {
        self.sticky_keys(xkb::BoolCtrl::STICKY_KEYS);
    }

    /// Turns off Sticky Keys, which clears latches and locks.
    pub fn turn_sticky_keys_off(&self) {
        self.sticky_keys(xkb::BoolCtrl::from(0_u32));
    }

    fn sticky_keys(&self, on: xkb::BoolCtrl) {
        let sticky = xkb::BoolCtrl::STICKY_KEYS;
        let (mods, vmods) = (ModMask::from(0_u16), xkb::VMod::from(0_u16));
        let (options, none) = (xkb::AXOption::from(0_u16), xkb::BoolCtrl::from(0_u32));
        let core = xkb::ID::USE_CORE_KBD.into();
        let changes = xkb::Control::from(0_u32);
        let asked = self.x.xkb_set_controls(
            core, mods, mods, mods, mods, vmods, vmods, vmods, vmods, 0, 0, options, sticky, on,
            changes, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, none, none, options, options, &[0; 32],
        );
        asked.unwrap().check().unwrap();
    }

    /// The overlay's window, if it is shown.
    pub fn overlay(&self) -> Option<Window> {
        let children = self.x.query_tree(self.root).unwrap().reply().unwrap();
        children.children.into_iter().rev().find(|id| {
            let class = (AtomEnum::WM_CLASS, AtomEnum::STRING);
            let class = self.x.get_property(false, *id, class.0, class.1, 0, 64);
            let shown = self.x.get_window_attributes(*id).unwrap().reply();
            let class = class.unwrap().reply();
            shown.is_ok_and(|a| a.map_state == MapState::VIEWABLE)
                && class.is_ok_and(|c| c.value == b"overlay\0Deskline\0")
        })
    }

    /// Waits for the overlay to appear. It may show for no longer than some milliseconds.
    pub fn await_overlay(&self) -> Window {
        let start = Instant::now();
        loop {
            if let Some(window) = self.overlay() {
                return window;
            }
            assert!(start.elapsed() < PATIENCE, "no overlay");
            sleep(Duration::from_millis(1));
        }
    }

    /// Waits for the overlay to disappear.
    pub fn await_no_overlay(&self) {
        until("the overlay's end", || self.overlay().is_none());
    }

    /// Whether clicks go through a window.
    pub fn is_click_through(&self, window: Window) -> bool {
        let shape = self.x.shape_get_rectangles(window, SK::INPUT).unwrap();
        shape.reply().unwrap().rectangles.is_empty()
    }

    /// How many pixels of the screen have this colour, 0xRRGGBB.
    pub fn pixels_of(&self, color: u32) -> usize {
        let size = self.x.get_geometry(self.root).unwrap().reply().unwrap();
        let (width, height) = (size.width, size.height);
        let image = self
            .x
            .get_image(ImageFormat::Z_PIXMAP, self.root, 0, 0, width, height, !0)
            .unwrap();
        let image = image.reply().unwrap().data;
        let [_, r, g, b] = color.to_be_bytes();
        let pixels = image.chunks_exact(4);
        pixels.filter(|p| p[..3] == [b, g, r]).count()
    }
}
