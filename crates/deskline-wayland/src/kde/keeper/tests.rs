use super::table::{Key, LIMIT, Valve, Why, run};
use super::*;

/// What the process does with KWin's reports, which arrive whenever KWin sends them.
struct Captured {
    state: State,
    now: Instant,
    reports: Vec<Report>,
}

impl Captured {
    fn hear(&mut self, heard: Heard) {
        let report = self.state.hear(heard, self.now);
        self.reports.extend(report);
    }
}

impl Valve for Captured {
    /// The capture is over then, and KWin reports no key.
    const HEARS_AFTER: bool = false;

    fn pass(&mut self, time: Duration) {
        self.now += time;
        self.reports.extend(self.state.expire(self.now));
    }

    fn stroke(&mut self, key: Key, down: bool) {
        let code = match key {
            Key::Escape => codes::ESCAPE,
            Key::Shift => 42,
            Key::A => 30,
        };
        self.hear(Heard::Key(code, down));
    }

    /// The capture is open then, and KWin reports no key.
    fn agent(&mut self, _key: Key) {
        self.state.opened = true;
        self.hear(Heard::Stop);
        self.hear(Heard::Start);
    }

    fn release(&mut self) {
        self.state.end(self.now);
    }

    fn is_free(&mut self) -> bool {
        !self.state.machine.is_held()
    }

    fn cancelled(&mut self) -> Option<Why> {
        self.reports.iter().find_map(|report| match report {
            Report::Escape => Some(Why::Escape),
            Report::Limit { .. } => Some(Why::Limit),
            _ => None,
        })
    }
}

fn captured() -> Captured {
    let (mut state, now) = (State::default(), Instant::now());
    state.begin(LIMIT, now);
    let reports = vec![];
    let mut captured = Captured {
        state,
        now,
        reports,
    };
    captured.hear(Heard::Start);
    captured
}

#[test]
fn the_capture_passes_the_cases_for_every_guard() {
    run(captured);
}

#[test]
fn a_capture_that_ends_by_itself_counts_as_ended_by_the_person() {
    let ended = |by_us| {
        let mut captured = captured();
        captured.state.opened = by_us;
        captured.hear(Heard::Stop);
        captured.reports.pop()
    };
    assert_eq!(ended(false), Some(Report::Stopped));
    assert_eq!(ended(true), Some(Report::Captured(false)));
    let mut captured = captured();
    captured.hear(Heard::Key(codes::ESCAPE, true));
    captured.pass(LIMIT);
    let escaped = true;
    assert_eq!(captured.reports.pop(), Some(Report::Limit { escaped }));
    captured.hear(Heard::Stop);
    assert_eq!(captured.reports.pop(), Some(Report::Captured(false)));
}
