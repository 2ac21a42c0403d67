//! Private desktops, one for each client, up to a limit. Some are started in advance, so that a
//! client need not wait.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};
use std::{io, thread};

use deskline_journal::Retention;
use rmcp::model::Tool;
use tokio::process::Command;
use tokio::runtime::Handle;
use tokio::sync::{Notify, Semaphore};
use tokio::task::spawn_blocking;

use crate::audit::Audit;
use crate::client::Client;
use crate::desktop::{Desktop, START};
use crate::error::{HttpError, NoDesktop};
use crate::journals::{OwnJournal, prune};
use crate::limits::{Group, Limits};
use crate::memory;
use crate::metrics::{Count, Metrics};
use crate::profile::Profile;
use crate::seal::Seal;
use crate::token::{TOKEN, VIEW_TOKEN};

/// The options of a fleet.
pub struct FleetOptions {
    /// The program, which serves a private desktop on standard input and output.
    pub program: PathBuf,
    /// The program's arguments.
    pub arguments: Vec<OsString>,
    /// The folder of the desktops' journals, in which each journal has its own folder.
    pub journals: PathBuf,
    /// How much to keep of the journals of ended desktops.
    pub keep: Retention,
    /// The folder of the profiles, which are homes that outlive their desktops.
    pub profiles: PathBuf,
    /// How desktops are sealed off from each other, if they are.
    pub seal: Option<Seal>,
    /// The limits of each desktop, if there are any.
    pub limits: Option<Limits>,
    /// The maximum number of desktops.
    pub most: usize,
    /// The number of desktops that are kept running without a client, so that a client need not
    /// wait.
    pub warm: usize,
    /// How long an unused desktop is kept.
    pub idle: Duration,
}

/// Private desktops, which end when the fleet is dropped.
pub struct Fleet {
    options: FleetOptions,
    pub(crate) metrics: Metrics,
    tools: OnceLock<Vec<Tool>>,
    state: Mutex<State>,
    /// Limits simultaneous starts to one for each processor: more starts would delay each other
    /// until no desktop is ready in time.
    starts: Semaphore,
    /// Signals that a desktop was started in advance, or that one has ended.
    changed: Notify,
}

#[derive(Default)]
struct State {
    /// Desktops that were started in advance and have no client yet.
    warm: Vec<Arc<Desktop>>,
    /// The clients that have a handle.
    named: HashMap<String, Arc<Client>>,
    /// The profiles whose home is in use by a desktop.
    profiles: HashSet<Profile>,
    /// All desktops that have a client.
    taken: Vec<Weak<Desktop>>,
    /// How many desktops are being started in advance.
    starting: usize,
    /// The number of desktops whose process runs, starts or ends.
    processes: usize,
    /// The number of control groups created so far.
    groups: usize,
}

impl State {
    fn count(&self, most: usize) -> Count {
        let used = self.taken.iter().filter(|known| known.strong_count() > 0);
        let (used, warm) = (used.count(), self.warm.len());
        Count {
            used,
            warm,
            changing: self.processes.saturating_sub(used + warm),
            free: most.saturating_sub(self.processes),
        }
    }
}

/// The place of one desktop in a fleet, until its process has ended.
struct Place {
    fleet: Weak<Fleet>,
    journal: Option<OwnJournal>,
    profile: Option<HeldProfile>,
    group: Option<Group>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.journal = None;
        self.profile = None;
        let (group, fleet) = (self.group.take(), self.fleet.clone());
        // While the server ends, the work is dropped without being done.
        if Handle::try_current().is_err() {
            return;
        }
        spawn_blocking(move || {
            // The place is freed last, when the profile and the group are already free.
            drop(group);
            if let Some(fleet) = fleet.upgrade() {
                fleet.lock().processes -= 1;
                fleet.changed.notify_waiters();
                fleet.prune();
            }
        });
    }
}

/// A profile, reserved for one desktop.
struct HeldProfile {
    fleet: Weak<Fleet>,
    profile: Profile,
}

impl Drop for HeldProfile {
    fn drop(&mut self) {
        if let Some(fleet) = self.fleet.upgrade() {
            fleet.lock().profiles.remove(&self.profile);
        }
    }
}

impl Fleet {
    /// Starts as many desktops as are to run in advance, but at least one, so that a fleet whose
    /// desktops do not start fails here.
    pub async fn start(options: FleetOptions) -> Result<Arc<Self>, HttpError> {
        let fleet = Arc::new(Self {
            options,
            metrics: Metrics::new(),
            tools: OnceLock::new(),
            state: Mutex::default(),
            starts: Semaphore::new(thread::available_parallelism().map_or(1, Into::into)),
            changed: Notify::new(),
        });
        fleet.prune();
        let place = fleet
            .place()
            .ok_or_else(|| HttpError::Desktop("0 desktops are allowed".into()))?;
        let first = fleet.open(place, None).await?;
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

    /// Whether a new client would get a desktop now. If desktops are started in advance, only these
    /// count.
    pub(crate) fn is_ready(&self) -> bool {
        let count = self.lock().count(self.options.most);
        count.warm > 0 || (self.options.warm == 0 && count.free > 0)
    }

    /// The metrics as text for Prometheus.
    pub(crate) async fn metrics(&self) -> Result<String, std::fmt::Error> {
        let (count, pids) = {
            let state = self.lock();
            let used = state.taken.iter().filter_map(Weak::upgrade);
            let all = used.chain(state.warm.iter().cloned());
            let pids: Vec<u32> = all.filter_map(|desktop| desktop.pid).collect();
            (state.count(self.options.most), pids)
        };
        let memory = spawn_blocking(move || memory::of_all_below(&pids));
        self.metrics.text(count, memory.await.unwrap_or_default())
    }

    /// The client with this handle.
    pub(crate) fn named(&self, handle: &str) -> Arc<Client> {
        let mut state = self.lock();
        Arc::clone(state.named.entry(handle.to_owned()).or_default())
    }

    /// A free desktop, with the home of `profile` if a profile is given.
    pub(crate) async fn take(
        self: &Arc<Self>,
        profile: Option<&Profile>,
    ) -> Result<Arc<Desktop>, NoDesktop> {
        let mut held = profile.map(|profile| self.hold(profile)).transpose()?;
        let desktop = loop {
            let changed = self.changed.notified();
            if profile.is_none() {
                let warm = self.lock().warm.pop();
                if let Some(desktop) = warm.filter(|desktop| desktop.runs()) {
                    break desktop;
                }
            }
            if let Some(place) = self.place() {
                let opened = self.open(place, held.take()).await;
                break Arc::new(opened.map_err(NoDesktop::Failed)?);
            }
            // A running desktop cannot change its home: a free desktop is ended to make room.
            let room = profile.and_then(|_| self.lock().warm.pop());
            let changing = || self.lock().count(self.options.most).changing;
            if room.is_none() && changing() == 0 {
                return Err(self.all_taken());
            }
            drop(room);
            if tokio::time::timeout(START, changed).await.is_err() {
                return Err(self.all_taken());
            }
        };
        let mut state = self.lock();
        state.taken.retain(|known| known.strong_count() > 0);
        state.taken.push(Arc::downgrade(&desktop));
        drop(state);
        self.refill();
        Ok(desktop)
    }

    fn hold(self: &Arc<Self>, profile: &Profile) -> Result<HeldProfile, NoDesktop> {
        if !self.lock().profiles.insert(profile.clone()) {
            return Err(NoDesktop::ProfileTaken(profile.clone()));
        }
        Ok(HeldProfile {
            fleet: Arc::downgrade(self),
            profile: profile.clone(),
        })
    }

    /// A place for one more desktop, if the limit allows one.
    fn place(self: &Arc<Self>) -> Option<Place> {
        let mut state = self.lock();
        if state.processes >= self.options.most {
            return None;
        }
        state.processes += 1;
        Some(Place {
            fleet: Arc::downgrade(self),
            journal: None,
            profile: None,
            group: None,
        })
    }

    /// The error if all desktops have clients. The error contains the time after which the desktop
    /// that has been idle for longest becomes free, if nobody uses that desktop again.
    fn all_taken(&self) -> NoDesktop {
        let state = self.lock();
        let taken = state.taken.iter().filter_map(Weak::upgrade);
        let longest = taken.map(|desktop| desktop.idle()).max();
        let FleetOptions { most, idle, .. } = self.options;
        let again = idle.saturating_sub(longest.unwrap_or_default());
        NoDesktop::Taken { most, again }
    }

    async fn open(
        &self,
        mut place: Place,
        profile: Option<HeldProfile>,
    ) -> Result<Desktop, HttpError> {
        let _turn = self.starts.acquire().await;
        let start = Instant::now();
        let FleetOptions {
            program, journals, ..
        } = &self.options;
        let failed =
            |path: &Path, e: &io::Error| HttpError::Desktop(format!("{}: {e}", path.display()));
        // Creating a journal waits while another desktop's end prunes the journals.
        let all = journals.clone();
        let create = move || {
            let journal = OwnJournal::create(&all)?;
            let audit = Audit::create(&journal.path)?;
            Ok((journal, audit))
        };
        let created = spawn_blocking(create).await;
        let created = created.unwrap_or_else(|error| Err(io::Error::other(error)));
        let (journal, audit) = created.map_err(|e| failed(journals, &e))?;
        let dir = journal.path.clone();
        place.journal = Some(journal);
        let name = profile.as_ref().map(|held| held.profile.clone());
        place.profile = profile;
        let profiles = &self.options.profiles;
        let home = name.as_ref().map(|name| name.folder(profiles));
        let home = home.transpose().map_err(|e| failed(profiles, &e))?;
        let lasting = std::iter::once(&dir).chain(&home);
        let lasting: Vec<&Path> = lasting.map(PathBuf::as_path).collect();
        let mut command = match &self.options.seal {
            Some(seal) => seal.command(program, journals, &lasting),
            None => Command::new(program),
        };
        command.args(&self.options.arguments).arg("--dir").arg(&dir);
        if let Some(home) = &home {
            command.arg("--home").arg(home);
        }
        if let Some(limits) = &self.options.limits {
            let number = {
                let mut state = self.lock();
                state.groups += 1;
                state.groups
            };
            let group = limits.group(number);
            let group = group.map_err(|e| HttpError::Desktop(format!("its limits: {e}")))?;
            command = limits.limited(&group, &command);
            place.group = Some(group);
        }
        // Apps must not have the tokens.
        command.env_remove(TOKEN).env_remove(VIEW_TOKEN);
        command.env_remove("DESKLINE_DIR");
        let desktop = Desktop::start(command, name, audit, place).await?;
        let took = start.elapsed();
        self.metrics.started(took);
        let ms = took.as_millis();
        tracing::info!("the desktop of {} is ready after {ms} ms", dir.display());
        Ok(desktop)
    }

    /// Removes journals of ended desktops until the others are within the limits.
    fn prune(&self) {
        let FleetOptions { journals, keep, .. } = &self.options;
        if let Err(error) = prune(journals, *keep) {
            tracing::warn!("pruning {}: {error}", journals.display());
        }
    }

    /// Starts desktops in advance, each in a task of its own.
    fn refill(self: &Arc<Self>) {
        while self.lacks() {
            let Some(place) = self.place() else { return };
            self.lock().starting += 1;
            let fleet = Arc::clone(self);
            tokio::spawn(async move {
                let opened = fleet.open(place, None).await;
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

    /// Whether more desktops are to be started in advance.
    fn lacks(&self) -> bool {
        let state = self.lock();
        state.warm.len() + state.starting < self.options.warm
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Periodically ends the desktops that belong to a handle and have not been used for `idle`.
async fn free_idle(fleet: Weak<Fleet>, idle: Duration) {
    let pause = (idle / 4).clamp(Duration::from_millis(100), Duration::from_secs(10));
    loop {
        tokio::time::sleep(pause).await;
        let Some(fleet) = fleet.upgrade() else {
            return;
        };
        let mut state = fleet.lock();
        // If another task has locked the client, that client is about to get a desktop.
        state
            .named
            .retain(|_, client| client.free_idle(idle) || Arc::strong_count(client) > 1);
        state.warm.retain(|desktop| desktop.runs());
        drop(state);
        // A place may have become free.
        fleet.refill();
    }
}
