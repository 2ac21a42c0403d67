//! Keyboard layouts (Text Input Sources) and secure input: `HIToolbox`, which no crate binds.

use std::ffi::c_void;
use std::ptr::NonNull;

use objc2_core_foundation::{CFData, CFRetained, CFString, CFType};

use super::main_thread::on_main;
use crate::os::{Layout, LayoutKey};

// `TextInputSources.h`, `UnicodeUtilities.h`, `LowMem.h`, `CarbonEventsCore.h`.
#[link(name = "Carbon", kind = "framework")]
unsafe extern "C-unwind" {
    fn TISCopyCurrentKeyboardLayoutInputSource() -> Option<NonNull<CFType>>;
    fn TISCopyCurrentASCIICapableKeyboardLayoutInputSource() -> Option<NonNull<CFType>>;
    fn TISGetInputSourceProperty(source: &CFType, key: &CFString) -> *const c_void;
    static kTISPropertyUnicodeKeyLayoutData: &'static CFString;
    fn UCKeyTranslate(
        layout: *const u8,
        code: u16,
        action: u16,
        modifiers: u32,
        keyboard: u32,
        options: u32,
        dead_keys: *mut u32,
        most: usize,
        length: *mut usize,
        text: *mut u16,
    ) -> i32;
    fn LMGetKbdType() -> u8;
    fn IsSecureEventInputEnabled() -> u8;
}

/// `kUCKeyActionDisplay`: the character that is printed on the key.
const DISPLAY: u16 = 3;
/// `kUCKeyTranslateNoDeadKeysMask`
const NO_DEAD_KEYS: u32 = 1;
/// `shiftKey >> 8`, `optionKey >> 8` (`Events.h`).
const SHIFT: u32 = 2;
const OPTION: u32 = 8;

pub(super) fn secure_input() -> bool {
    // SAFETY: takes nothing.
    unsafe { IsSecureEventInputEnabled() != 0 }
}

pub(super) fn keys(layout: Layout) -> Vec<LayoutKey> {
    let Some(Some(data)) = on_main(move |_| data(layout)) else {
        return Vec::new();
    };
    // SAFETY: takes nothing.
    let keyboard = u32::from(unsafe { LMGetKbdType() });
    let mut keys = Vec::new();
    for code in 0..128 {
        for (shift, option) in [(false, false), (true, false), (false, true), (true, true)] {
            let modifiers = (u32::from(shift) * SHIFT) | (u32::from(option) * OPTION);
            let (mut dead, mut length, mut text) = (0, 0, [0_u16; 8]);
            // SAFETY: the layout is whole and aligned as the system gave it, the buffer has as
            // many units as it says.
            let status = unsafe {
                UCKeyTranslate(
                    data.as_ptr(),
                    code,
                    DISPLAY,
                    modifiers,
                    keyboard,
                    NO_DEAD_KEYS,
                    &raw mut dead,
                    text.len(),
                    &raw mut length,
                    text.as_mut_ptr(),
                )
            };
            if status == 0 && length > 0 {
                let text = String::from_utf16_lossy(&text[..length.min(text.len())]);
                keys.push(LayoutKey {
                    code,
                    shift,
                    option,
                    text,
                });
            }
        }
    }
    keys
}

/// The `uchr` data of a layout. Call it on the main thread: `HIToolbox` ends the process on others.
fn data(layout: Layout) -> Option<Vec<u8>> {
    // SAFETY: on the main thread; Copy functions' objects are ours. The property is the source's
    // own data, which lives as long as it does: it is copied before that ends.
    unsafe {
        let source = match layout {
            Layout::Current => TISCopyCurrentKeyboardLayoutInputSource(),
            Layout::Ascii => TISCopyCurrentASCIICapableKeyboardLayoutInputSource(),
        };
        let source = CFRetained::from_raw(source?);
        let data = TISGetInputSourceProperty(&source, kTISPropertyUnicodeKeyLayoutData);
        let data = data.cast::<CFData>().as_ref()?;
        Some(data.to_vec())
    }
}
