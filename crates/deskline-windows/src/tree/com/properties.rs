//! The properties that are requested of each element, and their values.

use deskline_core::WindowId;
use windows::Win32::System::Com::SAFEARRAY;
use windows::Win32::System::Ole::{
    SafeArrayAccessData, SafeArrayGetDim, SafeArrayGetLBound, SafeArrayGetUBound,
    SafeArrayGetVartype, SafeArrayUnaccessData,
};
use windows::Win32::System::Variant::{
    VARENUM, VARIANT, VARIANT_0_0_0, VT_ARRAY, VT_BOOL, VT_BSTR, VT_I4, VT_R8,
};
use windows::Win32::UI::Accessibility::*;

use crate::tree::uia::{Patterns, Range, Raw};

macro_rules! patterns {
    ($($property:ident $pattern:ident)*) => {
        [$(($property, Patterns::$pattern)),*]
    };
}

/// For each pattern, the property that reports whether an element has it.
const PATTERNS: [(UIA_PROPERTY_ID, Patterns); 16] = patterns! {
    UIA_IsInvokePatternAvailablePropertyId INVOKE
    UIA_IsTogglePatternAvailablePropertyId TOGGLE
    UIA_IsExpandCollapsePatternAvailablePropertyId EXPAND_COLLAPSE
    UIA_IsValuePatternAvailablePropertyId VALUE
    UIA_IsRangeValuePatternAvailablePropertyId RANGE_VALUE
    UIA_IsSelectionItemPatternAvailablePropertyId SELECTION_ITEM
    UIA_IsSelectionPatternAvailablePropertyId SELECTION
    UIA_IsTextPatternAvailablePropertyId TEXT
    UIA_IsScrollPatternAvailablePropertyId SCROLL
    UIA_IsScrollItemPatternAvailablePropertyId SCROLL_ITEM
    UIA_IsGridPatternAvailablePropertyId GRID
    UIA_IsGridItemPatternAvailablePropertyId GRID_ITEM
    UIA_IsVirtualizedItemPatternAvailablePropertyId VIRTUALIZED_ITEM
    UIA_IsItemContainerPatternAvailablePropertyId ITEM_CONTAINER
    UIA_IsLegacyIAccessiblePatternAvailablePropertyId LEGACY
    UIA_IsWindowPatternAvailablePropertyId WINDOW
};

const OTHERS: [UIA_PROPERTY_ID; 30] = [
    UIA_RuntimeIdPropertyId,
    UIA_ControlTypePropertyId,
    UIA_ClassNamePropertyId,
    UIA_FrameworkIdPropertyId,
    UIA_NamePropertyId,
    UIA_HelpTextPropertyId,
    UIA_BoundingRectanglePropertyId,
    UIA_IsOffscreenPropertyId,
    UIA_IsEnabledPropertyId,
    UIA_HasKeyboardFocusPropertyId,
    UIA_IsKeyboardFocusablePropertyId,
    UIA_IsPasswordPropertyId,
    UIA_IsControlElementPropertyId,
    UIA_NativeWindowHandlePropertyId,
    UIA_ProcessIdPropertyId,
    UIA_ValueValuePropertyId,
    UIA_ValueIsReadOnlyPropertyId,
    UIA_RangeValueValuePropertyId,
    UIA_RangeValueMinimumPropertyId,
    UIA_RangeValueMaximumPropertyId,
    UIA_RangeValueIsReadOnlyPropertyId,
    UIA_ToggleToggleStatePropertyId,
    UIA_ExpandCollapseExpandCollapseStatePropertyId,
    UIA_SelectionItemIsSelectedPropertyId,
    UIA_WindowIsModalPropertyId,
    UIA_GridItemRowPropertyId,
    UIA_GridItemColumnPropertyId,
    UIA_GridRowCountPropertyId,
    UIA_GridColumnCountPropertyId,
    UIA_LegacyIAccessibleDefaultActionPropertyId,
];

/// Every property that is requested.
pub const ALL: [UIA_PROPERTY_ID; 46] = {
    let mut all = [UIA_PROPERTY_ID(0); 46];
    let mut i = 0;
    while i < all.len() {
        all[i] = if i < OTHERS.len() {
            OTHERS[i]
        } else {
            PATTERNS[i - OTHERS.len()].0
        };
        i += 1;
    }
    all
};

/// Reads the properties from the element's cache.
pub fn read(element: &IUIAutomationElement) -> Raw {
    let cached = Cached(element);
    let mut patterns = Patterns::empty();
    for (property, pattern) in PATTERNS {
        patterns.set(pattern, cached.bool(property));
    }
    // UI Automation gives every element the legacy pattern, even if it has no default action.
    if cached
        .text(UIA_LegacyIAccessibleDefaultActionPropertyId)
        .is_empty()
    {
        patterns.remove(Patterns::LEGACY);
    }
    let has = |pattern| patterns.contains(pattern);
    let range = has(Patterns::RANGE_VALUE).then(|| Range {
        value: cached.number(UIA_RangeValueValuePropertyId),
        low: cached.number(UIA_RangeValueMinimumPropertyId),
        high: cached.number(UIA_RangeValueMaximumPropertyId),
        read_only: cached.bool(UIA_RangeValueIsReadOnlyPropertyId),
    });
    let password = cached.bool(UIA_IsPasswordPropertyId);
    let has_value = has(Patterns::VALUE) && !password;
    Raw {
        runtime_id: cached
            .get(UIA_RuntimeIdPropertyId, |value| array(value, VT_I4))
            .unwrap_or_default(),
        control_type: cached.int(UIA_ControlTypePropertyId),
        class: cached.text(UIA_ClassNamePropertyId),
        framework: cached.text(UIA_FrameworkIdPropertyId),
        name: cached.text(UIA_NamePropertyId),
        help: cached.text(UIA_HelpTextPropertyId),
        bounds: cached.get(UIA_BoundingRectanglePropertyId, |value| {
            array(value, VT_R8)?.try_into().ok()
        }),
        offscreen: cached.bool(UIA_IsOffscreenPropertyId),
        enabled: cached.bool(UIA_IsEnabledPropertyId),
        focused: cached.bool(UIA_HasKeyboardFocusPropertyId),
        focusable: cached.bool(UIA_IsKeyboardFocusablePropertyId),
        password,
        is_control: cached.bool(UIA_IsControlElementPropertyId),
        // A handle has 32 bits, and is sign-extended to 64.
        window: Some(cached.int(UIA_NativeWindowHandlePropertyId))
            .filter(|window| *window != 0)
            .map(|window| WindowId(i64::from(window).cast_unsigned())),
        patterns,
        value: if has_value {
            cached.text(UIA_ValueValuePropertyId)
        } else {
            String::new()
        },
        read_only: cached.bool(UIA_ValueIsReadOnlyPropertyId),
        range,
        toggle: cached.int(UIA_ToggleToggleStatePropertyId),
        expand: cached.int(UIA_ExpandCollapseExpandCollapseStatePropertyId),
        selected: cached.bool(UIA_SelectionItemIsSelectedPropertyId),
        modal: has(Patterns::WINDOW) && cached.bool(UIA_WindowIsModalPropertyId),
        cell: (
            cached.int(UIA_GridItemRowPropertyId),
            cached.int(UIA_GridItemColumnPropertyId),
        ),
        size: (
            cached.int(UIA_GridRowCountPropertyId),
            cached.int(UIA_GridColumnCountPropertyId),
        ),
    }
}

/// The process of an element, if its cache has that property.
pub fn process(element: &IUIAutomationElement) -> Option<u32> {
    u32::try_from(Cached(element).int(UIA_ProcessIdPropertyId)).ok()
}

struct Cached<'e>(&'e IUIAutomationElement);

impl Cached<'_> {
    fn get<T>(
        &self,
        property: UIA_PROPERTY_ID,
        read: impl FnOnce(&VARIANT) -> Option<T>,
    ) -> Option<T> {
        // SAFETY: a call of COM.
        read(&unsafe { self.0.GetCachedPropertyValue(property) }.ok()?)
    }

    /// The value of a property, or the default if the value is not of the kind `of`. `read` reads
    /// the union as the type of that kind.
    fn plain<T: Default>(
        &self,
        property: UIA_PROPERTY_ID,
        of: VARENUM,
        read: impl FnOnce(&VARIANT_0_0_0) -> T,
    ) -> T {
        let read = |value: &VARIANT| {
            // SAFETY: every VARIANT has a value.
            (kind(value) == of).then(|| read(unsafe { &value.Anonymous.Anonymous.Anonymous }))
        };
        self.get(property, read).unwrap_or_default()
    }

    fn bool(&self, property: UIA_PROPERTY_ID) -> bool {
        // SAFETY: the type belongs to the kind that `plain` has checked, here and in the next three
        // functions.
        self.plain(property, VT_BOOL, |value| unsafe {
            value.boolVal.as_bool()
        })
    }

    fn int(&self, property: UIA_PROPERTY_ID) -> i32 {
        self.plain(property, VT_I4, |value| unsafe { value.lVal })
    }

    fn number(&self, property: UIA_PROPERTY_ID) -> f64 {
        self.plain(property, VT_R8, |value| unsafe { value.dblVal })
    }

    fn text(&self, property: UIA_PROPERTY_ID) -> String {
        let read = |value: &VARIANT_0_0_0| String::from_utf16_lossy(unsafe { &value.bstrVal });
        self.plain(property, VT_BSTR, read)
    }
}

fn kind(value: &VARIANT) -> VARENUM {
    // SAFETY: every VARIANT has a type.
    unsafe { value.Anonymous.Anonymous.vt }
}

/// The values of a one-dimensional array, if they are of this type.
fn array<T: Copy>(value: &VARIANT, of: VARENUM) -> Option<Vec<T>> {
    /// The maximum number of values to read. Runtime ids and rectangles have fewer.
    const LONGEST: i32 = 64;
    if kind(value) != VARENUM(VT_ARRAY.0 | of.0) {
        return None;
    }
    // SAFETY: the variant is an array of the checked type, and is read within its bounds.
    unsafe {
        let array: *mut SAFEARRAY = value.Anonymous.Anonymous.Anonymous.parray;
        if array.is_null() || SafeArrayGetDim(array) != 1 || SafeArrayGetVartype(array).ok()? != of
        {
            return None;
        }
        let (first, last) = (
            SafeArrayGetLBound(array, 1).ok()?,
            SafeArrayGetUBound(array, 1).ok()?,
        );
        let length = last.checked_sub(first)?.checked_add(1)?;
        let length = usize::try_from(length.min(LONGEST)).ok()?;
        if length == 0 {
            return Some(Vec::new()); // the data may be a null pointer
        }
        let mut data = std::ptr::null_mut();
        SafeArrayAccessData(array, &raw mut data).ok()?;
        let values = std::slice::from_raw_parts(data.cast::<T>(), length).to_vec();
        let _ = SafeArrayUnaccessData(array);
        Some(values)
    }
}
