//! Office apps and viewers.

use deskline_testbed::web::Page;
use serde_json::json;

use super::append_and_save;
use crate::content;
use crate::run::{Gap, Opening, Outcome, Run, Subject};
use crate::shown::Shown;

pub const WRITER: Subject = Subject {
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
    gaps: &[],
};

pub const EVINCE: Subject = Subject {
    name: "Evince",
    toolkit: "GTK 3",
    open: |bed| format!("evince {}", content::pdf(bed)).into(),
    ready: "Apples",
    click: |run| {
        let tab = |shown: &Shown| shown.role == "radio button";
        // Whether the pane is open at the start depends on the version and its settings.
        let is_open = run.count(tab) > 0;
        run.click("AXCheckBox", "Side pane")?;
        if is_open {
            run.hides("the pane's tabs", tab)
        } else {
            run.shows("the pane's tabs", tab)
        }
    },
    text: |run| {
        run.key("f", &["Control"])?;
        run.types("Pears", Some("Return"))?;
        run.shows_text("the words to find", "Pears")
    },
    gaps: &[],
};

pub const CALC: Subject = Subject {
    name: "Calc",
    toolkit: "VCL (GTK 3)",
    open: |bed| format!("soffice --norestore --nologo {}", content::prices(bed)).into(),
    ready: "Apple",
    click: |run| {
        let selected = |sheet: &str| {
            run.click("AXTab", sheet)?;
            run.shows(sheet, |shown| {
                shown.role == "page tab" && shown.name == sheet && shown.is("selected")
            })
        };
        selected("Other")?;
        selected("Prices")
    },
    text: |run| {
        run.click("AXCell", "A5")?;
        run.types(super::WORDS, Some("Return"))?;
        run.key("s", &["Control"])?;
        run.file_has("prices.fods", super::WORDS)
    },
    gaps: &[],
};

pub const IMPRESS: Subject = Subject {
    name: "Impress",
    toolkit: "VCL (GTK 3)",
    open: |bed| format!("soffice --norestore --nologo {}", content::slides(bed)).into(),
    ready: "Slide 1 of 2",
    click: |run| {
        run.click("AXCheckBox", "Master Objects")?;
        run.shows("Master Objects off", |shown| {
            shown.name == "Master Objects" && !shown.is("checked")
        })
    },
    text: |run| {
        // Select the first object of the slide, and enter its text.
        run.key("Escape", &[])?;
        run.call(
            "click_and_traverse",
            json!({"role": "AXGroup", "element": "talk - LibreOffice"}),
        )?;
        run.key("Tab", &[])?;
        run.key("F2", &[])?;
        run.types(super::WORDS, None)?;
        run.key("Escape", &[])?;
        run.key("s", &["Control"])?;
        run.file_has("talk.fodp", super::WORDS)
    },
    gaps: &[],
};

pub const OKULAR: Subject = Subject {
    name: "Okular",
    toolkit: "Qt 5",
    open: |bed| format!("okular {}", content::pdf(bed)).into(),
    ready: "Thumbnails",
    click: |run| {
        run.click("AXTab", "Bookmarks")?;
        run.shows("the bookmarks", |shown| {
            shown.role == "label" && shown.name == "Bookmarks"
        })
    },
    text: |run| {
        run.key("f", &["Control"])?;
        run.types("Pears", Some("Return"))?;
        run.shows_text("the words to find", "Pears")
    },
    gaps: &[],
};

pub const GIMP: Subject = Subject {
    name: "GIMP",
    toolkit: "GTK 2",
    open: |bed| {
        // Needed for GTK 2 apps to join the bus.
        let modules = "GTK_MODULES=gail:atk-bridge";
        format!("env {modules} gimp --no-splash {}", content::picture(bed)).into()
    },
    ready: "orchard.png",
    // GTK 2 does not report an open menu's items as showing.
    click: |run| {
        if run.has("Welcome to GIMP") {
            run.click("AXButton", "Close")?;
        }
        run.click("AXMenuBarItem", "Image")?;
        run.shows("the open menu Image", |shown| {
            shown.role == "menu" && shown.name == "Image" && shown.is("focused")
        })?;
        run.key("Escape", &[])?;
        Ok(())
    },
    text: |run| {
        // Open GIMP's search for actions.
        run.key("slash", &[])?;
        run.types("Gaussian", None)?;
        run.says("Gaussian Blur")
    },
    gaps: &[],
};

pub const INKSCAPE: Subject = Subject {
    name: "Inkscape",
    toolkit: "GTK 3",
    open: |bed| format!("inkscape {}", content::drawing(bed)).into(),
    ready: "No objects selected",
    click: |run| {
        // The app's tools are in a flow box, which is exposed as a table.
        run.click("AXRadioButton", "Create rectangles")?;
        run.says("to create a rectangle")?;
        run.click("AXRadioButton", "Select and transform")?;
        run.click("AXButton", "Select All")?;
        run.says("objects selected")
    },
    text: |run| {
        // The text goes into the field for the opacity of objects.
        let opacity = json!({
            "role": "AXIncrementor", "element": "100", "doubleClick": true, "text": "50",
            "pressKey": "Return",
        });
        run.call("click_and_traverse", opacity)?;
        run.shows("the opacity", |shown| {
            shown.role == "spin button" && shown.text == "50"
        })
    },
    gaps: &[],
};

pub const AUDACITY: Subject = Subject {
    name: "Audacity",
    toolkit: "wxWidgets (GTK 3)",
    open: |bed| format!("audacity {}", content::sound(bed)).into(),
    ready: "Welcome to Audacity!",
    click: |run| {
        run.call(
            "wait_for_and_traverse",
            json!({"role": "AXButton", "element": "OK", "state": "present"}),
        )?;
        run.click("AXButton", "OK")?;
        run.hides("the welcome", |shown| shown.says("Welcome to Audacity!"))
    },
    text: |run| super::menu(run, "File", "New"),
    gaps: &[],
};

pub const FIREFOX: Subject = Subject {
    name: "Firefox",
    toolkit: "Gecko",
    open: |bed| {
        let page = Page::serve(content::PAGE);
        let profile = bed.path("profile");
        std::fs::create_dir(&profile).unwrap();
        let (profile, address) = (profile.display(), page.address());
        Opening {
            command: format!("firefox-esr --no-remote --profile {profile} {address}"),
            page: Some(page),
        }
    },
    ready: "Nothing yet",
    click: press_me,
    text: fill_in,
    gaps: &[],
};

pub const CHROMIUM: Subject = Subject {
    name: "Chromium",
    toolkit: "Blink",
    open: |bed| {
        let page = Page::serve(content::PAGE);
        let profile = bed.path("profile");
        let (profile, address) = (profile.display(), page.address());
        Opening {
            command: format!(
                "chromium --no-sandbox --disable-gpu --no-first-run \
                 --no-default-browser-check --disable-background-networking --disable-sync \
                 --password-store=basic --window-size=1000,800 --user-data-dir={profile} \
                 {address}"
            ),
            page: Some(page),
        }
    },
    ready: "Nothing yet",
    click: press_me,
    text: fill_in,
    gaps: &[Gap {
        role: "page tab",
        text: "Memory usage",
        reason: "the tab's name is read without this figure, which changes all the time",
    }],
};

fn press_me(run: &Run<'_>) -> Outcome {
    run.click("AXButton", "Press me")?;
    run.page_says("clicked")
}

fn fill_in(run: &Run<'_>) -> Outcome {
    let field = json!({"role": "AXTextField", "element": "Name", "text": super::WORDS});
    run.call("click_and_traverse", field)?;
    run.page_says(&format!("name {}", super::WORDS))
}
