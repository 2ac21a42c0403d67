//! An open desktop, on a system where no desktop can end before the program.

use std::process::ExitCode;
use std::sync::Arc;

use deskline_link::Platform;

/// An open desktop.
pub(crate) struct OpenDesktop {
    pub(crate) platform: Arc<dyn Platform>,
}

impl OpenDesktop {
    /// Completes when `stop` does: unlike a private desktop, this one cannot end earlier.
    pub(crate) async fn until(&self, stop: impl Future<Output = ()>) {
        stop.await;
    }

    #[allow(clippy::unused_self)] // as on Linux
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::SUCCESS
    }
}
