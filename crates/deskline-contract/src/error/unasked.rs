//! Why the person has not allowed something, and the next step.

/// Why no answer of the person allows the call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unasked {
    /// The person is asked only before a call begins, but the question came up during a call.
    #[error(
        "The user is asked only before a call, not during one. Send this action as a separate call, \
        with the app's pid from list_applications"
    )]
    Yet,
    /// The person was asked, and did not allow it.
    #[error(
        "The user was asked just now and did not allow it. Do not ask again unless the user wants \
        it, and do not look for a way around"
    )]
    Declined,
    /// The person cannot be asked. Holds the reason as a clause, and the key of the app's grant if
    /// a grant can be stored.
    #[error("The user cannot be asked: {}. Nothing was touched{}", .0, ask(.1.as_deref()))]
    Unable(String, Option<String>),
    /// The person's answer could not be stored.
    #[error("The user's answer could not be stored: {0}")]
    NotKept(String),
}

fn ask(key: Option<&str>) -> String {
    key.map_or_else(String::new, |key| {
        format!(". Ask them to run: deskline grants allow '{key}'")
    })
}
