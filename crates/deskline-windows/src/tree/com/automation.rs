//! Starts UI Automation, and converts its errors.

use windows::Win32::Foundation::E_ACCESSDENIED;
use windows::Win32::System::Com::{
    CLSCTX_INPROC_SERVER, COINIT_MULTITHREADED, CoCreateInstance, CoInitializeEx,
};
use windows::Win32::UI::Accessibility::{
    CUIAutomation8, IUIAutomation, IUIAutomation2, IUIAutomationElement, UIA_E_ELEMENTNOTAVAILABLE,
    UIA_E_ELEMENTNOTENABLED, UIA_E_NOTSUPPORTED, UIA_E_TIMEOUT, UIA_PATTERN_ID,
};
use windows::core::{Error, Interface, Result};

use crate::tree::fail::PATIENCE;
use crate::tree::uia::{Answer, Failure};

/// UI Automation, whose calls time out after `PATIENCE`.
pub fn automation() -> Result<IUIAutomation> {
    let limit = u32::try_from(PATIENCE.as_millis()).unwrap_or(u32::MAX);
    // SAFETY: calls of COM with arguments that live long enough.
    unsafe {
        // The thread may be initialised already. Never uninitialise it: elements outlive the thread
        // that has read them, but not the apartment.
        let _ = CoInitializeEx(None, COINIT_MULTITHREADED);
        let automation: IUIAutomation =
            CoCreateInstance(&CUIAutomation8, None, CLSCTX_INPROC_SERVER)?;
        let timed: IUIAutomation2 = automation.cast()?;
        timed.SetConnectionTimeout(limit)?;
        timed.SetTransactionTimeout(limit)?;
        // Without this setting, each action first gives its element the focus, and the element's
        // window may come to the front. The fake UI Automation of the tests lacks the setting.
        let _ = timed.SetAutoSetFocus(false);
        Ok(automation)
    }
}

pub fn failure(error: &Error) -> Failure {
    /// `RPC_E_DISCONNECTED` and `RPC_S_SERVER_UNAVAILABLE`: the process has ended.
    const ENDED: [u32; 2] = [0x8001_0108, 0x8007_06ba];
    match error.code().0 as u32 {
        // A missing pattern is a null pointer without an error.
        0 | UIA_E_NOTSUPPORTED => Failure::Unsupported,
        UIA_E_ELEMENTNOTAVAILABLE => Failure::Gone,
        UIA_E_ELEMENTNOTENABLED => Failure::Disabled,
        UIA_E_TIMEOUT => Failure::TimedOut,
        code if code == E_ACCESSDENIED.0.cast_unsigned() => Failure::Denied,
        code if ENDED.contains(&code) => Failure::Gone,
        code => Failure::Other(format!("{} (0x{code:08x})", error.message().trim())),
    }
}

pub fn answer<T>(result: Result<T>) -> Answer<T> {
    result.map_err(|error| failure(&error))
}

/// A pattern of an element.
pub fn pattern<T: Interface>(element: &IUIAutomationElement, id: UIA_PATTERN_ID) -> Result<T> {
    // SAFETY: a call of COM; the interface belongs to the pattern of the id.
    unsafe { element.GetCurrentPatternAs(id) }
}
