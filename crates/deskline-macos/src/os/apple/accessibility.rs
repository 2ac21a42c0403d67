//! `AXUIElement` and `AXObserver`.

use std::ffi::c_void;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ptr::{NonNull, null, null_mut};
use std::rc::Rc;
use std::time::Duration;

use objc2_application_services::{
    AXCopyMultipleAttributeOptions, AXError, AXIsProcessTrusted, AXIsProcessTrustedWithOptions,
    AXObserver, AXUIElement, AXValue, AXValueType, kAXTrustedCheckOptionPrompt,
};
use objc2_core_foundation::{
    CFArray, CFAttributedString, CFBoolean, CFDictionary, CFNumber, CFRange, CFRetained, CFString,
    CFType, CGPoint, CGSize, Type as _,
};

use super::run_loop::{self, RunLoop, Setup};
use crate::os::{Ax, AxError, Heard, NewValue, TEXT_UNITS, Value};

/// An `AXUIElement`, retained.
#[derive(Clone, PartialEq, Eq)]
pub struct Element(CFRetained<AXUIElement>);

// SAFETY: an AXUIElement is immutable (a pid and a token), its reference count is atomic, and its
// functions only send messages, which any thread may do.
unsafe impl Send for Element {}
// SAFETY: as above.
unsafe impl Sync for Element {}

impl Hash for Element {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl fmt::Debug for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AXUIElement {:x}", hash(self))
    }
}

fn result(error: AXError) -> Ax<()> {
    match error {
        AXError::Success => Ok(()),
        AXError(code) => Err(AxError(code)),
    }
}

/// The value that `call` writes. `value` is the initial value, which `call` overwrites.
fn written<T>(mut value: T, call: impl FnOnce(NonNull<T>) -> AXError) -> Ax<T> {
    result(call(NonNull::from(&mut value)))?;
    Ok(value)
}

pub(super) fn trusted() -> bool {
    // SAFETY: the function takes no arguments.
    unsafe { AXIsProcessTrusted() }
}

pub(super) fn ask_for_trust() {
    // SAFETY: the key is a constant of the framework's; the options are a dictionary of that key
    // and a boolean, as documented.
    unsafe {
        let options =
            CFDictionary::from_slices(&[kAXTrustedCheckOptionPrompt], &[CFBoolean::new(true)]);
        AXIsProcessTrustedWithOptions(Some(options.as_opaque()));
    }
}

pub(super) fn application(pid: u32) -> Element {
    // SAFETY: any pid is valid; one that belongs to no app gives an element that answers with
    // errors.
    Element(unsafe { AXUIElement::new_application(pid as libc::pid_t) })
}

pub(super) fn system() -> Element {
    // SAFETY: the function takes no arguments.
    Element(unsafe { AXUIElement::new_system_wide() })
}

pub(super) fn pid_of(element: &Element) -> Ax<u32> {
    // SAFETY: the call writes a number.
    Ok(written(0, |pid| unsafe { element.0.pid(pid) })? as u32)
}

pub(super) fn set_timeout(element: &Element, time: Duration) {
    // SAFETY: the arguments are plain values.
    unsafe { element.0.set_messaging_timeout(time.as_secs_f32()) };
}

pub(super) fn hash(element: &Element) -> u64 {
    let any: &CFType = &element.0;
    objc2_core_foundation::CFHash(Some(any)) as u64
}

pub(super) fn attributes(element: &Element, names: &[&'static str]) -> Ax<Vec<Value<Element>>> {
    let names: Vec<_> = names.iter().map(|n| CFString::from_static_str(n)).collect();
    let names = CFArray::from_retained_objects(&names);
    let (names, none) = (names.as_opaque(), AXCopyMultipleAttributeOptions(0));
    // SAFETY: the names are strings, and the call writes a pointer. With no option set, every name
    // gets a value: for a missing attribute, an AXValue with an error.
    let values = written(null(), |values| unsafe {
        element
            .0
            .copy_multiple_attribute_values(names, none, values)
    })?;
    Ok(copied(values)?.iter().map(|v| value(&v)).collect())
}

/// Takes ownership of an array that a Copy function returned.
fn copied(array: *const CFArray) -> Ax<CFRetained<CFArray<CFType>>> {
    let array = NonNull::new(array.cast_mut()).ok_or(AxError::FAILURE)?;
    // SAFETY: a Copy function's array is ours; all that Accessibility returns are CF types.
    Ok(unsafe { CFRetained::cast_unchecked(CFRetained::from_raw(array)) })
}

fn value(any: &CFType) -> Value<Element> {
    if let Some(string) = any.downcast_ref::<CFString>() {
        return text(string);
    }
    if let Some(on) = any.downcast_ref::<CFBoolean>() {
        return Value::Bool(on.as_bool());
    }
    if let Some(number) = any.downcast_ref::<CFNumber>() {
        return number.as_f64().map_or(Value::Other, Value::Number);
    }
    if let Some(element) = any.downcast_ref::<AXUIElement>() {
        return Value::Element(Element(element.retain()));
    }
    if let Some(array) = any.downcast_ref::<CFArray>() {
        return Value::Elements(elements(array));
    }
    if let Some(string) = any.downcast_ref::<CFAttributedString>() {
        return string.string().map_or(Value::Other, |string| text(&string));
    }
    any.downcast_ref::<AXValue>().map_or(Value::Other, ax_value)
}

fn elements(array: &CFArray) -> Vec<Element> {
    // SAFETY: all that Accessibility returns in arrays are CF types.
    let array: &CFArray<CFType> = unsafe { &*std::ptr::from_ref(array).cast() };
    let element = |any: CFRetained<CFType>| any.downcast::<AXUIElement>().ok().map(Element);
    array.iter().filter_map(element).collect()
}

fn text(text: &CFString) -> Value<Element> {
    let units = usize::try_from(text.length()).unwrap_or(0);
    let most = units.min(TEXT_UNITS);
    let mut buffer = vec![0_u16; most];
    // SAFETY: the range is within the string, and the buffer has room for it.
    unsafe { text.characters(CFRange::new(0, most as isize), buffer.as_mut_ptr()) };
    Value::Text {
        start: String::from_utf16_lossy(&buffer),
        units,
    }
}

fn ax_value(value: &AXValue) -> Value<Element> {
    // SAFETY: the function takes no arguments.
    match unsafe { value.r#type() } {
        kind @ AXValueType::CGPoint => {
            let p: CGPoint = get(value, kind);
            Value::Point(p.x, p.y)
        }
        kind @ AXValueType::CGSize => {
            let s: CGSize = get(value, kind);
            Value::Size(s.width, s.height)
        }
        kind @ AXValueType::CFRange => {
            let mut r = CFRange::new(0, 0);
            // SAFETY: the kind is that of the structure.
            unsafe { value.value(kind, NonNull::from(&mut r).cast()) };
            match (usize::try_from(r.location), usize::try_from(r.length)) {
                (Ok(from), Ok(length)) => Value::Range(from, length),
                _ => Value::Other,
            }
        }
        kind @ AXValueType::AXError => {
            let code: i32 = get(value, kind);
            Value::Error(AxError(code))
        }
        _ => Value::Other,
    }
}

/// The content of an `AXValue`: `T` must be the type that `kind` names.
fn get<T: Default>(value: &AXValue, kind: AXValueType) -> T {
    let mut out = T::default();
    // SAFETY: the three callers pass the `kind` that stands for the type `T`.
    unsafe { value.value(kind, NonNull::from(&mut out).cast()) };
    out
}

/// Takes ownership of a value that a Copy function returned.
fn copied_value(any: *const CFType) -> Ax<Value<Element>> {
    let any = NonNull::new(any.cast_mut()).ok_or(AxError::FAILURE)?;
    // SAFETY: a Copy function's object is ours.
    let any = unsafe { CFRetained::from_raw(any) };
    Ok(value(&any))
}

pub(super) fn attribute(element: &Element, name: &'static str) -> Ax<Value<Element>> {
    let name = CFString::from_static_str(name);
    // SAFETY: the call writes a pointer.
    copied_value(written(null(), |any| unsafe {
        element.0.copy_attribute_value(&name, any)
    })?)
}

pub(super) fn string(element: &Element, from: usize, length: usize) -> Ax<Value<Element>> {
    let name = CFString::from_static_str("AXStringForRange");
    let mut range = CFRange::new(from as isize, length as isize);
    // SAFETY: the structure is of the named kind.
    let range = unsafe { AXValue::new(AXValueType::CFRange, NonNull::from(&mut range).cast()) };
    let range = range.ok_or(AxError::FAILURE)?;
    // SAFETY: the call writes a pointer.
    copied_value(written(null(), |any| unsafe {
        element
            .0
            .copy_parameterized_attribute_value(&name, &range, any)
    })?)
}

pub(super) fn element_at((x, y): (f64, f64)) -> Ax<Element> {
    let (all, x, y) = (system(), x as f32, y as f32);
    // SAFETY: the call writes a pointer.
    let found: *const _ = written(null(), |found| unsafe {
        all.0.copy_element_at_position(x, y, found)
    })?;
    let found = NonNull::new(found.cast_mut()).ok_or(AxError::NO_VALUE)?;
    // SAFETY: a Copy function's object is ours.
    Ok(Element(unsafe { CFRetained::from_raw(found) }))
}

pub(super) fn window_of(element: &Element) -> Option<u32> {
    type WindowOf = unsafe extern "C-unwind" fn(&AXUIElement, &mut u32) -> AXError;
    let name = c"_AXUIElementGetWindow".as_ptr();
    // Looked up at run time, as a version of macOS may lack it.
    // SAFETY: the name ends in a null.
    let found = NonNull::new(unsafe { libc::dlsym(libc::RTLD_DEFAULT, name) })?;
    // SAFETY: the private function has this signature in each version since 10.5, as yabai and
    // AltTab declare it.
    let window_of = unsafe { std::mem::transmute::<NonNull<c_void>, WindowOf>(found) };
    let mut number = 0;
    // SAFETY: the arguments are those of the declared signature.
    result(unsafe { window_of(&element.0, &mut number) }).ok()?;
    Some(number).filter(|number| *number != 0)
}

pub(super) fn count(element: &Element, name: &'static str) -> Ax<usize> {
    let name = CFString::from_static_str(name);
    // SAFETY: the call writes a number.
    let count = written(0, |count| unsafe {
        element.0.attribute_value_count(&name, count)
    })?;
    Ok(usize::try_from(count).unwrap_or(0))
}

pub(super) fn range(
    element: &Element,
    name: &'static str,
    from: usize,
    most: usize,
) -> Ax<Vec<Element>> {
    let name = CFString::from_static_str(name);
    let (from, most) = (from as isize, most as isize);
    // SAFETY: the call writes a pointer.
    let values = written(null(), |values| unsafe {
        element.0.copy_attribute_values(&name, from, most, values)
    })?;
    Ok(elements(copied(values)?.as_opaque()))
}

pub(super) fn settable(element: &Element, name: &'static str) -> Ax<bool> {
    let name = CFString::from_static_str(name);
    // SAFETY: the call writes a Boolean.
    let settable = written(0, |settable| unsafe {
        element.0.is_attribute_settable(&name, settable)
    })?;
    Ok(settable != 0)
}

pub(super) fn set(element: &Element, name: &'static str, value: &NewValue<Element>) -> Ax<()> {
    let name = CFString::from_static_str(name);
    // SAFETY: any CF type is valid; the app refuses types that it does not accept.
    let set = |value: &CFType| result(unsafe { element.0.set_attribute_value(&name, value) });
    match value {
        NewValue::Bool(on) => set(CFBoolean::new(*on)),
        NewValue::Number(n) => set(&CFNumber::new_f64(*n)),
        NewValue::Text(text) => set(&CFString::from_str(text)),
        NewValue::Elements(all) => {
            let all: Vec<&AXUIElement> = all.iter().map(|e| &*e.0).collect();
            set(&CFArray::from_objects(&all))
        }
    }
}

pub(super) fn actions(element: &Element) -> Ax<Vec<String>> {
    // SAFETY: the call writes a pointer.
    let names = written(null(), |names| unsafe {
        element.0.copy_action_names(names)
    })?;
    let text = |any: CFRetained<CFType>| Some(any.downcast::<CFString>().ok()?.to_string());
    Ok(copied(names)?.iter().filter_map(text).collect())
}

pub(super) fn perform(element: &Element, action: &str) -> Ax<()> {
    // SAFETY: the arguments are plain values.
    result(unsafe { element.0.perform_action(&CFString::from_str(action)) })
}

pub(super) fn observe(pid: u32, names: &[&'static str], heard: Heard<Element>) -> Ax<RunLoop> {
    let names = names.to_vec();
    run_loop::start(
        "deskline-observer",
        |_| AxError::CANNOT_COMPLETE,
        move || {
            // SAFETY: the callback has the documented signature, and the call writes a pointer.
            let observer = written(null_mut(), |observer| unsafe {
                AXObserver::create(pid as libc::pid_t, Some(on_notification), observer)
            })?;
            let observer = NonNull::new(observer).ok_or(AxError::FAILURE)?;
            // SAFETY: a Create function's object is ours.
            let observer = unsafe { CFRetained::from_raw(observer) };
            let heard = Rc::new(heard);
            let context = Rc::as_ptr(&heard).cast_mut().cast::<c_void>();
            let app = application(pid);
            for name in names {
                // SAFETY: the context outlives the source that calls back: `tick` owns it, and is
                // dropped on the source's thread after the source was removed.
                let name = CFString::from_static_str(name);
                let added = unsafe { observer.add_notification(&app.0, &name, context) };
                if added == AXError::CannotComplete {
                    return Err(AxError::CANNOT_COMPLETE);
                }
            }
            // SAFETY: the function takes no arguments.
            let source = unsafe { observer.run_loop_source() };
            let tick = Box::new(move || {
                let _alive = (&observer, &heard);
                true
            });
            Ok(Setup { source, tick })
        },
    )
}

unsafe extern "C-unwind" fn on_notification(
    _: NonNull<AXObserver>,
    element: NonNull<AXUIElement>,
    name: NonNull<CFString>,
    context: *mut c_void,
) {
    // SAFETY: the context that `observe` registered, which lives as long as the observer.
    let heard = unsafe { &*context.cast::<Heard<Element>>() };
    // SAFETY: the system owns both during the call; the element is retained so that it outlives the
    // call.
    let (element, name) = unsafe { (Element(CFRetained::retain(element)), name.as_ref()) };
    heard(&name.to_string(), &element);
}
