//! Shows the person that the agent is acting: a banner with the action, and an outline around the
//! target.
//!
//! These windows take neither focus nor clicks. A picture of a window never contains them. From
//! Windows 10 2004 on, a picture of the screen does not either. They belong to the thread that has
//! created them, and its message loop draws them.

use std::sync::Once;

use deskline_contract::guard::banner_place;
use deskline_core::Rect;
use windows::Win32::Foundation::{COLORREF, HWND, LPARAM, LRESULT, RECT, SIZE, WPARAM};
use windows::Win32::Graphics::Gdi::{
    BeginPaint, CLEARTYPE_QUALITY, CLIP_DEFAULT_PRECIS, CreateFontW, CreateSolidBrush,
    DEFAULT_CHARSET, DT_CENTER, DT_END_ELLIPSIS, DT_NOPREFIX, DT_SINGLELINE, DT_VCENTER,
    DeleteObject, DrawTextW, EndPaint, FF_DONTCARE, FW_NORMAL, FillRect, GetDC,
    GetTextExtentPoint32W, HFONT, OUT_DEFAULT_PRECIS, PAINTSTRUCT, ReleaseDC, SelectObject,
    SetBkMode, SetTextColor, TRANSPARENT, UpdateWindow,
};
use windows::Win32::System::LibraryLoader::GetModuleHandleW;
use windows::Win32::UI::WindowsAndMessaging::{
    CreateWindowExW, DefWindowProcW, DestroyWindow, GetClientRect, LWA_ALPHA, RegisterClassW,
    SW_SHOWNOACTIVATE, SetLayeredWindowAttributes, SetWindowDisplayAffinity, ShowWindow,
    WDA_EXCLUDEFROMCAPTURE, WM_PAINT, WNDCLASSW, WS_EX_LAYERED, WS_EX_NOACTIVATE, WS_EX_TOOLWINDOW,
    WS_EX_TOPMOST, WS_EX_TRANSPARENT, WS_POPUP,
};
use windows::core::{HSTRING, Owned, PCWSTR, Result, w};

use super::Banner;
use crate::display::monitors;
use crate::os::{id, title};

/// The window class of the banner and of the outline.
pub const CLASS: PCWSTR = w!("DesklineOverlay");

/// The colours, 0xBBGGRR: an accent that is visible on light and on dark, the banner's background,
/// the text of the banner.
const ACCENT: COLORREF = COLORREF(0x00_8a_ff);
const DARK: COLORREF = COLORREF(0x14_14_14);
const LIGHT: COLORREF = COLORREF(0xff_ff_ff);

/// Sizes at 96 dpi: the banner's height, of which the font takes 4/9, and the thickness of lines.
const HEIGHT: f64 = 36.0;
const LINE: f64 = 3.0;

/// The windows of the banner and the outline. To be dropped on the thread that has created them.
#[derive(Default)]
pub(super) struct Panels(Vec<HWND>);

impl Drop for Panels {
    fn drop(&mut self) {
        for window in self.0.drain(..) {
            // SAFETY: a window of this thread, destroyed once.
            let _ = unsafe { DestroyWindow(window) };
        }
    }
}

impl Panels {
    /// Shows the banner, and the outline if `outline`. Ignores errors, because the agent can act
    /// without a banner and an outline.
    pub(super) fn new(banner: Option<&Banner>, outline: bool) -> Self {
        let mut panels = Self::default();
        let Some(banner) = banner else { return panels };
        if let Err(error) = panels.show(banner, outline) {
            tracing::debug!(%error, "the overlay is not shown");
        }
        panels
    }

    fn show(&mut self, banner: &Banner, outline: bool) -> Result<()> {
        let (area, scale) = monitors::containing(banner.place());
        if let Some(place) = banner.place().filter(|_| outline) {
            let line = (LINE * scale).round() as i32;
            let Rect { x, y, w, h } = place;
            let (wide, high) = (w.saturating_add(2 * line), h.saturating_add(2 * line));
            for side in [
                Rect::at(x - line, y - line, wide, line),
                Rect::at(x - line, y.saturating_add(h), wide, line),
                Rect::at(x - line, y - line, line, high),
                Rect::at(x.saturating_add(w), y - line, line, high),
            ] {
                self.window(side, "")?;
            }
        }
        if !banner.caption.is_empty() {
            let height = (HEIGHT * scale).round() as i32;
            let width = (width(&banner.caption, height)? + height).min(area.w);
            let place = banner_place(area, scale, (width, height), banner.place());
            self.window(place, &banner.caption)?;
        }
        Ok(())
    }

    /// Shows a window with the caption, or all in the accent colour if the caption is empty.
    fn window(&mut self, place: Rect, caption: &str) -> Result<()> {
        static REGISTERED: Once = Once::new();
        let extended =
            WS_EX_LAYERED | WS_EX_TRANSPARENT | WS_EX_NOACTIVATE | WS_EX_TOPMOST | WS_EX_TOOLWINDOW;
        let Rect { x, y, w, h } = place;
        // SAFETY: the texts outlive the calls; the function is in this program.
        unsafe {
            let instance = GetModuleHandleW(None)?.into();
            REGISTERED.call_once(|| {
                RegisterClassW(&WNDCLASSW {
                    lpfnWndProc: Some(on_message),
                    hInstance: instance,
                    lpszClassName: CLASS,
                    hbrBackground: CreateSolidBrush(ACCENT),
                    ..WNDCLASSW::default()
                });
            });
            let caption = HSTRING::from(caption);
            let instance = Some(instance);
            let window = CreateWindowExW(
                extended, CLASS, &caption, WS_POPUP, x, y, w, h, None, None, instance, None,
            )?;
            self.0.push(window);
            SetLayeredWindowAttributes(window, COLORREF(0), 255, LWA_ALPHA)?;
            // Windows before 10 2004 does not have this flag.
            let _ = SetWindowDisplayAffinity(window, WDA_EXCLUDEFROMCAPTURE);
            let _ = ShowWindow(window, SW_SHOWNOACTIVATE);
            let _ = UpdateWindow(window);
        }
        Ok(())
    }
}

/// The font for a banner of this height.
fn font(height: i32) -> Owned<HFONT> {
    // SAFETY: the name is a constant; the font is deleted once.
    unsafe {
        Owned::new(CreateFontW(
            -height * 4 / 9,
            0,
            0,
            0,
            FW_NORMAL.0.cast_signed(),
            0,
            0,
            0,
            DEFAULT_CHARSET,
            OUT_DEFAULT_PRECIS,
            CLIP_DEFAULT_PRECIS,
            CLEARTYPE_QUALITY,
            FF_DONTCARE.0.into(),
            w!("Segoe UI"),
        ))
    }
}

/// The width of a caption in a banner of this height.
fn width(caption: &str, height: i32) -> Result<i32> {
    let font = font(height);
    let units: Vec<u16> = caption.encode_utf16().collect();
    let mut size = SIZE::default();
    // SAFETY: the context is released once, after it has got its own font again.
    unsafe {
        let screen = GetDC(None);
        let before = SelectObject(screen, (*font).into());
        let measured = GetTextExtentPoint32W(screen, &units, &raw mut size);
        SelectObject(screen, before);
        ReleaseDC(None, screen);
        measured.ok()?;
    }
    Ok(size.cx)
}

unsafe extern "system" fn on_message(
    window: HWND,
    message: u32,
    what: WPARAM,
    data: LPARAM,
) -> LRESULT {
    if message == WM_PAINT {
        paint(window);
        return LRESULT(0);
    }
    // SAFETY: forwards the arguments of this call.
    unsafe { DefWindowProcW(window, message, what, data) }
}

fn paint(window: HWND) {
    let mut caption: Vec<u16> = title(id(window)).encode_utf16().collect();
    let mut paint = PAINTSTRUCT::default();
    let mut area = RECT::default();
    // SAFETY: calls about a window of this thread, with structures that outlive them; the context
    // has got its own font again before the new font is deleted.
    unsafe {
        let context = BeginPaint(window, &raw mut paint);
        let _ = GetClientRect(window, &raw mut area);
        if !caption.is_empty() {
            let height = area.bottom;
            let line = (height / 18).max(1);
            let inner = RECT {
                left: line,
                top: line,
                right: area.right - line,
                bottom: height - line,
            };
            let dark = CreateSolidBrush(DARK);
            FillRect(context, &raw const inner, dark);
            let _ = DeleteObject(dark.into());
            let font = font(height);
            let before = SelectObject(context, (*font).into());
            SetBkMode(context, TRANSPARENT);
            SetTextColor(context, LIGHT);
            let format = DT_CENTER | DT_VCENTER | DT_SINGLELINE | DT_END_ELLIPSIS | DT_NOPREFIX;
            DrawTextW(context, &mut caption, &raw mut area, format);
            SelectObject(context, before);
        }
        let _ = EndPaint(window, &raw const paint);
    }
}
