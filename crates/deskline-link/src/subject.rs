//! The processes that one link is for.

use std::cell::{Cell, RefCell};

use crate::error::{Error, Result};

/// The processes that one link is for. All phases of a link share one value, because input,
/// readings, the restore and the answer must agree on it.
#[derive(Debug, Default)]
pub(crate) struct Subject {
    home: Cell<Option<u32>>,
    current: Cell<Option<u32>>,
    /// The other processes that steps went to.
    others: RefCell<Vec<u32>>,
    /// The other processes that drags ended in.
    pub(crate) dropped_on: RefCell<Vec<u32>>,
}

impl Subject {
    /// Starts with the process that the call names, if it names one.
    pub(crate) fn new(pid: Option<u32>) -> Self {
        Self {
            home: Cell::new(pid),
            current: Cell::new(pid),
            ..Self::default()
        }
    }

    /// The process that the call is about. `None` until an app that is being opened has a process.
    pub(crate) fn home(&self) -> Option<u32> {
        self.home.get()
    }

    /// The process that the current step goes to: in a chain it can be another than the call's.
    pub(crate) fn current(&self) -> Option<u32> {
        self.current.get()
    }

    /// Like [`Subject::current`], for actions that need a process.
    ///
    /// # Errors
    ///
    /// The call has no pid.
    pub(crate) fn required(&self) -> Result<u32> {
        self.current.get().ok_or(Error::NoPid)
    }

    /// Whether the current step goes to the call's own process.
    pub(crate) fn is_home(&self) -> bool {
        self.current == self.home
    }

    /// Records that the call has opened this process. From here on the call is about it.
    pub(crate) fn opened(&self, pid: u32) {
        self.home.set(Some(pid));
        self.current.set(Some(pid));
    }

    /// Sends the further steps to this process.
    pub(crate) fn turn_to(&self, pid: u32) {
        self.others.borrow_mut().push(pid);
        self.current.set(Some(pid));
    }

    /// Whether a drag ended in this process.
    pub(crate) fn dropped_on(&self, pid: u32) -> bool {
        self.dropped_on.borrow().contains(&pid)
    }

    /// Whether this is one of the link's processes.
    pub(crate) fn has(&self, pid: u32) -> bool {
        let is_other = self.others.borrow().contains(&pid);
        self.home.get() == Some(pid) || is_other || self.dropped_on(pid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_remembers_the_processes_that_its_steps_acted_in() {
        let subject = Subject::new(Some(7));
        assert!(subject.is_home() && subject.has(7) && !subject.has(8));
        subject.turn_to(8);
        assert_eq!((subject.home(), subject.current()), (Some(7), Some(8)));
        assert!(!subject.is_home() && subject.has(8));
        subject.turn_to(7);
        assert!(subject.is_home() && subject.has(8));
    }

    #[test]
    fn an_app_that_is_opened_becomes_the_subject() {
        let subject = Subject::new(None);
        assert!(subject.required().is_err());
        subject.opened(9);
        assert!(subject.is_home() && subject.has(9));
    }
}
