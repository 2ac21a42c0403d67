//! A real MCP client of a real `deskline serve`, with a blocking interface.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientConfig, ClientRequest,
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability,
    ProgressNotificationParam, ProtocolVersion, ServerResult, Tool,
};
use rmcp::service::{
    ClientLifecycleMode, NotificationContext, PeerRequestOptions, RequestContext, RequestHandle,
    RunningService,
};
use rmcp::{ClientHandler, ClientServiceExt as _, ErrorData, RoleClient};
use serde_json::{Value, json};
use tokio::process::Child;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::{Answer, NativeApp, PATIENCE, until};

/// Calls: each a tool and its arguments.
#[macro_export]
macro_rules! calls {
    ($($tool:literal {$($arguments:tt)*})*) => {
        [$(($tool, serde_json::json!({$($arguments)*}))),*]
    };
}

/// Collects the server's notifications and questions.
#[derive(Debug, Clone, Default)]
struct Heard(
    Arc<Mutex<Vec<String>>>,
    /// The answers of the person. `None`: this client cannot ask.
    Option<Arc<tokio::sync::Mutex<UnboundedReceiver<String>>>>,
);

impl Heard {
    fn note(&self, what: String) {
        self.0.lock().unwrap().push(what);
    }
}

impl ClientHandler for Heard {
    fn get_info(&self) -> ClientConfig {
        let mut info = ClientConfig::default();
        if self.1.is_some() {
            info.capabilities.elicitation = Some(ElicitationCapability::default());
        }
        info
    }

    /// Waits for the person's answer. Any word except `cancel` is sent as their choice.
    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.note(serde_json::to_string(&request).unwrap());
        let answers = self.1.as_ref().expect("asked, though it cannot ask");
        let answer = answers.lock().await.recv().await;
        let answer = answer.filter(|answer| answer != "cancel");
        Ok(
            answer.map_or(ElicitResult::new(ElicitationAction::Cancel), |answer| {
                let content = json!({"answer": answer});
                ElicitResult::new(ElicitationAction::Accept).with_content(content)
            }),
        )
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let mut line = format!("progress {}", params.progress);
        if let Some(message) = params.message {
            let _ = write!(line, " {message}");
        }
        self.note(line);
    }
}

/// A client with the server that it has started. Dropping it closes the server's input, as clients
/// do, and the server ends.
#[derive(Debug)]
pub struct Client {
    // The fields are dropped in this order.
    service: Option<RunningService<RoleClient, Heard>>,
    heard: Heard,
    child: Child,
    /// The server's pid.
    pub pid: u32,
    /// The server's name for a folder, and this process's name for it.
    folder: Option<(String, String)>,
    runtime: Runtime,
}

/// A call without an answer yet.
#[derive(Debug)]
pub struct Pending<'c> {
    handle: RequestHandle<RoleClient>,
    client: &'c Client,
}

impl Client {
    /// Starts the server and connects to it.
    pub fn start(command: Command) -> Self {
        let lifecycle = ClientLifecycleMode::Initialize;
        Self::serve(command, Heard::default(), lifecycle)
    }

    /// Starts a server with another name for this folder. Paths in answers are converted to this
    /// process's name.
    pub fn start_in(command: Command, named: &str, folder: &Path) -> Self {
        let mut client = Self::start(command);
        let folder = folder.to_str().unwrap().to_owned();
        client.folder = Some((named.to_owned(), folder));
        client
    }

    /// Starts a server with a client that asks its person, in the older or the newer generation of
    /// the protocol. The person gives the answers that are sent to the returned channel.
    pub fn asking(command: Command, modern: bool) -> (Self, UnboundedSender<String>) {
        let (answer, answers) = unbounded_channel();
        let answers = Arc::new(tokio::sync::Mutex::new(answers));
        let lifecycle = if modern {
            ClientLifecycleMode::Discover {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            }
        } else {
            ClientLifecycleMode::Initialize
        };
        let heard = Heard(Arc::default(), Some(answers));
        (Self::serve(command, heard, lifecycle), answer)
    }

    fn serve(command: Command, heard: Heard, lifecycle: ClientLifecycleMode) -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let (service, child) = runtime.block_on(async {
            let mut child = tokio::process::Command::from(command)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .kill_on_drop(true)
                .spawn()
                .unwrap();
            let pipes = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
            let served = heard.clone().serve_with_lifecycle(pipes, lifecycle);
            let service = tokio::time::timeout(PATIENCE, served).await;
            (service.expect("no handshake in time").unwrap(), child)
        });
        Self {
            service: Some(service),
            heard,
            pid: child.id().unwrap(),
            child,
            folder: None,
            runtime,
        }
    }

    /// The text of a result, and whether it is an error. Pictures are only counted.
    fn answer(&self, result: &CallToolResult) -> Answer {
        assert!(
            result.structured_content.is_none(),
            "clients would drop the text"
        );
        let texts: Vec<&str> = result
            .content
            .iter()
            .filter_map(|content| Some(content.as_text()?.text.as_str()))
            .collect();
        let text = texts.join("\n");
        Answer {
            text: match &self.folder {
                Some((named, folder)) => text.replace(named, folder),
                None => text,
            },
            is_error: result.is_error.unwrap_or(false),
        }
    }

    fn service(&self) -> &RunningService<RoleClient, Heard> {
        self.service.as_ref().expect("the client has hung up")
    }

    /// Calls a tool and waits for its answer.
    #[track_caller]
    pub fn call(&self, tool: &str, arguments: Value) -> Answer {
        self.call_timeout(tool, arguments, PATIENCE)
            .unwrap_or_else(|| panic!("{tool} was not answered within {PATIENCE:?}"))
    }

    /// Opens an app, a file or a command.
    #[track_caller]
    pub fn open(&self, identifier: &str) -> Answer {
        self.call(
            "open_application_and_traverse",
            json!({"identifier": identifier}),
        )
    }

    /// Lists the apps.
    #[track_caller]
    pub fn applications(&self) -> Answer {
        self.call("list_applications", json!({}))
    }

    /// Reads an app.
    #[track_caller]
    pub fn refresh(&self, pid: u32) -> Answer {
        self.call("refresh_traversal", json!({"pid": pid}))
    }

    /// Clicks an element.
    #[track_caller]
    pub fn click(&self, pid: u32, role: &str, element: &str) -> Answer {
        let arguments = json!({"pid": pid, "role": role, "element": element});
        self.call("click_and_traverse", arguments)
    }

    /// Clicks an element and types a text.
    #[track_caller]
    pub fn fill(&self, pid: u32, role: &str, element: &str, text: &str) -> Answer {
        let arguments = json!({"pid": pid, "role": role, "element": element, "text": text});
        self.call("click_and_traverse", arguments)
    }

    /// Presses an element through accessibility.
    #[track_caller]
    pub fn press_ax(&self, pid: u32, role: &str, element: &str) -> Answer {
        let arguments = json!({"pid": pid, "role": role, "element": element});
        self.call("press_ax_and_traverse", arguments)
    }

    /// Sets the value of an element.
    #[track_caller]
    pub fn set_value(&self, pid: u32, role: &str, element: &str, value: &str) -> Answer {
        let arguments = json!({"pid": pid, "role": role, "element": element, "value": value});
        self.call("set_value_and_traverse", arguments)
    }

    /// Presses a key in an app.
    #[track_caller]
    pub fn press_key(&self, pid: u32, key: &str, modifiers: &[&str]) -> Answer {
        let arguments = json!({"pid": pid, "keyName": key, "modifierFlags": modifiers});
        self.call("press_key_and_traverse", arguments)
    }

    /// Types a text in an app.
    #[track_caller]
    pub fn type_text(&self, pid: u32, text: &str) -> Answer {
        self.call("type_and_traverse", json!({"pid": pid, "text": text}))
    }

    /// Like [`Client::call`], for a client that asks its person and repeats the call if the server
    /// requires it.
    #[track_caller]
    pub fn call_asking(&self, tool: &str, arguments: Value) -> Answer {
        let Value::Object(arguments) = arguments else {
            panic!("{arguments} is no object")
        };
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let called =
            async { tokio::time::timeout(PATIENCE, self.service().call_tool(params)).await };
        let result = self.runtime.block_on(called);
        self.answer(&result.expect("no answer in time").unwrap())
    }

    /// Saves the document of an editor, and returns the file's text.
    pub fn saved(&self, pid: u32, file: &Path) -> String {
        let modified = || fs::metadata(file).unwrap().modified().unwrap();
        let before = modified();
        self.press_key(pid, "s", &["Control"]).ok();
        until("the saved file", || modified() != before);
        fs::read_to_string(file).unwrap()
    }

    /// [`Client::call`] with the app's pid among the arguments.
    pub fn call_for(&self, app: &NativeApp, tool: &str, mut arguments: Value) -> Answer {
        arguments["pid"] = app.pid().into();
        self.call(tool, arguments)
    }

    /// Clicks the test app's toggle by its name, then as [`Client::corners_are_exact`]. Returns the
    /// first answer.
    #[track_caller]
    pub fn clicks_are_exact(&self, app: &NativeApp, of: &str) -> Answer {
        let answer = self.toggles(app, json!({"element": "Bold"}), 1, of);
        self.corners_are_exact(app, &answer, of);
        answer
    }

    /// Clicks the test app's toggle just inside two of its corners, by the bounds in this answer,
    /// which proves that the bounds are exact. Then clicks just below it, which must toggle
    /// nothing.
    #[track_caller]
    pub fn corners_are_exact(&self, app: &NativeApp, answer: &Answer, of: &str) {
        let bold = answer.toggle();
        // The corners are round: a click one pixel further out would miss.
        for (x, y) in [(2, 2), (bold.w - 3, bold.h - 3)] {
            self.toggles(app, json!({"x": bold.x + x, "y": bold.y + y}), 1, of);
        }
        let below = json!({"x": bold.x + bold.w / 2, "y": bold.y + bold.h + 2});
        self.toggles(app, below, 0, of);
    }

    /// Clicks a place, which must toggle the test app's toggle this many times. A plain button
    /// shows no effect, so each call would wait for one.
    #[track_caller]
    pub fn toggles(&self, app: &NativeApp, place: Value, times: usize, of: &str) -> Answer {
        app.clear_log();
        let what = format!("{place} of {of}");
        let answer = self.call_for(app, "click_and_traverse", place).ok();
        let toggled = || {
            let log = app.log();
            log.iter()
                .filter(|line| line.starts_with("toggled Bold "))
                .count()
        };
        if times > 0 {
            until(&format!("{what}\n{answer}"), || toggled() >= times);
        }
        assert_eq!(toggled(), times, "{what}");
        answer
    }

    /// Clicks the item of the test app's menu.
    pub fn menu_item_is_clicked(&self, app: &NativeApp) {
        for (element, role) in [("File", "AXMenuBarItem"), ("File option", "AXMenuItem")] {
            assert_eq!(app.logged("menu File option true"), 0);
            self.click(app.pid(), role, element).ok();
        }
        app.wait_for("menu File option true");
    }

    /// Whether `list_applications` reports the app as being in front.
    pub fn has_in_front(&self, app: &NativeApp) -> bool {
        self.has_process_in_front(app.pid())
    }

    /// Whether `list_applications` reports this process's app as being in front.
    pub fn has_process_in_front(&self, pid: u32) -> bool {
        let listed = self.applications().ok();
        listed.text.contains(&format!("(PID: {pid}) front "))
    }

    /// Calls a tool. Cancels it and returns `None` if there is no answer within `time`.
    pub fn call_timeout(&self, tool: &str, arguments: Value, time: Duration) -> Option<Answer> {
        self.send(tool, arguments).answer(time)
    }

    /// Sends a call without waiting for its answer.
    pub fn send(&self, tool: &str, arguments: Value) -> Pending<'_> {
        let Value::Object(arguments) = arguments else {
            panic!("{arguments} is no object")
        };
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let peer = self.service().peer();
        let options = PeerRequestOptions::no_options();
        let sent = peer.send_cancellable_request(request, options);
        Pending {
            handle: self.runtime.block_on(sent).unwrap(),
            client: self,
        }
    }

    /// The server's notifications so far.
    pub fn notifications(&self) -> Vec<String> {
        self.heard.0.lock().unwrap().clone()
    }

    /// The tools that the server lists.
    pub fn tools(&self) -> Vec<Tool> {
        let peer = self.service().peer();
        self.runtime.block_on(peer.list_all_tools()).unwrap()
    }

    /// The instructions that the server sent on connect.
    pub fn instructions(&self) -> String {
        let info = self.service().peer().peer_info();
        info.and_then(|info| info.instructions.clone())
            .unwrap_or_default()
    }

    /// Closes the server's input and waits until it exits.
    pub fn hang_up(mut self) -> ExitStatus {
        self.close();
        let Self { runtime, child, .. } = &mut self;
        let ended = runtime.block_on(async { tokio::time::timeout(PATIENCE, child.wait()).await });
        ended.expect("the server did not end in time").unwrap()
    }

    fn close(&mut self) {
        if let Some(service) = self.service.take() {
            let _ = self.runtime.block_on(service.cancel());
        }
    }
}

impl Pending<'_> {
    /// Waits for the answer. Cancels the call and returns `None` if there is none within `time`.
    pub fn answer(mut self, time: Duration) -> Option<Answer> {
        self.handle.options.timeout = Some(time);
        match self.client.runtime.block_on(self.handle.await_response()) {
            Ok(ServerResult::CallToolResult(result)) => Some(self.client.answer(&result)),
            Ok(other) => panic!("not a tool's answer: {other:?}"),
            Err(rmcp::ServiceError::Timeout { .. }) => None,
            Err(error) => panic!("no answer: {error}"),
        }
    }

    /// Cancels the call. By the protocol it then has no answer.
    pub fn cancel(self) {
        let cancelled = self.handle.cancel(Some("the test".into()));
        self.client.runtime.block_on(cancelled).unwrap();
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.close();
        let Self { runtime, child, .. } = self;
        let time = Duration::from_secs(5);
        let _ = runtime.block_on(async { tokio::time::timeout(time, child.wait()).await });
    }
}
