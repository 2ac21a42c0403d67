//! The line of an element: agents grep it, and [`Line`] parses it back.
//!
//! ```text
//! line   = head [ " x:" int " y:" int " w:" int " h:" int ] tail
//! head   = "[" role [ " (" native ")" ] "]" [ " " quoted ]
//! tail   = [ " visible" ] { " " state } [ " value:" quoted ] [ " row:" int " col:" int ]
//!          [ " #e" digits ] [ " in #e" digits ]
//! quoted = '"' [ cut ] escaped [ cut ] '"'
//! cut    = "…(+" count ")"
//! state  = focused selected checked mixed expanded collapsed disabled editable secure, in order
//! delta  = "+ " line | "- " line | "~ " head " | " change { ", " change } tail
//! change = attribute ": " value " -> " value
//! value  = quoted | "true" | "false" | "mixed"
//! ```
//!
//! A cut mark says how many characters were cut off at that end. If nothing of the text is left,
//! the first mark is always written. `escaped` is [`escape`]; in `native`, `)` is escaped too. If a
//! text itself contains `…(+`, its `…` is written as `\u{2026}`, so that a cut mark cannot be
//! forged. Every line parses back to what it was made from.
//!
//! If an element has both a name and a value, the name is its text and the value follows `value:`.
//! If it has only one of the two, that is its text. Row and column count from 1. `in` is the
//! parent's ref; only the lines of a tree have it. A `-` line has no `visible`, no states and no
//! ref. A `~` line has no states and no value: its changes list those that changed.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::diff::{Attribute, Change, Value};
use crate::escape::unescape;
use crate::line_writer::{Parts, quoted};
use crate::{Cell, Line, Rect, Ref, Role, States, Text, Texts, Tree};

impl Line {
    /// The line of element `index`; `None` if there is no such element.
    pub fn new(tree: &Tree, texts: &Texts, index: usize) -> Option<Self> {
        let element = tree.elements.get(index)?;
        let parts = Parts::of(element, tree, texts, index);
        Some(Self {
            role: parts.role,
            native_role: parts.native_role.map(|_| element.native_role.clone()),
            text: parts.text.cloned(),
            extents: parts.extents,
            visible: parts.visible,
            states: parts.states,
            value: parts.value.cloned(),
            cell: parts.cell,
            reference: parts.reference,
            parent: parts.parent,
        })
    }

    /// A line with nothing but the role and the native role.
    pub fn bare(role: Role, native_role: Option<Cow<'static, str>>) -> Self {
        Self {
            role,
            native_role,
            text: None,
            extents: None,
            visible: false,
            states: States::empty(),
            value: None,
            cell: None,
            reference: None,
            parent: None,
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => quoted(f, text),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Mixed => f.write_str("mixed"),
        }
    }
}

/// One line of a diff.
#[derive(Debug, Clone, PartialEq)]
pub enum DeltaLine {
    /// `+`: added.
    Added(Line),
    /// `-`: removed.
    Removed(Line),
    /// `~`: modified. The line has no extents.
    Modified(Line, Vec<Change>),
}

impl fmt::Display for DeltaLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added(line) => write!(f, "+ {line}"),
            Self::Removed(line) => write!(f, "- {line}"),
            Self::Modified(line, changes) => {
                f.write_str("~ ")?;
                line.head(f)?;
                f.write_str(" | ")?;
                for (i, change) in changes.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    let name = change.attribute.name();
                    write!(f, "{comma}{name}: {} -> {}", change.old, change.new)?;
                }
                line.tail(f)
            }
        }
    }
}

/// The text does not match the grammar of this module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an element line")]
pub struct NotALine;

impl FromStr for Line {
    type Err = NotALine;

    fn from_str(s: &str) -> Result<Self, NotALine> {
        let mut parser = Parser(s);
        let mut line = parser.head().ok_or(NotALine)?;
        parser.extents(&mut line).ok_or(NotALine)?;
        parser.tail(&mut line).ok_or(NotALine)?;
        Ok(line)
    }
}

impl FromStr for DeltaLine {
    type Err = NotALine;

    fn from_str(s: &str) -> Result<Self, NotALine> {
        match s.split_at_checked(2).ok_or(NotALine)? {
            ("+ ", line) => line.parse().map(Self::Added),
            ("- ", line) => line.parse().map(Self::Removed),
            ("~ ", line) => Parser(line).modified().ok_or(NotALine),
            _ => Err(NotALine),
        }
    }
}

/// The rest of a line that is being parsed.
struct Parser<'a>(&'a str);

impl<'a> Parser<'a> {
    /// Consumes `prefix` if it comes next; returns whether it did.
    fn eat(&mut self, prefix: &str) -> bool {
        let after = self.0.strip_prefix(prefix);
        self.0 = after.unwrap_or(self.0);
        after.is_some()
    }

    /// Consumes the text up to and including the first unescaped `end`; returns the text before it.
    fn until(&mut self, end: char) -> Option<&'a str> {
        let mut escaped = false;
        let at = self.0.char_indices().find(|&(_, c)| {
            let found = c == end && !escaped;
            escaped = c == '\\' && !escaped;
            found
        })?;
        let (before, after) = self.0.split_at(at.0);
        self.0 = after.strip_prefix(end)?;
        Some(before)
    }

    /// Consumes characters while `part` accepts them, and returns them.
    fn word(&mut self, part: impl Fn(char) -> bool) -> &'a str {
        let end = self.0.find(|c| !part(c)).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        word
    }

    fn number(&mut self) -> Option<i32> {
        self.word(|c| c == '-' || c.is_ascii_digit()).parse().ok()
    }

    fn quoted(&mut self) -> Option<Text> {
        if !self.eat("\"") {
            return None;
        }
        let inside = self.until('"')?;
        let before = inside
            .strip_prefix("…(+")
            .and_then(|s| s.split_once(')'))
            .and_then(|(count, rest)| Some((count.parse().ok()?, rest)));
        let (omitted_before, inside) = before.unwrap_or((0, inside));
        let after = inside
            .strip_suffix(')')
            .and_then(|s| s.rsplit_once("…(+"))
            .and_then(|(shown, count)| Some((shown, count.parse().ok()?)));
        let (shown, omitted_after) = after.unwrap_or((inside, 0));
        Some(Text {
            shown: unescape(shown)?.into_owned(),
            omitted_before,
            omitted_after,
        })
    }

    fn head(&mut self) -> Option<Line> {
        if !self.eat("[") {
            return None;
        }
        let role = Role::from_name(self.word(|c| c.is_ascii_alphanumeric()))?;
        let native_role = if self.eat(" (") {
            Some(unescape(self.until(')')?)?.into_owned().into())
        } else {
            None
        };
        if !self.eat("]") {
            return None;
        }
        let text = if self.0.starts_with(" \"") {
            self.eat(" ");
            Some(self.quoted()?)
        } else {
            None
        };
        Some(Line {
            text,
            ..Line::bare(role, native_role)
        })
    }

    /// Parses the extents into `line` if they come next; `None` if they are malformed.
    fn extents(&mut self, line: &mut Line) -> Option<()> {
        if !self.eat(" x:") {
            return Some(());
        }
        let x = self.number()?;
        let y = self.eat(" y:").then(|| self.number())??;
        let w = self.eat(" w:").then(|| self.number())??;
        let h = self.eat(" h:").then(|| self.number())??;
        line.extents = Some(Rect { x, y, w, h });
        Some(())
    }

    /// Parses the tail into `line`; `None` if the tail is malformed or anything follows it.
    fn tail(&mut self, line: &mut Line) -> Option<()> {
        line.visible = self.eat(" visible");
        for (word, state) in States::WORDS {
            line.states.set(state, self.eat(&format!(" {word}")));
        }
        if self.eat(" value:") {
            line.value = Some(self.quoted()?);
        }
        if self.eat(" row:") {
            let row = self.count()?;
            let column = self.eat(" col:").then(|| self.count())??;
            line.cell = Some(Cell { row, column });
        }
        if self.eat(" #") {
            line.reference = Some(self.reference()?);
        }
        if self.eat(" in #") {
            line.parent = Some(self.reference()?);
        }
        self.0.is_empty().then_some(())
    }

    fn reference(&mut self) -> Option<Ref> {
        self.word(|c| c.is_ascii_alphanumeric()).parse().ok()
    }

    fn count(&mut self) -> Option<u32> {
        self.word(|c| c.is_ascii_digit()).parse().ok()
    }

    fn value(&mut self) -> Option<Value> {
        if self.0.starts_with('"') {
            return self.quoted().map(Value::Text);
        }
        match self.word(|c| c.is_ascii_lowercase()) {
            "true" => Some(Value::Flag(true)),
            "false" => Some(Value::Flag(false)),
            "mixed" => Some(Value::Mixed),
            _ => None,
        }
    }

    fn modified(&mut self) -> Option<DeltaLine> {
        let mut line = self.head()?;
        let mut changes = Vec::new();
        let mut more = self.eat(" | ");
        while more {
            let name = self.word(|c| c.is_ascii_alphabetic());
            let attribute = Attribute::ALL.into_iter().find(|a| a.name() == name)?;
            let old = self.eat(": ").then(|| self.value())??;
            let new = self.eat(" -> ").then(|| self.value())??;
            changes.push(Change {
                attribute,
                old,
                new,
            });
            more = self.eat(", ");
        }
        self.tail(&mut line)?;
        (!changes.is_empty()).then_some(DeltaLine::Modified(line, changes))
    }
}
