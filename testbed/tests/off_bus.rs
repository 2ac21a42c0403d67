//! An app that is not on the accessibility bus: the error and doctor name the package that its
//! toolkit needs, and that works.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;

use deskline_testbed::{Bed, deskline, until};
use serde_json::json;

const SWING: &str = "import javax.swing.*;\n\
    public class Swing {\n\
      public static void main(String[] arguments) {\n\
        JFrame frame = new JFrame(\"Swing\");\n\
        JButton button = new JButton(\"OK\");\n\
        button.addActionListener(event -> { System.out.println(\"clicked\"); \
        frame.setTitle(\"Clicked\"); });\n\
        frame.add(button);\n\
        frame.setSize(300, 200);\n\
        frame.setVisible(true);\n\
      }\n\
    }\n";

#[test]
fn a_swing_app_needs_its_wrapper() {
    let bed = Bed::new();
    let server = bed.server(&[]);
    let source = bed.path("Swing.java");
    fs::write(&source, SWING).unwrap();
    let mut deaf = bed.command("java").arg(&source).spawn().unwrap();
    let windows = || bed.screen().windows_of(deaf.id());
    until("a window", || (!windows().is_empty()).then_some(()));
    let refused = server.call("refresh_traversal", json!({"pid": deaf.id()}));
    let doctor = bed.command(deskline()).arg("doctor").output().unwrap();
    let doctor = String::from_utf8_lossy(&doctor.stdout).into_owned();
    // Give the app what the error asks for.
    for said in [refused.error(), &doctor] {
        assert!(said.contains("Java"), "{said}");
        assert!(said.contains("libatk-wrapper-java-jni"), "{said}");
    }
    deaf.kill().unwrap();
    deaf.wait().unwrap();
    let options = refused.error().split_once("JAVA_TOOL_OPTIONS='").unwrap().1;
    let options = options.split('\'').next().unwrap();
    let line = format!(
        "env 'JAVA_TOOL_OPTIONS={options}' java '{}'",
        source.display()
    );
    let open = json!({"identifier": line});
    let opened = server.call("open_application_and_traverse", open).ok();
    let click = json!({"pid": opened.pid(), "element": "OK", "role": "AXButton"});
    server.call("click_and_traverse", click).ok();
    until("the click", || {
        let windows = bed.screen().windows_of(opened.pid());
        windows.iter().any(|w| w.title == "Clicked").then_some(())
    });
}
