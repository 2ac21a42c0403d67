//! The trees of apps: reading them, listening for changes, and acting on elements through the
//! accessibility API. Every backend has this part.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use deskline_core::{ElementId, Point, Rect, Tree, WindowId};
use deskline_input::clock;

use crate::display::Window;
use crate::error::{QuietAction, Result};

/// How much of an app a traversal reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scope {
    /// Visible nodes completely, then the rest within the budget.
    Whole {
        /// The time for hidden nodes.
        budget: Duration,
    },
    /// The app is read again, and Deskline listens to its events. A hidden node may be reused from
    /// the last reading, of this link or the one before, unless an event has invalidated it since.
    Again {
        /// The time for hidden nodes.
        budget: Duration,
    },
    /// Visible nodes only.
    #[default]
    Showing,
}

/// The kind of input that was sent to an app. The app's tree shows the effect after a time that
/// depends on the kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// The wheel, or a key that scrolls.
    Scroll,
    /// Text and other keys.
    Keys,
}

/// What an app reports at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hit {
    /// The topmost element at the point, as an index into the tree.
    Topmost(usize),
    /// The topmost element by the order of the tree, and so only as recent as the tree.
    InOrder(usize),
    /// Something that contains the element. The toolkit does not know what is on top there.
    Around,
    /// Something that is not in the tree, and is no part of the element.
    Unlisted,
    /// The element has moved since the tree was read.
    Moved,
    /// The app does not know yet: ask again in a few milliseconds.
    Later,
    /// The toolkit does not know what lies over what.
    Unknown,
}

/// What is done to an element through the accessibility API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed<'t> {
    ScrollIntoView,
    /// Gives the element the focus.
    Focus,
    Press,
    SetValue(&'t str),
    /// Selects the choice with exactly this text in a combo box or list, or presses it in a menu.
    Choose(&'t str),
    /// Selects or deselects.
    SetSelected(bool),
}

impl Deed<'_> {
    /// The deed's name in errors.
    pub fn action(self) -> QuietAction {
        match self {
            Self::ScrollIntoView => QuietAction::ScrollIntoView,
            Self::Focus | Self::Press => QuietAction::Press,
            Self::SetValue(_) | Self::Choose(_) => QuietAction::SetValue,
            Self::SetSelected(_) => QuietAction::SetSelected,
        }
    }
}

/// The kinds of input that an element takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Takes {
    /// Whether the element takes a press, through an action of its own.
    pub press: bool,
    /// Whether an action of the element switches it on and off.
    pub toggle: bool,
    /// Whether the element takes the focus, or has a key of its own.
    pub keys: bool,
}

/// A sign that an app has changed: an event, or a difference between two readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sign {
    /// The focus, the active window or a caret has moved, or a button is held down. Raising,
    /// focusing and clicking alone cause such signs.
    Focus,
    /// Any other change.
    Change,
}

/// The strongest sign since the last wait. The threads that listen to an app report the signs here.
#[derive(Debug, Default)]
pub struct Signs {
    heard: Mutex<Option<Sign>>,
    rings: Condvar,
}

impl Signs {
    pub fn hear(&self, sign: Sign) {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        *heard = (*heard).max(Some(sign));
        self.rings.notify_all();
    }

    /// Waits for a sign, for at most `time`.
    pub fn wait(&self, time: Duration) -> Option<Sign> {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        if heard.is_none() && clock::pass(time) {
            return None;
        }
        let none = |heard: &mut Option<Sign>| heard.is_none();
        let waited = self.rings.wait_timeout_while(heard, time, none);
        waited.unwrap_or_else(PoisonError::into_inner).0.take()
    }
}

/// A visible toplevel, as its app describes it to assistive technology. It is used where a
/// compositor lists no windows, or does not report their processes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AppToplevel {
    /// Stays the same for the life of the toplevel. Has 63 bits: the highest bit marks a stand-in.
    pub id: WindowId,
    /// The app's bus name and the object's path, joined: unique on the bus.
    pub object: String,
    pub pid: u32,
    /// Hostile data.
    pub title: String,
    /// Whether its app reports that the toplevel has the keyboard.
    pub active: bool,
    /// Whether its app has not answered this time. The toplevel is then from the app's last answer.
    pub silent: bool,
    /// Whether the toplevel is GNOME Shell's stage, which has the keyboard in the overview and
    /// while the person switches windows.
    pub shell: bool,
    /// Whether its app reports that the toplevel itself has the focus, and not an element inside
    /// it.
    pub focused: bool,
}

impl AppToplevel {
    pub fn bus_name(&self) -> &str {
        let end = self.object.find('/').unwrap_or(self.object.len());
        &self.object[..end]
    }

    /// The object's path.
    pub fn path(&self) -> &str {
        &self.object[self.bus_name().len()..]
    }

    /// The toplevel as a window. It has no bounds, because apps do not know where their windows
    /// are.
    pub fn window(self) -> Window {
        Window {
            id: self.id,
            pid: Some(self.pid),
            title: self.title,
            ..Window::default()
        }
    }
}

/// The trees of apps. Each method is one bounded step.
///
/// If an app does not answer in time, the methods return
/// [`Error::NotAnswering`](crate::Error::NotAnswering); if its process is gone,
/// [`Error::NoProcess`](crate::Error::NoProcess); if an element refuses,
/// [`Error::Refused`](crate::Error::Refused), to which the link adds the element's name.
pub trait Trees {
    /// One traversal. `visible` is set for the elements that show, narrowed by geometry
    /// ([`Tree::scope_visible`]). The tree maps its toplevels to windows, as far as they are known.
    fn read(&mut self, pid: u32, scope: Scope) -> Result<Tree>;

    /// Starts to listen for changes of this app, and of no other. A backend without events does
    /// nothing here, and the settle step reads once more instead.
    fn listen(&mut self, _pid: u32) -> Result<()> {
        Ok(())
    }

    /// From now on until the link is over, every reading reads this toplevel anew. Other toplevels
    /// that nobody sees may be reused from the last reading, unless the scope is [`Scope::Whole`].
    /// The tree lists the reused ones ([`deskline_core::Older`]).
    fn act_in(&mut self, _toplevel: &ElementId) {}

    /// The link is over. Stops listening, or keeps the subscription for the next link and handles
    /// the events in [`Self::idle`] until then.
    fn rest(&mut self) {}

    /// How long after this input the tree of a quiet app may still show the state before the input.
    fn lag(&mut self, _pid: u32, _after: Sent) -> Duration {
        Duration::ZERO
    }

    /// The toolkit of an app that has been read, as far as it is known.
    fn toolkit(&mut self, _pid: u32) -> Option<String> {
        None
    }

    /// Whether the app's toolkit sends no event while elements move.
    fn moves_silently(&mut self, _pid: u32) -> bool {
        false
    }

    /// Whether the last reading may have pages that have faded to other pages since. The toolkit
    /// sends no event for that.
    fn may_fade(&mut self, _pid: u32) -> bool {
        false
    }

    /// From now on until the link is over, only events about `control` are signs of a change.
    /// `false` if the toolkit may switch this control without an event.
    fn watch(&mut self, _control: &ElementId) -> bool {
        false
    }

    /// How long ago this element last became selected or checked, or ceased to be, since the last
    /// click, and whether it was on at any time since then. As far as events tell, and a look at
    /// the element while the button was down.
    fn switched(&mut self, _element: &ElementId) -> Option<(Duration, bool)> {
        None
    }

    /// Whether the last reading of the app had a visible web page that was loading.
    fn is_loading(&mut self, _pid: u32) -> bool {
        false
    }

    /// Whether the app would ignore a press on this element of its last reading now, by a click or
    /// by the element's action. Some toolkits ignore presses in a dialog that has just appeared.
    fn ignores_presses(&mut self, _tree: &Tree, _index: usize) -> bool {
        false
    }

    /// Between links: handles pending events. Returns the time after which to call `idle` again, if
    /// at all. Does not block.
    fn idle(&mut self) -> Option<Duration> {
        None
    }

    /// Waits until the app reports a change, or `time` has passed. Returns the strongest of several
    /// signs. The result is only a hint, because toolkits omit events.
    fn wait_for_change(&mut self, time: Duration) -> Result<Option<Sign>>;

    /// Whether most apps can be asked what lies at a point.
    fn asks_apps(&self) -> bool {
        false
    }

    /// Asks the app what lies at the point `at`, before a click there on element `index` of `tree`.
    /// One bounded step: if the app has to find the answer first, returns [`Hit::Later`].
    fn hit_test(&mut self, _tree: &Tree, _index: usize, _at: Point) -> Result<Hit> {
        Ok(Hit::Unknown)
    }

    /// The bounds on the screen of character `at`, counted from 0, of the text of element `index`
    /// in `tree`. `None` if the toolkit reports no bounds.
    fn character(&mut self, _tree: &Tree, _index: usize, _at: usize) -> Result<Option<Rect>> {
        Ok(None)
    }

    /// The range of the element's number, if it reports one.
    fn range(&mut self, _element: &ElementId) -> Result<Option<(f64, f64)>> {
        Ok(None)
    }

    /// Which kinds of input the element takes, for what is not in the tree.
    fn takes(&mut self, _element: &ElementId) -> Result<Takes> {
        Ok(Takes::default())
    }

    /// Acts on the element through the accessibility API alone. `false` if the toolkit cannot
    /// scroll, or if the app does not report that the choice is selected.
    fn act(&mut self, element: &ElementId, deed: Deed<'_>) -> Result<bool>;
}
