//! The handler for a client whose desktop belongs to a fleet: passes its calls on to that desktop.

use std::sync::Arc;
use std::time::Instant;

use hyper::http::request::Parts;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResponse, CallToolResult,
    CancelledNotificationParam, ClientRequest, ErrorData, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ResultType,
    ServerConfig, ServerResult, Tool,
};
use rmcp::service::{PeerRequestOptions, RequestContext, RoleServer, ServiceError};
use rmcp::{ErrorData as McpError, ServerHandler};

use crate::client::Client;
use crate::desktop::Desktop;
use crate::fleet::Fleet;
use crate::metrics::Outcome;
use crate::{audit, gate};
use deskline_mcp::{Reply, STEPS_MS, remote_instructions, reporting, server_info};

/// The header with a session's id.
const SESSION: &str = "mcp-session-id";

/// Passes a client's calls on to its desktop, which the client gets at its first call.
pub struct Relay {
    fleet: Arc<Fleet>,
    /// The session's client, if it sends no handle. Its desktop ends with the session.
    own: Client,
}

impl Relay {
    pub fn new(fleet: Arc<Fleet>) -> Self {
        Self {
            fleet,
            own: Client::default(),
        }
    }

    /// The desktop for a request. The error is for the agent.
    async fn desktop(&self, context: &RequestContext<RoleServer>) -> Result<Arc<Desktop>, String> {
        let Some(parts) = context.extensions.get::<Parts>() else {
            return Err("the request has no head".into());
        };
        let profile = gate::profile(&parts.uri).map_err(|(_, why)| why)?;
        let named;
        let client = if let Some(handle) = gate::handle(&parts.uri, &parts.headers) {
            named = self.fleet.named(handle);
            &named
        } else if parts.headers.contains_key(SESSION) {
            &self.own
        } else {
            return Err(String::from(
                "this server has a desktop for each client, and your protocol has no sessions. Send 32 \
                 letters and digits that nobody can guess, in the header Deskline-Handle: HANDLE",
            ));
        };
        let new = || self.fleet.take(profile.as_ref());
        let desktop = client.desktop(profile.as_ref(), new).await;
        desktop.map_err(|error| error.to_string())
    }
}

impl ServerHandler for Relay {
    fn get_info(&self) -> ServerConfig {
        let tools = self.fleet.tools();
        let reads = |tool: &Tool| tool.annotations.as_ref()?.read_only_hint;
        let is_read_only = tools.iter().all(|tool| reads(tool) == Some(true));
        server_info(remote_instructions(is_read_only))
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.fleet.tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let start = Instant::now();
        let tools = self.fleet.tools();
        let is_known = tools.iter().any(|tool| tool.name == request.name);
        let tool = if is_known {
            request.name.to_string()
        } else {
            "unknown".to_owned()
        };
        let (outcome, answer) = match self.desktop(&context).await {
            Ok(desktop) => {
                let call = audit::call(&request);
                let (outcome, answer) = pass_on(&desktop, request, &context).await;
                let text = answer
                    .as_ref()
                    .ok()
                    .and_then(|result| result.content.first()?.as_text());
                let text = text.map_or("", |text| &text.text);
                desktop
                    .audit
                    .record(&call, outcome.word(), start.elapsed(), text);
                (outcome, answer)
            }
            Err(why) => (Outcome::Refused, Ok(refusal(&why))),
        };
        self.fleet.metrics.link(&tool, outcome, start.elapsed());
        answer.map(|mut result| {
            if let Some(times) = result.meta.as_ref().and_then(|meta| meta.get(STEPS_MS)) {
                self.fleet.metrics.steps(times);
            }
            result.result_type = COMPLETE;
            result.into()
        })
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let desktop = self.desktop(&context).await;
        let desktop = desktop.map_err(|why| McpError::invalid_request(why, None))?;
        let _use = desktop.begin_use();
        let listed = desktop.peer.list_resources(page).await;
        let mut listed = listed.map_err(|error| failed(&desktop, &error))?;
        listed.result_type = COMPLETE;
        Ok(listed)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let desktop = self.desktop(&context).await;
        let desktop = desktop.map_err(|why| McpError::invalid_request(why, None))?;
        let _use = desktop.begin_use();
        let read = desktop.peer.read_resource(request).await;
        let mut read = read.map_err(|error| failed(&desktop, &error))?;
        read.result_type = COMPLETE;
        Ok(read.into())
    }
}

/// An error answer for the agent.
fn refusal(why: &str) -> CallToolResult {
    Reply::failure(why).into()
}

/// Has a desktop carry out a call.
async fn pass_on(
    desktop: &Desktop,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> (Outcome, Result<CallToolResult, ErrorData>) {
    let failed = |failure: &ServiceError| {
        let failure = failed(desktop, failure);
        if desktop.end_is_known.is_cancelled() {
            // Frameworks show the agent the answers of tools, but not errors of the protocol.
            return (Outcome::Ended, Ok(refusal(&failure.message)));
        }
        (Outcome::Error, Err(failure))
    };
    let _use = desktop.begin_use();
    let tool = request.name.to_string();
    let call = ClientRequest::CallToolRequest(CallToolRequest::new(request));
    let options = PeerRequestOptions::no_options();
    let sent = desktop.peer.send_cancellable_request(call, options).await;
    let sent = match sent {
        Ok(sent) => sent,
        Err(failure) => return failed(&failure),
    };
    let (peer, id) = (sent.peer.clone(), sent.id.clone());
    tokio::select! {
        answer = reporting(context, &tool, sent.await_response()) => match answer {
            Ok(ServerResult::CallToolResult(result)) if result.is_error == Some(true) => {
                (Outcome::Error, Ok(result))
            }
            Ok(ServerResult::CallToolResult(result)) => (Outcome::Ok, Ok(result)),
            Ok(_) => (Outcome::Error, Err(McpError::internal_error("the desktop's server \
                returned no tool result", None))),
            Err(failure) => failed(&failure),
        },
        () = context.ct.cancelled() => {
            let cancelled = CancelledNotificationParam::new(Some(id), None);
            // The desktop's server cancels the link and restores the desktop.
            let _ = peer.notify_cancelled(cancelled).await;
            (Outcome::Cancelled, Err(McpError::internal_error("cancelled", None)))
        }
    }
}

/// The desktop's server speaks the generation of the protocol without this field, but the client
/// may need the field. `rmcp` removes it for other clients.
const COMPLETE: Option<ResultType> = Some(ResultType::COMPLETE);

/// The error for a call that the desktop's server answered with an error, or during which that
/// server ended.
fn failed(desktop: &Desktop, error: &ServiceError) -> ErrorData {
    if let ServiceError::McpError(error) = error {
        return error.clone();
    }
    desktop.end_is_known.cancel();
    McpError::internal_error(
        "the desktop ended in the middle of the call, with its apps. The next call gets a new desktop",
        None,
    )
}
