//! The overlay's panels.

use std::cell::{Cell, RefCell};

use objc2::rc::Retained;
use objc2::{MainThreadMarker, MainThreadOnly};
use objc2_app_kit::{
    NSApplication, NSApplicationActivationPolicy, NSBackingStoreType, NSBox, NSBoxType, NSColor,
    NSEventMask, NSFont, NSPanel, NSScreenSaverWindowLevel, NSTextAlignment, NSTextField,
    NSTitlePosition, NSWindowCollectionBehavior, NSWindowSharingType, NSWindowStyleMask,
};
use objc2_foundation::{NSDefaultRunLoopMode, NSPoint, NSRect, NSSize, NSString};

use super::main_thread::{on_each_turn, on_main};
use crate::os::Panel;

/// In points: the outline's width, the caption's font size and its padding.
const OUTLINE: f64 = 3.0;
const FONT: f64 = 14.0;
const AIR: f64 = 9.0;

thread_local! {
    /// The panels that are shown. Used on the main thread only.
    static SHOWN: RefCell<Vec<Retained<NSPanel>>> = const { RefCell::new(Vec::new()) };
    /// Whether this program has become an app, which its first panel causes.
    static IS_APP: Cell<bool> = const { Cell::new(false) };
}

pub(super) fn overlay(panels: &[Panel]) {
    let panels = panels.to_vec();
    on_main(move |marker| {
        SHOWN.with_borrow_mut(|shown| {
            for panel in shown.drain(..) {
                // `orderOut` alone would leave the window in the `WindowServer`.
                panel.close();
            }
            shown.extend(panels.iter().map(|panel| make(panel, marker)));
        });
    });
}

/// Handles the system's events for this program as an app: an app that never handles them counts as
/// hung, and does not end with the login session.
fn take_events(marker: MainThreadMarker) {
    let app = NSApplication::sharedApplication(marker);
    // SAFETY: this is a constant of the framework, which is never written.
    let mode = unsafe { NSDefaultRunLoopMode };
    while let Some(event) =
        app.nextEventMatchingMask_untilDate_inMode_dequeue(NSEventMask::Any, None, mode, true)
    {
        app.sendEvent(&event);
    }
}

fn make(panel: &Panel, marker: MainThreadMarker) -> Retained<NSPanel> {
    if !IS_APP.replace(true) {
        let app = NSApplication::sharedApplication(marker);
        // Hides the Dock icon and the menu bar.
        app.setActivationPolicy(NSApplicationActivationPolicy::Accessory);
        // From here on the system asks this program to quit, for example at a logout.
        app.finishLaunching();
        on_each_turn(take_events);
    }
    let [x, y, w, h] = panel.frame;
    let frame = NSRect::new(NSPoint::new(x, y), NSSize::new(w, h));
    let made = NSPanel::initWithContentRect_styleMask_backing_defer(
        NSPanel::alloc(marker),
        frame,
        NSWindowStyleMask::Borderless | NSWindowStyleMask::NonactivatingPanel,
        NSBackingStoreType::Buffered,
        false,
    );
    // SAFETY: the panel is owned by its `Retained`; closing must not release it a second time.
    unsafe { made.setReleasedWhenClosed(false) };
    made.setFloatingPanel(true);
    made.setHidesOnDeactivate(false);
    made.setIgnoresMouseEvents(true);
    made.setSharingType(NSWindowSharingType::None);
    made.setLevel(NSScreenSaverWindowLevel);
    made.setCollectionBehavior(
        NSWindowCollectionBehavior::CanJoinAllSpaces
            | NSWindowCollectionBehavior::FullScreenAuxiliary
            | NSWindowCollectionBehavior::Stationary
            | NSWindowCollectionBehavior::IgnoresCycle,
    );
    made.setOpaque(false);
    made.setHasShadow(false);
    made.setBackgroundColor(Some(&NSColor::clearColor()));

    let inside = NSRect::new(NSPoint::new(0.0, 0.0), NSSize::new(w, h));
    let plate = NSBox::initWithFrame(NSBox::alloc(marker), inside);
    plate.setBoxType(NSBoxType::Custom);
    plate.setTitlePosition(NSTitlePosition::NoTitle);
    plate.setBorderColor(&NSColor::systemRedColor());
    plate.setBorderWidth(if panel.outline { OUTLINE } else { 0.0 });
    plate.setCornerRadius(if panel.outline { OUTLINE } else { h / 2.0 });
    let dark = NSColor::colorWithSRGBRed_green_blue_alpha(0.1, 0.1, 0.12, 0.92);
    let fill = if panel.outline {
        NSColor::clearColor()
    } else {
        dark
    };
    plate.setFillColor(&fill);
    made.setContentView(Some(&plate));
    if !panel.text.is_empty() {
        let label = NSTextField::labelWithString(&NSString::from_str(&panel.text), marker);
        label.setTextColor(Some(&NSColor::whiteColor()));
        label.setFont(Some(&NSFont::systemFontOfSize(FONT)));
        label.setAlignment(NSTextAlignment::Center);
        label.setFrame(NSRect::new(
            NSPoint::new(0.0, AIR),
            NSSize::new(w, h - 2.0 * AIR),
        ));
        plate.addSubview(&label);
    }
    made.orderFrontRegardless();
    made
}
