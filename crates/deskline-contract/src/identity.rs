//! The names by which an app is allowed or denied.

/// The names that `--allow-app`, `--deny-app` and grants match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// The names that the system gives the app, and that no app can have written. The first is the
    /// path of its executable, or of the script that it runs. If only an administrator can write
    /// there, the base name of the path and the id of the app's desktop file, package or bundle are
    /// names too. Empty if the system reports nothing.
    pub names: Vec<String>,
    /// The names that the app or its files give it, and the other programs that its command line
    /// may start. They can deny an app, but never allow it.
    pub claims: Vec<String>,
    /// The key of the app's grant: one of its names. `None` if the app shares all its names with
    /// others.
    pub key: Option<String>,
    /// Whether the app would be started with more than one document, or may run another program.
    pub is_command: bool,
}

impl Identity {
    /// An app that is known by this name.
    pub fn named(name: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            names: vec![name.clone()],
            key: Some(name),
            ..Self::default()
        }
    }
}
