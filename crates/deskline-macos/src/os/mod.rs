//! The system calls that this crate needs, as thin functions in the system's own terms.
//!
//! Coordinates are those of Quartz and Accessibility: points, origin at the top left of the main
//! display, negative left of it and above it. Only [`Panel`] uses `AppKit`'s bottom-left origin,
//! and only [`crate::panels::to_appkit`] converts to it.

#[cfg(test)]
pub(crate) use crate::tests::fake;
#[cfg(any(target_os = "macos", test))]
mod tool;

use std::fmt::Debug;
use std::hash::Hash;
use std::path::PathBuf;
use std::time::Duration;

/// An `AXError` (`AXError.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AxError(pub i32);

impl AxError {
    /// `kAXErrorFailure`: the system itself failed.
    pub const FAILURE: Self = Self(-25200);
    /// `kAXErrorIllegalArgument`: also the answer to a value of the wrong type.
    pub(crate) const ILLEGAL_ARGUMENT: Self = Self(-25201);
    /// `kAXErrorInvalidUIElement`: the element is gone.
    pub(crate) const INVALID_UI_ELEMENT: Self = Self(-25202);
    /// `kAXErrorCannotComplete`: the app did not answer in time, or does not exist.
    pub(crate) const CANNOT_COMPLETE: Self = Self(-25204);
    /// `kAXErrorAttributeUnsupported`
    pub(crate) const ATTRIBUTE_UNSUPPORTED: Self = Self(-25205);
    /// `kAXErrorActionUnsupported`
    pub(crate) const ACTION_UNSUPPORTED: Self = Self(-25206);
    /// `kAXErrorNotImplemented`
    pub(crate) const NOT_IMPLEMENTED: Self = Self(-25208);
    /// `kAXErrorAPIDisabled`: this process is not trusted.
    pub(crate) const API_DISABLED: Self = Self(-25211);
    /// `kAXErrorNoValue`
    pub(crate) const NO_VALUE: Self = Self(-25212);
}

impl std::fmt::Display for AxError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = match *self {
            Self::FAILURE => "kAXErrorFailure",
            Self::ILLEGAL_ARGUMENT => "kAXErrorIllegalArgument",
            Self::INVALID_UI_ELEMENT => "kAXErrorInvalidUIElement",
            Self::CANNOT_COMPLETE => "kAXErrorCannotComplete",
            Self::ATTRIBUTE_UNSUPPORTED => "kAXErrorAttributeUnsupported",
            Self::ACTION_UNSUPPORTED => "kAXErrorActionUnsupported",
            Self::NOT_IMPLEMENTED => "kAXErrorNotImplemented",
            Self::API_DISABLED => "kAXErrorAPIDisabled",
            Self::NO_VALUE => "kAXErrorNoValue",
            Self(code) => return write!(f, "AXError {code}"),
        };
        f.write_str(name)
    }
}

impl std::error::Error for AxError {}

/// The result of an accessibility call.
pub(crate) type Ax<T> = Result<T, AxError>;

/// The maximum number of UTF-16 units to copy out of a `CFString`.
pub const TEXT_UNITS: usize = 2_048;

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<E> {
    /// No value, with the reason.
    Error(AxError),
    /// `CFBoolean`
    Bool(bool),
    /// `CFNumber`
    Number(f64),
    /// `CFString`, or the string of a `CFAttributedString`.
    Text {
        /// The start of the text, of at most [`TEXT_UNITS`].
        start: String,
        /// The length of the whole text in UTF-16 units.
        units: usize,
    },
    /// `AXUIElement`
    Element(E),
    /// A `CFArray` of `AXUIElement`s.
    Elements(Vec<E>),
    /// `kAXValueTypeCGPoint`
    Point(f64, f64),
    /// `kAXValueTypeCGSize`
    Size(f64, f64),
    /// `kAXValueTypeCFRange`: its start and its length.
    Range(usize, usize),
    /// Anything else.
    Other,
}

impl<E> Value<E> {
    pub(crate) fn element(self) -> Option<E> {
        match self {
            Self::Element(element) => Some(element),
            _ => None,
        }
    }
}

/// A value to set.
#[derive(Debug, Clone, PartialEq)]
pub enum NewValue<E> {
    /// `CFBoolean`
    Bool(bool),
    /// `CFNumber`
    Number(f64),
    /// `CFString`
    Text(String),
    /// A `CFArray` of `AXUIElement`s.
    Elements(Vec<E>),
}

/// A process, from `proc_pidinfo`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// The pid of its parent.
    pub parent: u32,
    /// The start time in seconds since the epoch, which distinguishes the process from an earlier
    /// one with the same pid.
    pub started: u64,
    /// The name of its executable.
    pub name: String,
}

/// An `NSRunningApplication`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningApp {
    pub pid: u32,
    /// `localizedName`
    pub name: String,
    /// `bundleIdentifier`; empty if it has none.
    pub bundle_id: String,
    /// `bundleURL`; empty if it has none.
    pub path: PathBuf,
    /// Whether `activationPolicy` is regular: the app is in the Dock.
    pub regular: bool,
    /// `finishedLaunching`
    pub finished: bool,
}

/// The app or document to launch (`NSWorkspace`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The bundle or document to open.
    pub path: PathBuf,
    /// Whether `path` is a document, to be opened by the default app for its type.
    pub document: bool,
}

/// A window as the `WindowServer` lists it (`CGWindowListCopyWindowInfo`).
#[derive(Debug, Clone, PartialEq)]
pub struct ServerWindow {
    /// `kCGWindowNumber`
    pub number: u32,
    /// `kCGWindowOwnerPID`
    pub pid: u32,
    /// `kCGWindowOwnerName`
    pub owner: String,
    /// `kCGWindowName`; empty without the Screen Recording permission.
    pub title: String,
    /// `kCGWindowBounds`: x, y, width, height.
    pub bounds: [f64; 4],
    /// `kCGWindowLayer`: 0 for plain windows, 101 for menus.
    pub layer: i64,
    /// `kCGWindowIsOnscreen`
    pub on_screen: bool,
    /// `kCGWindowAlpha`
    pub alpha: f64,
}

/// A display (`CGGetActiveDisplayList`).
#[derive(Debug, Clone, PartialEq)]
pub struct Display {
    /// `CGDisplayBounds`: x, y, width, height in points.
    pub bounds: [f64; 4],
    /// Pixels per point: 2.0 on Retina displays.
    pub scale: f64,
    /// Whether it is the main display, whose top left is the origin.
    pub main: bool,
}

/// The login session of this process (`CGSessionCopyCurrentDictionary`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seat {
    /// `CGSSessionScreenIsLocked`
    pub locked: bool,
    /// `kCGSSessionOnConsoleKey`: `false` if another user's session has the screen.
    pub on_console: bool,
}

/// A picture to take.
#[derive(Debug, Clone, PartialEq)]
pub struct Shot {
    pub window: u32,
    /// Windows above `window` to include in the picture: sheets, popovers, menus.
    pub over: Vec<u32>,
    /// The bounds of `window`.
    pub bounds: [f64; 4],
    /// Whether `window` is on the screen. If not, the system has to list the windows off the screen
    /// too, which may be thousands.
    pub on_screen: bool,
    /// The width and height of the picture.
    pub pixels: (usize, usize),
}

/// A captured picture: rows of 4 bytes per pixel (red, green, blue, unused), without padding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Pixels per row.
    pub width: usize,
    /// The number of rows.
    pub height: usize,
    /// `4 × width × height` bytes.
    pub rgbx: Vec<u8>,
}

/// The value of `kCGEventSourceUserData` in all events that this program posts. The guard
/// recognises these events by the tag.
pub const TAG: i64 = 0x6465_736b_6c69_6e65;

/// A mouse button (`CGMouseButton`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MouseButton {
    /// `kCGMouseButtonLeft`
    Left,
    /// `kCGMouseButtonRight`
    Right,
    /// `kCGMouseButtonCenter`
    Middle,
}

/// An event to post (`CGEvent`).
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// `kCGEventMouseMoved`, or the drag event of the button that is down
    /// (`kCGEventLeftMouseDragged`).
    Move {
        to: (f64, f64),
        /// `kCGMouseEventDeltaX`, `kCGMouseEventDeltaY`: the distance moved, while a button is
        /// down.
        delta: (i64, i64),
        /// `kCGMouseEventNumber`, as in [`Event::Button`], while a button is down.
        number: i64,
        /// `kCGMouseEventClickState`: 1 while a button is down.
        clicks: i64,
        /// The button that is down during the motion.
        dragging: Option<MouseButton>,
        /// `CGEventFlags`
        flags: u64,
    },
    /// A button goes down or up.
    Button {
        at: (f64, f64),
        button: MouseButton,
        /// Whether the button goes down, not up.
        down: bool,
        /// `kCGMouseEventClickState`: 2 in the second click of a double click.
        clicks: i64,
        /// `kCGMouseEventNumber`: the same in a press, its drag and its release, and in no other
        /// event.
        number: i64,
        /// `CGEventFlags`
        flags: u64,
    },
    /// The wheel turns by lines, in the signs of Quartz: positive is up and left.
    Scroll {
        /// The position of the event (`CGEventSetLocation`), which by default is the pointer's.
        at: (f64, f64),
        /// `wheel1`
        vertical: i32,
        /// `wheel2`
        horizontal: i32,
    },
    /// A key goes down or up.
    Key {
        /// The virtual key code.
        code: u16,
        /// Whether the key goes down, not up.
        down: bool,
        /// `CGEventFlags`
        flags: u64,
    },
    /// A key event that carries this text, whatever the layout (`CGEventKeyboardSetUnicodeString`).
    Text {
        /// The virtual key code, for apps that read keys instead of characters; 0 if no key gives
        /// the text.
        code: u16,
        /// `CGEventFlags`
        flags: u64,
        /// UTF-16 units; Quartz takes 20 at most.
        units: Vec<u16>,
        /// Whether the key goes down, not up.
        down: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    Current,
    /// The layout for shortcuts, used if the current one has no Latin letters.
    Ascii,
}

/// A keyboard layout or an input method (`TISInputSource`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputSource {
    /// `kTISPropertyInputSourceID`
    pub id: String,
    /// `kTISPropertyLocalizedName`
    pub name: String,
    /// Whether it is a keyboard layout, not an input method: each key gives its character at once.
    pub layout: bool,
}

/// What a key gives with these modifiers held: any of Shift and Option, or Command alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutKey {
    /// The virtual key code.
    pub code: u16,
    pub shift: bool,
    pub option: bool,
    /// Whether Command alone is held: some layouts have other characters for shortcuts.
    pub command: bool,
    /// Whether it is a dead key, which changes the character of the next key (`deadKeyState`).
    pub dead: bool,
    /// The characters that the key gives.
    pub text: String,
}

/// An event that an event tap sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tapped {
    /// The kind of event.
    pub kind: Seen,
    /// `kCGEventSourceUserData`: [`TAG`] in this program's own events.
    pub tag: i64,
}

/// The kinds of events that the guard distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// `kCGEventKeyDown`
    KeyDown {
        /// The virtual key code.
        code: u16,
        /// `CGEventFlags`
        flags: u64,
    },
    /// `kCGEventLeftMouseDown`, `kCGEventRightMouseDown`, `kCGEventOtherMouseDown`
    ButtonDown,
    /// Any other event of a keyboard or pointer.
    Input,
    /// `kCGEventTapDisabledByTimeout`, `kCGEventTapDisabledByUserInput`
    Disabled,
    /// No event. Sent ten times a second by the run loop of the tap's thread.
    Tick,
}

/// The decision about a tapped event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Let it through.
    Pass,
    /// Discard it: no app gets it.
    Drop,
    /// Turn the tap on again (`CGEventTapEnable`).
    Enable,
    /// Remove the tap and end its thread.
    Close,
}

/// A panel of the overlay: borderless, never the key window, transparent to clicks, in no picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// `AppKit`'s coordinates: x, y, width, height, origin at the bottom left of the main display.
    pub frame: [f64; 4],
    /// Its text; may be empty.
    pub text: String,
    /// Whether it is a coloured, hollow outline; if not, it is a dark plate.
    pub outline: bool,
}

/// The data of an `NSPasteboardItem`, by type.
pub(crate) type PasteboardItem = Vec<(String, Vec<u8>)>;

/// Called when somebody reads a promised text.
pub type Asked = Box<dyn Fn() + Send + Sync>;

/// Called with a notification's name and element.
pub type Heard<E> = Box<dyn Fn(&str, &E) + Send + Sync>;

/// Decides about a tapped event, on the tap's thread.
pub(crate) type Judge = Box<dyn FnMut(Tapped) -> Verdict + Send>;

/// The system's calls, each with the file of `apple` that makes it.
macro_rules! calls {
    ($then:ident) => {
        $then! {
            /// `AXIsProcessTrusted`: never prompts.
            accessibility::trusted() -> bool;
            /// `AXIsProcessTrustedWithOptions` with the prompt.
            accessibility::ask_for_trust();
            /// `AXUIElementCreateApplication`
            accessibility::application(pid: u32) -> Self::Element;
            /// `AXUIElementCreateSystemWide`
            accessibility::system() -> Self::Element;
            /// `AXUIElementGetPid`
            accessibility::pid_of(element: &Self::Element) -> Ax<u32>;
            /// `AXUIElementSetMessagingTimeout`. The timeout of the system-wide element applies to
            /// the whole process, that of any other element to this reference alone.
            accessibility::set_timeout(element: &Self::Element, time: Duration);
            /// `CFHash`
            accessibility::hash(element: &Self::Element) -> u64;
            /// `AXUIElementCopyMultipleAttributeValues`: as many values as names.
            accessibility::attributes(element: &Self::Element, names: &[&'static str])
                -> Ax<Vec<Value<Self::Element>>>;
            /// `AXUIElementCopyAttributeValue`
            accessibility::attribute(element: &Self::Element, name: &'static str)
                -> Ax<Value<Self::Element>>;
            /// `AXStringForRange`: part of a text, in UTF-16 units.
            accessibility::string(element: &Self::Element, from: usize, length: usize)
                -> Ax<Value<Self::Element>>;
            /// `AXUIElementCopyElementAtPosition` of the system-wide element.
            accessibility::element_at(at: (f64, f64)) -> Ax<Self::Element>;
            /// `_AXUIElementGetWindow`: the `WindowServer`'s number of a window. A private
            /// function; `None` if the system lacks it.
            accessibility::window_of(element: &Self::Element) -> Option<u32>;
            /// `AXUIElementGetAttributeValueCount`
            accessibility::count(element: &Self::Element, name: &'static str) -> Ax<usize>;
            /// `AXUIElementCopyAttributeValues`: elements `from..from + most` of an array.
            accessibility::range(element: &Self::Element, name: &'static str, from: usize, most: usize)
                -> Ax<Vec<Self::Element>>;
            /// `AXUIElementIsAttributeSettable`
            accessibility::settable(element: &Self::Element, name: &'static str) -> Ax<bool>;
            /// `AXUIElementSetAttributeValue`
            accessibility::set(element: &Self::Element, name: &'static str, value: &NewValue<Self::Element>)
                -> Ax<()>;
            /// `AXUIElementCopyActionNames`
            accessibility::actions(element: &Self::Element) -> Ax<Vec<String>>;
            /// `AXUIElementPerformAction`
            accessibility::perform(element: &Self::Element, action: &str) -> Ax<()>;
            /// `AXObserverCreate` and `AXObserverAddNotification` on the app's element. Skips
            /// notifications that the app does not support. Fails at the first message that is not
            /// answered.
            accessibility::observe(pid: u32, names: &[&'static str], heard: Heard<Self::Element>)
                -> Ax<Self::Observer>;

            /// The CPU time of a process and its children so far (`PROC_PIDTASKINFO`).
            processes::computed(pid: u32) -> Option<Duration>;
            /// The process that macOS holds responsible for `pid`
            /// (`responsibility_get_pid_responsible_for_pid`), and the absolute path of that
            /// process's executable (`proc_pidpath`). The permissions of that process apply to
            /// `pid`.
            processes::responsible(pid: u32) -> Option<(u32, PathBuf)>;
            /// The process with this pid, if there is one. The start time of another user's process
            /// is 0, because the system does not report it.
            processes::process(pid: u32) -> Option<Process>;
            /// `NSRunningApplication(processIdentifier:)`
            processes::app(pid: u32) -> Option<RunningApp>;
            /// `NSWorkspace.runningApplications`
            processes::apps() -> Vec<RunningApp>;
            /// `NSRunningApplication.activate` with `activateIgnoringOtherApps`.
            processes::activate(pid: u32) -> bool;
            /// Opens an app or document; returns the pid of the app. `LaunchServices` starts it,
            /// without this process's environment.
            processes::launch(launch: &Launch, time: Duration) -> Result<u32, String>;
            /// `NSWorkspace.URLForApplicationWithBundleIdentifier`
            processes::bundle_path(bundle_id: &str) -> Option<PathBuf>;
            /// The folders with apps, most specific first.
            processes::app_folders() -> Vec<PathBuf>;
            /// Runs a system program. Returns its output, standard error included, if it ends in
            /// time.
            tool::tool(program: &str, arguments: &[&str]) -> Option<String>;
            /// `NSRunningApplication.terminate`: asks an app to quit.
            processes::quit(pid: u32) -> bool;
            /// `NSProcessInfo.beginActivity` without an end, so that App Nap does not prolong this
            /// process's waits.
            processes::stay_awake();
            /// A name for this boot and login session.
            processes::session() -> String;

            /// The windows on the screen, front to back (`kCGWindowListOptionOnScreenOnly`).
            screen::windows() -> Vec<ServerWindow>;
            /// All windows, in no order: Apple documents the order only of those on the screen, and
            /// in practice this list is not front to back (trycua/cua #3471). There may be
            /// thousands of windows (`ScrollSnap` #12).
            screen::all_windows() -> Vec<ServerWindow>;
            screen::displays() -> Vec<Display>;
            /// `CGPreflightScreenCaptureAccess`: never prompts.
            pictures::may_capture() -> bool;
            /// `CGRequestScreenCaptureAccess`
            pictures::ask_to_capture();
            /// A picture without shadows, scaled to `shot.pixels` if the system can do that.
            pictures::capture(shot: &Shot, time: Duration) -> Result<Image, String>;

            /// The session of this process; `None` if the system does not report it.
            screen::seat() -> Option<Seat>;
            /// `CGEventSourceCounterForEventType`, summed over presses of keys and buttons. An
            /// event number above this sum is not in use yet.
            events::presses() -> i64;
            events::pointer() -> (f64, f64);
            /// `CGWarpMouseCursorPosition`, without the usual pause after it in which the mouse
            /// does not move the pointer.
            events::warp(to: (f64, f64));
            /// `CGEventPost` at the HID level with this tag: [`TAG`], or 0 when the self-test acts
            /// as the person.
            events::post(event: &Event, tag: i64) -> Result<(), String>;
            /// `CGEventSourceKeyState` of the HID system: the key codes that the person holds.
            events::held_keys() -> Vec<u16>;
            /// `UCKeyTranslate` for all virtual key codes: the characters of a layout's keys. Empty
            /// if the layout cannot be read.
            keyboard::keys(layout: Layout) -> Vec<LayoutKey>;
            /// `TISCopyCurrentKeyboardInputSource`
            keyboard::input_source() -> Option<InputSource>;
            /// `TISSelectInputSource`: selects the source with this id, or if `None`, the layout
            /// for ASCII.
            keyboard::select_source(id: Option<&str>) -> bool;
            /// `CGEventSourceButtonState` of the HID system: whether the person holds a mouse
            /// button.
            events::button_held() -> bool;
            /// `IsSecureEventInputEnabled`: whether keys are hidden from event taps.
            keyboard::secure_input() -> bool;
            /// `kCGSSessionSecureInputPID`: the process that has turned secure input on.
            screen::secure_holder() -> Option<u32>;

            /// Whether `CGEventTapCreate` gives a tap that only listens.
            events::may_tap() -> bool;
            /// `CGEventTapCreate` at the HID level, on its own thread.
            events::tap(judge: Judge) -> Result<Self::Tap, String>;
            /// `NSPasteboard.changeCount`
            pasteboard::pasteboard_changes() -> i64;
            /// The types of each item on the pasteboard (`NSPasteboard.pasteboardItems`).
            pasteboard::pasteboard_types() -> Vec<Vec<String>>;
            /// `NSPasteboardItem.dataForType`. An app that has only promised the data creates it
            /// now, and macOS may ask the person for permission. Fails after `time`.
            pasteboard::pasteboard_data(item: usize, kind: &str, time: Duration)
                -> Result<Option<Vec<u8>>, String>;
            /// Replaces the content of the pasteboard, but not on the person's other devices.
            /// Returns the new `changeCount`.
            pasteboard::pasteboard_write(items: Vec<PasteboardItem>) -> Result<i64, String>;
            /// Like [`Os::pasteboard_write`], with a single item. It has a promised text
            /// (`NSPasteboardItemDataProvider`), and the types `marks` without data.
            pasteboard::pasteboard_promise(text: &str, marks: &[&'static str], asked: Asked)
                -> Result<i64, String>;
            /// Shows exactly these panels.
            panels::overlay(panels: &[Panel]);
        }
    };
}

/// Declares the trait of the calls.
macro_rules! declare {
    ($($(#[$doc:meta])* $file:ident::$name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)?;)*) => {
        /// The system. Each method is one system call, or a few that belong together. No method
        /// waits longer than its `time` argument or, without one, the messaging timeout.
        pub trait Os: Clone + Send + Sync + 'static {
            /// An `AXUIElement`: equal by `CFEqual`, hashed by `CFHash`, retained while it lives.
            type Element: Clone + Eq + Hash + Debug + Send + Sync + 'static;
            /// A registered `AXObserver`; unregistered when dropped.
            type Observer: Send;
            /// A `CGEventTap`; removed when dropped.
            type Tap: Send;

            $($(#[$doc])* fn $name(&self $(, $argument: $kind)*) $(-> $result)?;)*

            /// The value of an attribute, if that is an element.
            fn element(&self, of: &Self::Element, name: &'static str) -> Option<Self::Element> {
                self.attribute(of, name).ok()?.element()
            }
        }
    };
}

calls!(declare);

// This module is declared below the macro `calls`, because it uses that macro.
#[cfg(target_os = "macos")]
#[allow(unsafe_code)]
pub mod apple;

/// The name of a running app.
pub(crate) fn name_of<O: Os>(os: &O, pid: u32) -> Option<String> {
    let name = os.app(pid)?.name;
    Some(name).filter(|name| !name.is_empty())
}
