//! The documents point at files and headings that exist, and the README stays one page long.
#![allow(clippy::unwrap_used, clippy::expect_used)]
// The names of files are those in git.
#![allow(clippy::case_sensitive_file_extension_comparisons)]

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use deskline_core::summary::FIELDS;
use deskline_core::{Attribute, Role, States};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the workspace")
        .to_owned()
}

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).expect(name)
}

/// All files below `folder`, relative to `root`, without build output and hidden folders.
fn files(root: &Path, folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the workspace") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name == "target" || name.starts_with('.') {
            continue;
        }
        if path.is_dir() {
            files(root, &path, found);
        } else {
            let inside = path.strip_prefix(root).unwrap();
            found.push(inside.to_string_lossy().into_owned());
        }
    }
}

fn workspace() -> (PathBuf, Vec<String>) {
    let root = root();
    let mut found = vec![];
    files(&root, &root, &mut found);
    (root, found)
}

/// The text of all files whose name passes `is_code`.
fn code(is_code: impl Fn(&str) -> bool) -> String {
    let (_, files) = workspace();
    let files = files.iter().filter(|name| is_code(name));
    files.map(|name| read(name)).collect()
}

/// The links of a Markdown text: `](target)` and `src="target"`.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let inline = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'));
    let images = text
        .split("src=\"")
        .skip(1)
        .filter_map(|rest| rest.split_once('"'));
    inline.chain(images).map(|(target, _)| target)
}

/// The anchor that GitHub gives a heading: `## The guard` is `the-guard`.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| -> String {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = words
            .chars()
            .filter(|c| c.is_alphanumeric() || "- _".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn links_of_the_documents_lead_to_existing_files_and_headings() {
    let (root, files) = workspace();
    let mut checked = 0;
    for document in files.iter().filter(|f| f.ends_with(".md")) {
        let (path, text) = (root.join(document), read(document));
        for link in links(&text).filter(|l| !l.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => path.clone(),
                file => path.parent().unwrap().join(file),
            };
            assert!(target.exists(), "{document} links to {link}");
            if !anchor.is_empty() {
                let target = std::fs::read_to_string(&target).unwrap();
                let there = anchors(&target).iter().any(|a| a == anchor);
                assert!(there, "{document} links to {link}: no such heading");
            }
            checked += 1;
        }
    }
    assert!(checked >= 8, "only {checked} links were found");
}

/// The pages for users, with their text.
fn user_pages() -> Vec<(String, String)> {
    let (_, files) = workspace();
    let is_page = |file: &&String| {
        file.starts_with("docs/") && file.ends_with(".md") && file.matches('/').count() == 1
    };
    let read = |file: &String| (file.clone(), read(file));
    files.iter().filter(is_page).map(read).collect()
}

#[test]
fn the_pages_for_users_stay_short() {
    let pages = user_pages();
    assert!((5..=15).contains(&pages.len()), "{} pages", pages.len());
    // As `wc -w` counts them.
    let words = |text: &str| text.split_whitespace().count();
    for (name, text) in &pages {
        assert!(words(text) <= 2200, "{name}: {} words", words(text));
    }
    let readme = read("README.md");
    let lines = readme.lines().count();
    assert!(lines <= 120, "{lines} lines");
    let texts = pages.iter().map(|(_, text)| text).chain([&readme]);
    let all: usize = texts.map(|text| words(text)).sum();
    assert!(all <= 16_000, "{all} words");
}

/// No package registry has a package of ours. Anybody could take the name there, and our readers
/// would run their code.
#[test]
fn no_page_runs_deskline_from_a_package_registry() {
    for page in workspace().1.iter().filter(|file| file.ends_with(".md")) {
        for command in "npx -y, npx, uvx, pipx run, pip install, npm install -g".split(", ") {
            let is_shown = read(page).contains(&format!("{command} deskline"));
            assert!(!is_shown, "{page}: {command}");
        }
    }
}

/// Which test checks a page matters only to developers.
#[test]
fn no_page_for_users_names_a_test() {
    let (_, files) = workspace();
    let mut tests = HashSet::new();
    for file in files.iter().filter(|file| file.ends_with(".rs")) {
        let code = read(file);
        let after = code.split("#[test]").skip(1);
        let names = after.filter_map(|rest| rest.split_once("fn ")?.1.split_once('('));
        let long = names.filter(|(name, _)| name.matches('_').count() > 2);
        tests.extend(long.map(|(name, _)| name.to_owned()));
    }
    assert!(tests.len() > 500, "{} tests", tests.len());
    for (page, text) in user_pages() {
        let words = "testbed, cargo test, scripts/test, DESKLINE_WRITE, tests/";
        for word in words.split(", ") {
            assert!(!text.contains(word), "{page} has {word}");
        }
        let mut spans = text.split('`').skip(1).step_by(2);
        let named = spans.find(|name| tests.contains(*name));
        assert_eq!(named, None, "{page}");
    }
}

/// Expands `a/{b,c}.rs` to `a/b.rs` and `a/c.rs`.
fn expand(name: &str) -> Vec<String> {
    let parts = name
        .split_once('{')
        .map(|(start, rest)| (start, rest.split_once('}')));
    let Some((start, Some((names, end)))) = parts else {
        return vec![name.to_owned()];
    };
    let names = names.split(',');
    names.map(|name| format!("{start}{name}{end}")).collect()
}

/// Checks that a name in backticks that ends in `.rs` or `/` is the end of a file's or folder's
/// path.
#[test]
fn the_architecture_page_names_files_that_exist() {
    let (_, files) = workspace();
    let map = read("ARCHITECTURE.md");
    let names = map.split('`').skip(1).step_by(2).flat_map(expand);
    let mut checked = 0;
    for name in names.filter(|n| n.ends_with(".rs") || n.ends_with('/')) {
        let wanted = format!("/{name}");
        let there = files.iter().any(|file| {
            let file = format!("/{file}");
            file.ends_with(&wanted) || name.ends_with('/') && file.contains(&wanted)
        });
        assert!(there, "ARCHITECTURE.md names {name}");
        checked += 1;
    }
    assert!(checked >= 20, "only {checked} names were found");
}

/// rustfmt wraps comments only on nightly, so this test counts columns. Rows of tables and
/// addresses cannot be wrapped.
#[test]
fn comments_are_100_columns_wide() {
    let (_, files) = workspace();
    let wide = |line: &&str| {
        let comment = line.trim_start();
        let wraps = comment.starts_with("//")
            && !comment.contains("://")
            && !comment.trim_start_matches(['/', '!', ' ']).starts_with('|');
        wraps && line.chars().count() > 100
    };
    let mut found = vec![];
    for file in files.iter().filter(|file| file.ends_with(".rs")) {
        let text = read(file);
        let line = text.lines().find(wide);
        found.extend(line.map(|line| format!("{file}: {line}")));
    }
    assert_eq!(found, Vec::<String>::new());
}

/// Each claim of SECURITY.md names tests, and they exist.
#[test]
fn each_claim_about_security_has_a_test() {
    let code = code(|name| name.ends_with(".rs"));
    let page = read("SECURITY.md");
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let claims: Vec<&str> = rows.filter(|row| !row.contains("| shown by |")).collect();
    assert!(claims.len() > 20, "{}", claims.len());
    for claim in claims {
        let (_, tests) = claim.trim_end_matches(" |").rsplit_once(" | ").unwrap();
        for test in tests.split(", ") {
            let test = test.trim_matches('`');
            let forms = [format!("fn {test}("), format!(" {test} => ")];
            let is_there = forms.iter().any(|form| code.contains(form));
            assert!(is_there, "{test}: {claim}");
        }
    }
}

/// A tag of an action can be moved to other code. A token of a job is in all its steps.
#[test]
fn workflow_actions_are_pinned_by_commit_and_tokens_given_to_one_step() {
    let mut checked = 0;
    for file in std::fs::read_dir(root().join(".github/workflows")).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines() {
            let place = format!("{}: {line}", path.display());
            if let Some((_, action)) = line.split_once("uses: ") {
                let (_, version) = action.split_once('@').expect(&place);
                let (commit, tag) = version.split_once(" # v").expect(&place);
                let is_commit = commit.len() == 40 && commit.bytes().all(|c| c.is_ascii_hexdigit());
                assert!(is_commit && tag.matches('.').count() == 2, "{place}");
                checked += 1;
            }
            // The environment of a step is deeper than that of a job or a workflow.
            let depth = line.len() - line.trim_start().len();
            assert!(!line.contains("secrets.") || depth >= 10, "{place}");
            assert!(!line.contains("github.token") || depth >= 10, "{place}");
        }
    }
    assert!(checked > 20, "{checked}");
}

/// docs/safety.md says that Deskline sends nothing anywhere: no dependency is an HTTP client or
/// speaks TLS.
#[test]
fn no_dependency_is_an_http_client_or_speaks_tls() {
    let lock = read("Cargo.lock");
    for name in ["curl", "native-tls", "openssl", "reqwest", "rustls", "ureq"] {
        assert!(!lock.contains(&format!("name = \"{name}\"\n")), "{name}");
    }
}

/// What docs/troubleshooting.md quotes in its first column is a message of the program.
#[test]
fn each_symptom_that_a_page_quotes_is_printed_by_the_program() {
    let code = code(|name| name.ends_with(".rs") || name.ends_with("deskline.js"));
    // A literal may go on in the next line.
    let code: String = code.split("\\\n").map(str::trim_start).collect();
    let page = read("docs/troubleshooting.md");
    let symptoms = page.lines().filter_map(|line| line.split(" | ").next());
    let quoted = symptoms.flat_map(|cell| cell.split('"').skip(1).step_by(2));
    let parts: Vec<&str> = quoted.flat_map(|message| message.split('…')).collect();
    assert!(parts.len() > 8, "{parts:?}");
    for part in parts {
        assert!(code.contains(part), "{part}");
    }
}

/// Each tool that a text for agents or people names exists.
#[test]
fn each_tool_that_a_text_names_exists() {
    let (_, files) = workspace();
    let page = read("docs/tools.md");
    let tools: HashSet<&str> = page.lines().filter_map(|l| l.strip_prefix("## ")).collect();
    let is_text = |file: &&String| {
        let is_code = file.starts_with("crates/") && file.contains("/src/");
        is_code && file.ends_with(".rs") && !file.contains("test") || file.ends_with(".md")
    };
    let mut found = 0;
    for file in files.iter().filter(is_text) {
        let text = read(file);
        // Unit tests have tools of other versions and names.
        let text = text.split("#[cfg(test)]").next().unwrap();
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let names = words.filter(|w| w.ends_with("_traversal") || w.ends_with("_traverse"));
        // Names of files begin with a time, and those of macos-use's tools with its own name.
        let names = names.map(|word| {
            let word = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_');
            word.strip_prefix("use_").unwrap_or(word)
        });
        for name in names.filter(|name| *name != "and_traverse") {
            assert!(tools.contains(name), "{file}: {name}");
            found += 1;
        }
    }
    assert!(found > 100, "{found}");
}

/// docs/formats.md has each role, state and attribute that a tree file may have.
#[test]
fn the_formats_page_has_each_role_state_and_attribute() {
    let page = read("docs/formats.md");
    let on_page: HashSet<&str> = page.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let states = States::WORDS.iter().map(|(word, _)| *word);
    let attributes = Attribute::ALL.iter().map(|attribute| attribute.name());
    let words = Role::ALL
        .iter()
        .map(|role| role.ax())
        .chain(states)
        .chain(attributes);
    let missing: Vec<&str> = words.filter(|word| !on_page.contains(word)).collect();
    assert_eq!(missing, Vec::<&str>::new());
    // The fields of an answer are the first cells of a table, in their order.
    let (_, table) = page.split_once("| field | when |").unwrap();
    let rows = table.lines().skip(2).take_while(|row| row.starts_with('|'));
    let cells = rows.filter_map(|row| row.split(" | ").next());
    let named: Vec<&str> = cells
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .collect();
    assert_eq!(named, FIELDS);
}

/// The skill's table has all tools, and only arguments that they take.
#[test]
fn the_skill_names_tools_and_arguments_that_exist() {
    let (skill, tools) = (read("skills/deskline/SKILL.md"), read("docs/tools.md"));
    let records: Vec<&str> = tools.split("\n## ").skip(2).collect();
    for record in &records {
        let tool = record.lines().next().unwrap();
        let start = format!("| `{tool}` | ");
        let row = skill.lines().find_map(|line| line.strip_prefix(&start));
        let row = row.unwrap_or_else(|| panic!("{tool} is not in the skill"));
        for argument in row.split('`').skip(1).step_by(2) {
            let known = record.contains(&format!("`{argument}`"));
            let in_general = ["pid", "\"do\""].contains(&argument);
            assert!(known || in_general, "{tool} {argument}");
        }
    }
    let calls = skill.matches("deskline call").count();
    let all = records.len();
    assert!(calls >= 3 && all >= 13, "{calls} {all}");
    for call in skill.split("_traverse '").skip(1) {
        let json = call.split('\'').next().unwrap();
        let parsed = serde_json::from_str::<serde_json::Value>(json);
        assert!(parsed.is_ok(), "{json}");
    }
}
