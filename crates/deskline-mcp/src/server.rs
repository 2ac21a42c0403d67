//! The MCP server on top of rmcp, for both generations of the protocol: `initialize`, and the
//! stateless `server/discover`. rmcp distinguishes them.

use std::sync::Arc;
use std::time::Duration;

use deskline_link::{Cancel, Reason};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult,
    Implementation, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer, ServerInitializeError};
use rmcp::{ErrorData, ServerHandler, ServiceExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::dispatch::{Dispatcher, NoReply, blocking};
use crate::eof::Watched;
use crate::person::{Client, input_required};
use crate::{recipe, resources};

/// The instructions that the model gets on connect.
pub const INSTRUCTIONS: &str = include_str!("instructions.md");

/// The interval of progress reports; the first comes after one interval.
const PROGRESS: Duration = Duration::from_secs(1);

/// How long a stopping server waits for a link to restore the desktop.
const RESTORE: Duration = Duration::from_secs(5);

/// How long a stopping server, after `RESTORE`, waits until its answers are written.
const FLUSH: Duration = Duration::from_secs(1);

/// The lines of [`INSTRUCTIONS`] about files, and their replacement for clients that cannot open
/// files.
const OPENS_FILES: &str = "- Search a .txt with grep (`grep -n 'AXButton' FILE`), do not read it \
    whole. Lines that start with +, - or ~ are what the action changed. Without a shell or file \
    tool use search_tree and view_screenshot.";
const NO_FILES: &str = "- The files are on the server, out of your reach: search_tree finds lines of \
    a .txt, view_screenshot shows the .png. Lines that start with +, - or ~ are what the action \
    changed.";

/// The instructions for a client on another machine, which cannot open the files. If
/// `is_read_only`, they name only tools that read.
pub fn remote_instructions(is_read_only: bool) -> String {
    let remote = INSTRUCTIONS.replace(OPENS_FILES, NO_FILES);
    if is_read_only {
        read_only(&remote)
    } else {
        remote
    }
}

/// The instructions of a server that offers only tools that read.
fn read_only(instructions: &str) -> String {
    let mut parts = instructions.split("\n\n");
    let mut next = || parts.next().unwrap_or_default();
    let (what, how) = (next(), next());
    let data = parts.last().unwrap_or_default();
    let how = how.lines().filter(|line| !line.contains("after an action"));
    let how: Vec<&str> = how.collect();
    format!("{what}\n\n{}\n\n{LOOKS}\n\n{data}", how.join("\n"))
}

/// What a client can do if it may only read.
const LOOKS: &str = "You can only look: the user has set --read-only. list_applications gives the pid \
    of each app, refresh_traversal reads one, wait_for_and_traverse waits for a change.";

/// The server's name, version and capabilities.
pub fn server_info(instructions: impl Into<String>) -> ServerConfig {
    let capabilities = ServerCapabilities::builder()
        .enable_tools()
        .enable_resources()
        .build();
    let name = Implementation::new("deskline", env!("CARGO_PKG_VERSION")).with_title("Deskline");
    ServerConfig::new(capabilities)
        .with_instructions(instructions)
        .with_server_info(name)
}

/// The handler of one client's requests.
#[derive(Clone)]
pub struct Server {
    dispatcher: Arc<Dispatcher>,
    /// Whether the client may be on another machine.
    is_remote: bool,
}

impl Server {
    /// A handler for clients that may be on another machine.
    pub fn remote(dispatcher: Arc<Dispatcher>) -> Self {
        Self {
            dispatcher,
            is_remote: true,
        }
    }
}

/// Serving failed.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The first message was invalid.
    #[error("the client did not speak MCP: {0}")]
    Handshake(#[source] Box<ServerInitializeError>),
    /// The protocol task failed.
    #[error("the protocol loop failed: {0}")]
    Protocol(#[from] tokio::task::JoinError),
}

/// Serves one client until its input ends or `stop` completes. Before it returns, the desktop has
/// been restored or [`RESTORE`] has passed.
pub async fn serve<R, W>(
    dispatcher: Arc<Dispatcher>,
    input: R,
    output: W,
    stop: impl Future<Output = ()>,
) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let ended = {
        let dispatcher = Arc::clone(&dispatcher);
        move || dispatcher.interrupt()
    };
    let transport = (Watched::new(input, ended), output);
    let served = converse(&dispatcher, transport, stop).await;
    if !dispatcher.stop(RESTORE).await {
        tracing::warn!("a link did not end within {RESTORE:?}");
    }
    served
}

async fn converse<T, E, A>(
    dispatcher: &Arc<Dispatcher>,
    transport: T,
    stop: impl Future<Output = ()>,
) -> Result<(), ServeError>
where
    T: rmcp::transport::IntoTransport<RoleServer, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    tokio::pin!(stop);
    let server = Server {
        dispatcher: Arc::clone(dispatcher),
        is_remote: false,
    };
    let handshake = server.serve(transport);
    let running = tokio::select! {
        running = handshake => match running {
            Ok(running) => running,
            // A client may request the server's info and leave.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ServeError::Handshake(Box::new(error))),
        },
        () = &mut stop => return Ok(()),
    };
    let token = running.cancellation_token();
    let waiting = running.waiting();
    tokio::pin!(waiting);
    tokio::select! {
        reason = &mut waiting => {
            reason?;
        }
        () = &mut stop => {
            dispatcher.stop(RESTORE).await;
            token.cancel();
            let _ = tokio::time::timeout(FLUSH, waiting).await;
        }
    }
    Ok(())
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        server_info(match (self.is_remote, self.dispatcher.is_read_only()) {
            (true, is_read_only) => remote_instructions(is_read_only),
            (false, true) => read_only(INSTRUCTIONS),
            (false, false) => INSTRUCTIONS.to_owned(),
        })
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.dispatcher.tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let cancel = Cancel::new();
        let arguments = request.arguments.unwrap_or_default();
        let client = Client {
            context: &context,
            answers: request.input_responses.unwrap_or_default(),
        };
        let dispatcher = &self.dispatcher;
        let call = recipe::call(dispatcher, &request.name, &arguments, &cancel, &client);
        let until_answered = Box::pin(async {
            tokio::pin!(call);
            loop {
                tokio::select! {
                    biased;
                    reply = &mut call => break reply,
                    () = context.ct.cancelled(), if cancel.reason().is_none() => {
                        // The link still restores the desktop before it answers.
                        cancel.cancel(Reason::Request);
                    }
                }
            }
        });
        let reply = reporting(&context, &request.name, until_answered).await;
        match reply {
            Ok(reply) => Ok(CallToolResult::from(reply).into()),
            Err(NoReply::Asks(question)) => Ok(input_required(&question).into()),
            Err(unknown) => Err(ErrorData::invalid_params(unknown.to_string(), None)),
        }
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let files = self.dispatcher.files().clone();
        let listed = blocking(move || Ok(resources::list(&files))).await;
        let listed = listed.map_err(|error| ErrorData::internal_error(error, None))?;
        listed.map(ListResourcesResult::with_all_items)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let files = self.dispatcher.files().clone();
        let read = blocking(move || Ok(resources::read(&files, &request.uri))).await;
        let read = read.map_err(|error| ErrorData::internal_error(error, None))?;
        read.map(Into::into)
    }

    /// Also called for malformed requests of known methods.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        match request.method.as_str() {
            "tools/call" => Err(ErrorData::invalid_params(
                "tools/call needs a tool's name, and its arguments as an object",
                None,
            )),
            "resources/read" => Err(ErrorData::invalid_params(
                "resources/read needs a uri",
                None,
            )),
            method => Err(ErrorData::new(
                rmcp::model::ErrorCode::METHOD_NOT_FOUND,
                method.to_owned(),
                None,
            )),
        }
    }
}

/// Does `work`. Meanwhile, reports progress to the client if the client has asked for that.
pub async fn reporting<T>(
    context: &RequestContext<RoleServer>,
    tool: &str,
    work: impl Future<Output = T>,
) -> T {
    tokio::pin!(work);
    let Some(token) = context.meta.get_progress_token() else {
        return work.await;
    };
    let started = Instant::now();
    let mut ticks = interval_at(started + PROGRESS, PROGRESS);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            _ = ticks.tick() => {
                let seconds = started.elapsed().as_secs();
                let report = ProgressNotificationParam::new(token.clone(), seconds as f64)
                    .with_message(format!("{tool}: {seconds} s"));
                let peer = context.peer.clone();
                // Not awaited: a client that does not read must not block the link.
                tokio::spawn(async move { peer.notify_progress(report).await });
            }
        }
    }
}
