//! The message loop of a thread.

use windows::Win32::Foundation::{LPARAM, WPARAM};
use windows::Win32::System::Threading::GetCurrentThreadId;
use windows::Win32::UI::WindowsAndMessaging::{
    DispatchMessageW, GetMessageW, MSG, PM_NOREMOVE, PeekMessageW, PostThreadMessageW,
};
use windows::core::Result;

/// Gives this thread a queue, so that messages arrive from now on. Returns the thread's id.
pub(crate) fn queue() -> u32 {
    // SAFETY: the message outlives the call.
    unsafe {
        let _ = PeekMessageW(&mut MSG::default(), None, 0, 0, PM_NOREMOVE);
        GetCurrentThreadId()
    }
}

/// Posts a message to a thread. Fails if the thread has ended.
pub(crate) fn post(thread: u32, message: u32) -> Result<()> {
    // SAFETY: the arguments are numbers.
    unsafe { PostThreadMessageW(thread, message, WPARAM(0), LPARAM(0)) }
}

/// Serves this thread's windows until `WM_QUIT`. A message for which `takes` returns true is not
/// passed to a window.
pub(crate) fn serve(mut takes: impl FnMut(&MSG) -> bool) {
    let mut message = MSG::default();
    // SAFETY: the message outlives the calls. -1 is an error.
    while unsafe { GetMessageW(&raw mut message, None, 0, 0) }.0 > 0 {
        if !takes(&message) {
            // SAFETY: as above.
            unsafe { DispatchMessageW(&raw const message) };
        }
    }
}
