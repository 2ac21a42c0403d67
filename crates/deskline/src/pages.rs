//! Completions and manual pages, made from the command line's definition, and the skill.

use std::path::Path;
use std::process::ExitCode;

use clap_complete::Shell;

use crate::cli;
use crate::output::{self, Done};

/// `deskline completions`.
pub(crate) fn completions(shell: Shell) -> Done {
    let mut script = vec![];
    clap_complete::generate(shell, &mut cli::command(), "deskline", &mut script);
    output::print(String::from_utf8(script)?.trim_end())?;
    Ok(ExitCode::SUCCESS)
}

/// `deskline manual`: a page for the program and one for each command.
pub(crate) fn manual(folder: &Path) -> Done {
    // The generated command `help` gets no page.
    let command = cli::command().disable_help_subcommand(true);
    clap_mangen::generate_to(command, folder)?;
    Ok(ExitCode::SUCCESS)
}

/// `deskline skill`.
pub(crate) fn skill() -> Done {
    output::print(include_str!("../../../skills/deskline/SKILL.md").trim_end())?;
    Ok(ExitCode::SUCCESS)
}
