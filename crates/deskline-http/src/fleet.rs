//! Private desktops, one for each client, at most so many. Some are started in advance, so that a
//! client need not wait.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use rmcp::model::Tool;
use tokio::process::Command;
use tokio::sync::Notify;

use crate::desktop::{Desktop, START};
use crate::error::HttpError;
use crate::seal::Seal;

/// How a fleet is run.
pub struct FleetOptions {
    /// The program, which serves a private desktop on standard input and output.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The folder of the desktops' journals: each has a folder of its own in it.
    pub journals: PathBuf,
    /// How they are sealed off from each other, if they are.
    pub seal: Option<Seal>,
    /// At most so many desktops.
    pub most: usize,
    /// So many are started in advance.
    pub warm: usize,
    /// How long a desktop is kept that is not used.
    pub idle: Duration,
}

/// Private desktops. They end with it.
pub struct Fleet {
    options: FleetOptions,
    tools: OnceLock<Vec<Tool>>,
    state: Mutex<State>,
    /// A desktop was started in advance, or one has ended.
    changed: Notify,
}

#[derive(Default)]
struct State {
    /// Started in advance, for nobody yet.
    warm: Vec<Arc<Desktop>>,
    /// The desktops with a handle.
    named: HashMap<String, Arc<Desktop>>,
    /// All that somebody has.
    taken: Vec<Weak<Desktop>>,
    /// How many are being started in advance.
    starting: usize,
    /// The processes that run, start or end.
    processes: usize,
    /// The number of desktops so far.
    started: usize,
}

/// The place of one desktop in a fleet, until its process has ended.
struct Place {
    fleet: Weak<Fleet>,
    number: usize,
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(fleet) = self.fleet.upgrade() {
            fleet.lock().processes -= 1;
            fleet.changed.notify_waiters();
        }
    }
}

/// Why there is no desktop.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoDesktop {
    #[error("all {most} desktops are taken. Try again in {} s", again.as_secs().max(1))]
    Taken { most: usize, again: Duration },
    #[error("{0}. Nothing was done. Try again; if it stays so, ask who runs the server")]
    Failed(HttpError),
}

impl Fleet {
    /// Starts the desktops that are kept in advance, at least one: a fleet whose desktops do not
    /// start fails here.
    pub async fn start(options: FleetOptions) -> Result<Arc<Self>, HttpError> {
        let fleet = Arc::new(Self {
            options,
            tools: OnceLock::new(),
            state: Mutex::default(),
            changed: Notify::new(),
        });
        let place = fleet
            .place()
            .ok_or_else(|| HttpError::Desktop("0 are allowed".into()))?;
        let first = fleet.open(place).await?;
        let tools = first.peer.list_all_tools().await;
        let tools = tools.map_err(|e| HttpError::Desktop(e.to_string()))?;
        fleet.tools.get_or_init(|| tools);
        fleet.lock().warm.push(Arc::new(first));
        fleet.refill();
        tokio::spawn(free_idle(Arc::downgrade(&fleet), fleet.options.idle));
        Ok(fleet)
    }

    /// The tools of each desktop.
    pub(crate) fn tools(&self) -> Vec<Tool> {
        self.tools.get().cloned().unwrap_or_default()
    }

    /// A desktop for a session, or the one with this handle.
    pub(crate) async fn take(
        self: &Arc<Self>,
        handle: Option<&str>,
    ) -> Result<Arc<Desktop>, NoDesktop> {
        if let Some(desktop) = self.named(handle) {
            return Ok(desktop);
        }
        let desktop = loop {
            let changed = self.changed.notified();
            let warm = self.lock().warm.pop();
            if let Some(desktop) = warm.filter(|desktop| desktop.runs()) {
                break desktop;
            }
            if let Some(place) = self.place() {
                break Arc::new(self.open(place).await.map_err(NoDesktop::Failed)?);
            }
            if !self.is_changing() {
                return Err(self.all_taken());
            }
            if tokio::time::timeout(START, changed).await.is_err() {
                return Err(self.all_taken());
            }
        };
        let mut state = self.lock();
        state.taken.retain(|known| known.strong_count() > 0);
        state.taken.push(Arc::downgrade(&desktop));
        if let Some(handle) = handle {
            // Another call with this handle may have been faster: one of the two desktops ends.
            let known = state.named.entry(handle.to_owned()).or_insert(desktop);
            let known = Arc::clone(known);
            drop(state);
            self.refill();
            return Ok(known);
        }
        drop(state);
        self.refill();
        Ok(desktop)
    }

    fn named(&self, handle: Option<&str>) -> Option<Arc<Desktop>> {
        let mut state = self.lock();
        let handle = handle?;
        let known = state.named.get(handle)?;
        if known.runs() {
            return Some(Arc::clone(known));
        }
        state.named.remove(handle);
        None
    }

    /// A place for one more desktop, if there is any.
    fn place(self: &Arc<Self>) -> Option<Place> {
        let mut state = self.lock();
        if state.processes >= self.options.most {
            return None;
        }
        state.processes += 1;
        state.started += 1;
        Some(Place {
            fleet: Arc::downgrade(self),
            number: state.started,
        })
    }

    /// Whether desktops start or end that nobody has.
    fn is_changing(&self) -> bool {
        let state = self.lock();
        let taken = state.taken.iter().filter(|known| known.strong_count() > 0);
        state.processes > taken.count() + state.warm.len()
    }

    /// When the first desktop is free again, if nobody uses it any more.
    fn all_taken(&self) -> NoDesktop {
        let state = self.lock();
        let idle = state
            .taken
            .iter()
            .filter_map(Weak::upgrade)
            .map(|d| d.idle());
        NoDesktop::Taken {
            most: self.options.most,
            again: self
                .options
                .idle
                .saturating_sub(idle.max().unwrap_or_default()),
        }
    }

    async fn open(&self, place: Place) -> Result<Desktop, HttpError> {
        let number = place.number;
        let start = Instant::now();
        let FleetOptions {
            program, journals, ..
        } = &self.options;
        let journal = journals.join(format!("{}-{number}", std::process::id()));
        let mut folders = fs::DirBuilder::new();
        let made = folders.recursive(true).mode(0o700).create(&journal);
        made.map_err(|e| HttpError::Desktop(format!("{}: {e}", journal.display())))?;
        let mut command = match &self.options.seal {
            Some(seal) => seal.command(program, journals, &journal),
            None => Command::new(program),
        };
        command
            .args(&self.options.arguments)
            .arg("--dir")
            .arg(journal);
        // Apps must not have the token.
        command
            .env_remove("DESKLINE_TOKEN")
            .env_remove("DESKLINE_DIR");
        let desktop = Desktop::start(command, place).await?;
        let took = start.elapsed().as_millis();
        tracing::info!("desktop {number} is there after {took} ms");
        Ok(desktop)
    }

    /// Starts desktops in advance, each in a task of its own.
    fn refill(self: &Arc<Self>) {
        while self.lacks() {
            let Some(place) = self.place() else { return };
            self.lock().starting += 1;
            let fleet = Arc::clone(self);
            tokio::spawn(async move {
                let opened = fleet.open(place).await;
                let mut state = fleet.lock();
                state.starting -= 1;
                match opened {
                    Ok(desktop) => state.warm.push(Arc::new(desktop)),
                    Err(error) => tracing::warn!("{error}"),
                }
                drop(state);
                fleet.changed.notify_waiters();
            });
        }
    }

    /// Whether more are to be started in advance.
    fn lacks(&self) -> bool {
        let state = self.lock();
        state.warm.len() + state.starting < self.options.warm
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the desktops with a handle that nobody has used for `idle`.
async fn free_idle(fleet: Weak<Fleet>, idle: Duration) {
    let pause = (idle / 4).clamp(Duration::from_millis(100), Duration::from_secs(10));
    loop {
        tokio::time::sleep(pause).await;
        let Some(fleet) = fleet.upgrade() else {
            return;
        };
        let mut state = fleet.lock();
        state
            .named
            .retain(|_, desktop| desktop.runs() && desktop.idle() < idle);
        state.warm.retain(|desktop| desktop.runs());
        drop(state);
        // A place may have become free.
        fleet.refill();
    }
}
