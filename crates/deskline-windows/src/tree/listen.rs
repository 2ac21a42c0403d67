//! Waits for an app's events, which handlers on other threads report.

use std::sync::Arc;
use std::time::Duration;

use deskline_contract::Signs;

use super::uia::{Answer, Listener as _, Uia};

/// A subscription to one app's events.
pub struct Listening<U: Uia> {
    pub signs: Arc<Signs>,
    /// The app's process, and the start time of the process.
    pub app: (u32, Option<u64>),
    listener: U::Listener,
}

impl<U: Uia> Listening<U> {
    pub fn to(uia: &U, app: (u32, Option<u64>)) -> Answer<Self> {
        let signs = Arc::<Signs>::default();
        let hears = Arc::clone(&signs);
        let listener = uia.listen(app.0, Arc::new(move |sign| hears.hear(sign)))?;
        Ok(Self {
            signs,
            app,
            listener,
        })
    }

    /// Goes on for another link. Drops the signs since the last link.
    pub fn go_on(&self) {
        self.signs.wait(Duration::ZERO);
        self.listener.go_on();
    }
}
