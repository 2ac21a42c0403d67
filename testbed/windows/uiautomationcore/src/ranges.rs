//! The client's ranges of a text.

use std::ffi::c_void;
use std::sync::LazyLock;

use windows::Win32::Foundation::{E_FAIL, E_INVALIDARG, S_OK};
use windows::Win32::UI::Accessibility::*;
use windows::core::{BSTR, HRESULT, Interface, Result};

use crate::element::give;
use crate::memory::ask;
use crate::object::{methods, new, of};
use crate::patterns;
use crate::wire::{Answer, Request};

/// A range: the window, and its number there.
struct Range {
    window: isize,
    range: u32,
}

static RANGE: LazyLock<IUIAutomationTextRange_Vtbl> = LazyLock::new(|| {
    methods::<IUIAutomationTextRange_Vtbl, Range>(|table| {
        table.Clone = clone;
        table.GetText = text;
        table.MoveEndpointByRange = move_endpoint;
    })
});

fn this<'a>(this: *mut c_void) -> &'a Range {
    // SAFETY: all ranges are made by `range`.
    unsafe { of::<IUIAutomationTextRange_Vtbl, Range>(this) }
}

fn range(window: isize, range: u32) -> IUIAutomationTextRange {
    const INTERFACES: &[windows::core::GUID] = &[IUIAutomationTextRange::IID];
    // SAFETY: the table is that of the interface.
    unsafe { new(&*RANGE, INTERFACES, Range { window, range }) }
}

fn ranges(window: isize, request: &Request) -> Result<Vec<u32>> {
    match ask(window, request)? {
        Some(Answer::Ranges(ranges)) => Ok(ranges),
        _ => Err(E_FAIL.into()),
    }
}

fn one(window: isize, request: &Request) -> Result<IUIAutomationTextRange> {
    let first = ranges(window, request)?.into_iter().next();
    first
        .map(|id| range(window, id))
        .ok_or_else(|| E_FAIL.into())
}

pub unsafe extern "system" fn whole(pattern: *mut c_void, result: *mut *mut c_void) -> HRESULT {
    let pattern = patterns::this(pattern);
    let element = pattern.element;
    give(
        one(pattern.window, &Request::WholeRange { element }),
        result,
    )
}

pub unsafe extern "system" fn visible(pattern: *mut c_void, result: *mut *mut c_void) -> HRESULT {
    let pattern = patterns::this(pattern);
    let element = pattern.element;
    let ranges = ranges(pattern.window, &Request::VisibleRanges { element });
    give(ranges.map(|ranges| array(pattern.window, ranges)), result)
}

unsafe extern "system" fn clone(range: *mut c_void, result: *mut *mut c_void) -> HRESULT {
    let Range { window, range } = *this(range);
    give(one(window, &Request::CloneRange { range }), result)
}

unsafe extern "system" fn text(range: *mut c_void, most: i32, result: *mut *mut c_void) -> HRESULT {
    let Range { window, range } = *this(range);
    match ask(window, &Request::RangeText { range, most }) {
        Ok(Some(Answer::Text(text))) => {
            let text = BSTR::from(text.as_str()).into_raw();
            // SAFETY: COM passes a pointer to write to.
            unsafe { result.write(text.cast_mut().cast()) };
            S_OK
        }
        Ok(_) => E_FAIL,
        Err(error) => error.code(),
    }
}

unsafe extern "system" fn move_endpoint(
    range: *mut c_void,
    endpoint: TextPatternRangeEndpoint,
    target: *mut c_void,
    target_endpoint: TextPatternRangeEndpoint,
) -> HRESULT {
    if target.is_null() {
        return E_INVALIDARG;
    }
    let Range { window, range } = *this(range);
    let request = Request::MoveEndpoint {
        range,
        endpoint: endpoint.0,
        target: this(target).range,
        target_endpoint: target_endpoint.0,
    };
    ask(window, &request).map_or_else(|error| error.code(), |_| S_OK)
}

/// An array of ranges.
struct Array {
    window: isize,
    ranges: Vec<u32>,
}

static ARRAY: LazyLock<IUIAutomationTextRangeArray_Vtbl> = LazyLock::new(|| {
    methods::<IUIAutomationTextRangeArray_Vtbl, Array>(|table| {
        table.Length = length;
        table.GetElement = item;
    })
});

fn array(window: isize, ranges: Vec<u32>) -> IUIAutomationTextRangeArray {
    const INTERFACES: &[windows::core::GUID] = &[IUIAutomationTextRangeArray::IID];
    // SAFETY: the table is that of the interface.
    unsafe { new(&*ARRAY, INTERFACES, Array { window, ranges }) }
}

unsafe extern "system" fn length(array: *mut c_void, result: *mut i32) -> HRESULT {
    // SAFETY: the object is an array; COM passes a pointer to write to.
    unsafe {
        let array = of::<IUIAutomationTextRangeArray_Vtbl, Array>(array);
        result.write(array.ranges.len() as i32);
    }
    S_OK
}

unsafe extern "system" fn item(
    array: *mut c_void,
    index: i32,
    result: *mut *mut c_void,
) -> HRESULT {
    // SAFETY: the object is an array.
    let array = unsafe { of::<IUIAutomationTextRangeArray_Vtbl, Array>(array) };
    let id = usize::try_from(index)
        .ok()
        .and_then(|index| array.ranges.get(index));
    let item = id.map(|id| range(array.window, *id));
    give(item.ok_or_else(|| E_INVALIDARG.into()), result)
}
