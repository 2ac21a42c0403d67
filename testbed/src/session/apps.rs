//! Large apps in a session of this machine.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::apps::{CHROMIUM, spreadsheet};
use crate::place::own;
use crate::web::Page;
use crate::{Answer, Client, NativeApp, Session, Toolkit, until};

impl Session {
    /// [`Session::widgets`] in a window with decorations of its own, which have a shadow.
    pub fn widgets_with_a_shadow(&self, toolkit: Toolkit, server: &Client) -> NativeApp {
        self.widgets_with(toolkit, server, "-shadow", &[("GTK_CSD", "1")])
    }

    /// Chromium as a Wayland app, with a page of this HTML, once Deskline reads a button of it.
    pub fn chromium(&self, html: &str, server: &Client, button: &str) -> (NativeApp, Page) {
        let page = Page::serve(html);
        let mut command = self.command("/usr/bin/chromium");
        command.args(CHROMIUM).arg("--ozone-platform=wayland");
        command.arg(page.address());
        let app = NativeApp::start(self, command, self.folder().join("chromium.log"));
        page.wait_for("ready");
        shows(&app, server, "AXButton", button);
        page.clear_log();
        (app, page)
    }

    /// `LibreOffice` Calc with a fresh profile and these rows of cells, once Deskline reads the first
    /// cell, and the document's file.
    pub fn calc(&self, rows: &[&[&str]], server: &Client) -> (NativeApp, PathBuf) {
        let file = self.folder().join("prices.fods");
        fs::write(&file, spreadsheet(rows)).unwrap();
        own(&file);
        let office = || {
            // Not the script, which starts this in the background.
            let mut command = self.command("/usr/lib/libreoffice/program/soffice.bin");
            let profile = self.folder().join("office-profile").display().to_string();
            command.arg(format!("-env:UserInstallation=file://{profile}"));
            command.args(["--norestore", "--nologo"]);
            command
        };
        // With a fresh profile it ends right away, to be started again.
        let prepared = office()
            .args(["--headless", "--terminate_after_init"])
            .status();
        prepared.unwrap();
        let mut command = office();
        command.arg("--calc").arg(&file);
        let app = NativeApp::start(self, command, self.folder().join("office.log"));
        shows(&app, server, "AXCell", "A1");
        (app, file)
    }
}

/// Waits until Deskline reads this element of the app.
fn shows(app: &NativeApp, server: &Client, role: &str, name: &str) {
    until(&format!("{role} {name:?}"), || {
        let read = server.call_for(app, "refresh_traversal", json!({}));
        let shows = |a: &Answer| a.find(role, name).is_some_and(|line| line.visible);
        (!read.is_error && shows(&read)).then_some(())
    });
}
