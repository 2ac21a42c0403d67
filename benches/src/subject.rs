//! The apps to measure, and the element to click in each.

use std::fmt::Write as _;
use std::time::Duration;

use deskline_atspi::{AtSpi, Windows};
use deskline_link::Scope;
use deskline_testbed::web::Page;
use deskline_testbed::{App, Bed, until};

/// An app, and an element whose click changes the tree.
pub struct Subject {
    /// Its name in the table.
    pub name: &'static str,
    /// The text of the element to click.
    pub element: &'static str,
    /// Its AT-SPI role: `check box`, `push button`.
    pub role: &'static str,
    /// Links of several kinds, each a tool and its arguments without pid. A link that cannot be
    /// made is skipped.
    pub varied: &'static [(&'static str, &'static str)],
    /// Parts of the tree lines that the app changes on a timer of its own, however long a link
    /// waits.
    pub timers: &'static [&'static str],
    start: fn(&Bed) -> Running<'_>,
}

const CLICK: &str = "click_and_traverse";
const KEY: &str = "press_key_and_traverse";
const TYPE: &str = "type_and_traverse";
const UNDO: &str = r#"{"keyName": "z", "modifierFlags": ["Control"]}"#;

/// In the widget factories: pages, menus, texts, a list, undo.
const WIDGETS: &[(&str, &str)] = &[
    (CLICK, r#"{"element": "checkbutton"}"#),
    (CLICK, r#"{"element": "Page 2"}"#),
    (CLICK, r#"{"element": "radiobutton"}"#),
    (KEY, r#"{"keyName": "F10"}"#),
    (KEY, r#"{"keyName": "Escape"}"#),
    (CLICK, r#"{"element": "Page 3"}"#),
    (KEY, r#"{"keyName": "Tab"}"#),
    (CLICK, r#"{"element": "togglebutton"}"#),
    (CLICK, r#"{"element": "Page 2"}"#),
    (CLICK, r#"{"element": "Page 1"}"#),
    (TYPE, r#"{"text": "a"}"#),
    (KEY, UNDO),
    (
        CLICK,
        r#"{"element": "comboboxentry", "role": "AXComboBox"}"#,
    ),
    (KEY, r#"{"keyName": "Escape"}"#),
];

/// On a calculator: digits, a result, menus.
const KEYS: &[(&str, &str)] = &[
    (CLICK, r#"{"element": "5", "role": "AXButton"}"#),
    (CLICK, r#"{"element": "7", "role": "AXButton"}"#),
    (TYPE, r#"{"text": "*12+3"}"#),
    (KEY, r#"{"keyName": "Return"}"#),
    (KEY, r#"{"keyName": "F10"}"#),
    (KEY, r#"{"keyName": "Escape"}"#),
];

/// In Calc: a button, cells, arrows, undo, a menu, a dialog.
const SHEET: &[(&str, &str)] = &[
    (CLICK, r#"{"element": "Bold"}"#),
    (TYPE, r#"{"text": "12", "pressKey": "Return"}"#),
    (KEY, UNDO),
    (KEY, r#"{"keyName": "Down"}"#),
    (KEY, r#"{"keyName": "Down"}"#),
    (KEY, r#"{"keyName": "Right"}"#),
    (KEY, r#"{"keyName": "f", "modifierFlags": ["Alt"]}"#),
    (KEY, r#"{"keyName": "Escape"}"#),
    (CLICK, r#"{"element": "Italic"}"#),
    (KEY, r#"{"keyName": "F11"}"#),
    (KEY, r#"{"keyName": "1", "modifierFlags": ["Control"]}"#),
    (KEY, r#"{"keyName": "Escape"}"#),
    (KEY, r#"{"keyName": "Home", "modifierFlags": ["Control"]}"#),
];

/// On a page: buttons, a check box, scrolling.
const PAGE: &[(&str, &str)] = &[
    (CLICK, r#"{"element": "off"}"#),
    (CLICK, r#"{"element": "Option 1"}"#),
    (KEY, r#"{"keyName": "PageDown"}"#),
    (CLICK, r#"{"element": "Button 12"}"#),
    (KEY, r#"{"keyName": "Home"}"#),
    (KEY, r#"{"keyName": "Tab"}"#),
    (CLICK, r#"{"element": "Link 2"}"#),
    (KEY, r#"{"keyName": "Home"}"#),
    (CLICK, r#"{"element": "on"}"#),
];

/// In a text editor: text, undo, an arrow, a menu, a search.
const TEXT: &[(&str, &str)] = &[
    (TYPE, r#"{"text": "some words", "pressKey": "Return"}"#),
    (KEY, UNDO),
    (KEY, r#"{"keyName": "Up"}"#),
    (KEY, r#"{"keyName": "a", "modifierFlags": ["Control"]}"#),
    (KEY, r#"{"keyName": "f", "modifierFlags": ["Control"]}"#),
    (TYPE, r#"{"text": "word"}"#),
    (KEY, r#"{"keyName": "Escape"}"#),
    (KEY, r#"{"keyName": "F10"}"#),
    (KEY, r#"{"keyName": "Right"}"#),
    (KEY, r#"{"keyName": "Escape"}"#),
    (KEY, r#"{"keyName": "h", "modifierFlags": ["Control"]}"#),
    (KEY, r#"{"keyName": "Escape"}"#),
];

/// In a letter: text, a style, a menu, the sidebar.
const LETTER: &[(&str, &str)] = &[
    (TYPE, r#"{"text": "some words", "pressKey": "Return"}"#),
    (CLICK, r#"{"element": "Bold"}"#),
    (TYPE, r#"{"text": "and more"}"#),
    (KEY, r#"{"keyName": "e", "modifierFlags": ["Alt"]}"#),
    (KEY, r#"{"keyName": "Escape"}"#),
    (KEY, r#"{"keyName": "F11"}"#),
    (KEY, r#"{"keyName": "Home", "modifierFlags": ["Control"]}"#),
    (KEY, r#"{"keyName": "f", "modifierFlags": ["Control"]}"#),
    (KEY, r#"{"keyName": "Escape"}"#),
    (KEY, UNDO),
];

/// In a folder: another view, a dialog, a menu.
const FOLDER: &[(&str, &str)] = &[
    (KEY, r#"{"keyName": "2", "modifierFlags": ["Control"]}"#),
    (KEY, r#"{"keyName": "Down"}"#),
    (KEY, r#"{"keyName": "F2"}"#),
    (TYPE, r#"{"text": "x"}"#),
    (KEY, r#"{"keyName": "Escape"}"#),
    (KEY, r#"{"keyName": "F10"}"#),
    (KEY, r#"{"keyName": "Escape"}"#),
    (KEY, r#"{"keyName": "l", "modifierFlags": ["Control"]}"#),
    (KEY, r#"{"keyName": "Escape"}"#),
    (KEY, r#"{"keyName": "1", "modifierFlags": ["Control"]}"#),
];

/// The bubble with a link's address, which browsers remove some time after the pointer or the focus
/// has left the link. Chromium shows the address without its scheme, and keeps the bubble empty for
/// a while.
const BUBBLE: &[&str] = &[
    "\"file:",
    "\"http:",
    "\"127.0.0.1:",
    "(panel)] x:",
    "(static)] x:",
    "(frame)] x:",
    "(status bar)",
];

/// Elements that `LibreOffice` updates while it idles.
const OFFICE: &[&str] = &["\"Undo", "\"Redo", "\"Clone", " words", " characters"];

pub struct Running<'b> {
    pub app: App<'b>,
    _page: Option<Page>,
}

impl Subject {
    pub fn start<'b>(&self, bed: &'b Bed) -> Running<'b> {
        (self.start)(bed)
    }

    /// Its name for drivers that find apps by name.
    pub fn app_name(&self) -> &'static str {
        match self.name {
            "LibreOffice Calc" => "soffice",
            "GTK 3, 10,000 nodes" => "many.py",
            name if name.starts_with("Chromium") => "Chromium",
            name => name,
        }
    }
}

fn plain(app: App<'_>) -> Running<'_> {
    Running { app, _page: None }
}

fn page(bed: &Bed, elements: usize) -> Running<'_> {
    let (app, page) = bed.chromium(&html(elements));
    // Chromium exposes a long page some time after it has shown the page, and the first part of it
    // earlier.
    let address = &bed.accessibility();
    let mut atspi = AtSpi::connect(address).unwrap();
    let budget = Duration::from_millis(500);
    until("the whole page", || {
        let tree = atspi.read(app.pid, Scope::Whole { budget }, &Windows::default());
        // Elements beyond the budget exist too.
        tree.is_ok_and(|tree| tree.elements.len() > elements / 4)
            .then_some(())
    });
    Running {
        app,
        _page: Some(page),
    }
}

/// A page with this many elements: a quarter each of buttons, links, check boxes and paragraphs.
fn html(elements: usize) -> String {
    let toggle = "this.textContent = this.textContent == 'off' ? 'on' : 'off'";
    let mut html = format!("<button onclick=\"{toggle}\">off</button>");
    for i in 0..elements / 4 {
        let _ = write!(
            html,
            "<div><button>Button {i}</button> <a href='#{i}'>Link {i}</a> \
             <label><input type=checkbox> Option {i}</label><p>Paragraph {i}</p></div>"
        );
    }
    html
}

fn sheet() -> String {
    let mut sheet = String::new();
    for row in 0..60 {
        let cells: Vec<String> = (0..12).map(|column| (row * column).to_string()).collect();
        let _ = writeln!(sheet, "{}", cells.join(","));
    }
    sheet
}

fn many(bed: &Bed) -> Running<'_> {
    let mut command = bed.command("/usr/bin/python3");
    command.args(["-B", concat!(env!("CARGO_MANIFEST_DIR"), "/apps/many.py")]);
    plain(App::start_when(bed, command, |w| w.title == "Many"))
}

fn calc(bed: &Bed) -> Running<'_> {
    // A fresh profile: after an earlier one was killed, LibreOffice would ask about lock and
    // recovery.
    let started = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    let profile = bed.path(&format!("office-profile-{}", started.as_millis()));
    std::fs::create_dir(&profile).unwrap();
    let file = profile.join("sheet.csv");
    std::fs::write(&file, sheet()).unwrap();
    let mut command = bed.command("soffice");
    command
        .arg(format!(
            "-env:UserInstallation=file://{}",
            profile.display()
        ))
        .args(["--norestore", "--nologo", "--calc"])
        .arg("--infilter=CSV:44,34,76,1")
        .arg(file);
    plain(App::start_when(bed, command, |w| {
        w.title.starts_with("sheet.csv")
    }))
}

/// All subjects, small ones first.
pub const ALL: &[Subject] = &[
    Subject {
        name: "gnome-calculator",
        varied: KEYS,
        element: "5",
        role: "push button",
        timers: &[],
        start: |b| plain(b.gnome_calculator()),
    },
    Subject {
        name: "kcalc",
        varied: KEYS,
        element: "5",
        role: "push button",
        timers: &[],
        start: |b| plain(b.kcalc()),
    },
    Subject {
        name: "gtk3-widget-factory",
        varied: WIDGETS,
        element: "checkbutton",
        role: "check box",
        timers: &[],
        start: |b| plain(b.gtk3_widget_factory()),
    },
    Subject {
        name: "gtk4-widget-factory",
        varied: WIDGETS,
        // Its last check box is inconsistent: it looks the same on and off.
        element: "togglebutton",
        role: "push button",
        timers: &[],
        start: |b| plain(b.gtk4_widget_factory()),
    },
    Subject {
        name: "LibreOffice Calc",
        varied: SHEET,
        element: "Bold",
        role: "toggle button",
        timers: OFFICE,
        start: calc,
    },
    Subject {
        name: "GTK 3, 10,000 nodes",
        varied: &[(CLICK, r#"{"element": "off"}"#)],
        element: "off",
        role: "push button",
        timers: &[],
        start: many,
    },
    Subject {
        name: "Chromium, 500",
        varied: PAGE,
        element: "off",
        role: "push button",
        timers: BUBBLE,
        start: |b| page(b, 500),
    },
    Subject {
        name: "Chromium, 2,000",
        varied: PAGE,
        element: "off",
        role: "push button",
        timers: BUBBLE,
        start: |b| page(b, 2_000),
    },
    Subject {
        name: "Chromium, 10,000",
        varied: PAGE,
        element: "off",
        role: "push button",
        timers: BUBBLE,
        start: |b| page(b, 10_000),
    },
];

/// Subjects in [`ALL`] that run the same or nearly the same app as another subject.
pub const SAME_APPS: [&str; 3] = ["GTK 3, 10,000 nodes", "Chromium, 500", "Chromium, 10,000"];

/// Further apps, of which only the late changes are counted: with [`ALL`] they are ten.
pub const FURTHER: &[Subject] = &[
    Subject {
        name: "mousepad",
        varied: TEXT,
        element: "",
        role: "",
        timers: &[],
        start: |b| plain(b.mousepad("one\n").0),
    },
    Subject {
        name: "Thunar",
        varied: FOLDER,
        element: "",
        role: "",
        timers: &[],
        start: |b| plain(b.thunar(&["one.txt", "two.txt", "three.txt"])),
    },
    Subject {
        name: "LibreOffice Writer",
        varied: LETTER,
        element: "",
        role: "",
        timers: OFFICE,
        start: |b| plain(b.writer(&["One.", "Two."]).0),
    },
    Subject {
        name: "Firefox",
        varied: PAGE,
        element: "",
        role: "",
        timers: BUBBLE,
        start: |b| plain(b.firefox(&html(500))),
    },
];
