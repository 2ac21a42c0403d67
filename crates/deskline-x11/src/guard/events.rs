//! Events for the guard's thread: Esc, added and removed devices, and modifiers that the person
//! releases.

use std::time::{Duration, Instant};

use deskline_link::Reason;
use deskline_link::Result;
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xinput::{
    ConnectionExt as _, Device, EventMask, HierarchyMask, KeyEventFlags, XIEventMask,
};

use super::keeper::{Keeper, WHAT};
use super::{devices, escape, held_keys};
use crate::During as _;

/// How long the guard waits, after Esc, for the cancelled link to release the devices. Then it
/// releases them itself.
const ESCAPED: Duration = Duration::from_millis(250);

/// How long after the release of the devices Esc still counts, even if the link has ended.
const GRACE: Duration = Duration::from_millis(200);

impl Keeper {
    /// Selects exactly the events that are needed now.
    pub(super) fn select(&self) -> Result<()> {
        let mut raw = XIEventMask::from(0u32);
        if self.opened.is_some() {
            raw |= XIEventMask::RAW_KEY_PRESS;
        }
        if !self.pressed.is_empty() {
            raw |= XIEventMask::RAW_KEY_RELEASE;
        }
        // Presses on grabbed devices reach no app, so they do not count.
        if self.watched.is_some() && !self.hold.is_held() {
            raw |= XIEventMask::RAW_KEY_PRESS | XIEventMask::RAW_BUTTON_PRESS;
        }
        let masks = [
            EventMask {
                deviceid: Device::ALL.into(),
                mask: vec![XIEventMask::HIERARCHY],
            },
            EventMask {
                deviceid: Device::ALL_MASTER.into(),
                mask: vec![raw],
            },
        ];
        self.c
            .xinput_xi_select_events(self.root, &masks)
            .during(WHAT)?;
        self.c.flush().during(WHAT)
    }

    pub(super) fn event(&mut self, event: &Event) -> Result<()> {
        match event {
            Event::XinputKeyPress(key) if !key.flags.contains(KeyEventFlags::KEY_REPEAT) => {
                // Locked modifiers such as Caps Lock do not count.
                let plain = key.mods.base | key.mods.latched == 0;
                let device = key.deviceid;
                if plain && escape::is_escape(&self.c, device, key.detail, key.group.effective)? {
                    self.escaped();
                }
            }
            Event::XinputRawButtonPress(button) => self.note_press(button.sourceid),
            Event::XinputRawKeyPress(key) if self.on_escape.is_none() && !self.in_grace() => {
                self.note_press(key.sourceid);
                self.opened = None;
                self.select()?;
            }
            Event::XinputRawKeyPress(key) if self.persons(key.sourceid) => {
                self.note_press(key.sourceid);
                let (plain, group) = escape::plain(&self.c, key.sourceid)?;
                if plain && escape::is_escape(&self.c, key.sourceid, key.detail, group)? {
                    self.escaped();
                }
            }
            Event::XinputRawKeyRelease(key) if self.persons(key.sourceid) => {
                let code = u8::try_from(key.detail).unwrap_or(0);
                if self.pressed.contains(&code) {
                    self.pressed.retain(|pressed| *pressed != code);
                    held_keys::let_go(&self.c, code)?;
                    self.select()?;
                }
            }
            Event::XinputHierarchy(change) => {
                let added = HierarchyMask::SLAVE_ADDED
                    | HierarchyMask::DEVICE_ENABLED
                    | HierarchyMask::SLAVE_ATTACHED;
                self.slaves = None;
                if change.flags.intersects(added) {
                    self.newcomers()?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn note_press(&mut self, device: u16) {
        let persons = self.persons(device);
        if let Some(pressed) = self.watched.as_mut().filter(|_| !self.hold.is_held()) {
            *pressed |= persons;
        }
    }

    /// Grabs devices that were plugged in while the others are grabbed.
    fn newcomers(&mut self) -> Result<()> {
        let Some(hold) = self.hold.link_mut() else {
            return Ok(());
        };
        let Ok(slaves) = devices::slaves(&self.c)? else {
            return Ok(());
        };
        let new: Vec<u16> = slaves
            .iter()
            .filter(|slave| !slave.xtest && !hold.grabbed.contains(&slave.id))
            .map(|slave| slave.id)
            .collect();
        let (grabbed, _) = devices::grab(&self.c, self.root, &new)?;
        hold.grabbed.extend(grabbed);
        self.slaves = Some(slaves);
        Ok(())
    }

    fn persons(&self, device: u16) -> bool {
        let mut slaves = self.slaves.iter().flatten();
        slaves.all(|slave| slave.id != device || !slave.xtest)
    }

    fn escaped(&mut self) {
        if let Some(hold) = self.hold.escape(ESCAPED, Instant::now()) {
            hold.cancel.cancel(Reason::Person);
        } else if let Some(link) = &self.on_escape {
            link.cancel(Reason::Person);
        } else {
            self.idle_escape = Some(Instant::now());
        }
    }

    pub(super) fn in_grace(&self) -> bool {
        self.opened.is_some_and(|opened| opened.elapsed() < GRACE)
    }
}
