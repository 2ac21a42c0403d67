//! Reports what an agent can and cannot do on this Mac, and where to change that. Opens no
//! permission dialog, sends no input, and moves no window.

use deskline_contract::doctor::Check;

use crate::os::{Os, Value, name_of};
use crate::permissions::{self, CAPTURE, Holder};
use crate::{ax, picture, program, windows};

/// The commands that open the panes of System Settings.
const ACCESSIBILITY_PANE: &str =
    "open 'x-apple.systempreferences:com.apple.preference.security?Privacy_Accessibility'";
const CAPTURE_PANE: &str =
    "open 'x-apple.systempreferences:com.apple.preference.security?Privacy_ScreenCapture'";

/// Checks everything that a link needs. `own` is this process's pid.
pub fn examine<O: Os>(os: &O, own: u32) -> Vec<Check> {
    let mut checks = Vec::new();
    let holder = Holder::of(os, own);
    let app = &holder.name;
    let at = holder.path.display();
    let displays = os.displays();
    if displays.is_empty() {
        checks.push(Check::fail(
            "display",
            "there is no display: this process has no login session with a screen",
            "start deskline from an app of the user who is logged in, not over ssh or as a \
            daemon",
        ));
        return checks;
    }
    let described: Vec<String> = displays
        .iter()
        .map(|d| {
            let [x, y, w, h] = d.bounds;
            format!("{w}×{h} at ({x}, {y}), {}×", d.scale)
        })
        .collect();
    checks.push(Check::ok("display", described.join("; ")));

    checks.push(match holder.detour() {
        Some((why, instead)) => Check::warn("responsible", why, instead),
        None => Check::ok("responsible", format!("{app} ({at}) has the permissions")),
    });
    if let Ok(exe) = std::env::current_exe() {
        checks.push(program::check(os, holder.own, &exe));
    }
    let trusted = os.trusted();
    checks.push(if trusted {
        Check::ok("accessibility", format!("{app} is allowed ({at})"))
    } else {
        Check::fail(
            "accessibility",
            format!("{app} ({at}) is not allowed to use Accessibility"),
            format!("{ACCESSIBILITY_PANE}. {}", holder.turn_on("Accessibility")),
        )
    });
    let capture = permissions::may_capture(os);
    let front = windows::front(os);
    checks.push(if !capture {
        Check::warn(
            "screenshot",
            format!("{app} ({at}) is not allowed to record the screen: there are no screenshots"),
            format!("{CAPTURE_PANE}. {}", holder.turn_on(CAPTURE)),
        )
    } else if let Some(front) = front
        .as_ref()
        .filter(|w| w.extents.is_some_and(|place| !place.is_empty()))
    {
        match picture::take(os, front.id) {
            Ok(p) => Check::ok(
                "screenshot",
                format!("{}×{} at {}×", p.width, p.height, p.scale),
            ),
            Err(e) => Check::warn("screenshot", e.to_string(), "agents have only the trees"),
        }
    } else {
        Check::ok("screenshot", format!("{app} is allowed"))
    });
    if trusted {
        checks.push(tree(os, front.and_then(|w| w.pid)));
    }
    checks.push(if os.secure_input() {
        Check::warn(
            "input lock",
            "a password field has the keyboard now: macOS hides what is typed",
            "leave the password field. An app that keeps it on for ever (a terminal's Secure \
             Keyboard Entry) has a menu item for it",
        )
    } else if !trusted {
        Check::warn("input lock", "it needs Accessibility", "see accessibility")
    } else {
        guard(os)
    });
    checks.push(match os.keys(crate::os::Layout::Current).len() {
        0 => Check::warn(
            "keyboard",
            "the keyboard layout cannot be read: shortcuts are pressed by the characters they give",
            "choose a plain layout in System Settings › Keyboard › Input Sources",
        ),
        _ => Check::ok("keyboard", "the layout can be read"),
    });
    checks
}

fn tree<O: Os>(os: &O, front: Option<u32>) -> Check {
    let Some(pid) = front else {
        return Check::warn("tree", "no app is in front", "open an app");
    };
    let app = os.application(pid);
    let name = name_of(os, pid).unwrap_or_default();
    match os.attributes(&app, &["AXRole", "AXWindows"]) {
        Ok(values) => {
            let windows = values.iter().find_map(|v| match v {
                Value::Elements(all) => Some(all.len()),
                _ => None,
            });
            Check::ok(
                "tree",
                format!("{name} answers: {} windows", windows.unwrap_or(0)),
            )
        }
        Err(e) => Check::failed(
            "tree",
            &ax::failed(os, pid, e).to_string(),
            "see which app hangs",
        ),
    }
}

/// Creates a tap that passes everything: the check is whether the system allows one.
fn guard<O: Os>(os: &O) -> Check {
    match os.tap(Box::new(|_| crate::os::Verdict::Pass)) {
        Ok(_) => Check::ok("input lock", "macOS gives an event tap"),
        Err(why) => Check::warn(
            "input lock",
            format!("off: macOS gives no event tap: {why}"),
            "leave keyboard and mouse alone while an agent works",
        ),
    }
}
