//! Native apps without a tree, behind the person's window: SDL, whose picture has words, and a
//! terminal, whose program reports its input.

use std::fs;
use std::path::Path;

use deskline_core::Rect;
use serde_json::{Value, json};

use crate::table::driven;
use crate::{Answer, Client, NativeApp, Session, Toolkit, until};

/// An app that Deskline has opened, behind the person's window.
struct Treeless<'s> {
    server: &'s Client,
    persons: &'s NativeApp,
    pid: u32,
    /// Its window.
    place: Rect,
}

impl<'s> Treeless<'s> {
    fn open(server: &'s Client, persons: &'s NativeApp, line: &str) -> Self {
        let opened = server.open(line).ok();
        let why = opened.field("no_tree");
        assert!(why.contains("not on the accessibility bus"), "{why}");
        let app = Self {
            server,
            persons,
            pid: opened.pid(),
            place: opened.lines().remove(0).extents.unwrap(),
        };
        app.is_behind(&opened);
        app
    }

    #[track_caller]
    fn is_behind(&self, answer: &Answer) {
        assert!(self.server.has_in_front(self.persons), "{answer}");
    }

    /// Calls a tool. The person's window is in front before and after.
    #[track_caller]
    fn call(&self, tool: &str, mut more: Value) -> Answer {
        more["pid"] = self.pid.into();
        let answer = self.server.call(tool, more).ok();
        self.is_behind(&answer);
        answer
    }

    /// A place in its window.
    fn at(&self, (x, y): (i32, i32), mut more: Value) -> Value {
        more["x"] = (self.place.x + x).into();
        more["y"] = (self.place.y + y).into();
        more
    }

    fn drag(&self, from: (i32, i32), to: (i32, i32)) {
        let to = json!({"toX": self.place.x + to.0, "toY": self.place.y + to.1});
        self.call("drag_and_traverse", self.at(from, to));
    }
}

/// Waits until the file has this text.
fn gets(file: &Path, text: &str) {
    until(&format!("{text:?} in {}", file.display()), || {
        fs::read_to_string(file).ok()?.contains(text).then_some(())
    });
}

/// How many lines of the file begin with this text.
fn logged(log: &Path, start: &str) -> usize {
    let log = fs::read_to_string(log).unwrap();
    log.lines().filter(|line| line.starts_with(start)).count()
}

/// The checks that both tests make.
const DONE: [&str; 6] = ["refresh", "click", "type", "press key", "scroll", "drag"];

impl Session {
    /// Drives an SDL app by what its picture shows. The display types `text`, and refuses `other`
    /// if that is given.
    pub fn drives_sdl(&self, display: &str, text: &str, other: Option<&str>) {
        let server = self.server();
        let persons = self.widgets(Toolkit::Gtk3, &server);
        let path = |name: &str| self.folder().join(name);
        let (script, log) = (path("sdl.py"), path("sdl.log"));
        let line = format!(
            "env SDL_VIDEODRIVER=wayland /usr/bin/python3 -B {} {}",
            script.display(),
            log.display()
        );
        let sdl = Treeless::open(&server, &persons, &line);
        let listed = server.applications().ok();
        assert!(listed.text.contains("\"SDL form\""), "{listed}");
        // Texts that the person's window covers are those of the last picture.
        let read = until("the words in the picture", || {
            let read = sdl.call("refresh_traversal", json!({}));
            let shows = |word| read.find("AXStaticText", word).is_some();
            ["Total 42", "Start"].into_iter().all(shows).then_some(read)
        });
        assert!(read.get("screenshot").is_some(), "{read}");
        sdl.call("click_and_traverse", json!({"element": "Start"}));
        gets(&log, "pressed\n");
        let typed = json!({"text": text, "pressKey": "Return"});
        sdl.call("type_and_traverse", typed);
        gets(&log, &format!("typed {text}\n"));
        // The app polls its keys at intervals, and misses none.
        for n in 1..=3 {
            sdl.call("press_key_and_traverse", json!({"keyName": "F5"}));
            gets(&log, &format!("F5 {n}\n"));
        }
        let turn = sdl.at((200, 200), json!({"deltaY": 2}));
        sdl.call("scroll_and_traverse", turn);
        gets(&log, "wheel\n");
        sdl.drag((200, 150), (300, 220));
        // On KWin the pointer is in the middle of a pixel, and SDL rounds that up.
        until("the drag", || {
            let log = fs::read_to_string(&log).unwrap();
            let line = log.lines().find_map(|line| line.strip_prefix("drag "))?;
            let ends = line.split(' ').map(|n| n.parse::<i32>().unwrap());
            let mut both = ends.zip([200, 150, 300, 220]);
            both.all(|(n, exact)| n == exact || n == exact + 1)
                .then_some(())
        });
        let press = json!({"pid": sdl.pid, "element": "Start"});
        let refused = server.call("press_ax_and_traverse", press);
        assert!(
            refused.error().contains("only from the screenshot"),
            "{refused}"
        );
        let rows = DONE.into_iter().chain(["picture"]);
        let mut column: Vec<(String, String)> =
            rows.map(|row| (row.to_owned(), "✓".to_owned())).collect();
        if let Some(other) = other {
            let keys = json!({"pid": sdl.pid, "text": other, "pressKey": "Return"});
            let typed = server.call("type_and_traverse", keys);
            let error = typed.error();
            assert!(error.contains("no key for character"), "{typed}");
            // No part of the refused text was typed, and no Return.
            assert_eq!(logged(&log, "typed "), 1);
            column.retain(|(row, _)| row != "type");
            column.push(("type".to_owned(), error.to_owned()));
        }
        driven::note("SDL (no tree)", display, &column);
    }

    /// Drives a terminal whose program reports each key at once, and the pixel of each click.
    pub fn drives_a_terminal(&self, display: &str, text: &str) {
        let server = self.server();
        let persons = self.widgets(Toolkit::Gtk3, &server);
        let path = |name: &str| self.folder().join(name);
        let (script, typed) = (path("terminal.sh"), path("typed"));
        let reports = format!(
            "printf '\\033[?1002h\\033[?1016h'; stty raw -echo; cat > {}",
            typed.display()
        );
        fs::write(&script, reports).unwrap();
        let foot = Treeless::open(&server, &persons, &format!("foot sh {}", script.display()));
        // The program reads single keys once the file exists.
        gets(&typed, "");
        let keys = json!({"text": text, "pressKey": "Return"});
        foot.call("type_and_traverse", keys);
        gets(&typed, &format!("{text}\r"));
        foot.call("press_key_and_traverse", json!({"keyName": "F5"}));
        gets(&typed, "\x1b[15~");
        // The terminal counts pixels from 0 and rounds down.
        foot.call("click_and_traverse", foot.at((100, 120), json!({})));
        gets(&typed, "\x1b[<0;99;119M\x1b[<0;99;119m");
        let right = foot.at((50, 60), json!({"rightClick": true}));
        foot.call("click_and_traverse", right);
        gets(&typed, "\x1b[<2;49;59M\x1b[<2;49;59m");
        let turn = foot.at((100, 120), json!({"deltaY": 1}));
        foot.call("scroll_and_traverse", turn);
        gets(&typed, "\x1b[<65;99;119M");
        foot.drag((100, 120), (300, 200));
        gets(&typed, "\x1b[<32;299;199M\x1b[<0;299;199m");
        driven::note_served("foot (no tree)", display, &DONE);
    }
}
