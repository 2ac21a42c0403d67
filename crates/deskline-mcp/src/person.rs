//! Asks the person through their client, by MCP elicitation: `elicitation/create` in the middle of
//! a call or, from protocol 2026-07-28 on, as the answer to the call, which the client then
//! repeats.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use deskline_link::grants::{Approval, Question};
use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, EnumSchema, InputRequest, InputRequiredResult, InputResponses,
    ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext, RoleServer};

/// How long a person may take to answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);

/// The name of the form's field.
const FIELD: &str = "answer";

/// The result of asking a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    Answered(Approval),
    /// The person dismissed the question, or did not answer in time.
    Declined,
    /// The person cannot be asked. The text is the reason, as a clause.
    Unable(String),
    /// The client will repeat the call with the person's answer.
    Later,
}

/// The person behind a client.
pub trait Person: Sync {
    /// Asks the person. Takes at most [`PATIENCE`].
    fn ask<'p>(
        &'p self,
        question: &'p Question,
    ) -> Pin<Box<dyn Future<Output = Asked> + Send + 'p>>;
}

/// No client: nobody can be asked.
#[derive(Debug, Clone, Copy)]
pub struct Nobody;

impl Person for Nobody {
    fn ask<'p>(&'p self, _: &'p Question) -> Pin<Box<dyn Future<Output = Asked> + Send + 'p>> {
        Box::pin(async { Asked::Unable("no MCP client made this call".into()) })
    }
}

/// The client that has made a call.
pub(crate) struct Client<'c> {
    pub(crate) context: &'c RequestContext<RoleServer>,
    /// The person's answers to the questions that earlier replies to this call have asked.
    pub(crate) answers: InputResponses,
}

impl Person for Client<'_> {
    fn ask<'p>(
        &'p self,
        question: &'p Question,
    ) -> Pin<Box<dyn Future<Output = Asked> + Send + 'p>> {
        Box::pin(async move {
            if let Some(answer) = self.answers.get(&question.id()) {
                let answer = serde_json::from_value(answer.clone());
                return answer.map_or(Asked::Declined, |answer| understood(answer, question));
            }
            if !self.has_forms() {
                return Asked::Unable(
                    "this client does not offer MCP elicitation (forms)".to_owned(),
                );
            }
            let version = self.context.protocol_version();
            if version.is_some_and(|version| !version.has_initialize()) {
                return Asked::Later;
            }
            self.elicit(question).await
        })
    }
}

impl Client<'_> {
    fn has_forms(&self) -> bool {
        let capabilities = self.context.client_capabilities();
        let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation);
        // Older clients know only forms, and do not name this mode.
        elicitation.is_some_and(|offers| offers.form.is_some() || offers.url.is_none())
    }

    async fn elicit(&self, question: &Question) -> Asked {
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(form(question)));
        let options = PeerRequestOptions::with_timeout(PATIENCE);
        let sent = self.context.peer.send_cancellable_request(request, options);
        let handle = match sent.await {
            Ok(handle) => handle,
            Err(error) => {
                return Asked::Unable(format!("the client did not take the question ({error})"));
            }
        };
        tokio::select! {
            answer = handle.await_response() => match answer {
                Ok(ClientResult::ElicitResult(answer)) => understood(answer, question),
                Err(rmcp::ServiceError::Timeout { .. }) => Asked::Declined,
                Ok(_) => Asked::Unable("the client answered something else".to_owned()),
                Err(error) => Asked::Unable(format!("the client did not ask them ({error})")),
            },
            // The client has cancelled the call.
            () = self.context.ct.cancelled() => Asked::Declined,
        }
    }
}

/// The answer for a client that asks its user and then repeats the call.
pub(crate) fn input_required(question: &Question) -> InputRequiredResult {
    let request = InputRequest::Elicitation(ElicitRequest::new(form(question)));
    let requests = [(question.id(), request)].into_iter().collect();
    InputRequiredResult::from_input_requests(requests)
}

fn form(question: &Question) -> ElicitRequestParams {
    let answers = question.answers().into_iter();
    let words = answers.map(|answer| answer.word().to_owned());
    let answer = EnumSchema::builder(words.collect())
        .title("May it?")
        .description(question.meaning());
    let answers = ElicitationSchema::builder().required_enum_schema(FIELD, answer.build());
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: question.words(),
        requested_schema: answers.build_unchecked(),
    }
}

fn understood(answer: ElicitResult, question: &Question) -> Asked {
    if answer.action != ElicitationAction::Accept {
        return Asked::Declined;
    }
    let content = answer.content.unwrap_or_default();
    let word = content[FIELD].as_str().unwrap_or_default();
    let mut answers = question.answers().into_iter();
    let known = answers.find(|known| known.word() == word);
    known.map_or(Asked::Declined, Asked::Answered)
}
