//! Reads a tree file back, line by line: see [`crate::tree_file`] for how one is written.

use crate::{DeltaLine, Line};

#[derive(Debug, Clone, PartialEq)]
pub enum FileLine {
    /// `# …`: the text after the mark.
    Header(String),
    /// An element of a full tree.
    Element(Line),
    /// A line of a diff.
    Delta(DeltaLine),
    /// `late …`: a line of the diff between the last answer and the call.
    Late(DeltaLine),
    /// A line that a newer version has written, or a damaged line.
    Unknown(String),
}

/// The lines of a tree file, in order: line `n` of the file is at index `n - 1`.
pub fn lines(text: &str) -> impl Iterator<Item = FileLine> {
    text.lines().map(FileLine::parse)
}

impl FileLine {
    /// Parses one line, without its line end.
    pub fn parse(line: &str) -> Self {
        let parsed = if let Some(header) = line.strip_prefix("# ") {
            Some(Self::Header(header.to_owned()))
        } else if let Some(element) = line.strip_prefix(' ') {
            element.parse().ok().map(Self::Element)
        } else if let Some(delta) = line.strip_prefix("late ") {
            delta.parse().ok().map(Self::Late)
        } else {
            line.parse().ok().map(Self::Delta)
        };
        parsed.unwrap_or_else(|| Self::Unknown(line.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_line_is_recognised_by_its_start() {
        let text = "# late: +1 -0 ~0 (since the last answer)\n\
            late + [AXStaticText (label)] \"Saved\" x:1 y:2 w:3 h:4 visible #e9\n\
            # diff: +0 added, -1 removed, ~1 modified\n\
            - [AXButton] \"Send\" x:820 y:612 w:60 h:28\n\
            ~ [AXTextField (text)] \"Message\" | AXValue: \"Hey\" -> \"\" #e31\n\
            # tree:\n \
            [AXButton] \"# tree: + [AXButton]\" x:1 y:2 w:3 h:4 #e7\n\
            something else\n [broken";
        let kinds: Vec<char> = lines(text)
            .map(|line| match line {
                FileLine::Header(_) => '#',
                FileLine::Element(_) => ' ',
                FileLine::Delta(DeltaLine::Added(_)) => '+',
                FileLine::Delta(DeltaLine::Removed(_)) => '-',
                FileLine::Delta(DeltaLine::Modified(..)) => '~',
                FileLine::Late(_) => 'l',
                FileLine::Unknown(_) => '?',
            })
            .collect();
        assert_eq!(kinds, ['#', 'l', '#', '-', '~', '#', ' ', '?', '?']);
        let FileLine::Element(line) = FileLine::parse(" [AXButton] \"a\\nb\" #e7") else {
            panic!("no element");
        };
        assert_eq!(line.text.unwrap().shown, "a\nb");
    }
}
