//! The client's control patterns.

use std::ffi::c_void;
use std::sync::LazyLock;

use windows::Win32::Foundation::{E_FAIL, S_OK};
use windows::Win32::UI::Accessibility::*;
use windows::core::{BSTR, GUID, HRESULT, Interface};

use crate::memory::ask;
use crate::object::{methods, new, of};
use crate::ranges;
use crate::wire::{Answer, Request};

/// A pattern of an element.
pub struct Pattern {
    pub window: isize,
    pub element: u32,
    id: UIA_PATTERN_ID,
}

/// The pattern of this id as its interface; null if it is unknown here.
pub fn pattern(window: isize, element: u32, id: UIA_PATTERN_ID) -> *mut c_void {
    let pattern = Pattern {
        window,
        element,
        id,
    };
    fn make<I: Interface, V>(
        table: &'static V,
        interfaces: &'static [GUID],
        pattern: Pattern,
    ) -> *mut c_void {
        // SAFETY: the table is that of the interface.
        unsafe { new::<I, V, Pattern>(table, interfaces, pattern) }.into_raw()
    }
    macro_rules! make {
        ($($id:ident $interface:ident $table:ident,)*) => {
            match id {
                $($id => make::<$interface, _>(&*$table, &[$interface::IID], pattern),)*
                _ => std::ptr::null_mut(),
            }
        };
    }
    make! {
        UIA_InvokePatternId IUIAutomationInvokePattern INVOKE,
        UIA_TogglePatternId IUIAutomationTogglePattern TOGGLE,
        UIA_ExpandCollapsePatternId IUIAutomationExpandCollapsePattern EXPAND_COLLAPSE,
        UIA_SelectionItemPatternId IUIAutomationSelectionItemPattern SELECTION_ITEM,
        UIA_ValuePatternId IUIAutomationValuePattern VALUE,
        UIA_RangeValuePatternId IUIAutomationRangeValuePattern RANGE_VALUE,
        UIA_ScrollItemPatternId IUIAutomationScrollItemPattern SCROLL_ITEM,
        UIA_VirtualizedItemPatternId IUIAutomationVirtualizedItemPattern VIRTUALIZED_ITEM,
        UIA_TextPatternId IUIAutomationTextPattern TEXT,
    }
}

macro_rules! tables {
    ($($table:ident: $methods:ident { $($method:ident = $code:expr,)* })*) => {$(
        static $table: LazyLock<$methods> = LazyLock::new(|| {
            methods::<$methods, Pattern>(|table| { $(table.$method = $code;)* })
        });
    )*};
}

tables! {
    INVOKE: IUIAutomationInvokePattern_Vtbl { Invoke = act::<0>, }
    TOGGLE: IUIAutomationTogglePattern_Vtbl { Toggle = act::<0>, }
    EXPAND_COLLAPSE: IUIAutomationExpandCollapsePattern_Vtbl {
        Expand = act::<0>,
        Collapse = act::<1>,
    }
    SELECTION_ITEM: IUIAutomationSelectionItemPattern_Vtbl {
        Select = act::<0>,
        AddToSelection = act::<1>,
        RemoveFromSelection = act::<2>,
    }
    VALUE: IUIAutomationValuePattern_Vtbl { SetValue = set_text, }
    RANGE_VALUE: IUIAutomationRangeValuePattern_Vtbl { SetValue = set_number, }
    SCROLL_ITEM: IUIAutomationScrollItemPattern_Vtbl { ScrollIntoView = act::<0>, }
    VIRTUALIZED_ITEM: IUIAutomationVirtualizedItemPattern_Vtbl { Realize = act::<0>, }
    TEXT: IUIAutomationTextPattern_Vtbl {
        GetVisibleRanges = ranges::visible,
        DocumentRange = ranges::whole,
    }
}

/// The pattern that a method was called on. All tables here have the same layout of objects.
pub fn this<'a>(this: *mut c_void) -> &'a Pattern {
    // SAFETY: all patterns are made above. The size of the table does not matter: an object has a
    // pointer to it.
    unsafe { of::<IUIAutomationInvokePattern_Vtbl, Pattern>(this) }
}

fn send(pattern: *mut c_void, method: u32, text: String, number: f64) -> HRESULT {
    let this = this(pattern);
    let request = Request::Act {
        element: this.element,
        pattern: this.id.0,
        method,
        text,
        number,
    };
    match ask(this.window, &request) {
        Ok(Some(Answer::Done)) => S_OK,
        Ok(_) => E_FAIL,
        Err(error) => error.code(),
    }
}

unsafe extern "system" fn act<const METHOD: u32>(pattern: *mut c_void) -> HRESULT {
    send(pattern, METHOD, String::new(), 0.0)
}

unsafe extern "system" fn set_text(pattern: *mut c_void, text: *mut c_void) -> HRESULT {
    // SAFETY: the client passes a BSTR, and keeps it.
    let text = unsafe { std::mem::ManuallyDrop::new(BSTR::from_raw(text.cast())) };
    send(pattern, 0, String::from_utf16_lossy(&text), 0.0)
}

unsafe extern "system" fn set_number(pattern: *mut c_void, number: f64) -> HRESULT {
    send(pattern, 0, String::new(), number)
}
