//! The server, over raw lines: both generations of the protocol, order, cancellation, progress,
//! panics, and all ways to end.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{ENDLESS, GATED, HUNG, PANICKING, PLAIN, SLOW_FIRST_PING, Session};
use deskline_mcp::{Config, INSTRUCTIONS};
use serde_json::{Value, json};

fn modern() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

#[test]
fn the_instructions_stay_short_and_name_the_main_points() {
    assert!(INSTRUCTIONS.chars().count() < 2_000);
    for word in [
        "grep",
        "short-term memory",
        "long-term memory",
        "data, not instructions",
    ] {
        assert!(INSTRUCTIONS.contains(word), "{word}");
    }
}

#[tokio::test]
async fn every_handshake_of_the_first_protocol_generation_is_answered() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut session = Session::start(Config::default());
        let answer = session.initialize(version).await;
        let result = &answer["result"];
        assert_eq!(result["protocolVersion"], version);
        assert_eq!(result["serverInfo"]["name"], "deskline");
        assert_eq!(result["instructions"], INSTRUCTIONS);
        assert!(result["capabilities"]["tools"].is_object());
        assert!(result["capabilities"]["resources"].is_object());
        let tools = session.ask("tools/list", json!({})).await;
        assert_eq!(tools["tools"].as_array().unwrap().len(), 15);
        session.works().await;
    }
}

#[tokio::test]
async fn an_unknown_protocol_version_gets_a_supported_one() {
    let mut session = Session::start(Config::default());
    let answer = session.initialize("2099-01-01").await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
}

#[tokio::test]
async fn the_stateless_protocol_generation_is_served() {
    let mut session = Session::start(Config::default());
    let found = session
        .ask("server/discover", json!({"_meta": modern()}))
        .await;
    let versions = found["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{found}");
    assert_eq!(found["instructions"], INSTRUCTIONS);
    let list = session.ask("tools/list", json!({"_meta": modern()})).await;
    assert_eq!(list["tools"].as_array().unwrap().len(), 15);
    assert_eq!(list["resultType"], "complete");
    let params = json!({
        "name": "refresh_traversal", "arguments": {"pid": PLAIN}, "_meta": modern(),
    });
    let result = session.ask("tools/call", params).await;
    assert_eq!(result["content"][0]["text"], "refresh_traversal of 1: None");
}

#[tokio::test]
async fn a_tool_is_called_without_discover_or_initialize() {
    let mut session = Session::start(Config::default());
    let params = json!({"name": "list_applications", "_meta": modern()});
    let result = session.ask("tools/call", params).await;
    assert_eq!(result["content"][0]["text"], "Notes (pid 1), front");
}

#[tokio::test]
async fn bad_arguments_are_error_results_and_unknown_tools_protocol_errors() {
    let mut session = Session::initialized(Config::default()).await;
    for (tool, arguments, error) in [
        (
            "refresh_traversal",
            json!({"pid": "x"}),
            "pid must be a number, not the text \"x\"",
        ),
        (
            "list_applications",
            json!({"pid": 1}),
            "unknown argument \"pid\" for list_applications. Did you mean \"name\"?",
        ),
    ] {
        let text = session.text(tool, arguments).await;
        assert_eq!(text, format!("ERROR status: error\nerror: {error}"));
    }
    // The client gets an error, not silence.
    for (method, params, code, message) in [
        (
            "tools/call",
            json!({"name": "clik_and_traverse"}),
            -32602,
            "unknown tool \"clik_and_traverse\". Did you mean \"click_and_traverse\"?",
        ),
        (
            "tools/call",
            json!({"name": "refresh_traversal", "arguments": [1]}),
            -32602,
            "",
        ),
        ("tools/call", json!({}), -32602, ""),
        ("no/such", json!({}), -32601, ""),
    ] {
        let error = session.ask(method, params).await;
        assert_eq!(error["code"], code, "{error}");
        assert!(
            error["message"].as_str().unwrap().starts_with(message),
            "{error}"
        );
    }
}

#[tokio::test]
async fn tools_are_listed_with_the_prefix_and_called_with_or_without_it() {
    let mut session = Session::initialized(Config {
        compat_macos_use: true,
        ..Config::default()
    })
    .await;
    let list = session.ask("tools/list", json!({})).await;
    for tool in list["tools"].as_array().unwrap() {
        assert!(tool["name"].as_str().unwrap().starts_with("macos-use_"));
    }
    for name in ["macos-use_refresh_traversal", "refresh_traversal"] {
        let text = session.text(name, json!({"pid": PLAIN})).await;
        assert_eq!(text, "refresh_traversal of 1: None");
    }
}

#[tokio::test]
async fn read_only_offers_only_tools_that_read() {
    let mut session = Session::initialized(Config {
        read_only: true,
        ..Config::default()
    })
    .await;
    let list = session.ask("tools/list", json!({})).await;
    let tools = list["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str()).collect();
    let reading = [
        "refresh_traversal",
        "wait_for_and_traverse",
        "list_applications",
        "search_tree",
        "view_screenshot",
    ];
    let sorted = |mut names: Vec<_>| {
        names.sort_unstable();
        names
    };
    assert_eq!(sorted(names), sorted(reading.map(Some).to_vec()));
    let hello = session.initialize("2025-06-18").await;
    let instructions = hello["result"]["instructions"].as_str().unwrap();
    for name in reading {
        assert!(instructions.contains(name), "{name}: {instructions}");
    }
    let mut all = Session::initialized(Config::default()).await;
    let all = all.ask("tools/list", json!({})).await;
    let all = all["tools"].as_array().unwrap().iter();
    let all: Vec<&str> = all.map(|tool| tool["name"].as_str().unwrap()).collect();
    let acting = all.iter().filter(|name| !reading.contains(name));
    for name in acting.clone() {
        let bare = name.trim_end_matches("_and_traverse");
        let is_there =
            instructions.contains(name) || bare.contains('_') && instructions.contains(bare);
        assert!(!is_there, "{name}: {instructions}");
    }
    assert!(instructions.contains("data, not instructions"));
    let text = session
        .text("press_ax_and_traverse", json!({"pid": 1, "ref": "e1"}))
        .await;
    assert!(text.starts_with("ERROR status: error\nerror: press_ax_and_traverse is not available"));
    // Errors advise no tool that is not offered. There is no file yet.
    for (tool, arguments) in [
        ("view_screenshot", json!({})),
        ("search_tree", json!({"pattern": "x"})),
        ("refresh_traversal", json!({"pid": HUNG})),
    ] {
        let text = session.text(tool, arguments).await;
        for name in acting.clone() {
            assert!(!text.contains(name), "{tool}: {text}");
        }
    }
    session.works().await;
}

#[tokio::test]
async fn links_run_one_at_a_time_and_a_hung_app_delays_no_other_app() {
    let mut session = Session::initialized(Config::default()).await;
    session.starts(1, GATED).await;
    session.refresh(2, PLAIN).await;
    session.refresh(3, HUNG).await;
    // The error about the hung app arrives before both answers.
    let answer = session.answer(3).await;
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(
        text.starts_with("status: error\nerror: Notes (pid 4) does not answer"),
        "{text}"
    );
    session.gate.send(()).unwrap();
    session.answer(1).await;
    session.answer(2).await;
    assert_eq!(session.rest(), ["end 5 None", "start 1 0", "end 1 None"]);
}

#[tokio::test]
async fn an_apps_calls_keep_their_order() {
    let mut session = Session::initialized(Config::default()).await;
    for (id, delay) in [(1, 0.001), (2, 0.002)] {
        let arguments = json!({"pid": SLOW_FIRST_PING, "delayAfterAction": delay});
        session.call(id, "refresh_traversal", arguments).await;
    }
    session.answer(1).await;
    session.answer(2).await;
    assert_eq!(
        session.rest(),
        ["start 6 1", "end 6 None", "start 6 2", "end 6 None"]
    );
}

#[tokio::test]
async fn a_cancelled_request_cancels_its_link() {
    let mut session = Session::initialized(Config::default()).await;
    session.starts(1, ENDLESS).await;
    session.cancel(1).await;
    assert_eq!(session.seen().await, "end 2 Some(Request)");
    // The next call runs and is not cancelled.
    session.works().await;
}

#[tokio::test]
async fn a_request_that_is_cancelled_in_the_queue_never_runs() {
    let mut session = Session::initialized(Config::default()).await;
    session.starts(1, GATED).await;
    session.refresh(2, PLAIN).await;
    session.cancel(2).await;
    session.reads_lines().await;
    session.gate.send(()).unwrap();
    session.answer(1).await;
    let text = session.text("list_applications", json!({})).await;
    assert_eq!(text, "Notes (pid 1), front");
    assert_eq!(session.rest(), ["end 5 None"]);
}

#[tokio::test]
async fn progress_is_reported_after_a_second_and_then_each_second() {
    let mut session = Session::initialized(Config::default()).await;
    let params = json!({
        "name": "refresh_traversal", "arguments": {"pid": GATED},
        "_meta": {"progressToken": "token"},
    });
    session.request(1, "tools/call", params).await;
    for second in [1.0, 2.0] {
        let report = session.receive().await;
        assert_eq!(report["method"], "notifications/progress");
        assert_eq!(report["params"]["progressToken"], "token");
        assert_eq!(report["params"]["progress"], second);
    }
    session.gate.send(()).unwrap();
    let answer = session.receive().await;
    assert_eq!(
        (&answer["id"], &answer["result"]["isError"]),
        (&json!(1), &json!(false))
    );
}

#[tokio::test]
async fn a_panic_is_answered_with_an_error_and_the_server_goes_on() {
    let mut session = Session::initialized(Config::default()).await;
    let text = session
        .text("refresh_traversal", json!({"pid": PANICKING}))
        .await;
    assert_eq!(
        text,
        "ERROR status: error\nerror: internal error in the server: a link's own words. The server \
         keeps running. Call refresh_traversal to see what was done before you try again"
    );
    session.works().await;
}

#[tokio::test]
async fn the_end_of_the_input_stops_the_running_link_and_the_queue() {
    let mut session = Session::initialized(Config::default()).await;
    session.starts(1, ENDLESS).await;
    session.refresh(2, PLAIN).await;
    session.reads_lines().await;
    session.hang_up().await;
    assert_eq!(session.rest(), ["end 2 Some(Stopping)", "gone"]);
    // Both answers were still delivered, in any order.
    let mut answers = [session.receive().await, session.receive().await];
    answers.sort_by_key(|answer| answer["id"].as_u64());
    let texts = answers.map(|answer| answer["result"]["content"][0]["text"].to_string());
    assert_eq!(texts[0], "\"refresh_traversal of 2: Some(Stopping)\"");
    assert!(texts[1].contains("Nothing was touched"), "{}", texts[1]);
}

#[tokio::test]
async fn the_server_stops_despite_a_link_that_does_not_end() {
    let mut session = Session::initialized(Config::default()).await;
    session.starts(1, GATED).await;
    let start = std::time::Instant::now();
    session.hang_up().await;
    assert!(start.elapsed().as_secs_f64() < 7.0, "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_signal_stops_the_running_link() {
    let (raise, raised) = tokio::sync::oneshot::channel::<()>();
    let mut session = Session::start_until(Config::default(), async {
        let _ = raised.await;
    });
    session.initialize("2025-11-25").await;
    session.starts(1, ENDLESS).await;
    raise.send(()).unwrap();
    let answer = session.receive().await;
    assert_eq!(
        answer["result"]["content"][0]["text"],
        "refresh_traversal of 2: Some(Stopping)"
    );
    session.ended().await.unwrap();
    assert_eq!(session.rest(), ["end 2 Some(Stopping)", "gone"]);
}

#[tokio::test]
async fn the_server_ends_after_clients_that_call_no_tool() {
    let mut session = Session::start(Config::default());
    session
        .ask("server/discover", json!({"_meta": modern()}))
        .await;
    session.hang_up().await;
    assert_eq!(session.seen().await, "gone");

    let mut session = Session::start(Config::default());
    session.hang_up().await;
}

#[tokio::test]
async fn a_client_of_another_protocol_is_an_error() {
    let mut session = Session::start(Config::default());
    session.notify("notifications/initialized", json!({})).await;
    let error = session.ended().await.unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the client did not speak MCP"),
        "{error}"
    );
}

#[tokio::test]
async fn other_calls_run_while_a_call_waits() {
    let mut session = Session::initialized(Config::default()).await;
    let wait = json!({"pid": PLAIN, "element": "Sent", "timeout": 40});
    session.call(1, "wait_for_and_traverse", wait.clone()).await;
    assert_eq!(session.seen().await, "look");
    session.call(2, "list_applications", json!({})).await;
    session.answer(2).await;
    // Two more waits: one about the same app.
    session.works().await;
    session.call(4, "wait_for_and_traverse", wait).await;
    session.works().await;
    session.gate.send(()).unwrap();
    session.gate.send(()).unwrap();
    let mut answered = [0, 0];
    for id in &mut answered {
        let answer = session.receive().await;
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        *id = answer["id"].as_u64().unwrap();
    }
    answered.sort_unstable();
    assert_eq!(answered, [1, 4]);
}

#[tokio::test]
async fn a_wait_is_cancelled_between_two_looks() {
    let mut session = Session::initialized(Config::default()).await;
    let wait = json!({"pid": PLAIN, "element": "Sent", "timeout": 40});
    session.call(1, "wait_for_and_traverse", wait).await;
    assert_eq!(session.seen().await, "look");
    session.starts(2, GATED).await;
    session.cancel(1).await;
    session.gate.send(()).unwrap();
    session.answer(2).await;
    // rmcp answers no cancelled request: the next answer is the next call's.
    session.works().await;
}

#[tokio::test]
async fn a_wait_for_an_app_that_does_not_answer_delays_no_call_about_it() {
    let mut session = Session::initialized(Config::default()).await;
    let wait = json!({"pid": HUNG, "element": "Sent", "timeout": 40});
    session.call(1, "wait_for_and_traverse", wait).await;
    session.refresh(2, HUNG).await;
    let answer = session.answer(2).await;
    assert!(answer.to_string().contains("does not answer"), "{answer}");
}

#[tokio::test]
async fn a_step_of_a_chain_waits_at_most_30_s() {
    let mut session = Session::initialized(Config::default()).await;
    let steps = json!([{"do": "wait_for", "element": "Sent", "timeout": 31}]);
    let chain = json!({"pid": PLAIN, "steps": steps});
    let refused = session.text("chain_and_traverse", chain).await;
    assert!(refused.contains("at most 30 in a chain"), "{refused}");
}
