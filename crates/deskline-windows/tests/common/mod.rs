//! A Win32 app that logs its input, in a process of its own that runs this test program; and a
//! person's keys and clicks, which the system does not mark as injected.
#![allow(dead_code, unsafe_code, clippy::unwrap_used)]

mod bed;

use std::cell::{Cell, RefCell};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use windows::Win32::Foundation::{HWND, LPARAM, LRESULT, POINT, WPARAM};
use windows::Win32::Graphics::Gdi::{COLOR_WINDOW, GetSysColorBrush};
use windows::Win32::UI::WindowsAndMessaging::{
    AppendMenuW, CreatePopupMenu, CreateWindowExW, DefWindowProcW, DestroyMenu, DispatchMessageW,
    GetClassNameW, GetCursorPos, GetMessageTime, GetMessageW, MF_STRING, MSG, RegisterClassW,
    TPM_LEFTALIGN, TrackPopupMenu, TranslateMessage, WINDOW_EX_STYLE, WINDOW_STYLE, WM_ACTIVATE,
    WM_CHAR, WM_KEYDOWN, WM_KEYUP, WM_LBUTTONDOWN, WM_LBUTTONUP, WM_MOUSEHWHEEL, WM_MOUSEWHEEL,
    WM_RBUTTONDOWN, WM_SYSCOMMAND, WM_SYSKEYDOWN, WM_SYSKEYUP, WNDCLASSW, WS_EX_LAYERED,
    WS_EX_TOOLWINDOW, WS_OVERLAPPEDWINDOW, WS_POPUP, WS_VISIBLE,
};
use windows::core::{HSTRING, w};

pub use bed::{PATIENCE, person};

/// The environment variable with the app's log, title and position.
const APP: &str = "DESKLINE_TEST_APP";

thread_local! {
    static LOG: RefCell<Option<File>> = const { RefCell::new(None) };
    /// When the last character was sent, in ms, and which.
    static LAST: Cell<(i32, usize)> = const { Cell::new((0, 0)) };
    /// When the last key went down, in ms.
    static PRESSED: Cell<i32> = const { Cell::new(0) };
}

/// The title of an app that takes one character every 20 ms. If a character comes sooner, the app
/// takes the one before once more, as Notepad of Windows 11 does (rustdesk #15243). The app's
/// window class is Notepad's.
pub const SLOW: &str = "Slow";

/// The title of an app whose window has four glowing edges. The edges are windows of their own, as
/// in Visual Studio and `MahApps`.
pub const GLOWS: &str = "Glows";

/// An app's process and its log.
pub struct App {
    child: Child,
    pub log: PathBuf,
    read: usize,
    pub title: String,
}

impl App {
    /// Starts the app at a place, by the test `name` of this program, which calls [`be_an_app`].
    pub fn start(name: &str, folder: &Path, title: &str, (x, y): (i32, i32)) -> Self {
        let log = folder.join(format!("{title}.log"));
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env(APP, format!("{}|{title}|{x}|{y}", log.display()))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let title = title.to_owned();
        let mut app = Self {
            child,
            log,
            read: 0,
            title,
        };
        app.wait_for("ready");
        app
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The new lines of its log.
    pub fn new_lines(&mut self) -> Vec<String> {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        let whole = text.rfind('\n').map_or(0, |at| at + 1);
        let lines = text[self.read.min(whole)..whole].lines();
        let lines = lines.map(str::to_owned).collect();
        self.read = whole;
        lines
    }

    /// Waits until its log has a line with this start; returns the new lines up to then.
    pub fn wait_for(&mut self, start: &str) -> Vec<String> {
        let begun = Instant::now();
        let mut seen = Vec::new();
        loop {
            seen.extend(self.new_lines());
            if seen.iter().any(|line| line.starts_with(start)) {
                return seen;
            }
            assert!(
                begun.elapsed() < PATIENCE,
                "no {start:?} in {}: {seen:?}",
                self.title
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Its text: the characters among these lines.
    pub fn text_of(lines: &[String]) -> String {
        let units: Vec<u16> = lines
            .iter()
            .filter_map(|line| u16::from_str_radix(line.strip_prefix("char ")?, 16).ok())
            .collect();
        String::from_utf16_lossy(&units)
    }
}

impl Drop for App {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs the app if [`App::start`] has started this process, and does not return then.
pub fn be_an_app() {
    let Some(given) = std::env::var_os(APP) else {
        return;
    };
    let given = given.into_string().unwrap();
    let parts: Vec<&str> = given.split('|').collect();
    let [log, title, x, y] = parts[..] else {
        panic!("{given}");
    };
    let log = File::options().create(true).append(true).open(log).unwrap();
    LOG.set(Some(log));
    let class = if title == SLOW {
        w!("RichEditD2DPT")
    } else {
        w!("DesklineTestApp")
    };
    let at = |place: &str| place.parse().unwrap();
    // SAFETY: the texts outlive the calls.
    unsafe {
        RegisterClassW(&WNDCLASSW {
            lpfnWndProc: Some(on_message),
            lpszClassName: class,
            hbrBackground: GetSysColorBrush(COLOR_WINDOW),
            ..WNDCLASSW::default()
        });
        let make = |of, name: &str, as_: WINDOW_STYLE, [x, y, w, h]: [i32; 4]| {
            let (no, name) = (None, HSTRING::from(name));
            CreateWindowExW(of, class, &name, as_, x, y, w, h, no, None, None, None).unwrap();
        };
        let plain = WS_OVERLAPPEDWINDOW | WS_VISIBLE;
        make(WINDOW_EX_STYLE(0), title, plain, [at(x), at(y), 300, 200]);
        if title == GLOWS {
            let edges = [
                [36, 36, 308, 4],
                [36, 240, 308, 4],
                [36, 40, 4, 200],
                [340, 40, 4, 200],
            ];
            for edge in edges {
                make(
                    WS_EX_TOOLWINDOW | WS_EX_LAYERED,
                    "",
                    WS_POPUP | WS_VISIBLE,
                    edge,
                );
            }
        }
        note("ready");
        let mut message = MSG::default();
        while GetMessageW(&raw mut message, None, 0, 0).as_bool() {
            let _ = TranslateMessage(&raw const message);
            DispatchMessageW(&raw const message);
        }
    }
}

fn class_of(window: HWND) -> String {
    let mut class = [0; 64];
    // SAFETY: the call is given the buffer's length.
    let length = unsafe { GetClassNameW(window, &mut class) };
    String::from_utf16_lossy(&class[..length as usize])
}

/// Opens a menu at the pointer, and returns when it has closed.
fn open_a_menu(window: HWND) {
    let mut at = POINT::default();
    // SAFETY: the menu is this function's, and the texts are constants.
    unsafe {
        GetCursorPos(&raw mut at).unwrap();
        let menu = CreatePopupMenu().unwrap();
        for text in [w!("Cut"), w!("Copy"), w!("Paste")] {
            AppendMenuW(menu, MF_STRING, 1, text).unwrap();
        }
        let _ = TrackPopupMenu(menu, TPM_LEFTALIGN, at.x, at.y, None, window, None);
        DestroyMenu(menu).unwrap();
    }
}

fn note(line: &str) {
    LOG.with_borrow_mut(|log| {
        let log = log.as_mut().unwrap();
        log.write_all(format!("{line}\n").as_bytes()).unwrap();
    });
}

unsafe extern "system" fn on_message(
    window: HWND,
    message: u32,
    what: WPARAM,
    data: LPARAM,
) -> LRESULT {
    let (low, high) = (data.0 as i16, (data.0 >> 16) as i16);
    let turned = (what.0 >> 16) as i16;
    match message {
        WM_CHAR => {
            // Wine posts this message at the time at which the app gets to it.
            let (now, (before, last)) = (PRESSED.get(), LAST.get());
            let is_slow = class_of(window) == "RichEditD2DPT";
            let char = match now.wrapping_sub(before) {
                ..20 if is_slow && last != 0 => last,
                _ => what.0,
            };
            LAST.set((now, char));
            note(&format!("char {char:04x}"));
        }
        WM_KEYDOWN | WM_SYSKEYDOWN => {
            // SAFETY: takes nothing.
            PRESSED.set(unsafe { GetMessageTime() });
            let scan = (data.0 >> 16) & 0x1ff;
            note(&format!("key {:02x} scan {scan:02x}", what.0));
        }
        WM_KEYUP | WM_SYSKEYUP => note(&format!("up {:02x}", what.0)),
        WM_SYSCOMMAND => note(&format!("command {:x}", what.0 & 0xfff0)),
        WM_LBUTTONDOWN => note(&format!("left {low},{high}")),
        WM_LBUTTONUP => note("left up"),
        WM_RBUTTONDOWN => {
            note(&format!("right {low},{high}"));
            open_a_menu(window);
        }
        WM_MOUSEWHEEL => note(&format!("wheel {turned}")),
        WM_MOUSEHWHEEL => note(&format!("hwheel {turned}")),
        WM_ACTIVATE => note(&format!("active {}", what.0 & 0xffff)),
        _ => {}
    }
    // SAFETY: forwards the arguments of this call.
    unsafe { DefWindowProcW(window, message, what, data) }
}
