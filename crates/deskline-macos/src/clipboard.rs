//! The pasteboard: saves, replaces and restores it with all items and types. The system's server
//! keeps the data, so this process need not serve it afterwards.

use std::time::Duration;

use deskline_contract::clipboard::{MOST_SAVED, Reading, SAVES};
use deskline_contract::{Cancel, Clipboard, DisplayError, Error, Result};
use deskline_core::{Key, KeyPress, Modifiers};
use deskline_input::clock::Instant;

use crate::os::{Os, PasteboardItem};

/// The marks by which clipboard managers skip a text that is there only for a moment.
/// <http://nspasteboard.org>
const MARKS: [&str; 2] = [
    "org.nspasteboard.TransientType",
    "org.nspasteboard.ConcealedType",
];

/// The start of the types for promised files: an app writes such a file only when another app
/// pastes it, and the pasteboard has no data.
const PROMISED_FILE: &str = "com.apple.pasteboard.promised-file";

/// If the text is read this soon after the paste key, another program may have read it: the app may
/// not have got the key yet.
const SOON: Duration = Duration::from_millis(2);

/// How long the app may take to read the text too, if it was read within [`SOON`].
const READS_AGAIN: Duration = Duration::from_millis(200);

/// The person's pasteboard, with the `changeCount` that it had.
struct Saved {
    changes: i64,
    items: Vec<PasteboardItem>,
}

pub(crate) struct Pasteboard<O> {
    os: O,
    saved: Option<Saved>,
    /// The `changeCount` after the agent's text was put on the pasteboard.
    lent: Option<i64>,
    reading: Reading,
}

impl<O: Os> Pasteboard<O> {
    pub(crate) fn new(os: O) -> Self {
        Self {
            os,
            saved: None,
            lent: None,
            reading: Reading::default(),
        }
    }

    /// Reads all data. `None` if somebody has copied something meanwhile.
    fn read(&self, until: Instant, cancel: &Cancel) -> Result<Option<Saved>> {
        let changes = self.os.pasteboard_changes();
        let mut left = MOST_SAVED;
        let mut items = Vec::new();
        for (index, types) in self.os.pasteboard_types().into_iter().enumerate() {
            if types.iter().any(|kind| kind.starts_with(PROMISED_FILE)) {
                return Err(DisplayError::ClipboardPromised.into());
            }
            let mut item = PasteboardItem::new();
            for kind in types {
                cancel.check()?;
                let time = until.saturating_duration_since(Instant::now());
                let data = self.os.pasteboard_data(index, &kind, time);
                // A type has no data if its app has promised the data but does not provide it.
                let Some(data) =
                    data.map_err(|_| DisplayError::PasteboardLate(kind.clone(), SAVES))?
                else {
                    continue;
                };
                left = left
                    .checked_sub(data.len())
                    .ok_or(DisplayError::ClipboardTooLarge(MOST_SAVED))?;
                item.push((kind, data));
            }
            items.push(item);
        }
        let same = self.os.pasteboard_changes() == changes;
        Ok(same.then_some(Saved { changes, items }))
    }
}

impl<O: Os> Clipboard for Pasteboard<O> {
    fn save(&mut self, cancel: &Cancel) -> Result<Option<String>> {
        self.saved = None;
        let until = Instant::now() + SAVES;
        while self.saved.is_none() {
            self.saved = self.read(until, cancel)?;
        }
        Ok(None)
    }

    fn offer(&mut self, text: &str, _: u32, cancel: &Cancel) -> Result<()> {
        let changes = self.os.pasteboard_changes();
        if self.saved.as_ref().is_none_or(|it| it.changes != changes) {
            self.save(cancel)?;
        }
        self.reading.set(false);
        let reading = self.reading.clone();
        let asked = Box::new(move || reading.set(true));
        let lent = self.os.pasteboard_promise(text, &MARKS, asked);
        self.lent = Some(lent.map_err(Error::system("writing to the pasteboard"))?);
        Ok(())
    }

    fn await_reader(&mut self, cancel: &Cancel) -> Result<bool> {
        let asked = Instant::now();
        let read = self.reading.await_it(cancel)?;
        if read && asked.elapsed() < SOON {
            // Clipboard managers read a new text at once. The system reports only the first reader,
            // so it is not known when the app reads the text.
            cancel.wait(READS_AGAIN)?;
        }
        Ok(read)
    }

    fn give_back(&mut self) -> Result<()> {
        let (Some(lent), Some(saved)) = (self.lent.take(), self.saved.take()) else {
            return Ok(());
        };
        if self.os.pasteboard_changes() == lent {
            let written = self.os.pasteboard_write(saved.items);
            written.map_err(Error::system("writing to the pasteboard"))?;
        }
        Ok(())
    }

    fn keys(&self, _terminal: bool) -> KeyPress {
        KeyPress::new(Key::Char('v'), Modifiers::COMMAND)
    }
}
