//! Running apps that pose as an allowed one.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use deskline_testbed::{App, Bed};
use serde_json::json;

use crate::trap::Trap;

/// Starts an app that poses as another.
type Start = fn(&Bed, &Trap) -> Command;

/// A window with a button that makes the mark.
fn script(trap: &Trap, name: &str) -> String {
    let (mark, info) = (trap.mark.display(), trap.folder.join("info"));
    // GDK gives its windows no pid in a sandbox that it knows.
    let info = info.display();
    let lines = format!(
        "import ctypes, gi, os, shutil\n\
         ctypes.CDLL(None).prctl(15, b'mousepad')\n\
         gi.require_version('Gtk', '3.0')\n\
         from gi.repository import GLib, Gtk\n\
         GLib.set_prgname('mousepad')\n\
         GLib.set_application_name('mousepad')\n\
         button = Gtk.Button(label='Go')\n\
         button.connect('clicked', lambda _: open('{mark}', 'w'))\n\
         window = Gtk.Window(title='mousepad')\n\
         window.add(button)\n\
         window.show_all()\n\
         if os.path.exists('{info}'): shutil.copy('{info}', '/.flatpak-info')\n\
         Gtk.main()\n"
    );
    trap.file(name, &lines)
}

#[test]
fn nothing_is_done_in_an_app_that_poses_as_an_allowed_one() {
    const PYTHON: &str = "/usr/bin/python3";
    let bed = Bed::new();
    let ways: [(&str, Start); 5] = [
        ("a script of its name", |bed, trap| {
            let mut command = bed.command(PYTHON);
            command.arg(script(trap, "mousepad"));
            command
        }),
        ("another name for itself", |bed, trap| {
            let mut command = bed.command(PYTHON);
            command.arg0("/usr/bin/mousepad").arg(script(trap, "x.py"));
            command
        }),
        ("an executable of its name", |bed, trap| {
            let copy = trap.folder.join("mousepad-x");
            fs::copy(PYTHON, &copy).unwrap();
            let mut command = bed.command(copy);
            command.arg(script(trap, "x.py"));
            command
        }),
        ("a sandbox that says it is Flatpak's", |bed, trap| {
            trap.file("info", "[Application]\nname=org.xfce.mousepad\n");
            let run = format!(
                "mount -t tmpfs x /mnt && cd / && for d in bin dev etc lib lib64 proc root run tmp usr \
                 var; do mkdir /mnt/$d && mount --rbind /$d /mnt/$d || exit; done && \
                 exec chroot /mnt {PYTHON} \"$0\""
            );
            let mut command = bed.command("unshare");
            command
                .args(["--mount", "sh", "-c", &run])
                .arg(script(trap, "x.py"));
            command
        }),
        ("its path in a sandbox", |bed, trap| {
            let run =
                format!("mount --bind {PYTHON} /usr/bin/mousepad && exec /usr/bin/mousepad \"$0\"");
            let mut command = bed.command("unshare");
            command
                .args(["--mount", "sh", "-c", &run])
                .arg(script(trap, "x.py"));
            command
        }),
    ];
    let bounds = ["mousepad", "org.xfce.mousepad", "/usr/bin/mousepad"];
    for (round, bounds) in bounds
        .map(|app| ["--allow-app", app])
        .into_iter()
        .enumerate()
    {
        for (number, (name, way)) in ways.iter().enumerate() {
            let trap = Trap::new(&bed, round * 10 + number);
            let app = App::start_when(&bed, way(&bed, &trap), |w| w.title == "mousepad");
            let server = bed.server(&bounds);
            for (tool, arguments) in [
                (
                    "click_and_traverse",
                    json!({"pid": app.pid, "element": "Go"}),
                ),
                (
                    "press_ax_and_traverse",
                    json!({"pid": app.pid, "element": "Go"}),
                ),
                ("refresh_traversal", json!({"pid": app.pid})),
            ] {
                let answer = server.call(tool, arguments);
                assert!(answer.is_error, "{name}, {bounds:?}, {tool}: {answer}");
            }
            assert!(!trap.mark.exists(), "{name}, {bounds:?}");
        }
    }
}
