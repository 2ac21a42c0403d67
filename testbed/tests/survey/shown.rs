//! What libatspi reports as showing, read by `apps/survey.py`.

use deskline_testbed::Bed;
use serde_json::Value;

/// The time limit for libatspi to read one app. It makes one call at a time.
const SECONDS: u32 = 25;

/// A visible element.
#[derive(Debug, Clone, Default)]
pub struct Shown {
    pub role: String,
    pub name: String,
    /// The content of its Text interface.
    pub text: String,
    pub states: Vec<String>,
    /// Whether its centre is inside everything that clips it.
    pub within: bool,
}

impl Shown {
    pub fn is(&self, state: &str) -> bool {
        self.states.iter().any(|s| s == state)
    }

    /// Whether its name or its text contains these words.
    pub fn says(&self, words: &str) -> bool {
        self.name.contains(words) || self.text.contains(words)
    }
}

/// All visible elements of an app, and whether libatspi has read the whole app.
#[derive(Debug, Default)]
pub struct Screenful {
    pub shown: Vec<Shown>,
    pub whole: bool,
    /// The name and version of its toolkit, if it reports both.
    pub toolkit: Option<String>,
}

pub fn read(bed: &Bed, pid: u32) -> Screenful {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/apps/survey.py");
    let top = bed.screen().topmost_of(pid);
    let top = top.as_ref().map_or("", |window| &window.title);
    let (pid, seconds) = (pid.to_string(), SECONDS.to_string());
    let listing = bed.run("/usr/bin/python3", &["-B", script, &pid, &seconds, top]);
    let mut screenful = Screenful {
        whole: true,
        ..Screenful::default()
    };
    for line in listing.lines() {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"));
        if line["cut"] == true {
            screenful.whole = false;
            continue;
        }
        if let Some(toolkit) = line["toolkit"].as_str() {
            screenful.toolkit = Some(toolkit.to_owned());
            continue;
        }
        let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        let states = line["states"].as_array().into_iter().flatten();
        screenful.shown.push(Shown {
            role: text("role"),
            name: text("name"),
            text: text("text"),
            states: states
                .filter_map(|s| s.as_str().map(str::to_owned))
                .collect(),
            within: line["within"] == true,
        });
    }
    screenful
}
