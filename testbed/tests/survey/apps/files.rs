//! File managers.

use deskline_testbed::deskline;
use serde_json::json;

use crate::content;
use crate::run::Subject;

pub const THUNAR: Subject = Subject {
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
};

pub const NAUTILUS: Subject = Subject {
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
};

pub const DOLPHIN: Subject = Subject {
    name: "Dolphin",
    toolkit: "Qt 5",
    open: |bed| format!("dolphin {}", content::folder(bed)).into(),
    ready: "apples.txt",
    click: |run| {
        let view = run.either("Details", "Edit mode");
        run.click("AXCheckBox", view)?;
        run.shows_checked(view)
    },
    text: |run| {
        run.key("f", &["Control"])?;
        run.types("pears", None)?;
        run.shows_text("the words to find", "pears")
    },
    gaps: &[],
};

pub const FILEZILLA: Subject = Subject {
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
        run.shows_text("the host", "127.0.0.1")
    },
    gaps: &[],
};

pub const KEEPASSXC: Subject = Subject {
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
        run.shows_checked("Password Generator")?;
        run.click("AXCheckBox", "Password Generator")?;
        run.says("Enter Password:")
    },
    text: |run| {
        run.types_password(content::PASSWORD)?;
        run.says("gardener")
    },
    gaps: &[],
};
