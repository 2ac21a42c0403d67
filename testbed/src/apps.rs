//! Starts apps: the test apps with one of each widget, and real ones.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bed::source;
use crate::web::Page;
use crate::{App, Bed, until};

/// The toolkit of a test app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toolkit {
    /// GTK 3.
    Gtk3,
    /// GTK 4.
    Gtk4,
    /// Qt 5.
    Qt5,
    /// Qt 6.
    Qt6,
}

impl Toolkit {
    /// The toolkits of most apps on Debian 12.
    pub const ALL: [Self; 3] = [Self::Gtk3, Self::Gtk4, Self::Qt5];

    /// The toolkits of most apps on Debian 13.
    pub const DEBIAN_13: [Self; 3] = [Self::Gtk3, Self::Gtk4, Self::Qt6];

    /// The toolkit's name, with its version if Debian 12 and 13 have different ones.
    pub fn version(self, debian_12: bool) -> &'static str {
        match (self, debian_12) {
            (Self::Gtk3, _) => "GTK 3",
            (Self::Gtk4, true) => "GTK 4.8",
            (Self::Gtk4, false) => "GTK 4.18",
            (Self::Qt5, _) => "Qt 5",
            (Self::Qt6, _) => "Qt 6",
        }
    }

    pub fn file(self) -> &'static str {
        match self {
            Self::Gtk3 => "gtk3.py",
            Self::Gtk4 => "gtk4.py",
            Self::Qt5 => "qt5.py",
            Self::Qt6 => "qt6.py",
        }
    }
}

/// Chromium's options, without the profile and the address.
pub(crate) const CHROMIUM: [&str; 9] = [
    "--no-sandbox",
    "--force-renderer-accessibility",
    "--disable-gpu",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-sync",
    "--password-store=basic",
    "--window-size=1000,800",
];

/// Five nested lines of Python.
pub const CODE: &str =
    "def f(a):\n    for b in a:\n        if b:\n            while b:\n                b = 0\n";

impl Bed {
    /// The test app with one of each widget; see `testbed/apps`.
    pub fn widgets(&self, toolkit: Toolkit) -> App<'_> {
        self.script(toolkit.file())
    }

    /// [`Bed::widgets`] with hostile labels, which try to break out of their lines.
    pub fn hostile_widgets(&self, toolkit: Toolkit) -> App<'_> {
        self.script_with(toolkit.file(), &["--hostile"])
    }

    /// Several windows of one process, all on the screen. See `testbed/apps/windows.py` for the
    /// names of toolkits and the arguments of a window.
    pub fn windows(
        &self,
        toolkit: &str,
        environment: &[(&str, &str)],
        windows: &[&str],
    ) -> App<'_> {
        let mut command = self.python("apps/windows.py");
        command.args(["/dev/stdout", toolkit]).args(windows);
        command.envs(environment.iter().copied());
        let app = self.ready(command);
        until("all windows", || {
            let there = self.screen().windows_of(app.pid).len();
            (there == windows.len()).then_some(())
        });
        app
    }

    /// A login form that closes when it is filled in; see `testbed/apps/login.py`.
    pub fn login(&self, args: &[&str]) -> App<'_> {
        self.script_with("login.py", args)
    }

    /// A GTK 3 window whose dialog another process draws; see `testbed/apps/plugin.py`.
    pub fn plugin(&self) -> App<'_> {
        self.script("plugin.py")
    }

    /// Combo boxes, drop-downs, a menu and a long list of a toolkit; see `testbed/apps/choices.py`.
    pub fn choices(&self, toolkit: &str) -> App<'_> {
        self.script_with("choices.py", &[toolkit])
    }

    /// A Qt 6 window with a list of 200 rows.
    pub fn rows(&self) -> App<'_> {
        self.script("rows.py")
    }

    /// A Qt 5 tree, most of which is below the fold; see `testbed/apps/tree.py`.
    pub fn tree(&self) -> App<'_> {
        self.script("tree.py")
    }

    /// A GTK 4 column of buttons that scrolls smoothly to the focus; see `testbed/apps/fold.py`.
    pub fn fold(&self) -> App<'_> {
        self.script("fold.py")
    }

    /// A window in which something moves to where a button is; see `testbed/apps/moves.py`.
    pub fn moves(&self, args: &[&str]) -> App<'_> {
        self.script_with("moves.py", args)
    }

    /// A window in which a panel lies over buttons; see `testbed/apps/covers.py`.
    pub fn covers(&self, args: &[&str]) -> App<'_> {
        self.script_with("covers.py", args)
    }

    /// A GTK 3 panel whose menu opens late; see `testbed/apps/dock.py`.
    pub fn dock(&self) -> App<'_> {
        self.script("dock.py")
    }

    /// A GTK 3 window that logs buttons, keys and the pointer; see `testbed/apps/presses.py`.
    pub fn presses(&self) -> App<'_> {
        self.script("presses.py")
    }

    /// A GTK 4 or Qt 6 window with lists that take each other's rows; see `testbed/apps/lists.py`.
    pub fn lists(&self, toolkit: &str) -> App<'_> {
        self.script_with("lists.py", &[toolkit])
    }

    /// Rows and buttons whose bounds cover their content; see `testbed/apps/nested.py`.
    pub fn nested(&self, toolkit: &str) -> App<'_> {
        self.script_with("nested.py", &[toolkit])
    }

    /// A file chooser of GTK 4, which logs what is chosen; see `testbed/apps/chooser.py`.
    pub fn chooser(&self) -> App<'_> {
        self.script("chooser.py")
    }

    /// A file chooser of a toolkit that saves, and a button behind it; see
    /// `testbed/apps/chooser.py`.
    pub fn saver(&self, toolkit: &str, folder: &Path) -> App<'_> {
        self.script_with("chooser.py", &[toolkit, folder.to_str().unwrap()])
    }

    /// A field that completes what is typed, a menu and a button; see `testbed/apps/completes.py`.
    pub fn completes(&self, toolkit: &str) -> App<'_> {
        self.script_with("completes.py", &[toolkit])
    }

    /// Controls that refuse a change or take it back; see `testbed/apps/refuses.py`.
    pub fn refuses(&self, toolkit: &str) -> App<'_> {
        self.script_with("refuses.py", &[toolkit])
    }

    /// A window that asks in a message box before it deletes; see `testbed/apps/alerts.py`.
    pub fn alerts(&self, toolkit: &str, question: &str) -> App<'_> {
        self.script_with("alerts.py", &[toolkit, question])
    }

    /// Like [`Bed::alerts`], with a button that makes the app `asks` show the question.
    pub fn alerts_of(&self, asks: &App<'_>, question: &str) -> App<'_> {
        self.script_with("alerts.py", &["gtk3", question, &asks.pid.to_string()])
    }

    /// Two spin buttons as a German sees them; see `testbed/apps/spin.py`.
    pub fn german_spin_buttons(&self, toolkit: &str) -> App<'_> {
        let locales = self.path("locales");
        let german = locales.join("de_DE.UTF-8");
        if !german.exists() {
            fs::create_dir_all(&locales).unwrap();
            let german = german.to_str().unwrap();
            self.run("localedef", &["-i", "de_DE", "-f", "UTF-8", german]);
        }
        let mut command = self.python("apps/spin.py");
        command.args(["/dev/stdout", toolkit]);
        command.env("LOCPATH", locales).env("LC_ALL", "de_DE.UTF-8");
        self.ready(command)
    }

    /// A GTK 3 window that re-creates a part of itself.
    pub fn anew(&self) -> App<'_> {
        self.script("anew.py")
    }

    /// A GTK 3 window that is mostly hidden; see `testbed/apps/hidden.py`.
    pub fn hidden(&self) -> App<'_> {
        self.script("hidden.py")
    }

    /// A GTK 4 window with two pages, one in front; see `testbed/apps/pages.py`.
    pub fn pages(&self) -> App<'_> {
        self.script("pages.py")
    }

    /// A Qt 5 dialog whose fields limit, mask and complete a text; see `testbed/apps/fields.py`.
    pub fn fields(&self) -> App<'_> {
        self.script("fields.py")
    }

    /// A GTK 3 window with a canvas; see `testbed/apps/canvas.py`.
    pub fn canvas(&self) -> App<'_> {
        self.script("canvas.py")
    }

    /// A GTK 3 window whose words are painted; see `testbed/apps/painted.py`.
    pub fn painted(&self, args: &[&str]) -> App<'_> {
        self.script_with("painted.py", args)
    }

    /// A window with a tree that no toolkit would produce; see `testbed/apps/hostile.py` for the
    /// cases.
    pub fn hostile(&self, case: &str) -> App<'_> {
        let mut command = self.python("apps/hostile.py");
        command.args(["/dev/stdout", case]);
        let app = App::start_unread(self, command, |_| true);
        app.wait_for("ready");
        app.clear_log();
        app
    }

    /// Starts a script of `testbed/apps` and waits until it is ready.
    fn script(&self, name: &str) -> App<'_> {
        self.script_with(name, &[])
    }

    /// A Qt 5 window with a box beside the screen; see `testbed/apps/aside.py`.
    pub fn aside(&self) -> App<'_> {
        self.script_with("aside.py", &[])
    }

    fn script_with(&self, name: &str, args: &[&str]) -> App<'_> {
        let mut command = self.python(&format!("apps/{name}"));
        // Its standard output is the app's log file.
        command.arg("/dev/stdout").args(args);
        self.ready(command)
    }

    /// Starts a test app and waits until it is ready.
    fn ready(&self, mut command: Command) -> App<'_> {
        // Qt 6.4 does not join the bus if this is set.
        command.env_remove("AT_SPI_BUS_ADDRESS");
        let app = App::start(self, command);
        app.wait_for("ready");
        app.clear_log();
        app
    }

    /// mousepad, GTK 3, with a new file.
    pub fn mousepad(&self, content: &str) -> (App<'_>, PathBuf) {
        self.editor("mousepad", content)
    }

    /// featherpad, Qt 5, with a new file.
    pub fn featherpad(&self, content: &str) -> (App<'_>, PathBuf) {
        self.editor("featherpad", content)
    }

    /// An editor with an empty Python file, which it indents.
    pub fn code_editor(&self, program: &str) -> (App<'_>, PathBuf) {
        self.editor_of(program, "py", "")
    }

    fn editor(&self, program: &str, content: &str) -> (App<'_>, PathBuf) {
        self.editor_of(program, "txt", content)
    }

    fn editor_of(&self, program: &str, suffix: &str, content: &str) -> (App<'_>, PathBuf) {
        let file = self.path(&format!("{program}.{suffix}"));
        fs::write(&file, content).unwrap();
        (self.editing(program, &file), file)
    }

    /// An editor with this file.
    pub fn editing(&self, program: &str, file: &Path) -> App<'_> {
        let mut command = self.command(program);
        command.arg(file);
        App::start(self, command)
    }

    /// Thunar, GTK 3, with a folder of files. Its icon view has no children in the tree.
    pub fn thunar(&self, files: &[&str]) -> App<'_> {
        self.folder_in("thunar", files)
    }

    /// Dolphin, Qt 5, with a folder of files.
    pub fn dolphin(&self, files: &[&str]) -> App<'_> {
        self.folder_in("dolphin", files)
    }

    fn folder_in(&self, program: &str, files: &[&str]) -> App<'_> {
        let name = format!("{program}-folder");
        let folder = self.path(&name);
        fs::create_dir_all(&folder).unwrap();
        for file in files {
            fs::write(folder.join(file), "text").unwrap();
        }
        let mut command = self.command(program);
        command.arg(&folder);
        App::start_when(self, command, move |w| w.title.starts_with(&name))
    }

    /// GTK 3's showcase of widgets.
    pub fn gtk3_widget_factory(&self) -> App<'_> {
        App::start(self, self.command("gtk3-widget-factory"))
    }

    /// GTK 3's showcase of widgets at this scale.
    pub fn gtk3_widget_factory_at(&self, scale: &str) -> App<'_> {
        let mut command = self.command("gtk3-widget-factory");
        command.env("GDK_SCALE", scale);
        App::start(self, command)
    }

    /// KDE's calculator, Qt 5, at this scale.
    pub fn kcalc_at(&self, scale: &str) -> App<'_> {
        let mut command = self.command("kcalc");
        command.env("QT_SCALE_FACTOR", scale);
        App::start(self, command)
    }

    /// GTK 4's showcase of widgets.
    pub fn gtk4_widget_factory(&self) -> App<'_> {
        App::start(self, self.command("gtk4-widget-factory"))
    }

    /// GNOME's calculator, GTK 4.
    pub fn gnome_calculator(&self) -> App<'_> {
        App::start(self, self.command("gnome-calculator"))
    }

    /// GNOME's text editor, GTK 4. It opens file dialogs through the portal.
    pub fn gnome_text_editor(&self) -> App<'_> {
        let mut command = self.command("gnome-text-editor");
        command.env("GDK_DEBUG", "portals").arg("--standalone");
        App::start(self, command)
    }

    /// KDE's calculator, Qt 5.
    pub fn kcalc(&self) -> App<'_> {
        App::start(self, self.command("kcalc"))
    }

    /// `LibreOffice` Calc with a fresh profile and a document of two sheets: `Prices` with these
    /// rows of cells, and `Other`. The document is a single XML file, which saves without
    /// questions.
    pub fn calc(&self, rows: &[&[&str]]) -> (App<'_>, PathBuf) {
        let file = self.path("prices.fods");
        fs::write(&file, spreadsheet(rows)).unwrap();
        let mut command = self.command("soffice");
        let profile = self.path("office-profile");
        command.arg(format!(
            "-env:UserInstallation=file://{}",
            profile.display()
        ));
        command
            .args(["--norestore", "--nologo", "--calc"])
            .arg(&file);
        let app = App::start_when(self, command, |w| w.title.starts_with("prices.fods"));
        (app, file)
    }

    /// Chromium with a fresh profile and a page of this HTML, which reports what happens to it; see
    /// [`Page`].
    pub fn chromium(&self, html: &str) -> (App<'_>, Page) {
        let page = Page::serve(html);
        let app = self.chromium_at(&page.address(), page.title());
        page.wait_for("ready");
        page.clear_log();
        (app, page)
    }

    /// Chromium with a fresh profile at an address, once its window has this title.
    pub fn chromium_at(&self, address: &str, title: &str) -> App<'_> {
        self.chromium_by(&[], address, title)
    }

    /// Like [`Bed::chromium_at`], with further environment variables.
    pub fn chromium_by(&self, environment: &[(&str, &str)], address: &str, title: &str) -> App<'_> {
        let mut profiles = (1..).map(|n| self.path(&format!("chromium-profile-{n}")));
        let profile = profiles.find(|path| !path.exists()).unwrap();
        let mut command = self.command("chromium");
        command
            .args(CHROMIUM)
            .envs(environment.iter().copied())
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(address);
        App::start_when(self, command, |w| w.title.starts_with(title))
    }

    /// Chromium with a page that has the widgets of the test apps and writes the same log.
    pub fn chromium_widgets(&self) -> (App<'_>, Page) {
        self.chromium(&fs::read_to_string(source("apps/page.html")).unwrap())
    }

    /// A zenity dialog, GTK 3. Its log is its output.
    pub fn zenity(&self, args: &[&str]) -> App<'_> {
        let mut command = self.command("zenity");
        command.args(args);
        App::start(self, command)
    }
}

/// A flat `OpenDocument` spreadsheet (version 1.2, part 1) with these rows of cells in its first
/// sheet.
pub(crate) fn spreadsheet(rows: &[&[&str]]) -> String {
    let mut table = String::new();
    for row in rows {
        table += "<table:table-row>";
        for cell in *row {
            let value = match cell.parse::<f64>() {
                Ok(number) => format!("office:value-type=\"float\" office:value=\"{number}\""),
                Err(_) => "office:value-type=\"string\"".to_owned(),
            };
            table += "<table:table-cell ";
            table += &value;
            table += "><text:p>";
            table += cell;
            table += "</text:p></table:table-cell>";
        }
        table += "</table:table-row>";
    }
    let name = |part: &str| format!("urn:oasis:names:tc:opendocument:xmlns:{part}:1.0");
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\
         <office:document xmlns:office=\"{}\" xmlns:text=\"{}\" xmlns:table=\"{}\" \
         office:version=\"1.2\" \
         office:mimetype=\"application/vnd.oasis.opendocument.spreadsheet\">\
         <office:body><office:spreadsheet>\
         <table:table table:name=\"Prices\">{table}</table:table>\
         <table:table table:name=\"Other\"><table:table-row><table:table-cell/></table:table-row>\
         </table:table></office:spreadsheet></office:body></office:document>",
        name("office"),
        name("text"),
        name("table"),
    )
}
