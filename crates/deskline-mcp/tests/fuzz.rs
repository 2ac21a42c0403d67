//! The server on arbitrary lines: it still answers the next request.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{PLAIN, Session};
use deskline_fuzz::{Mutator, fuzz_with};
use deskline_mcp::Config;
use serde_json::{Value, json};

const LINES: &str = include_str!("corpora/lines.jsonl");

#[test]
fn fuzz_after_any_line_the_next_request_is_answered() {
    let corpus: Vec<&str> = LINES.lines().collect();
    let mut mutator = Mutator::new(&corpus);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut session = runtime.block_on(Session::initialized(Config::default()));
    let mut count = 0_u32;
    fuzz_with(
        "lines of JSON-RPC",
        |rng| text(&mutator.next(rng)),
        |line| {
            count += 1;
            if line.contains("initialize") || is_slow(line) {
                return;
            }
            runtime.block_on(async {
                session.line(line).await;
                let id = format!("own {count}");
                session
                    .send(
                        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
                "name": "refresh_traversal", "arguments": {"pid": PLAIN}}}),
                    )
                    .await;
                loop {
                    let answer: Value = session.receive().await;
                    assert_eq!(answer["jsonrpc"], "2.0");
                    if answer["id"] == json!(id) {
                        assert!(answer["result"]["content"].is_array(), "{answer}");
                        break;
                    }
                }
                session.rest();
            });
        },
    );
}

/// One line, as a client may send it.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace(['\n', '\r'], " ")
}

/// Whether the line calls a tool on one of the script's slow apps.
fn is_slow(line: &str) -> bool {
    let line: Value = serde_json::from_str(line).unwrap_or_default();
    let pid = &line["params"]["arguments"]["pid"];
    let pid = pid.as_f64().or_else(|| pid.as_str()?.trim().parse().ok());
    pid.is_some_and(|pid| (1.5..7.0).contains(&pid))
}
