//! Events for the guard's thread: Esc, added and removed devices, and modifiers that the person
//! releases.

use std::time::Instant;

use deskline_contract::{Reason, Result};
use deskline_input::guard::{Event as Pressed, Role};
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xinput::{
    ConnectionExt as _, Device, EventMask, HierarchyMask, KeyEventFlags, XIEventMask,
};

use super::keeper::{Keeper, WHAT};
use super::{devices, escape, held_keys};
use crate::During as _;

impl Keeper {
    /// Selects exactly the events that are needed now.
    pub(super) fn select(&self) -> Result<()> {
        let mut raw = XIEventMask::from(0u32);
        if self.machine.listens(Instant::now()) {
            raw |= XIEventMask::RAW_KEY_PRESS;
        }
        if !self.pressed.is_empty() {
            raw |= XIEventMask::RAW_KEY_RELEASE;
        }
        // Presses on grabbed devices reach no app, so they do not count.
        if self.machine.pressed().is_some() && !self.machine.is_held() {
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
                let escape =
                    plain && escape::is_escape(&self.c, device, key.detail, key.group.effective)?;
                self.press(escape);
            }
            Event::XinputRawButtonPress(button) if self.persons(button.sourceid) => {
                self.press(false);
            }
            Event::XinputRawKeyPress(key) => {
                let listens = self.machine.listens(Instant::now());
                if self.persons(key.sourceid) {
                    let escape = listens && escape::is_plain(&self.c, key.sourceid, key.detail)?;
                    self.press(escape);
                }
                if !listens {
                    self.select()?;
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

    /// Judges a press of the person. `escape` says whether it is Esc without modifiers.
    fn press(&mut self, escape: bool) {
        let role = if escape { Role::Escape } else { Role::Other };
        let (code, down) = (0, true);
        let press = Pressed::Key { code, role, down };
        if self.machine.event(press, Instant::now()).cancel {
            self.cancel(Reason::Person);
        }
    }

    /// Grabs devices that were plugged in while the others are grabbed.
    fn newcomers(&mut self) -> Result<()> {
        if !self.machine.is_held() {
            return Ok(());
        }
        let Ok(slaves) = devices::slaves(&self.c)? else {
            return Ok(());
        };
        let theirs = slaves.iter().filter(|s| !s.xtest).map(|s| s.id);
        let new: Vec<u16> = theirs.filter(|id| !self.grabbed.contains(id)).collect();
        let (grabbed, _) = devices::grab(&self.c, self.root, &new)?;
        self.grabbed.extend(grabbed);
        self.slaves = Some(slaves);
        Ok(())
    }

    fn persons(&self, device: u16) -> bool {
        let mut slaves = self.slaves.iter().flatten();
        slaves.all(|slave| slave.id != device || !slave.xtest)
    }
}
