//! The pasteboard.

use std::time::Duration;

use deskline_contract::wait::pause;

use super::World;
use crate::os::{Asked, PasteboardItem};

/// The content of the pasteboard.
#[derive(Default)]
pub(crate) struct Pasteboard {
    pub(crate) changes: i64,
    pub(crate) items: Vec<PasteboardItem>,
    /// The text that our program has promised.
    promise: Option<(String, Asked)>,
    /// The types whose data the owning app does not return.
    pub(crate) withheld: Option<&'static str>,
    /// Whether a clipboard manager reads each new text.
    pub(crate) watched: bool,
    /// Another program copies this when the data of a type is read for the first time.
    pub(crate) copied_meanwhile: Option<Vec<PasteboardItem>>,
}

const TEXT: &str = "public.utf8-plain-text";

impl Pasteboard {
    /// Another program copies these items.
    pub(crate) fn copy(&mut self, items: Vec<PasteboardItem>) -> i64 {
        self.changes += 1;
        self.items = items;
        self.promise = None;
        self.changes
    }

    pub(super) fn types(&self) -> Vec<Vec<String>> {
        let types = |item: &PasteboardItem| item.iter().map(|(kind, _)| kind.clone()).collect();
        self.items.iter().map(types).collect()
    }

    pub(super) fn data(
        &mut self,
        item: usize,
        kind: &str,
        time: Duration,
    ) -> Result<Option<Vec<u8>>, String> {
        if self.withheld == Some(kind) {
            pause(time);
            return Err("timed out".into());
        }
        if let Some(items) = self.copied_meanwhile.take() {
            self.copy(items);
        }
        let item = self.items.get(item).into_iter().flatten();
        let mut data = item.filter(|(known, _)| known == kind);
        Ok(data.next().map(|(_, data)| data.clone()))
    }

    pub(super) fn promise(&mut self, text: &str, marks: &[&'static str], asked: Asked) -> i64 {
        let marks = marks.iter().map(|mark| ((*mark).to_owned(), Vec::new()));
        self.copy(vec![marks.collect()]);
        if self.watched {
            asked();
        }
        self.promise = Some((text.to_owned(), asked));
        self.changes
    }

    /// The text, as an app reads it.
    fn text(&self) -> Option<String> {
        if let Some((text, asked)) = &self.promise {
            asked();
            return Some(text.clone());
        }
        let mut all = self.items.iter().flatten();
        let (_, data) = all.find(|(kind, _)| kind == TEXT)?;
        Some(String::from_utf8_lossy(data).into_owned())
    }
}

/// The effect of Command+V in an app.
pub(crate) fn paste(world: &mut World) {
    if let Some(text) = world.pasteboard.text() {
        world.type_in(&text);
    }
}
