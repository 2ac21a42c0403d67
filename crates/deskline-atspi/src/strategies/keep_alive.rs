//! Keeps the cells of spreadsheets alive between readings, on a thread with a connection of its
//! own.
//!
//! The thread starts with the first spreadsheet. While it renews an app's cells it holds the lock,
//! so a reading never finds them half renewed. That takes mostly 10 ms, and at most a second.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::spreadsheet::{self, Spreadsheets};
use crate::bus::{Connection, Error, Result};
use crate::connection::AppConnection;
use crate::engine::Engine;
use crate::toolkits::Toolkit;

/// How long an app may take to renew its cells before they are dropped.
const LIMIT: Duration = Duration::from_secs(1);

/// The spreadsheets of all apps that were read on one accessibility bus.
#[derive(Debug)]
pub(crate) struct KeepAlive {
    /// The address of the accessibility bus.
    address: String,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The spreadsheets, by the apps' bus names.
    apps: HashMap<String, Spreadsheets>,
    running: bool,
    closed: bool,
}

impl KeepAlive {
    /// Keeps cells of the apps on the accessibility bus at `address` alive.
    pub fn new(address: &str) -> Self {
        Self {
            address: address.to_owned(),
            shared: Arc::default(),
        }
    }

    /// Takes out an app's spreadsheets for a reading. Their cells are not renewed meanwhile.
    pub fn take(&self, bus_name: &str) -> Spreadsheets {
        self.shared.lock().apps.remove(bus_name).unwrap_or_default()
    }

    /// Puts an app's spreadsheets back, to be kept alive from now on.
    pub fn put(&self, bus_name: &str, spreadsheets: Spreadsheets) {
        if spreadsheets.is_empty() {
            return;
        }
        let mut state = self.shared.lock();
        state.apps.insert(bus_name.to_owned(), spreadsheets);
        if !std::mem::replace(&mut state.running, true) {
            let (address, shared) = (self.address.clone(), Arc::clone(&self.shared));
            thread::spawn(move || shared.run(&address));
        }
        self.shared.changed.notify_one();
    }

    /// Drops the spreadsheets of apps that are gone.
    pub fn retain(&self, is_there: impl Fn(&str) -> bool) {
        self.shared.lock().apps.retain(|name, _| is_there(name));
    }
}

impl Drop for KeepAlive {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_one();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Renews the cells that are due, until the owner is dropped.
    fn run(&self, address: &str) {
        let mut bus = None;
        let mut state = self.lock();
        while !state.closed {
            let due = renew(&mut bus, address, &mut state.apps);
            // If nothing is due, wait without a limit: the next spreadsheet wakes the thread.
            let limit = due.unwrap_or(Duration::MAX);
            let waited = self.changed.wait_timeout(state, limit);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Renews the cells that are due. Returns the time until the next cells are due. Drops the cells of
/// an app that does not answer: the next reading will report the silence.
fn renew(
    bus: &mut Option<Connection>,
    address: &str,
    apps: &mut HashMap<String, Spreadsheets>,
) -> Option<Duration> {
    let mut next: Option<Duration> = None;
    apps.retain(
        |name, spreadsheets| match renew_one(bus, address, name, spreadsheets) {
            Ok(Some(due)) => {
                next = Some(next.map_or(due, |next| next.min(due)));
                true
            }
            Ok(None) => false,
            Err(e) => {
                tracing::debug!("the cells of {name} are not kept alive: {e}");
                *bus = None;
                false
            }
        },
    );
    next
}

fn renew_one(
    bus: &mut Option<Connection>,
    address: &str,
    name: &str,
    spreadsheets: &mut Spreadsheets,
) -> Result<Option<Duration>> {
    let due = spreadsheet::next_due(spreadsheets);
    if due.is_none_or(|due| !due.is_zero()) {
        return Ok(due);
    }
    let bus = deskline_contract::kept(bus, || Connection::open(address, LIMIT))?;
    let connection = AppConnection::by_bus(bus, name);
    let mut engine = Engine::new(connection, name, Toolkit::Vcl, Instant::now() + LIMIT);
    spreadsheet::renew_due(&mut engine, spreadsheets)?;
    if engine.unread.cut {
        return Err(Error::Timeout);
    }
    Ok(spreadsheet::next_due(spreadsheets))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::spreadsheet::Spreadsheet;
    use crate::strategies::table::Table;
    use deskline_core::Rect;

    fn spreadsheets() -> Spreadsheets {
        let table = Table {
            path: "/sheet".into(),
            rows: 1 << 20,
            columns: 1 << 10,
            clip: Rect::at(0, 0, 800, 600),
        };
        let sheet = Spreadsheet::new(&[], Instant::now(), &table, &(0..=0, 0..=0));
        sheet.map(|sheet| (table.path, sheet)).into_iter().collect()
    }

    #[test]
    fn a_thread_keeps_the_cells_of_spreadsheets_until_its_owner_ends() {
        let cells = KeepAlive::new("unix:path=/nowhere");
        cells.put(":1.1", Spreadsheets::new());
        assert!(!cells.shared.lock().running);
        cells.put(":1.1", spreadsheets());
        assert!(cells.shared.lock().running);
        // Nothing is due, so no bus is needed.
        assert_eq!(cells.take(":1.1").len(), 1);
        assert!(cells.take(":1.1").is_empty());
        cells.put(":1.1", spreadsheets());
        cells.retain(|name| name != ":1.1");
        assert!(cells.take(":1.1").is_empty());
        let shared = Arc::downgrade(&cells.shared);
        drop(cells);
        let start = Instant::now();
        while shared.strong_count() > 0 {
            assert!(
                start.elapsed() < Duration::from_secs(5),
                "the thread goes on"
            );
            thread::sleep(Duration::from_millis(1));
        }
    }
}
