//! `choose` picks a choice of each toolkit's combo boxes, drop-downs and menus, and `until` scrolls
//! to a text. Another app's window, the person's, is in front.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use deskline_testbed::{Answer, App, Bed, Client, tests, until};
use rustix::process::Signal;
use serde_json::{Value, json};

const CLICK: &str = "click_and_traverse";

struct Subject<'b> {
    bed: &'b Bed,
    server: Client,
    app: App<'b>,
    person: App<'b>,
}

impl<'b> Subject<'b> {
    fn new(bed: &'b Bed, app: App<'b>) -> Self {
        let (person, _) = bed.mousepad("notes\n");
        let server = bed.server(&[]);
        Self {
            bed,
            server,
            app,
            person,
        }
    }

    fn toolkit(bed: &'b Bed, toolkit: &str) -> Self {
        Self::new(bed, bed.choices(toolkit))
    }

    /// Calls a tool about the app, with the person's window in front before and after it.
    fn call(&self, tool: &str, element: &str, mut more: Value) -> Answer {
        self.person.bring_to_front();
        let pointer = self.bed.screen().pointer();
        more["pid"] = self.app.pid.into();
        let (role, text) = element.split_once(' ').unwrap();
        more["element"] = text.into();
        more["role"] = role.into();
        let answer = self.server.call(tool, more);
        println!("{}\n", answer.text);
        until(&format!("the person's window after {element}"), || {
            self.bed.screen().front() == self.person.window.id
        });
        assert_eq!(self.bed.screen().pointer(), pointer, "{answer}");
        answer
    }

    fn choose(&self, element: &str, choice: &str) -> Answer {
        self.call(CLICK, element, json!({"choose": choice}))
    }

    /// Chooses, and checks the app's log.
    fn chooses(&self, element: &str, choice: &str, logs: &str) {
        self.app.clear_log();
        let answer = self.choose(element, choice).ok();
        self.app.wait_for(logs);
        assert_eq!(self.app.log(), [logs], "{answer}");
    }

    /// A choice that does not exist: the error names the nearest ones, and nothing is chosen.
    fn lacks(&self, element: &str, choice: &str, nearest: &str) {
        self.app.clear_log();
        let answer = self.choose(element, choice);
        assert!(answer.error().contains(nearest), "{answer}");
        assert_eq!(self.app.log(), [""; 0], "{answer}");
    }

    /// Scrolls the app's list down until a row shows, beyond the end, and up again.
    fn scrolls(&self, list: &str, texts: &[&str]) {
        let scroll = |until: &str, by: i32| {
            let more = json!({"until": until, "deltaY": by});
            self.call("scroll_and_traverse", list, more)
        };
        for (&row, by) in texts.iter().zip([1, -1]) {
            let found = scroll(row, by).ok();
            let line = found.lines().into_iter().find(|line| {
                let text = line.text.as_ref().map(|text| text.shown.as_str());
                line.visible && text == Some(row)
            });
            assert!(line.is_some(), "{found}\n{}", found.file());
        }
    }
}

#[test]
fn choices_are_made_in_gtk_3() {
    let bed = Bed::new();
    let subject = Subject::toolkit(&bed, "gtk3");
    subject.chooses("AXComboBox Size", "large", "Size Large");
    subject.chooses("AXComboBox City", "City 55", "City City 55");
    subject.chooses("AXComboBox Font", "Font 33", "Font Font 33");
    subject.lacks("AXComboBox City", "City 61", "\"City 6\"");
    subject.chooses("AX More", "Copy it", "More Copy it");
    subject.chooses("AXMenuBarItem Edit", "Copy it", "Edit Copy it");
    subject.chooses("AXMenuBarItem Edit", "Paste it", "Edit Paste it");
    subject.scrolls("AXTable Rows", &["Line 120", "Line 3"]);
}

/// The sliders are as wide as the scroll area, and its scroll bar shows only under the pointer.
#[test]
fn the_wheel_changes_no_slider_that_it_passes() {
    let bed = Bed::new();
    let subject = Subject::new(&bed, bed.refuses("gtk3"));
    // The wheel may not bring the button into view. That is an error.
    let answer = subject.call(CLICK, "AXButton Bottom", json!({}));
    let log = subject.app.log();
    assert!(log.iter().all(|line| line == "bottom"), "{log:?}: {answer}");
    assert_eq!(log.is_empty(), answer.is_error, "{answer}");
}

#[test]
fn choices_are_made_in_gtk_4() {
    let bed = Bed::new();
    let subject = Subject::toolkit(&bed, "gtk4");
    subject.chooses("AXComboBox Size", "large", "Size Large");
    subject.chooses("AXComboBox City", "City 55", "City City 55");
    subject.chooses("AXComboBox City", "City 2", "City City 2");
    subject.chooses("AXComboBox Font", "Font 33", "Font Font 33");
    subject.lacks("AXComboBox City", "City 61", "\"City 6\"");
    subject.chooses("AX More", "Copy it", "More Copy it");
    // When scrolled upwards, GTK 4.8 jumps to rows far below, also with a person's wheel.
    subject.scrolls("AXList Rows", &["Line 120"]);
}

/// The app runs only a third of the time. It reports the menu before the menu is at its final
/// place.
#[test]
fn a_choice_is_made_in_a_menu_of_a_slow_app() {
    let bed = Bed::new();
    let subject = Subject::toolkit(&bed, "gtk4");
    let chosen = AtomicBool::new(false);
    thread::scope(|scope| {
        let app = &subject.app;
        scope.spawn(|| {
            for _ in 0..500 {
                if chosen.load(Ordering::Relaxed) {
                    break;
                }
                app.signal(Signal::STOP);
                thread::sleep(Duration::from_millis(40));
                app.signal(Signal::CONT);
                thread::sleep(Duration::from_millis(20));
            }
        });
        // The app may be too slow to open the menu in time, which is an error.
        let done = (0..3).any(|_| !subject.choose("AX More", "Copy it").is_error);
        chosen.store(true, Ordering::Relaxed);
        assert!(done);
        app.wait_for("More Copy it");
    });
}

fn qt(toolkit: &str) {
    let bed = Bed::new();
    let subject = Subject::toolkit(&bed, toolkit);
    // These combo boxes have their choice as their name.
    subject.chooses("AXComboBox Small", "large", "Size Large");
    subject.chooses("AXComboBox City 1", "City 55", "City City 55");
    subject.chooses("AXComboBox City 55", "City 2", "City City 2");
    subject.chooses("AXComboBox Font 1", "Font 33", "Font Font 33");
    subject.lacks("AXComboBox City 2", "City 61", "\"City 6\"");
    subject.chooses("AX More", "Copy it", "More Copy it");
    subject.scrolls("AXList Rows", &["Line 120", "Line 3"]);
}

tests! {
    choices_are_made_in_qt_5 => qt("qt5"),
    choices_are_made_in_qt_6 => qt("qt6"),
}

#[test]
fn choices_are_made_in_wx() {
    let bed = Bed::new();
    let subject = Subject::toolkit(&bed, "wx");
    subject.chooses("AXComboBox Small", "large", "Size Large");
    subject.chooses("AXComboBox City 1", "City 55", "City City 55");
    subject.chooses("AXComboBox Font 1", "Font 33", "Font Font 33");
    subject.chooses("AXMenuBarItem Edit", "Paste it", "Edit Paste it");
}

/// A `<select>` whose options are surrounded by blanks, one of many options, a drop-down and a menu
/// of divs with a scroll area of their own, and a list that loads more at its end. The title has
/// the choice.
const PAGE: &str = "<style>[role=listbox]{height:120px;width:200px;overflow:auto;background:#eee}\
    [role=listbox]>*{height:24px}</style>\
    <label>Size <select><option> Small <option> Very large </select></label>\
    <label>City <select id=city></select></label>\
    <div id=down role=combobox tabindex=0 aria-expanded=false aria-controls=list aria-label=Colour>\
    Pick a colour</div><div id=list role=listbox hidden></div>\
    <div id=feed role=listbox aria-label=Feed></div>\
    <script>\
    const title = text => { document.title = 'Reading ' + text; };\
    for (let i = 1; i < 81; i++) { city.append(new Option('City ' + i)); }\
    for (let i = 1; i < 61; i++) {\
      const box = document.createElement('div'); box.setAttribute('role', 'option');\
      box.textContent = 'Colour ' + i; list.append(box);\
      box.onclick = () => { down.textContent = box.textContent; list.hidden = true;\
        down.setAttribute('aria-expanded', false); title(box.textContent); };\
    }\
    down.onclick = () => { list.hidden = !list.hidden;\
      down.setAttribute('aria-expanded', !list.hidden); };\
    down.onkeydown = e => { if (e.key == 'Escape') { list.hidden = true;\
      down.setAttribute('aria-expanded', false); } };\
    addEventListener('change', e => title(e.target.value));\
    const more = () => { for (let i = 0; i < 20; i++) {\
      const box = document.createElement('div'); box.setAttribute('role', 'option');\
      box.textContent = 'Post ' + (feed.children.length + 1); feed.append(box); } };\
    more();\
    feed.onscroll = () => { if (feed.children.length < 90 &&\
      feed.scrollTop + feed.clientHeight > feed.scrollHeight - 30) { setTimeout(more, 300); } };\
    </script>";

fn page(bed: &Bed, app: App<'_>) {
    let subject = Subject::new(bed, app);
    until("the page's tree", || {
        let pid = subject.app.pid;
        let answer = subject.server.refresh(pid);
        (!answer.is_error && answer.file().contains("Post 20")).then_some(())
    });
    let chooses = |element: &str, choice: &str, title: &str| {
        subject.choose(element, choice).ok();
        until(title, || {
            let now = subject.app.window_now().title;
            now.starts_with(&format!("Reading {title} ")).then_some(())
        });
    };
    chooses("AXComboBox Size", "very large", "Very large");
    chooses("AXComboBox City", "City 77", "City 77");
    chooses("AXComboBox Colour", "Colour 3", "Colour 3");
    chooses("AXComboBox Colour", "Colour 44", "Colour 44");
    let none = subject.choose("AXComboBox Colour", "Colour 61");
    assert!(none.error().contains("\"Colour 6\""), "{none}");
    subject.scrolls("AXList Feed", &["Post 70", "Post 2"]);
}

#[test]
fn choices_are_made_in_a_page_in_chromium() {
    let bed = Bed::new();
    let file = bed.path("page.html");
    let html = format!("<!doctype html><title>Reading</title>{PAGE}");
    std::fs::write(&file, html).unwrap();
    let app = bed.chromium_at(&format!("file://{}", file.display()), "Reading");
    page(&bed, app);
}

#[test]
fn choices_are_made_in_a_page_in_firefox() {
    let bed = Bed::new();
    let app = bed.firefox(PAGE);
    page(&bed, app);
}

#[test]
fn a_choice_is_made_in_chromiums_settings() {
    let bed = Bed::new();
    // Only the address bar opens Chromium's own pages; given on its command line, they stay empty.
    let app = bed.chromium_at("chrome://settings", "New Tab");
    let subject = Subject::new(&bed, app);
    let address = json!({"text": "chrome://settings/appearance", "pressKey": "Return"});
    subject
        .call(CLICK, "AXTextField Address and search bar", address)
        .ok();
    until("the setting", || {
        let pid = subject.app.pid;
        let answer = subject.server.refresh(pid);
        answer.find("AXComboBox", "Font size")
    });
    let answer = subject.choose("AXComboBox Font size", "Very large").ok();
    assert!(answer.field("target").contains("Very large"), "{answer}");
    let value = json!({"value": "Small"});
    let set = subject.call("set_value_and_traverse", "AXComboBox Font size", value);
    assert!(set.ok().field("target").contains("Small"));
}

#[test]
fn font_and_size_are_chosen_in_writer() {
    let bed = Bed::new();
    let (app, file) = bed.writer(&["A paragraph"]);
    let subject = Subject::new(&bed, app);
    let press = |key: &str| {
        let keys = json!({"keyName": key, "modifierFlags": ["Control"], "pid": subject.app.pid});
        subject.server.call("press_key_and_traverse", keys).ok();
    };
    press("a");
    subject.choose("AX Font Size", "24 pt").ok();
    subject.choose("AX Font Name", "DejaVu Serif").ok();
    press("s");
    let saved = || std::fs::read_to_string(&file).unwrap_or_default();
    for wanted in ["font-size=\"24pt\"", "DejaVu Serif"] {
        until(wanted, || saved().contains(wanted));
    }
}
