//! The handler of a client whose desktop is one of a fleet: passes its calls on to it.

use std::sync::Arc;

use hyper::http::request::Parts;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResponse, CallToolResult,
    CancelledNotificationParam, ClientRequest, ErrorData, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerConfig,
    ServerResult,
};
use rmcp::service::{PeerRequestOptions, RequestContext, RoleServer, ServiceError};
use rmcp::{ErrorData as McpError, ServerHandler};
use tokio::sync::Mutex;

use crate::desktop::Desktop;
use crate::fleet::Fleet;
use crate::gate;
use deskline_mcp::{Reply, remote_instructions, reporting, server_info};

/// The header of a session's id.
const SESSION: &str = "mcp-session-id";

/// Passes a client's calls on to its desktop, which it takes at the first call.
pub struct Relay {
    fleet: Arc<Fleet>,
    /// The desktop of the session, if the client has no handle. It ends with the session.
    own: Mutex<Option<Arc<Desktop>>>,
}

impl Relay {
    pub fn new(fleet: Arc<Fleet>) -> Self {
        Self {
            fleet,
            own: Mutex::default(),
        }
    }

    /// The desktop that a request is for. The error is for the agent.
    async fn desktop(&self, context: &RequestContext<RoleServer>) -> Result<Arc<Desktop>, String> {
        let parts = context.extensions.get::<Parts>();
        if let Some(handle) = parts.and_then(|parts| gate::handle(&parts.uri)) {
            let taken = self.fleet.take(Some(handle)).await;
            return taken.map_err(|error| error.to_string());
        }
        if !parts.is_some_and(|parts| parts.headers.contains_key(SESSION)) {
            return Err(
                "this server has a desktop for each client, and your protocol has no sessions: \
                add a handle to its address, 32 letters and digits that nobody can guess: /mcp/HANDLE"
                    .into(),
            );
        }
        let mut own = self.own.lock().await;
        if let Some(desktop) = own.as_ref() {
            if desktop.runs() {
                return Ok(Arc::clone(desktop));
            }
            // Say once that the apps are gone.
            *own = None;
            return Err(
                "your desktop has ended, with its apps. The next call gets a new one".into(),
            );
        }
        let taken = self
            .fleet
            .take(None)
            .await
            .map_err(|error| error.to_string())?;
        Ok(Arc::clone(own.insert(taken)))
    }
}

impl ServerHandler for Relay {
    fn get_info(&self) -> ServerConfig {
        server_info(remote_instructions())
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
        let desktop = match self.desktop(&context).await {
            Ok(desktop) => desktop,
            Err(why) => return Ok(CallToolResult::from(Reply::failure(&why)).into()),
        };
        let _use = desktop.begin_use();
        let tool = request.name.to_string();
        let call = ClientRequest::CallToolRequest(CallToolRequest::new(request));
        let options = PeerRequestOptions::no_options();
        let sent = desktop.peer.send_cancellable_request(call, options).await;
        let sent = sent.map_err(|error| failed(&error))?;
        let (peer, id) = (sent.peer.clone(), sent.id.clone());
        tokio::select! {
            answer = reporting(&context, &tool, sent.await_response()) => match answer {
                Ok(ServerResult::CallToolResult(result)) => Ok(result.into()),
                Ok(_) => Err(McpError::internal_error("no result of a tool", None)),
                Err(error) => Err(failed(&error)),
            },
            () = context.ct.cancelled() => {
                let cancelled = CancelledNotificationParam::new(Some(id), None);
                // The desktop's server ends the link and restores what it changed.
                let _ = peer.notify_cancelled(cancelled).await;
                Err(McpError::internal_error("cancelled", None))
            }
        }
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
        listed.map_err(|error| failed(&error))
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
        read.map(Into::into).map_err(|error| failed(&error))
    }
}

/// The desktop's server answered with an error, or ended in the middle.
fn failed(error: &ServiceError) -> ErrorData {
    match error {
        ServiceError::McpError(error) => error.clone(),
        _ => McpError::internal_error(
            "the desktop ended in the middle of the call, with its apps. The next call gets a new one",
            None,
        ),
    }
}
