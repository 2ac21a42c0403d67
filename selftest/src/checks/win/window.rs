//! A window of ordinary Win32 controls, in a process of its own. Prints each event that reaches it
//! as a line on standard output. Carries out the orders on standard input, one per line, and ends
//! when standard input ends.

use std::io::Write as _;
use std::sync::Once;
use std::time::Duration;

use deskline_core::{Point, WindowId};
use deskline_link::{Window, wait};
use deskline_windows::become_aware;
use windows::Win32::Foundation::{COLORREF, HWND, LPARAM, LRESULT, POINT, RECT, WPARAM};
use windows::Win32::Graphics::Gdi::{
    BeginPaint, COLOR_WINDOW, ClientToScreen, CreateSolidBrush, DeleteObject, EndPaint, FillRect,
    GetSysColorBrush, PAINTSTRUCT,
};
use windows::Win32::UI::Input::KeyboardAndMouse::SetFocus;
use windows::Win32::UI::WindowsAndMessaging::{
    BN_CLICKED, BS_AUTOCHECKBOX, CB_ADDSTRING, CB_GETCURSEL, CBN_SELCHANGE, CBS_DROPDOWNLIST,
    CreateWindowExW, DefWindowProcW, DispatchMessageW, EN_CHANGE, ES_AUTOHSCROLL, GetDlgItem,
    GetMessageW, GetWindowTextW, HMENU, MSG, PostMessageW, RegisterClassW, SWP_NOACTIVATE,
    SWP_NOSIZE, SWP_NOZORDER, SendMessageW, SetWindowPos, SetWindowTextW, TranslateMessage,
    WINDOW_EX_STYLE, WINDOW_STYLE, WM_APP, WM_CLOSE, WM_COMMAND, WM_LBUTTONDOWN, WM_PAINT,
    WM_SETFOCUS, WNDCLASSW, WS_BORDER, WS_CHILD, WS_OVERLAPPEDWINDOW, WS_TABSTOP, WS_VISIBLE,
    WS_VSCROLL,
};
use windows::core::{HSTRING, PCWSTR, Result, w};

/// The coloured part of the window's client area, and its red, green and blue.
pub(super) const BLOCK: RECT = RECT {
    left: 20,
    top: 160,
    right: 220,
    bottom: 240,
};
pub(super) const COLOUR: [u8; 3] = [0x20, 0xa0, 0x40];

/// The ids of the controls.
const BUTTON: isize = 1;
const BOX: isize = 2;
const FIELD: isize = 3;
const LIST: isize = 4;

/// The message that makes the window hang. Its first parameter is the time in milliseconds.
const HANG: u32 = WM_APP;

/// A handle for the thread that reads the orders.
struct Own(HWND);
// SAFETY: window handles are valid in every thread.
unsafe impl Send for Own {}

impl Own {
    /// Follows orders: `title TEXT`, `text TEXT` (into the field), `hang MS`, and `open`, which
    /// shows another window for a moment.
    fn obey(&self, order: &str) {
        if order == "open" {
            std::thread::spawn(|| {
                let _another = create();
                // Windows destroys a window when the thread that created it ends.
                wait::pause(Duration::from_millis(200));
            });
            return;
        }
        let (order, rest) = order.split_once(' ').unwrap_or((order, ""));
        let text = HSTRING::from(rest);
        // SAFETY: the texts outlive the calls, which allow the handle of a window that is gone.
        let _ = unsafe {
            match order {
                "title" => SetWindowTextW(self.0, &text),
                "text" => control(self.0, FIELD).and_then(|field| SetWindowTextW(field, &text)),
                _ => {
                    let ms = rest.parse().unwrap_or(0);
                    PostMessageW(Some(self.0), HANG, WPARAM(ms), LPARAM(0))
                }
            }
        };
    }
}

fn control(window: HWND, id: isize) -> Result<HWND> {
    // SAFETY: takes numbers.
    unsafe { GetDlgItem(Some(window), id as i32) }
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // An error means that the test has ended, so nobody reads the output.
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}

/// Shows the window until standard input ends.
pub fn run() {
    become_aware();
    let window = match create() {
        Ok(window) => window,
        Err(error) => return say(&format!("failed {error}")),
    };
    let own = Own(window);
    std::thread::spawn(move || {
        for order in std::io::stdin().lines().map_while(std::result::Result::ok) {
            own.obey(&order);
        }
        std::process::exit(0);
    });
    say("ready");
    let mut message = MSG::default();
    // SAFETY: the message outlives the calls. -1 is an error.
    unsafe {
        while GetMessageW(&raw mut message, None, 0, 0).0 > 0 {
            let _ = TranslateMessage(&raw const message);
            DispatchMessageW(&raw const message);
        }
    }
}

fn handle(window: WindowId) -> HWND {
    HWND(std::ptr::with_exposed_provenance_mut(window.0 as usize))
}

fn create() -> Result<HWND> {
    static REGISTERED: Once = Once::new();
    let class = w!("DesklineTestWindow");
    let title = HSTRING::from(format!("Deskline test {}", std::process::id()));
    // SAFETY: the texts outlive the calls, and the function is in this program.
    unsafe {
        REGISTERED.call_once(|| {
            RegisterClassW(&WNDCLASSW {
                lpfnWndProc: Some(on_message),
                lpszClassName: class,
                hbrBackground: GetSysColorBrush(COLOR_WINDOW),
                ..WNDCLASSW::default()
            });
        });
        let style = WS_OVERLAPPEDWINDOW | WS_VISIBLE;
        let plain = WINDOW_EX_STYLE(0);
        let window = CreateWindowExW(
            plain, class, &title, style, 40, 40, 360, 300, None, None, None, None,
        )?;
        let add = |kind: PCWSTR, text: PCWSTR, id: isize, style: u32, place: [i32; 4]| {
            let style = WINDOW_STYLE(style) | WS_CHILD | WS_VISIBLE | WS_TABSTOP;
            let [x, y, w, h] = place;
            let id = HMENU(std::ptr::without_provenance_mut(id as usize));
            let (of, id) = (Some(window), Some(id));
            CreateWindowExW(plain, kind, text, style, x, y, w, h, of, id, None, None)
        };
        let ticks = BS_AUTOCHECKBOX as u32;
        let scrolls = WS_BORDER.0 | ES_AUTOHSCROLL as u32;
        let drops = CBS_DROPDOWNLIST as u32 | WS_VSCROLL.0;
        add(w!("BUTTON"), w!("Press me"), BUTTON, 0, [20, 20, 120, 30])?;
        add(w!("BUTTON"), w!("Tick me"), BOX, ticks, [160, 20, 120, 30])?;
        add(w!("EDIT"), w!(""), FIELD, scrolls, [20, 70, 280, 26])?;
        let list = add(w!("COMBOBOX"), w!(""), LIST, drops, [20, 110, 200, 150])?;
        for choice in [w!("One"), w!("Two"), w!("Three")] {
            SendMessageW(list, CB_ADDSTRING, None, Some(LPARAM(choice.0 as isize)));
        }
        Ok(window)
    }
}

unsafe extern "system" fn on_message(
    window: HWND,
    message: u32,
    what: WPARAM,
    data: LPARAM,
) -> LRESULT {
    match message {
        WM_COMMAND => command(
            what,
            HWND(std::ptr::with_exposed_provenance_mut(data.0 as usize)),
        ),
        WM_LBUTTONDOWN => {
            let mut at = POINT {
                x: i32::from(data.0 as i16),
                y: i32::from((data.0 >> 16) as i16),
            };
            // SAFETY: the point outlives the call.
            let _ = unsafe { ClientToScreen(window, &raw mut at) };
            say(&format!("click {},{}", at.x, at.y));
        }
        // SAFETY: a window of this thread.
        WM_SETFOCUS => {
            let _ = control(window, FIELD).and_then(|field| unsafe { SetFocus(Some(field)) });
        }
        HANG => {
            say("hangs");
            wait::pause(Duration::from_millis(what.0 as u64));
            say("awake");
        }
        WM_PAINT => {
            let mut paint = PAINTSTRUCT::default();
            let [red, green, blue] = COLOUR.map(u32::from);
            // SAFETY: the structures outlive the calls; the brush is deleted once.
            unsafe {
                let context = BeginPaint(window, &raw mut paint);
                let colour = blue << 16 | green << 8 | red;
                let brush = CreateSolidBrush(COLORREF(colour));
                FillRect(context, &BLOCK, brush);
                let _ = DeleteObject(brush.into());
                let _ = EndPaint(window, &raw const paint);
            }
            return LRESULT(0);
        }
        _ => {}
    }
    // SAFETY: forwards the arguments of this call.
    unsafe { DefWindowProcW(window, message, what, data) }
}

/// Prints a control's notification.
fn command(what: WPARAM, control: HWND) {
    let (id, code) = (what.0 as u16 as isize, (what.0 >> 16) as u32);
    match (id, code) {
        (BUTTON, BN_CLICKED) => say("pressed"),
        (BOX, BN_CLICKED) => say("ticked"),
        (FIELD, EN_CHANGE) => {
            let mut text = [0; 256];
            // SAFETY: the call is given the buffer's length.
            let length = unsafe { GetWindowTextW(control, &mut text) } as usize;
            say(&format!(
                "text {}",
                String::from_utf16_lossy(&text[..length.min(256)])
            ));
        }
        (LIST, CBN_SELCHANGE) => {
            // SAFETY: a message of numbers to a window of this thread.
            let chosen = unsafe { SendMessageW(control, CB_GETCURSEL, None, None) };
            say(&format!("chose {}", chosen.0));
        }
        _ => {}
    }
}

/// Moves a window, which may belong to another process.
pub(super) fn place(window: &Window, x: i32, y: i32) {
    let flags = SWP_NOSIZE | SWP_NOZORDER | SWP_NOACTIVATE;
    // SAFETY: the call allows the handle of a window that is gone.
    let _ = unsafe { SetWindowPos(handle(window.id), None, x, y, 0, 0, flags) };
}

/// Asks a window to close.
pub(super) fn close(window: WindowId) {
    // SAFETY: takes numbers; the call allows the handle of a window that is gone.
    let _ = unsafe { PostMessageW(Some(handle(window)), WM_CLOSE, WPARAM(0), LPARAM(0)) };
}

/// Converts a point of the window's client area to screen coordinates.
pub(super) fn on_screen(window: &Window, x: i32, y: i32) -> Point {
    let mut at = POINT { x, y };
    // SAFETY: the point outlives the call, which allows the handle of a window that is gone.
    let _ = unsafe { ClientToScreen(handle(window.id), &raw mut at) };
    Point { x: at.x, y: at.y }
}
