//! GNOME Shell 48 where Mutter's own names are closed to Deskline, as in a sandbox, or where an
//! option forbids them: input goes by the desktop's portal, once the person has allowed that in its
//! dialog.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use deskline_testbed::{Client, Compositor, NativeApp, Session, Setup, Toolkit, until};
use serde_json::json;

const PORTAL: &str = "org.freedesktop.portal.Desktop";
const GNOMES: &str = "org.freedesktop.impl.portal.desktop.gnome";
const STORE: &str = "org.freedesktop.impl.portal.PermissionStore";

/// A session with the portal.
struct WithPortal {
    session: Session,
    /// A bus for Deskline that has no more names than it needs: Mutter's are closed.
    closed_bus: PathBuf,
    _started: Started,
}

/// The processes started in a session; ended by `Drop`.
struct Started(Vec<Child>);

impl Drop for Started {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.wait();
        }
    }
}

impl WithPortal {
    fn new(session: Session) -> Self {
        let mut started = Vec::new();
        for (program, name) in [
            ("xdg-desktop-portal-gnome", GNOMES),
            ("xdg-desktop-portal", PORTAL),
        ] {
            let mut command = session.command(format!("/usr/libexec/{program}"));
            command.stdout(Stdio::null()).stderr(Stdio::null());
            started.push(command.spawn().unwrap());
            until(name, || has_name(&session, name).then_some(()));
        }
        let closed_bus = session.folder().join("bus");
        let mut proxy = session.command("/usr/bin/xdg-dbus-proxy");
        proxy.arg(session.bus()).arg(&closed_bus).arg("--filter");
        for name in [PORTAL, "org.a11y.Bus"] {
            proxy.arg(format!("--talk={name}"));
        }
        started.push(proxy.stderr(Stdio::null()).spawn().unwrap());
        until("the closed bus", || closed_bus.exists().then_some(()));
        Self {
            session,
            closed_bus,
            _started: Started(started),
        }
    }

    fn deskline(&self, args: &[&str]) -> Command {
        let mut command = self.session.deskline(args);
        let address = format!("unix:path={}", self.closed_bus.display());
        command.env("DBUS_SESSION_BUS_ADDRESS", address);
        command
    }

    fn server(&self) -> Client {
        Client::start(self.deskline(&["serve", "--dir", "by-portal"]))
    }

    /// The doctor's output.
    fn doctor(&self) -> String {
        let output = self.deskline(&["doctor", "--dir", "j"]).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// `deskline doctor --fix` asks, and the person allows it.
    fn allow(&self, person: &Client) {
        let mut doctor = self.deskline(&["doctor", "--fix", "--dir", "j"]);
        let doctor = doctor.stdout(Stdio::piped()).stderr(Stdio::piped());
        let doctor = doctor.spawn().unwrap();
        let dialog = until("the portal's dialog", || dialog(person));
        for (element, role) in [
            ("Allow Remote Interaction", "AXCheckBox"),
            ("Share", "AXButton"),
        ] {
            let click = json!({"pid": dialog, "element": element, "role": role});
            person.call("click_and_traverse", click).ok();
        }
        let output = doctor.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("fixed: the user has allowed input"), "{said}");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("by the desktop's portal"), "{said}");
    }

    fn token(&self) -> PathBuf {
        let state = self.session.folder().join(".local/state/deskline");
        state.join("portal-token")
    }

    /// The person revokes the permission.
    fn revoke(&self) {
        let token = std::fs::read_to_string(self.token()).unwrap();
        let path = format!("/{}", STORE.replace('.', "/"));
        let delete = format!("{STORE}.Delete");
        let mut command = self.session.command("/usr/bin/gdbus");
        command.args(["call", "--session", "-d", STORE, "-o", &path, "-m", &delete]);
        let output = command.args(["remote-desktop", &token]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
}

fn has_name(session: &Session, name: &str) -> bool {
    let bus = "org.freedesktop.DBus";
    let mut command = session.command("/usr/bin/gdbus");
    command.args(["call", "--session", "-d", bus, "-o", "/", "-m"]);
    let asked = command
        .arg(format!("{bus}.NameHasOwner"))
        .arg(name)
        .output();
    String::from_utf8_lossy(&asked.unwrap().stdout).contains("true")
}

/// The process whose dialog of the portal is open.
fn dialog(person: &Client) -> Option<u32> {
    // For a second after the extension was switched off this is an error.
    let listed = person.call("list_applications", json!({}));
    let (_, its) = listed.text.split_once("xdg-desktop-portal-gnome (PID: ")?;
    Some(its.split_once(')')?.0.parse().unwrap())
}

/// Switches Deskline's extension on or off.
fn switch(session: &Session, how: &str) {
    let mut command = session.command("/usr/bin/gnome-extensions");
    let output = command.args([how, "deskline@deskline"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// Puts the person's focus into the app's text field.
fn focus_name(person: &Client, app: &NativeApp) {
    let name = json!({"element": "Name", "role": "AXTextField"});
    person.call_for(app, "click_and_traverse", name).ok();
}

#[test]
fn keys_go_by_the_portal_once_the_person_has_allowed_it() {
    let bed = WithPortal::new(Session::new(Compositor::Gnome).ends_with_the_test());
    let person = bed.session.server();
    let app = bed.session.widgets(Toolkit::Gtk4, &person);
    focus_name(&person, &app);
    let server = bed.server();
    let types = |server: &Client, text: &str| {
        server.call_for(&app, "type_and_traverse", json!({"text": text}))
    };
    let refused = types(&server, "early");
    let hint = "deskline doctor --fix";
    assert!(refused.error().contains(hint), "{refused}");
    assert_eq!(dialog(&person), None);
    let said = bed.doctor();
    assert!(said.contains(hint), "{said}");

    bed.allow(&person);
    let mode = std::fs::metadata(bed.token()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // The server that has run all the while, and one that starts now. Each session uses up its
    // token.
    types(&server, "later").ok();
    app.wait_for("text Name later");
    let all = json!({"keyName": "a", "modifierFlags": ["Control"]});
    server.call_for(&app, "press_key_and_traverse", all).ok();
    types(&bed.server(), "then").ok();
    app.wait_for("text Name then");
    // A server that may use Mutter's names, with the option that forbids it.
    let asked = bed.session.server_with(&["--gnome-input", "portal"]);
    types(&asked, "too").ok();
    app.wait_for("text Name thentoo");
    // There is no stream of the window, so no place in it is known.
    let ok = json!({"element": "OK", "role": "AXButton"});
    let click = server.call_for(&app, "click_and_traverse", ok);
    assert!(click.error().contains("Deskline's extension"), "{click}");
    let read = server.call_for(&app, "refresh_traversal", json!({})).ok();
    assert_eq!(read.get("screenshot"), None, "{read}");
    assert_eq!(dialog(&person), None);

    bed.revoke();
    let start = Instant::now();
    let refused = types(&server, "revoked");
    assert!(refused.error().contains(hint), "{refused}");
    assert!(start.elapsed() < Duration::from_secs(6), "{refused}");
    until("the end of the dialog", || {
        dialog(&person).is_none().then_some(())
    });
    let said = bed.doctor();
    assert!(said.contains(hint), "{said}");
    bed.allow(&person);
    focus_name(&person, &app);
    let all = json!({"keyName": "a", "modifierFlags": ["Control"]});
    server.call_for(&app, "press_key_and_traverse", all).ok();
    types(&server, "again").ok();
    app.wait_for("text Name again");
    assert!(!app.log().iter().any(|line| line.contains("revoked")));
}

#[test]
fn with_the_extension_the_pointer_does_too() {
    let bed = WithPortal::new(
        Setup::debian_13(Compositor::Gnome)
            .extension()
            .start()
            .ends_with_the_test(),
    );
    let person = bed.session.server();
    let app = bed.session.widgets(Toolkit::Gtk4, &person);
    // With the extension the portal's dialog counts as the shell's.
    switch(&bed.session, "disable");
    bed.allow(&person);
    switch(&bed.session, "enable");
    until("the extension", || {
        has_name(&bed.session, "org.deskline.Shell").then_some(())
    });
    let server = bed.session.server_with(&["--gnome-input", "portal"]);
    server.clicks_are_exact(&app, "GTK 4");
    let name = json!({"element": "Name", "role": "AXTextField", "text": "Hello"});
    server.call_for(&app, "click_and_traverse", name).ok();
    app.wait_for("text Name Hello");
    server.turns_the_wheel(&app);
}
