//! Named shared memory, and the request that is in it.

use windows::Win32::Foundation::{
    CloseHandle, E_FAIL, HANDLE, HWND, INVALID_HANDLE_VALUE, LPARAM, WPARAM,
};
use windows::Win32::System::Memory::{
    CreateFileMappingW, FILE_MAP_ALL_ACCESS, MapViewOfFile, OpenFileMappingW, PAGE_READWRITE,
    UnmapViewOfFile,
};
use windows::Win32::System::Threading::GetCurrentProcessId;
use windows::Win32::UI::Accessibility::{UIA_E_ELEMENTNOTAVAILABLE, UIA_E_TIMEOUT};
use windows::Win32::UI::WindowsAndMessaging::{
    IsWindow, SMTO_ABORTIFHUNG, SendMessageTimeoutW, WM_GETOBJECT,
};
use windows::core::{Error, HRESULT, HSTRING, Result};

use std::sync::atomic::{AtomicU32, Ordering};

use crate::wire::{Answer, Request, Wire};

/// The time limit of a request, in milliseconds.
pub static LIMIT: AtomicU32 = AtomicU32::new(20_000);

/// `UiaRootObjectId`
const ROOT: isize = -25;

/// The memory of this name: a length, and as many bytes. It exists until the handle is closed.
pub struct Shared(HANDLE);

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: the handle is closed once.
        let _ = unsafe { CloseHandle(self.0) };
    }
}

fn name(token: usize, part: &str) -> HSTRING {
    HSTRING::from(format!("uia-substitute-{token:x}-{part}"))
}

impl Shared {
    fn write(name: &HSTRING, bytes: &[u8]) -> Result<Self> {
        let mut all = Vec::new();
        (bytes.len() as u32).put(&mut all);
        all.extend(bytes);
        // SAFETY: the view is as long as the mapping, which has the length of the bytes.
        unsafe {
            let size = all.len() as u32;
            let file = INVALID_HANDLE_VALUE;
            let shared = Self(CreateFileMappingW(
                file,
                None,
                PAGE_READWRITE,
                0,
                size,
                name,
            )?);
            let view = MapViewOfFile(shared.0, FILE_MAP_ALL_ACCESS, 0, 0, all.len());
            if view.Value.is_null() {
                return Err(Error::from_thread());
            }
            std::ptr::copy_nonoverlapping(all.as_ptr(), view.Value.cast(), all.len());
            let _ = UnmapViewOfFile(view);
            Ok(shared)
        }
    }

    fn read(name: &HSTRING) -> Option<Vec<u8>> {
        // SAFETY: the view is as long as the mapping, whose writer has put its length first.
        unsafe {
            let shared = Self(OpenFileMappingW(FILE_MAP_ALL_ACCESS.0, false, name).ok()?);
            let view = MapViewOfFile(shared.0, FILE_MAP_ALL_ACCESS, 0, 0, 0);
            if view.Value.is_null() {
                return None;
            }
            let start = view.Value.cast::<u8>();
            let length = start.cast::<u32>().read_unaligned() as usize;
            let bytes = std::slice::from_raw_parts(start.add(4), length).to_vec();
            let _ = UnmapViewOfFile(view);
            Some(bytes)
        }
    }
}

/// The request of this token, if a client has written one.
pub fn request(token: usize) -> Option<Request> {
    Request::take(&mut Shared::read(&name(token, "request"))?.as_slice())
}

/// Writes the answer to a request. The client reads it while the memory exists.
pub fn answer(token: usize, answer: &Answer) -> Result<Shared> {
    let mut bytes = Vec::new();
    answer.put(&mut bytes);
    Shared::write(&name(token, "answer"), &bytes)
}

/// Asks the app of a window, for at most [`LIMIT`]. `None` if its window has no providers.
pub fn ask(window: isize, request: &Request) -> Result<Option<Answer>> {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let window = HWND(window as *mut _);
    // SAFETY: calls about a window, which may be gone.
    unsafe {
        if !IsWindow(Some(window)).as_bool() {
            return Err(HRESULT(UIA_E_ELEMENTNOTAVAILABLE as i32).into());
        }
        let count = NEXT.fetch_add(1, Ordering::Relaxed) & 0xffff;
        let token = ((GetCurrentProcessId() & 0x7fff) << 16 | count) as usize;
        let mut bytes = Vec::new();
        request.put(&mut bytes);
        let _request = Shared::write(&name(token, "request"), &bytes)?;
        let mut result = 0;
        let sent = SendMessageTimeoutW(
            window,
            WM_GETOBJECT,
            WPARAM(token),
            LPARAM(ROOT),
            SMTO_ABORTIFHUNG,
            LIMIT.load(Ordering::Relaxed),
            Some(&raw mut result),
        );
        if sent.0 == 0 {
            return Err(HRESULT(UIA_E_TIMEOUT as i32).into());
        }
        let Some(bytes) = Shared::read(&name(token, "answer")) else {
            return Ok(None);
        };
        match Answer::take(&mut bytes.as_slice()) {
            Some(Answer::Failed(code)) => Err(HRESULT(code).into()),
            Some(answer) => Ok(Some(answer)),
            None => Err(E_FAIL.into()),
        }
    }
}
