//! Checks on apps with different kinds of providers: Windows Forms, WPF, apps from the Store, a
//! browser.

use std::iter::successors;
use std::process::Command;
use std::time::Duration;

use deskline_core::KeyPress;
use deskline_link::call::Typing;
use deskline_link::{Action, Answer, Target, Window};
use windows::Win32::Foundation::HWND;
use windows::Win32::Graphics::Dwm::{DWMWA_CLOAKED, DwmGetWindowAttribute};
use windows::Win32::UI::WindowsAndMessaging::{FindWindowExW, GetWindowTextW, IsWindowVisible};

use super::window::close;
use super::{SHOWS, Test};
use crate::checks::helper::Helper;
use crate::checks::sheet::{Found, Miss, judge, skip, tree_of, within};

/// How long a browser may take to show the page.
const LOADS: Duration = Duration::from_secs(20);

/// Windows of two toolkits, each with a button that writes a line.
const FORMS: &str = "Add-Type -AssemblyName System.Windows.Forms
$w = New-Object Windows.Forms.Form; $w.Text = 'Deskline test'
$b = New-Object Windows.Forms.Button; $b.Text = 'Press me'
$b.Add_Click({ [Console]::Out.WriteLine('pressed') })
$w.Controls.Add($b); [void]$w.ShowDialog()";
const WPF: &str = "Add-Type -AssemblyName PresentationFramework
$w = New-Object Windows.Window; $w.Title = 'Deskline test'; $w.Width = 300; $w.Height = 200
$b = New-Object Windows.Controls.Button; $b.Content = 'Press me'
$b.Add_Click({ [Console]::Out.WriteLine('pressed') })
$w.Content = $b; [void]$w.ShowDialog()";

/// The id of Calculator, an app from the Store, on Windows 10 and 11.
const CALCULATOR: &str = "Microsoft.WindowsCalculator_8wekyb3d8bbwe!App";

/// Shows a dialog that asks where to save, and prints the chosen path.
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

/// The windows that the compositor hides, each with its reason (`DWM_CLOAKED_…`).
fn cloaked() -> Vec<String> {
    // SAFETY: takes handles, also that of a window that is gone.
    let next = |after: &HWND| unsafe { FindWindowExW(None, Some(*after), None, None) }.ok();
    let seen = |window: HWND| {
        let (mut why, mut title) = (0_u32, [0; 256]);
        // SAFETY: the number and the text outlive the calls, which are given their sizes.
        let length = unsafe {
            let place = (&raw mut why).cast();
            let _ = DwmGetWindowAttribute(window, DWMWA_CLOAKED, place, size_of::<u32>() as u32);
            IsWindowVisible(window)
                .as_bool()
                .then(|| GetWindowTextW(window, &mut title))?
        };
        let title = String::from_utf16_lossy(&title[..length as usize]);
        (why != 0).then(|| format!("'{title}' ({why})"))
    };
    let all = successors(Some(HWND::default()), next).skip(1);
    all.filter_map(seen).collect()
}

type Check = fn(&mut Test) -> Found;

const CHECKS: [(&str, Check); 9] = [
    ("Windows Forms: press", |test| test.form(FORMS)),
    ("WPF: press", |test| test.form(WPF)),
    ("a file dialog", |test| test.dialog()),
    ("Explorer: a folder", |test| test.explorer()),
    ("a program that hands over", |test| test.handover()),
    ("an app of the Store", |test| test.calculator()),
    ("a browser: press in a page", |test| test.browser()),
    ("a browser: its picture", |test| {
        let window = test.window_of(TITLE).ok_or_else(|| skip("no page shows"))?;
        let picture = test.sheet.picture(window.id)?;
        Ok(format!("{}×{}", picture.width, picture.height))
    }),
    ("a private desktop", |test| test.private()),
];

impl Test<'_, '_> {
    pub(super) fn apps(&mut self) {
        for (name, check) in CHECKS {
            let found = check(self);
            self.sheet.note(name, found);
        }
    }

    /// Lists the windows that the compositor hides: of suspended Store apps, on other virtual
    /// desktops.
    pub(super) fn cloaked(&mut self) {
        let listed = self
            .sheet
            .desktop()
            .and_then(|desktop| Ok(desktop.every_window()?.len()));
        let seen =
            listed.map(|n| format!("{n} listed; left out as cloaked: {}", cloaked().join(", ")));
        self.sheet.note("windows", seen);
    }

    /// The window with this text in its title.
    fn window_of(&mut self, text: &str) -> Option<Window> {
        let windows = self.sheet.desktop().ok()?.every_window().ok()?;
        windows
            .into_iter()
            .find(|window| window.title.contains(text))
    }

    /// Runs a script that shows a window.
    fn script(&mut self, text: &str) -> Result<Helper, Miss> {
        let arguments = ["-NoProfile", "-STA", "-Command", text];
        let own = Helper::start(Command::new("powershell").args(arguments));
        let own = own.and_then(|mut own| {
            self.window_of_own(&mut own)?;
            Ok(own)
        });
        own.map_err(|why| skip(format!("PowerShell: {why:?}")))
    }

    fn press(&mut self, pid: u32) -> Answer {
        let target = Target::titled("Press me", "AXButton");
        let press = Action::press_ax(target);
        self.sheet.call(Some(pid), press)
    }

    fn form(&mut self, text: &str) -> Found {
        let own = self.script(text)?;
        let answer = self.press(own.pid);
        own.hears("pressed", SHOWS).ok_or(answer.text)?;
        Ok("the form says so".into())
    }

    fn dialog(&mut self) -> Found {
        let own = self.script(DIALOG)?;
        let file = std::env::temp_dir().join("deskline-selftest.txt");
        let file = file.to_string_lossy().into_owned();
        let typing = Typing::text(&file).then(KeyPress::parse("Return", &[]).ok());
        let answer = self.sheet.call(Some(own.pid), Action::type_text(typing));
        let chosen = own.hears("saves", SHOWS).ok_or(answer.text)?;
        judge(chosen == file, format!("it chose {chosen}"))
    }

    /// Opens a folder. The new Explorer process hands over to the one that shows the desktop.
    fn explorer(&mut self) -> Found {
        let name = format!("deskline-selftest-{}", std::process::id());
        let folder = std::env::temp_dir().join(&name);
        std::fs::create_dir_all(&folder)?;
        let (answer, pid) = self.sheet.open(&folder.to_string_lossy());
        let window = within(SHOWS, || self.window_of(&name));
        // Fails if Explorer has the folder open.
        let _ = std::fs::remove_dir(&folder);
        let window = window.ok_or_else(|| answer.text.clone())?;
        close(window.id);
        let elements = tree_of(&answer).map_or(0, |tree| tree.lines().count());
        let seen = format!("'{}', a tree of {elements} lines", window.title);
        judge(pid.is_some() && pid == window.pid, seen)
    }

    /// `calc` has Windows start Calculator, and then ends.
    fn handover(&mut self) -> Found {
        let (answer, pid) = self.sheet.open("calc");
        let pid = pid.ok_or(answer.text)?;
        end(pid);
        Ok(format!("pid {pid}"))
    }

    /// Opens an app by its id. The frame of the app's window belongs to another process.
    fn calculator(&mut self) -> Found {
        let (answer, pid) = self.sheet.open(CALCULATOR);
        let pid = pid.ok_or_else(|| answer.text.clone())?;
        let buttons = tree_of(&answer).map_or(0, |tree| tree.matches("[AXButton").count());
        let listed = self.sheet.links.applications("").text;
        let listed = listed.contains(&format!("(PID: {pid})"));
        end(pid);
        let seen = format!("pid {pid}, {buttons} buttons, listed: {listed}");
        judge(buttons >= 10 && listed, seen)
    }

    /// Opens Character Map on a private desktop, by running this program again.
    fn private(&mut self) -> Found {
        let said = Command::new(self.program)
            .args(["--role", "private"])
            .output()?;
        let text = String::from_utf8_lossy(&said.stdout);
        judge(text.contains("[AXButton]"), text)
    }

    /// Opens a page of ours in the default browser. Leaves the tab open, as the window may be the
    /// person's.
    fn browser(&mut self) -> Found {
        let page = std::env::temp_dir().join("deskline-selftest.html");
        let button = format!("<button onclick=\"document.title='{PRESSED}'\">Press me</button>");
        std::fs::write(&page, format!("<title>{TITLE}</title>{button}"))?;
        let (answer, _) = self.sheet.open(&page.to_string_lossy());
        let time = if answer.is_error { SHOWS } else { LOADS };
        let pid = within(time, || self.window_of(TITLE)?.pid).ok_or(answer.text)?;
        let answer = self.press(pid);
        within(SHOWS, || self.window_of(PRESSED)).ok_or(answer.text)?;
        Ok("the page says so".into())
    }
}
