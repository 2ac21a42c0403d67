//! Handles keys that the person holds when the devices are grabbed or released.
//!
//! A grabbed device floats: keys that are down on the master stay down there, and changes on the
//! device do not reach the master. After the grab, the guard releases all keys through XTEST,
//! because a held key would modify the agent's typing. After the release, it presses those
//! modifiers again that the person still holds. It presses no other keys, because they would type
//! characters.

use deskline_contract::Result;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    BUTTON_RELEASE_EVENT, ConnectionExt as _, KEY_PRESS_EVENT, KEY_RELEASE_EVENT, Window,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::wrapper::ConnectionExt as _;

use super::devices::{self, Slave, codes};
use crate::connection::Connection;
use crate::pointer::has_button;
use crate::{Answer as _, During as _};

const WHAT: &str = "restoring the keyboard";

/// How many times to synchronise, as the person may press and release keys meanwhile.
const LOOKS: usize = 4;

/// The buttons in a core state mask.
const BUTTONS: std::ops::RangeInclusive<u8> = 1..=5;

/// Releases every key that is down on the master or on XTEST's own device. If a key stayed down on
/// XTEST's device, its next press would count as a repeat.
pub(super) fn release(c: &Connection, slaves: &[Slave]) -> Result<()> {
    let master = c.query_keymap().during(WHAT)?;
    release_of(c, slaves)?;
    for code in codes(&master.reply().during(WHAT)?.keys) {
        fake(c, KEY_RELEASE_EVENT, code)?;
    }
    Ok(())
}

/// Releases all keys and buttons of XTEST's own devices, whichever client has pressed them, if the
/// server has such devices.
pub(crate) fn release_synthetic(c: &Connection) -> Result<()> {
    let slaves = devices::slaves(c)?;
    slaves.map_or(Ok(()), |slaves| release_of(c, &slaves))
}

fn release_of(c: &Connection, slaves: &[Slave]) -> Result<()> {
    let xtest = devices::pressed(c, slaves.iter().filter(|slave| slave.xtest))?;
    for code in codes(&xtest.keys) {
        fake(c, KEY_RELEASE_EVENT, code)?;
    }
    for button in codes(&xtest.buttons) {
        fake(c, BUTTON_RELEASE_EVENT, button)?;
    }
    Ok(())
}

/// Synchronises the master with the devices. Returns the modifiers that were pressed for that.
pub(super) fn put_back(c: &Connection, root: Window, slaves: &[Slave]) -> Result<Vec<u8>> {
    let modifiers = c.get_modifier_mapping().answer(WHAT)?.keycodes;
    let mut pressed = vec![];
    for _ in 0..LOOKS {
        // The master is queried first. If the person presses a key between the two queries, the key
        // is pressed again, which the server ignores. In the other order, the guard would release
        // it as if nobody held it.
        let keymap = c.query_keymap().during(WHAT)?;
        let pointer = c.query_pointer(root).during(WHAT)?;
        let theirs = devices::pressed(c, slaves.iter().filter(|slave| !slave.xtest))?;
        let master = keymap.reply().during(WHAT)?.keys;
        let buttons = pointer.reply().during(WHAT)?.mask;
        let mut done = true;
        for code in codes(&theirs.keys) {
            if modifiers.contains(&code) && !has(&master, code) {
                fake(c, KEY_PRESS_EVENT, code)?;
                pressed.push(code);
                done = false;
            }
        }
        for code in codes(&master).filter(|code| !has(&theirs.keys, *code)) {
            fake(c, KEY_RELEASE_EVENT, code)?;
            pressed.retain(|pressed| *pressed != code);
            done = false;
        }
        if has_button(buttons) && codes(&theirs.buttons).next().is_none() {
            for button in BUTTONS {
                fake(c, BUTTON_RELEASE_EVENT, button)?;
            }
            done = false;
        }
        if done {
            break;
        }
        c.sync().during(WHAT)?;
    }
    c.flush().during(WHAT)?;
    Ok(pressed)
}

/// Releases a modifier that the guard has pressed for the person, once the person has released it:
/// XTEST's own device still holds it.
pub(super) fn let_go(c: &Connection, code: u8) -> Result<()> {
    fake(c, KEY_RELEASE_EVENT, code)?;
    c.flush().during(WHAT)
}

fn has(set: &devices::Codes, code: u8) -> bool {
    set[usize::from(code / 8)] >> (code % 8) & 1 == 1
}

fn fake(c: &Connection, event: u8, detail: u8) -> Result<()> {
    c.xtest_fake_input(event, detail, 0, x11rb::NONE, 0, 0, 0)
        .sent(WHAT)
}
