//! The name of a profile. A profile is a home directory that outlives its desktop, and belongs to
//! one desktop at a time.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{fmt, fs, io};

use crate::journals::private_folder;

/// The most characters of a name.
const LONGEST: usize = 64;

/// The name of a profile.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Profile(String);

impl FromStr for Profile {
    type Err = ();

    /// Accepts only characters that are valid in a folder's name everywhere, and have no other
    /// meaning.
    fn from_str(text: &str) -> Result<Self, ()> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let fits = (1..=LONGEST).contains(&text.len()) && text.chars().all(is_word);
        let name = (fits && !text.starts_with('-')).then(|| Self(text.to_owned()));
        name.ok_or(())
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Profile {
    /// The profile's folder in `all`. Creates the folder if it is missing.
    pub(crate) fn folder(&self, all: &Path) -> io::Result<PathBuf> {
        let path = all.join(&self.0);
        private_folder(&path)?;
        if fs::symlink_metadata(&path)?.is_dir() {
            Ok(path)
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_name_is_a_single_word() {
        for good in ["a", "ann", "Shop_2-test", &"x".repeat(LONGEST)] {
            assert!(good.parse::<Profile>().is_ok(), "{good}");
        }
        let long = "x".repeat(LONGEST + 1);
        for bad in ["", ".", "..", "a/b", "a.b", "-a", "ä", "a b", "a%2e", &long] {
            assert!(bad.parse::<Profile>().is_err(), "{bad}");
        }
    }
}
