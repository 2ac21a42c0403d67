//! Tools that read the journal, for clients that cannot read files.

use super::arg::{Arg, Type};
use super::record::{Effect, Handler, ToolRecord};

const FILE: Arg = Arg::optional("file", Type::Text, "default: the newest");

pub(super) static SEARCH_TREE: ToolRecord = ToolRecord {
    name: "search_tree",
    about: "Find lines of a tree file by a regular expression (any case), with line numbers. For \
        clients that cannot grep files.",
    args: &[
        Arg::required("pattern", Type::Text, ""),
        FILE,
        Arg::optional("role", Type::Text, "AXButton"),
        Arg::optional("limit", Type::Integer, "default 20"),
    ],
    effect: Effect::ReadFile,
    handler: Handler::Search,
};

pub(super) static VIEW_SCREENSHOT: ToolRecord = ToolRecord {
    name: "view_screenshot",
    about: "The picture of a window, for clients that cannot read files. To check, not to take \
        coordinates from.",
    args: &[FILE],
    effect: Effect::ReadFile,
    handler: Handler::Screenshot,
};
