//! The process whose permissions apply, depending on the process that started the server.

use deskline_contract::doctor::Status;
use deskline_link::Action;

use super::desk::{Desk, has};

/// This process's pid, by which the server's errors name it.
fn own() -> u32 {
    std::process::id()
}

/// Adds a process that is no app.
fn process(desk: &Desk, pid: u32, name: &str, path: &str, parent: u32) {
    let mut world = desk.mac.world();
    world.app(pid, name, path.into());
    let process = world.apps.get_mut(&pid).unwrap();
    process.daemon = true;
    process.parent = parent;
}

/// Terminal starts root's login, which starts the shell, which starts the server.
fn from_terminal() -> Desk {
    let desk = Desk::new();
    let bundle = "/System/Applications/Utilities/Terminal.app";
    desk.mac.world().app(
        500,
        "Terminal",
        format!("{bundle}/Contents/MacOS/Terminal").into(),
    );
    process(&desk, 501, "login", "/usr/bin/login", 500);
    process(&desk, 502, "zsh", "/bin/zsh", 501);
    process(&desk, own(), "deskline", "/usr/local/bin/deskline", 502);
    let mut world = desk.mac.world();
    // PROC_PIDTBSDINFO is refused for root's login.
    world.apps.get_mut(&501).unwrap().of_root = true;
    world.apps.get_mut(&own()).unwrap().responsible = Some(500);
    drop(world);
    desk
}

/// Claude Desktop starts servers through a helper that disclaims responsibility (claude-code
/// #55169).
fn from_claude_desktop() -> Desk {
    let desk = Desk::new();
    desk.mac
        .world()
        .app(500, "Claude", "/Applications/Claude.app".into());
    process(&desk, 501, "disclaimer", "/Applications/Claude.app/d", 500);
    process(&desk, own(), "deskline", "/usr/local/bin/deskline", 501);
    desk
}

/// The doctor's line about Accessibility, and the server's error.
fn said(desk: &mut Desk) -> [String; 2] {
    desk.mac.world().trusted = false;
    let checks = crate::doctor::examine(&desk.mac, own());
    let check = checks.iter().find(|c| c.name == "accessibility").unwrap();
    assert_eq!(check.status, Status::Fail);
    let answer = desk.run(Action::Refresh);
    assert!(answer.is_error, "{}", answer.text);
    [format!("{} {}", check.finding, check.remedy), answer.text]
}

#[test]
fn a_server_started_in_a_terminal_needs_the_terminals_permission() {
    for said in said(&mut from_terminal()) {
        has(
            &said,
            "turn on Terminal (/System/Applications/Utilities/Terminal.app)",
        );
        has(&said, "then restart it");
    }
}

#[test]
fn under_claude_desktop_the_binary_itself_needs_the_permission() {
    for said in said(&mut from_claude_desktop()) {
        assert!(
            said.contains("turn on deskline (/usr/local/bin/deskline)")
                && said.contains("macOS 26.1")
                && said.contains("restart the client that starts it")
                && !said.contains("Claude"),
            "{said}"
        );
    }
}

/// macOS knows an ad-hoc signed binary by its hash: the switch that was turned on for an earlier
/// build still looks on.
#[test]
fn a_stale_permission_is_reported_with_its_remedy() {
    for said in said(&mut from_claude_desktop()) {
        has(&said, "If it is on already");
        has(
            &said,
            "remove deskline with −, add /usr/local/bin/deskline again",
        );
    }
}

/// An app that was signed ad hoc: its switch looks on, and − and + do not help.
#[test]
fn a_stale_permission_of_the_app_is_reset_by_the_apps_id() {
    let mut desk = Desk::new();
    let program = "/Users/me/Applications/Deskline.app/Contents/MacOS/deskline";
    process(&desk, own(), "deskline", program, 1);
    for said in said(&mut desk) {
        has(&said, "tccutil reset Accessibility dev.deskline.deskline");
    }
    desk.given(|world| (world.trusted, world.may_capture) = (true, false));
    let checks = crate::doctor::examine(&desk.mac, own());
    let picture = checks.iter().find(|c| c.name == "screenshot").unwrap();
    has(&picture.remedy, "tccutil reset ScreenCapture dev.deskline");
    // When the switch is turned on, macOS offers to quit and reopen the client. A client that was
    // reopened would not start the server again.
    has(desk.run(Action::Refresh).text, "say Later");
}

#[test]
fn a_process_of_root_is_read_without_its_start_time() {
    use crate::os::Os as _;
    let desk = from_terminal();
    let login = desk.mac.process(501).unwrap();
    assert_eq!((login.parent, login.started), (500, 0));
}

/// The advice is also in the note of an answer, which is cut after a line.
#[test]
fn the_screenshot_advice_names_the_program_that_needs_the_permission() {
    let mut desk = from_claude_desktop();
    desk.mac.world().may_capture = false;
    let checks = crate::doctor::examine(&desk.mac, own());
    let picture = checks.iter().find(|c| c.name == "screenshot").unwrap();
    let answer = desk.run(Action::Refresh);
    for said in [&picture.remedy, &answer.text] {
        has(said, "Screen & System Audio Recording");
        has(said, "deskline (/usr/local/bin/deskline)");
    }
}

/// The doctor's line with this name.
fn doctors(desk: &Desk, pid: u32, name: &str) -> deskline_contract::doctor::Check {
    let checks = crate::doctor::examine(&desk.mac, pid);
    checks.into_iter().find(|c| c.name == name).unwrap()
}

#[test]
fn the_doctor_warns_of_a_permission_given_to_a_runner_such_as_node() {
    let desk = Desk::new();
    let mut world = desk.mac.world();
    world.app(
        900,
        "node",
        "/opt/homebrew/Cellar/node/24.1/bin/node".into(),
    );
    world.app(901, "deskline", "/Users/me/.npm/_npx/ab/deskline".into());
    world.apps.get_mut(&901).unwrap().responsible = Some(900);
    drop(world);
    let check = doctors(&desk, 901, "responsible");
    assert_eq!(check.status, Status::Warn);
    assert!(
        check.finding.contains("every program that it runs"),
        "{check:?}"
    );
    assert!(check.remedy.contains("deskline install"), "{check:?}");
}

/// tmux: the server outlives the terminal that started it.
#[test]
fn a_responsible_terminal_that_has_ended_is_reported() {
    let desk = Desk::new();
    let mut world = desk.mac.world();
    world.app(901, "deskline", "/usr/local/bin/deskline".into());
    world.apps.get_mut(&901).unwrap().responsible = Some(777);
    drop(world);
    let check = doctors(&desk, 901, "responsible");
    assert!(
        check.status == Status::Warn
            && check.finding.contains("pid 777")
            && check.remedy.contains("tmux"),
        "{check:?}"
    );
    let holder = crate::permissions::Holder::of(&desk.mac, 901);
    assert!(holder.turn_on("Accessibility").contains("tmux"));
}

/// The doctor's line about the program at this path, with this signature.
fn program(path: &str, own: bool, signature: &str, mark: &str) -> deskline_contract::doctor::Check {
    let desk = Desk::new();
    let mut world = desk.mac.world();
    let whole = path.split("/Contents").next().unwrap();
    let tools = [
        (
            format!("/usr/bin/xattr -p com.apple.quarantine {whole}"),
            mark,
        ),
        (
            format!("/usr/bin/codesign --display --verbose=2 {whole}"),
            signature,
        ),
    ];
    world.tools = tools.map(|(line, output)| (line, output.to_owned())).into();
    drop(world);
    crate::program::check(&desk.mac, own, std::path::Path::new(path))
}

#[test]
fn the_doctor_reports_whether_a_permission_of_this_program_lasts() {
    const APP: &str = "/Users/me/Applications/Deskline.app/Contents/MacOS/deskline";
    const SIGNED: &str = "Signature size=8986\nAuthority=Developer ID Application: Jane (AB12)\n";
    const AD_HOC: &str = "Signature=adhoc\n";
    const NO_MARK: &str = "xattr: No such xattr: com.apple.quarantine";
    for (path, own, signature, mark, status, said) in [
        (APP, true, SIGNED, NO_MARK, Status::Ok, "outlives updates"),
        (APP, true, AD_HOC, NO_MARK, Status::Warn, "ad hoc"),
        (APP, false, AD_HOC, NO_MARK, Status::Ok, "signed ad hoc"),
        (
            APP,
            true,
            SIGNED,
            "0083;5f;Safari;A1",
            Status::Warn,
            "Open Anyway",
        ),
        (
            APP,
            true,
            SIGNED,
            "00c3;5f;Safari;A1",
            Status::Ok,
            "outlives updates",
        ),
        (
            "/private/var/folders/zz/T/AppTranslocation/A1/d/Deskline.app/Contents/MacOS/deskline",
            true,
            SIGNED,
            NO_MARK,
            Status::Warn,
            "temporary copy",
        ),
        (
            "/usr/local/bin/deskline",
            true,
            SIGNED,
            NO_MARK,
            Status::Warn,
            "macOS 26.1",
        ),
        (
            "/tmp/deskline",
            true,
            "/tmp/deskline: code object is not signed at all",
            NO_MARK,
            Status::Warn,
            "not signed",
        ),
    ] {
        let check = program(path, own, signature, mark);
        let text = format!("{} {}", check.finding, check.remedy);
        assert!(
            check.status == status && text.contains(said),
            "{path}: {check:?}"
        );
    }
}

/// `npx deskline` from a client that disclaims responsibility: then node would need the permission.
#[test]
fn nobody_is_asked_to_allow_all_of_node_or_python() {
    for path in [
        "/opt/homebrew/Cellar/node/24.1/bin/node",
        "/usr/bin/python3.12",
        "/a/uv",
    ] {
        let desk = Desk::new();
        let mut world = desk.mac.world();
        world.app(900, "runner", path.into());
        world.app(901, "deskline", "/Users/me/.npm/_npx/ab/deskline".into());
        world.apps.get_mut(&901).unwrap().responsible = Some(900);
        drop(world);
        let holder = crate::permissions::Holder::of(&desk.mac, 901);
        let advice = holder.turn_on("Accessibility");
        assert!(
            advice.contains("deskline install") && !advice.contains("turn on runner"),
            "{advice}"
        );
    }
}
