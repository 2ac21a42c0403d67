//! The pages of a folder of journals, without a server.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::path::Path;

use common::Run;
use deskline_journal::{Journal, Outcome, Record, Retention};
use deskline_view::Pages;
use http_body_util::BodyExt as _;
use hyper::StatusCode;
use hyper::header::LOCATION;
use serde_json::{Map, Value};

/// The status, the redirect and the body of an answer.
fn ask(pages: &Pages, path: &str) -> (StatusCode, String, String) {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.unwrap();
    let answer = runtime.block_on(pages.answer(path, None));
    let place = answer.headers().get(LOCATION);
    let place = place.map_or("", |place| place.to_str().unwrap()).to_owned();
    let status = answer.status();
    let content = runtime.block_on(answer.into_body().collect()).unwrap();
    let bytes = content.to_bytes().to_vec();
    (status, place, String::from_utf8(bytes).unwrap())
}

fn journal(all: &Path, name: &str, app: &str, ms: u64) {
    let journal = Journal::open(Some(&all.join(name)), Retention::default()).unwrap();
    let mut record = Record::new("refresh_traversal", Map::new(), Outcome::Ok);
    record.app = Some(app.to_owned());
    record.ms = ms;
    journal.record(&record).unwrap();
}

#[test]
fn a_folder_of_journals_has_a_list_and_a_page_for_each_journal() {
    let beside = Run::new();
    let all = tempfile::tempdir().unwrap();
    let pages = Pages::in_folder(all.path().join("desktops"));
    let (status, _, list) = ask(&pages, "");
    assert!(status.is_success() && !list.contains("<li>"), "{list}");

    let all = all.path().join("desktops");
    std::fs::create_dir(&all).unwrap();
    journal(&all, "1-1", "Notes", 1_000);
    journal(&all, "1-2", "</li><script>&", 2_000);
    journal(&all, "1.3", "Dot", 3_000);
    std::fs::write(all.join("file"), "").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(beside.folder(), all.join("link")).unwrap();
    let (_, _, list) = ask(&pages, "");
    assert_eq!(list.matches("<li>").count(), 2, "{list}");
    let places = ["<a href=\"1-2/\">1-2</a>", "<a href=\"1-1/\">1-1</a>"];
    let [newer, older] = places.map(|place| list.find(place).expect(&list));
    assert!(newer < older, "{list}");
    assert!(
        list.contains("Read the screen · &lt;/li&gt;&lt;script&gt;&amp; · "),
        "{list}"
    );
    assert!(ask(&pages, "base.css").0.is_success());

    let (status, place, _) = ask(&pages, "1-1");
    assert_eq!((status, &*place), (StatusCode::PERMANENT_REDIRECT, "1-1/"));
    assert!(ask(&pages, "1-1/").2.contains("main.js"));
    let links: Value = serde_json::from_str(&ask(&pages, "1-1/links").2).unwrap();
    assert_eq!(links["rows"][0]["app"], "Notes");
    for path in [
        "1-9/",
        "1-9/links",
        "1.3/",
        "link/",
        "file/",
        "../",
        "..",
        "%2e%2e/links",
        "/",
    ] {
        assert_eq!(ask(&pages, path).0, StatusCode::NOT_FOUND, "{path}");
    }
    // A proxy may serve them at another path.
    for page in [list, ask(&pages, "1-1/").2] {
        assert!(
            !page.contains("=\"/") && !page.contains("=\"http"),
            "{page}"
        );
    }
}
