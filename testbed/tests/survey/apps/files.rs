//! File managers.

use deskline_testbed::deskline;
use serde_json::json;

use crate::content;
use crate::run::Subject;

pub const fn thunar() -> Subject {
    Subject {
        name: "Thunar",
        toolkit: "GTK 3",
        open: |bed| format!("thunar {}", content::folder(bed)).into(),
        ready: "orchard",
        click: |run| {
            run.click("AXButton", "Open Parent")?;
            run.shows("the parent folder", |shown| {
                shown.role == "frame" && shown.name.starts_with("deskline-bed")
            })
        },
        text: |run| {
            run.key("l", &["Control"])?;
            let cellar = run.path("orchard").join("Cellar");
            run.types(cellar.to_str().unwrap(), Some("Return"))?;
            run.shows("the other folder", |shown| {
                shown.role == "frame" && shown.name.starts_with("Cellar")
            })
        },
        gaps: &[],
    }
}

pub const fn nautilus() -> Subject {
    Subject {
        name: "Nautilus",
        toolkit: "GTK 4",
        open: |bed| format!("nautilus --new-window {}", content::folder(bed)).into(),
        ready: "apples.txt",
        click: |run| {
            let cellar = json!({"role": "AXStaticText", "element": "Cellar", "doubleClick": true});
            run.call("click_and_traverse", cellar)?;
            run.shows("the other folder", |shown| {
                shown.role == "frame" && shown.name == "Cellar"
            })
        },
        text: |run| {
            run.key("l", &["Control"])?;
            let orchard = run.path("orchard");
            run.key("a", &["Control"])?;
            run.types(orchard.to_str().unwrap(), Some("Return"))?;
            run.says("plums.csv")
        },
        gaps: &[],
    }
}

pub const fn dolphin() -> Subject {
    Subject {
        name: "Dolphin",
        toolkit: "Qt 5",
        open: |bed| format!("dolphin {}", content::folder(bed)).into(),
        ready: "apples.txt",
        click: |run| {
            run.click("AXCheckBox", "Details")?;
            run.shows("the button on", |shown| {
                shown.name == "Details" && shown.is("checked")
            })
        },
        text: |run| {
            run.key("f", &["Control"])?;
            run.types("pears", None)?;
            run.shows("the words to find", |shown| {
                shown.role == "text" && shown.text == "pears"
            })
        },
        gaps: &[],
    }
}

pub const fn filezilla() -> Subject {
    Subject {
        name: "FileZilla",
        toolkit: "wxWidgets (GTK 3)",
        open: |bed| format!("filezilla --local={}", content::folder(bed)).into(),
        ready: "Welcome to FileZilla",
        click: |run| {
            run.click("AXButton", "OK")?;
            run.hides("the welcome", |shown| shown.says("Welcome to FileZilla"))
        },
        text: |run| {
            run.call(
                "click_and_traverse",
                json!({"element": "Host:", "role": "AXTextField", "text": "127.0.0.1"}),
            )?;
            run.shows("the host", |shown| {
                shown.role == "text" && shown.text == "127.0.0.1"
            })
        },
        gaps: &[],
    }
}

pub const fn keepassxc() -> Subject {
    Subject {
        name: "KeePassXC",
        toolkit: "Qt 5",
        open: |bed| {
            bed.run(
                deskline().to_str().unwrap(),
                &["grants", "allow", "keepassxc"],
            );
            format!("keepassxc {}", content::database(bed).display()).into()
        },
        ready: "Enter Password:",
        click: |run| {
            run.click("AXCheckBox", "Password Generator")?;
            run.shows("the generator", |shown| {
                shown.name == "Password Generator" && shown.is("checked")
            })?;
            run.click("AXCheckBox", "Password Generator")?;
            run.says("Enter Password:")
        },
        text: |run| {
            run.types_password(content::PASSWORD)?;
            run.says("gardener")
        },
        gaps: &[],
    }
}
