//! What an answer says of a node, and what only some roles are asked for.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use deskline_core::{Rect, Text};

use crate::bus::{Error, Message, Reader, WireError};

use super::Walk;
use crate::names::{LABELLED_BY, NULL, StateSet, role};
use crate::peer::Question;

impl Walk<'_> {
    pub(super) fn on_answer(
        &mut self,
        index: usize,
        code: u8,
        message: &Message,
    ) -> Result<(), WireError> {
        let mut r = message.reader();
        let node = &mut self.nodes[index];
        match code {
            STATE => {
                let states = read_states(&mut r)?;
                self.on_state(index, states);
            }
            ROLE => node.role = Some(r.u32()?),
            NAME => r.variant_str()?.clone_into(&mut node.name),
            DESCRIPTION => r.variant_str()?.clone_into(&mut node.description),
            CHILD_COUNT => {
                let count = r.variant_i32()?;
                self.on_count(index, count);
            }
            EXTENTS => node.extents = Rect::new(r.i32()?, r.i32()?, r.i32()?, r.i32()?),
            CHILDREN => {
                for (owner, path) in r.array(8, Reader::object)? {
                    if owner == self.bus_name || owner.is_empty() {
                        self.add(Some(index), path.to_owned());
                    } else if path != NULL {
                        self.foreign
                            .push((index, owner.to_owned(), path.to_owned()));
                    }
                }
            }
            TEXT_LENGTH => {
                let length = r.variant_i32()?;
                self.on_text_length(index, length);
            }
            CARET => {
                let caret = r.variant_i32()?;
                self.on_caret(index, usize::try_from(caret).ok());
            }
            OFFSET_AT => {
                let first = r.i32()?;
                self.on_first_shown(index, usize::try_from(first).ok());
            }
            TEXT => {
                let text = r.str()?;
                self.on_text(index, text);
            }
            VALUE => node.value = Text::new(number(r.variant_f64()?)),
            RELATIONS => {
                let relations = r.array(8, |r| {
                    r.align(8)?;
                    let kind = r.u32()?;
                    Ok((kind, r.array(8, Reader::object)?))
                })?;
                let label = relations.iter().find(|(kind, _)| *kind == LABELLED_BY);
                if let Some((_, path)) = label.and_then(|(_, targets)| targets.first()) {
                    node.label = (*path).to_owned();
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Asks for what only some roles have: text, numbers, descriptions, labels.
    pub(super) fn details(&mut self, first: usize, until: Option<Instant>) -> Result<(), Error> {
        for index in first..self.nodes.len() {
            let node = &mut self.nodes[index];
            let Some(kind) = node.role else { continue };
            if std::mem::replace(&mut node.detailed, true) {
                continue;
            }
            let node = &self.nodes[index];
            // A password is never asked for, so that it cannot end up anywhere.
            if kind == role::PASSWORD_TEXT {
                self.queue.push_back((index, Question::Relations));
                continue;
            }
            if self.may_have_text(node, kind) {
                let question = match node.place {
                    // The cells of a spreadsheet are thousands, and most texts short.
                    Some(_) => Question::Text(0, -1),
                    None => Question::TextLength,
                };
                self.queue.push_back((index, question));
            }
            if role::holds_number(kind) && kind != role::SPIN_BUTTON {
                self.queue.push_back((index, Question::Value));
            }
            if node.name.is_empty() {
                if node.description.is_empty() && !self.items.contains_key(&node.path) {
                    self.queue.push_back((index, Question::Description));
                }
                if role::holds_text(kind) || role::holds_number(kind) {
                    self.queue.push_back((index, Question::Relations));
                }
            }
        }
        self.pump(until)?;
        self.resolve_labels();
        Ok(())
    }

    /// Puts the name of the labelling element where its path was noted.
    fn resolve_labels(&mut self) {
        let wanted: HashSet<&str> = self
            .nodes
            .iter()
            .map(|n| n.label.as_str())
            .filter(|l| l.starts_with('/'))
            .collect();
        let names: HashMap<String, String> = self
            .nodes
            .iter()
            .filter(|n| wanted.contains(n.path.as_str()))
            .map(|n| (n.path.clone(), n.name.clone()))
            .collect();
        for node in &mut self.nodes {
            if node.label.starts_with('/') {
                node.label = names.get(&node.label).cloned().unwrap_or_default();
            }
        }
    }
}

/// `au`: the words of a state set, low word first.
pub fn read_states(r: &mut Reader<'_>) -> Result<StateSet, WireError> {
    let words = r.array(4, Reader::u32)?;
    let low = u64::from(words.first().copied().unwrap_or(0));
    let high = u64::from(words.get(1).copied().unwrap_or(0));
    Ok(StateSet(high << 32 | low))
}

/// A number as a person would write it: `50`, `0.25`, without the noise of binary fractions.
fn number(v: f64) -> String {
    let rounded = (v * 1e6).round() / 1e6;
    format!("{}", if rounded == 0.0 { 0.0 } else { rounded })
}

pub(super) const STATE: u8 = 0;
pub(super) const ROLE: u8 = 1;
pub(super) const NAME: u8 = 2;
const DESCRIPTION: u8 = 3;
const EXTENTS: u8 = 4;
pub(super) const CHILDREN: u8 = 5;
pub(super) const TEXT_LENGTH: u8 = 6;
pub(super) const TEXT: u8 = 7;
const VALUE: u8 = 8;
const RELATIONS: u8 = 9;
pub(super) const CHILD_COUNT: u8 = 10;
pub(super) const CARET: u8 = 11;
pub(super) const OFFSET_AT: u8 = 12;

/// The part of a tag that says what was asked.
pub(super) fn code(question: Question) -> u8 {
    match question {
        Question::State => STATE,
        Question::Role => ROLE,
        Question::Name => NAME,
        Question::Description => DESCRIPTION,
        Question::Extents | Question::ExtentsInWindow => EXTENTS,
        Question::Children => CHILDREN,
        Question::ChildCount => CHILD_COUNT,
        Question::TextLength => TEXT_LENGTH,
        Question::Text(..) => TEXT,
        Question::Caret => CARET,
        Question::OffsetAt(..) => OFFSET_AT,
        Question::Value => VALUE,
        Question::Relations => RELATIONS,
        _ => u8::MAX,
    }
}
