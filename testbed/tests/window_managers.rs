//! Input under each window manager: a click and a text go into a window behind the person's, and
//! the person's window is restored; otherwise an error names the reason within 2 s.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use deskline_testbed::{App, Bed, Client, Running, Toolkit, until};
use serde_json::json;

/// The window managers with their arguments. Those that tile come last, because windows keep their
/// new size.
const MANAGERS: [(&str, &[&str]); 10] = [
    ("openbox", &[]),
    ("marco", &[]),
    ("mutter", &["--x11"]),
    ("kwin_x11", &[]),
    ("icewm", &[]),
    ("fluxbox", &[]),
    ("awesome", &[]),
    ("i3", &["-c", "/dev/null"]),
    ("dwm", &[]),
    // The configuration of bspwm is a program.
    ("bspwm", &["-c", "/bin/true"]),
];

/// The window managers that do not manage all windows that existed before they started.
const ADOPTING_NOT_ALL: [&str; 2] = ["marco", "bspwm"];

/// The window managers that let no program bring a window to the front.
const IGNORING: [&str; 1] = ["dwm"];

/// A folder of programs for the window managers.
const TOOLS: &str = "tools";

/// The maximum time until an answer with an error.
const SOON: Duration = Duration::from_secs(2);

/// Starts a window manager.
fn start(bed: &Bed, program: &str, args: &[&str]) -> Running {
    let log = || File::create(bed.path(program)).unwrap();
    let mut command = bed.command(program);
    let path = format!("{}:/usr/bin:/bin", bed.path(TOOLS).display());
    let command = command.args(args).env("PATH", path).stdin(Stdio::null());
    Running(command.stdout(log()).stderr(log()).spawn().unwrap())
}

/// The window with the input focus, once one has it.
fn focused(bed: &Bed) -> u32 {
    until("a focus", || {
        // This fails while the root has the focus, for a moment between two windows.
        let output = bed.command("xdotool").arg("getwindowfocus").output();
        let window = String::from_utf8(output.unwrap().stdout).unwrap();
        window.trim().parse().ok().filter(|window| *window > 1)
    })
}

/// The person clicks their own window, which then has the focus. Without a window manager, it is
/// given the focus directly.
fn takes_front(bed: &Bed, own: &App<'_>, managed: bool) {
    if !managed {
        let id = own.window.id.to_string();
        bed.run(
            "xdotool",
            &["windowraise", &id, "windowfocus", "--sync", &id],
        );
        return;
    }
    until("the person's window", || {
        let (x, y, w, h) = bed.screen().windows_of(own.pid).pop()?.bounds;
        // Nothing in the window's corner reacts to a click.
        let x = x + w.cast_signed() - 8;
        let y = y + h.cast_signed() - 8;
        let click = ["mousemove", &x.to_string(), &y.to_string(), "click", "1"];
        bed.run("xdotool", &click);
        (bed.screen().front() == own.window.id).then_some(())
    });
}

fn goes_behind(bed: &Bed, server: &Client, [app, own]: [&App<'_>; 2], manager: &str) {
    app.clear_log();
    let own_has_focus = || (focused(bed) == own.window.id).then_some(());
    until(&format!("the focus under {manager}"), own_has_focus);
    let pointer = bed.screen().pointer();
    let text = format!("under {manager}");
    let call = json!({"pid": app.pid, "element": "Name", "role": "AXTextField", "text": text});
    let start = Instant::now();
    let answer = server.call("click_and_traverse", call);
    let took = start.elapsed();
    println!(
        "{manager}: {took:?} {}",
        answer.text.lines().nth(1).unwrap_or_default()
    );
    if IGNORING.contains(&manager) {
        assert!(answer.error().contains(manager), "{answer}");
        assert!(took < SOON, "{took:?}");
        assert!(
            app.log().iter().all(|line| !line.starts_with("text")),
            "{:?}",
            app.log()
        );
    } else {
        answer.ok();
        until(&text, || {
            let log = app.log();
            let holds = |line: &String| line.starts_with("text Name") && line.contains(&text);
            log.iter().any(holds).then_some(())
        });
    }
    until(
        &format!("the person's focus under {manager}"),
        own_has_focus,
    );
    assert_eq!(bed.screen().pointer(), pointer);
    assert_ne!(own.pid, app.pid);
}

/// The app's window, and the person's.
fn windows(bed: &Bed) -> [App<'_>; 2] {
    let app = bed.widgets(Toolkit::Gtk3);
    let own = bed.windows("gtk3", &[], &["Mine|Mine|300x200+1200+700"]);
    [app, own]
}

#[test]
fn text_reaches_a_window_behind_the_persons_under_each_window_manager() {
    let bed = Bed::with_other_managers(&[]);
    // fluxbox opens a dialog if no program sets a wallpaper. The dialog takes the focus from the
    // person's window, on a busy machine during the link.
    fs::create_dir(bed.path(TOOLS)).unwrap();
    symlink("/bin/true", bed.path(TOOLS).join("fbsetbg")).unwrap();
    let server = bed.server(&[]);
    let old = windows(&bed);
    let [app, own] = &old;
    // xfwm4, with the focus following the pointer.
    let sloppy = [
        "-c",
        "xfwm4",
        "-p",
        "/general/click_to_focus",
        "-n",
        "-t",
        "bool",
        "-s",
        "false",
    ];
    bed.run("xfconf-query", &sloppy);
    takes_front(&bed, own, true);
    goes_behind(&bed, &server, [app, own], "xfwm4 with sloppy focus");
    bed.end_manager();
    let supported = || bed.run("xprop", &["-root", "_NET_SUPPORTED"]);
    for (manager, args) in MANAGERS {
        // The last window manager has returned its windows to the root.
        bed.run("xprop", &["-root", "-remove", "_NET_ACTIVE_WINDOW"]);
        bed.run("xprop", &["-root", "-remove", "_NET_SUPPORTED"]);
        let mut running = start(&bed, manager, args);
        until(manager, || {
            // The X server may not have noticed yet that the previous window manager has ended.
            if running.0.try_wait().unwrap().is_some() {
                running = start(&bed, manager, args);
            }
            supported().contains("_NET_ACTIVE_WINDOW").then_some(())
        });
        let new = ADOPTING_NOT_ALL.contains(&manager).then(|| windows(&bed));
        let [app, own] = new.as_ref().unwrap_or(&old);
        takes_front(&bed, own, true);
        goes_behind(&bed, &server, [app, own], manager);
    }
    let [app, own] = &old;
    until("no window manager", || {
        bed.run("xprop", &["-root", "-remove", "_NET_SUPPORTED"]);
        Some(())
    });
    takes_front(&bed, own, false);
    goes_behind(&bed, &server, [app, own], "no window manager");
}

/// A window manager that ends takes its frames from the windows, and one that starts puts frames
/// around them: they move, in the middle of a call too.
#[test]
fn a_window_that_moves_during_a_call_still_gets_the_calls_input() {
    /// By how much later each turn changes the window manager.
    const LATER: Duration = Duration::from_millis(30);
    let turns: u32 = std::env::var("DESKLINE_TURNS").map_or(12, |turns| turns.parse().unwrap());
    let bed = Bed::with_other_managers(&[]);
    let server = bed.server(&[]);
    let app = bed.windows("gtk3", &[], &["A|Subject|300x240+20+40"]);
    let own = bed.windows("gtk3", &[], &["B|Mine|300x240+900+40"]);
    bed.end_manager();
    let mut manager: Option<Running> = None;
    let mut done = [0, 0];
    for turn in 0..turns {
        app.clear_log();
        takes_front(&bed, &own, manager.is_some());
        let types = turn / 2 % 2 == 0;
        let token = format!("token{turn}.");
        let (element, role) = if types {
            ("Note A", "AXTextField")
        } else {
            ("Push A", "AXButton")
        };
        let mut call = json!({"pid": app.pid, "element": element, "role": role});
        if types {
            call["text"] = token.clone().into();
        }
        let before = manager.take();
        let (answer, after) = thread::scope(|scope| {
            let changes = scope.spawn(|| {
                thread::sleep(LATER * (turn % 14));
                match before {
                    None => Some(start(&bed, "xfwm4", &["--compositor=off"])),
                    Some(mut ends) => {
                        bed.run("kill", &[&ends.id().to_string()]);
                        ends.0.wait().unwrap();
                        None
                    }
                }
            });
            let answer = server.call("click_and_traverse", call);
            (answer, changes.join().unwrap())
        });
        manager = after;
        done[usize::from(answer.is_error)] += 1;
        let own_kind = if types { "text A " } else { "pushed A" };
        let has = |line: &String| line.starts_with(own_kind) && (!types || line.contains(&token));
        if !answer.is_error {
            until(&format!("{turn}: {answer}"), || app.log().iter().any(has));
        }
        assert!(
            app.log().iter().all(|line| line.starts_with(own_kind)),
            "{turn}: {:?} {answer}",
            app.log()
        );
        assert_eq!(own.log(), [""; 0], "{turn}: {answer}");
        if answer.is_error {
            println!("{turn}: {}", answer.error());
            bed.run("xdotool", &["key", "Escape"]);
        }
        until("the window manager", || {
            let is_there = bed
                .run("xprop", &["-root", "_NET_SUPPORTING_WM_CHECK"])
                .contains("window id");
            (manager.is_none() || is_there && !bed.screen().windows_of(own.pid).is_empty())
                .then_some(())
        });
    }
    println!("{} of {turns} calls succeeded", done[0]);
}
