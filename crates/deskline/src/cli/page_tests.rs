//! docs/command-line.md lists each command, and each option with its default. No page names an
//! option that does not exist.

use std::path::Path;

use clap::error::ErrorKind;

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
fn the_command_line_page_lists_each_option_with_its_default() {
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
const OTHERS: &str = "force-renderer-accessibility locked ozone-platform path release scope user";

/// The pages for users, and others that name commands.
fn pages() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let entries = std::fs::read_dir(root.join("docs")).unwrap();
    let docs = entries.map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = docs
        .filter(|file| file.extension().is_some_and(|e| e == "md"))
        .collect();
    let others = "README.md SECURITY.md examples/README.md extensions/gnome/README.md \
        skills/deskline/SKILL.md";
    files.extend(others.split(' ').map(|name| root.join(name)));
    let read = |file: std::path::PathBuf| {
        let text = std::fs::read_to_string(&file).unwrap();
        (file.display().to_string(), text)
    };
    files.into_iter().map(read).collect()
}

/// The code of a page, a block or a span at a time.
fn code(page: &str) -> impl Iterator<Item = &str> {
    page.split('`').skip(1).step_by(2)
}

#[test]
fn the_pages_name_only_options_that_exist() {
    let mut program = command();
    // Adds --help.
    program.build();
    let all = program.get_subcommands().chain([&program]);
    let mut options: Vec<&str> = all
        .flat_map(clap::Command::get_arguments)
        .filter_map(|o| o.get_long())
        .collect();
    options.extend(OTHERS.split(' '));
    let mut checked = 0;
    for (page, text) in pages() {
        for word in code(&text).flat_map(str::split_whitespace) {
            let Some(option) = word.strip_prefix("--") else {
                continue;
            };
            let is_letter = |c: char| c == '-' || c.is_ascii_lowercase();
            let option = option.split(|c| !is_letter(c)).next().unwrap_or_default();
            let exists = option.is_empty() || options.contains(&option);
            assert!(exists, "{page}: {word}");
            checked += 1;
        }
    }
    assert!(checked > 100, "{checked}");
}

/// The words of the first command in `text`, as a shell would pass them to the program. `None` if a
/// word stands for what the reader puts there: `deskline call TOOL '{…}'`.
fn words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (vec![], None::<String>, None);
    for c in text.chars() {
        match (quote, c) {
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), _) if open == c => quote = None,
            (None, '\n' | '#' | '|' | '&' | '>' | '<' | ';' | ')') => break,
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    let stands_for = |word: &String| {
        // `-` would be read from standard input.
        let is_one = word == "-" || word.contains(['…', '[']);
        is_one || word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase())
    };
    (!words.iter().any(stands_for)).then_some(words)
}

// Other systems lack some commands and options.
#[cfg(target_os = "linux")]
#[test]
fn each_command_line_that_a_page_shows_is_accepted() {
    let (mut checked, mut wrong) = (0, vec![]);
    for (page, text) in pages() {
        // A command stands at the start of a line, or after another one.
        let commands = code(&text).flat_map(|code| {
            let starts = code.match_indices("deskline ");
            let starts = starts.map(|(at, _)| code.split_at(at));
            starts.filter(|(before, _)| {
                let line = before.rsplit('\n').next().unwrap_or_default().trim_end();
                line.is_empty() || line.ends_with("&&") || line.ends_with("MACHINE")
            })
        });
        for (_, command_line) in commands {
            let Some(words) = words(command_line) else {
                continue;
            };
            let taken = command().try_get_matches_from(&words);
            // A page may speak of a command by its name alone.
            let error = taken.err().filter(clap::Error::use_stderr);
            let error = error.filter(|error| error.kind() != ErrorKind::MissingRequiredArgument);
            wrong.extend(error.map(|error| format!("{page}: {words:?}: {error}")));
            checked += 1;
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(checked > 50, "{checked}");
}
