//! Another program that grabs the keyboard or the pointer.

use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xinput::{ConnectionExt as _, Device, DeviceType, GrabOwner, XIDeviceInfo};
use x11rb::protocol::xproto::{
    AtomEnum, CloseDown, ConnectionExt as _, CreateWindowAux, EventMask, GrabMode, GrabStatus,
    PropMode, Window, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use crate::screen::open;
use crate::{Bed, until};

/// An X client without a window.
#[derive(Debug)]
pub struct Grabber {
    x: RustConnection,
    root: Window,
}

impl Grabber {
    /// A client without any grabs.
    pub fn on(bed: &Bed) -> Self {
        let x = open(bed.environment());
        let root = x.setup().roots[0].root;
        Self { x, root }
    }

    pub fn grab_keyboard(&mut self) {
        let mode = GrabMode::ASYNC;
        until("the keyboard's grab", || {
            let asked = self.x.grab_keyboard(false, self.root, 0_u32, mode, mode);
            (asked.unwrap().reply().unwrap().status == GrabStatus::SUCCESS).then_some(())
        });
    }

    pub fn grab_pointer(&mut self) {
        let mode = GrabMode::ASYNC;
        let events = EventMask::BUTTON_PRESS;
        until("the pointer's grab", || {
            let asked = self
                .x
                .grab_pointer(false, self.root, events, mode, mode, 0_u32, 0_u32, 0_u32);
            (asked.unwrap().reply().unwrap().status == GrabStatus::SUCCESS).then_some(())
        });
    }

    /// Grabs each of the person's devices, as a guard does.
    pub fn grab_devices(&self) {
        let all = self.x.xinput_xi_query_device(Device::ALL).unwrap();
        let of_a_person = |info: &&XIDeviceInfo| {
            let slave = [DeviceType::SLAVE_KEYBOARD, DeviceType::SLAVE_POINTER];
            slave.contains(&info.type_) && !String::from_utf8_lossy(&info.name).contains("XTEST")
        };
        for info in all.reply().unwrap().infos.iter().filter(of_a_person) {
            let mode = GrabMode::ASYNC;
            let grab = self.x.xinput_xi_grab_device(
                self.root,
                0_u32,
                0_u32,
                info.deviceid,
                mode,
                mode,
                GrabOwner::NO_OWNER,
                &[0],
            );
            assert_eq!(grab.unwrap().reply().unwrap().status, GrabStatus::SUCCESS);
        }
    }

    /// Ends, and leaves a window above all others whose process nobody knows.
    pub fn leave_a_window(self, (x, y, w, h): (i32, i32, u32, u32)) {
        let window = self.x.generate_id().unwrap();
        let (class, aux) = (WindowClass::INPUT_OUTPUT, CreateWindowAux::new());
        let [x, y] = [x, y].map(|at| i16::try_from(at).unwrap());
        let [w, h] = [w, h].map(|size| u16::try_from(size).unwrap());
        let made = self
            .x
            .create_window(0, window, self.root, x, y, w, h, 0, class, 0, &aux);
        made.unwrap().check().unwrap();
        let atom = |name: &[u8]| {
            let asked = self.x.intern_atom(false, name).unwrap();
            asked.reply().unwrap().atom
        };
        let (state, above) = (atom(b"_NET_WM_STATE"), atom(b"_NET_WM_STATE_ABOVE"));
        let set = |property: u32, kind: AtomEnum, value: &[u32]| {
            let replace = PropMode::REPLACE;
            let asked = self
                .x
                .change_property32(replace, window, property, kind, value);
            asked.unwrap().check().unwrap();
        };
        set(state, AtomEnum::ATOM, &[above]);
        // US Position: the window manager places it there.
        let mut hints = [0; 18];
        hints[0] = 1;
        set(
            AtomEnum::WM_NORMAL_HINTS.into(),
            AtomEnum::WM_SIZE_HINTS,
            &hints,
        );
        let title = b"Nobody's";
        let named = self.x.change_property8(
            PropMode::REPLACE,
            window,
            AtomEnum::WM_NAME,
            AtomEnum::STRING,
            title,
        );
        named.unwrap().check().unwrap();
        self.x.map_window(window).unwrap().check().unwrap();
        // The window manager sets this property on a window that it has placed.
        let managed = atom(b"WM_STATE");
        until("the window", || {
            let asked = self.x.get_property(false, window, managed, managed, 0, 2);
            (asked.unwrap().reply().unwrap().value_len > 0).then_some(())
        });
        let retained = self.x.set_close_down_mode(CloseDown::RETAIN_PERMANENT);
        retained.unwrap().check().unwrap();
    }

    /// Releases keyboard and pointer.
    pub fn let_go(&mut self) {
        self.x.ungrab_keyboard(0_u32).unwrap().check().unwrap();
        self.x.ungrab_pointer(0_u32).unwrap().check().unwrap();
    }

    fn heard(&self, wanted: impl Fn(&Event) -> bool) -> usize {
        // Events that were sent before this reply have arrived.
        self.x.get_input_focus().unwrap().reply().unwrap();
        let events = std::iter::from_fn(|| self.x.poll_for_event().unwrap());
        events.filter(wanted).count()
    }

    /// How many keys it has received since the last call.
    pub fn keys(&self) -> usize {
        self.heard(|event| matches!(event, Event::KeyPress(_)))
    }

    /// How many clicks it has received since the last call.
    pub fn clicks(&self) -> usize {
        self.heard(|event| matches!(event, Event::ButtonPress(_)))
    }
}
