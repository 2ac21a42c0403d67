//! The list of checks of the tools. Each system tries them on a text element of its own, and judges
//! them by what the element shows.

use deskline_core::Point;
use deskline_link::call::Typing;
use deskline_link::{Action, Target, WindowId};

use super::sheet::{Sheet, judge, said};

/// Text with characters beyond ASCII, beyond the layout and beyond 16 bits.
const TYPED: &str = "Hé漢字😀Ω£ zB!";
const PASTED: &str = "漢字 pasted";
const CLICKED: &str = "clicked 漢😀";
const SET: &str = "Büsh";

/// A check of a tool: its name, the call, and what must show then.
pub type Row = (&'static str, Action, &'static str);

/// Checks of the tools that enter text, on the text element with this role. The first one sends no
/// input.
pub fn texts(role: &str) -> [Row; 4] {
    let text = || Target::titled("", role);
    let paste = Typing {
        paste: true,
        ..Typing::text(PASTED)
    };
    let click = Action::click(text(), Typing::text(CLICKED));
    [
        ("set_value", Action::set_value(text(), SET), SET),
        ("click with text", click, CLICKED),
        ("type", Action::type_text(Typing::text(TYPED)), TYPED),
        ("paste", Action::type_text(paste), PASTED),
    ]
}

impl Sheet<'_> {
    /// Makes a call, and checks that it leaves the pointer and the window in front as they were.
    pub fn puts_back(&mut self, pid: u32, action: Action) {
        let before = self.places();
        let answer = self.call(Some(pid), action);
        let after = self.places();
        let seen = format!("{before:?} → {after:?}: {}", said(&answer));
        let good = before == after && !answer.is_error;
        self.note("pointer and front window put back", judge(good, seen));
    }

    fn places(&mut self) -> Option<(Option<Point>, Option<WindowId>)> {
        let desktop = self.desktop().ok()?;
        let pointer = desktop.pointer().ok().flatten().map(|pointer| pointer.at);
        let front = desktop.front().ok().flatten().map(|front| front.id);
        Some((pointer, front))
    }
}
