//! docs/command-line.md has each command, and each option with its default.

use clap::CommandFactory as _;

use super::Cli;

const PAGE: &str = include_str!("../../../../docs/command-line.md");

fn section(title: &str) -> &'static str {
    let mut sections = PAGE.split("\n## ");
    let found = sections.find(|section| section.lines().next() == Some(title));
    found.unwrap_or_else(|| panic!("no section {title}"))
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
    let program = Cli::command();
    let shown = program.get_subcommands().filter(|c| !c.is_hide_set());
    let mut commands = vec![("Options of every command", &program)];
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
