//! Parses the answer to a tool call.

use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::BufReader;

use deskline_core::summary::{FIELDS, LIMIT};
use deskline_core::{DeltaLine, Line, Rect};

/// The answer to a tool call: its summary, and the files that the summary names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The text of the result.
    pub text: String,
    pub is_error: bool,
}

/// A picture, three bytes a pixel.
#[derive(Debug, Clone)]
pub struct Pixels {
    pub width: i32,
    pub height: i32,
    pub rgb: Vec<u8>,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Answer {
    /// The answer; panics if it is an error.
    #[allow(clippy::return_self_not_must_use)] // often only the absence of an error matters
    #[track_caller]
    pub fn ok(self) -> Self {
        assert!(!self.is_error, "{self}");
        self
    }

    /// The text of the error; panics if the answer is not an error.
    #[track_caller]
    pub fn error(&self) -> &str {
        assert!(self.is_error, "no error: {self}");
        self.field("error")
    }

    /// Asserts that the answer is an error with this text.
    #[track_caller]
    pub fn fails_with(&self, part: &str) {
        assert!(self.error().contains(part), "no {part:?} in {self}");
    }

    /// Asserts that the summary has this text.
    #[track_caller]
    pub fn has(&self, part: &str) {
        has(&self.text, part);
    }

    /// Asserts that a field of the summary has this text.
    #[track_caller]
    pub fn field_has(&self, name: &str, part: &str) {
        let said = self.field(name).contains(part);
        assert!(said, "no {part:?} in {name}: in {self}");
    }

    /// A field of the summary, if it is there.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    /// A field of the summary; panics if it is missing.
    #[track_caller]
    pub fn field(&self, name: &str) -> &str {
        self.get(name)
            .unwrap_or_else(|| panic!("no {name}: in {self}"))
    }

    /// The lines of a list field, such as `visible_elements`.
    pub fn list(&self, name: &str) -> Vec<&str> {
        let header = format!("{name}:");
        self.text
            .lines()
            .skip_while(|line| *line != header)
            .skip(1)
            .map_while(|line| line.strip_prefix("  "))
            .collect()
    }

    /// The picture.
    #[track_caller]
    pub fn picture(&self) -> Pixels {
        let file = BufReader::new(File::open(self.field("screenshot")).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut rgb).unwrap();
        Pixels {
            width: info.width.cast_signed(),
            height: info.height.cast_signed(),
            rgb,
        }
    }

    /// The bounds of the test app's window.
    #[track_caller]
    pub fn window(&self) -> Rect {
        self.line_of("AXWindow", "Window of").extents.unwrap()
    }

    /// Asserts that the picture has the size of the test app's window, and colours.
    #[track_caller]
    pub fn shows_the_window(&self) {
        let (picture, window) = (self.picture(), self.window());
        let size = (picture.width, picture.height);
        assert_eq!(size, (window.w, window.h), "{self}");
        let colours: HashSet<&[u8]> = picture.rgb.chunks_exact(3).collect();
        assert!(colours.len() > 20, "{} colours", colours.len());
    }

    /// The app's pid.
    #[track_caller]
    pub fn pid(&self) -> u32 {
        self.field("pid").parse().unwrap()
    }

    /// Asserts that each line of the answer and of its file has the documented format, and that no
    /// character can move a terminal's cursor.
    #[track_caller]
    pub fn stays_in_its_lines(&self) {
        assert!(self.text.chars().count() < LIMIT, "{}", self.text.len());
        let file = self.get("file").map(|_| self.file()).unwrap_or_default();
        for text in [&self.text, &file] {
            let moves = |c: char| {
                c.is_control() && c != '\n' || "\u{2028}\u{2029}\u{202e}\u{202c}".contains(c)
            };
            assert!(!text.contains(moves), "{text:?}");
        }
        for line in file.lines() {
            let known = line.starts_with("# ")
                || line
                    .strip_prefix(' ')
                    .is_some_and(|l| l.parse::<Line>().is_ok())
                || line
                    .strip_prefix("late ")
                    .unwrap_or(line)
                    .parse::<DeltaLine>()
                    .is_ok();
            assert!(known, "{line:.300}");
            assert!(line.chars().count() < 8_000, "{}", line.chars().count());
        }
        for line in self.text.lines() {
            let name = line.split(':').next().unwrap_or_default();
            assert!(line.starts_with("  ") || FIELDS.contains(&name), "{line}");
        }
    }

    /// The content of the tree file.
    #[track_caller]
    pub fn file(&self) -> String {
        let path = self.field("file");
        std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    /// The lines of the diff in the file.
    #[track_caller]
    pub fn diff_lines(&self) -> Vec<String> {
        let file = self.file();
        let diff = file.lines().take_while(|line| !line.starts_with("# tree:"));
        diff.filter(|line| line.parse::<DeltaLine>().is_ok())
            .map(str::to_owned)
            .collect()
    }

    /// The tree lines of the file: the app's and, after a handoff, the other app's.
    #[track_caller]
    pub fn lines(&self) -> Vec<Line> {
        let file = self.file();
        file.lines()
            .filter_map(|line| line.strip_prefix(' '))
            .map(|line| {
                line.parse()
                    .unwrap_or_else(|_| panic!("not a line: {line}"))
            })
            .collect()
    }

    /// The line of an element whose text contains this one, and whose role starts with `role`: the
    /// first visible element, else the first. The text of an element is its name, then its value.
    #[track_caller]
    pub fn line_of(&self, role: &str, text: &str) -> Line {
        self.find(role, text)
            .unwrap_or_else(|| panic!("no {role} \"{text}\" in\n{}", self.file()))
    }

    /// The bounds of the test app's toggle. In some toolkits it is a button, and gives its row its
    /// name.
    pub fn toggle(&self) -> Rect {
        let found = ["AXCheckBox", "AXButton"].map(|role| self.find(role, "Bold"));
        let place = found.into_iter().flatten().find_map(|line| line.extents);
        place.unwrap_or_else(|| panic!("no toggle in\n{}", self.file()))
    }

    /// Whether the tree shows the whole content of one page of `testbed/apps/pages.py`, and nothing
    /// of the other page.
    pub fn shows_page(&self, front: &str, behind: &str) -> bool {
        let lines = self.lines();
        let of = |page: &str| -> Vec<bool> {
            // Ignore containers, which are named by their content: a page is in a container without
            // a size.
            let its = lines.iter().filter(|line| {
                let text = line.text.as_ref().map_or("", |text| &text.shown);
                let rest = text.strip_prefix(page);
                line.role.ax() != "AXGroup" && rest.is_some_and(|rest| rest.starts_with(' '))
            });
            its.map(|line| line.visible).collect()
        };
        let (front, behind) = (of(front), of(behind));
        front.len() >= 28 && front.iter().all(|visible| *visible) && !behind.contains(&true)
    }

    /// [`Answer::line_of`], if there is one.
    #[track_caller]
    pub fn find(&self, role: &str, text: &str) -> Option<Line> {
        let lines = self.lines();
        let fits = |line: &&Line| {
            let shown = text_of(line);
            let rest = shown.strip_prefix(text);
            line.role.ax().starts_with(role)
                && rest.is_some_and(|value| value.is_empty() || value.starts_with(' '))
        };
        let visible = lines.iter().filter(|line| line.visible).find(fits);
        visible.or_else(|| lines.iter().find(fits)).cloned()
    }
}

/// Asserts that a text has this part.
#[track_caller]
pub fn has(text: impl AsRef<str>, part: &str) {
    let text = text.as_ref();
    assert!(text.contains(part), "no {part:?} in {text}");
}

/// What a test app has logged of the job since the last time: the last of each kind, in order.
pub fn effects(log: &std::path::Path) -> Vec<String> {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let _ = std::fs::remove_file(log);
    let kinds = [
        "text Name",
        "text Secret",
        "checked",
        "chose",
        "answered",
        "clicked",
        "dropped",
    ];
    let of = |line: &str| kinds.iter().find(|kind| line.starts_with(**kind));
    let mut last: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| of(line).is_some()) {
        if line.starts_with("text") {
            last.retain(|other| of(other) != of(line));
        }
        last.push(line.to_owned());
    }
    last.sort();
    last
}

/// The text of an element: its name, then its value.
pub fn text_of(line: &Line) -> String {
    let shown = |text: &Option<deskline_core::Text>| text.as_ref().map(|t| t.shown.clone());
    let both = [shown(&line.text), shown(&line.value)];
    both.into_iter().flatten().collect::<Vec<_>>().join(" ")
}
