//! Who an app is, to whoever allows or denies it.

/// The names that `--allow-app`, `--deny-app` and grants match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// What the system says of it, which no app can have written: the path of its executable or of
    /// the script that it runs, and if only an administrator can write there, its base name and the
    /// id of its desktop file, package or bundle. Empty if the system reports nothing.
    pub names: Vec<String>,
    /// What it or its files say of it, and other programs that a command line may start. These deny
    /// an app and allow none.
    pub claims: Vec<String>,
    /// The key of its grant: one of its names. `None` if none is the app's alone.
    pub key: Option<String>,
    /// Whether it would be started with more than one document, or may run another program.
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
