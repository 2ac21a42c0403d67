//! Applies replies to nodes, and sends the requests that only some roles need.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use deskline_core::{Rect, Text, number};

use super::{Engine, MOST_FOREIGN, Node};
use crate::bus::{Message, Reader, Result, WireError};
use crate::decode::{self, kept};
use crate::names::{LABELLED_BY, NULL, StateSet, role};
use crate::request::Request;
use crate::toolkits::Toolkit;

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
            Request::Name => kept(r.variant_str()?).clone_into(&mut node.name),
            Request::Description => {
                kept(r.variant_str()?).clone_into(&mut node.description);
            }
            Request::ChildCount => {
                let count = r.variant_i32()?;
                self.on_count(index, count);
            }
            Request::Extents | Request::ExtentsInWindow => {
                node.extents = Rect::new(r.i32()?, r.i32()?, r.i32()?, r.i32()?);
                self.on_extents(index);
            }
            Request::Children => {
                for (owner, path) in decode::objects(message)? {
                    if self.is_own(owner) {
                        self.add(Some(index), path.into());
                    } else if path != NULL && self.foreign.len() < MOST_FOREIGN {
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
            Request::Attributes => match value_text(&mut r)? {
                Some(text) => node.value = Text::new(text),
                None => self.queue.push_back((index, Request::TextLength)),
            },
            Request::Value => node.value = Text::new(number::plain(r.variant_f64()?)),
            Request::Selected => node.chosen = decode::object(message),
            Request::Relations => {
                if let Some(path) = decode::relation(&mut r, LABELLED_BY)? {
                    node.labelled_by = path;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Requests the facts that only some roles have: text, number, description, label.
    pub fn details(&mut self, first: usize, until: Option<Instant>) -> Result {
        for index in first..self.nodes.len() {
            let node = &mut self.nodes[index];
            let Some(kind) = node.role else { continue };
            if std::mem::replace(&mut node.detailed, true) {
                continue;
            }
            let node = &self.nodes[index];
            // A password is never requested, so that it cannot end up anywhere.
            if kind == role::PASSWORD_TEXT {
                self.queue.push_back((index, Request::Relations));
                continue;
            }
            let editable = node.states.has(StateSet::EDITABLE);
            if kind == role::SPIN_BUTTON && !editable && self.toolkit.has_value_texts() {
                self.queue.push_back((index, Request::Attributes));
            } else if self.may_have_text(node, kind) {
                let question = match node.id {
                    // A spreadsheet has thousands of cells, most of them with short texts. So the
                    // text itself is requested, without its length first.
                    Some(_) => Request::Text(0, -1),
                    None => Request::TextLength,
                };
                self.queue.push_back((index, question));
            }
            if role::holds_number(kind) && kind != role::SPIN_BUTTON {
                self.queue.push_back((index, Request::Value));
            }
            if kind == role::COMBO_BOX && self.toolkit.names_by_choice() && !node.name.is_empty() {
                self.queue.push_back((index, Request::Relations));
                if self.toolkit == Toolkit::Gtk3 {
                    self.queue.push_back((index, Request::Selected));
                }
            }
            let is_nameless = node.name.is_empty();
            let is_icon = self.toolkit.describes_icons() && role::is_icon(kind, &node.name);
            let is_new = node.description.is_empty() && !self.known.contains_key(&*node.path);
            if (is_nameless || is_icon) && is_new {
                self.queue.push_back((index, Request::Description));
            }
            if is_nameless && role::may_have_label(kind) {
                self.queue.push_back((index, Request::Relations));
            }
        }
        self.pump(until)?;
        self.resolve_labels(until)
    }

    /// Copies the names of labels to the nodes that have recorded the labels' paths. A label that
    /// is not in the tree is requested: in GTK 4.18 no container lists the label of a menu item,
    /// and that label has a text but no name.
    fn resolve_labels(&mut self, until: Option<Instant>) -> Result {
        let paths = self.nodes.iter().map(|node| node.labelled_by.as_str());
        let paths: HashSet<&str> = paths.filter(|path| !path.is_empty()).collect();
        if paths.is_empty() {
            return Ok(());
        }
        let read = |node: &&Node| node.role.is_some() && paths.contains(node.path.as_ref());
        let read = self.nodes.iter().filter(read);
        let mut names: HashMap<Arc<str>, String> = read
            .map(|node| (node.path.clone(), node.name.clone()))
            .collect();
        let unread = paths.into_iter().filter(|path| !names.contains_key(*path));
        let unread: Vec<Arc<str>> = unread.map(Arc::from).collect();
        if !unread.is_empty() && until.is_none_or(|until| Instant::now() < until) {
            let both = [Request::Name, Request::Text(0, -1)];
            let asked = unread.iter();
            let asked = asked.flat_map(|path| both.map(|request| (path.clone(), request)));
            let replies = self.ask_each(asked)?;
            for (path, replies) in unread.into_iter().zip(replies.chunks(both.len())) {
                names.insert(path, decode::label(replies).unwrap_or_default());
            }
        }
        for node in &mut self.nodes {
            let path = std::mem::take(&mut node.labelled_by);
            if let Some(name) = names.get(path.as_str()) {
                node.label.clone_from(name);
            }
        }
        Ok(())
    }
}

/// The displayed value, from the attribute `valuetext`. `0` counts as blank: it is what Chromium
/// reports for a part of a date that is not set. A part that is set has two digits or more.
fn value_text(r: &mut Reader<'_>) -> Result<Option<String>, WireError> {
    let text = decode::attribute(r, "valuetext")?;
    Ok(text.map(|text| if text == "0" { String::new() } else { text }))
}
