//! Waits for the server, for an event, and for an app to have read its input.
//!
//! An app reads its input in order. So if a `_NET_WM_PING` (EWMH) is sent after synthetic input,
//! its answer proves that the app has read the input. A round trip to the server proves nothing
//! about the app. So pings are used before a key code is rebound and before a drag ends, and to
//! pace input.

use std::time::{Duration, Instant};

use deskline_contract::{Cancel, Result};
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, EventMask,
    MapState, Mapping, PropMode, Window,
};
use x11rb::wrapper::ConnectionExt as _;

use super::connection::{self, SLICE};
use super::{Answer as _, During as _, Present as _, X11};

/// An app that does not read its input within this time counts as hung.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// How long an app may take to answer its first ping. An app that takes longer counts as one that
/// answers no pings, even if its `WM_PROTOCOLS` has pings.
const FIRST_ANSWER: Duration = Duration::from_secs(1);

/// The pause for an app that does not support `_NET_WM_PING`. Idle apps have always read a binding
/// within 5 ms; this allows for a busy app.
const UNPINGABLE: Duration = Duration::from_millis(25);

/// The maximum depth of a chain of windows up to the root.
pub(super) const DEEPEST: usize = 32;

impl X11 {
    /// Waits until the server has processed all requests.
    pub(super) fn round_trip(&self) -> Result<()> {
        self.connection.sync().during("waiting for the X server")
    }

    /// Reads the pending events.
    pub(super) fn hear(&mut self) -> Result<()> {
        let what = "reading events";
        while let Some(event) = self.connection.poll_for_event().during(what)? {
            match event {
                Event::ClientMessage(message) if message.type_ == self.atoms.WM_PROTOCOLS => {
                    let [protocol, number, ..] = message.data.as_data32();
                    if protocol == self.atoms._NET_WM_PING {
                        self.heard.pong = number;
                    }
                }
                Event::ClientMessage(message) if message.type_ == self.atoms._NET_ACTIVE_WINDOW => {
                    self.heard.asked_for.push(message.window);
                }
                Event::PropertyNotify(notify) if notify.window == self.own => {
                    self.heard.time = Some(notify.time);
                    self.heard.manager_answered |= notify.atom == self.atoms._NET_FRAME_EXTENTS;
                }
                Event::MappingNotify(notify) if notify.request == Mapping::KEYBOARD => {
                    self.heard.keymap = Some((notify.first_keycode, notify.count));
                }
                Event::DamageNotify(_) => self.heard.damage += 1,
                Event::MapNotify(map) if map.override_redirect => self.heard.popup_mapped = true,
                _ => {}
            }
        }
        Ok(())
    }

    /// Waits until `done` returns true. Calls `done` after each event and each [`SLICE`]. `false`
    /// if `limit` passes first.
    pub(super) fn wait_until(
        &mut self,
        limit: Duration,
        cancel: &Cancel,
        mut done: impl FnMut(&mut Self) -> Result<bool>,
    ) -> Result<bool> {
        let times = (limit, SLICE);
        let whose = (cancel, "waiting for an event");
        let there = connection::until(
            self,
            |x11| &x11.connection,
            times,
            whose,
            |x11| {
                x11.hear()?;
                Ok(done(x11)?.then_some(()))
            },
        )?;
        Ok(there.is_some())
    }

    /// Selects events of the root window until `unwatch_root`. They are not always selected,
    /// because they would pile up while this process idles for hours.
    pub(super) fn watch_root(&mut self) -> Result<()> {
        self.hear()?;
        self.heard.asked_for = vec![x11rb::NONE];
        // EWMH sends answers to pings to SubstructureNotify; Qt 5 sends them to StructureNotify.
        let structure = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::STRUCTURE_NOTIFY;
        self.select_on_root(EventMask::PROPERTY_CHANGE | structure)
    }

    pub(super) fn unwatch_root(&mut self) -> Result<()> {
        self.select_on_root(EventMask::NO_EVENT)?;
        self.connection.flush().during("watching the root window")
    }

    fn select_on_root(&self, mask: EventMask) -> Result<()> {
        let aux = ChangeWindowAttributesAux::new().event_mask(mask);
        let selected = self.connection.change_window_attributes(self.root, &aux);
        selected.during("watching the root window").map(drop)
    }

    /// Runs `step` with events of the root window selected.
    pub(super) fn watching_root<T>(
        &mut self,
        step: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.watch_root()?;
        let result = step(self);
        self.unwatch_root()?;
        result
    }

    /// The server's clock. Window managers order requests by it.
    pub(super) fn server_time(&mut self) -> Result<u32> {
        self.heard.time = None;
        let (property, text) = (AtomEnum::WM_NAME, AtomEnum::STRING);
        self.connection
            .change_property8(PropMode::APPEND, self.own, property, text, &[])
            .during("asking for the time")?;
        self.wait_until(PATIENCE, &Cancel::new(), |x11| Ok(x11.heard.time.is_some()))?;
        Ok(self.heard.time.unwrap_or(x11rb::CURRENT_TIME))
    }

    /// Waits until the window manager has handled the clients' requests so far. A window manager
    /// that has never answered is not asked again.
    pub(super) fn await_manager(&mut self, limit: Duration, cancel: &Cancel) -> Result<()> {
        let check = self.atoms._NET_SUPPORTING_WM_CHECK;
        let manager = self.number(self.root, check, AtomEnum::WINDOW)?;
        if manager == self.heard.mute_manager || !self.has_window_manager()? {
            return Ok(());
        }
        if self.manager_answers(limit, cancel)? {
            self.heard.answering_manager = manager;
        } else if manager != self.heard.answering_manager {
            self.heard.mute_manager = manager;
        }
        Ok(())
    }

    /// Waits until there is a window manager and it is ready. `false` if that takes longer than
    /// `limit`.
    ///
    /// `_NET_SUPPORTING_WM_CHECK` is set too early: xfwm4 4.18 sets it, then queries all existing
    /// windows, and exits with `BadWindow` if one of them is destroyed meanwhile.
    pub fn manager_is_ready(&mut self, limit: Duration) -> Result<bool> {
        let cancel = Cancel::new();
        self.watching_root(|x11| {
            Ok(
                x11.wait_until(limit, &cancel, |x11| x11.has_window_manager())?
                    && x11.manager_answers(limit, &cancel)?,
            )
        })
    }

    /// Asks the window manager for the size of the frame that a window would get (EWMH
    /// `_NET_REQUEST_FRAME_EXTENTS`), and waits for the answer. The window manager answers from its
    /// main loop.
    fn manager_answers(&mut self, limit: Duration, cancel: &Cancel) -> Result<bool> {
        self.heard.manager_answered = false;
        let request = self.atoms._NET_REQUEST_FRAME_EXTENTS;
        self.tell_manager(self.own, request, [0; 5])?;
        self.wait_until(limit, cancel, |x11| Ok(x11.heard.manager_answered))
    }

    /// Waits until the app that owns `window` has read its input. Needs [`X11::watch_root`], as the
    /// answer to the ping arrives at the root window. `false` if there is no answer within `limit`
    /// although the app has answered pings before.
    pub(super) fn has_read(
        &mut self,
        window: Option<Window>,
        limit: Duration,
        cancel: &Cancel,
    ) -> Result<bool> {
        let window = window.map_or(Ok(None), |window| self.pingable(window))?;
        let client = window.map(|window| self.client(window));
        let (Some(window), Some(client)) = (window, client) else {
            return self.give_time(cancel).map(|()| true);
        };
        if self.heard.mute.contains(&client) {
            return self.give_time(cancel).map(|()| true);
        }
        let known = self.heard.answering.contains(&client);
        let limit = if known {
            limit
        } else {
            limit.min(FIRST_ANSWER)
        };
        let number = self.ping(window)?;
        let mut looked = Instant::now();
        let mut answered = false;
        let over = self.wait_until(limit, cancel, |x11| {
            answered = x11.heard.pong == number;
            if answered || looked.elapsed() < Duration::from_millis(50) {
                return Ok(answered);
            }
            // A window that has gone does not answer.
            looked = Instant::now();
            Ok(!x11.viewable(window)?)
        })?;
        if answered {
            self.heard.answering.insert(client);
        } else if !over && !known && limit == FIRST_ANSWER {
            self.heard.mute.insert(client);
        }
        Ok(over || !known)
    }

    /// Pauses, for an app that does not answer pings.
    fn give_time(&self, cancel: &Cancel) -> Result<()> {
        self.round_trip()?;
        Ok(cancel.wait(UNPINGABLE)?)
    }

    fn ping(&mut self, window: Window) -> Result<u32> {
        self.heard.ping = self.heard.ping.wrapping_add(1);
        let number = self.heard.ping;
        let data = [self.atoms._NET_WM_PING, number, window, 0, 0];
        let ping = ClientMessageEvent::new(32, window, self.atoms.WM_PROTOCOLS, data);
        self.connection
            .send_event(false, window, EventMask::NO_EVENT, ping)
            .during("asking the app whether it has read its input")?;
        Ok(number)
    }

    /// The window with the keyboard focus, if there is one.
    pub(super) fn focus(&self) -> Result<Option<Window>> {
        let focus = self.connection.get_input_focus();
        let focus = focus.answer("reading the input focus")?.focus;
        // 0 is None, 1 is PointerRoot.
        Ok((focus > 1 && focus != self.root).then_some(focus))
    }

    /// `window` and its ancestors below the root, innermost first.
    pub(super) fn ancestry(&self, window: Window) -> Result<Vec<Window>> {
        let what = "reading the window tree";
        let mut chain = vec![];
        let mut next = window;
        while next != self.root && next != x11rb::NONE && chain.len() < DEEPEST {
            let tree = self.connection.query_tree(next).during(what)?.reply();
            let Some(tree) = tree.present(what)? else {
                break;
            };
            chain.push(next);
            next = tree.parent;
        }
        Ok(chain)
    }

    pub(super) fn viewable(&self, window: Window) -> Result<bool> {
        let what = "looking at a window";
        let attributes = self
            .connection
            .get_window_attributes(window)
            .answer_if_present(what)?;
        Ok(attributes.is_some_and(|a| a.map_state == MapState::VIEWABLE))
    }

    /// The innermost window that answers pings, among `window` and its ancestors.
    fn pingable(&self, window: Window) -> Result<Option<Window>> {
        for window in self.ancestry(window)? {
            let protocols = self.numbers(window, self.atoms.WM_PROTOCOLS, AtomEnum::ATOM)?;
            if protocols.contains(&self.atoms._NET_WM_PING) {
                return Ok(Some(window));
            }
        }
        Ok(None)
    }
}
