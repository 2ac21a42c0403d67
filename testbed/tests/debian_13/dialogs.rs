//! A document is written in an editor and saved through the editor's dialog. Judged by the saved
//! file.

use deskline_testbed::{Answer, Compositor, Session, tests, until};
use serde_json::json;

tests! {
    a_document_is_saved_by_dialog_on_sway => a_document_is_written_and_saved(Compositor::Sway),
    a_document_is_saved_by_dialog_on_labwc => a_document_is_written_and_saved(Compositor::Labwc),
    a_document_is_saved_by_dialog_on_kwin => a_document_is_written_and_saved(Compositor::Kwin),
    a_document_is_saved_by_dialog_on_gnome => a_document_is_written_and_saved(Compositor::Gnome),
}

fn a_document_is_written_and_saved(compositor: Compositor) {
    let session = Session::new(compositor);
    let server = session.server();
    let log = session.folder().join("mousepad.log");
    let app = session.app(session.command("/usr/bin/mousepad"), log);
    until("mousepad's tree", || {
        let read = server.refresh(app.pid());
        let shows = |a: &Answer| !a.is_error && a.file().contains("[AXTextArea");
        shows(&read).then_some(())
    });
    server.type_text(app.pid(), "written by an agent").ok();
    server.press_key(app.pid(), "s", &["Control"]).ok();
    let name = session.folder().join("saved.txt");
    let name = json!({"text": name.to_str().unwrap(), "pressKey": "Return"});
    let typed = server.call_for(&app, "type_and_traverse", name).ok();
    // The file exists before it has its content.
    let written = || {
        let text = std::fs::read_to_string(session.folder().join("saved.txt")).ok();
        text.filter(|text| !text.is_empty())
    };
    let written = until(&format!("the file\n{typed}"), written);
    assert!(written.starts_with("written by an agent"), "{written}");
}
