//! Re-created elements.

use deskline_testbed::Bed;
use serde_json::json;

#[test]
fn a_re_created_element_is_not_reported_and_keeps_its_ref() {
    let (bed, server) = Bed::with_server();
    let app = bed.anew();
    let click = |server: &deskline_testbed::Client, element: &str| {
        let target = json!({"pid": app.pid, "element": element});
        server.call("click_and_traverse", target).ok()
    };
    let seen = server.refresh(app.pid).ok();
    let bold = seen.line_of("AXCheckBox", "Bold").reference.unwrap();
    let italic = seen.line_of("AXCheckBox", "Italic").reference.unwrap();

    for generation in 2..4 {
        let answer = click(&server, "Same");
        app.wait_for(&format!("created {generation}"));
        let lines = answer.diff_lines();
        let reported = lines.iter().filter(|line| !line.starts_with('~'));
        assert_eq!(reported.count(), 0, "{lines:#?}");
        let line = answer.line_of("AXCheckBox", "Bold");
        assert_eq!(line.reference, Some(bold));
        assert!(answer.list("visible_elements").is_empty(), "{answer}");
    }
    let toggle = |server: &deskline_testbed::Client, reference: String| {
        let target = json!({"pid": app.pid, "ref": reference});
        // Press through accessibility: a click would leave the focus on the element, so that the
        // re-created one would differ.
        server.call("press_ax_and_traverse", target)
    };
    toggle(&server, bold.to_string()).ok();
    app.wait_for("toggled Bold 3 true");
    // Another process on the same journal also knows the ref.
    let later = bed.server(&[]);
    toggle(&later, bold.to_string()).ok();
    app.wait_for("toggled Bold 3 false");

    // A re-created element that differs is reported, and the old ref is stale.
    let answer = click(&later, "Other");
    app.wait_for("created 4");
    let lines = answer.diff_lines();
    let of = |sign: char, text: &str| {
        let fits = |line: &&String| line.starts_with(sign) && line.contains(&format!("\"{text}\""));
        lines.iter().filter(fits).count()
    };
    assert_eq!(
        (of('-', "Italic"), of('+', "Oblique")),
        (1, 1),
        "{lines:#?}"
    );
    assert_eq!((of('-', "Bold"), of('+', "Bold")), (0, 0), "{lines:#?}");
    assert_eq!(answer.line_of("AXCheckBox", "Bold").reference, Some(bold));
    assert_ne!(
        answer.line_of("AXCheckBox", "Oblique").reference,
        Some(italic)
    );
    assert!(toggle(&later, italic.to_string()).is_error);
}
