//! Lets several servers take turns on one desktop. A turn is a lock on a file in a folder that all
//! servers of this user share, whatever their journals. A process that ends gives up its turn.

use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;

use crate::folder::Folder;
use crate::os::{self, At as _, Open};
use crate::{JournalError, Result};

/// The turns on all desktops.
#[derive(Clone)]
pub struct Turns(Arc<Folder>);

/// The turn on a desktop. It is given up when this is dropped or the process ends.
pub struct Turn {
    turns: Turns,
    name: String,
    _locked: File,
}

impl Turns {
    /// Opens the folder; creates it for this user alone if there is none.
    pub fn open() -> Result<Self> {
        let default = os::default_path();
        let default = default
            .map_err(|error| JournalError::io("find a folder of this user", "".as_ref(), error))?;
        Folder::open(&os::own_default(&default)).map(|folder| Self(Arc::new(folder)))
    }

    /// Takes the turn `name` on this desktop; or else returns the pid of its owner, if it is known.
    pub fn take(&self, name: &str, desktop: &str) -> Result<Result<Turn, Option<u32>>> {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name = format!("{name}-{desktop}");
        let name: String = name.chars().map(plain).take(100).collect();
        let fail = |error| self.0.failed("lock", &name, error);
        loop {
            let mut file = self.0.open_file(&name, Open::Lock)?;
            if !os::try_lock(&file).map_err(fail)? {
                let mut pid = [0; 10];
                let read = file.read_at(&mut pid, 0).unwrap_or(0);
                let pid = std::str::from_utf8(&pid[..read]);
                return Ok(Err(pid.ok().and_then(|pid| pid.trim().parse().ok())));
            }
            // The previous owner of the turn has removed the file.
            if self.0.is_replaced(&name, &file).map_err(fail)? {
                continue;
            }
            write!(file, "{:<10}", std::process::id()).map_err(fail)?;
            return Ok(Ok(Turn {
                turns: self.clone(),
                name,
                _locked: file,
            }));
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // If the file cannot be removed, the next server locks it as it is.
        let _ = self.turns.0.remove(&self.name);
    }
}
