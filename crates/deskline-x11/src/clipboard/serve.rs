//! Answers requests for the selection; sends large data in parts (INCR).

use std::time::{Duration, Instant};

use deskline_contract::Result;
use deskline_unix::process;
use x11rb::protocol::res::{ClientIdMask, ClientIdSpec, ConnectionExt as _};
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, PropMode, Property,
    PropertyNotifyEvent, SELECTION_NOTIFY_EVENT, SelectionNotifyEvent, SelectionRequestEvent,
    Window,
};
use x11rb::wrapper::ConnectionExt as _;

use super::keeper::{Item, Keeper, Transfer, WHAT, is_after};
use crate::{Answer as _, During as _, Present as _};

/// The maximum number of bytes in a property. Larger data goes in parts of this size.
const PART: usize = 256 << 10;

/// A transfer ends if the client does not fetch a part within this time.
const STALLS: Duration = Duration::from_secs(10);

impl Keeper {
    pub(super) fn serve(&mut self, request: &SelectionRequestEvent) -> Result<()> {
        // Obsolete clients pass None as the property (ICCCM §2.2).
        let property = match request.property {
            x11rb::NONE => request.target,
            property => property,
        };
        let served = self.may_serve(request) && self.answer(request, property)?;
        let notify = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: request.time,
            requestor: request.requestor,
            selection: request.selection,
            target: request.target,
            property: if served { property } else { x11rb::NONE },
        };
        self.c
            .send_event(false, request.requestor, EventMask::NO_EVENT, notify)
            .sent(WHAT)
    }

    fn may_serve(&self, request: &SelectionRequestEvent) -> bool {
        let owned = self.owned.as_ref();
        request.selection == self.names.CLIPBOARD
            && owned.is_some_and(|owned| {
                request.time == x11rb::CURRENT_TIME || is_after(request.time, owned.since)
            })
    }

    /// Writes the requested target to `property`. `false` if the target is not offered.
    fn answer(&mut self, request: &SelectionRequestEvent, property: Atom) -> Result<bool> {
        let Some(owned) = &self.owned else {
            return Ok(false);
        };
        let (names, window) = (self.names, request.requestor);
        if request.target == names.TARGETS {
            let own = [names.TARGETS, names.MULTIPLE, names.TIMESTAMP];
            let theirs = owned.content.iter().map(|item| item.target);
            let targets: Vec<Atom> = own.into_iter().chain(theirs).collect();
            self.put(window, property, AtomEnum::ATOM, &targets)?;
            return Ok(true);
        }
        if request.target == names.TIMESTAMP {
            self.put(window, property, AtomEnum::INTEGER, &[owned.since])?;
            return Ok(true);
        }
        if request.target == names.MULTIPLE {
            return self.answer_several(window, property);
        }
        self.write_item(window, request.target, property)
    }

    /// Sets a property to these numbers.
    pub(super) fn put(
        &self,
        window: Window,
        property: Atom,
        kind: impl Into<Atom>,
        numbers: &[u32],
    ) -> Result<()> {
        let set = self
            .c
            .change_property32(PropMode::REPLACE, window, property, kind, numbers);
        set.sent(WHAT)
    }

    fn answer_several(&mut self, window: Window, property: Atom) -> Result<bool> {
        let pairs = self
            .c
            .get_property(false, window, property, AtomEnum::ANY, 0, 1 << 10)
            .during(WHAT)?;
        let pairs = pairs.reply().present(WHAT)?;
        let Some(pairs) = pairs.as_ref().and_then(|pairs| pairs.value32()) else {
            return Ok(false);
        };
        let mut pairs: Vec<Atom> = pairs.collect();
        for pair in pairs.chunks_exact_mut(2) {
            if let [target, place] = pair
                && !self.write_item(window, *target, *place)?
            {
                *place = x11rb::NONE;
            }
        }
        self.put(window, property, self.names.ATOM_PAIR, &pairs)?;
        Ok(true)
    }

    /// Writes the data of a target to a property, or starts an INCR transfer.
    fn write_item(&mut self, window: Window, target: Atom, property: Atom) -> Result<bool> {
        let Some(owned) = &self.owned else {
            return Ok(false);
        };
        let Some(item) = owned.content.iter().find(|item| item.target == target) else {
            return Ok(false);
        };
        let (item, reader) = (item.clone(), owned.reader);
        if item.data.len() <= PART {
            self.write(window, property, &item, 0..item.data.len())?;
            self.note_reader(window, target, reader)?;
            return Ok(true);
        }
        let aux = ChangeWindowAttributesAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        self.c.change_window_attributes(window, &aux).during(WHAT)?;
        let size = u32::try_from(item.data.len()).unwrap_or(u32::MAX);
        self.put(window, property, self.names.INCR, &[size])?;
        self.transfers.push(Transfer {
            requestor: window,
            property,
            item,
            sent: 0,
            last: Instant::now(),
            reader,
        });
        Ok(true)
    }

    fn write(
        &self,
        window: Window,
        property: Atom,
        item: &Item,
        part: std::ops::Range<usize>,
    ) -> Result<()> {
        let data = item.data.get(part).unwrap_or_default();
        let (kind, format) = (item.kind, item.format.max(8));
        let length = u32::try_from(data.len() / usize::from(format / 8)).unwrap_or(u32::MAX);
        let (c, mode) = (&self.c, PropMode::REPLACE);
        c.change_property(mode, window, property, kind, format, length, data)
            .sent(WHAT)
    }

    /// Sends the next part after the client has deleted the property; an empty part is the last.
    pub(super) fn go_on(&mut self, notify: &PropertyNotifyEvent) -> Result<()> {
        let its = |t: &Transfer| t.requestor == notify.window && t.property == notify.atom;
        let Some(at) = self.transfers.iter().position(its) else {
            return Ok(());
        };
        if notify.state != Property::DELETE {
            return Ok(());
        }
        let mut transfer = self.transfers.swap_remove(at);
        let end = (transfer.sent + PART).min(transfer.item.data.len());
        let part = transfer.sent..end;
        let ended = part.is_empty();
        self.write(transfer.requestor, transfer.property, &transfer.item, part)?;
        if ended {
            self.unselect(transfer.requestor)?;
            return self.note_reader(transfer.requestor, transfer.item.target, transfer.reader);
        }
        transfer.sent = end;
        transfer.last = Instant::now();
        self.transfers.push(transfer);
        Ok(())
    }

    fn unselect(&self, window: Window) -> Result<()> {
        if self.transfers.iter().any(|t| t.requestor == window) {
            return Ok(());
        }
        let aux = ChangeWindowAttributesAux::new().event_mask(EventMask::NO_EVENT);
        self.c.change_window_attributes(window, &aux).sent(WHAT)
    }

    /// Notes that a window of the reader has fetched the agent's text. Fetching only the hint, the
    /// last item, does not count.
    fn note_reader(&self, window: Window, target: Atom, reader: Option<u32>) -> Result<()> {
        let Some((reader, owned)) = reader.zip(self.owned.as_ref()) else {
            return Ok(());
        };
        if owned
            .content
            .last()
            .is_some_and(|hint| hint.target == target)
        {
            return Ok(());
        }
        let pid = self.pid(window)?;
        if pid.is_none_or(|pid| pid == reader || process::descends(pid, reader)) {
            self.reading.set(true);
        }
        Ok(())
    }

    fn pid(&self, window: Window) -> Result<Option<u32>> {
        if !self.has_res {
            return Ok(None);
        }
        let spec = ClientIdSpec {
            client: window,
            mask: ClientIdMask::LOCAL_CLIENT_PID,
        };
        let ids = self
            .c
            .res_query_client_ids(&[spec])
            .answer_if_present(WHAT)?;
        Ok(ids.and_then(|ids| ids.ids.first()?.value.first().copied()))
    }

    /// Drops transfers that clients have abandoned.
    pub(super) fn drop_stalled(&mut self) -> Result<()> {
        let stalled: Vec<_> = self
            .transfers
            .extract_if(.., |t| t.last.elapsed() >= STALLS)
            .collect();
        stalled
            .iter()
            .try_for_each(|transfer| self.unselect(transfer.requestor))
    }

    /// The time until the next call of `drop_stalled` is due.
    pub(super) fn next_timeout(&self) -> Option<Duration> {
        (!self.transfers.is_empty()).then_some(STALLS)
    }
}
