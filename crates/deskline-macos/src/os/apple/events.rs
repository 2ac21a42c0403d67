//! `CGEvent`s: posting them, and tapping them.

use std::cell::{Cell, OnceCell, RefCell};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::rc::Rc;

use objc2_core_foundation::{CFMachPort, CFRetained, CGPoint};
use objc2_core_graphics::{
    CGAssociateMouseAndMouseCursorPosition, CGEvent, CGEventField, CGEventFlags, CGEventSource,
    CGEventSourceStateID, CGEventTapLocation, CGEventTapOptions, CGEventTapPlacement,
    CGEventTapProxy, CGEventType, CGMouseButton, CGScrollEventUnit, CGWarpMouseCursorPosition,
};

use super::run_loop::{self, RunLoop, Setup};
use crate::os::{Event, Judge, MouseButton, Seen, Tapped, Verdict};

/// Virtual key codes are seven bits.
const KEYS: u16 = 128;

pub(super) fn pointer() -> (f64, f64) {
    let now = CGEvent::new(None);
    let at = CGEvent::location(now.as_deref());
    (at.x, at.y)
}

pub(super) fn warp((x, y): (f64, f64)) {
    CGWarpMouseCursorPosition(CGPoint { x, y });
    // Ends the quarter of a second in which mouse movement does not move the pointer.
    CGAssociateMouseAndMouseCursorPosition(true);
}

pub(super) fn held_keys() -> Vec<u16> {
    let held = |key: &u16| CGEventSource::key_state(CGEventSourceStateID::HIDSystemState, *key);
    (0..KEYS).filter(held).collect()
}

pub(super) fn button_held() -> bool {
    [
        CGMouseButton::Left,
        CGMouseButton::Right,
        CGMouseButton::Center,
    ]
    .into_iter()
    .any(|b| CGEventSource::button_state(CGEventSourceStateID::HIDSystemState, b))
}

fn point((x, y): (f64, f64)) -> CGPoint {
    CGPoint { x, y }
}

fn button(button: MouseButton) -> CGMouseButton {
    match button {
        MouseButton::Left => CGMouseButton::Left,
        MouseButton::Right => CGMouseButton::Right,
        MouseButton::Middle => CGMouseButton::Center,
    }
}

pub(super) fn presses() -> i64 {
    let session = CGEventSourceStateID::CombinedSessionState;
    let counted = [
        CGEventType::LeftMouseDown,
        CGEventType::RightMouseDown,
        CGEventType::OtherMouseDown,
        CGEventType::KeyDown,
    ];
    let counts = counted.map(|kind| CGEventSource::counter_for_event_type(session, kind));
    counts.into_iter().map(i64::from).sum()
}

thread_local! {
    /// The source of all posted events. It is private, so that keys that the person holds do not
    /// modify the events.
    static SOURCE: Option<CFRetained<CGEventSource>> = {
        let source = CGEventSource::new(CGEventSourceStateID::Private);
        // By default each event silences the person's devices for a quarter of a second.
        CGEventSource::set_local_events_suppression_interval(source.as_deref(), 0.0);
        source
    };
}

fn set(event: Option<&CGEvent>, field: CGEventField, value: i64) {
    CGEvent::set_integer_value_field(event, field, value);
}

pub(super) fn post(event: &Event, tag: i64) -> Result<(), String> {
    SOURCE.with(|source| post_from(source.as_deref(), event, tag))
}

fn post_from(source: Option<&CGEventSource>, event: &Event, tag: i64) -> Result<(), String> {
    let made = match event {
        Event::Move {
            to,
            delta,
            number,
            clicks,
            dragging,
            ..
        } => {
            let (kind, held) = match dragging {
                None => (CGEventType::MouseMoved, MouseButton::Left),
                Some(MouseButton::Left) => (CGEventType::LeftMouseDragged, MouseButton::Left),
                Some(MouseButton::Right) => (CGEventType::RightMouseDragged, MouseButton::Right),
                Some(MouseButton::Middle) => (CGEventType::OtherMouseDragged, MouseButton::Middle),
            };
            let made = CGEvent::new_mouse_event(source, kind, point(*to), button(held));
            set(made.as_deref(), CGEventField::MouseEventDeltaX, delta.0);
            set(made.as_deref(), CGEventField::MouseEventDeltaY, delta.1);
            set(made.as_deref(), CGEventField::MouseEventNumber, *number);
            set(made.as_deref(), CGEventField::MouseEventClickState, *clicks);
            made
        }
        Event::Button {
            at,
            button: which,
            down,
            clicks,
            number,
            ..
        } => {
            let kind = match (which, down) {
                (MouseButton::Left, true) => CGEventType::LeftMouseDown,
                (MouseButton::Left, false) => CGEventType::LeftMouseUp,
                (MouseButton::Right, true) => CGEventType::RightMouseDown,
                (MouseButton::Right, false) => CGEventType::RightMouseUp,
                (MouseButton::Middle, true) => CGEventType::OtherMouseDown,
                (MouseButton::Middle, false) => CGEventType::OtherMouseUp,
            };
            let made = CGEvent::new_mouse_event(source, kind, point(*at), button(*which));
            set(made.as_deref(), CGEventField::MouseEventClickState, *clicks);
            set(made.as_deref(), CGEventField::MouseEventNumber, *number);
            made
        }
        Event::Scroll {
            at,
            vertical: down,
            horizontal: across,
        } => {
            let unit = CGScrollEventUnit::Line;
            let made = CGEvent::new_scroll_wheel_event2(source, unit, 2, *down, *across, 0);
            CGEvent::set_location(made.as_deref(), point(*at));
            made
        }
        Event::Key { code, down, .. } => CGEvent::new_keyboard_event(source, *code, *down),
        Event::Text {
            code, units, down, ..
        } => {
            let made = CGEvent::new_keyboard_event(source, *code, *down);
            // SAFETY: the pointer and the length are those of `units`.
            unsafe {
                CGEvent::keyboard_set_unicode_string(
                    made.as_deref(),
                    units.len() as _,
                    units.as_ptr(),
                );
            }
            made
        }
    };
    let made = made.ok_or("CGEventCreate gave no event")?;
    let flags = match event {
        Event::Move { flags, .. }
        | Event::Button { flags, .. }
        | Event::Key { flags, .. }
        | Event::Text { flags, .. } => *flags,
        Event::Scroll { .. } => 0,
    };
    CGEvent::set_flags(Some(&made), CGEventFlags(flags));
    set(Some(&made), CGEventField::EventSourceUserData, tag);
    CGEvent::post(CGEventTapLocation::HIDEventTap, Some(&made));
    Ok(())
}

/// The state of the tap's callback. Only the tap's thread uses it.
struct Tapping {
    judge: RefCell<Judge>,
    port: OnceCell<CFRetained<CFMachPort>>,
    open: Cell<bool>,
}

impl Tapping {
    fn judge(&self, tapped: Tapped) -> Verdict {
        (self.judge.borrow_mut())(tapped)
    }

    /// What a tick reports: the tap may have been disabled without a callback that says so.
    fn ticks(&self) -> Seen {
        match self.port.get() {
            Some(port) if !CGEvent::tap_is_enabled(port) => Seen::Disabled,
            _ => Seen::Tick,
        }
    }

    fn enable(&self, on: bool) {
        if let Some(port) = self.port.get() {
            CGEvent::tap_enable(port, on);
        }
    }
}

impl Drop for Tapping {
    fn drop(&mut self) {
        self.enable(false);
        if let Some(port) = self.port.get() {
            port.invalidate();
        }
    }
}

pub(super) fn may_tap() -> bool {
    unsafe extern "C-unwind" fn passes(
        _: CGEventTapProxy,
        _: CGEventType,
        event: NonNull<CGEvent>,
        _: *mut c_void,
    ) -> *mut CGEvent {
        event.as_ptr()
    }
    // SAFETY: the callback has the documented signature and reads no context; the port is
    // invalidated before any run loop has it.
    let port = unsafe {
        CGEvent::tap_create(
            CGEventTapLocation::HIDEventTap,
            CGEventTapPlacement::TailAppendEventTap,
            CGEventTapOptions::ListenOnly,
            1 << CGEventType::KeyDown.0,
            Some(passes),
            std::ptr::null_mut(),
        )
    };
    let Some(port) = port else { return false };
    port.invalidate();
    true
}

pub(super) fn tap(judge: Judge) -> Result<RunLoop, String> {
    run_loop::start(
        "deskline-guard",
        |e| e.to_string(),
        move || {
            let tapping = Rc::new(Tapping {
                judge: RefCell::new(judge),
                port: OnceCell::new(),
                open: Cell::new(true),
            });
            // SAFETY: the callback has the documented signature. The context outlives the port:
            // `tick` holds both, and this thread's run loop alone calls back.
            let port = unsafe {
                CGEvent::tap_create(
                    CGEventTapLocation::HIDEventTap,
                    CGEventTapPlacement::HeadInsertEventTap,
                    CGEventTapOptions::Default,
                    MASK,
                    Some(on_event),
                    Rc::as_ptr(&tapping).cast_mut().cast::<c_void>(),
                )
            };
            let port = port.ok_or("CGEventTapCreate gave no tap; a tap needs Accessibility")?;
            let source = CFMachPort::new_run_loop_source(None, Some(&port), 0);
            let source = source.ok_or("CFMachPortCreateRunLoopSource gave no source")?;
            let _ = tapping.port.set(port);
            let tick = Box::new(move || {
                let verdict = tapping.judge(Tapped {
                    kind: tapping.ticks(),
                    tag: 0,
                });
                if verdict == Verdict::Enable {
                    tapping.enable(true);
                }
                tapping.open.get() && verdict != Verdict::Close
            });
            Ok(Setup { source, tick })
        },
    )
}

/// The mask of all events of keyboard and pointer (`CGEventTypes.h`): mouse (1 to 7, 25 to 27),
/// keys (10 to 12), wheel (22), tablets (23 and 24).
const MASK: u64 = 0x7f << 1 | 0b111 << 10 | 0x3f << 22 | NX_SYSDEFINED | GESTURES;

/// A trackpad's events, for which Quartz has no names: rotate, begin and end of a gesture, gesture,
/// magnify, swipe, smart magnify, pressure (`NSEventType` 18 to 20, 29 to 32, 34).
const GESTURES: u64 = 0b111 << 18 | 0b1111 << 29 | 1 << 34;

/// Media and brightness keys (`NX_SYSDEFINED`, `IOLLEvent.h`). Quartz has no name for them.
const NX_SYSDEFINED: u64 = 1 << 14;

unsafe extern "C-unwind" fn on_event(
    _: CGEventTapProxy,
    kind: CGEventType,
    event: NonNull<CGEvent>,
    context: *mut c_void,
) -> *mut CGEvent {
    // SAFETY: the context that `tap` registered, which lives as long as the port and is never
    // borrowed mutably.
    let tapping = unsafe { &*context.cast::<Tapping>() };
    let kind = match kind {
        CGEventType::TapDisabledByTimeout | CGEventType::TapDisabledByUserInput => Seen::Disabled,
        CGEventType::KeyDown => {
            // SAFETY: the system owns the event during the call.
            let event = Some(unsafe { event.as_ref() });
            Seen::KeyDown {
                code: CGEvent::integer_value_field(event, CGEventField::KeyboardEventKeycode)
                    as u16,
                flags: CGEvent::flags(event).0,
            }
        }
        CGEventType::LeftMouseDown | CGEventType::RightMouseDown | CGEventType::OtherMouseDown => {
            Seen::ButtonDown
        }
        _ => Seen::Input,
    };
    let tag = if kind == Seen::Disabled {
        0
    } else {
        // SAFETY: as above.
        let event = Some(unsafe { event.as_ref() });
        CGEvent::integer_value_field(event, CGEventField::EventSourceUserData)
    };
    match tapping.judge(Tapped { kind, tag }) {
        Verdict::Pass => event.as_ptr(),
        Verdict::Drop => std::ptr::null_mut(),
        Verdict::Enable => {
            tapping.enable(true);
            event.as_ptr()
        }
        Verdict::Close => {
            tapping.open.set(false);
            tapping.enable(false);
            event.as_ptr()
        }
    }
}
