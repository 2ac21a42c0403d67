//! Keyboard accessibility. Sticky Keys: modifiers that the person has latched (for the next key) or
//! locked must not modify the agent's input, and are restored exactly afterwards. Slow Keys and
//! Bounce Keys, which ignore short and repeated presses, are off during an action.

use deskline_contract::{Cancel, Result, wait};
use std::io::IoSlice;
use std::time::Duration;

use x11rb::connection::RequestConnection as _;
use x11rb::protocol::xkb::{self, AXOption, BoolCtrl, ConnectionExt as _, Control, VMod};
use x11rb::protocol::xproto::ModMask;

use super::acting::ModifierState;
use super::{Answer as _, During as _, X11};

const WHAT: &str = "restoring Sticky Keys";

/// How long a window manager may take to replay a click.
const REPLAY: Duration = Duration::from_millis(500);

/// All eight modifiers.
const ALL: u8 = 0xff;

/// The features that drop key presses.
fn dropping() -> BoolCtrl {
    BoolCtrl::SLOW_KEYS | BoolCtrl::BOUNCE_KEYS
}

impl X11 {
    /// The current state of the modifiers and the accessibility features. Takes one round trip.
    pub(super) fn modifier_state(&self) -> Result<ModifierState> {
        let core = xkb::ID::USE_CORE_KBD.into();
        let state = self.connection.xkb_get_state(core).during(WHAT)?;
        let controls = self.connection.xkb_get_controls(core).during(WHAT)?;
        let state = state.reply().during(WHAT)?;
        let enabled = controls.reply().during(WHAT)?.enabled_controls;
        Ok(ModifierState {
            locked: u16::from(state.locked_mods) as u8,
            latched: u16::from(state.latched_mods) as u8,
            sticky: enabled.contains(BoolCtrl::STICKY_KEYS),
            dropping: enabled & dropping(),
        })
    }

    /// Turns Slow and Bounce Keys off until [`X11::resume_slow_keys`] or this client's end.
    pub(super) fn pause_slow_keys(&self, on: BoolCtrl) -> Result<()> {
        self.reset_at_the_end(on)?;
        self.set_controls(on, BoolCtrl::from(0_u32))
    }

    /// Turns Slow and Bounce Keys on again.
    pub(super) fn resume_slow_keys(&self, on: BoolCtrl) -> Result<()> {
        self.set_controls(on, on)?;
        self.reset_at_the_end(BoolCtrl::from(0_u32))
    }

    /// Asks the server to turn these features on when this client ends, even if it is killed.
    fn reset_at_the_end(&self, on: BoolCtrl) -> Result<()> {
        let flag = xkb::PerClientFlag::AUTO_RESET_CONTROLS;
        let none = xkb::PerClientFlag::from(0_u32);
        let value = if u32::from(on) == 0 { none } else { flag };
        let core = xkb::ID::USE_CORE_KBD.into();
        let asked = self
            .connection
            .xkb_per_client_flags(core, flag, value, on, on, on);
        asked.answer(WHAT)?;
        Ok(())
    }

    /// Waits until the server has processed the release of every button, 500 ms at most. A window
    /// manager that focuses on click freezes the pointer and replays the press. The replayed press
    /// clears a latch, so latches can be restored only after it.
    pub(super) fn wait_for_release(&self) -> Result<()> {
        let every = Duration::from_millis(2);
        wait::holds(&Cancel::new(), REPLAY, every, || {
            Ok(!self.pointer()?.pressed)
        })
        .map(drop)
    }

    /// Restores the state `was`. Typing with two keys down at once may have turned Sticky Keys off.
    pub(super) fn put_back_modifiers(&self, was: ModifierState) -> Result<()> {
        if was.sticky && !self.modifier_state()?.sticky {
            self.set_controls(BoolCtrl::STICKY_KEYS, BoolCtrl::STICKY_KEYS)?;
        }
        self.set_modifiers(was.locked, was.latched)
    }

    /// Locks and latches exactly these modifiers: `XkbLatchLockState`, which presses no key.
    /// Encoded by hand, as XCB's description of the request lacks `modLatches`.
    pub(super) fn set_modifiers(&self, locked: u8, latched: u8) -> Result<()> {
        let known = self
            .connection
            .extension_information(xkb::X11_EXTENSION_NAME);
        let Some(extension) = known.during(WHAT)? else {
            return Ok(());
        };
        let device = u16::from(xkb::ID::USE_CORE_KBD).to_ne_bytes();
        let length = 4_u16.to_ne_bytes();
        #[rustfmt::skip]
        let request = [
            extension.major_opcode, xkb::LATCH_LOCK_STATE_REQUEST, length[0], length[1],
            // The zeros mean that no group is locked or latched.
            device[0], device[1], ALL, locked, 0, 0, ALL, latched, 0, 0, 0, 0,
        ];
        self.connection
            .send_request_without_reply(&[IoSlice::new(&request)], vec![])
            .sent(WHAT)
    }

    /// Turns controls on or off.
    fn set_controls(&self, which: BoolCtrl, on: BoolCtrl) -> Result<()> {
        let (mods, vmods) = (ModMask::from(0_u16), VMod::from(0_u16));
        let (options, none) = (AXOption::from(0_u16), BoolCtrl::from(0_u32));
        let core = xkb::ID::USE_CORE_KBD.into();
        let changes = Control::from(0_u32);
        self.connection
            .xkb_set_controls(
                core, mods, mods, mods, mods, vmods, vmods, vmods, vmods, 0, 0, options, which, on,
                changes, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, none, none, options, options, &[0; 32],
            )
            .sent(WHAT)
    }
}
