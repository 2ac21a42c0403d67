//! Internet and media apps, an app in a sandbox, and a panel.

use super::{WORDS, append_and_save, menu};
use serde_json::json;

use crate::content;
use crate::run::{Gap, Subject};
use crate::shown::Shown;

pub const VLC: Subject = Subject {
    name: "VLC",
    toolkit: "Qt 5",
    open: |bed| format!("{} --no-qt-privacy-ask --intf qt", content::vlc(bed)).into(),
    ready: "Playback",
    click: |run| menu(run, "Playback", "Next"),
    text: |run| {
        // The shortcut of "Open Network Stream".
        run.key("n", &["Control"])?;
        run.says("Please enter a network URL:")?;
        run.types("http://127.0.0.1/quince", None)?;
        run.says("http://127.0.0.1/quince")
    },
    gaps: &[],
};

pub const QBITTORRENT: Subject = Subject {
    name: "qBittorrent",
    toolkit: "Qt 5",
    open: |bed| {
        content::qbittorrent(bed);
        "qbittorrent".to_owned().into()
    },
    ready: "All (0)",
    click: |run| menu(run, "File", "Exit"),
    text: |run| {
        // The text goes into the app's filter.
        run.key("f", &["Control"])?;
        run.types(WORDS, None)?;
        run.says(WORDS)
    },
    gaps: &[],
};

pub const THUNDERBIRD: Subject = Subject {
    name: "Thunderbird",
    toolkit: "Gecko",
    open: |bed| {
        format!(
            "thunderbird --new-instance --profile {}",
            bed.folder().display()
        )
        .into()
    },
    ready: "Add your email address",
    click: |run| {
        run.click("AXTextField", "Email address*")?;
        run.shows("the focus", |shown| {
            shown.name == "Email address*" && shown.is("focused")
        })
    },
    text: |run| {
        run.types("quinces@example.org", None)?;
        run.says("quinces@example.org")
    },
    gaps: &[],
};

pub const WIRESHARK: Subject = Subject {
    name: "Wireshark",
    toolkit: "Qt 5",
    open: |bed| format!("wireshark {}", content::capture(bed)).into(),
    ready: "2.000000",
    click: |run| menu(run, "Edit", "Find Packet"),
    text: |run| {
        // The text goes into the app's filter.
        run.key("/", &["Control"])?;
        run.types("frame.number == 2", Some("Return"))?;
        run.hides("the third packet", |shown| shown.name == "2.000000")
    },
    gaps: &[],
};

pub const XFCE4_PANEL: Subject = Subject {
    name: "xfce4-panel",
    toolkit: "GTK 3",
    open: |_| "xfce4-panel".to_owned().into(),
    ready: "Applications",
    click: |run| {
        run.click("AXCheckBox", "Applications")?;
        let item = |shown: &Shown| shown.name == "Accessories";
        run.shows("the menu", item)?;
        run.key("Escape", &[])?;
        run.hides("the menu", item)
    },
    text: |run| {
        let menu = json!({"element": "Show Desktop", "role": "AXCheckBox", "rightClick": true});
        run.call("click_and_traverse", menu)?;
        run.click("AXMenu", "Panel")?;
        run.click("AXMenuItem", "Add New Items")?;
        run.types("clock", None)?;
        run.hides("what is no clock", |shown| shown.says("Program launcher"))
    },
    gaps: &[Gap {
        role: "toggle button",
        text: "root",
        reason: "it is in a process of its own, which is plugged into the panel",
    }],
};

pub const SANDBOXED: Subject = Subject {
    name: "mousepad in a sandbox",
    toolkit: "GTK 3",
    open: |bed| {
        let (bus, folder) = (bed.accessibility(), bed.path("."));
        let sandbox = content::app("sandbox.sh");
        let note = content::note(bed);
        format!("{sandbox} '{bus}' {} mousepad {note}", folder.display()).into()
    },
    ready: "Apples are red.",
    click: |run| menu(run, "Search", "Find"),
    text: |run| append_and_save(run, "note.txt"),
    gaps: &[],
};
