//! The `WindowServer`'s windows, and the displays.

use objc2_core_foundation::{
    CFArray, CFBoolean, CFDictionary, CFNumber, CFRetained, CFString, CFType, CGRect,
};
use objc2_core_graphics::{
    CGDisplayBounds, CGDisplayCopyDisplayMode, CGDisplayMode, CGGetActiveDisplayList,
    CGMainDisplayID, CGRectMakeWithDictionaryRepresentation, CGWindowListCopyWindowInfo,
    CGWindowListOption, kCGNullWindowID, kCGWindowAlpha, kCGWindowBounds, kCGWindowIsOnscreen,
    kCGWindowLayer, kCGWindowName, kCGWindowNumber, kCGWindowOwnerName, kCGWindowOwnerPID,
};

use crate::os::{Display, ServerWindow};

/// The maximum number of displays. No Mac has more.
const DISPLAYS: usize = 32;

type Info = CFDictionary<CFString, CFType>;

fn number(info: &Info, key: &CFString) -> Option<f64> {
    info.get(key)?.downcast_ref::<CFNumber>()?.as_f64()
}

fn text(info: &Info, key: &CFString) -> String {
    let any = info.get(key);
    let text = any.as_ref().and_then(|any| any.downcast_ref::<CFString>());
    text.map(ToString::to_string).unwrap_or_default()
}

pub(super) fn windows() -> Vec<ServerWindow> {
    let Some(list) = CGWindowListCopyWindowInfo(CGWindowListOption::OptionAll, kCGNullWindowID)
    else {
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
            bounds: [
                rect.origin.x,
                rect.origin.y,
                rect.size.width,
                rect.size.height,
            ],
            layer: number(info, kCGWindowLayer).unwrap_or_default() as i64,
            on_screen: on_screen.is_some_and(CFBoolean::as_bool),
            alpha: number(info, kCGWindowAlpha).unwrap_or(1.0),
        })
    }
}

pub(super) fn displays() -> Vec<Display> {
    let (mut ids, mut count) = ([0; DISPLAYS], 0);
    // SAFETY: room for as many ids as it says.
    unsafe { CGGetActiveDisplayList(DISPLAYS as u32, ids.as_mut_ptr(), &raw mut count) };
    let main = CGMainDisplayID();
    let ids = ids.into_iter().take(count as usize);
    ids.map(|id| {
        let bounds = CGDisplayBounds(id);
        let mode = CGDisplayCopyDisplayMode(id);
        let pixels = CGDisplayMode::pixel_width(mode.as_deref());
        let points = CGDisplayMode::width(mode.as_deref());
        Display {
            bounds: [
                bounds.origin.x,
                bounds.origin.y,
                bounds.size.width,
                bounds.size.height,
            ],
            scale: pixels.max(1) as f64 / points.max(1) as f64,
            main: id == main,
        }
    })
    .collect()
}
