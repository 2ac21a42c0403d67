//! Starts apps with documents of known content.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::bed::source;
use crate::web::Page;
use crate::{App, Bed, Window, until};

/// The URI of an `OpenDocument` namespace.
fn namespace(part: &str) -> String {
    format!("urn:oasis:names:tc:opendocument:xmlns:{part}:1.0")
}

/// A flat `OpenDocument` file; `kind` is `text`, `presentation` or `drawing`.
fn flat(kind: &str, mimetype: &str, body: &str) -> String {
    let names: String = [
        ("office", "office"),
        ("text", "text"),
        ("draw", "drawing"),
        ("svg", "svg-compatible"),
    ]
    .map(|(short, part)| format!(" xmlns:{short}=\"{}\"", namespace(part)))
    .concat();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><office:document{names} office:version=\"1.2\" \
         office:mimetype=\"application/vnd.oasis.opendocument.{mimetype}\"><office:body>\
         <office:{kind}>{body}</office:{kind}></office:body></office:document>"
    )
}

/// A flat `OpenDocument` text with these paragraphs.
pub fn letter(paragraphs: &[&str]) -> String {
    let paragraphs = paragraphs
        .iter()
        .map(|text| format!("<text:p>{text}</text:p>"));
    flat("text", "text", &paragraphs.collect::<String>())
}

/// A flat `OpenDocument` presentation of one slide with this text.
pub fn slide(text: &str) -> String {
    flat("presentation", "presentation", &text_box(text))
}

/// Settings for `LibreOffice` that turn off the tip of the day.
const NO_TIP: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\
    <oor:items xmlns:oor=\"http://openoffice.org/2001/registry\">\
    <item oor:path=\"/org.openoffice.Office.Common/Misc\"><prop oor:name=\"ShowTipOfTheDay\" \
    oor:op=\"fuse\"><value>false</value></prop></item></oor:items>";

/// A PDF file with a page for each of these texts, and a line for each line of the text.
pub fn pdf(pages: &[&str]) -> String {
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        {
            let kids = (0..pages.len()).map(|i| format!("{} 0 R", 4 + 2 * i));
            let kids = kids.collect::<Vec<_>>().join(" ");
            format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", pages.len())
        },
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    for page in pages {
        let content = objects.len() + 2;
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 500] /Contents {content} 0 R \
             /Resources << /Font << /F1 3 0 R >> >> >>"
        ));
        let lines: Vec<String> = page.lines().map(|l| format!("({l}) Tj T*")).collect();
        let stream = format!("BT /F1 14 Tf 40 450 Td 18 TL {} ET", lines.join(" "));
        objects.push(format!(
            "<< /Length {} >>\nstream\n{stream}\nendstream",
            stream.len()
        ));
    }
    let mut file = String::from("%PDF-1.4\n");
    let mut offsets = String::new();
    for (i, object) in objects.iter().enumerate() {
        writeln!(offsets, "{:010} 00000 n ", file.len()).unwrap();
        write!(file, "{} 0 obj\n{object}\nendobj\n", i + 1).unwrap();
    }
    let (count, start) = (objects.len() + 1, file.len());
    let table = format!("xref\n0 {count}\n0000000000 65535 f \n{offsets}");
    let trailer = format!("trailer << /Size {count} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n");
    [file, table, trailer].concat()
}

impl Bed {
    /// `LibreOffice` with a flat `OpenDocument` file of this name.
    fn office(&self, name: &str, content: &str) -> (App<'_>, PathBuf) {
        let file = self.path(name);
        fs::write(&file, content).unwrap();
        let is_it = |w: &Window| w.title.starts_with(name);
        (self.office_on(&file, is_it), file)
    }

    /// `LibreOffice` with the file `locked.odt`, for which it asks for this password first.
    pub fn locked_letter(&self, password: &str) -> App<'_> {
        let file = self.path("locked.odt");
        let mut lock = self.command("/usr/bin/python3");
        lock.arg(source("apps/locked.py")).arg(password).arg(&file);
        assert!(lock.status().unwrap().success());
        self.office_on(&file, |w| w.title.starts_with("Enter Password"))
    }

    /// `LibreOffice` with a file, once its window is open.
    fn office_on(&self, file: &Path, is_it: impl Fn(&Window) -> bool) -> App<'_> {
        let profile = self.path("office-profile");
        // Without these settings the first start shows a modal tip.
        let user = profile.join("user");
        fs::create_dir_all(&user).unwrap();
        fs::write(user.join("registrymodifications.xcu"), NO_TIP).unwrap();
        let mut command = self.command("soffice");
        command.arg(format!(
            "-env:UserInstallation=file://{}",
            profile.display()
        ));
        command.args(["--norestore", "--nologo"]).arg(file);
        App::start_when(self, command, is_it)
    }

    /// Opens more files with these names and contents in the running `LibreOffice`. Returns their
    /// windows, in the same order.
    pub fn open_beside(&self, app: &App<'_>, files: &[(&str, String)]) -> Vec<Window> {
        let mut opener = self.command("soffice");
        let profile = self.path("office-profile");
        opener.arg(format!(
            "-env:UserInstallation=file://{}",
            profile.display()
        ));
        for (name, content) in files {
            fs::write(self.path(name), content).unwrap();
            opener.arg(self.path(name));
        }
        assert!(opener.status().unwrap().success());
        let window = |name: &str| {
            let mut windows = self.screen().windows_of(app.pid).into_iter();
            windows.find(|w| w.title.starts_with(name))
        };
        let names = files.iter().map(|(name, _)| *name);
        names.map(|name| until(name, || window(name))).collect()
    }

    /// `LibreOffice` Writer with a document of these paragraphs.
    pub fn writer(&self, paragraphs: &[&str]) -> (App<'_>, PathBuf) {
        self.office("letter.fodt", &letter(paragraphs))
    }

    /// `LibreOffice` Writer with a plain text file. Before it saves one, it asks about the format.
    pub fn writer_with_text(&self, content: &str) -> (App<'_>, PathBuf) {
        self.office("notes.txt", content)
    }

    /// `LibreOffice` Impress with a slide that has a text box.
    pub fn impress(&self, text: &str) -> (App<'_>, PathBuf) {
        self.office("talk.fodp", &slide(text))
    }

    /// `LibreOffice` Draw with a page that has a text box.
    pub fn draw(&self, text: &str) -> (App<'_>, PathBuf) {
        let body = text_box(text);
        self.office("plan.fodg", &flat("drawing", "graphics", &body))
    }

    /// Firefox with a fresh profile and a page of this HTML, titled `Reading`.
    pub fn firefox(&self, html: &str) -> App<'_> {
        let page = self.path("page.html");
        fs::write(
            &page,
            format!("<!doctype html><title>Reading</title>{html}"),
        )
        .unwrap();
        self.firefox_at(&format!("file://{}", page.display()), "Reading")
    }

    /// Firefox with a page that reports what happens in it, once it has loaded.
    pub fn firefox_page(&self, html: &str) -> (App<'_>, Page) {
        let page = Page::serve(html);
        let app = self.firefox_at(&page.address(), page.title());
        page.wait_for("ready");
        page.clear_log();
        (app, page)
    }

    /// Firefox with a fresh profile at an address, once its window has this title.
    pub fn firefox_at(&self, address: &str, title: &str) -> App<'_> {
        let profile = self.path("firefox-profile");
        fs::create_dir(&profile).unwrap();
        // Turn off pages that Firefox would fetch from the network.
        let quiet = "user_pref(\"browser.aboutwelcome.enabled\", false);\
             user_pref(\"datareporting.policy.dataSubmissionEnabled\", false);\
             user_pref(\"startup.homepage_welcome_url\", \"\");\
             user_pref(\"browser.startup.homepage_override.mstone\", \"ignore\");";
        fs::write(profile.join("user.js"), quiet.replace(';', ";\n")).unwrap();
        let mut command = self.command("firefox-esr");
        command.arg("--no-remote").arg("--profile").arg(&profile);
        command.arg(address);
        App::start_when(self, command, |w| w.title.starts_with(title))
    }

    /// Evince with a PDF of these pages.
    pub fn evince(&self, pages: &[&str]) -> App<'_> {
        let file = self.path("pages.pdf");
        fs::write(&file, pdf(pages)).unwrap();
        let mut command = self.command("evince");
        command.arg(&file);
        App::start(self, command)
    }

    /// Konsole with a shell that prints only its prompt, `$ `.
    pub fn konsole(&self) -> App<'_> {
        let mut command = self.command("konsole");
        command.env("PS1", "$ ").args(["-e", "/bin/sh"]);
        App::start(self, command)
    }

    /// Geany with a C file of this content.
    pub fn geany(&self, content: &str) -> App<'_> {
        let file = self.path("symbols.c");
        fs::write(&file, content).unwrap();
        let mut command = self.command("geany");
        command.arg("-c").arg(self.path("geany")).arg(&file);
        App::start(self, command)
    }

    /// Okular with a PDF of these pages.
    pub fn okular(&self, pages: &[&str]) -> App<'_> {
        let file = self.path("book.pdf");
        fs::write(&file, pdf(pages)).unwrap();
        let mut command = self.command("okular");
        command.arg(&file);
        App::start(self, command)
    }
}

fn text_box(text: &str) -> String {
    format!(
        "<draw:page draw:name=\"One\"><draw:frame svg:width=\"12cm\" svg:height=\"3cm\" \
         svg:x=\"2cm\" svg:y=\"2cm\"><draw:text-box><text:p>{text}</text:p></draw:text-box>\
         </draw:frame></draw:page>"
    )
}
