//! Something that is wrong, and its place in the file.

use std::fmt;
use std::path::Path;

/// Something in a recipe's file that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    pub at: Place,
    pub why: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Place { line: 0, .. } => f.write_str(&self.why),
            Place { line, column } => write!(f, "{line}:{column}: {}", self.why),
        }
    }
}

impl std::error::Error for Wrong {}

impl Wrong {
    /// The error with the file's path before it.
    pub fn in_file(&self, file: &Path) -> String {
        let space = if self.at.line == 0 { " " } else { "" };
        format!("{}:{space}{self}", file.display())
    }
}

/// A place in the file. Line and column count from 1; 0 stands for a recipe that has no file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}
