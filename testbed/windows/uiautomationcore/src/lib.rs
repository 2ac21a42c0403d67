//! A substitute for `uiautomationcore.dll`, for tests under Wine, whose own client is a stub.
//!
//! An app's toolkit loads it and gives it its providers; a client loads it and gets
//! `CUIAutomation8`. Both are the real thing: Qt's own providers, and a client that knows nothing
//! of this. A request goes by `WM_GETOBJECT` to the app's window, so the app answers it on the
//! thread of that window, as it does on Windows, and one that hangs does not answer.
//!
//! It has what Deskline asks for, and answers `E_NOTIMPL` to the rest. It is no part of Deskline.

// Names are those of Windows.
#![allow(non_snake_case, non_upper_case_globals)]
// The contract of its functions is that of UI Automation's.
#![allow(clippy::missing_safety_doc)]

mod client;
mod element;
mod events;
mod memory;
mod object;
mod patterns;
mod provider;
mod ranges;
mod wire;

use std::ffi::c_void;

use windows::Win32::Foundation::{CLASS_E_NOAGGREGATION, HWND, LPARAM, LRESULT, S_OK, WPARAM};
use windows::Win32::System::Com::{IClassFactory, IClassFactory_Impl};
use windows::Win32::System::Variant::VARIANT;
use windows::Win32::UI::Accessibility::{IRawElementProviderSimple, UIA_EVENT_ID, UIA_PROPERTY_ID};
use windows::core::{BOOL, GUID, HRESULT, IUnknown, Interface, Ref, Result, implement};

/// The app passes on a `WM_GETOBJECT` with the provider of its window.
#[unsafe(no_mangle)]
pub extern "system" fn UiaReturnRawElementProvider(
    window: HWND,
    wparam: WPARAM,
    _: LPARAM,
    provider: Ref<IRawElementProviderSimple>,
) -> LRESULT {
    match provider.as_ref() {
        Some(provider) if provider::serve(window, wparam.0, provider) => LRESULT(1),
        _ => LRESULT(0),
    }
}

#[unsafe(no_mangle)]
pub extern "system" fn UiaClientsAreListening() -> BOOL {
    true.into()
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn UiaHostProviderFromHwnd(
    _: HWND,
    provider: *mut *mut c_void,
) -> HRESULT {
    // SAFETY: the caller passes a pointer to write to. There is no host's provider.
    unsafe { provider.write(std::ptr::null_mut()) };
    S_OK
}

#[unsafe(no_mangle)]
pub extern "system" fn UiaRaiseAutomationEvent(
    _: Ref<IRawElementProviderSimple>,
    event: UIA_EVENT_ID,
) -> HRESULT {
    events::raise(events::Kind::Event, event.0);
    S_OK
}

#[unsafe(no_mangle)]
pub extern "system" fn UiaRaiseAutomationPropertyChangedEvent(
    _: Ref<IRawElementProviderSimple>,
    property: UIA_PROPERTY_ID,
    _: &VARIANT,
    _: &VARIANT,
) -> HRESULT {
    events::raise(events::Kind::Property, property.0);
    S_OK
}

#[unsafe(no_mangle)]
pub extern "system" fn UiaRaiseStructureChangedEvent(
    _: Ref<IRawElementProviderSimple>,
    change: i32,
    _: *const i32,
    _: i32,
) -> HRESULT {
    events::raise(events::Kind::Structure, change);
    S_OK
}

#[unsafe(no_mangle)]
pub extern "system" fn UiaRaiseNotificationEvent(
    _: Ref<IRawElementProviderSimple>,
    _: i32,
    _: i32,
    _: *const u16,
    _: *const u16,
) -> HRESULT {
    S_OK
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn DllGetClassObject(
    _: *const GUID,
    interface: *const GUID,
    object: *mut *mut c_void,
) -> HRESULT {
    let factory: IClassFactory = Factory.into();
    // SAFETY: COM passes valid pointers.
    unsafe { factory.query(interface, object) }
}

#[unsafe(no_mangle)]
pub extern "system" fn DllCanUnloadNow() -> HRESULT {
    windows::Win32::Foundation::S_FALSE
}

#[implement(IClassFactory)]
struct Factory;

impl IClassFactory_Impl for Factory_Impl {
    fn CreateInstance(
        &self,
        outer: Ref<IUnknown>,
        interface: *const GUID,
        object: *mut *mut c_void,
    ) -> Result<()> {
        if outer.is_some() {
            return Err(CLASS_E_NOAGGREGATION.into());
        }
        // SAFETY: COM passes valid pointers.
        unsafe { client::automation().query(interface, object).ok() }
    }

    fn LockServer(&self, _: BOOL) -> Result<()> {
        Ok(())
    }
}
