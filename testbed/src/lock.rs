//! A screen lock, as other programs perceive it: an override-redirect window covers the screen, the
//! focus does not change, and the keyboard is grabbed.

use x11rb::COPY_DEPTH_FROM_PARENT;
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    ConnectionExt as _, CreateWindowAux, EventMask, GrabMode, GrabStatus, WindowClass,
};
use x11rb::rust_connection::RustConnection;

use crate::bed::SIZE;
use crate::screen::open;
use crate::{Bed, until};

/// A locked screen. Unlocked by `Drop`.
#[derive(Debug)]
pub struct Lock {
    x: RustConnection,
}

impl Lock {
    /// Locks a bed's screen.
    #[must_use]
    pub fn on(bed: &Bed) -> Self {
        let x = open(bed.environment());
        let root = x.setup().roots[0].root;
        let window = x.generate_id().unwrap();
        let look = CreateWindowAux::new()
            .override_redirect(1)
            .background_pixel(0)
            .event_mask(EventMask::KEY_PRESS);
        let (depth, class) = (COPY_DEPTH_FROM_PARENT, WindowClass::INPUT_OUTPUT);
        x.create_window(
            depth, window, root, 0, 0, SIZE.0, SIZE.1, 0, class, 0, &look,
        )
        .unwrap();
        x.map_window(window).unwrap();
        // Another client may hold the keyboard for a moment, for a shortcut.
        until("the lock's grab", || {
            let mode = GrabMode::ASYNC;
            let grab = x.grab_keyboard(false, window, x11rb::CURRENT_TIME, mode, mode);
            (grab.unwrap().reply().unwrap().status == GrabStatus::SUCCESS).then_some(())
        });
        Self { x }
    }

    /// How many keys it has received.
    pub fn keys(&self) -> usize {
        self.x.get_input_focus().unwrap().reply().unwrap();
        let events = std::iter::from_fn(|| self.x.poll_for_event().unwrap());
        events.filter(|e| matches!(e, Event::KeyPress(_))).count()
    }
}
