//! KWin's windows and its pointer, as reported by our script.

use deskline_contract::{Error, Result};
use deskline_core::{Point, Rect};
use serde::Deserialize;

use super::script::Scripts;
use crate::listed::{Listed, ListedWindow};

/// Reports the windows, frontmost first, and the pointer. Truncates titles, which are hostile data.
/// Omits on-screen displays, which take no input.
/// Uses the names of Plasma 6; [`BOTH`] handles the differences of Plasma 5.
const LIST: &str = "
function box(r) { return [r.x, r.y, r.width, r.height].map(Math.round); }
say(JSON.stringify({
    pointer: [workspace.cursorPos.x, workspace.cursorPos.y].map(Math.floor), desktop: shown(),
    screens: screens().map(box),
    windows: stacked().filter(w => !w.deleted && !w.onScreenDisplay).reverse().map(w => ({
        uuid: String(w.internalId), pid: Math.max(w.pid, 0), title: String(w.caption).slice(0, 4000),
        frame: box(w.frameGeometry), content: box(content(w)), buffer: box(w.bufferGeometry),
        native: !String(w).startsWith('KWin::X11Window'), focused: w.active, minimised: w.minimized,
        workspace: here(w) ? 0 : number(w),
        visible: !w.minimized && !w.hidden && (w.onAllDesktops || here(w)),
        modal: w.modal, kind: kind(w)
    }))
}));";

/// The differences between Plasma 5 and 6. Plasma 5 does not report the bounds of the content. If a
/// window has KWin's border, its buffer is its content; other buffers include the shadow.
const BOTH: &str = "
const old = workspace.windowList === undefined;
function shown() { return old ? workspace.currentDesktop : workspace.currentDesktop.x11DesktopNumber; }
function number(w) { return old ? w.x11DesktopIds[0] : w.desktops[0].x11DesktopNumber; }
function all() { return old ? workspace.clientList() : workspace.windowList(); }
function stacked() {
    return old ? all().sort((a, b) => a.stackingOrder - b.stackingOrder) : workspace.stackingOrder;
}
function screens() {
    if (!old) return workspace.screens.map(s => s.geometry);
    const numbers = [...Array(workspace.numScreens).keys()];
    return numbers.map(n => workspace.clientArea(KWin.ScreenArea, n, workspace.currentDesktop));
}
function content(w) {
    if (!old) return w.clientGeometry;
    const [f, b] = [w.frameGeometry, w.bufferGeometry];
    return b.width <= f.width && b.height <= f.height ? b : f;
}
// The menus of Plasma's panel are windows, which close as pop-ups do.
function kind(w) {
    if (w.tooltip || w.splash) return 'other';
    if (w.popupWindow || w.appletPopup) return 'popup';
    if (w.dock) return 'panel';
    if (w.notification || w.criticalNotification) return 'notification';
    if (w.desktopWindow) return 'desktop';
    return w.managed ? 'toplevel' : 'other';
}
function here(w) {
    if (old) return w.x11DesktopIds.length === 0 || w.x11DesktopIds.includes(workspace.currentDesktop);
    return w.desktops.length === 0 || w.desktops.some(d => d.id === workspace.currentDesktop.id);
}
";

/// Brings the window with this id to the front, from any desktop.
pub(super) const RAISE: &str = "
const it = all().find(w => String(w.internalId) === ID);
if (it) {
    it.minimized = false;
    if (old) { workspace.activeClient = it; } else { workspace.activeWindow = it; workspace.raiseWindow(it); }
}
say(it ? 'yes' : 'no');";

/// Shows the desktop with this number.
const SHOW: &str = "
const it = old ? NUMBER : workspace.desktops.find(d => d.x11DesktopNumber === NUMBER);
if (it) workspace.currentDesktop = it;
say(it && shown() === NUMBER ? 'yes' : 'no');";

/// Minimises the window with this id.
pub(super) const MINIMISE: &str = "
const it = all().find(w => String(w.internalId) === ID);
if (it) it.minimized = true;
say(it ? 'yes' : 'no');";

/// A window, with KWin's UUID for it. The window's `id` is made of 63 bits of the UUID.
pub(super) type KdeWindow = Listed<String>;

/// All windows, frontmost first, and the pointer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Screen {
    pub(super) pointer: Point,
    /// The current desktop, counted from 1.
    pub(super) desktop: u32,
    pub(super) screens: Vec<Rect>,
    pub(super) windows: Vec<KdeWindow>,
}

#[derive(Deserialize)]
struct Listing {
    pointer: [i32; 2],
    desktop: u32,
    screens: Vec<[i32; 4]>,
    windows: Vec<Reported>,
}

#[derive(Deserialize)]
struct Reported {
    uuid: String,
    #[serde(flatten)]
    window: ListedWindow,
}

impl Screen {
    pub(super) fn look(scripts: &mut Scripts) -> Result<Self> {
        Self::read(&scripts.run(&format!("{BOTH}{LIST}"))?)
    }

    fn read(listed: &str) -> Result<Self> {
        let listed: Listing =
            serde_json::from_str(listed).map_err(Error::system("listing KWin's windows"))?;
        let [x, y] = listed.pointer;
        Ok(Self {
            pointer: Point { x, y },
            desktop: listed.desktop,
            screens: listed.screens.into_iter().map(rect).collect(),
            windows: listed.windows.into_iter().filter_map(window).collect(),
        })
    }

    pub(super) fn active(&self) -> Option<&KdeWindow> {
        self.windows.iter().find(|w| w.focused)
    }

    /// The frontmost window at this point. Shadows receive no clicks.
    pub(super) fn at(&self, at: Point) -> Option<&KdeWindow> {
        let mut windows = self.windows.iter();
        windows.find(|w| w.visible && w.frame.contains(at))
    }
}

/// Runs [`RAISE`] or [`MINIMISE`] on a window. `false` if the window is gone.
pub(super) fn done_to(scripts: &mut Scripts, window: &KdeWindow, script: &str) -> Result<bool> {
    // The id needs no quoting: `number` accepts only hexadecimal digits, dashes and braces.
    let answer = scripts.run(&format!("const ID = '{}';{BOTH}{script}", window.own))?;
    Ok(answer == "yes")
}

/// Switches to the desktop with this number. `false` if that failed.
pub(super) fn show_desktop(scripts: &mut Scripts, number: u32) -> Result<bool> {
    Ok(scripts.run(&format!("const NUMBER = {number};{BOTH}{SHOW}"))? == "yes")
}

fn window(Reported { uuid, mut window }: Reported) -> Option<KdeWindow> {
    window.id = number(&uuid)?;
    Some(Listed { window, own: uuid })
}

fn rect([x, y, w, h]: [i32; 4]) -> Rect {
    Rect { x, y, w, h }
}

/// The first half of a UUID in braces, which is random. Its highest bit is cleared, because that
/// bit marks windows that no display system lists.
fn number(uuid: &str) -> Option<u64> {
    let inner = uuid.strip_prefix('{')?.strip_suffix('}')?;
    let digits: String = inner.chars().filter(|c| *c != '-').collect();
    let all = digits.len() == 32 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    let number = u64::from_str_radix(digits.get(..16)?, 16);
    number
        .ok()
        .filter(|_| all)
        .map(|number| number & u64::MAX >> 1)
}

#[cfg(test)]
mod tests {
    use deskline_contract::Place;

    use super::*;
    use crate::listed::{Kind, toplevels};

    fn listed(windows: &[KdeWindow]) -> Vec<ListedWindow> {
        windows.iter().map(|w| w.window.clone()).collect()
    }

    const LISTING: &str = r#"{"pointer":[12,34],"desktop":1,"screens":[[0,0,1600,900]],"windows":[
        {"uuid":"{55418827-421c-48c8-816c-36e80d97e385}","pid":98,"title":"menu","frame":[700,400,80,60],
         "content":[700,400,80,60],"buffer":[690,390,100,80],"native":true,"focused":false,
         "minimised":false,"workspace":0,"visible":true,"modal":false,"kind":"popup"},
        {"uuid":"{c75754f1-3afa-4b47-9fb4-23343e81a52e}","pid":100,"title":"Calculator","frame":[620,142,360,616],
         "content":[620,142,360,616],"buffer":[559,87,482,738],"native":true,"focused":true,
         "minimised":false,"workspace":0,"visible":true,"modal":false,"kind":"toplevel"},
        {"uuid":"{'); quit(); ('}","pid":0,"title":"forged","frame":[0,0,1600,900],
         "content":[0,0,1600,900],"buffer":[0,0,1600,900],"native":false,"focused":true,
         "minimised":false,"workspace":0,"visible":true,"modal":false,"kind":"toplevel"}]}"#;

    #[test]
    fn windows_are_read_as_the_script_lists_them() {
        let screen = Screen::read(LISTING).unwrap();
        assert_eq!(screen.pointer, Point { x: 12, y: 34 });
        assert_eq!(screen.windows.len(), 2, "an id that is no UUID is dropped");
        let front = screen.active().unwrap();
        assert_eq!(
            (front.id, front.pid, front.native),
            (0x4757_54f1_3afa_4b47, 100, true)
        );
        assert_eq!(screen.at(Point { x: 710, y: 410 }).unwrap().title, "menu");
        // In the menu's shadow: the window below receives the click.
        assert_eq!(screen.at(Point { x: 695, y: 395 }).unwrap().pid, 100);
        assert!(screen.at(Point { x: 600, y: 100 }).is_none());
        let kinds: Vec<Kind> = screen.windows.iter().map(|w| w.kind).collect();
        assert_eq!(kinds, [Kind::Popup, Kind::Toplevel]);
    }

    /// As KWin 6.3 lists plasmashell's windows, with the desktop in front.
    #[test]
    fn parts_of_the_desktop_are_listed_after_windows_that_take_keys() {
        let of = |n: u8, kind: &str, focused: bool| {
            format!(
                r#"{{"uuid":"{{0000000{n}-0000-4000-8000-000000000000}}","pid":7,"title":"","frame":[0,0,9,9],
                "content":[0,0,9,9],"buffer":[0,0,9,9],"native":true,"focused":{focused},"minimised":false,
                "workspace":0,"visible":true,"modal":false,"kind":"{kind}"}}"#
            )
        };
        let windows = [
            of(1, "other", false),
            of(2, "notification", false),
            of(3, "panel", false),
            of(4, "desktop", true),
            of(5, "toplevel", false),
        ];
        let listing = format!(
            r#"{{"pointer":[0,0],"desktop":1,"screens":[],"windows":[{}]}}"#,
            windows.join(",")
        );
        let windows = listed(&Screen::read(&listing).unwrap().windows);
        let number = |id: deskline_contract::WindowId| id.0 >> 32;
        let listed = toplevels(&windows).into_iter();
        let places: Vec<_> = listed.map(|w| (number(w.id), w.place)).collect();
        let parts = [
            (5, Place::App),
            (2, Place::Notification),
            (3, Place::Panel),
            (4, Place::Desktop),
        ];
        assert_eq!(places, parts);
    }
}
