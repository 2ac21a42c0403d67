//! Reads texts from pictures with Tesseract. Each batch of lines gets a process of its own, bounded
//! in time and memory.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _, Write as _};
use std::path::PathBuf;
use std::process::{ChildStdout, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use deskline_contract::ocr::{Ocr, Print};
use deskline_unix::{spawn, wait};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, Resource, Rlimit, prlimit};

use crate::session::{Environment, Session};

/// How to install an engine, as the end of a message.
pub(crate) const LACKING: &str =
    ". With the package tesseract-ocr, the text in the window would be elements too";

/// The limit of the program's address space. The program uses 100 MB.
const MEMORY: u64 = 1 << 30;

/// A process gets at least this many lines, because it takes 100 ms to start.
const LEAST: usize = 12;

/// The maximum number of processes.
const MOST: usize = 4;

/// The minimum confidence. What Tesseract reads with less is frames and icons, not words.
const SURE: f32 = 40.0;

/// How long listing the languages may take.
const LISTS: Duration = Duration::from_secs(2);

/// The languages of locales, each with Tesseract's name for it.
#[rustfmt::skip]
const LANGUAGES: [(&str, &str); 22] = [
    ("cs", "ces"), ("da", "dan"), ("de", "deu"), ("el", "ell"), ("es", "spa"), ("fi", "fin"),
    ("fr", "fra"), ("hu", "hun"), ("it", "ita"), ("ja", "jpn"), ("ko", "kor"), ("nb", "nor"),
    ("nl", "nld"), ("pl", "pol"), ("pt", "por"), ("ro", "ron"), ("ru", "rus"), ("sk", "slk"),
    ("sv", "swe"), ("tr", "tur"), ("uk", "ukr"), ("zh", "chi_sim"),
];

pub(crate) struct Tesseract {
    program: PathBuf,
    /// The program `stdbuf`, which makes Tesseract print each line as soon as it has read the line.
    by_line: Option<PathBuf>,
    /// The person's language.
    language: Option<&'static str>,
    /// The person's language, if Tesseract has it installed.
    installed: OnceLock<Option<&'static str>>,
}

impl Tesseract {
    /// `None` if Tesseract is not installed.
    pub(crate) fn find(session: &Session) -> Option<Arc<Self>> {
        let find = |name| crate::apps::in_path(name, session);
        Some(Arc::new(Self {
            program: find("tesseract")?,
            by_line: find("stdbuf"),
            language: language(&session.environment),
            installed: OnceLock::new(),
        }))
    }

    /// The person's language, if Tesseract has it.
    fn language(&self) -> Option<&'static str> {
        *self.installed.get_or_init(|| {
            let wanted = self.language?;
            let mut command = Command::new(&self.program);
            let listed = spawn::output(command.arg("--list-langs"), LISTS).ok()?;
            let listed = String::from_utf8_lossy(&listed);
            listed.lines().any(|line| line == wanted).then_some(wanted)
        })
    }

    /// Reads these lines. Stops at the deadline.
    fn batch(
        &self,
        lines: &[Print],
        deadline: Instant,
        found: impl FnMut(usize, String),
    ) -> io::Result<()> {
        let mut input = File::from(memfd_create("lines", MemfdFlags::CLOEXEC)?);
        input.write_all(&tiff(lines))?;
        input.rewind()?;
        let mut command = match &self.by_line {
            Some(stdbuf) => {
                let mut command = Command::new(stdbuf);
                command.arg("-oL").arg(&self.program);
                command
            }
            None => Command::new(&self.program),
        };
        command.args(["-", "-", "--oem", "1", "--psm", "7"]);
        if let Some(language) = self.language() {
            command.args(["-l", language]);
        }
        // Each page is dark on white, so Tesseract need not try the inverse.
        command.args(["-c", "tessedit_do_invert=0", "tsv"]);
        command.env("OMP_THREAD_LIMIT", "1");
        command.stdin(input).stdout(Stdio::piped());
        command.stderr(Stdio::null());
        let mut child = spawn::tied_to_us(&mut command).spawn()?;
        let limit = Rlimit {
            current: Some(MEMORY),
            maximum: Some(MEMORY),
        };
        if let Some(pid) = Pid::from_raw(child.id().cast_signed()) {
            prlimit(Some(pid), Resource::As, limit)?;
        }
        let mut pages = Pages::new(found);
        let has_closed = child
            .stdout
            .take()
            .is_some_and(|pipe| read(pipe, deadline, |row| pages.row(row)));
        if !has_closed {
            child.kill()?;
        }
        if child.wait()?.success() {
            pages.end();
        }
        Ok(())
    }
}

impl Ocr for Tesseract {
    fn read(
        &self,
        lines: &[Print],
        limit: Duration,
        found: &(dyn Fn(usize, String) + Sync),
    ) -> Result<(), String> {
        let deadline = Instant::now() + limit;
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let batches = lines.len().div_ceil(LEAST).clamp(1, processors.min(MOST));
        let size = lines.len().div_ceil(batches).max(1);
        thread::scope(|scope| {
            let start = |(batch, lines)| {
                let first = batch * size;
                let found = move |index: usize, text| found(first + index, text);
                scope.spawn(move || self.batch(lines, deadline, found))
            };
            let started: Vec<_> = lines.chunks(size).enumerate().map(start).collect();
            for batch in started {
                let read = batch.join().map_err(|_| "reading them failed".to_owned())?;
                read.map_err(|e| e.to_string())?;
            }
            Ok(())
        })
    }
}

/// Reads the rows that a program prints until the deadline. Returns whether the program has printed
/// its last row by then.
fn read(pipe: ChildStdout, deadline: Instant, mut row: impl FnMut(&str)) -> bool {
    let rows = BufReader::new(wait::Until(pipe, deadline)).split(b'\n');
    rows.into_iter()
        .try_for_each(|line| line.map(|line| row(&String::from_utf8_lossy(&line))))
        .is_ok()
}

/// The texts of pages, from the table that Tesseract prints: a row for each page, block and word.
struct Pages<F: FnMut(usize, String)> {
    found: F,
    /// The page of the last row.
    page: Option<usize>,
    text: String,
}

impl<F: FnMut(usize, String)> Pages<F> {
    fn new(found: F) -> Self {
        Self {
            found,
            page: None,
            text: String::new(),
        }
    }

    fn row(&mut self, row: &str) {
        let fields: Vec<&str> = row.trim_end_matches(['\r', '\n']).split('\t').collect();
        let &[level, page, .., confidence, word] = fields.as_slice() else {
            return;
        };
        let page = page.parse::<usize>().ok();
        let Some(page) = page.and_then(|page| page.checked_sub(1)) else {
            return;
        };
        if self.page != Some(page) {
            self.end();
            self.page = Some(page);
        }
        let sure = confidence.parse().is_ok_and(|sure: f32| sure >= SURE);
        if level == "5" && sure && !word.trim().is_empty() {
            if !self.text.is_empty() {
                self.text.push(' ');
            }
            self.text.push_str(word.trim());
        }
    }

    /// Reports the text of the last page, which is complete.
    fn end(&mut self) {
        let mut text = std::mem::take(&mut self.text);
        // A text without letters and digits comes from a frame or an icon.
        if !text.contains(char::is_alphanumeric) {
            text.clear();
        }
        if let Some(page) = self.page.take() {
            (self.found)(page, text);
        }
    }
}

/// A TIFF file with a page for each line.
fn tiff(lines: &[Print]) -> Vec<u8> {
    const LONG: u16 = 4;
    let mut file = b"II*\0\0\0\0\0".to_vec();
    let mut link = 4;
    let length = |file: &[u8]| u32::try_from(file.len()).unwrap_or(u32::MAX);
    for line in lines {
        let data = length(&file);
        file.extend_from_slice(&line.grey);
        if file.len() % 2 == 1 {
            file.push(0);
        }
        let directory = length(&file);
        file[link..link + 4].copy_from_slice(&directory.to_le_bytes());
        let fields: [(u16, u32); 8] = [
            (256, line.width),
            (257, line.height),
            // 8 bits a pixel, no compression, black is 0.
            (258, 8),
            (259, 1),
            (262, 1),
            // The picture is one strip.
            (273, data),
            (278, line.height),
            (279, length(&line.grey)),
        ];
        file.extend_from_slice(&8_u16.to_le_bytes());
        for (tag, value) in fields {
            file.extend_from_slice(&tag.to_le_bytes());
            file.extend_from_slice(&LONG.to_le_bytes());
            file.extend_from_slice(&1_u32.to_le_bytes());
            file.extend_from_slice(&value.to_le_bytes());
        }
        link = file.len();
        file.extend_from_slice(&[0; 4]);
    }
    file
}

/// The person's language, by Tesseract's name.
fn language(environment: &Environment) -> Option<&'static str> {
    let names = ["LC_ALL", "LC_MESSAGES", "LANG"];
    let locale = names.iter().find_map(|name| environment.get(*name))?;
    let code = locale.get(..2)?;
    let known = LANGUAGES.iter().find(|(short, _)| *short == code);
    known.map(|(_, language)| *language)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_each_page_are_read_from_tesseracts_table() {
        let table = "level\tpage_num\tblock_num\tconf\ttext\n\
            1\t1\t0\t-1\t\n5\t1\t1\t96.9\tTotal\n5\t1\t1\t96.5\t42\n\
            1\t2\t0\t-1\t\n5\t2\t1\t12.0\tx\n\
            1\t3\t0\t-1\t\n5\t3\t1\t95.0\t|\n";
        let mut read = Vec::new();
        let mut pages = Pages::new(|page, text| read.push((page, text)));
        table.lines().for_each(|row| pages.row(row));
        pages.end();
        let text = |page, text: &str| (page, text.to_owned());
        assert_eq!(read, [text(0, "Total 42"), text(1, ""), text(2, "")]);
    }

    #[test]
    fn a_locale_is_mapped_to_a_language_of_tesseract() {
        let of = |locale: &str| language(&Environment::from([("LANG".into(), locale.into())]));
        assert_eq!(of("de_AT.UTF-8"), Some("deu"));
        assert_eq!(of("C"), None);
    }
}
