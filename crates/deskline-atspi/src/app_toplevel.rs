//! A toplevel as its app describes it.

/// A visible toplevel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AppToplevel {
    /// The app's process.
    pub pid: u32,
    /// The app's bus name and the object's path, joined: unique on the bus.
    pub id: String,
    /// Hostile data.
    pub title: String,
    /// Whether its app reports that it has the keyboard.
    pub active: bool,
    /// Whether its app has not answered this time. The toplevel is then from the app's last answer.
    pub silent: bool,
}

impl AppToplevel {
    pub fn bus_name(&self) -> &str {
        let end = self.id.find('/').unwrap_or(self.id.len());
        &self.id[..end]
    }

    /// The object's path.
    pub fn path(&self) -> &str {
        &self.id[self.bus_name().len()..]
    }
}
