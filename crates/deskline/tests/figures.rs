//! The pages give the same figures and versions as the code and as each other.
//!
//! `scripts/bench` writes docs/dev/benchmarks.md. The table in docs/comparison.md repeats
//! some of its figures: `DESKLINE_WRITE=1 cargo test -p deskline --test figures` writes them anew.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::HashSet;
use std::path::{Path, PathBuf};

fn path(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    root.expect("the workspace").join(name)
}

fn page(name: &str) -> String {
    std::fs::read_to_string(path(name)).expect(name)
}

fn has(name: &str, words: &str) {
    assert!(page(name).contains(words), "{name} lacks: {words}");
}

/// The cells of a table's row.
fn cells(line: &str) -> Vec<&str> {
    let inner = line.trim_matches('|');
    inner.split('|').map(str::trim).collect()
}

/// Writes `12044` as `12,044`.
fn grouped(number: &str) -> String {
    match number.len() {
        4.. if number.bytes().all(|b| b.is_ascii_digit()) => {
            let (thousands, rest) = number.split_at(number.len() - 3);
            format!("{thousands},{rest}")
        }
        _ => number.to_owned(),
    }
}

/// The app of the comparison. The benchmarks have other apps too.
const APP: &str = "gtk3-widget-factory";

/// One driver on that app, in the table of results.
struct Measured<'a> {
    elements: &'a str,
    tree: &'a str,
    click: &'a str,
    answer: &'a str,
    bytes: (&'a str, &'a str),
}

fn measured<'a>(benchmarks: &'a str, driver: &str) -> Measured<'a> {
    let median = |cell: &'a str| cell.split_whitespace().next().unwrap_or("–");
    let mut rows = benchmarks.lines().map(cells);
    let row = rows
        .find(|row| row.len() == 11 && row[0] == APP && row[1] == driver)
        .unwrap_or_else(|| panic!("no row of {driver} on {APP}"));
    Measured {
        elements: row[2],
        tree: median(row[3]),
        click: median(row[5]),
        answer: row[7],
        bytes: row[8]
            .split_once(" / ")
            .expect("bytes of a tree and of a click"),
    }
}

/// Each driver's name in the results, and in the comparison.
const DRIVERS: [(&str, &str); 5] = [
    ("Deskline", "**Deskline**"),
    ("cua-driver", "cua-driver, limits raised"),
    ("xa11y", "xa11y"),
    ("a11y-computer-use", "a11y-computer-use"),
    ("dogtail", "dogtail (a library, no server)"),
];

fn time_and_text(benchmarks: &str) -> Vec<String> {
    let row = |(driver, name): &(&str, &str)| {
        let found = measured(benchmarks, driver);
        let answer = match found.answer {
            "tree" => "the tree again",
            "diff" => "a diff",
            _ => "a diff, not always",
        };
        let (tree, click) = (grouped(found.tree), grouped(found.click));
        let bytes = [found.bytes.0, found.bytes.1].map(grouped).join(" / ");
        format!("| {name} | {tree} | {click} | {bytes} | {answer} |")
    };
    DRIVERS.iter().map(row).collect()
}

/// The page with `rows` in the table that begins with `header`. Rows with † come from separate
/// measurements and stay.
fn with_table(page: &str, header: &str, rows: Vec<String>) -> String {
    let mut lines = page.lines();
    let mut out: Vec<String> = vec![];
    for line in lines.by_ref() {
        out.push(line.to_owned());
        if line == header {
            break;
        }
    }
    out.extend(lines.next().map(str::to_owned));
    out.extend(rows);
    let old = |line: &&str| line.starts_with('|') && !line.contains('†');
    out.extend(lines.skip_while(old).map(str::to_owned));
    out.join("\n") + "\n"
}

#[test]
fn the_comparison_table_repeats_the_benchmarks() {
    let benchmarks = page("docs/dev/benchmarks.md");
    let name = "docs/comparison.md";
    let header = "| | full tree, ms | click, ms | text, bytes | answers a click with |";
    let now = page(name);
    assert!(now.contains(header), "{name} has no table {header}");
    let wanted = with_table(&now, header, time_and_text(&benchmarks));
    if std::env::var_os("DESKLINE_WRITE").is_some() {
        std::fs::write(path(name), wanted).expect("the page can be written");
    } else {
        assert!(
            now == wanted,
            "{name} is stale: DESKLINE_WRITE=1 cargo test -p deskline --test figures"
        );
    }
    let ours = measured(&benchmarks, "Deskline");
    let (n, bytes) = (ours.elements, ours.bytes.1);
    let about: usize = bytes.parse().expect("a number of bytes");
    let about = (about + 50) / 100 * 100;
    let words = format!("{APP} ({n} elements) answers with about {about} bytes");
    has("README.md", &words);
    has(name, &format!("{APP}: {n} elements."));
    let words = format!("A click answers with about {about} bytes");
    has("docs/faq.md", &words);
}

#[test]
fn the_pages_count_the_apps_of_the_survey() {
    let survey = page("docs/dev/survey.md");
    let (survey, _) = survey.split_once("\n## ").expect("the first table");
    let rows: Vec<_> = survey.lines().map(cells).filter(|r| r.len() == 8).collect();
    // mousepad has a second row, in a sandbox.
    let apps = rows
        .iter()
        .map(|row| row[0].trim_end_matches(" in a sandbox"));
    let apps = apps.filter(|name| *name != "app" && !name.starts_with("---"));
    let apps = apps.collect::<HashSet<_>>().len();
    let missing: usize = rows.iter().filter_map(|r| r[5].parse::<usize>().ok()).sum();
    let words = format!("In {apps} apps Deskline missed {missing} of the labels");
    has("docs/what-can-be-driven.md", &words);
    let words = format!("Debian 12, Xorg and Xvfb, {apps} apps");
    has("docs/desktops.md", &words);
}

#[test]
fn counts_of_tools_and_clients_agree() {
    // The page's first section is about all tools.
    let tools = page("docs/tools.md").matches("\n## ").count() - 1;
    has("docs/comparison.md", &format!("| **Deskline** | {tools} |"));
    let start = page("docs/getting-started.md");
    let (_, table) = start.split_once("| client |").expect("the clients");
    let rows = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let commands: Vec<&str> = rows.map(|row| cells(row)[1]).collect();
    let clients = commands.len();
    has("docs/faq.md", &format!("each of {clients} clients"));
    has(
        "README.md",
        &format!("command for each of {clients}. Others"),
    );
    for command in commands {
        has("docs/command-line.md", command);
    }
}

#[test]
fn the_pages_name_the_present_version() {
    let version = env!("CARGO_PKG_VERSION");
    let changes = page("CHANGELOG.md");
    let mut releases = changes.lines().filter(|line| line.starts_with("## "));
    let newest = releases.find(|line| *line != "## Unreleased");
    // With its date, once it is released.
    let newest = newest.and_then(|line| line.split(' ').nth(1));
    assert_eq!(newest, Some(version), "CHANGELOG.md");
    let start = "docs/getting-started.md";
    for name in ["README.md", start] {
        has(
            name,
            concat!("Rust ", env!("CARGO_PKG_RUST_VERSION"), " or newer"),
        );
    }
    let minor = version.rsplit_once('.').map_or(version, |(minor, _)| minor);
    has("README.md", &format!("Status: {minor}, "));
    has(start, &format!("deskline_{version}_"));
    has(start, &format!("deskline-{version}"));
}

/// Figures of the code that pages repeat: a file, from crates/ on, the constant, a page, and its
/// words.
const REPEATED: &str = include_str!("figures.txt");

#[test]
fn the_pages_repeat_the_figures_of_the_code() {
    let one_line = |name: &str| {
        let words = page(name);
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for row in REPEATED.trim().lines() {
        let [file, constant, name, words] = row.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        let constant = constant.replace(": from", ": Duration = Duration::from");
        let code = one_line(&format!("crates/{file}"));
        assert!(code.contains(&constant), "changed? {row}");
        assert!(one_line(name).contains(words), "{row}");
    }
}
