//! Qt Linguist, judged by the file that it saves.

use super::*;

const TEXTS: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de_DE"><context><name>Form</name><message><source>Hello</source>
<translation type="unfinished"></translation></message></context></TS>"#;

/// The field of the translation is scrolled out of its panel, behind a dock.
#[test]
fn linguist_saves_a_translation() {
    let Some(qt) = std::env::var_os("DESKLINE_QT").map(PathBuf::from) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let texts = folder.path().join("texts.ts");
    fs::write(&texts, TEXTS).unwrap();
    let mut linguist = Command::new(qt.join("linguist.exe"));
    let linguist = App(linguist.arg(&texts).current_dir(&qt).spawn().unwrap());
    let pid = linguist.0.id();
    let mut client = Client::start(&[]);
    let field = until("Linguist's texts are not open", || {
        let id = client.begin("refresh_traversal", &json!({"pid": pid}));
        let (text, is_error) = client.end(id);
        let tree = (!is_error).then(|| tree(&text))?;
        // The field and its label are in a panel of their own.
        let label = |line: &&str| line.contains("\"Translation to Deutsch");
        let (_, panel) = tree.lines().find(label)?.rsplit_once(" in ")?;
        let is_field = |line: &&str| line.contains("[AXTextField") && line.ends_with(panel);
        tree.lines().find(is_field).map(reference)
    });
    let click = json!({"pid": pid, "ref": field, "text": "Hallo"});
    client.call("click_and_traverse", &click);
    let steps = json!({"pid": pid, "steps": [
        {"do": "press_ax", "element": "Done", "role": "AXButton"},
        {"do": "press_key", "keyName": "s", "modifierFlags": ["Control"]},
    ]});
    let answer = client.call("chain_and_traverse", &steps);
    assert!(answer.contains("Did 2 of 2 steps"), "{answer}");
    until("the translation is not saved", || {
        let saved = fs::read_to_string(&texts).ok()?;
        let saved = saved.contains("<translation>Hallo</translation>");
        saved.then_some(())
    });
}
