//! COM objects of which only some methods are written: the others answer `E_NOTIMPL`.

use std::ffi::c_void;
use std::mem::size_of;
use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};

use windows::Win32::Foundation::{E_NOINTERFACE, E_NOTIMPL, S_OK};
use windows::core::{GUID, HRESULT, IUnknown_Vtbl, Interface};

/// An object. The first field is what a COM pointer points at.
#[repr(C)]
pub struct Object<V: 'static, D> {
    vtable: &'static V,
    count: AtomicU32,
    /// The interfaces that share the table of methods.
    interfaces: &'static [GUID],
    data: D,
}

impl<V, D> Deref for Object<V, D> {
    type Target = D;

    fn deref(&self) -> &D {
        &self.data
    }
}

/// The object that a method was called on.
///
/// # Safety
/// `this` comes from [`new`] with the same types.
pub unsafe fn of<'a, V: 'static, D>(this: *mut c_void) -> &'a Object<V, D> {
    // SAFETY: see above.
    unsafe { &*this.cast::<Object<V, D>>() }
}

extern "system" fn unknown_method() -> HRESULT {
    E_NOTIMPL
}

/// The methods of an interface: `fill` sets those that are written. `V` is its table of methods.
pub fn methods<V: 'static, D>(fill: impl FnOnce(&mut V)) -> V {
    let length = size_of::<V>() / size_of::<usize>();
    let mut table = vec![unknown_method as *const () as usize; length];
    // SAFETY: `V` is a structure of pointers to functions only, and begins with `IUnknown`'s. In
    // the 64-bit calling convention the caller removes the arguments, so a function that takes none
    // can stand for any.
    unsafe {
        let unknown = &mut *table.as_mut_ptr().cast::<IUnknown_Vtbl>();
        unknown.QueryInterface = query_interface::<V, D>;
        unknown.AddRef = add_ref::<V, D>;
        unknown.Release = release::<V, D>;
        fill(&mut *table.as_mut_ptr().cast::<V>());
        table.as_ptr().cast::<V>().read()
    }
}

/// A new object, as the interface `I`.
///
/// # Safety
/// `V` is the table of methods of `I`, and of `interfaces`.
pub unsafe fn new<I: Interface, V, D>(
    vtable: &'static V,
    interfaces: &'static [GUID],
    data: D,
) -> I {
    let object = Box::new(Object {
        vtable,
        count: AtomicU32::new(1),
        interfaces,
        data,
    });
    // SAFETY: see above; the pointer owns the one reference.
    unsafe { I::from_raw(Box::into_raw(object).cast()) }
}

unsafe extern "system" fn query_interface<V: 'static, D>(
    this: *mut c_void,
    interface: *const GUID,
    result: *mut *mut c_void,
) -> HRESULT {
    /// Objects here are used from any thread of a process.
    const AGILE: GUID = GUID::from_u128(0x94ea2b94_e9cc_49e0_c0ff_ee64ca8f5b90);
    // SAFETY: COM passes valid pointers.
    unsafe {
        let object = of::<V, D>(this);
        let wanted = *interface;
        let known = object.interfaces.contains(&wanted)
            || wanted == windows::core::IUnknown::IID
            || wanted == AGILE;
        if !known {
            result.write(std::ptr::null_mut());
            return E_NOINTERFACE;
        }
        object.count.fetch_add(1, Ordering::Relaxed);
        result.write(this);
    }
    S_OK
}

unsafe extern "system" fn add_ref<V: 'static, D>(this: *mut c_void) -> u32 {
    // SAFETY: COM passes a valid pointer.
    unsafe { of::<V, D>(this).count.fetch_add(1, Ordering::Relaxed) + 1 }
}

unsafe extern "system" fn release<V: 'static, D>(this: *mut c_void) -> u32 {
    // SAFETY: COM passes a valid pointer; after the last reference nothing uses it.
    unsafe {
        let left = of::<V, D>(this).count.fetch_sub(1, Ordering::AcqRel) - 1;
        if left == 0 {
            drop(Box::from_raw(this.cast::<Object<V, D>>()));
        }
        left
    }
}
