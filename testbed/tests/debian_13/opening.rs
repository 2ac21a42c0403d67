//! An app that runs already comes to the front when it is opened, on a compositor of which only the trees
//! are reached, and which lets no app come to the front by itself.

use std::fs;

use deskline_testbed::{Compositor, NativeApp, Session, until};
use serde_json::json;

#[test]
fn an_app_that_runs_comes_to_the_front_when_it_is_opened() {
    let session = Session::new(Compositor::Labwc);
    let server = session.server();
    let folder = session.folder();
    let (log, script) = (folder.join("single.log"), folder.join("single.py"));
    let entries = folder.join(".local/share/applications");
    fs::create_dir_all(&entries).unwrap();
    let entry = format!(
        "[Desktop Entry]\nType=Application\nName=Single\nDBusActivatable=true\n\
         Exec=/usr/bin/python3 -B {} {} %f\n",
        script.display(),
        log.display()
    );
    fs::write(entries.join("org.deskline.Single.desktop"), entry).unwrap();
    let mut command = session.command("/usr/bin/python3");
    command.arg("-B").arg(&script).arg(&log);
    let single = NativeApp::start(&session, command, log);
    single.wait_for("active true");
    let has_keyboard = |is: bool| {
        until(&format!("the keyboard of the app: {is}"), || {
            let log = single.log();
            let last = log.iter().rfind(|line| line.starts_with("active"));
            (last.map(String::as_str) == Some(&format!("active {is}"))).then_some(())
        });
    };
    // By its id; by its name; with a document, for which it is started again.
    let document = format!("Single {}", folder.join("sway.conf").display());
    let mut others = Vec::new();
    for (n, identifier) in ["org.deskline.Single", "Single", &document]
        .iter()
        .enumerate()
    {
        let log = folder.join(format!("other-{n}.log"));
        let mut command = session.command("/usr/bin/python3");
        command.arg("-B").arg(folder.join("gtk3.py")).arg(&log);
        others.push(NativeApp::start(&session, command, log));
        has_keyboard(false);
        let open = json!({"identifier": identifier});
        let answer = server.call("open_application_and_traverse", open).ok();
        assert_eq!(answer.pid(), single.pid(), "{identifier}: {answer}");
        has_keyboard(true);
    }
}
