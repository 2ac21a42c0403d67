//! The tokens that requests must have: one for the protocol, one for the viewer.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use deskline_view::{same, secret};

use crate::error::HttpError;

/// The variable with the token of the protocol. The apps of a desktop do not get it.
pub const TOKEN: &str = "DESKLINE_TOKEN";

/// The variable with the viewer's token. The apps of a desktop do not get it either.
pub const VIEW_TOKEN: &str = "DESKLINE_VIEW_TOKEN";

/// The fewest characters of a token.
const SHORTEST: usize = 16;

/// A secret that gives access.
pub struct Token(String);

impl Token {
    /// A token that the person chose.
    pub fn new(text: &str) -> Result<Self, HttpError> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if text.len() < SHORTEST || !text.chars().all(is_word) {
            return Err(HttpError::Weak(SHORTEST));
        }
        Ok(Self(text.to_owned()))
    }

    /// Reads the token from a file. If the file is missing, creates it with a new token. Fails if
    /// others can read the file. The error names `variable`, by which a token can be passed
    /// instead.
    pub fn from_file(path: &Path, variable: &'static str) -> Result<Self, HttpError> {
        let failed = |source| HttpError::Token {
            path: path.to_owned(),
            variable,
            source,
        };
        if let Some(folder) = path.parent() {
            let mut folders = fs::DirBuilder::new();
            folders.recursive(true).mode(0o700);
            folders.create(folder).map_err(failed)?;
        }
        let created = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path);
        match created {
            Ok(mut file) => {
                let token = random().map_err(failed)?;
                file.write_all(token.as_bytes()).map_err(failed)?;
                Ok(Self(token))
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let mode = fs::symlink_metadata(path)
                    .map_err(failed)?
                    .permissions()
                    .mode();
                if mode & 0o077 != 0 {
                    return Err(HttpError::Exposed(path.to_owned()));
                }
                Self::new(fs::read_to_string(path).map_err(failed)?.trim())
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Whether `text` is the token. Takes the same time wherever the two differ.
    pub(crate) fn matches(&self, text: &str) -> bool {
        same(&self.0, text)
    }
}

/// 256 random bits in hexadecimal.
fn random() -> io::Result<String> {
    let half = || secret().map_err(io::Error::other);
    Ok(half()? + &half()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_created_once_and_readable_by_this_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/token");
        let read = || Token::from_file(&path, "TOKEN");
        let token = read().unwrap();
        assert_eq!(token.0.len(), 64);
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(read().unwrap().matches(&token.0));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(read(), Err(HttpError::Exposed(_))));
    }

    #[test]
    fn only_the_whole_token_matches() {
        let token = Token::new("0123456789abcdef").unwrap();
        assert!(token.matches("0123456789abcdef"));
        for other in [
            "",
            "0123456789abcde",
            "0123456789abcdef0",
            "0123456789abcdeg",
        ] {
            assert!(!token.matches(other), "{other}");
        }
        for weak in ["", "0123456789abcde", "0123456789 abcdef"] {
            assert!(
                matches!(Token::new(weak), Err(HttpError::Weak(_))),
                "{weak}"
            );
        }
    }
}
