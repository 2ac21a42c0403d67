//! Pictures of windows: drawn by the compositor, else from the window's own surface, else from the
//! screen. A black picture counts as a failure: protected windows are black, and each of these ways
//! returns black when it does not work.

use std::ffi::c_void;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use deskline_contract::{Error, Picture, Result};
use deskline_core::{Point, Rect, WindowId};
use windows::Win32::Foundation::HWND;
use windows::Win32::Graphics::Gdi::{
    BI_RGB, BITMAPINFO, BITMAPINFOHEADER, BitBlt, CreateCompatibleDC, CreateDIBSection,
    DIB_RGB_COLORS, DeleteDC, DeleteObject, GdiFlush, GetDC, GetWindowDC, HBITMAP, HDC, ReleaseDC,
    SRCCOPY, SelectObject,
};
use windows::Win32::Storage::Xps::{PRINT_WINDOW_FLAGS, PrintWindow};
use windows::Win32::UI::WindowsAndMessaging::{IsHungAppWindow, PW_RENDERFULLCONTENT};

use super::windows::{Kind, bounds, kind, owner, toplevels};
use crate::os::{self, handle, is_minimised, screen};

/// How long a picture may take: the app may have to draw, and may hang.
const TAKES: Duration = Duration::from_secs(2);

/// The maximum number of threads that may wait for windows that hang.
const MOST_WAITING: usize = 8;

static WAITING: AtomicUsize = AtomicUsize::new(0);

/// The maximum number of pixels: two 8K screens.
const MOST: usize = 2 * 7680 * 4320;

/// A picture of the window, with the open menus of its app that lie on it.
///
/// # Errors
/// [`Error::NoPicture`] if the window is gone, minimised or black, or hangs.
pub fn take(window: WindowId) -> Result<Picture> {
    let (send, receive) = mpsc::sync_channel(1);
    if WAITING.fetch_add(1, Ordering::Relaxed) >= MOST_WAITING {
        WAITING.fetch_sub(1, Ordering::Relaxed);
        let why = format!("{MOST_WAITING} hung windows have not delivered their screenshots yet");
        return Err(Error::NoPicture(why));
    }
    // Takes the picture on a separate thread, which is abandoned if the app hangs.
    let started = std::thread::Builder::new()
        .name("picture".into())
        .spawn(move || {
            let _ = send.send(now(window));
            WAITING.fetch_sub(1, Ordering::Relaxed);
        });
    if let Err(error) = started {
        WAITING.fetch_sub(1, Ordering::Relaxed);
        return Err(Error::system("starting a thread")(error));
    }
    receive.recv_timeout(TAKES).unwrap_or_else(|_| {
        let secs = TAKES.as_secs();
        Err(Error::NoPicture(format!(
            "the window gave no screenshot within {secs} s"
        )))
    })
}

fn now(window: WindowId) -> Result<Picture> {
    let none = |why: &str| Err(Error::NoPicture(why.to_owned()));
    if is_minimised(window) {
        return none("the window is minimised");
    }
    let (Some(outer), Some(shown)) = (os::outer(window), bounds(window)) else {
        return none("the window is gone");
    };
    if let Some(mut picture) = own(window, outer, shown) {
        let above = toplevels().into_iter();
        let above = above.take_while(|other| *other != window);
        let menus: Vec<_> = above.filter(|other| is_menu_of(*other, window)).collect();
        for menu in menus.into_iter().rev() {
            if let Some(drawn) = os::outer(menu).and_then(|o| own(menu, o, bounds(menu)?)) {
                paint(&mut picture, &drawn);
            }
        }
        return Ok(picture);
    }
    if is_covered(window, shown) {
        return none(
            "the window draws only black, as protected ones do, or does not answer, and other \
             windows cover it on the screen",
        );
    }
    let visible = shown.intersect(&screen());
    match draw(handle(window), visible, Way::Screen).filter(|picture| !is_black(picture)) {
        Some(picture) => Ok(picture),
        None => none("the window draws only black, as windows with protected content do"),
    }
}

/// The window's own drawing, cropped to its visible bounds. `None` if it is black, or the app
/// hangs.
fn own(window: WindowId, outer: Rect, shown: Rect) -> Option<Picture> {
    // SAFETY: the call allows the handle of a window that is gone.
    if unsafe { IsHungAppWindow(handle(window)).as_bool() } {
        return None;
    }
    let ways = [Way::Compositor, Way::Surface].into_iter();
    let mut drawn = ways.filter_map(|way| draw(handle(window), outer, way));
    Some(cut(drawn.find(|picture| !is_black(picture))?, shown))
}

/// Whether the other window is a menu, a drop-down or a tip of the window's app.
fn is_menu_of(other: WindowId, window: WindowId) -> bool {
    kind(other) == Kind::Menu && owner(other) == owner(window)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Compositor,
    Surface,
    Screen,
}

/// A bitmap to draw on.
struct Canvas {
    memory: HDC,
    bitmap: HBITMAP,
    bits: *mut c_void,
}

impl Canvas {
    fn new(width: i32, height: i32) -> Option<Self> {
        let info = BITMAPINFO {
            bmiHeader: BITMAPINFOHEADER {
                biSize: size_of::<BITMAPINFOHEADER>() as u32,
                biWidth: width,
                biHeight: -height, // the first row is the top one
                biPlanes: 1,
                biBitCount: 32,
                biCompression: BI_RGB.0,
                ..BITMAPINFOHEADER::default()
            },
            ..BITMAPINFO::default()
        };
        let mut bits = std::ptr::null_mut();
        // SAFETY: the description outlives the call, and `bits` lives as long as the bitmap.
        unsafe {
            let memory = CreateCompatibleDC(None);
            let bitmap = CreateDIBSection(
                Some(memory),
                &raw const info,
                DIB_RGB_COLORS,
                &raw mut bits,
                None,
                0,
            );
            let Ok(bitmap) = bitmap else {
                let _ = DeleteDC(memory);
                return None;
            };
            SelectObject(memory, bitmap.into());
            Some(Self {
                memory,
                bitmap,
                bits,
            })
        }
    }
}

impl Drop for Canvas {
    fn drop(&mut self) {
        // SAFETY: both were made in `new`, and are freed once; the context goes before its bitmap.
        unsafe {
            let _ = DeleteDC(self.memory);
            let _ = DeleteObject(self.bitmap.into());
        }
    }
}

/// Draws `area`, which has to be the whole window, except with [`Way::Screen`].
fn draw(window: HWND, area: Rect, way: Way) -> Option<Picture> {
    let (width, height) = (area.w, area.h);
    let pixels = usize::try_from(width)
        .ok()?
        .checked_mul(usize::try_from(height).ok()?)?;
    if pixels == 0 || pixels > MOST {
        return None;
    }
    let canvas = Canvas::new(width, height)?;
    // SAFETY: each context is released for the window that it was taken from.
    let drawn = unsafe {
        match way {
            Way::Compositor => {
                let flags = PRINT_WINDOW_FLAGS(PW_RENDERFULLCONTENT);
                PrintWindow(window, canvas.memory, flags).as_bool()
            }
            Way::Surface | Way::Screen => {
                let (owner, from, x, y) = match way {
                    Way::Surface => (Some(window), GetWindowDC(Some(window)), 0, 0),
                    _ => (None, GetDC(None), area.x, area.y),
                };
                let (to, source) = (canvas.memory, Some(from));
                let copied = BitBlt(to, 0, 0, width, height, source, x, y, SRCCOPY);
                ReleaseDC(owner, from);
                copied.is_ok()
            }
        }
    };
    if !drawn {
        return None;
    }
    // SAFETY: the bitmap has four bytes a pixel, is complete after the flush, and outlives the
    // slice.
    let bytes = unsafe {
        let _ = GdiFlush();
        std::slice::from_raw_parts(canvas.bits.cast::<u8>(), pixels * 4)
    };
    let rgb = bytes
        .chunks_exact(4)
        .flat_map(|bgr| [bgr[2], bgr[1], bgr[0]]);
    Some(Picture {
        width: width.cast_unsigned(),
        height: height.cast_unsigned(),
        rgb: rgb.collect(),
        origin: Point::at(area.x, area.y),
        scale: 1.0,
    })
}

/// A picture of all monitors together, for the self-test.
pub fn of_screen() -> Option<Picture> {
    // `Way::Screen` needs no window.
    draw(HWND::default(), screen(), Way::Screen)
}

fn is_black(picture: &Picture) -> bool {
    picture.rgb.iter().all(|byte| *byte == 0)
}

/// Crops a picture to `shown`, which excludes the invisible borders.
fn cut(picture: Picture, shown: Rect) -> Picture {
    let part = place(&picture).intersect(&shown);
    if part == place(&picture) || part.is_empty() {
        return picture;
    }
    Picture {
        width: part.w.cast_unsigned(),
        height: part.h.cast_unsigned(),
        rgb: rows(place(&picture), part)
            .flat_map(|row| &picture.rgb[row])
            .copied()
            .collect(),
        origin: Point::at(part.x, part.y),
        ..picture
    }
}

/// Copies `over` into the part of `picture` that it covers.
fn paint(picture: &mut Picture, over: &Picture) {
    let part = place(picture).intersect(&place(over));
    let rows = rows(place(picture), part).zip(rows(place(over), part));
    for (to, from) in rows {
        picture.rgb[to].copy_from_slice(&over.rgb[from]);
    }
}

fn place(picture: &Picture) -> Rect {
    let Point { x, y } = picture.origin;
    let (width, height) = (picture.width.cast_signed(), picture.height.cast_signed());
    Rect::at(x, y, width, height)
}

/// For each row of `part`, its bytes in the picture `whole`. `part` lies within `whole`.
fn rows(whole: Rect, part: Rect) -> impl Iterator<Item = Range<usize>> {
    (part.y..part.y + part.h).map(move |y| {
        let first = ((y - whole.y) * whole.w + part.x - whole.x) as usize * 3;
        first..first + part.w as usize * 3
    })
}

/// Whether a window above `window`, other than its menus, covers any part of `shown`.
fn is_covered(window: WindowId, shown: Rect) -> bool {
    let above = toplevels().into_iter().take_while(|other| *other != window);
    let others = above.filter(|other| !is_menu_of(*other, window));
    let mut bounds = others.filter_map(bounds);
    bounds.any(|other| !other.intersect(&shown).is_empty())
}
