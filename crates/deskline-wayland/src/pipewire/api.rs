//! The part of libpipewire's C interface that a stream needs. The library is loaded with the first
//! picture: every GNOME has it, and other desktops do not need it.
//!
//! The declarations are those of PipeWire 1.4's headers (`stream.h`, `thread-loop.h`,
//! `spa/buffer`); the interface is stable since 0.3.

use std::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;

use libloading::Library;

pub(super) const DIRECTION_INPUT: c_int = 0;
/// `PW_STREAM_FLAG_AUTOCONNECT | PW_STREAM_FLAG_INACTIVE | PW_STREAM_FLAG_MAP_BUFFERS |
/// PW_STREAM_FLAG_DONT_RECONNECT`
pub(super) const FLAGS: c_int = 1 | 1 << 1 | 1 << 2 | 1 << 7;
pub(super) const STATE_ERROR: c_int = -1;

#[repr(C)]
pub(super) struct StreamEvents {
    pub(super) version: u32,
    pub(super) destroy: Option<unsafe extern "C" fn(*mut c_void)>,
    pub(super) state_changed:
        Option<unsafe extern "C" fn(*mut c_void, c_int, c_int, *const c_char)>,
    pub(super) control_info: Option<unsafe extern "C" fn(*mut c_void, u32, *const c_void)>,
    pub(super) io_changed: Option<unsafe extern "C" fn(*mut c_void, u32, *mut c_void, u32)>,
    pub(super) param_changed: Option<unsafe extern "C" fn(*mut c_void, u32, *const u32)>,
    pub(super) add_buffer: Option<unsafe extern "C" fn(*mut c_void, *mut Buffer)>,
    pub(super) remove_buffer: Option<unsafe extern "C" fn(*mut c_void, *mut Buffer)>,
    pub(super) process: Option<unsafe extern "C" fn(*mut c_void)>,
}

/// `struct spa_hook`, which the library fills in.
#[repr(C)]
pub(super) struct Hook([Any; 6]);

impl Hook {
    pub(super) const NEW: Self = Self([std::ptr::null_mut(); 6]);
}

/// `struct pw_buffer`, of which only the first field is used.
#[repr(C)]
pub(super) struct Buffer {
    pub(super) buffer: *const SpaBuffer,
}

#[repr(C)]
pub(super) struct SpaBuffer {
    pub(super) metas: u32,
    pub(super) datas: u32,
    pub(super) meta: *const Meta,
    pub(super) data: *const Data,
}

#[repr(C)]
pub(super) struct Meta {
    pub(super) kind: u32,
    pub(super) size: u32,
    pub(super) data: *const c_void,
}

#[repr(C)]
pub(super) struct Data {
    pub(super) kind: u32,
    pub(super) flags: u32,
    pub(super) fd: i64,
    pub(super) offset: u32,
    pub(super) size: u32,
    pub(super) bytes: *const u8,
    pub(super) chunk: *const Chunk,
}

#[repr(C)]
pub(super) struct Chunk {
    pub(super) offset: u32,
    pub(super) size: u32,
    pub(super) stride: i32,
    pub(super) flags: i32,
}

macro_rules! api {
    ($($name:ident: fn($($argument:ty),* $(; $variadic:tt)?) $(-> $result:ty)?;)*) => {
        /// The library and its functions.
        pub(super) struct Api {
            $(pub(super) $name: unsafe extern "C" fn($($argument),* $(, $variadic)?) $(-> $result)?,)*
            _library: Library,
        }

        impl Api {
            fn open() -> Result<Self, libloading::Error> {
                // SAFETY: libpipewire's initialisers have no preconditions. The functions have the
                // types of its headers, and live as long as the library, which is never closed.
                unsafe {
                    let library = Library::new("libpipewire-0.3.so.0")?;
                    Ok(Self {
                        $($name: *library.get(concat!(stringify!($name), "\0").as_bytes())?,)*
                        _library: library,
                    })
                }
            }
        }
    };
}

type Any = *mut c_void;

api! {
    pw_init: fn(*mut c_int, Any);
    pw_thread_loop_new: fn(*const c_char, *const c_void) -> Any;
    pw_thread_loop_destroy: fn(Any);
    pw_thread_loop_start: fn(Any) -> c_int;
    pw_thread_loop_stop: fn(Any);
    pw_thread_loop_lock: fn(Any);
    pw_thread_loop_unlock: fn(Any);
    pw_thread_loop_get_loop: fn(Any) -> Any;
    pw_properties_new: fn(*const c_char; ...) -> Any;
    pw_context_new: fn(Any, Any, usize) -> Any;
    pw_context_connect: fn(Any, Any, usize) -> Any;
    pw_context_destroy: fn(Any);
    pw_stream_new: fn(Any, *const c_char, Any) -> Any;
    pw_stream_add_listener: fn(Any, *mut Hook, *const StreamEvents, Any);
    pw_stream_connect: fn(Any, c_int, u32, c_int, *const *const u8, u32) -> c_int;
    pw_stream_set_active: fn(Any, bool) -> c_int;
    pw_stream_update_params: fn(Any, *const *const u8, u32) -> c_int;
    pw_stream_dequeue_buffer: fn(Any) -> *mut Buffer;
    pw_stream_queue_buffer: fn(Any, *mut Buffer) -> c_int;
    pw_stream_destroy: fn(Any);
}

/// The library, opened and initialised once.
pub(super) fn api() -> Result<&'static Api, String> {
    static API: OnceLock<Result<Api, String>> = OnceLock::new();
    let api = API.get_or_init(|| {
        let api = Api::open().map_err(|e| e.to_string())?;
        // SAFETY: no arguments are passed on; called once.
        unsafe { (api.pw_init)(std::ptr::null_mut(), std::ptr::null_mut()) };
        Ok(api)
    });
    api.as_ref().map_err(Clone::clone)
}
