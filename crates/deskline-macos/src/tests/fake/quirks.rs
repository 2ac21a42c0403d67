//! Differences between a real Mac and an ideal one. Each switch is one behaviour with its source; a
//! story in `tests/` turns it on.

use std::collections::HashSet;
use std::time::Duration;

use crate::os::AxError;

/// The switches. If all are off, the Mac does everything at once and loses nothing.
#[derive(Default)]
pub(crate) struct Quirks {
    /// The time that a switch to another Space takes: 0.7 s on a Mac (alt-tab-macos #1324, Apple's
    /// animation). Until then, `AXWindows` lists the old Space's windows.
    pub(crate) animation: Duration,
    /// The system-wide `AXFocusedApplication` names no app, as while a menu has the focus
    /// (Hammerspoon #3799).
    pub(crate) no_focused_app: bool,
    /// A mouse-up in the same turn as its mouse-down is lost: 0 of 15 arrived at 0 ms, 14 at 20 ms,
    /// all at 40 ms. <https://github.com/callstack/agent-device/issues/2716>,
    /// <https://github.com/stablyai/orca/issues/12839>
    pub(crate) loses_quick_ups: bool,
    /// The pointer moves this much later than the event was posted, and a mouse-down before that is
    /// lost (`SwiftAutoGUI` #115).
    pub(crate) late_pointer: Duration,
    /// A drag counts only if each motion has a delta (open-codex-computer-use #53) and the state of
    /// a click (`OpenTabletDriver` #2764), all of its events have one number (deskflow #9991, macOS
    /// 26 and later), above the last one, and the release comes some time after the last motion
    /// (codex #43047: 300 ms are enough).
    pub(crate) strict_drags: bool,
    /// `CGPreflightScreenCaptureAccess` answers no although the grant is there (Peekaboo #94,
    /// screenpipe #3623).
    pub(crate) preflight_lies: bool,
    /// Secure input begins after this many events (a password field takes the focus).
    pub(crate) secure_after: Option<usize>,
    /// The person revokes Accessibility after this many events. From then on a tap that is enabled
    /// swallows all input, the program's and the person's, until it is removed
    /// (cjpais/Handy #1281, yabai #1773).
    pub(crate) revoked_after: Option<usize>,
    /// `AXIsProcessTrusted` still returns true after the person has revoked Accessibility.
    pub(crate) stale_trust: bool,
    /// The system lacks `_AXUIElementGetWindow`.
    pub(crate) no_window_numbers: bool,
    /// `AXFrontmost` brings forward the window that its app had in front last, whatever was raised
    /// while the app was behind (Hammerspoon2 #228, typester/yashiki #171).
    pub(crate) last_key_first: bool,
    /// How long after the request an app comes to the front.
    pub(crate) late_front: Duration,
    /// `AXFrontmost` is refused, but `NSRunningApplication` may activate an app.
    pub(crate) refuses_frontmost: bool,
    pub(crate) activates: bool,
    /// `LaunchServices` may activate a running app.
    pub(crate) opening_activates: bool,
    /// The bounds in the `WindowServer` of windows of apps that are not in front: Stage Manager's
    /// tiles (BetterCmdTab #150, trycua/cua #3631).
    pub(crate) tile: Option<[f64; 4]>,
    /// For an app whose windows are tiles, `AXWindows` is empty (Sanyam-G/switch #99).
    pub(crate) tiles_are_unlisted: bool,
    /// The system-wide element answers no batched call.
    pub(crate) no_system_batch: bool,
    /// How long after an app has come to the front none of its windows takes keys yet: `AppKit`
    /// makes one the key window in a turn of the app's event loop.
    pub(crate) late_key: Duration,
    /// The input method cannot be turned off.
    pub(crate) method_stays: bool,
    /// `replayd` does not answer.
    pub(crate) no_pictures: bool,
    /// How many pictures `replayd` takes and does not deliver (screenpipe #5432, Peekaboo #127).
    pub(crate) lost_pictures: u32,
    /// The accessibility calls that do not answer, by the names of the trait's methods.
    pub(crate) hangs: HashSet<&'static str>,
    /// The screen is locked (`CGSSessionScreenIsLocked`).
    pub(crate) locked: bool,
    /// Another user has the screen (`kCGSSessionOnConsoleKey`).
    pub(crate) another_user: bool,
    /// "When switching to an application, switch to a Space with open windows" is off.
    pub(crate) stays_on_space: bool,
    /// The first event in the menu bar only shows it: in full screen, and if the menu bar hides
    /// itself.
    pub(crate) hides_menu_bar: bool,
    /// The system-wide element finds nothing at any point.
    pub(crate) no_hit_test: bool,
    /// The tap sees no keys: Input Monitoring is not allowed (acsandmann/rift #406).
    pub(crate) tap_without_keys: bool,
    /// Turning an input method on changes only its icon until the focus moves.
    pub(crate) icon_only: bool,
    /// App Nap: each wait of this program takes ten times as long, unless it has begun an activity
    /// (SuperIsland #107).
    pub(crate) naps: bool,
    /// Chromium's page stays as it was while another window covers Chromium's (trycua/cua #1367).
    pub(crate) pauses_covered: bool,
    /// The pointer follows the person's mouse although a tap drops the motions (deskflow #9963).
    pub(crate) drops_still_move: bool,
}

/// How an app builds its tree on request.
#[derive(Clone)]
pub(crate) struct Wakes {
    /// Electron and Chromium wait for 2 s without a further request: Electron's
    /// `AXManualAccessibility` and Chromium's `AXEnhancedUserInterface` are debounced.
    /// <https://github.com/different-ai/openwork/issues/4595>
    pub(crate) after: Duration,
    /// The answer to the request: Electron before 26 returns -25205 but builds the tree.
    /// <https://github.com/electron/electron/issues/38102>
    pub(crate) answers: Option<AxError>,
    /// The only attribute that the app reacts to: browsers react to `AXEnhancedUserInterface` alone
    /// (openstream #10).
    pub(crate) hears: Option<&'static str>,
    /// Whether the page goes when the request is withdrawn. Chrome's page stays, because reading a
    /// role has turned on a basic mode too.
    pub(crate) forgets: bool,
    /// How many requests have no effect.
    pub(crate) deaf: u32,
    /// Whether requests have no effect while the app is behind others.
    pub(crate) deaf_behind: bool,
    /// How long the app does not answer while it builds its tree.
    pub(crate) builds: Duration,
    pub(crate) page: super::Behaviour,
}
