//! The pages of the journals, on the same server: access to them, and that they are live.

use std::fs;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use deskline_testbed::browser::Browser;
use deskline_testbed::{has, until};
use serde_json::json;

use crate::TOKEN;
use crate::client::Client;
use crate::server::{Server, of_a_user};

/// The viewer's token, which the server has created.
fn password(server: &Server) -> String {
    let path = server
        .folder
        .path()
        .join(".local/state/deskline/view-token");
    fs::read_to_string(path).unwrap()
}

/// The credentials that a browser sends with this password.
fn basic(password: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("me:{password}")))
}

#[test]
fn only_the_viewers_password_shows_the_journals_and_allows_no_action() {
    // The only desktop has one page.
    let server = Server::start(&["--view", "--desktop=private"]);
    let password = password(&server);
    let good = format!("Authorization: {}", basic(&password));
    let host = format!("Host: 127.0.0.1:{}", server.port());
    let ask = |line: &str, headers: &str| server.status(&format!("{line} HTTP/1.1\r\n{headers}"));
    let question = server.answer(&format!("GET /view/ HTTP/1.1\r\n{host}"));
    assert!(question.starts_with("HTTP/1.1 401"), "{question}");
    assert!(question.contains("www-authenticate: Basic"), "{question}");
    for (headers, status) in [
        (format!("{host}\r\n{good}"), 200),
        (format!("{host}\r\nAuthorization: {}", basic(TOKEN)), 401),
        (format!("{host}\r\nAuthorization: Bearer {TOKEN}"), 401),
        (format!("{host}\r\nAuthorization: Bearer {password}"), 401),
        (format!("Host: evil.example\r\n{good}"), 403),
        (
            format!("{host}\r\nOrigin: http://evil.example\r\n{good}"),
            403,
        ),
    ] {
        for path in ["/view/", "/view/links", "/view/main.js"] {
            assert_eq!(
                ask(&format!("GET {path}"), &headers),
                status,
                "{path} {headers}"
            );
        }
    }
    assert_eq!(ask("DELETE /view/", &format!("{host}\r\n{good}")), 405);
    for scheme in [good, format!("Authorization: Bearer {password}")] {
        assert_eq!(ask("GET /mcp", &format!("{host}\r\n{scheme}")), 401);
        assert_eq!(ask("GET /metrics", &format!("{host}\r\n{scheme}")), 401);
    }
    let mut ann = Client::connect(&server.url);
    ann.open_editor();
    let rows = server.get_as(&basic(&password), "/view/links?last=9");
    has(&rows, "content-security-policy: default-src 'none'");
    assert!(rows.contains("\"words\":\"Open mousepad\""), "{rows}");
}

/// The title of the link that is shown.
const TITLE: &str = "document.querySelector('.link h2')?.textContent";

#[test]
fn a_browser_watches_a_clients_desktop_as_it_works() {
    let options = ["--desktops", "2", "--view", "--desktop=private-wayland"];
    a_browser_watches(&Server::start(&options[..3]));
    a_browser_watches(&Server::of(of_a_user(), "127.0.0.1:0", &options, &[]));
}

fn a_browser_watches(server: &Server) {
    let mut ann = Client::connect(&server.url);
    let pid = ann.open_editor();
    let resources = ann.say(&json!([]));
    let resources = resources["text"].as_str().unwrap();
    let (_, rest) = resources.split_once("/desktops/").unwrap();
    let link = format!("a[href=\"{}/\"]", rest.split('/').next().unwrap());

    let mut browser = Browser::start();
    browser.size(1440, 900, false);
    let (port, password) = (server.port(), password(server));
    browser.open(&format!("http://me:{password}@127.0.0.1:{port}/view"));
    browser.wait_for(&format!(
        "document.querySelector('{link}')?.parentElement.textContent.includes('Open mousepad')"
    ));
    // The desktop that has no client yet is listed too.
    browser.wait_for("document.querySelector('ul').textContent.includes('no calls yet')");
    // A click has no effect while the list of desktops reloads itself.
    until("the desktop's page", || {
        let shows = browser.eval(&format!("{TITLE} === 'Open mousepad'")) == true;
        if !shows {
            browser.click_if_there(&link);
        }
        shows
    });
    browser.wait_for("document.querySelector('.shot img')?.naturalWidth > 100");

    browser.eval("window.same = true");
    ann.call("type_and_traverse", &json!({"pid": pid, "text": "Ann"}));
    browser.wait_for(&format!("window.same && {TITLE} === 'Type “Ann”'"));
    browser.wait_for("document.querySelector('.shot img')?.naturalWidth > 100");
    assert_eq!(browser.problems(), [""; 0]);
    // A path that does not exist, or is outside of the journals, is not a page.
    for path in "0-0/ ../journal/ %2e%2e/ profiles/".split(' ') {
        let answer = server.get_as(&basic(&password), &format!("/view/{path}"));
        assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
    }
}
