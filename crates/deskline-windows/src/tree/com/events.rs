//! The events of one app, from UI Automation and from the window system (WinEvents). Each of the
//! two has a thread of its own. Handlers only report a sign.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use deskline_contract::Sign;
use deskline_core::WindowId;
use windows::Win32::Foundation::HWND;
use windows::Win32::System::Com::SAFEARRAY;
use windows::Win32::System::Variant::VARIANT;
use windows::Win32::UI::Accessibility::*;
use windows::Win32::UI::WindowsAndMessaging::{
    EVENT_OBJECT_CREATE, EVENT_OBJECT_FOCUS, EVENT_OBJECT_VALUECHANGE, EVENT_SYSTEM_FOREGROUND,
    EVENT_SYSTEM_MENUPOPUPEND, EVENT_SYSTEM_MENUSTART, OBJID_CARET, OBJID_CURSOR,
    WINEVENT_OUTOFCONTEXT, WM_QUIT,
};
use windows::core::{Interface, Ref, Result, implement};

use super::automation::automation;
use super::properties;
use crate::os::{self, messages};
use crate::tree::toplevels::toplevels;
use crate::tree::uia::{self, Answer, Failure, Hear};

/// How long the thread with the WinEvent hooks may take to start.
const STARTS: Duration = Duration::from_secs(1);

/// How long the handlers stay after a link. Not longer, because until then the app has to send them
/// events.
const KEPT: Duration = Duration::from_secs(60);

/// The properties whose changes a tree line shows.
const PROPERTIES: [UIA_PROPERTY_ID; 7] = [
    UIA_NamePropertyId,
    UIA_IsEnabledPropertyId,
    UIA_ValueValuePropertyId,
    UIA_RangeValueValuePropertyId,
    UIA_ToggleToggleStatePropertyId,
    UIA_ExpandCollapseExpandCollapseStatePropertyId,
    UIA_SelectionItemIsSelectedPropertyId,
];

const EVENTS: [UIA_EVENT_ID; 9] = [
    UIA_Invoke_InvokedEventId,
    UIA_MenuOpenedEventId,
    UIA_MenuClosedEventId,
    UIA_Selection_InvalidatedEventId,
    UIA_SelectionItem_ElementSelectedEventId,
    UIA_SelectionItem_ElementAddedToSelectionEventId,
    UIA_SelectionItem_ElementRemovedFromSelectionEventId,
    UIA_Text_TextChangedEventId,
    UIA_LayoutInvalidatedEventId,
];

/// A subscription, which ends when this is dropped.
pub(crate) struct Listener {
    /// The thread with the WinEvent hooks.
    thread: u32,
    /// Announces links to the thread with UI Automation's handlers. Dropping this ends the thread.
    links: Sender<()>,
}

impl uia::Listener for Listener {
    fn go_on(&self) {
        let _ = self.links.send(());
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = messages::post(self.thread, WM_QUIT);
    }
}

pub fn listen(pid: u32, hear: Hear) -> Answer<Listener> {
    let failed = |error: std::io::Error| Failure::Other(error.to_string());
    let (started, starts) = channel();
    let hears = hear.clone();
    let hooks = std::thread::Builder::new().name("window events".into());
    hooks
        .spawn(move || hook(pid, hears, &started))
        .map_err(failed)?;
    let thread = starts.recv_timeout(STARTS);
    let thread = thread.map_err(|_| Failure::Other("no thread for events".into()))?;
    let (links, next) = channel();
    let handlers = std::thread::Builder::new().name("UI Automation events".into());
    // Do not wait for this thread: adding handlers takes as long as the app takes to answer.
    handlers
        .spawn(move || handle(pid, hear, &next))
        .map_err(failed)?;
    Ok(Listener { thread, links })
}

thread_local! {
    static HEAR: RefCell<Option<Hear>> = const { RefCell::new(None) };
}

/// Hooks the WinEvents of the process, until the thread receives `WM_QUIT`.
fn hook(pid: u32, hear: Hear, started: &Sender<u32>) {
    const RANGES: [(u32, u32); 3] = [
        (EVENT_SYSTEM_FOREGROUND, EVENT_SYSTEM_FOREGROUND),
        (EVENT_SYSTEM_MENUSTART, EVENT_SYSTEM_MENUPOPUPEND),
        (EVENT_OBJECT_CREATE, EVENT_OBJECT_VALUECHANGE),
    ];
    HEAR.with(|own| *own.borrow_mut() = Some(hear));
    let thread = messages::queue();
    // SAFETY: the function is in this program; each hook is removed on the thread that set it.
    unsafe {
        let flags = WINEVENT_OUTOFCONTEXT;
        let hooks = RANGES
            .map(|(first, last)| SetWinEventHook(first, last, None, Some(event), pid, 0, flags));
        if started.send(thread).is_ok() {
            messages::serve(|_| false);
        }
        for hook in hooks {
            let _ = UnhookWinEvent(hook);
        }
    }
}

unsafe extern "system" fn event(
    _: HWINEVENTHOOK,
    event: u32,
    _: HWND,
    object: i32,
    _: i32,
    _: u32,
    _: u32,
) {
    if object == OBJID_CURSOR.0 {
        return;
    }
    let sign = match event {
        EVENT_SYSTEM_FOREGROUND | EVENT_OBJECT_FOCUS => Sign::Focus,
        _ if object == OBJID_CARET.0 => Sign::Focus,
        _ => Sign::Change,
    };
    HEAR.with(|hear| {
        if let Some(hear) = &*hear.borrow() {
            hear(sign);
        }
    });
}

/// Adds handlers to the app's toplevels, and at each link to new toplevels. Removes the handlers
/// after [`KEPT`] without a link, and when the listener is dropped.
fn handle(pid: u32, hear: Hear, next: &Receiver<()>) {
    let Ok(automation) = automation() else { return };
    let handler: IUIAutomationEventHandler = Handler { pid, hear }.into();
    let mut known = HashSet::new();
    loop {
        // Ignore errors: WinEvents report most changes too, and events are only hints.
        let _ = add_handlers(&automation, pid, &handler, &mut known);
        let mut link = next.recv_timeout(KEPT);
        if link.is_err() {
            known.clear();
            // SAFETY: a call of COM.
            let _ = unsafe { automation.RemoveAllEventHandlers() };
        }
        if link == Err(RecvTimeoutError::Timeout) {
            link = next.recv().map_err(|_| RecvTimeoutError::Disconnected);
        }
        if link.is_err() {
            return;
        }
    }
}

fn add_handlers(
    automation: &IUIAutomation,
    pid: u32,
    handler: &IUIAutomationEventHandler,
    known: &mut HashSet<WindowId>,
) -> Result<()> {
    // SAFETY: calls of COM with arguments that live long enough.
    unsafe {
        let request = automation.CreateCacheRequest()?;
        request.AddProperty(UIA_ProcessIdPropertyId)?;
        if known.is_empty() {
            let focus: IUIAutomationFocusChangedEventHandler = handler.cast()?;
            let _ = automation.AddFocusChangedEventHandler(&request, &focus);
        }
        for toplevel in toplevels(pid) {
            if !known.insert(toplevel.id) {
                continue;
            }
            let window = os::handle(toplevel.id);
            let Ok(element) = automation.ElementFromHandle(window) else {
                continue;
            };
            let below = TreeScope_Subtree;
            let changes: IUIAutomationStructureChangedEventHandler = handler.cast()?;
            let _ = automation.AddStructureChangedEventHandler(&element, below, None, &changes);
            let properties: IUIAutomationPropertyChangedEventHandler = handler.cast()?;
            let _ = automation.AddPropertyChangedEventHandlerNativeArray(
                &element,
                below,
                None,
                &properties,
                &PROPERTIES,
            );
            for event in EVENTS {
                let _ = automation.AddAutomationEventHandler(event, &element, below, None, handler);
            }
        }
    }
    Ok(())
}

#[implement(
    IUIAutomationEventHandler,
    IUIAutomationFocusChangedEventHandler,
    IUIAutomationStructureChangedEventHandler,
    IUIAutomationPropertyChangedEventHandler
)]
struct Handler {
    pid: u32,
    hear: Hear,
}

impl IUIAutomationEventHandler_Impl for Handler_Impl {
    fn HandleAutomationEvent(&self, _: Ref<IUIAutomationElement>, _: UIA_EVENT_ID) -> Result<()> {
        (self.hear)(Sign::Change);
        Ok(())
    }
}

impl IUIAutomationFocusChangedEventHandler_Impl for Handler_Impl {
    fn HandleFocusChangedEvent(&self, sender: Ref<IUIAutomationElement>) -> Result<()> {
        if sender.as_ref().and_then(properties::process) == Some(self.pid) {
            (self.hear)(Sign::Focus);
        }
        Ok(())
    }
}

impl IUIAutomationStructureChangedEventHandler_Impl for Handler_Impl {
    fn HandleStructureChangedEvent(
        &self,
        _: Ref<IUIAutomationElement>,
        _: StructureChangeType,
        _: *const SAFEARRAY,
    ) -> Result<()> {
        (self.hear)(Sign::Change);
        Ok(())
    }
}

impl IUIAutomationPropertyChangedEventHandler_Impl for Handler_Impl {
    fn HandlePropertyChangedEvent(
        &self,
        _: Ref<IUIAutomationElement>,
        _: UIA_PROPERTY_ID,
        _: &VARIANT,
    ) -> Result<()> {
        (self.hear)(Sign::Change);
        Ok(())
    }
}
