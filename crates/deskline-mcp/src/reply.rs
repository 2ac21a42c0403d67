//! The answer of a tool, and its MCP result.

use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use deskline_link::{Answer, error_answer};
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::Map;

/// The key in the `_meta` of a link's result: an object with how long each step took, in ms.
pub const STEPS_MS: &str = "deskline/steps_ms";

/// The answer of a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// The text for the model.
    pub text: String,
    pub is_error: bool,
    /// A PNG picture, sent before the text.
    pub png: Option<Vec<u8>>,
    /// How long each step of a link took.
    pub times: Vec<(&'static str, Duration)>,
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self {
            text: answer.text.trim_end().to_owned(),
            is_error: answer.is_error,
            png: None,
            times: answer.times,
        }
    }
}

impl Reply {
    pub(crate) fn text(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    /// An error answer, in the form of a summary.
    pub fn failure(error: &str) -> Self {
        error_answer(error).into()
    }

    /// The MCP result as JSON.
    pub fn into_json(self) -> String {
        serde_json::json!(CallToolResult::from(self)).to_string()
    }
}

impl From<Reply> for CallToolResult {
    /// Adds no structured content: with it, clients would drop the text.
    fn from(reply: Reply) -> Self {
        let picture = reply
            .png
            .map(|png| ContentBlock::image(BASE64_STANDARD.encode(&png), "image/png"));
        let content = picture
            .into_iter()
            .chain([ContentBlock::text(reply.text)])
            .collect();
        let mut result = if reply.is_error {
            Self::error(content)
        } else {
            Self::success(content)
        };
        let ms = |took: Duration| (took.as_secs_f64() * 1e4).round() / 10.0;
        let times = reply.times.iter();
        let times: Map<_, _> = times
            .map(|(step, took)| ((*step).to_owned(), ms(*took).into()))
            .collect();
        if !times.is_empty() {
            let meta = [(STEPS_MS.to_owned(), times.into())].into_iter().collect();
            result.meta = Some(MetaObject(meta));
        }
        result
    }
}
