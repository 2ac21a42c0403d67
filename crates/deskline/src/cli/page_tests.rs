//! docs/command-line.md has each command, and each option with its default. No page names others.

use std::path::Path;

use super::command;

const PAGE: &str = include_str!("../../../../docs/command-line.md");

/// The section of a command, or that of another one whose options it has.
fn section(title: &str) -> &'static str {
    let mut sections = PAGE.split("\n## ");
    let found = sections.find(|section| section.lines().next() == Some(title));
    let found = found.unwrap_or_else(|| panic!("no section {title}"));
    let other = found.split_once("Options as for `");
    other.map_or(found, |(_, other)| {
        section(other.split('`').next().unwrap())
    })
}

/// The row of a table whose first cell has this option.
fn row(section: &'static str, option: &str) -> &'static str {
    let names_it = |row: &&str| {
        let cell = row.split(" | ").next().unwrap_or_default();
        let mut words = cell.split(|c: char| c != '-' && !c.is_ascii_alphanumeric());
        words.any(|word| word == option)
    };
    let found = section.lines().find(names_it);
    found.unwrap_or_else(|| panic!("no row for {option} in {section}"))
}

#[test]
fn the_page_has_each_option() {
    let program = command();
    let shown = program.get_subcommands().filter(|c| !c.is_hide_set());
    let mut commands = vec![("Options of the server", &program)];
    commands.extend(shown.map(|command| (command.get_name(), command)));
    for (title, command) in commands {
        let section = section(title);
        for option in command.get_arguments().filter(|o| !o.is_hide_set()) {
            let name = match (option.get_long(), option.get_short()) {
                (Some(long), _) => format!("--{long}"),
                (None, Some(short)) => format!("-{short}"),
                // An argument without a name.
                (None, None) => continue,
            };
            let row = row(section, &name);
            if option.is_hide_default_value_set() {
                continue;
            }
            for default in option.get_default_values() {
                let cell = format!("| `{}` |", default.to_string_lossy());
                assert!(row.contains(&cell), "{row} lacks {cell}");
            }
        }
    }
}

/// Options of other programs that the pages name.
const OTHERS: [&str; 7] = [
    "force-renderer-accessibility",
    "locked",
    "ozone-platform",
    "path",
    "release",
    "scope",
    "user",
];

/// The README, the skill and the pages for users.
fn pages() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let entries = std::fs::read_dir(root.join("docs")).unwrap();
    let docs = entries.map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = docs
        .filter(|file| file.extension().is_some_and(|e| e == "md"))
        .collect();
    files.extend(["README.md", "skills/deskline/SKILL.md"].map(|name| root.join(name)));
    let read = |file: std::path::PathBuf| {
        let text = std::fs::read_to_string(&file).unwrap();
        (file.display().to_string(), text)
    };
    files.into_iter().map(read).collect()
}

// Other systems lack some commands and options.
#[cfg(target_os = "linux")]
#[test]
fn the_pages_name_only_commands_and_options_that_exist() {
    let mut program = command();
    program.build();
    let commands: Vec<_> = program.get_subcommands().collect();
    let mut names: Vec<&str> = commands.iter().map(|c| c.get_name()).collect();
    // macOS and Windows have it.
    names.push("selftest");
    let all = commands.iter().copied().chain([&program]);
    let mut options: Vec<&str> = all
        .flat_map(clap::Command::get_arguments)
        .filter_map(|o| o.get_long())
        .collect();
    options.extend(OTHERS);
    let mut checked = 0;
    for (page, text) in pages() {
        for code in text.split('`').skip(1).step_by(2) {
            let words: Vec<&str> = code.split_whitespace().collect();
            for (at, word) in words.iter().enumerate() {
                let is_letter = |c: char| c == '-' || c.is_ascii_lowercase();
                if let Some(option) = word.strip_prefix("--") {
                    let option = option.split(|c| !is_letter(c)).next().unwrap_or_default();
                    assert!(
                        option.is_empty() || options.contains(&option),
                        "{page}: {word}"
                    );
                    checked += 1;
                } else if *word == "deskline" {
                    let mut after = words[at + 1..]
                        .iter()
                        .skip_while(|word| word.starts_with('-') || **word == "private");
                    let next = after.next().filter(|next| next.chars().all(is_letter));
                    assert!(
                        next.is_none_or(|next| names.contains(next)),
                        "{page}: {code}"
                    );
                }
            }
        }
    }
    assert!(checked > 100, "{checked}");
}
