//! Apps of the net and of media, and one in a sandbox.

use super::{WORDS, append_and_save, menu};
use crate::content;
use crate::run::Subject;

pub const fn vlc() -> Subject {
    Subject {
        name: "VLC",
        toolkit: "Qt 5",
        open: |bed| format!("{} --no-qt-privacy-ask --intf qt", content::vlc(bed)).into(),
        ready: "Playback",
        click: |run| menu(run, "Playback", "Next"),
        text: |run| {
            // "Open Network Stream".
            run.key("n", &["Control"])?;
            run.says("Please enter a network URL:")?;
            run.types("http://127.0.0.1/quince", None)?;
            run.says("http://127.0.0.1/quince")
        },
        gaps: &[],
    }
}

pub const fn qbittorrent() -> Subject {
    Subject {
        name: "qBittorrent",
        toolkit: "Qt 5",
        open: |bed| {
            content::qbittorrent(bed);
            "qbittorrent".to_owned().into()
        },
        ready: "All (0)",
        click: |run| menu(run, "File", "Exit"),
        text: |run| {
            // Its filter.
            run.key("f", &["Control"])?;
            run.types(WORDS, None)?;
            run.says(WORDS)
        },
        gaps: &[],
    }
}

pub const fn thunderbird() -> Subject {
    const FIELD: &str = "Email address*";
    Subject {
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
            run.click("AXTextField", FIELD)?;
            run.shows("the focus", |shown| {
                shown.name == FIELD && shown.is("focused")
            })
        },
        text: |run| {
            run.types("quinces@example.org", None)?;
            run.says("quinces@example.org")
        },
        gaps: &[],
    }
}

pub const fn wireshark() -> Subject {
    Subject {
        name: "Wireshark",
        toolkit: "Qt 5",
        open: |bed| format!("wireshark {}", content::capture(bed)).into(),
        ready: "2.000000",
        click: |run| menu(run, "Edit", "Find Packet"),
        text: |run| {
            // Its filter.
            run.key("/", &["Control"])?;
            run.types("frame.number == 2", Some("Return"))?;
            run.hides("the third packet", |shown| shown.name == "2.000000")
        },
        gaps: &[],
    }
}

pub const fn sandboxed() -> Subject {
    Subject {
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
    }
}
