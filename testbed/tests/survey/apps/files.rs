//! File managers.

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
