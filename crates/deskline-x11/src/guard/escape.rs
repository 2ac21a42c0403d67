//! Recognizes Esc without modifiers.

use deskline_contract::Result;
use x11rb::connection::RequestConnection as _;
use x11rb::protocol::xkb::{ConnectionExt as _, GetMapRequest, MapPart};
use xkeysym::key;

use crate::During as _;
use crate::connection::Connection;

const WHAT: &str = "listening for Esc";

/// Whether `code` gives Escape on `device`, without modifiers, in `group`. Not cached: the layout
/// may change at any moment, and people press keys slowly.
pub(super) fn is_escape(c: &Connection, device: u16, code: u32, group: u8) -> Result<bool> {
    let Ok(code) = u8::try_from(code) else {
        return Ok(false);
    };
    let request = GetMapRequest {
        device_spec: device,
        partial: MapPart::KEY_SYMS,
        first_key_sym: code,
        n_key_syms: 1,
        ..GetMapRequest::default()
    };
    let map = c.send_trait_request_with_reply(request).during(WHAT)?;
    // The device was just removed.
    let Ok(map) = map.reply() else {
        return Ok(false);
    };
    let Some(symbols) = map.map.syms_rtrn.as_ref().and_then(|keys| keys.first()) else {
        return Ok(false);
    };
    let groups = usize::from(symbols.group_info & 0xf).max(1);
    let first = usize::from(group) % groups * usize::from(symbols.width);
    Ok(symbols.syms.get(first) == Some(&key::Escape))
}

/// Whether `code` gives Escape on `device`, and no modifier is held or latched on that device.
pub(super) fn is_plain(c: &Connection, device: u16, code: u32) -> Result<bool> {
    let state = c.xkb_get_state(device).during(WHAT)?;
    let Ok(state) = state.reply() else {
        return Ok(false);
    };
    let held = u16::from(state.base_mods) | u16::from(state.latched_mods);
    Ok(held == 0 && is_escape(c, device, code, state.group.into())?)
}
