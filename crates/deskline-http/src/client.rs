//! A client's desktop: running or ended. The end of the desktop is reported to the client once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use crate::desktop::Desktop;
use crate::error::NoDesktop;
use crate::profile::Profile;

/// How long the end of a desktop is remembered, to report it in an error at its client's next call.
const REMEMBERED: Duration = Duration::from_secs(24 * 3600);

/// A client's desktop, which ends when this is dropped.
#[derive(Default)]
pub(crate) struct Client(Mutex<Holding>);

#[derive(Default)]
enum Holding {
    #[default]
    Nothing,
    Desktop(Arc<Desktop>),
    /// The client's desktop has ended, and no error has reported that yet.
    Ended(Instant),
}

impl Holding {
    /// The client's state after its desktop has ended or is about to end.
    fn after(desktop: &Desktop) -> Self {
        if desktop.end_is_known.is_cancelled() {
            Self::Nothing
        } else {
            Self::Ended(Instant::now())
        }
    }
}

impl Client {
    /// The client's desktop. The first call makes a desktop by `new`. After a desktop has ended,
    /// the next call gets an error, and the call after that a new desktop.
    pub(crate) async fn desktop(
        &self,
        profile: Option<&Profile>,
        new: impl AsyncFnOnce() -> Result<Arc<Desktop>, NoDesktop>,
    ) -> Result<Arc<Desktop>, NoDesktop> {
        let mut holding = self.0.lock().await;
        if let Holding::Desktop(desktop) = &*holding {
            if !desktop.runs() {
                *holding = Holding::after(desktop);
            } else if desktop.profile.as_ref() == profile {
                return Ok(Arc::clone(desktop));
            } else {
                return Err(NoDesktop::OtherProfile);
            }
        }
        if let Holding::Ended(_) = *holding {
            *holding = Holding::Nothing;
            return Err(NoDesktop::Ended);
        }
        let desktop = new().await?;
        *holding = Holding::Desktop(Arc::clone(&desktop));
        Ok(desktop)
    }

    /// Ends the client's desktop if nobody has used it for `idle`. Returns whether the client's
    /// state has to be kept.
    pub(crate) fn free_idle(&self, idle: Duration) -> bool {
        let Ok(mut holding) = self.0.try_lock() else {
            return true;
        };
        match &*holding {
            Holding::Nothing => return false,
            Holding::Ended(since) => return since.elapsed() < REMEMBERED,
            Holding::Desktop(desktop) if desktop.runs() && desktop.idle() < idle => {}
            Holding::Desktop(desktop) => *holding = Holding::after(desktop),
        }
        true
    }
}
