//! The thread that owns the selection.

use std::path::Path;
use std::rc::Rc;
use std::sync::mpsc::TryRecvError;
use std::time::{Duration, Instant};

use deskline_contract::clipboard::{
    Board, HINT, HINT_DATA, Lending, Order, Reading, SAVES, TEXT_TYPES,
};
use deskline_contract::{Cancel, DisplayError, Error, Result};
use deskline_unix::wait;
use deskline_unix::worker::Inbox;
use rustix::event::{PollFd, PollFlags};
use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::protocol::xfixes::{ConnectionExt as _, SelectionEventMask};
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ConnectionExt as _, EventMask, PropMode, SelectionNotifyEvent, Timestamp,
    Window,
};
use x11rb::protocol::{Event, res};
use x11rb::wrapper::ConnectionExt as _;

use crate::connection::{self, Connection, SLICE};
use crate::{Answer as _, During as _};

pub(super) const WHAT: &str = "using the clipboard";

/// How long the owner may take to hand over a short text.
const TEXT: Duration = Duration::from_millis(300);

/// How long the clipboard manager may take to save the data before the thread ends.
const HANDS_OVER: Duration = Duration::from_secs(1);

x11rb::atom_manager! {
    /// The atoms of selections.
    pub(super) Names:
    NamesCookie {
        ATOM_PAIR, CLIPBOARD, CLIPBOARD_MANAGER, INCR, MULTIPLE, SAVE_TARGETS, TARGETS, TEXT,
        TIMESTAMP, UTF8_STRING, _DESKLINE_CLIPBOARD, _DESKLINE_TIME,
    }
}

/// The data of one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) target: Atom,
    /// The type of the data.
    pub(super) kind: Atom,
    /// The bits per unit: 8, 16 or 32.
    pub(super) format: u8,
    pub(super) data: Rc<[u8]>,
}

/// The whole content of the clipboard. Empty if the selection has no owner.
pub(super) type Content = Rc<[Item]>;

/// Data on its way to a client in parts.
pub(super) struct Transfer {
    pub(super) requestor: Window,
    pub(super) property: Atom,
    pub(super) item: Item,
    pub(super) sent: usize,
    pub(super) last: Instant,
    /// The process that the agent's text is for; `None` for the person's data.
    pub(super) reader: Option<u32>,
}

/// The content of the owned selection.
pub(super) struct Owned {
    pub(super) content: Content,
    pub(super) since: Timestamp,
    /// The process that the agent's text is for; `None` for the person's data.
    pub(super) reader: Option<u32>,
}

pub(super) struct Keeper {
    pub(super) c: Connection,
    pub(super) own: Window,
    pub(super) names: Names,
    pub(super) has_res: bool,
    pub(super) owned: Option<Owned>,
    /// Whether another client has taken the selection since the last `take_changed`.
    changed: bool,
    pub(super) transfers: Vec<Transfer>,
    /// The answer to our last `ConvertSelection`.
    pub(super) notify: Option<SelectionNotifyEvent>,
    /// The properties of our window that were set since the list was last cleared.
    pub(super) arrived: Vec<Atom>,
    time: Option<Timestamp>,
    pub(super) reading: Reading,
}

/// Runs the thread until the handle is dropped or the connection is lost.
pub(super) fn run(
    display: &str,
    xauthority: Option<&Path>,
    reading: Reading,
    inbox: &Inbox<Order>,
) {
    let mut keeper = match Keeper::connect(display, xauthority, reading) {
        Ok(keeper) => keeper,
        Err(error) => {
            tracing::warn!(%error, "no clipboard");
            return;
        }
    };
    let mut lending = Lending::default();
    let ended = keeper.work(&mut lending, inbox);
    let ended = ended.and_then(|()| lending.give_back(&mut keeper));
    if let Err(error) = ended.and_then(|()| keeper.hand_over()) {
        tracing::warn!(%error, "the clipboard's thread ended");
    }
}

impl Keeper {
    fn connect(display: &str, xauthority: Option<&Path>, reading: Reading) -> Result<Self> {
        let (c, screen) = connection::open(display, xauthority)?;
        let root = connection::root_of(&c, screen)?;
        let own = connection::own_window(&c, root, EventMask::PROPERTY_CHANGE)?;
        let names = Names::new(&c).during(WHAT)?.reply().during(WHAT)?;
        let has_res = c.extension_information(res::X11_EXTENSION_NAME);
        let has_res = has_res.during(WHAT)?.is_some();
        c.xfixes_query_version(5, 0).answer(WHAT)?;
        let mask = SelectionEventMask::SET_SELECTION_OWNER
            | SelectionEventMask::SELECTION_WINDOW_DESTROY
            | SelectionEventMask::SELECTION_CLIENT_CLOSE;
        c.xfixes_select_selection_input(own, names.CLIPBOARD, mask)
            .during(WHAT)?;
        c.flush().during(WHAT)?;
        Ok(Self {
            c,
            own,
            names,
            has_res,
            owned: None,
            changed: false,
            transfers: Vec::new(),
            notify: None,
            arrived: Vec::new(),
            time: None,
            reading,
        })
    }

    fn work(&mut self, lending: &mut Lending<Content>, inbox: &Inbox<Order>) -> Result<()> {
        while !self.c.stream().lost() {
            self.hear()?;
            match inbox.next() {
                Ok(order) => lending.obey(self, order),
                Err(TryRecvError::Empty) => {
                    let due = self.next_timeout();
                    let events = PollFd::new(self.c.stream(), PollFlags::IN);
                    wait::any(&mut [inbox.poll(), events], due).map_err(Error::system(WHAT))?;
                    inbox.awake();
                }
                Err(TryRecvError::Disconnected) => break,
            }
        }
        Ok(())
    }

    fn atom(&self, name: &str) -> Result<Atom> {
        let reply = self.c.intern_atom(false, name.as_bytes()).answer(WHAT)?;
        Ok(reply.atom)
    }

    pub(super) fn owner(&self) -> Result<Window> {
        let owner = self.c.get_selection_owner(self.names.CLIPBOARD);
        Ok(owner.answer(WHAT)?.owner)
    }

    /// The server's time.
    pub(super) fn now(&mut self) -> Result<Timestamp> {
        self.time = None;
        let (property, kind) = (self.names._DESKLINE_TIME, AtomEnum::STRING);
        let appended = self
            .c
            .change_property8(PropMode::APPEND, self.own, property, kind, &[]);
        appended.during(WHAT)?;
        self.c.sync().during(WHAT)?;
        self.hear()?;
        Ok(self.time.unwrap_or(x11rb::CURRENT_TIME))
    }

    fn handle(&mut self, event: &Event) -> Result<()> {
        match event {
            Event::PropertyNotify(notify) if notify.window == self.own => {
                self.time = Some(notify.time);
                if notify.state == x11rb::protocol::xproto::Property::NEW_VALUE {
                    self.arrived.push(notify.atom);
                }
            }
            Event::PropertyNotify(notify) => self.go_on(notify)?,
            Event::SelectionNotify(notify) if notify.requestor == self.own => {
                self.notify = Some(*notify);
            }
            Event::SelectionRequest(request) => self.serve(request)?,
            Event::SelectionClear(clear) if clear.selection == self.names.CLIPBOARD => {
                let since = self.owned.as_ref().map(|owned| owned.since);
                if since.is_some_and(|since| is_after(clear.time, since)) {
                    self.owned = None;
                }
            }
            Event::XfixesSelectionNotify(notify) if notify.owner != self.own => {
                self.changed = true;
            }
            _ => {}
        }
        Ok(())
    }

    /// Handles events until `wanted` returns something, at most until `until`.
    pub(super) fn await_some<T>(
        &mut self,
        until: Instant,
        cancel: &Cancel,
        mut wanted: impl FnMut(&mut Self) -> Option<T>,
    ) -> Result<Option<T>> {
        let limit = until.saturating_duration_since(Instant::now());
        connection::until(
            self,
            |it| &it.c,
            (limit, SLICE),
            (cancel, WHAT),
            |it| {
                it.hear()?;
                Ok(wanted(it))
            },
        )
    }

    /// Asks the clipboard manager to save the owned data, before this process ends.
    fn hand_over(&mut self) -> Result<()> {
        let Some(content) = self.owned.as_ref().map(|owned| Rc::clone(&owned.content)) else {
            return Ok(());
        };
        let manager = self.names.CLIPBOARD_MANAGER;
        let owner = self.c.get_selection_owner(manager).answer(WHAT)?;
        if owner.owner == x11rb::NONE {
            return Ok(());
        }
        let targets: Vec<Atom> = content.iter().map(|item| item.target).collect();
        let property = self.names._DESKLINE_CLIPBOARD;
        self.put(self.own, property, AtomEnum::ATOM, &targets)?;
        let time = self.now()?;
        self.notify = None;
        self.c
            .convert_selection(self.own, manager, self.names.SAVE_TARGETS, property, time)
            .during(WHAT)?;
        let until = Instant::now() + HANDS_OVER;
        self.await_some(until, &Cancel::new(), |it| it.notify)?;
        Ok(())
    }
}

impl Board for Keeper {
    type Content = Content;

    fn hear(&mut self) -> Result<()> {
        while let Some(event) = self.c.poll_for_event().during(WHAT)? {
            self.handle(&event)?;
        }
        self.drop_stalled()?;
        self.c.flush().during(WHAT)
    }

    fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    fn fetch(&mut self, cancel: &Cancel) -> Result<(Content, Option<String>)> {
        self.fetch_all(Instant::now() + SAVES, cancel)
    }

    fn fetch_text(&mut self) -> Result<Option<Vec<u8>>> {
        let text = self.convert_text(Instant::now() + TEXT)?;
        Ok(text.map(|data| data.to_vec()))
    }

    fn text(&self, text: &str) -> Result<Content> {
        let bytes: Rc<[u8]> = text.as_bytes().into();
        let mut content = Vec::new();
        let utf8 = self.names.UTF8_STRING;
        for name in TEXT_TYPES {
            let target = self.atom(name)?;
            let kind = if name == "UTF8_STRING" { utf8 } else { target };
            content.push((target, kind, Rc::clone(&bytes)));
        }
        content.push((self.names.TEXT, utf8, Rc::clone(&bytes)));
        let latin: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
        if let Some(latin) = latin {
            let string = AtomEnum::STRING.into();
            content.push((string, string, latin.into()));
        }
        // The hint must be last: see `note_reader`.
        let hint = self.atom(HINT)?;
        content.push((hint, hint, HINT_DATA.into()));
        let item = |(target, kind, data)| Item {
            target,
            kind,
            format: 8,
            data,
        };
        Ok(content.into_iter().map(item).collect())
    }

    fn own(&mut self, content: Content, reader: Option<u32>) -> Result<()> {
        let since = self.now()?;
        let empty = content.is_empty();
        let owner = if empty { x11rb::NONE } else { self.own };
        self.c
            .set_selection_owner(owner, self.names.CLIPBOARD, since)
            .during(WHAT)?;
        // This is set before the reply is read, because requests of other clients may arrive before
        // the reply.
        self.owned = (!empty).then_some(Owned {
            content,
            since,
            reader,
        });
        if self.owner()? != owner {
            self.owned = None;
            return Err(DisplayError::ClipboardTaken.into());
        }
        self.hear()
    }

    fn owned(&self) -> Option<(Content, bool)> {
        let owned = self.owned.as_ref()?;
        Some((Rc::clone(&owned.content), owned.reader.is_some()))
    }
}

/// Whether the server time `a` is `b` or later. The clock wraps every 49 days.
pub(super) fn is_after(a: Timestamp, b: Timestamp) -> bool {
    a.wrapping_sub(b) < 1 << 31
}
