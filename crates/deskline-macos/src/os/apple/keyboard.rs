//! Keyboard layouts (Text Input Sources) and secure input: `HIToolbox`, which no crate binds.

use std::ffi::c_void;
use std::ptr::NonNull;

use objc2_core_foundation::{CFArray, CFData, CFDictionary, CFRetained, CFString, CFType};

use super::main_thread::on_main;
use crate::os::{InputSource, Layout, LayoutKey};

// `TextInputSources.h`, `UnicodeUtilities.h`, `LowMem.h`, `CarbonEventsCore.h`.
#[link(name = "Carbon", kind = "framework")]
unsafe extern "C-unwind" {
    fn TISCopyCurrentKeyboardLayoutInputSource() -> Option<NonNull<CFType>>;
    fn TISCopyCurrentASCIICapableKeyboardLayoutInputSource() -> Option<NonNull<CFType>>;
    fn TISGetInputSourceProperty(source: &CFType, key: &CFString) -> *const c_void;
    static kTISPropertyUnicodeKeyLayoutData: &'static CFString;
    fn TISCopyCurrentKeyboardInputSource() -> Option<NonNull<CFType>>;
    fn TISCreateInputSourceList(filter: &CFDictionary, all: u8) -> Option<NonNull<CFArray>>;
    fn TISSelectInputSource(source: &CFType) -> i32;
    static kTISPropertyInputSourceID: &'static CFString;
    static kTISPropertyLocalizedName: &'static CFString;
    static kTISPropertyInputSourceType: &'static CFString;
    static kTISTypeKeyboardLayout: &'static CFString;
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
/// `kUCKeyActionDown`
const DOWN: u16 = 0;
/// `cmdKey >> 8`, `shiftKey >> 8`, `optionKey >> 8` (`Events.h`).
const COMMAND: u32 = 1;
const SHIFT: u32 = 2;
const OPTION: u32 = 8;

pub(super) fn secure_input() -> bool {
    // SAFETY: the function takes no arguments.
    unsafe { IsSecureEventInputEnabled() != 0 }
}

pub(super) fn input_source() -> Option<InputSource> {
    on_main(|_| {
        // SAFETY: on the main thread; a Copy function's object is ours. The properties are strings,
        // which live as long as the source.
        unsafe {
            let source = CFRetained::from_raw(TISCopyCurrentKeyboardInputSource()?);
            let text = |key| {
                let text = TISGetInputSourceProperty(&source, key);
                Some(text.cast::<CFString>().as_ref()?.to_string())
            };
            Some(InputSource {
                id: text(kTISPropertyInputSourceID)?,
                name: text(kTISPropertyLocalizedName).unwrap_or_default(),
                layout: text(kTISPropertyInputSourceType)? == kTISTypeKeyboardLayout.to_string(),
            })
        }
    })?
}

pub(super) fn select_source(id: Option<&str>) -> bool {
    let id = id.map(str::to_owned);
    on_main(move |_| {
        // SAFETY: on the main thread; the Copy and Create functions' objects are ours. The filter
        // is a dictionary from a property to its value, as documented.
        unsafe {
            let source = match id {
                None => {
                    let ascii = TISCopyCurrentASCIICapableKeyboardLayoutInputSource()?;
                    CFRetained::from_raw(ascii)
                }
                Some(id) => {
                    let id = CFString::from_str(&id);
                    let filter = CFDictionary::from_slices(&[kTISPropertyInputSourceID], &[&*id]);
                    let list = TISCreateInputSourceList(filter.as_opaque(), 0)?;
                    let list: CFRetained<CFArray<CFType>> =
                        CFRetained::cast_unchecked(CFRetained::from_raw(list));
                    list.iter().next()?
                }
            };
            Some(TISSelectInputSource(&source) == 0)
        }
    })
    .flatten()
    .unwrap_or(false)
}

pub(super) fn keys(layout: Layout) -> Vec<LayoutKey> {
    let Some(Some(data)) = on_main(move |_| data(layout)) else {
        return Vec::new();
    };
    // SAFETY: the function takes no arguments.
    let keyboard = u32::from(unsafe { LMGetKbdType() });
    let mut keys = Vec::new();
    for code in 0..128 {
        for held in [0, SHIFT, OPTION, SHIFT | OPTION, COMMAND] {
            let translate = |action, options| {
                let (mut dead, mut length, mut text) = (0, 0, [0_u16; 8]);
                // SAFETY: the layout is whole and aligned, as the system gave it; the buffer has
                // `text.len()` units.
                let status = unsafe {
                    UCKeyTranslate(
                        data.as_ptr(),
                        code,
                        action,
                        held,
                        keyboard,
                        options,
                        &raw mut dead,
                        text.len(),
                        &raw mut length,
                        text.as_mut_ptr(),
                    )
                };
                let text = String::from_utf16_lossy(&text[..length.min(text.len())]);
                (
                    Some(text).filter(|text| status == 0 && !text.is_empty()),
                    dead,
                )
            };
            if let (Some(text), _) = translate(DISPLAY, NO_DEAD_KEYS) {
                keys.push(LayoutKey {
                    code,
                    shift: held & SHIFT != 0,
                    option: held & OPTION != 0,
                    command: held & COMMAND != 0,
                    dead: translate(DOWN, 0).1 != 0,
                    text,
                });
            }
        }
    }
    keys
}

/// The `uchr` data of a layout. Call it on the main thread: `HIToolbox` ends the process if it is
/// called on another thread.
fn data(layout: Layout) -> Option<Vec<u8>> {
    // SAFETY: on the main thread; Copy functions' objects are ours. The property is data of the
    // source, and lives as long as the source: it is copied before the source is released.
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
