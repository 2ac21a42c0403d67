//! Asks the person at the display, if the client cannot: shows a banner, and waits for a key that
//! answers.
//!
//! The keys are grabbed while the question shows, so that no app sees them. Only presses on devices
//! that the person had when the question was asked count. Presses on XTEST's devices, which the
//! agent and its apps send, do not.

use std::path::Path;
use std::time::{Duration, Instant};

use deskline_contract::{Error, Result};
use deskline_input::Cancel;
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xinput::{
    ConnectionExt as _, Device, GrabMode22, GrabOwner, GrabType, XIEventMask,
};
use x11rb::protocol::xproto::{ConnectionExt as _, GrabMode, ModMask, Window};
use xkeysym::key;

use crate::connection::{self, Connection};
use crate::guard::devices::{self, Slave};
use crate::overlay::Overlay;
use crate::{Answer as _, people};

/// The keys of the answers, with Control and Shift. With Alt they would switch to a virtual
/// terminal. Every layout has them in the same place.
const KEYS: [(u32, &str); 3] = [
    (key::F9, "Control+Shift+F9"),
    (key::F10, "Control+Shift+F10"),
    (key::F11, "Control+Shift+F11"),
];

/// How long a question shows. Clients give up a call after 60 s.
const SHOWS: Duration = Duration::from_secs(50);

/// The longest time between two checks of the cancel flag.
const LOOK: Duration = Duration::from_millis(50);

const WHAT: &str = "asking you";

/// Asks the person. Returns the index of the chosen answer, or `None` if the person has chosen no
/// answer within 50 s or `cancel` was raised. The inner error says why the person cannot be asked.
///
/// # Errors
///
/// If the display does not answer.
pub fn ask(
    display: &str,
    xauthority: Option<&Path>,
    question: &str,
    answers: &[&str],
    cancel: &Cancel,
) -> Result<Result<Option<usize>, String>> {
    let (c, screen) = connection::open(display, xauthority)?;
    let root = connection::root_of(&c, screen)?;
    let slaves = match devices::slaves(&c)? {
        Ok(slaves) => slaves,
        Err(why) => return Ok(Err(why)),
    };
    if !slaves.iter().any(|slave| slave.keyboard && !slave.xtest) {
        return Ok(Err(format!("{display} has no keyboard of yours")));
    }
    if let [program, ..] = people::programs(display)[..] {
        return Ok(Err(format!(
            "keys that come through {program} cannot be distinguished from the agent's"
        )));
    }
    let codes = match take_keys(&c, root, answers.len())? {
        Ok(codes) => codes,
        Err(why) => return Ok(Err(why)),
    };
    let keys = answers.iter().zip(KEYS);
    let keys: Vec<String> = keys
        .map(|(answer, (_, key))| format!("{key}: {answer}"))
        .collect();
    let mut overlay = Overlay::new(root);
    let banner = format!("{question}\n{}", keys.join("    "));
    overlay.announce(&c, &banner, None)?;
    if !overlay.shows() {
        return Ok(Err("no font is installed to show the question".to_owned()));
    }
    Ok(Ok(answer(&c, &codes, &slaves, cancel)?))
}

/// Grabs the keys of this many answers, with and without Caps Lock and Num Lock. Returns the keys'
/// codes.
fn take_keys(c: &Connection, root: Window, answers: usize) -> Result<Result<Vec<u32>, String>> {
    let (first, last) = (c.setup().min_keycode, c.setup().max_keycode);
    // The server chooses the first and the last key code. The protocol allows codes from 8 on.
    let count = last.saturating_sub(first).saturating_add(1);
    let map = c.get_keyboard_mapping(first, count).answer(WHAT)?;
    let width = usize::from(map.keysyms_per_keycode).max(1);
    let code = |sym: u32| {
        let at = map
            .keysyms
            .chunks(width)
            .position(|syms| syms.first() == Some(&sym))?;
        Some(u32::from(first) + u32::try_from(at).ok()?)
    };
    let held = u32::from(u16::from(ModMask::CONTROL | ModMask::SHIFT));
    let [caps, num] = [ModMask::LOCK, ModMask::M2].map(|lock| u32::from(u16::from(lock)));
    let modifiers = [held, held | caps, held | num, held | caps | num];
    let mut codes = vec![];
    for (sym, name) in KEYS.into_iter().take(answers) {
        let Some(code) = code(sym) else {
            return Ok(Err(format!("the keyboard has no key for {name}")));
        };
        let (now, none, whose) = (x11rb::CURRENT_TIME, x11rb::NONE, Device::ALL_MASTER);
        let mask = [u32::from(XIEventMask::KEY_PRESS)];
        #[rustfmt::skip]
        let grab = c.xinput_xi_passive_grab_device(
            now, root, none, code, whose, GrabType::KEYCODE, GrabMode22::ASYNC, GrabMode::ASYNC,
            GrabOwner::NO_OWNER, &mask, &modifiers,
        );
        let refused = grab.answer(WHAT)?.modifiers;
        if !refused.is_empty() {
            return Ok(Err(format!("another program has taken {name}")));
        }
        codes.push(code);
    }
    Ok(Ok(codes))
}

/// Waits for the person's key.
fn answer(
    c: &Connection,
    codes: &[u32],
    slaves: &[Slave],
    cancel: &Cancel,
) -> Result<Option<usize>> {
    let until = Instant::now() + SHOWS;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let key = match connection::event(c, (left, LOOK), cancel, WHAT) {
            Ok(Some(Event::XinputKeyPress(key))) => key,
            Ok(Some(_)) => continue,
            Ok(None) | Err(Error::Cancelled(_)) => return Ok(None),
            Err(e) => return Err(e),
        };
        // An app may have made a new XTEST device since the question was asked.
        let persons = |slave: &Slave| !slave.xtest && slave.id == key.sourceid;
        let chosen = codes.iter().position(|code| *code == key.detail);
        if chosen.is_some() && slaves.iter().any(persons) {
            return Ok(chosen);
        }
    }
}
