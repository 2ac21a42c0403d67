//! UI Automation's client: makes the calls on a thread that is abandoned if a call hangs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use deskline_core::WindowId;
use windows::Win32::System::Variant::VARIANT;
use windows::Win32::UI::Accessibility::{
    IUIAutomation, IUIAutomationCacheRequest, IUIAutomationCondition, IUIAutomationElement,
    IUIAutomationElementArray, IUIAutomationExpandCollapsePattern, IUIAutomationInvokePattern,
    IUIAutomationItemContainerPattern, IUIAutomationLegacyIAccessiblePattern,
    IUIAutomationRangeValuePattern, IUIAutomationScrollItemPattern,
    IUIAutomationSelectionItemPattern, IUIAutomationTogglePattern, IUIAutomationTreeWalker,
    IUIAutomationValuePattern, IUIAutomationVirtualizedItemPattern, TreeScope_Children,
    TreeScope_Element, TreeScope_Subtree, UIA_ExpandCollapsePatternId, UIA_InvokePatternId,
    UIA_ItemContainerPatternId, UIA_LegacyIAccessiblePatternId, UIA_NamePropertyId,
    UIA_RangeValuePatternId, UIA_ScrollItemPatternId, UIA_SelectionItemPatternId,
    UIA_TogglePatternId, UIA_ValuePatternId, UIA_VirtualizedItemPatternId,
};
use windows::core::{BSTR, Error, Result};

use super::automation::{answer, automation, failure, pattern};
use super::{events, properties, text};
use crate::os;
use crate::tree::fail::PATIENCE;
use crate::tree::uia::{Action, Answer, Depth, Failure, Hear, Node, Part, Raw, Uia};

/// How much longer than UI Automation's own time limit to wait for a call.
const MARGIN: Duration = Duration::from_millis(300);

/// The maximum number of threads that may wait for blocked providers.
const MOST_LOST: usize = 32;

/// The number of threads that are in a call. An abandoned thread counts until its call returns.
static LOST: AtomicUsize = AtomicUsize::new(0);

/// # Errors
/// If UI Automation does not start.
pub fn connect() -> deskline_contract::Result<Com> {
    let com = Com::default();
    com.call(PATIENCE, |_| Ok(())).map_err(|failure| {
        deskline_contract::Error::Unavailable(format!(
            "UI Automation does not start ({failure:?}). It is part of Windows 10 and later: \
             restart the session"
        ))
    })?;
    Ok(com)
}

/// An element. UI Automation's client objects may be used from any thread of the multithreaded
/// apartment, and all threads here are in it.
#[derive(Clone)]
pub struct Element(IUIAutomationElement);

// SAFETY: see above.
unsafe impl Send for Element {}

/// UI Automation's objects on their thread.
struct Session {
    automation: IUIAutomation,
    /// Requests the properties of an element.
    one: IUIAutomationCacheRequest,
    /// Requests the properties of an element and of all its descendants.
    whole: IUIAutomationCacheRequest,
    all: IUIAutomationCondition,
    walker: IUIAutomationTreeWalker,
}

type Job = Box<dyn FnOnce(&Answer<Session>) + Send>;

#[derive(Clone, Default)]
pub struct Com {
    thread: Arc<Mutex<Option<Sender<Job>>>>,
}

impl Com {
    /// Makes a call on the thread, for at most `time` and [`MARGIN`].
    fn call<T: Send + 'static>(
        &self,
        time: Duration,
        call: impl FnOnce(&Session) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        if LOST.load(Ordering::Relaxed) >= MOST_LOST {
            return Err(Failure::TimedOut);
        }
        let (answers, answer) = channel();
        let job: Job = Box::new(move |session| {
            let result = match session {
                Ok(session) => call(session),
                Err(failure) => Err(failure.clone()),
            };
            // The caller may have given up.
            let _ = answers.send(result);
        });
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_none() {
            *thread = Some(start()?);
        }
        if let Some(jobs) = thread.as_ref()
            && jobs.send(job).is_err()
        {
            *thread = None;
            return Err(Failure::Other(
                "the thread of UI Automation has ended".into(),
            ));
        }
        let failure = match answer.recv_timeout(time + MARGIN) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) => Failure::TimedOut,
            Err(_) => Failure::Other("a call of UI Automation failed".into()),
        };
        *thread = None;
        Err(failure)
    }

    /// Makes a call about an element.
    fn about<T: Send + 'static>(
        &self,
        element: &Element,
        time: Duration,
        call: impl FnOnce(&Session, &IUIAutomationElement) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        let element = element.clone();
        self.call(time, move |session| {
            // Captures the whole wrapper: without it, the object may not go to another thread.
            let Element(element) = &{ element };
            call(session, element)
        })
    }
}

/// Turns a null pointer without an error into `None`.
fn present<T>(result: Result<T>) -> Answer<Option<T>> {
    match answer(result) {
        Ok(found) => Ok(Some(found)),
        Err(Failure::Unsupported) => Ok(None),
        Err(failure) => Err(failure),
    }
}

fn start() -> Answer<Sender<Job>> {
    let (jobs, todo) = channel::<Job>();
    let run = move || {
        let session = Session::new().map_err(|error| failure(&error));
        while let Ok(job) = todo.recv() {
            // A thread whose job never returns stays counted.
            LOST.fetch_add(1, Ordering::Relaxed);
            job(&session);
            LOST.fetch_sub(1, Ordering::Relaxed);
        }
    };
    std::thread::Builder::new()
        .name("UI Automation".into())
        .spawn(run)
        .map_err(|error| Failure::Other(error.to_string()))?;
    Ok(jobs)
}

impl Session {
    fn new() -> Result<Self> {
        let automation = automation()?;
        // SAFETY: calls of COM.
        unsafe {
            let all = automation.RawViewCondition()?;
            let request = |scope| {
                let request = automation.CreateCacheRequest()?;
                request.SetTreeFilter(&all)?;
                request.SetTreeScope(scope)?;
                for property in properties::ALL {
                    // Fails for properties that are newer than the system.
                    let _ = request.AddProperty(property);
                }
                Ok::<_, Error>(request)
            };
            Ok(Self {
                one: request(TreeScope_Element)?,
                whole: request(TreeScope_Subtree)?,
                walker: automation.RawViewWalker()?,
                all,
                automation,
            })
        }
    }

    /// The node of an element whose properties are cached.
    fn node(element: IUIAutomationElement) -> Node<Element> {
        Node {
            raw: properties::read(&element),
            element: Element(element),
            children: None,
        }
    }

    /// The nodes of an element whose whole subtree is cached.
    fn subtree(root: IUIAutomationElement) -> Node<Element> {
        // No recursion: providers may nest elements to any depth.
        let mut done: Vec<(Node<Element>, Option<usize>)> = vec![(Self::node(root), None)];
        let mut next = 0;
        while next < done.len() {
            let element = &done[next].0.element.0;
            // SAFETY: a call of COM. An element without children has a null array.
            let children = unsafe { element.GetCachedChildren() };
            let children = children.map(|list| elements(&list)).unwrap_or_default();
            let nodes = children
                .into_iter()
                .map(|child| (Self::node(child), Some(next)));
            done.extend(nodes.collect::<Vec<_>>());
            next += 1;
        }
        // Children come after their parent in `done`, so attach them from the end.
        let mut lists: Vec<Vec<Node<Element>>> = done.iter().map(|_| Vec::new()).collect();
        while let Some((mut node, parent)) = done.pop() {
            let mut children = lists.pop().unwrap_or_default();
            children.reverse();
            node.children = Some(children);
            match parent {
                Some(parent) => lists[parent].push(node),
                None => return node,
            }
        }
        unreachable!("the first element has no parent")
    }
}

/// The elements of an array.
fn elements(list: &IUIAutomationElementArray) -> Vec<IUIAutomationElement> {
    // SAFETY: calls of COM.
    unsafe {
        let length = list.Length().unwrap_or_default();
        (0..length)
            .filter_map(|i| list.GetElement(i).ok())
            .collect()
    }
}

fn act(element: &IUIAutomationElement, action: &Action) -> Result<()> {
    macro_rules! the {
        ($pattern:ident $id:ident) => {
            pattern::<$pattern>(element, $id)?
        };
    }
    let expand =
        || pattern::<IUIAutomationExpandCollapsePattern>(element, UIA_ExpandCollapsePatternId);
    let select =
        || pattern::<IUIAutomationSelectionItemPattern>(element, UIA_SelectionItemPatternId);
    // SAFETY: calls of COM with arguments that live long enough.
    unsafe {
        match action {
            Action::Invoke => the!(IUIAutomationInvokePattern UIA_InvokePatternId).Invoke(),
            Action::Toggle => the!(IUIAutomationTogglePattern UIA_TogglePatternId).Toggle(),
            Action::Expand => expand()?.Expand(),
            Action::Collapse => expand()?.Collapse(),
            Action::Select => select()?.Select(),
            Action::AddToSelection => select()?.AddToSelection(),
            Action::RemoveFromSelection => select()?.RemoveFromSelection(),
            Action::SetValue(value) => {
                the!(IUIAutomationValuePattern UIA_ValuePatternId).SetValue(&BSTR::from(value))
            }
            Action::SetRange(value) => {
                the!(IUIAutomationRangeValuePattern UIA_RangeValuePatternId).SetValue(*value)
            }
            Action::DefaultAction => {
                let pattern =
                    the!(IUIAutomationLegacyIAccessiblePattern UIA_LegacyIAccessiblePatternId);
                pattern.DoDefaultAction()
            }
            Action::ScrollIntoView => {
                the!(IUIAutomationScrollItemPattern UIA_ScrollItemPatternId).ScrollIntoView()
            }
            Action::Realize => {
                the!(IUIAutomationVirtualizedItemPattern UIA_VirtualizedItemPatternId).Realize()
            }
        }
    }
}

impl Uia for Com {
    type Element = Element;
    type Listener = events::Listener;

    fn window(&self, window: WindowId, depth: Depth) -> Answer<Node<Element>> {
        self.call(PATIENCE, move |session| {
            let window = os::handle(window);
            // SAFETY: calls of COM.
            let element = |request| unsafe {
                answer(
                    session
                        .automation
                        .ElementFromHandleBuildCache(window, request),
                )
            };
            Ok(match depth {
                Depth::Element => Session::node(element(&session.one)?),
                Depth::Subtree => Session::subtree(element(&session.whole)?),
            })
        })
    }

    fn children(&self, element: &Element) -> Answer<Vec<Node<Element>>> {
        self.about(element, PATIENCE, |session, element| {
            let (all, request) = (&session.all, &session.one);
            // SAFETY: a call of COM.
            let list = unsafe { element.FindAllBuildCache(TreeScope_Children, all, request) };
            // An element without children may have a null array.
            let list = present(list)?.map(|list| elements(&list));
            Ok(list.into_iter().flatten().map(Session::node).collect())
        })
    }

    fn next(&self, parent: &Element, after: Option<&Element>) -> Answer<Option<Node<Element>>> {
        let after = after.cloned();
        self.about(parent, PATIENCE, move |session, parent| {
            let (walker, request) = (&session.walker, &session.one);
            // SAFETY: calls of COM.
            let next = unsafe {
                match &after {
                    None => walker.GetFirstChildElementBuildCache(parent, request),
                    Some(Element(after)) => walker.GetNextSiblingElementBuildCache(after, request),
                }
            };
            Ok(present(next)?.map(Session::node))
        })
    }

    fn properties(&self, element: &Element) -> Answer<Raw> {
        self.about(element, PATIENCE, |session, element| {
            // SAFETY: a call of COM.
            let fresh = unsafe { element.BuildUpdatedCache(&session.one) };
            Ok(properties::read(&answer(fresh)?))
        })
    }

    fn visible_text(&self, element: &Element, limit: usize) -> Answer<Part> {
        self.about(element, PATIENCE, move |_, element| {
            answer(text::visible(element, limit))
        })
    }

    fn item(&self, container: &Element, name: &str) -> Answer<Option<Element>> {
        let name = name.to_owned();
        self.about(container, PATIENCE, move |_, container| {
            let pattern: IUIAutomationItemContainerPattern =
                answer(pattern(container, UIA_ItemContainerPatternId))?;
            let name = VARIANT::from(name.as_str());
            let none = None::<&IUIAutomationElement>;
            // SAFETY: a call of COM with arguments that live long enough.
            let item = unsafe { pattern.FindItemByProperty(none, UIA_NamePropertyId, &name) };
            Ok(present(item)?.map(Element))
        })
    }

    fn act(&self, element: &Element, action: &Action, time: Duration) -> Answer<()> {
        let action = action.clone();
        self.about(element, time, move |_, element| {
            answer(act(element, &action))
        })
    }

    fn listen(&self, pid: u32, hear: Hear) -> Answer<events::Listener> {
        events::listen(pid, hear)
    }
}
