//! Reads all targets of another client's clipboard. Large data comes in parts (INCR).

use std::rc::Rc;
use std::time::Instant;

use deskline_contract::clipboard::{MOST_SAVED, NO_DATA, SAVES, lost_formats, order};
use deskline_contract::{Cancel, DisplayError, Result};
use x11rb::protocol::xproto::{Atom, AtomEnum, ConnectionExt as _, Timestamp};

use super::keeper::{Content, Item, Keeper, WHAT};
use crate::{Answer as _, During as _, Present as _};

/// The maximum number of targets to read from a clipboard. LibreOffice offers some forty.
const MOST_TARGETS: usize = 200;

/// Types of data that are ids of the owner's resources, which the owner frees.
#[rustfmt::skip]
const RESOURCES: [AtomEnum; 5] = [
    AtomEnum::BITMAP, AtomEnum::COLORMAP, AtomEnum::DRAWABLE, AtomEnum::PIXMAP, AtomEnum::WINDOW,
];

/// The type of the data, the bits per unit (8, 16 or 32), and the data.
type Data = (Atom, u8, Vec<u8>);

/// Why there is no data of a target.
enum Missing {
    Refused,
    Late,
    TooLarge,
}

impl Item {
    fn names_resource(&self) -> bool {
        self.format == 32 && RESOURCES.iter().any(|kind| Atom::from(*kind) == self.kind)
    }
}

impl Keeper {
    /// The content of another client's clipboard, and a note on the types that were left out.
    pub(super) fn fetch_all(
        &mut self,
        until: Instant,
        cancel: &Cancel,
    ) -> Result<(Content, Option<String>)> {
        if self.owner()? == x11rb::NONE {
            return Ok((Content::default(), None));
        }
        let time = self.now()?;
        let targets = self.targets(time, until, cancel)?;
        let mut targets = self.named(&targets)?;
        let needed = order(&mut targets, |(_, name)| name);
        let mut left = MOST_SAVED;
        let mut items = Vec::new();
        let mut lost = 0;
        for (index, (target, name)) in targets.iter().enumerate() {
            match self.convert(*target, time, left, until, cancel)? {
                Ok(item) if item.names_resource() => {}
                Ok(item) => {
                    left = left.saturating_sub(item.data.len());
                    items.push(item);
                }
                Err(Missing::Refused) => {}
                Err(_) if index >= needed => lost += 1,
                Err(Missing::Late) => {
                    return Err(DisplayError::ClipboardLate(name.clone(), SAVES).into());
                }
                Err(Missing::TooLarge) => {
                    return Err(DisplayError::ClipboardTooLarge(MOST_SAVED).into());
                }
            }
        }
        Ok((items.into(), lost_formats(lost)))
    }

    /// The text on the clipboard.
    pub(super) fn convert_text(&mut self, until: Instant) -> Result<Option<Rc<[u8]>>> {
        let time = self.now()?;
        let utf8 = self.names.UTF8_STRING;
        let text = self.convert(utf8, time, MOST_SAVED, until, &Cancel::new())?;
        Ok(text.ok().map(|item| item.data))
    }

    /// The targets that the owner offers. Assumes text if the owner does not support TARGETS.
    fn targets(&mut self, time: Timestamp, until: Instant, cancel: &Cancel) -> Result<Vec<Atom>> {
        let target = self.names.TARGETS;
        match self.convert(target, time, 1 << 16, until, cancel)? {
            Ok(item) if item.format == 32 => Ok(item
                .data
                .chunks_exact(4)
                .filter_map(|bytes| Some(Atom::from_ne_bytes(bytes.try_into().ok()?)))
                .take(MOST_TARGETS)
                .collect()),
            Ok(_) | Err(Missing::Refused) => {
                Ok(vec![self.names.UTF8_STRING, AtomEnum::STRING.into()])
            }
            Err(Missing::Late) => Err(DisplayError::ClipboardLate("TARGETS".into(), SAVES).into()),
            Err(Missing::TooLarge) => Err(DisplayError::ClipboardTooLarge(MOST_SAVED).into()),
        }
    }

    /// Adds the targets' names. Drops duplicates, and targets that have no data, such as MULTIPLE.
    fn named(&self, targets: &[Atom]) -> Result<Vec<(Atom, String)>> {
        let ask = |target: &Atom| Ok((*target, self.c.get_atom_name(*target).during(WHAT)?));
        let asked = targets.iter().map(ask).collect::<Result<Vec<_>>>()?;
        let mut named = Vec::new();
        for (target, cookie) in asked {
            let Some(reply) = cookie.reply().present(WHAT)? else {
                continue;
            };
            let name = String::from_utf8_lossy(&reply.name).into_owned();
            let known = named.iter().any(|(known, _)| *known == target);
            if !known && !NO_DATA.contains(&name.as_str()) {
                named.push((target, name));
            }
        }
        Ok(named)
    }

    /// Asks the owner to convert its selection, and reads the result.
    fn convert(
        &mut self,
        target: Atom,
        time: Timestamp,
        most: usize,
        until: Instant,
        cancel: &Cancel,
    ) -> Result<Result<Item, Missing>> {
        let (clipboard, property) = (self.names.CLIPBOARD, self.names._DESKLINE_CLIPBOARD);
        self.c.delete_property(self.own, property).during(WHAT)?;
        self.notify = None;
        self.c
            .convert_selection(self.own, clipboard, target, property, time)
            .during(WHAT)?;
        let answer = self.await_some(until, cancel, |it| {
            let answer = it.notify.take();
            answer.filter(|n| n.selection == clipboard && n.target == target)
        })?;
        let Some(notify) = answer else {
            return Ok(Err(Missing::Late));
        };
        if notify.property != property {
            return Ok(Err(Missing::Refused));
        }
        let Some((kind, format, data)) = self.take(most)? else {
            return Ok(Err(Missing::TooLarge));
        };
        let whole = if kind == self.names.INCR {
            self.take_parts(most, until, cancel)?
        } else {
            Ok((kind, format, data))
        };
        Ok(whole.map(|(kind, format, data)| Item {
            target,
            kind,
            format,
            data: data.into(),
        }))
    }

    /// Reads the property that the owner has written, and deletes it. `None` if it is larger than
    /// `most`.
    fn take(&mut self, most: usize) -> Result<Option<Data>> {
        let property = self.names._DESKLINE_CLIPBOARD;
        // Only a property set after this deletion is the next part.
        self.arrived.clear();
        let units = u32::try_from(most / 4 + 1).unwrap_or(u32::MAX);
        let reply = self
            .c
            .get_property(true, self.own, property, AtomEnum::ANY, 0, units)
            .answer(WHAT)?;
        if reply.bytes_after > 0 || reply.value.len() > most {
            self.c.delete_property(self.own, property).during(WHAT)?;
            return Ok(None);
        }
        Ok(Some((reply.type_, reply.format, reply.value)))
    }

    /// Reads the parts of an INCR transfer, up to the empty part that ends it.
    fn take_parts(
        &mut self,
        most: usize,
        until: Instant,
        cancel: &Cancel,
    ) -> Result<Result<Data, Missing>> {
        let property = self.names._DESKLINE_CLIPBOARD;
        let mut all = Vec::new();
        loop {
            let there = |it: &mut Self| it.arrived.contains(&property).then_some(());
            if self.await_some(until, cancel, there)?.is_none() {
                return Ok(Err(Missing::Late));
            }
            let Some((kind, format, part)) = self.take(most - all.len())? else {
                return Ok(Err(Missing::TooLarge));
            };
            if part.is_empty() {
                return Ok(Ok((kind, format, all)));
            }
            all.extend(part);
        }
    }
}
