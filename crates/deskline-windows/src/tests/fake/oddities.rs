//! Differences between a real Windows and an ideal one. Each switch turns on one behaviour, and
//! names its source; all are off at first.

#[derive(Debug, Clone, Copy, Default)]
pub struct Oddities {
    /// A request for a whole subtree of a large app times out
    /// (<https://github.com/FlaUI/FlaUI/issues/364>).
    pub subtree_times_out: bool,
    /// A request for all children of a list times out (NVDA's `UIAHandler/utils.py` reads text
    /// ranges in parts for this reason).
    pub long_list_times_out: bool,
    /// Selecting an item of a closed combo box does not choose it (Qt 6 selects the item in the
    /// popup's view).
    pub closed_combo_ignores: bool,
    /// `AddToSelection` fails in a single-selection container (Microsoft's documentation of
    /// `ISelectionItemProvider::AddToSelection`).
    pub single_selection: bool,
    /// `SetValue` succeeds, but the field keeps its text
    /// (<https://github.com/pywinauto/pywinauto/issues/1140>).
    pub ignores_values: bool,
    /// `Invoke` returns only when the dialog that it opened is closed (against Microsoft's remarks
    /// on `IInvokeProvider::Invoke`).
    pub invoke_blocks: bool,
    /// `SetForegroundWindow` is refused unless the last input event was this process's: the
    /// foreground lock, whose time has not run out
    /// (<https://learn.microsoft.com/windows/win32/api/winuser/nf-winuser-setforegroundwindow>).
    pub foreground_lock: bool,
    /// `SetForegroundWindow` is refused even if the last event was this process's: a menu is open,
    /// or the process in front has called `LockSetForegroundWindow` (the same page). The call
    /// succeeds all the same: the button in the taskbar flashes.
    pub foreground_held: bool,
    /// A restored window comes up on a monitor with twice the scale: `WM_DPICHANGED`, after which
    /// the app lays itself out anew
    /// (<https://learn.microsoft.com/windows/win32/hidpi/wm-dpichanged>).
    pub rescales: bool,
    /// The same happens as soon as the window is in front: the person drags it, or a monitor was
    /// plugged in.
    pub rescales_in_front: bool,
    /// Actions fail with `EVENT_E_ALL_SUBSCRIBERS_FAILED`, which is also
    /// `UIA_E_ELEMENTNOTAVAILABLE`, although they were carried out, as in Qt
    /// (<https://github.com/pywinauto/pywinauto/issues/1453>).
    pub events_fail: bool,
    /// Providers of a program with more rights deny access (`E_ACCESSDENIED`,
    /// <https://github.com/yinkaisheng/Python-UIAutomation-for-Windows/issues/109>).
    pub denies_access: bool,
}
