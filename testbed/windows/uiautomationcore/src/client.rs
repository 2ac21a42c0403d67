//! The side of the client: `IUIAutomation`, cache requests and conditions.

use std::ffi::c_void;
use std::sync::atomic::Ordering;
use std::sync::{LazyLock, Mutex, PoisonError};

use windows::Win32::Foundation::{HWND, S_OK};
use windows::Win32::UI::Accessibility::*;
use windows::core::{BOOL, HRESULT, IUnknown, Interface};

use crate::element::{self, give};
use crate::events;
use crate::memory::LIMIT;
use crate::object::{methods, new, of};

static AUTOMATION: LazyLock<IUIAutomation6_Vtbl> = LazyLock::new(|| {
    methods::<IUIAutomation6_Vtbl, ()>(|all| {
        // SAFETY: an interface's table of methods begins with those of the one it extends.
        let table = unsafe { &mut *(&raw mut *all).cast::<IUIAutomation2_Vtbl>() };
        table.SetConnectionTimeout = ignore_timeout;
        table.SetTransactionTimeout = set_timeout;
        let table = &mut table.base__;
        table.CompareElements = compare;
        table.ElementFromHandle = from_handle;
        table.ElementFromHandleBuildCache = from_handle_cached;
        table.CreateCacheRequest = create_request;
        table.RawViewWalker = walker;
        table.RawViewCondition = condition;
        table.CreateTrueCondition = condition;
        table.AddAutomationEventHandler = add_event;
        table.AddPropertyChangedEventHandlerNativeArray = add_property;
        table.AddStructureChangedEventHandler = add_structure;
        table.AddFocusChangedEventHandler = add_focus;
        table.RemoveAllEventHandlers = remove_all;
    })
});

pub fn automation() -> IUnknown {
    const INTERFACES: &[windows::core::GUID] = &[
        IUIAutomation::IID,
        IUIAutomation2::IID,
        IUIAutomation3::IID,
        IUIAutomation4::IID,
        IUIAutomation5::IID,
        IUIAutomation6::IID,
    ];
    // SAFETY: each of the interfaces extends the one before.
    unsafe { new(&*AUTOMATION, INTERFACES, ()) }
}

unsafe extern "system" fn ignore_timeout(_: *mut c_void, _: u32) -> HRESULT {
    S_OK
}

unsafe extern "system" fn set_timeout(_: *mut c_void, limit: u32) -> HRESULT {
    LIMIT.store(limit, Ordering::Relaxed);
    S_OK
}

unsafe extern "system" fn compare(
    _: *mut c_void,
    a: *mut c_void,
    b: *mut c_void,
    result: *mut BOOL,
) -> HRESULT {
    // SAFETY: COM passes a pointer to write to.
    unsafe { result.write(element::same(a, b)) };
    S_OK
}

unsafe extern "system" fn from_handle(
    _: *mut c_void,
    window: HWND,
    result: *mut *mut c_void,
) -> HRESULT {
    give(
        element::of_window(window.0 as isize, std::ptr::null_mut()),
        result,
    )
}

unsafe extern "system" fn from_handle_cached(
    _: *mut c_void,
    window: HWND,
    request: *mut c_void,
    result: *mut *mut c_void,
) -> HRESULT {
    give(element::of_window(window.0 as isize, request), result)
}

unsafe extern "system" fn walker(_: *mut c_void, result: *mut *mut c_void) -> HRESULT {
    give(Ok(element::walker()), result)
}

/// The only condition here: all elements.
static CONDITION: LazyLock<IUIAutomationCondition_Vtbl> =
    LazyLock::new(|| methods::<IUIAutomationCondition_Vtbl, ()>(|_| {}));

unsafe extern "system" fn condition(_: *mut c_void, result: *mut *mut c_void) -> HRESULT {
    const INTERFACES: &[windows::core::GUID] = &[IUIAutomationCondition::IID];
    // SAFETY: the table is that of the interface.
    let condition: IUIAutomationCondition = unsafe { new(&*CONDITION, INTERFACES, ()) };
    give(Ok(condition), result)
}

/// The properties and the scope of a cache request.
#[derive(Clone)]
struct Requested {
    properties: Vec<i32>,
    scope: i32,
}

type Request = Mutex<Requested>;

static REQUEST: LazyLock<IUIAutomationCacheRequest_Vtbl> = LazyLock::new(|| {
    methods::<IUIAutomationCacheRequest_Vtbl, Request>(|table| {
        table.AddProperty = add_to_request;
        table.SetTreeScope = set_scope;
        table.SetTreeFilter = set_filter;
    })
});

unsafe extern "system" fn create_request(_: *mut c_void, result: *mut *mut c_void) -> HRESULT {
    const INTERFACES: &[windows::core::GUID] = &[IUIAutomationCacheRequest::IID];
    let empty = Mutex::new(Requested {
        properties: Vec::new(),
        scope: TreeScope_Element.0,
    });
    // SAFETY: the table is that of the interface.
    let request: IUIAutomationCacheRequest = unsafe { new(&*REQUEST, INTERFACES, empty) };
    give(Ok(request), result)
}

fn with_request<T>(request: *mut c_void, then: impl FnOnce(&mut Requested) -> T) -> T {
    // SAFETY: all cache requests are made above.
    let request = unsafe { of::<IUIAutomationCacheRequest_Vtbl, Request>(request) };
    then(&mut request.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The properties and the scope of a request, if a client has passed one.
pub fn request(request: *mut c_void) -> Option<(Vec<i32>, i32)> {
    if request.is_null() {
        return None;
    }
    let wanted = with_request(request, |request| request.clone());
    Some((wanted.properties, wanted.scope))
}

unsafe extern "system" fn add_to_request(
    request: *mut c_void,
    property: UIA_PROPERTY_ID,
) -> HRESULT {
    with_request(request, |request| request.properties.push(property.0));
    S_OK
}

unsafe extern "system" fn set_scope(request: *mut c_void, scope: TreeScope) -> HRESULT {
    with_request(request, |request| request.scope = scope.0);
    S_OK
}

unsafe extern "system" fn set_filter(_: *mut c_void, _: *mut c_void) -> HRESULT {
    S_OK
}

unsafe extern "system" fn add_event(
    _: *mut c_void,
    event: UIA_EVENT_ID,
    element: *mut c_void,
    _: TreeScope,
    _: *mut c_void,
    handler: *mut c_void,
) -> HRESULT {
    // SAFETY: the client passes a handler of this interface.
    let handler = unsafe { IUIAutomationEventHandler::from_raw_borrowed(&handler) };
    events::add(
        element,
        handler.cloned().map(|h| events::Handler::Event(event, h)),
    )
}

unsafe extern "system" fn add_property(
    _: *mut c_void,
    element: *mut c_void,
    _: TreeScope,
    _: *mut c_void,
    handler: *mut c_void,
    properties: *const UIA_PROPERTY_ID,
    count: i32,
) -> HRESULT {
    // SAFETY: the client passes a handler of this interface, and as many properties.
    let (handler, properties) = unsafe {
        (
            IUIAutomationPropertyChangedEventHandler::from_raw_borrowed(&handler),
            std::slice::from_raw_parts(properties, count as usize).to_vec(),
        )
    };
    let handler = handler.cloned();
    events::add(
        element,
        handler.map(|h| events::Handler::Property(properties, h)),
    )
}

unsafe extern "system" fn add_structure(
    _: *mut c_void,
    element: *mut c_void,
    _: TreeScope,
    _: *mut c_void,
    handler: *mut c_void,
) -> HRESULT {
    // SAFETY: the client passes a handler of this interface.
    let handler = unsafe { IUIAutomationStructureChangedEventHandler::from_raw_borrowed(&handler) };
    events::add(element, handler.cloned().map(events::Handler::Structure))
}

unsafe extern "system" fn add_focus(
    _: *mut c_void,
    _: *mut c_void,
    handler: *mut c_void,
) -> HRESULT {
    // SAFETY: the client passes a handler of this interface.
    let handler = unsafe { IUIAutomationFocusChangedEventHandler::from_raw_borrowed(&handler) };
    let everywhere = std::ptr::null_mut();
    events::add(everywhere, handler.cloned().map(events::Handler::Focus))
}

unsafe extern "system" fn remove_all(_: *mut c_void) -> HRESULT {
    events::remove_all();
    S_OK
}
