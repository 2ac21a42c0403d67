//! Large apps in a session.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::apps::{CHROMIUM, spreadsheet};
use crate::documents::letter;
use crate::place::own;
use crate::web::Page;
use crate::{Answer, Client, NativeApp, Session, Toolkit, until};

impl Session {
    /// Like [`Session::widgets`], in a window with client-side decorations and their shadow.
    pub fn widgets_with_a_shadow(&self, toolkit: Toolkit, server: &Client) -> NativeApp {
        self.widgets_with(toolkit, server, "-shadow", &[("GTK_CSD", "1")])
    }

    /// A GTK 4 window with two pages, one in front; see `testbed/apps/pages.py`.
    pub fn pages(&self, server: &Client) -> NativeApp {
        self.script(&["pages.py"], server, ["AXButton", "Turn"])
    }

    /// Starts a script of `testbed/apps` that writes a log, with further arguments. Waits until
    /// Deskline reads an element with this role and name.
    pub fn script(&self, script: &[&str], server: &Client, shown: [&str; 2]) -> NativeApp {
        let log = self.folder().join(format!("{}.log", script.join("-")));
        let mut command = self.command("/usr/bin/python3");
        command.arg("-B").arg(self.folder().join(script[0]));
        command.arg(&log).args(&script[1..]);
        let app = self.app(command, log);
        shows(&app, server, shown[0], shown[1]);
        app
    }

    /// Opens a file or folder of [`Self::folder`] in a program, and waits until Deskline reads this
    /// element.
    pub fn open(&self, program: &str, file: &str, server: &Client, shown: [&str; 2]) -> NativeApp {
        let mut command = self.command(program);
        command.arg(self.folder().join(file));
        command.env("HOME", self.folder());
        let app = self.app(command, self.folder().join(format!("{program}.log")));
        shows(&app, server, shown[0], shown[1]);
        app
    }

    /// Chromium as a Wayland app, with a page of this HTML, once Deskline reads a button on the
    /// page.
    pub fn chromium(&self, html: &str, server: &Client, button: &str) -> (NativeApp, Page) {
        let page = Page::serve(html);
        let mut command = self.command("/usr/bin/chromium");
        command.args(CHROMIUM).arg("--ozone-platform=wayland");
        command.arg(page.address());
        let app = self.app(command, self.folder().join("chromium.log"));
        page.wait_for("ready");
        shows(&app, server, "AXButton", button);
        page.clear_log();
        (app, page)
    }

    /// `LibreOffice` Calc with these rows of cells, once Deskline reads the first cell, and the
    /// document's file.
    pub fn calc(&self, rows: &[&[&str]], server: &Client) -> (NativeApp, PathBuf) {
        let (app, file) = self.office("prices.fods", &spreadsheet(rows));
        shows(&app, server, "AXCell", "A1");
        (app, file)
    }

    /// `LibreOffice` Writer with these paragraphs, once Deskline reads the first, and the
    /// document's file.
    pub fn writer(&self, paragraphs: &[&str], server: &Client) -> (NativeApp, PathBuf) {
        let (app, file) = self.office("letter.fodt", &letter(paragraphs));
        shows(&app, server, "AX", paragraphs[0]);
        (app, file)
    }

    /// `LibreOffice` with a fresh profile and a flat `OpenDocument` file of this name.
    fn office(&self, name: &str, content: &str) -> (NativeApp, PathBuf) {
        let file = self.folder().join(name);
        fs::write(&file, content).unwrap();
        own(&file);
        let office = || {
            // Start the program itself, as the script would start it in the background.
            let mut command = self.command("/usr/lib/libreoffice/program/soffice.bin");
            let profile = self.folder().join(format!("profile-of-{name}"));
            command.arg(format!(
                "-env:UserInstallation=file://{}",
                profile.display()
            ));
            command.args(["--norestore", "--nologo"]);
            command
        };
        // With a fresh profile it ends at once, and has to be started again.
        let prepared = office()
            .args(["--headless", "--terminate_after_init"])
            .status();
        prepared.unwrap();
        let mut command = office();
        command.arg(&file);
        let log = self.folder().join(format!("{name}.log"));
        (self.app(command, log), file)
    }
}

/// Waits until Deskline reads this element of the app.
fn shows(app: &NativeApp, server: &Client, role: &str, name: &str) {
    until(&format!("{role} {name:?}"), || {
        let read = server.refresh(app.pid());
        let shows = |a: &Answer| a.find(role, name).is_some_and(|line| line.visible);
        (!read.is_error && shows(&read)).then_some(())
    });
}

impl Client {
    /// Clicks each corner of the cell B1 of [`Session::calc`], types the point into the cell, and
    /// waits until it is saved. The cells beside it, whose texts are given, must not change.
    pub fn fills_a_cell_from_its_corners(&self, app: &NativeApp, file: &Path, [a1, c1]: [&str; 2]) {
        let read = self.refresh(app.pid()).ok();
        let cell = read.line_of("AXCell", "B1").extents.unwrap();
        let (left, top) = (cell.x + 1, cell.y + 1);
        let (right, bottom) = (cell.x + cell.w - 2, cell.y + cell.h - 2);
        for (x, y) in [(left, top), (right, top), (left, bottom), (right, bottom)] {
            // LibreOffice capitalises the first letter of a text.
            let text = format!("At {x} {y}");
            let typed = json!({"x": x, "y": y, "text": text, "pressKey": "Return"});
            self.call_for(app, "click_and_traverse", typed).ok();
            self.saves(app);
            until("the saved cell", || first_row(file) == [a1, &text, c1]);
        }
    }

    /// Presses Ctrl+S.
    pub fn saves(&self, app: &NativeApp) {
        self.press_key(app.pid(), "s", &["Control"]).ok();
    }
}

/// The first row of a saved spreadsheet.
fn first_row(file: &Path) -> Vec<String> {
    let document = fs::read_to_string(file).unwrap();
    let row = document
        .split("<table:table-row")
        .nth(1)
        .unwrap_or_default();
    let row = row.split("</table:table-row>").next().unwrap_or_default();
    let cells = row.split("<text:p>").skip(1);
    let texts = cells.map(|cell| cell.split('<').next().unwrap_or_default().to_owned());
    texts.collect()
}
