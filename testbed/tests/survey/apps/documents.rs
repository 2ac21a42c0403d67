//! Office, and viewers.

use super::append_and_save;
use crate::content;
use crate::run::{Gap, Subject};

pub const fn writer() -> Subject {
    Subject {
        name: "Writer",
        toolkit: "VCL (GTK 3)",
        open: |bed| format!("soffice --norestore --nologo {}", content::letter(bed)).into(),
        ready: "Apples",
        click: |run| {
            // The caret is in a heading, which is bold.
            let bold = |on: bool| {
                run.shows("Bold", |shown| {
                    shown.name == "Bold" && shown.is("checked") == on
                })
            };
            bold(true)?;
            run.click("AXCheckBox", "Bold")?;
            bold(false)
        },
        text: |run| append_and_save(run, "letter.fodt"),
        gaps: &[Gap {
            role: "",
            text: "",
            reason: "document text and the status bar are not read yet",
        }],
    }
}

pub const fn evince() -> Subject {
    Subject {
        name: "Evince",
        toolkit: "GTK 3",
        open: |bed| format!("evince {}", content::pdf(bed)).into(),
        ready: "Apples",
        click: |run| {
            run.click("AXCheckBox", "Side pane")?;
            run.hides("the pane's tabs", |shown| shown.role == "radio button")
        },
        text: |run| {
            run.key("f", &["Control"])?;
            run.types("Pears", Some("Return"))?;
            run.shows("the words to find", |shown| {
                shown.role == "text" && shown.text == "Pears"
            })
        },
        gaps: &[Gap {
            role: "page",
            text: "",
            reason: "the Text interface of a page is not read yet",
        }],
    }
}
