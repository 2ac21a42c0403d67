//! A headless Chromium for tests of pages, driven over its debugging pipe (Chrome DevTools
//! Protocol).

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Instant;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Value, json};

use crate::{PATIENCE, until};

/// The protocol's messages go over descriptors 3 and 4: the shell connects them to its input and
/// output.
const PIPES: &str = r#"exec "$@" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null"#;

/// A browser with one page. It ends with this value.
#[derive(Debug)]
pub struct Browser {
    child: Child,
    requests: ChildStdin,
    messages: Receiver<Value>,
    session: Option<String>,
    next: u64,
    problems: Vec<String>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts a browser with a fresh profile.
    pub fn start() -> Self {
        let profile = tempfile::tempdir().unwrap();
        let mut child = Command::new("sh")
            .args(["-c", PIPES, "sh", "chromium", "--headless=new"])
            .args(["--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"])
            .args(["--no-first-run", "--disable-background-networking"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        thread::spawn(move || {
            for message in answers.split(0).map_while(Result::ok) {
                let message = serde_json::from_slice(&message).unwrap();
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut browser = Self {
            requests: child.stdin.take().unwrap(),
            child,
            messages,
            session: None,
            next: 0,
            problems: Vec::new(),
            _profile: profile,
        };
        let target = browser.send("Target.createTarget", &json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = browser.send("Target.attachToTarget", &attach);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Runtime", "Log", "Page", "Network"] {
            browser.send(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    /// Sends a request of the protocol and waits for its answer.
    pub fn send(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        let mut request = json!({"id": id, "method": method, "params": params});
        if let Some(session) = &self.session {
            request["sessionId"] = session.as_str().into();
        }
        write!(self.requests, "{request}\0").unwrap();
        self.requests.flush().unwrap();
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let message = self.messages.recv_timeout(left);
            let message = message.unwrap_or_else(|_| panic!("{method} was not answered"));
            if message["id"] == id {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.note(&message);
        }
    }

    fn note(&mut self, message: &Value) {
        let params = &message["params"];
        let problem = match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => &params["exceptionDetails"],
            Some("Log.entryAdded") => &params["entry"],
            Some("Page.javascriptDialogOpening") => &params["message"],
            _ => return,
        };
        self.problems.push(problem.to_string());
    }

    /// The errors of the page: exceptions, refused resources, dialogs.
    pub fn problems(&mut self) -> &[String] {
        self.eval("0");
        &self.problems
    }

    /// The page's width and height in its own pixels; `phone` for a touch screen of twice the
    /// density.
    pub fn size(&mut self, width: u32, height: u32, phone: bool) {
        let scale = if phone { 2 } else { 1 };
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": scale, "mobile": phone});
        self.send("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Whether the person prefers dark pages.
    pub fn dark(&mut self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let feature = json!({"name": "prefers-color-scheme", "value": value});
        self.send(
            "Emulation.setEmulatedMedia",
            &json!({"features": [feature]}),
        );
    }

    /// Opens an address.
    pub fn open(&mut self, url: &str) {
        self.send("Page.navigate", &json!({"url": url}));
    }

    /// The value of a script's expression.
    #[track_caller]
    pub fn eval(&mut self, script: &str) -> Value {
        let params = json!({"expression": script, "awaitPromise": true, "returnByValue": true});
        let answer = self.send("Runtime.evaluate", &params);
        let exception = &answer["exceptionDetails"];
        assert!(exception.is_null(), "{script}: {exception}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub fn wait_for(&mut self, script: &str) {
        until(script, || self.eval(script) == true);
    }

    /// Presses a key, named as in `KeyboardEvent.key`.
    pub fn key(&mut self, key: &str) {
        let text = if key.chars().count() == 1 { key } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            self.send(
                "Input.dispatchKeyEvent",
                &json!({"type": kind, "key": key, "text": text}),
            );
        }
    }

    /// Types a text into the focused element.
    pub fn text(&mut self, text: &str) {
        self.send("Input.insertText", &json!({"text": text}));
    }

    /// Moves the pointer to a point of the page.
    pub fn point(&mut self, x: f64, y: f64) {
        let event = json!({"type": "mouseMoved", "x": x, "y": y});
        self.send("Input.dispatchMouseEvent", &event);
    }

    /// Clicks at a point of the page.
    pub fn click(&mut self, x: f64, y: f64) {
        self.point(x, y);
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1});
            self.send("Input.dispatchMouseEvent", &event);
        }
    }

    /// The left, top, width and height of the first element that a selector finds.
    #[track_caller]
    pub fn bounds(&mut self, selector: &str) -> [f64; 4] {
        let bounds = self.bounds_if_there(selector);
        bounds.unwrap_or_else(|| panic!("{selector} finds nothing"))
    }

    fn bounds_if_there(&mut self, selector: &str) -> Option<[f64; 4]> {
        let bounds = self.eval(&format!(
            "((box) => box && [box.left, box.top, box.width, box.height])\
             (document.querySelector({selector:?})?.getBoundingClientRect())"
        ));
        serde_json::from_value(bounds).unwrap()
    }

    /// Clicks the middle of the first element that a selector finds.
    #[track_caller]
    pub fn click_on(&mut self, selector: &str) {
        assert!(self.click_if_there(selector), "{selector} finds nothing");
    }

    /// Clicks the middle of the first element that a selector finds, if it finds one. Returns
    /// whether it does.
    pub fn click_if_there(&mut self, selector: &str) -> bool {
        let bounds = self.bounds_if_there(selector);
        if let Some([left, top, width, height]) = bounds {
            self.click(left + width / 2.0, top + height / 2.0);
        }
        bounds.is_some()
    }

    /// Writes a picture of the page, PNG.
    pub fn picture(&mut self, path: &Path) {
        let answer = self.send("Page.captureScreenshot", &json!({"format": "png"}));
        let picture = BASE64_STANDARD.decode(answer["data"].as_str().unwrap());
        std::fs::write(path, picture.unwrap()).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // All processes of the browser end, so that none still writes to the profile.
        let _ = write!(
            self.requests,
            "{}\0",
            json!({"id": 0, "method": "Browser.close"})
        );
        let deadline = Instant::now() + PATIENCE;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            thread::sleep(std::time::Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
