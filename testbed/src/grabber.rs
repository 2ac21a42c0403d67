//! Another program that grabs the keyboard or the pointer.

use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xinput::{ConnectionExt as _, Device, DeviceType, GrabOwner, XIDeviceInfo};
use x11rb::protocol::xproto::{ConnectionExt as _, EventMask, GrabMode, GrabStatus, Window};
use x11rb::rust_connection::RustConnection;

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
