//! Checks on apps with different kinds of providers: Windows Forms, WPF, apps from the Store, a
//! browser.

use std::process::Command;
use std::time::Duration;

use deskline_core::KeyPress;
use deskline_link::call::Typing;
use deskline_link::selftest::{Found, field, judge, tree_of, within};
use deskline_link::{Action, Answer, Target};

use super::own::Own;
use super::test::{SHOWS, Test};
use super::window::close;
use crate::display::windows::{Toplevel, every};
use crate::os::{all, cloaked, is_visible, title};

/// How long a browser may take to show the page's answer.
const LOADS: Duration = Duration::from_secs(20);

/// Windows of two toolkits, each with a button that writes a line.
const FORMS: [(&str, &str); 2] = [
    (
        "Windows Forms",
        "Add-Type -AssemblyName System.Windows.Forms
$w = New-Object Windows.Forms.Form; $w.Text = 'Deskline test'
$b = New-Object Windows.Forms.Button; $b.Text = 'Press me'
$b.Add_Click({ [Console]::Out.WriteLine('pressed') })
$w.Controls.Add($b); [void]$w.ShowDialog()",
    ),
    (
        "WPF",
        "Add-Type -AssemblyName PresentationFramework
$w = New-Object Windows.Window; $w.Title = 'Deskline test'; $w.Width = 300; $w.Height = 200
$b = New-Object Windows.Controls.Button; $b.Content = 'Press me'
$b.Add_Click({ [Console]::Out.WriteLine('pressed') })
$w.Content = $b; [void]$w.ShowDialog()",
    ),
];

/// Calculator, an app from the Store, on Windows 10 and 11.
const CALCULATOR: &str = "Microsoft.WindowsCalculator_8wekyb3d8bbwe!App";

/// Asks where to save, and writes the answer.
const DIALOG: &str = "Add-Type -AssemblyName System.Windows.Forms
$d = New-Object Windows.Forms.SaveFileDialog
[void]$d.ShowDialog(); [Console]::Out.WriteLine('saves ' + $d.FileName)";

const TITLE: &str = "Deskline test page";
const PRESSED: &str = "Deskline test page, pressed";

/// Asks an app to end.
fn end(pid: u32) {
    let pid = pid.to_string();
    let _ = Command::new("taskkill").args(["/pid", &pid]).output();
}

/// The window with this text in its title.
fn window_of(text: &str) -> Option<Toplevel> {
    let mut windows = every().into_iter();
    windows.find(|window| title(window.id).contains(text))
}

/// Runs a script that shows a window.
fn script(text: &str) -> Result<Own, String> {
    let arguments = ["-NoProfile", "-STA", "-Command", text];
    let own = Own::start(Command::new("powershell").args(arguments));
    let mut own = own.map_err(|why| format!("skipped: PowerShell: {why}"))?;
    match own.window() {
        Ok(_) => Ok(own),
        Err(why) => Err(format!("skipped: PowerShell {why}")),
    }
}

impl Test<'_> {
    pub(super) fn apps(&mut self) {
        for (name, script) in FORMS {
            let found = self.form(script);
            self.sheet.note(&format!("{name}: press"), found);
        }
        let found = self.dialog();
        self.sheet.note("a file dialog", found);
        let found = self.explorer();
        self.sheet.note("Explorer: a folder", found);
        self.handover();
        self.calculator();
        self.browser();
        self.private();
    }

    /// Windows that the compositor hides: suspended apps of the Store, other virtual desktops.
    pub(super) fn cloaked(&mut self) {
        let hidden: Vec<String> = all()
            .into_iter()
            .filter(|window| is_visible(*window) && cloaked(*window) != 0)
            .map(|window| format!("'{}' ({})", title(window), cloaked(window)))
            .collect();
        let listed = every().len();
        let seen = format!(
            "{listed} listed; left out as cloaked: {}",
            hidden.join(", ")
        );
        self.sheet.note("windows", Ok(seen));
    }

    fn press(&mut self, pid: u32) -> Answer {
        let target = Target::titled("Press me", "AXButton");
        let press = Action::press_ax(target);
        self.sheet.call(Some(pid), press)
    }

    fn form(&mut self, text: &str) -> Found {
        let own = match script(text) {
            Ok(own) => own,
            Err(skipped) => return Ok(skipped),
        };
        let answer = self.press(own.pid);
        match own.hears("pressed", SHOWS) {
            Some(_) => Ok("the form says so".into()),
            None => Err(answer.text),
        }
    }

    fn dialog(&mut self) -> Found {
        let own = match script(DIALOG) {
            Ok(own) => own,
            Err(skipped) => return Ok(skipped),
        };
        let file = std::env::temp_dir().join("deskline-selftest.txt");
        let file = file.to_string_lossy().into_owned();
        let typing = Action::type_text(Typing {
            text: Some(file.clone()),
            key: KeyPress::parse("Return", &[]).ok(),
            ..Typing::default()
        });
        let answer = self.sheet.call(Some(own.pid), typing);
        match own.hears("saves", SHOWS) {
            Some(chosen) => judge(chosen == file, format!("it chose {chosen}")),
            None => Err(answer.text),
        }
    }

    /// Explorer hands over to the process that is the desktop.
    fn explorer(&mut self) -> Found {
        let name = format!("deskline-selftest-{}", std::process::id());
        let folder = std::env::temp_dir().join(&name);
        std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
        let (answer, pid) = self.open(&folder.to_string_lossy());
        let window = within(SHOWS, || window_of(&name));
        // Not when Explorer has it open.
        let _ = std::fs::remove_dir(&folder);
        let window = window.ok_or_else(|| answer.text.clone())?;
        close(window.id);
        let elements = tree_of(&answer).map_or(0, |tree| tree.lines().count());
        let seen = format!("'{}', a tree of {elements} lines", title(window.id));
        judge(pid == Some(window.pid), seen)
    }

    fn open(&mut self, identifier: &str) -> (Answer, Option<u32>) {
        let answer = self.sheet.call(None, Action::open(identifier));
        let pid = field(&answer, "pid").and_then(|pid| pid.parse().ok());
        (answer, pid)
    }

    /// `calc` has Windows start Calculator, and then ends.
    fn handover(&mut self) {
        let (answer, pid) = self.open("calc");
        let found = match pid {
            Some(pid) => {
                end(pid);
                Ok(format!("pid {pid}"))
            }
            None => Err(answer.text),
        };
        self.sheet.note("a program that hands over", found);
    }

    /// Opens an app by its id; its frame belongs to another process.
    fn calculator(&mut self) {
        const NAME: &str = "an app of the Store";
        let (answer, pid) = self.open(CALCULATOR);
        let Some(pid) = pid else {
            return self.sheet.note(NAME, Err(answer.text));
        };
        let buttons = tree_of(&answer).map_or(0, |tree| tree.matches("[AXButton").count());
        let listed = self.sheet.links.applications("").text;
        let listed = listed
            .lines()
            .any(|line| line.contains(&format!("(PID: {pid})")));
        let seen = format!("pid {pid}, {buttons} buttons, listed: {listed}");
        self.sheet.note(NAME, judge(buttons >= 10 && listed, seen));
        end(pid);
    }

    /// Character Map on a private desktop, which this program makes when it runs again.
    fn private(&mut self) {
        let call = [
            "--desktop=private",
            "call",
            "open_application_and_traverse",
            "{\"identifier\": \"charmap\"}",
        ];
        let found = match Command::new(self.program).args(call).output() {
            Ok(said) => {
                let text = String::from_utf8_lossy(&said.stdout).into_owned();
                judge(text.contains("[AXButton]"), text)
            }
            Err(e) => Err(e.to_string()),
        };
        self.sheet.note("a private desktop", found);
    }

    /// Opens a page of ours in the default browser. Leaves the tab open, as the window may be the
    /// person's.
    fn browser(&mut self) {
        const NAME: &str = "a browser: press in a page";
        let page = std::env::temp_dir().join("deskline-selftest.html");
        let html = format!(
            "<title>{TITLE}</title><button onclick=\"document.title='{PRESSED}'\">Press me</button>"
        );
        if let Err(e) = std::fs::write(&page, html) {
            return self.sheet.note(NAME, Err(e.to_string()));
        }
        let (answer, _) = self.open(&page.to_string_lossy());
        let time = if answer.is_error { SHOWS } else { LOADS };
        let window = within(time, || window_of(TITLE));
        let Some(window) = window else {
            return self.sheet.note(NAME, Err(answer.text));
        };
        let answer = self.press(window.pid);
        let pressed = within(SHOWS, || window_of(PRESSED)).is_some();
        let found = if pressed {
            Ok("the page says so".into())
        } else {
            Err(answer.text)
        };
        self.sheet.note(NAME, found);
        let picture = match crate::display::picture::take(window.id) {
            Ok(picture) => Ok(format!("{}×{}", picture.width, picture.height)),
            Err(e) => Err(e.to_string()),
        };
        self.sheet.note("a browser: its picture", picture);
    }
}
