//! Why the person has not allowed something, and the next step.

/// Why no answer of the person allows the call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unasked {
    /// They are asked only before a call begins, and the question came up in the middle of one.
    #[error(
        "They are asked before a call and not within one: do this in a call of its own, with the \
        app's pid from list_applications"
    )]
    Yet,
    /// They were asked, and did not allow it.
    #[error(
        "They were asked just now. Do not ask again unless they want you to, and do not look for a \
        way around"
    )]
    Declined,
    /// They cannot be asked: the reason as a clause, and the key of the app's grant, if one can be
    /// kept.
    #[error("They cannot be asked, as {}. Nothing was touched{}", .0, ask(.1.as_deref()))]
    Unable(String, Option<String>),
    /// Their answer could not be kept.
    #[error("Their answer could not be kept: {0}")]
    NotKept(String),
}

fn ask(key: Option<&str>) -> String {
    key.map_or_else(String::new, |key| {
        format!(". Ask them to run: deskline grants allow '{key}'")
    })
}
