//! Waits for an app's events, which handlers on other threads report.

use std::sync::Arc;

use deskline_contract::Signs;

use super::uia::{Answer, Uia};

/// A subscription to one app's events.
pub struct Listening<U: Uia> {
    pub signs: Arc<Signs>,
    _listener: U::Listener,
}

impl<U: Uia> Listening<U> {
    pub fn to(uia: &U, pid: u32) -> Answer<Self> {
        let signs = Arc::<Signs>::default();
        let hears = Arc::clone(&signs);
        let listener = uia.listen(pid, Arc::new(move |sign| hears.hear(sign)))?;
        Ok(Self {
            signs,
            _listener: listener,
        })
    }
}
