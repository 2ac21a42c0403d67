//! `deskline view` in a real browser, with a journal of 5,000 links.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use deskline_core::Point;
use deskline_journal::{DiffCounts, Journal, Outcome, Record, Retention, Shot};
use deskline_testbed::browser::Browser;
use deskline_testbed::{Bed, Running, deskline};
use serde_json::json;

/// The window in the pictures: 400×300 at (100, 50) on the screen.
const WINDOW: (u32, u32, Point) = (400, 300, Point { x: 100, y: 50 });
/// A screen's text that would be harmful as HTML.
const HOSTILE: &str = "<img src=x onerror=alert(1)></script><script>alert(2)</script>\u{202e}";
/// The same text as the page shows it.
const HARMLESS: &str = r"<img src=x onerror=alert(1)></script><script>alert(2)</script>\u{202e}";

struct Run {
    dir: tempfile::TempDir,
    journal: Journal,
}

impl Run {
    fn new(links: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::open(Some(&dir.path().join("journal")), Retention::default());
        let run = Self {
            dir,
            journal: journal.unwrap(),
        };
        (0..links).for_each(|n| run.link(n));
        run
    }

    fn folder(&self) -> &Path {
        self.journal.path()
    }

    /// A click on `Button n` in one of three apps. Each tenth fails, and has no picture.
    fn link(&self, n: usize) {
        let fails = n % 10 == 9;
        let outcome = if fails {
            Outcome::Error(format!("no element matches 'Button {n}' {HOSTILE}"))
        } else {
            Outcome::Ok
        };
        let arguments = json!({"pid": 7, "element": format!("Button {n}")});
        let mut record = Record::new(
            "click_and_traverse",
            arguments.as_object().unwrap().clone(),
            outcome,
        );
        record.pid = Some(7);
        record.app = Some(["Notes", "Mail", HOSTILE][n % 3].to_owned());
        record.diff = Some(DiffCounts {
            added: 1,
            removed: 1,
            modified: 1,
        });
        for (step, ms) in [("resolve", 20), ("act", 8), ("settle", 80), ("record", 6)] {
            record.step(step, Duration::from_millis(ms));
        }
        record.guard_held(Duration::from_millis(9));
        record.answer = Some(format!(
            "status: success\nsummary: Clicked 'Button {n}' [AXButton]. {HOSTILE}"
        ));
        let files = self.journal.begin("click_and_traverse").unwrap();
        files.write_text(&tree(n)).unwrap();
        record.files.text = Some(files.text_path().display().to_string());
        if !fails {
            let (width, height, origin) = WINDOW;
            let rgb =
                vec![if n.is_multiple_of(2) { 235 } else { 215 }; (3 * width * height) as usize];
            let shot = Shot {
                origin,
                crosshair: Some((140, 65)),
                ..Shot::new(width, height, &rgb)
            };
            files.write_picture(&shot).unwrap();
            record.files.picture = Some(files.picture_path().display().to_string());
        }
        self.journal.record(&record).unwrap();
    }

    /// A file for a picture of the page, which is kept.
    fn artefact(name: &str) -> PathBuf {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("view");
        std::fs::create_dir_all(&folder).unwrap();
        folder.join(name)
    }
}

fn tree(n: usize) -> String {
    format!(
        "# diff: +1 added, -1 removed, ~1 modified\n\
         + [AXStaticText (label)] \"Clicked {n}\" x:120 y:200 w:100 h:20 visible #e9\n\
         - [AXStaticText (label)] \"Clicked before {n}\" x:120 y:230 w:100 h:20\n\
         ~ [AXTextField (text)] \"Message\" | AXValue: \"{HOSTILE}\" -> \"\" visible #e4\n\
         # tree:\n# Notes — 4 elements (0.02s)\n \
         [AXWindow (frame)] \"Notes\" x:100 y:50 w:400 h:300 visible #e2\n \
         [AXButton (push button)] \"Button {n}\" x:200 y:100 w:80 h:30 visible #e3\n \
         [AXTextField (text)] \"Message\" x:120 y:150 w:200 h:24 visible focused editable #e4\n \
         [AXStaticText (label)] \"Clicked {n}\" x:120 y:200 w:100 h:20 visible #e9\n"
    )
}

/// `deskline view`, until it is dropped.
struct View {
    _process: Running,
    url: String,
}

impl View {
    fn start(run: &Run) -> Self {
        let mut child = Command::new(deskline())
            .args(["view", "--no-open"])
            .arg(run.folder())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut url = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut url).unwrap();
        let url = url.trim().to_owned();
        Self {
            _process: Running(child),
            url,
        }
    }
}

/// The title of the link that is shown.
const TITLE: &str = "document.querySelector('.link h2')?.textContent";

fn shows(browser: &mut Browser, n: usize) {
    browser.wait_for(&format!("{TITLE} === 'Click “Button {n}”'"));
}

#[test]
fn a_browser_shows_five_thousand_links_and_scrolls_them_smoothly() {
    let run = Run::new(5_000);
    let mut browser = Browser::start();
    browser.size(1440, 900, false);
    let start = Instant::now();
    let view = View::start(&run);
    let first = start.elapsed();
    browser.open(&view.url);
    shows(&mut browser, 4_999);
    println!(
        "address after {first:?}, newest link on the page after {:?}",
        start.elapsed()
    );
    browser.wait_for("document.getElementById('count').textContent === '5,000 calls'");

    // The older rows were loaded.
    browser.wait_for("document.getElementById('strip').scrollHeight > 5000 * 80");
    // Only the rows in view exist, wherever the strip is scrolled to.
    let frames = browser.eval(
        "new Promise((done) => {
           const strip = document.getElementById('strip');
           const took = [];
           let most = 0, before = performance.now(), at = strip.scrollHeight;
           const step = (now) => {
             took.push(now - before);
             before = now;
             most = Math.max(most, strip.querySelectorAll('.row').length);
             at -= 1500;
             strip.scrollTop = at;
             if (at > 200000) requestAnimationFrame(step);
             else done({most, median: took.sort((a, b) => a - b)[took.length >> 1], slowest: took.at(-1)});
           };
           requestAnimationFrame(step);
         })",
    );
    println!("scrolling by 1,500 px a frame: {frames}");
    assert!(frames["most"].as_u64().unwrap() < 60, "{frames}");
    assert!(frames["median"].as_f64().unwrap() < 50.0, "{frames}");
    browser.key("g");
    shows(&mut browser, 0);
    browser.wait_for(
        "document.querySelector('#strip [aria-selected=true] .words').textContent \
        === 'Click “Button 0”'",
    );
    browser.key("j");
    shows(&mut browser, 1);
    browser.key("ArrowDown");
    shows(&mut browser, 2);
    browser.key("k");
    shows(&mut browser, 1);
    browser.key("G");
    shows(&mut browser, 4_999);

    // An error is clearly visible, and its text is not interpreted as HTML.
    let banner = browser.eval("document.querySelector('.banner').textContent");
    assert!(banner.as_str().unwrap().contains(HARMLESS), "{banner}");
    assert_eq!(
        browser.eval("document.querySelectorAll('img[src=x], article script').length"),
        0
    );

    // New links come by themselves, and the newest stays in view.
    run.link(5_000);
    shows(&mut browser, 5_000);
    browser.wait_for("document.getElementById('count').textContent === '5,001 calls'");

    // Filters.
    browser.eval(
        "(() => { const outcome = document.querySelectorAll('#filters select')[2];
          outcome.value = 'error'; outcome.dispatchEvent(new Event('change')); })()",
    );
    browser.wait_for("document.getElementById('count').textContent === '500 of 5,001 calls'");
    browser.key("Escape");
    browser.wait_for("document.getElementById('count').textContent === '5,001 calls'");
    assert_eq!(browser.problems(), [""; 0]);
}

#[test]
fn a_line_and_its_place_in_the_picture_point_at_each_other() {
    let run = Run::new(5);
    let view = View::start(&run);
    let mut browser = Browser::start();
    browser.size(1440, 900, false);
    browser.open(&format!("{}#3", view.url));
    shows(&mut browser, 3);
    browser.wait_for("document.querySelector('.shot img')?.complete === true");
    let [left, top, width, height] = browser.bounds(".shot img");
    assert!(
        (width / height - 4.0 / 3.0).abs() < 0.02,
        "{width}×{height}"
    );

    // Pointing at a line outlines its element: (120,200 100×20) on the screen.
    let [x, y, w, h] = browser.bounds(".line.add");
    browser.point(x + w / 2.0, y + h / 2.0);
    browser.wait_for("document.querySelector('.outline.add') !== null");
    let unit = width / 400.0;
    let expected = [
        left + 20.0 * unit,
        top + 150.0 * unit,
        100.0 * unit,
        20.0 * unit,
    ];
    let outline = browser.bounds(".outline.add");
    for (found, expected) in outline.iter().zip(expected) {
        assert!((found - expected).abs() < 1.5, "{outline:?}, {expected}");
    }
    // A changed element has no bounds in its line, but in the tree.
    let [x, y, w, h] = browser.bounds(".line.mod");
    browser.point(x + w / 2.0, y + h / 2.0);
    browser.wait_for("document.querySelector('.outline.mod') !== null");

    // A click on the picture finds the smallest element there: the button, not the window.
    browser.click(left + 140.0 * unit, top + 65.0 * unit);
    browser.wait_for("document.querySelector('.line.on .text')?.textContent === '\"Button 3\"'");

    // Before and after: side by side, and as a slider that the arrow keys move.
    browser.key("ArrowRight");
    browser
        .wait_for("document.querySelector('.tabs [aria-selected=true]').textContent === 'Before'");
    browser.key("ArrowRight");
    browser.wait_for("document.querySelector('.cut') !== null");
    let [before, ..] = browser.bounds(".edge");
    browser.key("ArrowRight");
    let [after, ..] = browser.bounds(".edge");
    assert!(after > before, "{before} {after}");

    // The page shows the answer that the model read.
    browser.eval(
        "document.querySelectorAll('.body .panel')[1].querySelectorAll('.tabs button')[2].click()",
    );
    browser.wait_for(
        "document.querySelector('.sheet pre')?.textContent.includes(\"summary: \
        Clicked 'Button 3'\")",
    );

    // Search all screens: the match is shown in its screen, and outlined.
    browser.key("/");
    browser.text("AXButton.*Button [12]\"");
    browser.wait_for("document.querySelectorAll('#hits .hit').length === 2");
    browser.key("Enter");
    shows(&mut browser, 2);
    browser.wait_for("document.querySelector('.line.on .text')?.textContent === '\"Button 2\"'");
    browser.key("ArrowDown");
    shows(&mut browser, 1);
    browser.key("Escape");
    browser.wait_for("document.getElementById('hits').hidden");
    assert_eq!(browser.problems(), [""; 0]);
}

/// A film has each call, and each picture after its call.
#[test]
fn a_run_is_exported_as_a_film() {
    let run = Run::new(3);
    let export = |name: &str| {
        let file = run.dir.path().join(name);
        let mut view = Command::new(deskline());
        view.arg("view")
            .arg(run.folder())
            .arg("--export")
            .arg(&file);
        (view.output().unwrap(), file)
    };
    let (output, path) = export("run.gif");
    assert!(output.status.success(), "{output:?}");
    let bytes = std::fs::File::open(path).unwrap();
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut shots = options.read_info(bytes).unwrap();
    assert_eq!(shots.width(), 400);
    assert!(shots.height() > 300, "no captions: {}", shots.height());
    let mut frames = Vec::new();
    while let Some(frame) = shots.read_next_frame().unwrap() {
        frames.push((frame.delay, frame.buffer[0]));
    }
    assert_eq!(frames.len(), 6);
    assert!(
        frames
            .iter()
            .skip(1)
            .step_by(2)
            .all(|(delay, _)| (100..=250).contains(delay))
    );
    // A call shows below the picture before it; the pictures are of two greys.
    let greys: Vec<u8> = frames.iter().map(|(_, grey)| grey / 10).collect();
    assert_eq!(greys, [0, 23, 23, 21, 21, 23]);
    let (output, file) = export("run.webm");
    assert!(!output.status.success() && !file.exists(), "{output:?}");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("a film in .gif"),
        "{output:?}"
    );
}

#[test]
fn an_exported_file_is_the_same_page_without_a_server() {
    let run = Run::new(30);
    let file = run.dir.path().join("run.html");
    let output = Command::new(deskline())
        .arg("view")
        .arg(run.folder())
        .args(["-n", "20", "--export"])
        .arg(&file)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success() && printed.contains("20 calls"),
        "{output:?}"
    );
    // The exported file needs no other file.
    std::fs::remove_dir_all(run.folder()).unwrap();
    let mut browser = Browser::start();
    browser.size(1440, 900, false);
    browser.open(&format!("file://{}", file.display()));
    shows(&mut browser, 29);
    assert_eq!(
        browser.eval("document.getElementById('count').textContent"),
        "20 calls"
    );
    browser.key("k");
    shows(&mut browser, 28);
    browser.wait_for("document.querySelector('.shot img')?.naturalWidth === 400");
    browser.key("/");
    browser.text("AXButton.*Button 1[5-7]");
    browser.wait_for("document.querySelectorAll('#hits .hit').length === 3");
    browser.key("Enter");
    shows(&mut browser, 17);
    assert_eq!(
        browser.eval("document.querySelectorAll('img[src=x]').length"),
        0
    );
    let loaded = browser.eval(
        "performance.getEntriesByType('resource').filter(({name}) => \
        !name.startsWith('data:')).length",
    );
    assert_eq!(loaded, 0);
    assert_eq!(browser.problems(), [""; 0]);
}

#[test]
fn the_page_fits_a_desk_a_tablet_and_a_phone() {
    let run = Run::new(40);
    let view = View::start(&run);
    let mut browser = Browser::start();
    for (name, width, height, phone, dark) in [
        ("desk", 1440, 900, false, false),
        ("desk-dark", 1440, 900, false, true),
        ("tablet", 900, 1100, false, false),
        ("phone", 390, 844, true, false),
    ] {
        browser.size(width, height, phone);
        browser.dark(dark);
        browser.open("about:blank");
        browser.open(&format!("{}#38", view.url));
        shows(&mut browser, 38);
        browser.wait_for("[...document.images].every((image) => image.complete)");
        browser.picture(&Run::artefact(&format!("{name}.png")));
        let wide = browser.eval("document.documentElement.scrollWidth");
        assert_eq!(wide, width, "{name} scrolls sideways");
        let colour = browser.eval("getComputedStyle(document.body).backgroundColor");
        let is_dark = colour == "rgb(21, 21, 22)";
        assert_eq!(is_dark, dark, "{name}: {colour}");
        if phone {
            browser.click_on("#strip [aria-selected=true]");
            browser.wait_for("document.body.classList.contains('opened')");
            browser.picture(&Run::artefact("phone-link.png"));
            browser.click_on(".back");
            browser.wait_for("!document.body.classList.contains('opened')");
        }
    }
    assert_eq!(browser.problems(), [""; 0]);
}

#[test]
fn an_agent_reads_the_page_through_deskline() {
    let run = Run::new(5);
    let view = View::start(&run);
    let bed = Bed::new();
    let app = bed.chromium_at(&view.url, "Deskline");
    let server = bed.server(&[]);
    let wait = |text: &str, role: &str| {
        let arguments = json!({"pid": app.pid, "element": text, "role": role});
        server.call("wait_for_and_traverse", arguments).ok()
    };
    wait("Click “Button 4”", "AXHeading");
    let row = json!({"pid": app.pid, "element": "Click “Button 1”"});
    server.call("click_and_traverse", row).ok();
    wait("Click “Button 1”", "AXHeading");
    // The journal of each desktop has the answers as they were sent.
    let lines = bed.journal_lines();
    let answer = lines[1]["answer"].as_str().unwrap();
    assert!(answer.starts_with("status: success\npid: "), "{answer}");
}
