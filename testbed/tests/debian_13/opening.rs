//! A running app that is opened comes to the front, even if the compositor lets no app come to the
//! front by itself. Afterwards the person's window is restored.

use std::fs;

use deskline_testbed::{Compositor, Session, until};

#[test]
fn a_running_app_that_is_opened_comes_to_the_front_on_labwc() {
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
    let single = session.app(command, log);
    single.wait_for("active true");
    let is_behind = || {
        until("another app in front", || {
            let log = single.log();
            let last = log.iter().rfind(|line| line.starts_with("active"));
            last.is_some_and(|line| line == "active false")
                .then_some(())
        });
    };
    // Open it by its id, and by its name.
    let mut others = Vec::new();
    for (n, identifier) in ["org.deskline.Single", "Single"].iter().enumerate() {
        let log = folder.join(format!("other-{n}.log"));
        let mut command = session.command("/usr/bin/python3");
        command.arg("-B").arg(folder.join("gtk3.py")).arg(&log);
        others.push(session.app(command, log));
        is_behind();
        single.clear_log();
        let answer = server.open(identifier).ok();
        assert_eq!(answer.pid(), single.pid(), "{identifier}: {answer}");
        single.wait_for("active true");
        is_behind();
    }
}
