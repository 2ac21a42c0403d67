//! The calls of UI Automation that Deskline needs: a thin layer without decisions, which only
//! Windows can run. A fake replaces it in tests.

use std::sync::Arc;
use std::time::Duration;

use deskline_contract::Sign;
use deskline_core::WindowId;

pub type Answer<T> = Result<T, Failure>;

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The element does not exist any more (`UIA_E_ELEMENTNOTAVAILABLE`). From an action this can
    /// also be `EVENT_E_ALL_SUBSCRIBERS_FAILED`, which is the same number.
    Gone,
    /// `UIA_E_ELEMENTNOTENABLED`.
    Disabled,
    /// The app runs with more rights than this process (`E_ACCESSDENIED`).
    Denied,
    /// The app did not answer in time.
    TimedOut,
    /// The element lacks the pattern that the call needs.
    Unsupported,
    /// Any other error, with its text.
    Other(String),
}

/// A process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// The name of the executable, without `.exe`.
    pub name: String,
    /// The start time in ticks of 100 ns, as pids are reused.
    pub started: u64,
}

bitflags::bitflags! {
    /// The control patterns that an element has.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub struct Patterns: u32 {
        const INVOKE = 1;
        const TOGGLE = 1 << 1;
        const EXPAND_COLLAPSE = 1 << 2;
        const VALUE = 1 << 3;
        const RANGE_VALUE = 1 << 4;
        const SELECTION_ITEM = 1 << 5;
        const SELECTION = 1 << 6;
        const TEXT = 1 << 7;
        const SCROLL = 1 << 8;
        const SCROLL_ITEM = 1 << 9;
        const GRID = 1 << 10;
        const GRID_ITEM = 1 << 11;
        const VIRTUALIZED_ITEM = 1 << 12;
        const ITEM_CONTAINER = 1 << 13;
        const LEGACY = 1 << 14;
        const WINDOW = 1 << 15;
    }
}

/// The range of a number, and its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    pub value: f64,
    pub low: f64,
    pub high: f64,
    pub read_only: bool,
}

/// The properties of an element as its provider reports them. Properties of patterns that the
/// element lacks have default values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Raw {
    /// Unique among existing elements if the provider is correct; empty if the element has none.
    pub runtime_id: Vec<i32>,
    pub control_type: i32,
    pub class: String,
    /// The toolkit: `Win32`, `WPF`, `Qt`, `Chrome`.
    pub framework: String,
    pub name: String,
    pub help: String,
    /// Left, top, width, height, in physical pixels.
    pub bounds: Option<[f64; 4]>,
    pub offscreen: bool,
    pub enabled: bool,
    pub focused: bool,
    pub focusable: bool,
    pub password: bool,
    /// Whether the element is in the control view, so it is not just a part of a template.
    pub is_control: bool,
    /// The element's own window, if the element is a window.
    pub window: Option<WindowId>,
    pub patterns: Patterns,
    pub value: String,
    pub read_only: bool,
    pub range: Option<Range>,
    /// 0 off, 1 on, 2 mixed.
    pub toggle: i32,
    /// 0 collapsed, 1 expanded, 2 partly expanded, 3 cannot be expanded (leaf).
    pub expand: i32,
    pub selected: bool,
    pub modal: bool,
    /// Row and column, from 0.
    pub cell: (i32, i32),
    /// Rows and columns.
    pub size: (i32, i32),
}

/// How much to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// The element alone.
    Element,
    /// The element and all its descendants, in one request.
    Subtree,
}

/// An element as read by one request.
#[derive(Debug, Clone)]
pub struct Node<E> {
    pub element: E,
    pub raw: Raw,
    /// `None` if the children were not requested.
    pub children: Option<Vec<Self>>,
}

/// The visible part of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    pub text: String,
    /// The number of characters before and after this part.
    pub before: usize,
    pub after: usize,
}

/// An action of a control pattern.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    Invoke,
    Toggle,
    Expand,
    Collapse,
    Select,
    AddToSelection,
    RemoveFromSelection,
    SetValue(String),
    SetRange(f64),
    /// The default action of `LegacyIAccessible`.
    DefaultAction,
    ScrollIntoView,
    Realize,
}

/// Called on a thread of the listener for each event of the app.
pub(crate) type Hear = Arc<dyn Fn(Sign) + Send + Sync>;

/// A subscription to an app's events. It pauses after a minute without a link.
pub(crate) trait Listener: Send {
    /// Goes on listening, also to windows that the app has opened since the last link.
    fn go_on(&self);
}

/// UI Automation. Each call is bounded. If an app does not answer, the call fails with
/// [`Failure::TimedOut`] after at most [`super::fail::PATIENCE`], and delays no call about another
/// app.
pub(crate) trait Uia: Clone + Send + 'static {
    type Element: Clone + Send;
    /// A subscription, which ends when this is dropped.
    type Listener: Listener;

    fn window(&self, window: WindowId, depth: Depth) -> Answer<Node<Self::Element>>;

    /// The element's children.
    fn children(&self, element: &Self::Element) -> Answer<Vec<Node<Self::Element>>>;

    /// The first child, or the child after `after`. For containers that have too many children for
    /// one request.
    fn next(
        &self,
        parent: &Self::Element,
        after: Option<&Self::Element>,
    ) -> Answer<Option<Node<Self::Element>>>;

    /// The element's properties now.
    fn properties(&self, element: &Self::Element) -> Answer<Raw>;

    /// The visible part of the element's text, at most `limit` characters.
    fn visible_text(&self, element: &Self::Element, limit: usize) -> Answer<Part>;

    /// The item with this name in an `ItemContainer`. A virtual item may have no properties before
    /// [`Action::Realize`].
    fn item(&self, container: &Self::Element, name: &str) -> Answer<Option<Self::Element>>;

    /// Carries out an action. [`Failure::TimedOut`] if the app does not return within `time`; the
    /// action may still happen.
    fn act(&self, element: &Self::Element, action: &Action, time: Duration) -> Answer<()>;

    /// Subscribes to the app's events.
    fn listen(&self, pid: u32, hear: Hear) -> Answer<Self::Listener>;
}
