//! Lists the running apps, starts an app, and reports whether it is ready.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use deskline_contract::{
    Application, Apps, Identity, OpenError, Opened, Permit, Progress, Result, WindowHint,
};
use deskline_core::App;

use super::MacDesktop;
use crate::os::{Os, Process, RunningApp};
use crate::windows::Server;
use crate::{apps, front, windows};

/// How long `LaunchServices` may take to start a process.
const LAUNCHES: Duration = Duration::from_secs(20);

impl<O: Os> Apps for MacDesktop<O> {
    fn applications(&mut self) -> Result<Vec<Application>> {
        let front = front::pid(&self.os);
        let server = Server::now(&self.os);
        let mut applications = Vec::new();
        let own = std::process::id();
        for app in self.os.apps().into_iter().filter(|app| app.pid != own) {
            // Apps without a Dock icon (menu bar apps, the system's dialogs) count only if a window
            // shows.
            if !app.regular && !server.shows(app.pid) {
                continue;
            }
            let windows = server.quickly(app.pid, !app.regular);
            if windows.is_empty() {
                continue;
            }
            applications.push(Application {
                front: front == Some(app.pid),
                app: App::new(app.pid, app.name),
                windows,
            });
        }
        applications.sort_by_key(|a| !a.front);
        Ok(applications)
    }

    fn open(&mut self, identifier: &str, permit: Permit<'_>) -> Result<Opened> {
        let launch = apps::find(&self.os, identifier)?;
        let name = launch.path.file_stem().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        // macOS chooses the app that opens a document.
        permit(&if launch.document {
            Identity::default()
        } else {
            identity(&launch.path, "")
        })?;
        // A running app gets a request to reopen, and then creates a window if it has none.
        let pid = self
            .os
            .launch(&launch, LAUNCHES)
            .map_err(|why| OpenError::not_started(&name, format!("macOS says {why}")))?;
        self.starting = Some((pid, name.clone()));
        Ok(Opened::Started(name))
    }

    fn progress(&mut self) -> Result<Progress> {
        let Some((pid, name)) = &self.starting else {
            return Ok(Progress::Starting);
        };
        let (pid, os) = (*pid, &self.os);
        let app = os.app(pid);
        if app.is_none() && os.process(pid).is_none() {
            return Err(OpenError::EndedSilently(name.clone()).into());
        }
        let mut windows = windows::of_app(os, pid).into_iter();
        if windows.any(|(_, known)| known.is_some()) {
            return Ok(Progress::Ready(pid));
        }
        if app.is_some_and(|a| a.finished) {
            return Ok(Progress::Waiting(pid, WindowHint::Windowless));
        }
        Ok(Progress::Starting)
    }

    fn computed(&mut self, pid: u32) -> Option<Duration> {
        self.os.computed(pid)
    }

    fn known_as(&mut self, pid: u32) -> Identity {
        let Some(app) = self.os.app(pid) else {
            let process = self.os.process(pid);
            let claims = process
                .map(|process: Process| process.name)
                .into_iter()
                .collect();
            return Identity {
                claims,
                ..Identity::default()
            };
        };
        let mut known = identity(&app.path, &app.bundle_id);
        known.claims.push(app.name);
        known
    }

    fn shows_permissions(&mut self, pid: u32) -> bool {
        self.permissions == Some(pid)
    }

    fn handoff_pending(&mut self) -> Result<bool> {
        // Without a subscription, `running` was not recorded.
        if self.listening.is_none() {
            return Ok(false);
        }
        let starts = |a: &RunningApp| a.regular && !a.finished && !self.running.contains(&a.pid);
        Ok(self.os.apps().iter().any(starts))
    }
}

/// The identity of an app: its bundle's path. In folders where macOS keeps other apps from changing
/// the bundle, also the bundle's file name and id.
fn identity(path: &Path, bundle_id: &str) -> Identity {
    let real = path.canonicalize();
    let path = real.as_deref().unwrap_or(path);
    let text = |part: &OsStr| part.to_string_lossy().into_owned();
    let is_kept = ["/Applications", "/System"]
        .iter()
        .any(|root| path.starts_with(root));
    let said = [
        bundle_id.to_owned(),
        text(path.file_stem().unwrap_or_default()),
    ];
    let (mut names, claims): (Vec<_>, Vec<_>) = said.into_iter().partition(|_| is_kept);
    names.push(text(path.as_os_str()));
    names.retain(|name| !name.is_empty());
    Identity {
        key: names.first().cloned(),
        names,
        claims,
        is_command: false,
    }
}
