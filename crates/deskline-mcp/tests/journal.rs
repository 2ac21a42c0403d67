//! How the server shows its journal: resources, `search_tree`, `view_screenshot`.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::Session;
use deskline_journal::{Journal, KnownAs, Outcome, Record, Shot};
use deskline_link::Policy;
use deskline_mcp::Config;
use serde_json::json;

const TREE: &str = "# Notes — 2 elements (0.01s)\n [AXWindow (frame)] \"Notes\" x:0 y:0 w:9 h:9 \
    visible #e1\n [AXButton (push button)] \"Send\" x:1 y:2 w:3 h:4 visible #e2\n";

/// Writes a pair and a record as a link does; returns the path without the extension.
fn write(journal: &Journal, tool: &str, width: u32, height: u32) -> String {
    write_of(journal, "Notes", tool, width, height)
}

fn write_of(journal: &Journal, app: &str, tool: &str, width: u32, height: u32) -> String {
    let known = KnownAs {
        names: vec![app.to_owned()],
        claims: vec![app.to_owned()],
    };
    write_known_as(journal, app, vec![known], tool, width, height)
}

/// Writes a pair and a record about apps that the system knows by these names.
fn write_known_as(
    journal: &Journal,
    app: &str,
    known_as: Vec<KnownAs>,
    tool: &str,
    width: u32,
    height: u32,
) -> String {
    let entry = journal.begin(tool).unwrap();
    entry.write_text(TREE).unwrap();
    let rgb = vec![200; 3 * width as usize * height as usize];
    entry
        .write_picture(&Shot::new(width, height, &rgb))
        .unwrap();
    let path = entry.text_path();
    let mut record = Record::new(tool, serde_json::Map::new(), Outcome::Ok);
    record.app = Some(app.into());
    record.known_as = known_as;
    record.files.text = path.to_str().map(str::to_owned);
    record.files.picture = entry.picture_path().to_str().map(str::to_owned);
    journal.record(&record).unwrap();
    path.with_extension("").to_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_error_about_an_empty_journal_names_the_next_step() {
    let mut session = Session::initialized(Config::default()).await;
    let text = session.text("search_tree", json!({"pattern": "a"})).await;
    assert_eq!(
        text,
        "ERROR status: error\nerror: there is no tree file yet. Call \
        open_application_and_traverse or refresh_traversal first"
    );
    let text = session.text("view_screenshot", json!({})).await;
    assert!(
        text.starts_with("ERROR status: error\nerror: there is no screenshot yet."),
        "{text}"
    );
    let list = session.ask("resources/list", json!({})).await;
    assert_eq!(list["resources"], json!([]));
}

#[tokio::test]
async fn search_tree_searches_the_newest_tree_or_the_named_one() {
    let mut session = Session::initialized(Config::default()).await;
    let first = write(&session.journal, "refresh_traversal", 1, 1);
    let second = write(&session.journal, "click_and_traverse", 1, 1);
    let found = |path: &str| {
        format!(
            "status: success\nfile: {path}.txt\nmatches: 1 of 3 lines\n3: [AXButton (push \
            button)] \"Send\" x:1 y:2 w:3 h:4 visible #e2"
        )
    };
    let arguments = json!({"pattern": "send", "role": "AXButton"});
    assert_eq!(session.text("search_tree", arguments).await, found(&second));
    let arguments = json!({"pattern": "send", "file": format!("{first}.txt")});
    assert_eq!(session.text("search_tree", arguments).await, found(&first));
    for (file, part) in [
        ("/etc/passwd".to_owned(), "is not a file of the log"),
        (
            format!("{first}.png"),
            "is not a tree file. Pass a file that ends in .txt",
        ),
        ("../../etc/passwd".to_owned(), "is not a file of the log"),
    ] {
        let text = session
            .text("search_tree", json!({"pattern": "a", "file": file}))
            .await;
        assert!(text.starts_with("ERROR") && text.contains(part), "{text}");
    }
}

#[tokio::test]
async fn view_screenshot_shows_a_picture_small_enough_for_a_model() {
    let mut session = Session::initialized(Config::default()).await;
    let path = write(&session.journal, "refresh_traversal", 2000, 1000);
    let params = json!({"name": "view_screenshot", "arguments": {}});
    let result = session.ask("tools/call", params).await;
    let content = result["content"].as_array().unwrap();
    assert_eq!((content.len(), &content[0]["type"]), (2, &json!("image")));
    assert_eq!(content[0]["mimeType"], "image/png");
    // The signature of a PNG, in Base64.
    assert!(
        content[0]["data"]
            .as_str()
            .unwrap()
            .starts_with("iVBORw0KGgo")
    );
    let line = content[1]["text"].as_str().unwrap();
    assert!(
        line.starts_with(&format!("{path}.png: 1568×784 px, scale 0.784")),
        "{line}"
    );
}

#[tokio::test]
async fn only_files_of_the_journal_are_resources() {
    let mut session = Session::initialized(Config::default()).await;
    for _ in 0..30 {
        write(&session.journal, "refresh_traversal", 1, 1);
    }
    let newest = write(&session.journal, "click_and_traverse", 1, 1);
    let list = session.ask("resources/list", json!({})).await;
    let resources = list["resources"].as_array().unwrap();
    assert_eq!(resources.len(), 50);
    let uris: Vec<&str> = resources
        .iter()
        .map(|one| one["uri"].as_str().unwrap())
        .collect();
    let (text, picture) = (
        format!("file://{newest}.txt"),
        format!("file://{newest}.png"),
    );
    assert!(uris[..2].contains(&text.as_str()) && uris[..2].contains(&picture.as_str()));

    let read = session.ask("resources/read", json!({"uri": text})).await;
    assert_eq!(read["contents"][0]["text"], TREE);
    assert_eq!(read["contents"][0]["mimeType"], "text/plain");
    let read = session.ask("resources/read", json!({"uri": picture})).await;
    assert!(
        read["contents"][0]["blob"]
            .as_str()
            .unwrap()
            .starts_with("iVBORw0KGgo")
    );
    assert_eq!(read["contents"][0]["mimeType"], "image/png");

    let folder = session.journal.path().display().to_string();
    for uri in [
        "file:///etc/passwd".to_owned(),
        format!("file://{folder}/../../../etc/passwd"),
        format!("file://{folder}/%2e%2e/x.txt"),
        format!("file://{folder}/journal.jsonl"),
        format!("file://{folder}/refs"),
        newest.clone(),
        "https://example.org/".to_owned(),
    ] {
        let error = session.ask("resources/read", json!({"uri": uri})).await;
        assert_eq!(error["code"], -32002, "{uri} {error}");
    }
    let error = session.ask("resources/read", json!({})).await;
    assert_eq!(error["code"], -32602, "{error}");
}

#[tokio::test]
async fn files_of_blocked_apps_are_not_shown() {
    let policy = Policy {
        deny: vec!["secret".into()],
        ..Policy::default()
    };
    let mut session = Session::initialized(Config {
        policy,
        ..Config::default()
    })
    .await;
    let open = write_of(&session.journal, "Notes", "refresh_traversal", 1, 1);
    let shut = write_of(&session.journal, "My Secrets", "refresh_traversal", 1, 1);
    // A file that no record assigns to an app is not shown either.
    let unknown = session.journal.begin("refresh_traversal").unwrap();
    unknown.write_text(TREE).unwrap();

    let text = session
        .text("search_tree", json!({"pattern": "send"}))
        .await;
    assert!(
        text.starts_with(&format!("status: success\nfile: {open}.txt\n")),
        "{text}"
    );
    let unknown = unknown.text_path().display().to_string();
    for file in [format!("{shut}.txt"), unknown] {
        let arguments = json!({"pattern": "send", "file": file});
        let text = session.text("search_tree", arguments).await;
        assert!(
            text.starts_with("ERROR") && text.contains("blocked"),
            "{text}"
        );
        let uri = format!("file://{file}");
        let error = session.ask("resources/read", json!({"uri": uri})).await;
        assert_eq!(error["code"], -32002, "{error}");
    }
    let arguments = json!({"file": format!("{shut}.png")});
    let text = session.text("view_screenshot", arguments).await;
    assert!(text.contains("blocked"), "{text}");
    let list = session.ask("resources/list", json!({})).await;
    assert_eq!(list["resources"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn files_are_shown_by_the_system_name_of_their_app() {
    let policy = Policy {
        allow: vec!["notes".into()],
        deny: vec!["vault".into()],
        ..Policy::default()
    };
    let mut session = Session::initialized(Config {
        policy,
        ..Config::default()
    })
    .await;
    let known_as = |names: &[&str]| KnownAs {
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        claims: vec!["Notes".to_owned()],
    };
    let apps: [(&[KnownAs], bool); 5] = [
        (&[known_as(&["org.gnome.Notes", "notes"])], true),
        (&[known_as(&["evil"])], false),
        (&[known_as(&["notes", "vault"])], false),
        // The file also has the elements of another process's dialog.
        (&[known_as(&["notes"]), known_as(&["vault"])], false),
        // The files are about an app that the system does not identify.
        (&[], false),
    ];
    for (known, open) in apps {
        let file = write_known_as(&session.journal, "Notes", known.to_vec(), "refresh", 1, 1);
        let search = json!({"pattern": "send", "file": format!("{file}.txt")});
        let text = session.text("search_tree", search).await;
        assert_eq!(
            text.starts_with("status: success"),
            open,
            "{known:?}: {text}"
        );
    }
}
