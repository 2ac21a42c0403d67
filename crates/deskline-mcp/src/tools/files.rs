//! Tools that read the journal, for clients that cannot read files.

use super::arg::{Arg, Type};
use super::record::{Effect, Handler, ToolRecord};

const FILE: Arg = Arg::optional("file", Type::Text, "default: the newest");

pub(super) static SEARCH_TREE: ToolRecord = ToolRecord {
    name: "search_tree",
    about: "Find lines of a tree file, if you have no shell or file tool.",
    args: &[
        Arg::required("pattern", Type::Text, "regular expression, any case"),
        FILE,
        Arg::optional("role", Type::Text, "only AXButton, …"),
        Arg::optional("limit", Type::Integer, "default 20"),
    ],
    effect: Effect::ReadFile,
    handler: Handler::Search,
};

pub(super) static VIEW_SCREENSHOT: ToolRecord = ToolRecord {
    name: "view_screenshot",
    about: "A window's screenshot, if you have no file tool. Take coordinates from it only if an \
        answer has `no_tree` or `blind`.",
    args: &[FILE],
    effect: Effect::ReadFile,
    handler: Handler::Screenshot,
};
