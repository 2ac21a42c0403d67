//! The answer of a tool, and its MCP result.

use deskline_core::base64;
use deskline_link::Answer;
use rmcp::model::{CallToolResult, ContentBlock};

use crate::worker::failure;

/// The answer of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The text for the model.
    pub text: String,
    pub is_error: bool,
    /// A PNG picture, sent before the text.
    pub png: Option<Vec<u8>>,
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self {
            text: answer.text.trim_end().to_owned(),
            is_error: answer.is_error,
            png: None,
        }
    }
}

impl Reply {
    /// An error answer, in the form of a summary.
    pub fn failure(error: &str) -> Self {
        failure(error).into()
    }

    /// The MCP result as JSON.
    pub fn into_json(self) -> String {
        serde_json::json!(CallToolResult::from(self)).to_string()
    }
}

impl From<Reply> for CallToolResult {
    /// Has no structured content: clients then drop the text.
    fn from(reply: Reply) -> Self {
        let picture = reply
            .png
            .map(|png| ContentBlock::image(base64::encode(&png), "image/png"));
        let content = picture
            .into_iter()
            .chain([ContentBlock::text(reply.text)])
            .collect();
        if reply.is_error {
            Self::error(content)
        } else {
            Self::success(content)
        }
    }
}
