//! The names of the journal's files: `<ms>_<tool>.txt` and `.png`.

use std::path::PathBuf;

/// The stamps have thirteen digits: from September 2001 to November 2286.
pub(crate) const STAMPS: std::ops::RangeInclusive<u64> = 1_000_000_000_000..=9_999_999_999_999;
/// The prefix of temporary files, which are not complete yet.
pub(crate) const TEMPORARY: &str = ".deskline-";
/// The file with the log of links.
pub(crate) const LOG: &str = "journal.jsonl";
/// The file with the refs of elements.
pub(crate) const REFS: &str = "refs";
pub(crate) const STAMP: &str = ".stamp";

/// The file that notes when this boot started, by the wall clock: see [`crate::boot`].
pub(crate) const CLOCK: &str = ".clock";

/// The content of a journal file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileKind {
    /// A tree or a diff.
    Text,
    /// The window's picture.
    Picture,
}

impl FileKind {
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Text => "txt",
            Self::Picture => "png",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalFile {
    pub path: PathBuf,
    /// `<ms>_<tool>.txt` or `.png`.
    pub name: String,
    /// The `<ms>` of the name: milliseconds since the epoch, unique to the call.
    pub stamp: u64,
    pub tool: String,
    pub kind: FileKind,
    pub bytes: u64,
}

impl JournalFile {
    /// When the call began, in RFC 3339, UTC.
    pub fn time(&self) -> String {
        crate::time::rfc3339(self.stamp)
    }
}

/// The parts of a file name: stamp, tool, kind. `None` if no file of a journal is named so.
pub(crate) fn parse(name: &str) -> Option<(u64, &str, FileKind)> {
    let (stem, extension) = name.rsplit_once('.')?;
    let kind = [FileKind::Text, FileKind::Picture]
        .into_iter()
        .find(|kind| kind.extension() == extension)?;
    let (stamp, tool) = stem.split_once('_')?;
    let tool_is_plain = !tool.is_empty() && tool.chars().all(is_plain);
    Some((parse_stamp(stamp)?, tool, kind)).filter(|_| tool_is_plain)
}

/// Parses a stamp, which has exactly thirteen digits.
pub(crate) fn parse_stamp(text: &str) -> Option<u64> {
    if text.len() != 13 || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok().filter(|stamp| STAMPS.contains(stamp))
}

/// `tool` for use in a file name: characters with a meaning to a file system or a shell become `_`.
pub(crate) fn plain(tool: &str) -> String {
    let plain = tool.chars().take(64);
    let plain: String = plain.map(|c| if is_plain(c) { c } else { '_' }).collect();
    if plain.is_empty() {
        "_".to_owned()
    } else {
        plain
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_file_names_that_the_journal_makes_are_parsed() {
        assert_eq!(
            parse("1776457217931_click_and_traverse.txt"),
            Some((1_776_457_217_931, "click_and_traverse", FileKind::Text))
        );
        assert!(parse("1776457217931_macos-use_type_and_traverse.png").is_some());
        for name in [
            "1776457217931_click.jpg",
            "1776457217931.txt",
            "1776457217931_.txt",
            "177645721793_click.txt",
            "17764572179310_click.txt",
            "0000000000001_click.txt",
            "+776457217931_click.txt",
            "1776457217931_cl/ick.txt",
            "1776457217931_..txt",
            "journal.jsonl",
            "refs",
            "",
        ] {
            assert_eq!(parse(name), None, "{name}");
        }
    }

    proptest! {
        #[test]
        fn the_file_name_for_any_tool_is_parsed_back(tool in ".*", stamp in STAMPS) {
            let name = format!("{stamp}_{}.txt", plain(&tool));
            prop_assert_eq!(parse(&name).map(|(stamp, _, _)| stamp), Some(stamp));
        }
    }
}
