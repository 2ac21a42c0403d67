//! How a client starts the server.

/// The server's name in the client's configuration.
pub(super) const NAME: &str = "deskline";

/// How a client starts the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Server {
    /// The absolute path of this program.
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
}

impl Server {
    pub(super) fn this(arguments: &[String]) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|e| format!("cannot find itself: {e}"))?;
        let program = program
            .into_os_string()
            .into_string()
            .map_err(|path| format!("its path is not UTF-8: {}", path.display()))?;
        Ok(Self {
            program,
            arguments: arguments.to_vec(),
        })
    }
}
