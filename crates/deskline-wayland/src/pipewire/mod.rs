//! A frame of a PipeWire stream, through libpipewire.
//!
//! Only this module of the crate needs `unsafe`: it calls a C library.
#![allow(unsafe_code)]

mod api;
mod pod;

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use deskline_contract::{Error, Result};

use api::{Api, StreamEvents, api};
use pod::Format;

const WHAT: &str = "reading the screen cast";

/// A frame: rows of four bytes per pixel, blue first, without padding. Colours are premultiplied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) bgra: Vec<u8>,
}

impl Frame {
    /// The bounds of the opaque pixels, as `[left, top, right, bottom]`; `None` if there are none.
    pub(crate) fn opaque(&self) -> Option<[usize; 4]> {
        let rows = self.bgra.chunks_exact(self.width.max(1) * 4);
        let mut bounds: Option<[usize; 4]> = None;
        for (y, row) in rows.enumerate() {
            let mut pixels = row.chunks_exact(4);
            let is_opaque = |pixel: &[u8]| pixel[3] == u8::MAX;
            let Some(first) = pixels.position(is_opaque) else {
                continue;
            };
            let last = row.chunks_exact(4).rposition(is_opaque).unwrap_or(first);
            let [left, top, right, _] = bounds.unwrap_or([first, y, last + 1, y]);
            bounds = Some([left.min(first), top, right.max(last + 1), y + 1]);
        }
        bounds
    }
}

/// Whether libpipewire can be loaded; the error is the reason why not.
pub(crate) fn is_there() -> std::result::Result<(), String> {
    api().map(drop)
}

/// How long each of the first connections to a stream waits for a frame. Mutter sends one when a
/// stream begins, and the next only when the window changes. In Mutter 43 the first one is
/// sometimes lost, but each new connection gets one.
const TRIES: [Duration; 2] = [Duration::from_millis(400), Duration::from_millis(600)];

/// Returns a frame of a node, with the present content of its window. `early` is a stream of the
/// node that was connected in advance. Makes the short tries of [`TRIES`], then a last one that
/// waits for `time`.
pub(crate) fn frame(node: u32, mut early: Option<Stream>, time: Duration) -> Result<Frame> {
    for time in TRIES.into_iter().chain([time]) {
        let frame = match early.take() {
            // This stream was connected in advance, and may be of another window. So its errors do
            // not count.
            Some(early) => early.frame(time).unwrap_or_default(),
            None => Stream::connect(node)?.map_or(Ok(None), |stream| stream.frame(time))?,
        };
        if let Some(frame) = frame {
            return Ok(frame);
        }
        // PipeWire may have been restarted.
        forget();
    }
    Err(failed("no frame arrived"))
}

fn failed(why: &str) -> Error {
    Error::system(WHAT)(why.to_owned())
}

/// The connection to PipeWire. It is kept between frames, as connecting takes longer than getting a
/// frame.
static CONNECTION: Mutex<Option<Arc<Connection>>> = Mutex::new(None);

fn connection() -> Result<Arc<Connection>> {
    let mut kept = CONNECTION.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(connection) = &*kept {
        return Ok(Arc::clone(connection));
    }
    let connection = Connection::open().map_err(|e| failed(&e))?;
    Ok(Arc::clone(kept.insert(Arc::new(connection))))
}

/// Forgets the connection, so that the next stream opens a new one.
fn forget() {
    *CONNECTION.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// A frame, or the reason why there is none.
type Heard = std::result::Result<Frame, String>;

/// The state of the callbacks. They run on the loop's thread, one at a time.
struct State {
    api: &'static Api,
    /// The stream of these callbacks.
    stream: *mut c_void,
    format: Option<Format>,
    frames: Sender<Heard>,
}

/// A connection with a thread of its own.
struct Connection {
    api: &'static Api,
    thread: *mut c_void,
    context: *mut c_void,
    core: *mut c_void,
}

// SAFETY: the library's functions are called from any thread that holds the loop's lock.
unsafe impl Send for Connection {}
// SAFETY: as for `Send`; each method of `Connection` takes the lock.
unsafe impl Sync for Connection {}

/// A stream that is connected. It gets no frame before one is requested.
pub(crate) struct Stream {
    connection: Arc<Connection>,
    handle: *mut c_void,
    /// Given to the callbacks; freed after the stream.
    state: *mut State,
    hook: *mut api::Hook,
    frames: Receiver<Heard>,
}

// SAFETY: its pointers are used only under the loop's lock.
unsafe impl Send for Stream {}

static EVENTS: StreamEvents = StreamEvents {
    version: 0,
    destroy: None,
    state_changed: Some(state_changed),
    control_info: None,
    io_changed: None,
    param_changed: Some(param_changed),
    add_buffer: None,
    remove_buffer: None,
    process: Some(process),
};

impl Connection {
    fn open() -> std::result::Result<Self, String> {
        let api = api()?;
        // From here on, `Drop` frees everything that was created.
        let mut it = Self {
            api,
            thread: null_mut(),
            context: null_mut(),
            core: null_mut(),
        };
        // SAFETY: each pointer is checked before it is used.
        unsafe {
            it.thread = (api.pw_thread_loop_new)(c"deskline".as_ptr(), null());
            if it.thread.is_null() || (api.pw_thread_loop_start)(it.thread) < 0 {
                return Err("its thread does not start".into());
            }
            let _locked = it.lock();
            let inner = (api.pw_thread_loop_get_loop)(it.thread);
            it.context = (api.pw_context_new)(inner, null_mut(), 0);
            if !it.context.is_null() {
                it.core = (api.pw_context_connect)(it.context, null_mut(), 0);
            }
        }
        if it.core.is_null() {
            return Err("PipeWire does not answer".into());
        }
        Ok(it)
    }

    /// Keeps the callbacks from running.
    fn lock(&self) -> Locked {
        // SAFETY: the loop is there as long as the connection.
        unsafe { (self.api.pw_thread_loop_lock)(self.thread) };
        Locked(self.api, self.thread)
    }
}

impl Stream {
    /// Connects to a node, which takes longer than getting a frame. `None` if PipeWire makes no
    /// stream for the node.
    pub(crate) fn connect(node: u32) -> Result<Option<Self>> {
        let connection = connection()?;
        let api = connection.api;
        let (sender, frames) = channel();
        let state = Box::into_raw(Box::new(State {
            api,
            stream: null_mut(),
            format: None,
            frames: sender,
        }));
        // From here on, `Drop` frees everything that was created.
        let mut it = Self {
            connection,
            handle: null_mut(),
            state,
            hook: Box::into_raw(Box::new(api::Hook::NEW)),
            frames,
        };
        let locked = it.connection.lock();
        // SAFETY: each pointer is checked before it is used. No callback runs before the loop is
        // unlocked, so no callback sees a half-made state. The library takes ownership of the
        // properties and copies the pods.
        let connected = unsafe {
            let properties = properties(api);
            it.handle = (api.pw_stream_new)(it.connection.core, c"deskline".as_ptr(), properties);
            if it.handle.is_null() {
                return Ok(None);
            }
            (*state).stream = it.handle;
            (api.pw_stream_add_listener)(it.handle, it.hook, &raw const EVENTS, state.cast());
            let formats = pod::formats();
            (api.pw_stream_connect)(
                it.handle,
                api::DIRECTION_INPUT,
                node,
                api::FLAGS,
                [formats.as_ptr()].as_ptr(),
                1,
            )
        };
        drop(locked);
        Ok((connected >= 0).then_some(it))
    }

    /// The first frame. `None` if no frame comes within `longest`.
    fn frame(self, longest: Duration) -> Result<Option<Frame>> {
        let locked = self.connection.lock();
        // SAFETY: the stream is there, and the loop is locked.
        unsafe { (self.connection.api.pw_stream_set_active)(self.handle, true) };
        drop(locked);
        match self.frames.recv_timeout(longest) {
            Ok(Ok(frame)) => Ok(Some(frame)),
            Ok(Err(why)) => {
                forget();
                Err(failed(&why))
            }
            Err(_) => {
                tracing::debug!("no frame arrived within {} ms", longest.as_millis());
                Ok(None)
            }
        }
    }
}

/// A loop that is locked.
struct Locked(&'static Api, *mut c_void);

impl Drop for Locked {
    fn drop(&mut self) {
        // SAFETY: this thread has locked the loop.
        unsafe { (self.0.pw_thread_loop_unlock)(self.1) };
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: the thread ends before the objects that it uses are freed; the context frees its
        // core.
        unsafe {
            if !self.thread.is_null() {
                (self.api.pw_thread_loop_stop)(self.thread);
            }
            if !self.context.is_null() {
                (self.api.pw_context_destroy)(self.context);
            }
            if !self.thread.is_null() {
                (self.api.pw_thread_loop_destroy)(self.thread);
            }
        }
    }
}

/// # Safety
///
/// Callers need not ensure anything: the list ends with a null pointer, as the library requires.
unsafe fn properties(api: &Api) -> *mut c_void {
    let end: *const c_char = null();
    // SAFETY: a list of C strings that ends with a null pointer.
    unsafe {
        (api.pw_properties_new)(
            c"media.type".as_ptr(),
            c"Video".as_ptr(),
            c"media.category".as_ptr(),
            c"Capture".as_ptr(),
            c"media.role".as_ptr(),
            c"Screen".as_ptr(),
            end,
        )
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let _locked = self.connection.lock();
        // SAFETY: no callback runs while the loop is locked, nor once the stream is gone.
        unsafe {
            if !self.handle.is_null() {
                (self.connection.api.pw_stream_destroy)(self.handle);
            }
            drop(Box::from_raw(self.state));
            drop(Box::from_raw(self.hook));
        }
    }
}

unsafe extern "C" fn state_changed(data: *mut c_void, _: c_int, now: c_int, why: *const c_char) {
    if now != api::STATE_ERROR || data.is_null() {
        return;
    }
    // SAFETY: `data` is the state that the stream was made with. The text is a C string, or null.
    let (state, why) = unsafe {
        let why = (!why.is_null()).then(|| CStr::from_ptr(why).to_string_lossy().into_owned());
        (&*data.cast::<State>(), why)
    };
    let _ = state.frames.send(Err(why.unwrap_or_default()));
}

unsafe extern "C" fn param_changed(data: *mut c_void, id: u32, param: *const u32) {
    if id != pod::PARAM_FORMAT || param.is_null() || data.is_null() {
        return;
    }
    // SAFETY: `data` is the state. A pod has a header of 8 bytes, which begins with the size of the
    // body that follows. The library copies the pods that it is given.
    unsafe {
        let state = &mut *data.cast::<State>();
        let length = *param as usize + 8;
        state.format = pod::format(std::slice::from_raw_parts(param.cast::<u8>(), length));
        let wishes = pod::wishes();
        let pods = wishes.each_ref().map(Vec::as_ptr);
        (state.api.pw_stream_update_params)(state.stream, pods.as_ptr(), pods.len() as u32);
    }
}

unsafe extern "C" fn process(data: *mut c_void) {
    if data.is_null() {
        return;
    }
    // SAFETY: `data` is the state. A buffer is ours until it is queued again.
    unsafe {
        let state = &*data.cast::<State>();
        loop {
            let buffer = (state.api.pw_stream_dequeue_buffer)(state.stream);
            if buffer.is_null() {
                return;
            }
            if let Some(frame) = state.format.and_then(|format| copy(&*buffer, format)) {
                let _ = state.frames.send(Ok(frame));
            }
            (state.api.pw_stream_queue_buffer)(state.stream, buffer);
        }
    }
}

/// Copies a buffer's pixels. `None` if the buffer has no pixels, for example because only the
/// pointer has moved, or if the buffer is smaller than it claims.
///
/// # Safety
///
/// The buffer is one that the library has handed out.
unsafe fn copy(buffer: &api::Buffer, format: Format) -> Option<Frame> {
    // SAFETY: the library fills in the number and the sizes of a buffer's parts, and only these
    // parts are read.
    let (bytes, stride, crop) = unsafe {
        let buffer = buffer.buffer.as_ref()?;
        let data = buffer.data.as_ref().filter(|_| buffer.datas > 0)?;
        let chunk = data.chunk.as_ref()?;
        if data.bytes.is_null() || chunk.size == 0 || chunk.flags & 1 != 0 {
            return None;
        }
        let bytes = std::slice::from_raw_parts(data.bytes, data.size as usize);
        let bytes = bytes.get(chunk.offset as usize..)?;
        let metas = if buffer.meta.is_null() {
            &[]
        } else {
            std::slice::from_raw_parts(buffer.meta, buffer.metas as usize)
        };
        let is_crop =
            |m: &&api::Meta| m.kind == pod::CROP && m.size >= pod::CROP_SIZE && !m.data.is_null();
        let crop = metas.iter().find(is_crop);
        let crop = crop.map(|meta| meta.data.cast::<[u32; 4]>().read_unaligned());
        (bytes, usize::try_from(chunk.stride).ok()?, crop)
    };
    let whole = [0, 0, format.width, format.height];
    let part = crop.filter(|[.., w, h]| *w > 0 && *h > 0).unwrap_or(whole);
    let [x, y, width, height] = part.map(|v| v as usize);
    let mut bgra = Vec::new();
    for row in y..y.checked_add(height)? {
        let start = row.checked_mul(stride)?.checked_add(x.checked_mul(4)?)?;
        let row = bytes.get(start..start.checked_add(width.checked_mul(4)?)?)?;
        bgra.extend_from_slice(row);
    }
    if !format.alpha {
        let unused = bgra.iter_mut().skip(3).step_by(4);
        unused.for_each(|alpha| *alpha = u8::MAX);
    }
    Some(Frame {
        width,
        height,
        bgra,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_opaque_part_of_a_frame_leaves_out_its_shadow() {
        let mut frame = Frame {
            width: 6,
            height: 5,
            bgra: vec![9; 6 * 5 * 4],
        };
        assert_eq!(frame.opaque(), None);
        for (x, y) in [(1, 2), (3, 3)] {
            frame.bgra[(y * 6 + x) * 4 + 3] = 255;
        }
        assert_eq!(frame.opaque(), Some([1, 2, 4, 4]));
    }
}
