//! The side of the app: answers requests from its toolkit's own providers.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;
use std::sync::Arc;

use windows::Win32::Foundation::{E_INVALIDARG, HWND};
use windows::Win32::System::Com::SAFEARRAY;
use windows::Win32::System::Ole::{SafeArrayDestroy, SafeArrayGetElement, SafeArrayGetUBound};
use windows::Win32::System::Threading::GetCurrentProcessId;
use windows::Win32::System::Variant::{VARIANT, VT_BOOL, VT_BSTR, VT_I4, VT_R8};
use windows::Win32::UI::Accessibility::*;
use windows::core::{BOOL, Error, HRESULT, HSTRING, Interface, Result};

use crate::memory::{self, Shared};
use crate::wire::{Answer, Node, Request, Scope, Value};

/// How many elements to keep for later requests.
const MOST_KEPT: usize = 200_000;

/// How deep elements may be nested.
const DEEPEST: usize = 250;

/// How many answers to keep until their clients have read them: nested loops of the app answer
/// several at once.
const ANSWERS: usize = 8;

thread_local! {
    static ELEMENTS: RefCell<HashMap<u32, IRawElementProviderFragment>> = RefCell::default();
    static IDS: RefCell<HashMap<Vec<i32>, u32>> = RefCell::default();
    static RANGES: RefCell<HashMap<u32, ITextRangeProvider>> = RefCell::default();
    static NEXT: Cell<u32> = const { Cell::new(1) };
    static KEPT: RefCell<VecDeque<Shared>> = const { RefCell::new(VecDeque::new()) };
}

fn next() -> u32 {
    NEXT.replace(NEXT.get() + 1)
}

/// Answers the request of this token; `false` if there is none.
pub fn serve(window: HWND, token: usize, root: &IRawElementProviderSimple) -> bool {
    let Some(request) = memory::request(token) else {
        return false;
    };
    let answer = root
        .cast::<IRawElementProviderFragment>()
        .and_then(|root| answer(&Window { window, root }, request));
    let answer = answer.unwrap_or_else(|error| Answer::Failed(error.code().0));
    if let Ok(shared) = memory::answer(token, &answer) {
        KEPT.with_borrow_mut(|kept| {
            kept.push_back(shared);
            if kept.len() > ANSWERS {
                kept.pop_front();
            }
        });
    }
    true
}

fn answer(window: &Window, request: Request) -> Result<Answer> {
    match request {
        Request::Read {
            element,
            scope,
            properties,
        } => {
            let provider = window.element(element)?;
            let read = |provider, depth| window.node(provider, &properties, depth);
            Ok(Answer::Nodes(match scope {
                Scope::Element => vec![read(&provider, 0)?],
                Scope::Subtree => vec![read(&provider, DEEPEST)?],
                Scope::Children => children(&provider)
                    .iter()
                    .filter_map(|child| read(child, 0).ok())
                    .collect(),
            }))
        }
        Request::Step {
            element,
            direction,
            properties,
        } => {
            let provider = window.element(element)?;
            let relative = navigate(&provider, NavigateDirection(direction));
            let node = relative.map(|relative| window.node(&relative, &properties, 0));
            Ok(Answer::Nodes(node.transpose()?.into_iter().collect()))
        }
        Request::Act {
            element,
            pattern,
            method,
            text,
            number,
        } => {
            let provider = window.element(element)?.cast()?;
            act(&provider, UIA_PATTERN_ID(pattern), method, &text, number)?;
            Ok(Answer::Done)
        }
        Request::VisibleRanges { element } => {
            let text: ITextProvider =
                pattern(&window.element(element)?.cast()?, UIA_TextPatternId)?;
            // SAFETY: a call of COM.
            let ranges = interfaces::<ITextRangeProvider>(unsafe { text.GetVisibleRanges()? });
            Ok(Answer::Ranges(ranges.into_iter().map(keep_range).collect()))
        }
        Request::WholeRange { element } => {
            let text: ITextProvider =
                pattern(&window.element(element)?.cast()?, UIA_TextPatternId)?;
            // SAFETY: a call of COM.
            let whole = unsafe { text.DocumentRange()? };
            Ok(Answer::Ranges(vec![keep_range(whole)]))
        }
        Request::CloneRange { range } => {
            // SAFETY: a call of COM.
            let copy = unsafe { self::range(range)?.Clone()? };
            Ok(Answer::Ranges(vec![keep_range(copy)]))
        }
        Request::RangeText { range, most } => {
            // SAFETY: a call of COM.
            let text = unsafe { self::range(range)?.GetText(most)? };
            Ok(Answer::Text(String::from_utf16_lossy(&text)))
        }
        Request::MoveEndpoint {
            range,
            endpoint,
            target,
            target_endpoint,
        } => {
            let (range, target) = (self::range(range)?, self::range(target)?);
            let endpoint = TextPatternRangeEndpoint(endpoint);
            let to = TextPatternRangeEndpoint(target_endpoint);
            // SAFETY: a call of COM.
            unsafe { range.MoveEndpointByRange(endpoint, &target, to)? };
            Ok(Answer::Done)
        }
    }
}

fn keep_range(range: ITextRangeProvider) -> u32 {
    const MOST: usize = 10_000;
    let id = next();
    RANGES.with_borrow_mut(|ranges| {
        if ranges.len() > MOST {
            ranges.clear();
        }
        ranges.insert(id, range);
    });
    id
}

fn range(id: u32) -> Result<ITextRangeProvider> {
    let range = RANGES.with_borrow(|ranges| ranges.get(&id).cloned());
    range.ok_or_else(|| E_INVALIDARG.into())
}

/// A window with the provider of its root.
struct Window {
    window: HWND,
    root: IRawElementProviderFragment,
}

impl Window {
    fn element(&self, id: u32) -> Result<IRawElementProviderFragment> {
        if id == 0 {
            return Ok(self.root.clone());
        }
        let element = ELEMENTS.with_borrow(|elements| elements.get(&id).cloned());
        element.ok_or_else(|| HRESULT(UIA_E_ELEMENTNOTAVAILABLE as i32).into())
    }

    fn node(
        &self,
        provider: &IRawElementProviderFragment,
        properties: &[i32],
        depth: usize,
    ) -> Result<Arc<Node>> {
        let runtime_id = self.runtime_id(provider);
        let simple: IRawElementProviderSimple = provider.cast()?;
        // An element that is gone answers this with an error.
        // SAFETY: a call of COM.
        unsafe { simple.GetPropertyValue(UIA_ControlTypePropertyId)? };
        let value = |id: &i32| (*id, self.property(provider, &simple, &runtime_id, *id));
        let properties_read = properties.iter().map(value).collect();
        let children = if depth > 0 {
            children(provider)
        } else {
            Vec::new()
        };
        let below = children.iter();
        Ok(Arc::new(Node {
            properties: properties_read,
            children: below
                .filter_map(|child| self.node(child, properties, depth - 1).ok())
                .collect(),
            element: keep(runtime_id, provider),
        }))
    }

    /// Windows completes what a provider gives: the window, and its handle.
    fn runtime_id(&self, provider: &IRawElementProviderFragment) -> Vec<i32> {
        const WINDOW: i32 = 42;
        let window = vec![WINDOW, self.window.0 as isize as i32];
        // SAFETY: a call of COM.
        let own = unsafe { provider.GetRuntimeId() };
        let own = own.map(numbers).unwrap_or_default();
        match own.split_first() {
            Some((first, rest)) if *first == UiaAppendRuntimeId as i32 => {
                [window.as_slice(), rest].concat()
            }
            Some(_) => own,
            None if self.is_root(provider) => window,
            None => own,
        }
    }

    fn is_root(&self, provider: &IRawElementProviderFragment) -> bool {
        provider == &self.root || navigate(provider, NavigateDirection_Parent).is_none()
    }

    fn property(
        &self,
        provider: &IRawElementProviderFragment,
        simple: &IRawElementProviderSimple,
        runtime_id: &[i32],
        id: i32,
    ) -> Value {
        let property = UIA_PROPERTY_ID(id);
        if let Some(pattern) = pattern_of(property) {
            // SAFETY: a call of COM.
            return Value::Bool(unsafe { simple.GetPatternProvider(pattern) }.is_ok());
        }
        if property == UIA_RuntimeIdPropertyId {
            return Value::Ints(runtime_id.to_vec());
        }
        if property == UIA_ProcessIdPropertyId {
            // SAFETY: it takes nothing.
            return Value::Int(unsafe { GetCurrentProcessId() } as i32);
        }
        if property == UIA_NativeWindowHandlePropertyId {
            let window = self.window.0 as isize as i32;
            return Value::Int(if self.is_root(provider) { window } else { 0 });
        }
        if property == UIA_BoundingRectanglePropertyId {
            // SAFETY: a call of COM.
            let bounds = unsafe { provider.BoundingRectangle() };
            return bounds.map_or(Value::Empty, |r| {
                Value::Numbers(vec![r.left, r.top, r.width, r.height])
            });
        }
        if let Some(value) = pattern_property(simple, property) {
            return value;
        }
        // SAFETY: a call of COM.
        match unsafe { simple.GetPropertyValue(property) }.map(|value| read(&value)) {
            Ok(Value::Empty) | Err(_) => default(property),
            Ok(value) => value,
        }
    }
}

/// The value of a property that a provider does not give.
fn default(property: UIA_PROPERTY_ID) -> Value {
    match property {
        UIA_IsControlElementPropertyId | UIA_IsContentElementPropertyId => Value::Bool(true),
        _ => Value::Empty,
    }
}

/// Keeps an element for later requests. The same element keeps its number.
fn keep(runtime_id: Vec<i32>, provider: &IRawElementProviderFragment) -> u32 {
    let id = if runtime_id.is_empty() {
        next()
    } else {
        IDS.with_borrow_mut(|ids| *ids.entry(runtime_id).or_insert_with(next))
    };
    let old = ELEMENTS.with_borrow_mut(|elements| {
        let old = elements.insert(id, provider.clone());
        let all = (elements.len() > MOST_KEPT).then(|| std::mem::take(elements));
        (old, all)
    });
    // Providers are released outside the borrow: they may call back.
    drop(old);
    id
}

fn navigate(
    provider: &IRawElementProviderFragment,
    direction: NavigateDirection,
) -> Option<IRawElementProviderFragment> {
    // SAFETY: a call of COM. Where there is none, the pointer is null.
    unsafe { provider.Navigate(direction) }.ok()
}

fn children(provider: &IRawElementProviderFragment) -> Vec<IRawElementProviderFragment> {
    let first = navigate(provider, NavigateDirection_FirstChild);
    std::iter::successors(first, |at| navigate(at, NavigateDirection_NextSibling)).collect()
}

fn pattern<T: Interface>(provider: &IRawElementProviderSimple, id: UIA_PATTERN_ID) -> Result<T> {
    // SAFETY: a call of COM.
    let pattern = unsafe { provider.GetPatternProvider(id) };
    match pattern {
        Ok(pattern) => pattern.cast(),
        Err(error) if error.code().is_ok() => Err(HRESULT(UIA_E_NOTSUPPORTED as i32).into()),
        Err(error) => Err(error),
    }
}

/// The pattern that a property such as `IsInvokePatternAvailable` is about.
fn pattern_of(property: UIA_PROPERTY_ID) -> Option<UIA_PATTERN_ID> {
    Some(match property {
        UIA_IsInvokePatternAvailablePropertyId => UIA_InvokePatternId,
        UIA_IsTogglePatternAvailablePropertyId => UIA_TogglePatternId,
        UIA_IsExpandCollapsePatternAvailablePropertyId => UIA_ExpandCollapsePatternId,
        UIA_IsValuePatternAvailablePropertyId => UIA_ValuePatternId,
        UIA_IsRangeValuePatternAvailablePropertyId => UIA_RangeValuePatternId,
        UIA_IsSelectionItemPatternAvailablePropertyId => UIA_SelectionItemPatternId,
        UIA_IsSelectionPatternAvailablePropertyId => UIA_SelectionPatternId,
        UIA_IsTextPatternAvailablePropertyId => UIA_TextPatternId,
        UIA_IsScrollPatternAvailablePropertyId => UIA_ScrollPatternId,
        UIA_IsScrollItemPatternAvailablePropertyId => UIA_ScrollItemPatternId,
        UIA_IsGridPatternAvailablePropertyId => UIA_GridPatternId,
        UIA_IsGridItemPatternAvailablePropertyId => UIA_GridItemPatternId,
        UIA_IsVirtualizedItemPatternAvailablePropertyId => UIA_VirtualizedItemPatternId,
        UIA_IsItemContainerPatternAvailablePropertyId => UIA_ItemContainerPatternId,
        UIA_IsLegacyIAccessiblePatternAvailablePropertyId => UIA_LegacyIAccessiblePatternId,
        UIA_IsWindowPatternAvailablePropertyId => UIA_WindowPatternId,
        _ => return None,
    })
}

/// The value of a pattern's property; `None` if it is not one.
fn pattern_property(
    provider: &IRawElementProviderSimple,
    property: UIA_PROPERTY_ID,
) -> Option<Value> {
    fn get<P: Interface, T>(
        provider: &IRawElementProviderSimple,
        id: UIA_PATTERN_ID,
        read: impl FnOnce(&P) -> Result<T>,
        value: impl FnOnce(T) -> Value,
    ) -> Value {
        let read = pattern::<P>(provider, id).and_then(|pattern| read(&pattern));
        read.map_or(Value::Empty, value)
    }
    let of = provider;
    let truth = |value: BOOL| Value::Bool(value.as_bool());
    // SAFETY: calls of COM.
    Some(unsafe {
        match property {
            UIA_ValueValuePropertyId => get(
                of,
                UIA_ValuePatternId,
                |p: &IValueProvider| p.Value(),
                |text| Value::Text(String::from_utf16_lossy(&text)),
            ),
            UIA_ValueIsReadOnlyPropertyId => get(
                of,
                UIA_ValuePatternId,
                |p: &IValueProvider| p.IsReadOnly(),
                truth,
            ),
            UIA_RangeValueValuePropertyId => get(
                of,
                UIA_RangeValuePatternId,
                |p: &IRangeValueProvider| p.Value(),
                Value::Number,
            ),
            UIA_RangeValueMinimumPropertyId => {
                let read = |p: &IRangeValueProvider| p.Minimum();
                get(of, UIA_RangeValuePatternId, read, Value::Number)
            }
            UIA_RangeValueMaximumPropertyId => {
                let read = |p: &IRangeValueProvider| p.Maximum();
                get(of, UIA_RangeValuePatternId, read, Value::Number)
            }
            UIA_RangeValueIsReadOnlyPropertyId => {
                let read = |p: &IRangeValueProvider| p.IsReadOnly();
                get(of, UIA_RangeValuePatternId, read, truth)
            }
            UIA_ToggleToggleStatePropertyId => {
                let read = |p: &IToggleProvider| p.ToggleState();
                get(of, UIA_TogglePatternId, read, |state| Value::Int(state.0))
            }
            UIA_ExpandCollapseExpandCollapseStatePropertyId => {
                let read = |p: &IExpandCollapseProvider| p.ExpandCollapseState();
                get(of, UIA_ExpandCollapsePatternId, read, |state| {
                    Value::Int(state.0)
                })
            }
            UIA_SelectionItemIsSelectedPropertyId => {
                let read = |p: &ISelectionItemProvider| p.IsSelected();
                get(of, UIA_SelectionItemPatternId, read, truth)
            }
            UIA_WindowIsModalPropertyId => get(
                of,
                UIA_WindowPatternId,
                |p: &IWindowProvider| p.IsModal(),
                truth,
            ),
            UIA_GridItemRowPropertyId => get(
                of,
                UIA_GridItemPatternId,
                |p: &IGridItemProvider| p.Row(),
                Value::Int,
            ),
            UIA_GridItemColumnPropertyId => get(
                of,
                UIA_GridItemPatternId,
                |p: &IGridItemProvider| p.Column(),
                Value::Int,
            ),
            UIA_GridRowCountPropertyId => get(
                of,
                UIA_GridPatternId,
                |p: &IGridProvider| p.RowCount(),
                Value::Int,
            ),
            UIA_GridColumnCountPropertyId => get(
                of,
                UIA_GridPatternId,
                |p: &IGridProvider| p.ColumnCount(),
                Value::Int,
            ),
            _ => return None,
        }
    })
}

fn act(
    of: &IRawElementProviderSimple,
    id: UIA_PATTERN_ID,
    method: u32,
    text: &str,
    number: f64,
) -> Result<()> {
    // SAFETY: calls of COM with arguments that live long enough.
    unsafe {
        match (id, method) {
            (UIA_InvokePatternId, _) => pattern::<IInvokeProvider>(of, id)?.Invoke(),
            (UIA_TogglePatternId, _) => pattern::<IToggleProvider>(of, id)?.Toggle(),
            (UIA_ExpandCollapsePatternId, 0) => {
                pattern::<IExpandCollapseProvider>(of, id)?.Expand()
            }
            (UIA_ExpandCollapsePatternId, _) => {
                pattern::<IExpandCollapseProvider>(of, id)?.Collapse()
            }
            (UIA_SelectionItemPatternId, 0) => pattern::<ISelectionItemProvider>(of, id)?.Select(),
            (UIA_SelectionItemPatternId, 1) => {
                pattern::<ISelectionItemProvider>(of, id)?.AddToSelection()
            }
            (UIA_SelectionItemPatternId, _) => {
                pattern::<ISelectionItemProvider>(of, id)?.RemoveFromSelection()
            }
            (UIA_ValuePatternId, _) => {
                pattern::<IValueProvider>(of, id)?.SetValue(&HSTRING::from(text))
            }
            (UIA_RangeValuePatternId, _) => {
                pattern::<IRangeValueProvider>(of, id)?.SetValue(number)
            }
            (UIA_ScrollItemPatternId, _) => {
                pattern::<IScrollItemProvider>(of, id)?.ScrollIntoView()
            }
            (UIA_VirtualizedItemPatternId, _) => {
                pattern::<IVirtualizedItemProvider>(of, id)?.Realize()
            }
            _ => Err(Error::from_hresult(HRESULT(UIA_E_NOTSUPPORTED as i32))),
        }
    }
}

fn read(value: &VARIANT) -> Value {
    // SAFETY: the union is read as the type that it has.
    unsafe {
        let inner = &value.Anonymous.Anonymous;
        match inner.vt {
            VT_BOOL => Value::Bool(inner.Anonymous.boolVal.as_bool()),
            VT_I4 => Value::Int(inner.Anonymous.lVal),
            VT_R8 => Value::Number(inner.Anonymous.dblVal),
            VT_BSTR => Value::Text(String::from_utf16_lossy(&inner.Anonymous.bstrVal)),
            _ => Value::Empty,
        }
    }
}

/// The items of an array of a provider, which is freed.
fn items<T>(array: *mut SAFEARRAY, mut get: impl FnMut(i32) -> Option<T>) -> Vec<T> {
    if array.is_null() {
        return Vec::new();
    }
    // SAFETY: the provider has given the array away.
    unsafe {
        let last = SafeArrayGetUBound(array, 1).unwrap_or(-1);
        let items = (0..=last).filter_map(&mut get).collect();
        let _ = SafeArrayDestroy(array);
        items
    }
}

fn numbers(array: *mut SAFEARRAY) -> Vec<i32> {
    items(array, |index| {
        let mut number = 0_i32;
        let to: *mut c_void = (&raw mut number).cast();
        // SAFETY: runtime ids are arrays of i32.
        unsafe { SafeArrayGetElement(array, &raw const index, to) }.ok()?;
        Some(number)
    })
}

fn interfaces<T: Interface>(array: *mut SAFEARRAY) -> Vec<T> {
    items(array, |index| {
        let mut object: *mut c_void = std::ptr::null_mut();
        let to: *mut c_void = (&raw mut object).cast();
        // SAFETY: the array has COM pointers; the copy has a reference of its own.
        unsafe {
            SafeArrayGetElement(array, &raw const index, to).ok()?;
            let object = (!object.is_null()).then(|| windows::core::IUnknown::from_raw(object));
            object?.cast().ok()
        }
    })
}
