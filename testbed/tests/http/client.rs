//! A client with a desktop, over HTTP.

use std::process::Command;

use deskline_testbed::{SdkClient, sdks};
use serde_json::{Value, json};

use crate::TOKEN;
use crate::server::Server;

/// A client of the official Python SDK.
pub(crate) struct Client(SdkClient);

impl Client {
    pub(crate) fn connect(url: &str) -> Self {
        Self::with(&[url])
    }

    /// A client at this address, with the handle of a desktop.
    pub(crate) fn with(address: &[&str]) -> Self {
        let mut command = Command::new(sdks("bin/python"));
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/apps/http_client.py");
        command
            .arg(script)
            .args(address)
            .env("DESKLINE_TOKEN", TOKEN);
        Self(SdkClient::start(command))
    }

    /// A client on this package of the official TypeScript SDK.
    pub(crate) fn by(package: &str, url: &str) -> Self {
        let mut command = Command::new(sdks("bin/node"));
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/apps/client.mjs"));
        command
            .arg(sdks(""))
            .args([package, url])
            .env("DESKLINE_TOKEN", TOKEN);
        Self(SdkClient::start(command))
    }

    /// Its first line: the server's instructions, the number of its tools, the protocol.
    pub(crate) fn hello(&self) -> &Value {
        &self.0.hello
    }

    pub(crate) fn begin(&mut self, call: &Value) {
        self.0.send(call);
    }

    pub(crate) fn read(&mut self) -> Value {
        self.0.read()
    }

    pub(crate) fn say(&mut self, value: &Value) -> Value {
        self.0.ask(value)
    }

    /// Makes a call that must be refused. Returns the error.
    pub(crate) fn refused(&mut self, tool: &str, arguments: &Value) -> String {
        let answer = self.say(&json!([tool, arguments]));
        let text = answer["text"].as_str().unwrap();
        assert_eq!(answer["error"], true, "{text}");
        text.to_owned()
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> String {
        let answer = self.say(&json!([tool, arguments]));
        let text = answer["text"].as_str().unwrap();
        assert_eq!(answer["error"], false, "{text}");
        text.to_owned()
    }

    /// Runs a shell command on the client's desktop. Its output appears in a window.
    pub(crate) fn run(&mut self, line: &str) -> String {
        let app =
            format!("sh -c 'text=$({{ {line}; }} 2>&1); exec zenity --info --text=\"$text.\"'");
        self.call("open_application_and_traverse", &json!({"identifier": app}));
        self.call("search_tree", &json!({"pattern": "AXStaticText"}))
    }

    /// Writes a text in an editor and saves it in its desktop's own `/tmp`.
    pub(crate) fn note(&mut self, server: &Server, text: &str, name: &str) {
        let pid = self.open_editor();
        let steps = json!([
            {"do": "type", "text": text},
            {"do": "press_key", "keyName": "s", "modifierFlags": ["Control"]},
            {"do": "type", "text": format!("/tmp/{name}"), "pressKey": "Return"},
            {"do": "wait_for", "element": "Save As", "role": "AXWindow", "state": "absent"},
        ]);
        self.call("chain_and_traverse", &json!({"pid": pid, "steps": steps}));
        assert_eq!(server.file(name).as_deref(), Some(text));
    }

    /// Opens an editor, and returns its process.
    pub(crate) fn open_editor(&mut self) -> u64 {
        let open = json!({"identifier": "mousepad"});
        let opened = self.call("open_application_and_traverse", &open);
        let mut lines = opened.lines();
        let pid = lines.find_map(|line| line.strip_prefix("pid: ")).unwrap();
        pid.parse().unwrap()
    }

    /// Ends the session.
    pub(crate) fn leave(mut self) {
        self.0.send(&Value::Null);
        self.0.wait();
    }
}
