//! The order in which windows were last in front. GNOME's own keys (Alt+Esc) cycle through windows
//! in this order, so a window's index is the number of strokes that raises it.

use deskline_contract::WindowId;

/// The windows that were seen in front, the latest first.
#[derive(Debug, Default)]
pub(crate) struct Recency(Vec<WindowId>);

impl Recency {
    /// Records the front window, and which windows exist.
    pub(crate) fn saw(&mut self, front: WindowId, all: &[WindowId]) {
        self.0
            .retain(|window| *window != front && all.contains(window));
        self.0.insert(0, front);
    }

    /// How many windows were in front later than this one: the number of strokes to it. Windows
    /// that were never seen in front come after all others.
    pub(crate) fn place(&self, of: WindowId) -> usize {
        let place = self.0.iter().position(|window| *window == of);
        place.unwrap_or(self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Raises the window that is `strokes` away, as GNOME does.
    fn cycle(order: &mut Vec<u64>, strokes: usize) -> u64 {
        let window = order.remove(strokes % order.len());
        order.insert(0, window);
        window
    }

    #[test]
    fn every_window_is_reached_from_any_order() {
        let all: Vec<WindowId> = (0..5).map(WindowId).collect();
        for seed in 0..120_usize {
            let mut order: Vec<u64> = Vec::new();
            let mut left: Vec<u64> = (0..5).collect();
            let mut rest = seed;
            while !left.is_empty() {
                order.push(left.remove(rest % left.len()));
                rest /= left.len().max(1);
            }
            let mut recency = Recency::default();
            recency.saw(WindowId(order[0]), &all);
            for wanted in 0..5 {
                let mut tries = 0;
                while order[0] != wanted {
                    let front = cycle(&mut order, recency.place(WindowId(wanted)).max(1));
                    recency.saw(WindowId(front), &all);
                    tries += 1;
                    assert!(tries <= all.len(), "{seed}: {order:?}");
                }
            }
            // All are known now, so one try reaches any window.
            let front = cycle(&mut order, recency.place(WindowId(1)));
            assert_eq!(front, 1);
        }
    }
}
