//! Calculators, and the toolkits' own showcases.

use serde_json::json;

use crate::content;
use crate::run::{Gap, Subject};

pub const GNOME_CALCULATOR: Subject = Subject {
    name: "gnome-calculator",
    toolkit: "GTK 4",
    open: |_| "gnome-calculator".to_owned().into(),
    ready: "7",
    click: |run| {
        run.click("AXButton", "7")?;
        run.shows_text("a seven", "7")
    },
    text: |run| {
        run.types("*6", Some("Return"))?;
        run.shows("the product", |shown| shown.says("42"))
    },
    gaps: &[],
};

pub const KCALC: Subject = Subject {
    name: "KCalc",
    toolkit: "Qt 5",
    open: |_| "kcalc".to_owned().into(),
    ready: "KCalc",
    click: |run| {
        run.click("AXButton", run.either("7", "Seven"))?;
        run.shows("a seven", |shown| {
            matches!(&*shown.role, "frame" | "text") && shown.says("7")
        })
    },
    text: |run| {
        run.types("*6", Some("Return"))?;
        run.shows("the product", |shown| shown.says("42"))
    },
    gaps: &[],
};

pub const GTK3_WIDGET_FACTORY: Subject = Subject {
    name: "gtk3-widget-factory",
    toolkit: "GTK 3",
    open: |_| "gtk3-widget-factory".to_owned().into(),
    ready: "togglebutton",
    click: |run| super::toggle(run, "checkbutton"),
    text: |run| {
        let entry = json!({"role": "AXTextField", "element": "entry", "doubleClick": true,
                           "text": super::WORDS});
        run.call("click_and_traverse", entry)?;
        run.shows_text("the text", super::WORDS)
    },
    gaps: &[],
};

pub const GTK4_WIDGET_FACTORY: Subject = Subject {
    name: "gtk4-widget-factory",
    toolkit: "GTK 4",
    open: |_| "gtk4-widget-factory".to_owned().into(),
    ready: "togglebutton",
    click: |run| super::toggle(run, "checkbutton"),
    text: |run| {
        let entry = json!({"role": "AXTextField", "element": "comboboxentry", "doubleClick": true,
                           "text": super::WORDS});
        run.call("click_and_traverse", entry)?;
        run.shows_text("the text", super::WORDS)
    },
    gaps: &[],
};

pub const GTK4_DEMO: Subject = Subject {
    name: "gtk4-demo",
    toolkit: "GTK 4",
    open: |_| "gtk4-demo".to_owned().into(),
    ready: "Application Class",
    click: |run| {
        run.click("AXTab", "Source")?;
        run.shows("the source", |shown| {
            shown.role == "text" && shown.says("#include")
        })
    },
    text: |run| {
        // A button, in later versions a toggle button.
        run.call("click_and_traverse", json!({"element": "Search"}))?;
        run.types("Cursors", None)?;
        run.shows("what was found", |shown| shown.says("Cursors"))?;
        run.hides("the others", |shown| shown.says("Application Class"))
    },
    gaps: &[Gap {
        role: "text",
        text: "Demonstrates a useful set of available cursors",
        reason: "it is on the tab behind, as the picture shows; GTK 4.8 calls that tab visible",
    }],
};

/// The form, which [`SWING`] has too.
pub const PYQT_6: Subject = Subject {
    name: "PyQt 6",
    toolkit: "Qt 6",
    open: |_| format!("/usr/bin/python3 {}", content::app("survey_qt6.py")).into(),
    ready: "Apples",
    click: |run| {
        run.click("AXButton", "Press me")?;
        run.says("It was pressed")
    },
    text: |run| {
        let name = json!({"role": "AXTextField", "element": "Name", "text": super::WORDS});
        run.call("click_and_traverse", name)?;
        run.says(&format!("Hello {}", super::WORDS))
    },
    gaps: &[],
};

pub const SWING: Subject = Subject {
    name: "Swing",
    toolkit: "Java",
    open: |_| {
        format!(
            "java -cp /usr/share/java/java-atk-wrapper.jar \
             -Djava.library.path=/usr/lib/x86_64-linux-gnu/jni \
             -Djavax.accessibility.assistive_technologies=org.GNOME.Accessibility.AtkWrapper \
             {}",
            content::app("Survey.java")
        )
        .into()
    },
    ..PYQT_6
};
