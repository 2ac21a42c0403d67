//! Events: the app posts each to the windows of the clients, which call their handlers. A handler
//! is given no element but the one that it was added to, or one of the app for the focus.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, Once, PoisonError};

use windows::Win32::Foundation::{E_INVALIDARG, HWND, LPARAM, LRESULT, S_OK, WPARAM};
use windows::Win32::System::LibraryLoader::GetModuleHandleW;
use windows::Win32::System::Threading::GetCurrentProcessId;
use windows::Win32::System::Variant::VARIANT;
use windows::Win32::UI::Accessibility::*;
use windows::Win32::UI::WindowsAndMessaging::{
    CreateWindowExW, DefWindowProcW, DispatchMessageW, FindWindowExW, GetMessageW,
    GetWindowThreadProcessId, HWND_MESSAGE, MSG, PostMessageW, RegisterClassW, WINDOW_EX_STYLE,
    WINDOW_STYLE, WM_APP, WNDCLASSW,
};
use windows::core::{HRESULT, PCWSTR, w};

use crate::element;
use crate::wire::{Node, Value};

const CLASS: PCWSTR = w!("uia-substitute-events");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Event = 0,
    Property = 1,
    Structure = 2,
}

#[derive(Clone)]
pub enum Handler {
    Event(UIA_EVENT_ID, IUIAutomationEventHandler),
    Property(
        Vec<UIA_PROPERTY_ID>,
        IUIAutomationPropertyChangedEventHandler,
    ),
    Structure(IUIAutomationStructureChangedEventHandler),
    Focus(IUIAutomationFocusChangedEventHandler),
}

#[derive(Clone)]
struct Added {
    /// The window of the element that it was added to; 0 for all.
    window: isize,
    handler: Handler,
}

struct Handlers(Mutex<Vec<Added>>);

// SAFETY: handlers are called from any thread on Windows too.
unsafe impl Sync for Handlers {}
unsafe impl Send for Handlers {}

static HANDLERS: Handlers = Handlers(Mutex::new(Vec::new()));

/// In the app: sends the event to all clients.
pub fn raise(kind: Kind, id: i32) {
    let mut last = None;
    // SAFETY: calls about windows, which may be gone.
    unsafe {
        let pid = GetCurrentProcessId();
        let word = WPARAM((kind as usize) << 32 | id as u32 as usize);
        while let Ok(client) = FindWindowExW(Some(HWND_MESSAGE), last, CLASS, None) {
            let _ = PostMessageW(Some(client), WM_APP, word, LPARAM(pid as isize));
            last = Some(client);
        }
    }
}

/// In the client.
pub fn add(element: *mut c_void, handler: Option<Handler>) -> HRESULT {
    static STARTED: Once = Once::new();
    let Some(handler) = handler else {
        return E_INVALIDARG;
    };
    STARTED.call_once(|| {
        std::thread::spawn(run);
    });
    let window = element::data(element).map_or(0, |element| element.window);
    handlers().push(Added { window, handler });
    S_OK
}

pub fn remove_all() {
    // Handlers are released outside the lock.
    let all = std::mem::take(&mut *handlers());
    drop(all);
}

fn handlers() -> std::sync::MutexGuard<'static, Vec<Added>> {
    HANDLERS.0.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread with the client's window.
fn run() {
    // SAFETY: calls of the window system with buffers that outlive them.
    unsafe {
        let instance = GetModuleHandleW(None).unwrap_or_default().into();
        let class = WNDCLASSW {
            lpfnWndProc: Some(receive),
            hInstance: instance,
            lpszClassName: CLASS,
            ..WNDCLASSW::default()
        };
        RegisterClassW(&raw const class);
        let (style, extended) = (WINDOW_STYLE(0), WINDOW_EX_STYLE(0));
        let parent = Some(HWND_MESSAGE);
        let instance = Some(instance);
        let window = CreateWindowExW(
            extended, CLASS, None, style, 0, 0, 0, 0, parent, None, instance, None,
        );
        if window.is_err() {
            return;
        }
        let mut message = MSG::default();
        while GetMessageW(&raw mut message, None, 0, 0).0 > 0 {
            DispatchMessageW(&raw const message);
        }
    }
}

unsafe extern "system" fn receive(
    window: HWND,
    message: u32,
    word: WPARAM,
    long: LPARAM,
) -> LRESULT {
    if message == WM_APP {
        call(word.0 >> 32, word.0 as u32 as i32, long.0 as u32);
        return LRESULT(0);
    }
    // SAFETY: passes on what the window system has passed.
    unsafe { DefWindowProcW(window, message, word, long) }
}

fn call(kind: usize, id: i32, pid: u32) {
    let all: Vec<Added> = handlers().clone();
    for Added { window, handler } in all {
        let mut of = 0;
        // SAFETY: a call about a window, which may be gone.
        unsafe { GetWindowThreadProcessId(HWND(window as *mut c_void), Some(&raw mut of)) };
        if window != 0 && of != pid {
            continue;
        }
        let sender = element::element(window, Arc::new(sender(pid)), false);
        // SAFETY: calls of COM.
        unsafe {
            let _ = match handler {
                Handler::Event(event, handler) if kind == Kind::Event as usize && event.0 == id => {
                    handler.HandleAutomationEvent(&sender, event)
                }
                Handler::Property(properties, handler)
                    if kind == Kind::Property as usize
                        && properties.contains(&UIA_PROPERTY_ID(id)) =>
                {
                    let property = UIA_PROPERTY_ID(id);
                    handler.HandlePropertyChangedEvent(&sender, property, &VARIANT::default())
                }
                Handler::Structure(handler) if kind == Kind::Structure as usize => {
                    let change = StructureChangeType(id);
                    handler.HandleStructureChangedEvent(&sender, change, std::ptr::null())
                }
                Handler::Focus(handler)
                    if kind == Kind::Event as usize
                        && id == UIA_AutomationFocusChangedEventId.0 =>
                {
                    handler.HandleFocusChangedEvent(&sender)
                }
                _ => Ok(()),
            };
        }
    }
}

fn sender(pid: u32) -> Node {
    Node {
        properties: vec![(UIA_ProcessIdPropertyId.0, Value::Int(pid as i32))],
        ..Node::default()
    }
}
