//! The X server, through the test's own connection.

use std::collections::BTreeMap;

use x11rb::connection::Connection as _;
use x11rb::protocol::randr::{ConnectionExt as _, MonitorInfo};
use x11rb::protocol::res::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{
    AtomEnum, ClientMessageEvent, ConfigureWindowAux, ConnectionExt as _, CreateWindowAux,
    EventMask, Window as Id, WindowClass,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::{DefaultStream, RustConnection};
use x11rb::wrapper::ConnectionExt as _;

use crate::until;

/// A toplevel window, as X and the window manager report it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Its X id.
    pub id: Id,
    /// The pid that the owner reports; 0 if it reports none.
    pub pid: u32,
    pub title: String,
    /// The bounds of its client area on the screen: x, y, width, height.
    pub bounds: (i32, i32, u32, u32),
}

/// The X server of a bed.
#[derive(Debug)]
pub struct Screen {
    x: RustConnection,
    root: Id,
}

impl Screen {
    pub(crate) fn connect(environment: &BTreeMap<String, String>) -> Self {
        let x = open(environment);
        let root = x.setup().roots[0].root;
        Self { x, root }
    }
}

/// Connects to the X server of an environment.
pub(crate) fn open(environment: &BTreeMap<String, String>) -> RustConnection {
    let display = &environment["DISPLAY"];
    let number: u16 = display.trim_start_matches(':').parse().unwrap();
    let stream =
        std::os::unix::net::UnixStream::connect(format!("/tmp/.X11-unix/X{number}")).unwrap();
    let (stream, _) = DefaultStream::from_unix_stream(stream).unwrap();
    let cookie = cookie(&std::fs::read(&environment["XAUTHORITY"]).unwrap());
    let name = b"MIT-MAGIC-COOKIE-1".to_vec();
    RustConnection::connect_to_stream_with_auth_info(stream, 0, name, cookie).unwrap()
}

impl Screen {
    fn atom(&self, name: &str) -> u32 {
        let cookie = self.x.intern_atom(false, name.as_bytes()).unwrap();
        cookie.reply().unwrap().atom
    }

    fn numbers(&self, window: Id, property: &str) -> Vec<u32> {
        let any = AtomEnum::ANY;
        let property = self.atom(property);
        let cookie = self
            .x
            .get_property(false, window, property, any, 0, 1 << 16);
        let reply = cookie.unwrap().reply();
        reply
            .ok()
            .and_then(|r| Some(r.value32()?.collect()))
            .unwrap_or_default()
    }

    fn text(&self, window: Id, property: &str) -> String {
        let any = AtomEnum::ANY;
        let property = self.atom(property);
        let cookie = self
            .x
            .get_property(false, window, property, any, 0, 1 << 20);
        let reply = cookie.unwrap().reply();
        reply
            .map(|r| String::from_utf8_lossy(&r.value).into_owned())
            .unwrap_or_default()
    }

    fn window(&self, id: Id) -> Option<Window> {
        let size = self.x.get_geometry(id).unwrap().reply().ok()?;
        let at = self.x.translate_coordinates(id, self.root, 0, 0).unwrap();
        let at = at.reply().ok()?;
        Some(Window {
            id,
            pid: self
                .numbers(id, "_NET_WM_PID")
                .first()
                .copied()
                .unwrap_or(0),
            title: self.text(id, "_NET_WM_NAME"),
            bounds: (
                at.dst_x.into(),
                at.dst_y.into(),
                size.width.into(),
                size.height.into(),
            ),
        })
    }

    /// Divides the screen into two monitors, side by side: `left`, `width` pixels wide, and
    /// `right`.
    pub fn split(&self, width: u16) {
        let resources = self.x.randr_get_screen_resources(self.root).unwrap();
        let outputs = resources.reply().unwrap().outputs;
        let screen = &self.x.setup().roots[0];
        let (whole, height) = (screen.width_in_pixels, screen.height_in_pixels);
        let halves = [
            ("left", 0, width, outputs),
            ("right", width, whole - width, vec![]),
        ];
        for (name, x, width, outputs) in halves {
            let monitor = MonitorInfo {
                name: self.atom(name),
                primary: x == 0,
                automatic: false,
                x: x.cast_signed(),
                y: 0,
                width,
                height,
                width_in_millimeters: u32::from(width) / 4,
                height_in_millimeters: u32::from(height) / 4,
                outputs,
            };
            let set = self.x.randr_set_monitor(self.root, monitor).unwrap();
            set.check().unwrap();
        }
    }

    /// The toplevel windows that the window manager lists, oldest first.
    pub fn windows(&self) -> Vec<Window> {
        let ids = self.numbers(self.root, "_NET_CLIENT_LIST");
        ids.into_iter().filter_map(|id| self.window(id)).collect()
    }

    /// The toplevel windows of a process.
    pub fn windows_of(&self, pid: u32) -> Vec<Window> {
        let mut windows = self.windows();
        windows.retain(|window| window.pid == pid);
        windows
    }

    /// The topmost window of a process.
    pub fn topmost_of(&self, pid: u32) -> Option<Window> {
        let ids = self.numbers(self.root, "_NET_CLIENT_LIST_STACKING");
        let mut windows = ids.into_iter().rev().filter_map(|id| self.window(id));
        windows.find(|window| window.pid == pid)
    }

    /// The front window's id; 0 if there is none.
    pub fn front(&self) -> Id {
        let active = self.numbers(self.root, "_NET_ACTIVE_WINDOW");
        active.first().copied().unwrap_or(0)
    }

    /// Brings a window to the front as a pager does, and waits for it.
    pub fn bring_to_front(&self, id: Id) {
        let kind = self.atom("_NET_ACTIVE_WINDOW");
        let message = ClientMessageEvent::new(32, id, kind, [2, 0, 0, 0, 0]);
        let mask = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
        self.x
            .send_event(false, self.root, mask, message)
            .unwrap()
            .check()
            .unwrap();
        until("the window at the front", || self.front() == id);
    }

    /// Moves a window, and waits until the window manager has moved it.
    pub fn move_window(&self, id: Id, x: i32, y: i32) {
        let aux = ConfigureWindowAux::new().x(x).y(y);
        self.x.configure_window(id, &aux).unwrap().check().unwrap();
        // The position may differ by the thickness of the frame.
        let near = |at: i32, wanted: i32| (at - wanted).abs() <= 64;
        until("the window at its new position", || {
            let (now_x, now_y, ..) = self.window(id)?.bounds;
            (near(now_x, x) && near(now_y, y)).then_some(())
        });
    }

    /// The pointer's position.
    pub fn pointer(&self) -> (i32, i32) {
        let reply = self.x.query_pointer(self.root).unwrap().reply().unwrap();
        (reply.root_x.into(), reply.root_y.into())
    }

    /// Moves the pointer as a mouse does.
    pub fn move_pointer(&self, x: i16, y: i16) {
        let motion = x11rb::protocol::xproto::MOTION_NOTIFY_EVENT;
        let cookie = self.x.xtest_fake_input(motion, 0, 0, self.root, x, y, 0);
        cookie.unwrap().check().unwrap();
        until("the pointer", || self.pointer() == (x.into(), y.into()));
    }

    /// The key codes that are pressed, and the mask of pressed buttons.
    pub fn pressed(&self) -> (Vec<u8>, u16) {
        let keys = self.x.query_keymap().unwrap().reply().unwrap().keys;
        let down = (0..=255_u8).filter(|code| {
            let byte = keys[usize::from(code / 8)];
            byte & (1 << (code % 8)) != 0
        });
        let pointer = self.x.query_pointer(self.root).unwrap().reply().unwrap();
        (down.collect(), u16::from(pointer.mask) & 0x1f00)
    }

    /// How many resources of each kind (windows, pixmaps, pictures, …) the clients of a process
    /// own.
    pub fn resources_of(&self, pid: u32) -> BTreeMap<String, u32> {
        let all = [res::ClientIdSpec {
            client: 0,
            mask: res::ClientIdMask::LOCAL_CLIENT_PID,
        }];
        let ids = self.x.res_query_client_ids(&all).unwrap().reply().unwrap();
        let mut owned = BTreeMap::new();
        for id in ids.ids.iter().filter(|id| id.value.first() == Some(&pid)) {
            let cookie = self.x.res_query_client_resources(id.spec.client);
            for kind in cookie.unwrap().reply().unwrap().types {
                let name = self.x.get_atom_name(kind.resource_type).unwrap();
                let name = String::from_utf8_lossy(&name.reply().unwrap().name).into_owned();
                *owned.entry(name).or_default() += kind.count;
            }
        }
        owned
    }

    /// Signals to toolkits that windows are composited (EWMH, `_NET_WM_CM_Sn`), so that they draw
    /// shadows around windows with client-side decorations.
    pub fn claim_compositing(&self) {
        let window = self.x.generate_id().unwrap();
        let (class, aux) = (WindowClass::INPUT_ONLY, CreateWindowAux::new());
        let made = self
            .x
            .create_window(0, window, self.root, -1, -1, 1, 1, 0, class, 0, &aux);
        made.unwrap();
        let selection = self.atom("_NET_WM_CM_S0");
        self.x
            .set_selection_owner(window, selection, 0_u32)
            .unwrap();
        self.sync();
    }

    /// Waits until the X server has processed all our requests.
    pub fn sync(&self) {
        self.x.sync().unwrap();
    }
}

/// The cookie in the first entry of an Xauthority file. An entry is the family, then address,
/// number, name and data, each preceded by its length, big-endian.
fn cookie(file: &[u8]) -> Vec<u8> {
    let mut rest = &file[2..];
    let mut field = || {
        let (length, after) = rest.split_at(2);
        let length = usize::from(u16::from_be_bytes([length[0], length[1]]));
        let (field, after) = after.split_at(length);
        rest = after;
        field.to_vec()
    };
    (field(), field(), field(), field()).3
}
