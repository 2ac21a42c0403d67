//! The client's elements: what was cached of them, and requests about them.

use std::ffi::c_void;
use std::sync::{Arc, LazyLock};

use windows::Win32::Foundation::{E_INVALIDARG, E_NOTIMPL, HWND, RECT, S_OK};
use windows::Win32::System::Com::SAFEARRAY;
use windows::Win32::System::Ole::{SafeArrayCreateVector, SafeArrayPutElement};
use windows::Win32::System::Variant::{VARENUM, VARIANT, VT_ARRAY, VT_I4, VT_R8};
use windows::Win32::UI::Accessibility::*;
use windows::Win32::UI::WindowsAndMessaging::{
    GetWindowRect, GetWindowTextW, GetWindowThreadProcessId, IsWindowVisible,
};
use windows::core::{BOOL, Error, GUID, HRESULT, Interface, Result};

use crate::memory::ask;
use crate::object::{Object, methods, new, of};
use crate::patterns;
use crate::wire::{Answer, Node, Request, Scope, Value};

/// An element: the window that it is in, its number there, and what is cached of it.
pub struct Element {
    pub window: isize,
    pub node: Arc<Node>,
    /// Whether its children are cached.
    subtree: bool,
}

type This = Object<IUIAutomationElement_Vtbl, Element>;

static METHODS: LazyLock<IUIAutomationElement_Vtbl> = LazyLock::new(|| {
    methods::<IUIAutomationElement_Vtbl, Element>(|table| {
        table.FindAll = find_all;
        table.FindAllBuildCache = find_all_cached;
        table.BuildUpdatedCache = update;
        table.GetCachedPropertyValue = cached;
        table.GetCachedChildren = cached_children;
        table.GetRuntimeId = runtime_id;
        table.GetCurrentPattern = pattern;
        table.GetCurrentPatternAs = pattern_as;
    })
});

pub fn element(window: isize, node: Arc<Node>, subtree: bool) -> IUIAutomationElement {
    let element = Element {
        window,
        node,
        subtree,
    };
    // SAFETY: the table is that of the interface.
    unsafe { new(&*METHODS, &[IUIAutomationElement::IID], element) }
}

fn this<'a>(this: *mut c_void) -> &'a This {
    // SAFETY: all elements are made by `element`.
    unsafe { of(this) }
}

/// The data of an element that a client passes.
pub fn data<'a>(element: *mut c_void) -> Option<&'a Element> {
    (!element.is_null()).then(|| &**this(element))
}

/// Writes a result for COM.
pub fn give<I: Interface>(result: Result<I>, to: *mut *mut c_void) -> HRESULT {
    let (object, code) = match result {
        Ok(object) => (object.into_raw(), S_OK),
        Err(error) => (std::ptr::null_mut(), error.code()),
    };
    // SAFETY: COM passes a pointer to write to.
    unsafe { to.write(object) };
    code
}

/// The properties and the scope of a cache request.
pub fn requested(request: *mut c_void) -> (Vec<i32>, Scope) {
    match crate::client::request(request) {
        Some((properties, scope)) if scope & TreeScope_Descendants.0 != 0 => {
            (properties, Scope::Subtree)
        }
        Some((properties, _)) => (properties, Scope::Element),
        None => (Vec::new(), Scope::Element),
    }
}

/// The element of a window.
pub fn of_window(window: isize, request: *mut c_void) -> Result<IUIAutomationElement> {
    let (properties, scope) = requested(request);
    let read = Request::Read {
        element: 0,
        scope,
        properties: properties.clone(),
    };
    let node = match ask(window, &read)? {
        Some(Answer::Nodes(nodes)) => nodes.into_iter().next(),
        _ => None,
    };
    let node = node.unwrap_or_else(|| Arc::new(host(window, &properties)));
    Ok(element(window, node, scope == Scope::Subtree))
}

/// A window without providers, as the window system describes it.
fn host(window: isize, properties: &[i32]) -> Node {
    let handle = HWND(window as *mut c_void);
    let value = |id: &i32| {
        let property = UIA_PROPERTY_ID(*id);
        // SAFETY: calls about a window, with buffers that outlive them.
        let value = unsafe {
            match property {
                UIA_NamePropertyId => {
                    let mut title = [0; 512];
                    let length = GetWindowTextW(handle, &mut title).max(0) as usize;
                    Value::Text(String::from_utf16_lossy(&title[..length]))
                }
                UIA_ControlTypePropertyId => Value::Int(UIA_WindowControlTypeId.0),
                UIA_RuntimeIdPropertyId => Value::Ints(vec![42, window as i32]),
                UIA_NativeWindowHandlePropertyId => Value::Int(window as i32),
                UIA_FrameworkIdPropertyId => Value::Text("Win32".into()),
                UIA_ProcessIdPropertyId => {
                    let mut pid = 0;
                    GetWindowThreadProcessId(handle, Some(&raw mut pid));
                    Value::Int(pid as i32)
                }
                UIA_BoundingRectanglePropertyId => {
                    let mut rect = RECT::default();
                    let _ = GetWindowRect(handle, &raw mut rect);
                    let (w, h) = (rect.right - rect.left, rect.bottom - rect.top);
                    Value::Numbers([rect.left, rect.top, w, h].map(f64::from).to_vec())
                }
                UIA_IsEnabledPropertyId | UIA_IsControlElementPropertyId => Value::Bool(true),
                UIA_IsOffscreenPropertyId => Value::Bool(!IsWindowVisible(handle).as_bool()),
                _ => Value::Empty,
            }
        };
        (*id, value)
    };
    Node {
        element: 0,
        properties: properties.iter().map(value).collect(),
        children: Vec::new(),
    }
}

fn nodes(window: isize, request: &Request) -> Result<Vec<Arc<Node>>> {
    match ask(window, request)? {
        Some(Answer::Nodes(nodes)) => Ok(nodes),
        _ => Ok(Vec::new()),
    }
}

unsafe extern "system" fn find_all(
    element: *mut c_void,
    scope: TreeScope,
    condition: *mut c_void,
    result: *mut *mut c_void,
) -> HRESULT {
    // SAFETY: passes on what the client has passed.
    unsafe { find_all_cached(element, scope, condition, std::ptr::null_mut(), result) }
}

/// All children, whatever the condition: clients here pass the raw view's.
unsafe extern "system" fn find_all_cached(
    element: *mut c_void,
    scope: TreeScope,
    _: *mut c_void,
    request: *mut c_void,
    result: *mut *mut c_void,
) -> HRESULT {
    let this = this(element);
    if scope != TreeScope_Children {
        return E_NOTIMPL;
    }
    let request = Request::Read {
        element: this.node.element,
        scope: Scope::Children,
        properties: requested(request).0,
    };
    let list = nodes(this.window, &request).map(|nodes| array(this.window, nodes, false));
    give(list, result)
}

unsafe extern "system" fn update(
    element: *mut c_void,
    request: *mut c_void,
    result: *mut *mut c_void,
) -> HRESULT {
    let this = this(element);
    if this.node.element == 0 {
        return give(of_window(this.window, request), result);
    }
    let (properties, scope) = requested(request);
    let request = Request::Read {
        element: this.node.element,
        scope,
        properties,
    };
    let gone = || Error::from_hresult(HRESULT(UIA_E_ELEMENTNOTAVAILABLE as i32));
    let fresh = nodes(this.window, &request).and_then(|nodes| {
        let node = nodes.into_iter().next().ok_or_else(gone)?;
        Ok(self::element(this.window, node, scope == Scope::Subtree))
    });
    give(fresh, result)
}

unsafe extern "system" fn cached(
    element: *mut c_void,
    property: UIA_PROPERTY_ID,
    result: *mut VARIANT,
) -> HRESULT {
    let properties = &this(element).node.properties;
    // It was not requested.
    let Some((_, value)) = properties.iter().find(|(id, _)| *id == property.0) else {
        return E_INVALIDARG;
    };
    // SAFETY: COM passes a pointer to write to.
    unsafe { result.write(variant(value)) };
    S_OK
}

fn variant(value: &Value) -> VARIANT {
    match value {
        Value::Empty => VARIANT::default(),
        Value::Bool(value) => VARIANT::from(*value),
        Value::Int(value) => VARIANT::from(*value),
        Value::Number(value) => VARIANT::from(*value),
        Value::Text(text) => VARIANT::from(text.as_str()),
        Value::Ints(numbers) => array_variant(numbers, VT_I4),
        Value::Numbers(numbers) => array_variant(numbers, VT_R8),
    }
}

fn array_variant<T>(items: &[T], of: VARENUM) -> VARIANT {
    let mut variant = VARIANT::default();
    // SAFETY: the variant owns the array, and its type says what is in it.
    unsafe {
        let inner = &mut *variant.Anonymous.Anonymous;
        inner.vt = VARENUM(VT_ARRAY.0 | of.0);
        inner.Anonymous.parray = safe_array(items, of);
    }
    variant
}

fn safe_array<T>(items: &[T], of: VARENUM) -> *mut SAFEARRAY {
    // SAFETY: the items have the type of the array.
    unsafe {
        let array = SafeArrayCreateVector(of, 0, items.len() as u32);
        for (index, item) in (0_i32..).zip(items) {
            let _ = SafeArrayPutElement(array, &raw const index, (&raw const *item).cast());
        }
        array
    }
}

unsafe extern "system" fn runtime_id(element: *mut c_void, result: *mut *mut SAFEARRAY) -> HRESULT {
    let properties = &this(element).node.properties;
    let id = properties
        .iter()
        .find(|(id, _)| *id == UIA_RuntimeIdPropertyId.0);
    let Some((_, Value::Ints(id))) = id else {
        return E_NOTIMPL;
    };
    // SAFETY: COM passes a pointer to write to.
    unsafe { result.write(safe_array(id, VT_I4)) };
    S_OK
}

unsafe extern "system" fn cached_children(
    element: *mut c_void,
    result: *mut *mut c_void,
) -> HRESULT {
    let this = this(element);
    if !this.subtree {
        return E_INVALIDARG;
    }
    let children = this.node.children.clone();
    give(Ok(array(this.window, children, true)), result)
}

unsafe extern "system" fn pattern(
    element: *mut c_void,
    pattern: UIA_PATTERN_ID,
    result: *mut *mut c_void,
) -> HRESULT {
    let this = this(element);
    // SAFETY: COM passes a pointer to write to.
    unsafe { result.write(patterns::pattern(this.window, this.node.element, pattern)) };
    S_OK
}

unsafe extern "system" fn pattern_as(
    element: *mut c_void,
    pattern: UIA_PATTERN_ID,
    _: *const GUID,
    result: *mut *mut c_void,
) -> HRESULT {
    // A pattern's id says which interface it has.
    // SAFETY: passes on what the client has passed.
    unsafe { self::pattern(element, pattern, result) }
}

/// An array of elements.
struct Array {
    window: isize,
    nodes: Vec<Arc<Node>>,
    subtree: bool,
}

static ARRAY: LazyLock<IUIAutomationElementArray_Vtbl> = LazyLock::new(|| {
    methods::<IUIAutomationElementArray_Vtbl, Array>(|table| {
        table.Length = length;
        table.GetElement = item;
    })
});

fn array(window: isize, nodes: Vec<Arc<Node>>, subtree: bool) -> IUIAutomationElementArray {
    let array = Array {
        window,
        nodes,
        subtree,
    };
    // SAFETY: the table is that of the interface.
    unsafe { new(&*ARRAY, &[IUIAutomationElementArray::IID], array) }
}

unsafe extern "system" fn length(array: *mut c_void, result: *mut i32) -> HRESULT {
    // SAFETY: the object is an array; COM passes a pointer to write to.
    unsafe {
        let array = of::<IUIAutomationElementArray_Vtbl, Array>(array);
        result.write(array.nodes.len() as i32);
    }
    S_OK
}

unsafe extern "system" fn item(
    array: *mut c_void,
    index: i32,
    result: *mut *mut c_void,
) -> HRESULT {
    // SAFETY: the object is an array.
    let array = unsafe { of::<IUIAutomationElementArray_Vtbl, Array>(array) };
    let node = usize::try_from(index)
        .ok()
        .and_then(|index| array.nodes.get(index));
    let item = node.map(|node| element(array.window, node.clone(), array.subtree));
    give(item.ok_or_else(|| E_INVALIDARG.into()), result)
}

/// A walker of the raw view.
static WALKER: LazyLock<IUIAutomationTreeWalker_Vtbl> = LazyLock::new(|| {
    methods::<IUIAutomationTreeWalker_Vtbl, ()>(|table| {
        table.GetFirstChildElementBuildCache = first_child;
        table.GetNextSiblingElementBuildCache = next_sibling;
        table.GetParentElementBuildCache = parent;
    })
});

pub fn walker() -> IUIAutomationTreeWalker {
    // SAFETY: the table is that of the interface.
    unsafe { new(&*WALKER, &[IUIAutomationTreeWalker::IID], ()) }
}

fn step(
    direction: NavigateDirection,
    element: *mut c_void,
    request: *mut c_void,
    result: *mut *mut c_void,
) -> HRESULT {
    let this = this(element);
    let request = Request::Step {
        element: this.node.element,
        direction: direction.0,
        properties: requested(request).0,
    };
    match nodes(this.window, &request) {
        Ok(nodes) => match nodes.into_iter().next() {
            Some(node) => give(Ok(self::element(this.window, node, false)), result),
            None => {
                // SAFETY: COM passes a pointer to write to. There is no such relative.
                unsafe { result.write(std::ptr::null_mut()) };
                S_OK
            }
        },
        Err(error) => error.code(),
    }
}

unsafe extern "system" fn first_child(
    _: *mut c_void,
    element: *mut c_void,
    request: *mut c_void,
    result: *mut *mut c_void,
) -> HRESULT {
    step(NavigateDirection_FirstChild, element, request, result)
}

unsafe extern "system" fn next_sibling(
    _: *mut c_void,
    element: *mut c_void,
    request: *mut c_void,
    result: *mut *mut c_void,
) -> HRESULT {
    step(NavigateDirection_NextSibling, element, request, result)
}

unsafe extern "system" fn parent(
    _: *mut c_void,
    element: *mut c_void,
    request: *mut c_void,
    result: *mut *mut c_void,
) -> HRESULT {
    step(NavigateDirection_Parent, element, request, result)
}

/// Whether two pointers are the same element.
pub fn same(a: *mut c_void, b: *mut c_void) -> BOOL {
    match (data(a), data(b)) {
        (Some(a), Some(b)) => (a.window == b.window && a.node.element == b.node.element).into(),
        _ => false.into(),
    }
}
