//! The `WindowServer`'s windows, and the displays.

use objc2_core_foundation::{
    CFArray, CFBoolean, CFDictionary, CFNumber, CFRetained, CFString, CFType, CGRect,
};
use objc2_core_graphics::{
    CGDisplayBounds, CGDisplayCopyDisplayMode, CGDisplayMode, CGGetActiveDisplayList,
    CGMainDisplayID, CGRectMakeWithDictionaryRepresentation, CGSessionCopyCurrentDictionary,
    CGWindowListCopyWindowInfo, CGWindowListOption, kCGNullWindowID, kCGWindowAlpha,
    kCGWindowBounds, kCGWindowIsOnscreen, kCGWindowLayer, kCGWindowName, kCGWindowNumber,
    kCGWindowOwnerName, kCGWindowOwnerPID,
};

use crate::os::{Display, Seat, ServerWindow};

/// The maximum number of displays. No Mac has more.
const DISPLAYS: usize = 32;

type Info = CFDictionary<CFString, CFType>;

fn number(info: &Info, key: &CFString) -> Option<f64> {
    info.get(key)?.downcast_ref::<CFNumber>()?.as_f64()
}

pub(super) fn sides(CGRect { origin, size }: CGRect) -> [f64; 4] {
    [origin.x, origin.y, size.width, size.height]
}

fn text(info: &Info, key: &CFString) -> String {
    let any = info.get(key);
    let text = any.as_ref().and_then(|any| any.downcast_ref::<CFString>());
    text.map(ToString::to_string).unwrap_or_default()
}

pub(super) fn windows() -> Vec<ServerWindow> {
    list(CGWindowListOption::OptionOnScreenOnly)
}

pub(super) fn all_windows() -> Vec<ServerWindow> {
    list(CGWindowListOption::OptionAll)
}

fn list(which: CGWindowListOption) -> Vec<ServerWindow> {
    let Some(list) = CGWindowListCopyWindowInfo(which, kCGNullWindowID) else {
        return Vec::new();
    };
    // SAFETY: documented as an array of dictionaries from strings to CF types.
    let list: CFRetained<CFArray<Info>> = unsafe { CFRetained::cast_unchecked(list) };
    list.iter().filter_map(|info| window(&info)).collect()
}

fn window(info: &Info) -> Option<ServerWindow> {
    // SAFETY: the keys are constants of the framework's, never written.
    unsafe {
        let bounds = info.get(kCGWindowBounds)?;
        let bounds = bounds.downcast_ref::<CFDictionary>()?;
        let mut rect = CGRect::default();
        if !CGRectMakeWithDictionaryRepresentation(Some(bounds), &raw mut rect) {
            return None;
        }
        let on_screen = info.get(kCGWindowIsOnscreen);
        let on_screen = on_screen
            .as_ref()
            .and_then(|any| any.downcast_ref::<CFBoolean>());
        Some(ServerWindow {
            number: number(info, kCGWindowNumber)? as u32,
            pid: number(info, kCGWindowOwnerPID)? as u32,
            owner: text(info, kCGWindowOwnerName),
            title: text(info, kCGWindowName),
            bounds: sides(rect),
            layer: number(info, kCGWindowLayer).unwrap_or_default() as i64,
            on_screen: on_screen.is_some_and(CFBoolean::as_bool),
            alpha: number(info, kCGWindowAlpha).unwrap_or(1.0),
        })
    }
}

fn session() -> Option<CFRetained<Info>> {
    let session = CGSessionCopyCurrentDictionary()?;
    // SAFETY: documented as a dictionary from strings to CF types.
    Some(unsafe { CFRetained::cast_unchecked(session) })
}

pub(super) fn secure_holder() -> Option<u32> {
    let pid = number(
        &*session()?,
        &CFString::from_static_str("kCGSSessionSecureInputPID"),
    )?;
    Some(pid as u32).filter(|pid| *pid != 0)
}

pub(super) fn seat() -> Option<Seat> {
    let session = session()?;
    let is = |key| {
        let any = session.get(&CFString::from_static_str(key))?;
        Some(any.downcast_ref::<CFBoolean>()?.as_bool())
    };
    Some(Seat {
        locked: is("CGSSessionScreenIsLocked").unwrap_or(false),
        on_console: is("kCGSSessionOnConsoleKey").unwrap_or(true),
    })
}

pub(super) fn displays() -> Vec<Display> {
    let (mut ids, mut count) = ([0; DISPLAYS], 0);
    // SAFETY: the buffer has room for `DISPLAYS` ids.
    unsafe { CGGetActiveDisplayList(DISPLAYS as u32, ids.as_mut_ptr(), &raw mut count) };
    let main = CGMainDisplayID();
    let ids = ids.into_iter().take(count as usize);
    ids.map(|id| {
        let mode = CGDisplayCopyDisplayMode(id);
        let pixels = CGDisplayMode::pixel_width(mode.as_deref());
        let points = CGDisplayMode::width(mode.as_deref());
        Display {
            bounds: sides(CGDisplayBounds(id)),
            scale: pixels.max(1) as f64 / points.max(1) as f64,
            main: id == main,
        }
    })
    .collect()
}
