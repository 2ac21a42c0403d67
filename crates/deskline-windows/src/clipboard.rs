//! The clipboard: a thread saves it, offers the agent's text, records which program reads the text,
//! and restores the person's data. Windows then keeps the data, so the thread need not serve it.

use deskline_contract::{Cancel, DisplayError, Error, Result, wait};
use std::cell::RefCell;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Instant;

use deskline_contract::clipboard::{
    Board, ClipboardThread, Lending, MOST_SAVED, Order, Reading, SAVES,
};
use windows::Win32::Foundation::{GlobalFree, HANDLE, HGLOBAL, HWND, LPARAM, LRESULT, WPARAM};
use windows::Win32::System::DataExchange::{
    CloseClipboard, EmptyClipboard, EnumClipboardFormats, GetClipboardData, GetClipboardOwner,
    GetClipboardSequenceNumber, GetOpenClipboardWindow, OpenClipboard, RegisterClipboardFormatW,
    SetClipboardData,
};
use windows::Win32::System::Memory::{
    GMEM_MOVEABLE, GlobalAlloc, GlobalLock, GlobalSize, GlobalUnlock,
};
use windows::Win32::UI::WindowsAndMessaging::{
    CreateWindowExW, DefWindowProcW, HWND_MESSAGE, RegisterClassW, WINDOW_EX_STYLE, WINDOW_STYLE,
    WM_APP, WM_QUIT, WM_RENDERFORMAT, WNDCLASSW,
};
use windows::core::{PCWSTR, w};

use crate::display::windows::owner;
use crate::os::{id, messages};

/// Posted to the thread when an order is in its channel.
const ORDERED: u32 = WM_APP + 1;
/// Posted when a program other than the app has read the agent's text.
const STRANGER: u32 = WM_APP + 2;

/// How often to offer the text again after another program has read it: clipboard recorders may
/// read it each time.
const ANEW: u8 = 3;

const TEXT: u32 = 13; // CF_UNICODETEXT

/// Formats whose data is a GDI handle instead of memory: bitmaps, metafiles, palettes. Windows
/// makes a bitmap from the saved DIB.
const NO_MEMORY: [u32; 4] = [2, 3, 9, 14];

/// Formats of OLE that refer to an object of the app that owned the clipboard.
const OBJECTS: [PCWSTR; 2] = [w!("DataObject"), w!("Ole Private Data")];

/// The format of files that the app creates only when another app pastes them.
const PROMISED: PCWSTR = w!("FileGroupDescriptorW");

/// Formats that make clipboard managers and the clipboard history ignore a short-lived text.
const MARKS: [PCWSTR; 2] = [
    w!("ExcludeClipboardContentFromMonitorProcessing"),
    w!("CanIncludeInClipboardHistory"),
];

type Content = Vec<(u32, Vec<u8>)>;

/// The agent's text, to be rendered when an app reads it.
struct Lent {
    text: Vec<u8>,
    /// The process that should read the text.
    app: u32,
    reading: Reading,
    anew: u8,
}

thread_local! {
    static LENT: RefCell<Option<Lent>> = const { RefCell::new(None) };
}

/// The channel to the thread. Dropping it ends the thread.
struct Line {
    orders: Sender<Order>,
    thread: u32,
}

impl Drop for Line {
    fn drop(&mut self) {
        let _ = messages::post(self.thread, WM_QUIT);
    }
}

pub(crate) fn start() -> Result<ClipboardThread> {
    let failed = |e: &dyn std::fmt::Display| Error::Unavailable(format!("the clipboard: {e}"));
    let (orders, todo) = mpsc::channel();
    let (started, starts) = mpsc::sync_channel(1);
    let reading = Reading::default();
    let shared = reading.clone();
    std::thread::Builder::new()
        .name("clipboard".into())
        .spawn(move || match window() {
            Ok(window) => {
                let _ = started.send(Ok(messages::queue()));
                serve(window, shared, &todo);
            }
            Err(error) => _ = started.send(Err(error)),
        })
        .map_err(|e| failed(&e))?;
    let thread = starts
        .recv_timeout(SAVES)
        .map_err(|e| failed(&e))?
        .map_err(|e| failed(&e))?;
    let line = Line { orders, thread };
    let send = move |order| {
        // If the thread has ended, the caller gets no answer and reports that.
        let _ = line.orders.send(order);
        let _ = messages::post(line.thread, ORDERED);
    };
    Ok(ClipboardThread::new(send, reading))
}

/// Creates the hidden window that owns the clipboard.
fn window() -> windows::core::Result<HWND> {
    let class = w!("DesklineClipboard");
    let style = WNDCLASSW {
        lpfnWndProc: Some(on_message),
        lpszClassName: class,
        ..WNDCLASSW::default()
    };
    // SAFETY: the texts are constants. If the class is registered already, it is this same class.
    unsafe {
        RegisterClassW(&raw const style);
        let (plain, shape, above) = (WINDOW_EX_STYLE(0), WINDOW_STYLE(0), Some(HWND_MESSAGE));
        CreateWindowExW(
            plain, class, None, shape, 0, 0, 0, 0, above, None, None, None,
        )
    }
}

fn serve(window: HWND, reading: Reading, orders: &Receiver<Order>) {
    let mut board = WinBoard {
        window,
        reading,
        content: None,
        known: 0,
    };
    let mut lending = Lending::default();
    messages::serve(|message| {
        match message.message {
            ORDERED => {
                for order in orders.try_iter() {
                    lending.obey(&mut board, order);
                }
            }
            STRANGER => board.offer_anew(),
            _ => return false,
        }
        true
    });
    if let Err(error) = lending.give_back(&mut board) {
        tracing::warn!("the clipboard was not restored: {error}");
    }
}

unsafe extern "system" fn on_message(
    window: HWND,
    message: u32,
    what: WPARAM,
    data: LPARAM,
) -> LRESULT {
    if message == WM_RENDERFORMAT {
        LENT.with_borrow_mut(|lent| lent.as_mut().map(render));
        return LRESULT(0);
    }
    // SAFETY: forwards the arguments of this call.
    unsafe { DefWindowProcW(window, message, what, data) }
}

/// Renders the text for the program that reads it, and identifies the program.
fn render(lent: &mut Lent) {
    if put(TEXT, &lent.text).is_err() {
        return;
    }
    // SAFETY: the function takes no arguments.
    let reader = unsafe { GetOpenClipboardWindow() }.map(|window| owner(id(window)));
    let stranger = reader.is_ok_and(|reader| reader != 0 && reader != lent.app);
    if stranger && lent.anew > 0 {
        lent.anew -= 1;
        let _ = messages::post(messages::queue(), STRANGER);
    } else {
        lent.reading.set(true);
    }
}

/// The clipboard, while this program has it open.
struct Open;

impl Open {
    fn wait(window: HWND, cancel: &Cancel) -> Result<Self> {
        let mut opened = Ok(());
        wait::holds(cancel, SAVES, std::time::Duration::from_millis(5), || {
            // SAFETY: the clipboard is closed when `Open` is dropped.
            opened = unsafe { OpenClipboard(Some(window)) };
            Ok(opened.is_ok())
        })?;
        opened.map_err(Error::system("opening the clipboard"))?;
        Ok(Self)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // SAFETY: the clipboard was opened.
        let _ = unsafe { CloseClipboard() };
    }
}

/// Puts data on the open clipboard, which owns it from then on.
fn put(format: u32, data: &[u8]) -> windows::core::Result<()> {
    // SAFETY: the memory is at least as long as the data.
    unsafe {
        let memory = GlobalAlloc(GMEM_MOVEABLE, data.len().max(1))?;
        let start = GlobalLock(memory).cast::<u8>();
        let put = if start.is_null() {
            Err(windows::core::Error::from_thread())
        } else {
            start.copy_from_nonoverlapping(data.as_ptr(), data.len());
            let _ = GlobalUnlock(memory);
            SetClipboardData(format, Some(HANDLE(memory.0))).map(drop)
        };
        if put.is_err() {
            let _ = GlobalFree(Some(memory));
        }
        put
    }
}

/// Copies the data of a format of the open clipboard. An error if it is longer than `most` bytes.
fn get(format: u32, most: usize) -> Result<Option<Vec<u8>>> {
    // SAFETY: the clipboard owns the memory, which stays valid while the clipboard is open.
    unsafe {
        let Ok(data) = GetClipboardData(format) else {
            return Ok(None);
        };
        let memory = HGLOBAL(data.0);
        let length = GlobalSize(memory);
        if length > most {
            return Err(DisplayError::ClipboardTooLarge(MOST_SAVED).into());
        }
        let start = GlobalLock(memory).cast::<u8>();
        if start.is_null() {
            return Ok(None);
        }
        let bytes = std::slice::from_raw_parts(start, length).to_vec();
        let _ = GlobalUnlock(memory);
        Ok(Some(bytes))
    }
}

fn registered(name: PCWSTR) -> u32 {
    // SAFETY: the name is a constant.
    unsafe { RegisterClipboardFormatW(name) }
}

fn formats() -> Vec<u32> {
    let next = |format: &u32| {
        // SAFETY: the argument is a number.
        Some(unsafe { EnumClipboardFormats(*format) }).filter(|format| *format != 0)
    };
    std::iter::successors(next(&0), next).collect()
}

struct WinBoard {
    window: HWND,
    reading: Reading,
    /// The content that this thread has written last, and whether it is the agent's text.
    content: Option<(Content, bool)>,
    /// The clipboard's sequence number at the last `take_changed`.
    known: u32,
}

impl WinBoard {
    fn offer_anew(&mut self) {
        let app = LENT.with_borrow(|lent| lent.as_ref().map(|lent| (lent.app, lent.anew)));
        let Some((app, anew)) = app else { return };
        if let Some((content, true)) = self.owned() {
            if let Err(error) = self.own(content, Some(app)) {
                tracing::warn!("the text was not offered again: {error}");
            }
            LENT.with_borrow_mut(|lent| lent.iter_mut().for_each(|lent| lent.anew = anew));
        }
    }
}

impl Board for WinBoard {
    type Content = Content;

    fn hear(&mut self) -> Result<()> {
        Ok(())
    }

    fn take_changed(&mut self) -> bool {
        // SAFETY: the function takes no arguments.
        let now = unsafe { GetClipboardSequenceNumber() };
        let changed = std::mem::replace(&mut self.known, now) != now;
        changed && self.owned().is_none()
    }

    fn fetch(&mut self, cancel: &Cancel) -> Result<(Content, Option<String>)> {
        let _open = Open::wait(self.window, cancel)?;
        let until = Instant::now() + SAVES;
        let formats = formats();
        if formats.contains(&registered(PROMISED)) {
            return Err(DisplayError::ClipboardPromised.into());
        }
        let objects = OBJECTS.map(registered);
        let mut left = MOST_SAVED;
        let mut content = Content::new();
        for format in formats {
            cancel.check()?;
            // 0x80 to 0x8f: owner-display and display formats. 0x200 to 0x3ff: private and GDI
            // handles.
            let no_memory = matches!(format, 0x80..=0x8f | 0x200..=0x3ff);
            if no_memory || NO_MEMORY.contains(&format) || objects.contains(&format) {
                continue;
            }
            if Instant::now() >= until {
                let late = DisplayError::ClipboardLate(format!("format {format}"), SAVES);
                return Err(late.into());
            }
            if let Some(data) = get(format, left)? {
                left -= data.len();
                content.push((format, data));
            }
        }
        Ok((content, None))
    }

    fn fetch_text(&mut self) -> Result<Option<Vec<u8>>> {
        let _open = Open::wait(self.window, &Cancel::new())?;
        let data = get(TEXT, MOST_SAVED)?.unwrap_or_default();
        let units = data
            .chunks_exact(2)
            .map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
        let units: Vec<u16> = units.take_while(|unit| *unit != 0).collect();
        let text = String::from_utf16_lossy(&units).replace("\r\n", "\n");
        Ok(Some(text.into_bytes()))
    }

    fn text(&self, text: &str) -> Result<Content> {
        // Windows' line ends are two characters.
        let text = text.replace("\r\n", "\n").replace('\n', "\r\n");
        let units = text.encode_utf16().chain([0]);
        let marks = MARKS.map(|mark| (registered(mark), vec![0; 4]));
        let mut content = vec![(TEXT, units.flat_map(u16::to_le_bytes).collect())];
        content.extend(marks);
        Ok(content)
    }

    fn own(&mut self, content: Content, reader: Option<u32>) -> Result<()> {
        let failed = |e: windows::core::Error| Error::system("writing to the clipboard")(e);
        let open = Open::wait(self.window, &Cancel::new())?;
        LENT.set(None);
        // SAFETY: the clipboard is open.
        unsafe { EmptyClipboard() }.map_err(failed)?;
        for (format, data) in &content {
            match reader {
                // Delayed rendering: Windows asks for the text when a program reads it.
                Some(app) if *format == TEXT => {
                    LENT.set(Some(Lent {
                        text: data.clone(),
                        app,
                        reading: self.reading.clone(),
                        anew: ANEW,
                    }));
                    // SAFETY: the clipboard is open. Without data the result is null, not an error.
                    let _ = unsafe { SetClipboardData(*format, None) };
                }
                _ => put(*format, data).map_err(failed)?,
            }
        }
        drop(open);
        self.content = Some((content, reader.is_some()));
        Ok(())
    }

    fn owned(&self) -> Option<(Content, bool)> {
        // SAFETY: the function takes no arguments.
        let owner = unsafe { GetClipboardOwner() };
        let ours = owner.is_ok_and(|owner| owner == self.window);
        self.content.clone().filter(|_| ours)
    }
}
