//! A media player, and an app in a sandbox.

use super::{append_and_save, menu};
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
