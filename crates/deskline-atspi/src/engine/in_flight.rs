//! The table of requests in flight.

use crate::request::Request;

/// The requests in flight with their nodes, by tag. Tags are reused.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    slots: Vec<Option<(usize, Request)>>,
    free: Vec<usize>,
}

impl InFlight {
    /// Adds a request. Returns its tag.
    pub fn insert(&mut self, node: usize, request: Request) -> u64 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[slot] = Some((node, request));
        slot as u64
    }

    /// Removes the request with this tag, which was answered. Returns it.
    pub fn remove(&mut self, tag: u64) -> Option<(usize, Request)> {
        let slot = usize::try_from(tag).ok()?;
        let asked = self.slots.get_mut(slot)?.take();
        self.free.extend(asked.is_some().then_some(slot));
        asked
    }

    /// Removes all requests. Returns them.
    pub fn take(&mut self) -> Vec<(usize, Request)> {
        self.free.clear();
        std::mem::take(&mut self.slots)
            .into_iter()
            .flatten()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tag_of_an_answered_request_is_free_again() {
        let mut table = InFlight::default();
        let (first, second) = (
            table.insert(1, Request::Name),
            table.insert(2, Request::Role),
        );
        assert_eq!(table.remove(first), Some((1, Request::Name)));
        assert_eq!(table.remove(first), None);
        assert_eq!(table.insert(3, Request::State), first);
        assert_eq!(table.remove(second), Some((2, Request::Role)));
        assert_eq!(table.take(), [(3, Request::State)]);
        assert_eq!(table.remove(first), None);
    }
}
