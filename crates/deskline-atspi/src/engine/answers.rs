//! What a reply says of a node, and what only some roles are asked for.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use deskline_core::{Rect, Text};

use super::Engine;
use crate::bus::{Error, Message, Reader, WireError};
use crate::decode;
use crate::names::{LABELLED_BY, NULL, role};
use crate::request::Request;

impl Engine<'_> {
    pub(super) fn on_answer(
        &mut self,
        index: usize,
        request: Request,
        message: &Message,
    ) -> Result<(), WireError> {
        let mut r = message.reader();
        let node = &mut self.nodes[index];
        match request {
            Request::State => {
                let states = decode::states(&mut r)?;
                self.on_state(index, states);
            }
            Request::Role => node.role = Some(r.u32()?),
            Request::Name => r.variant_str()?.clone_into(&mut node.name),
            Request::Description => r.variant_str()?.clone_into(&mut node.description),
            Request::ChildCount => {
                let count = r.variant_i32()?;
                self.on_count(index, count);
            }
            Request::Extents | Request::ExtentsInWindow => {
                node.extents = Rect::new(r.i32()?, r.i32()?, r.i32()?, r.i32()?);
            }
            Request::Children => {
                for (owner, path) in decode::objects(message)? {
                    if self.is_own(owner) {
                        self.add(Some(index), path.to_owned());
                    } else if path != NULL {
                        self.foreign
                            .push((index, owner.to_owned(), path.to_owned()));
                    }
                }
            }
            Request::TextLength => {
                let length = r.variant_i32()?;
                self.on_text_length(index, length);
            }
            Request::Caret => {
                let caret = r.variant_i32()?;
                self.on_caret(index, usize::try_from(caret).ok());
            }
            Request::OffsetAt(..) => {
                let first = r.i32()?;
                self.on_first_shown(index, usize::try_from(first).ok());
            }
            Request::Text(..) => {
                let text = r.str()?;
                self.on_text(index, text);
            }
            Request::Value => node.value = Text::new(number(r.variant_f64()?)),
            Request::Relations => {
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
    pub fn details(&mut self, first: usize, until: Option<Instant>) -> Result<(), Error> {
        for index in first..self.nodes.len() {
            let node = &mut self.nodes[index];
            let Some(kind) = node.role else { continue };
            if std::mem::replace(&mut node.detailed, true) {
                continue;
            }
            let node = &self.nodes[index];
            // A password is never asked for, so that it cannot end up anywhere.
            if kind == role::PASSWORD_TEXT {
                self.queue.push_back((index, Request::Relations));
                continue;
            }
            if self.may_have_text(node, kind) {
                let question = match node.id {
                    // The cells of a spreadsheet are thousands, and most texts short.
                    Some(_) => Request::Text(0, -1),
                    None => Request::TextLength,
                };
                self.queue.push_back((index, question));
            }
            if role::holds_number(kind) && kind != role::SPIN_BUTTON {
                self.queue.push_back((index, Request::Value));
            }
            if node.name.is_empty() {
                if node.description.is_empty() && !self.known.contains_key(&node.path) {
                    self.queue.push_back((index, Request::Description));
                }
                if role::holds_text(kind) || role::holds_number(kind) {
                    self.queue.push_back((index, Request::Relations));
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

/// A number as a person would write it: `50`, `0.25`, without the noise of binary fractions.
fn number(v: f64) -> String {
    let rounded = (v * 1e6).round() / 1e6;
    format!("{}", if rounded == 0.0 { 0.0 } else { rounded })
}
