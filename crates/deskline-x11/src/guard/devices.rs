//! Lists and grabs the person's input devices, and reads the keys pressed on them.

use deskline_contract::Result;
use x11rb::connection::RequestConnection as _;
use x11rb::protocol::xinput::{
    self, ConnectionExt as _, Device, DeviceType, GrabOwner, InputStateData, QueryDeviceStateReply,
    XIDeviceInfo, XIEventMask,
};
use x11rb::protocol::xproto::{GrabMode, GrabStatus, Window};

use crate::connection::Connection;
use crate::{During as _, Present as _};

const WHAT: &str = "blocking your devices";

/// A slave device that is attached to a master, or was until a client grabbed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slave {
    pub(crate) id: u16,
    pub(crate) keyboard: bool,
    /// Whether this is one of XTEST's devices, which send synthetic input.
    pub(crate) xtest: bool,
    pub(super) name: String,
}

/// All slave devices, or why the person's devices cannot be distinguished from the agent's.
pub(crate) fn slaves(c: &Connection) -> Result<Result<Vec<Slave>, String>> {
    let known = c.extension_information(xinput::X11_EXTENSION_NAME);
    if known.during(WHAT)?.is_none() {
        return Ok(Err(String::from(
            "the X server lacks the X Input extension, which distinguishes the user's devices \
            from synthetic ones",
        )));
    }
    // Before version 2.1, a client gets no raw events while another client has grabbed the device.
    let version = c.xinput_xi_query_version(2, 2).during(WHAT)?;
    let devices = c.xinput_xi_query_device(Device::ALL).during(WHAT)?;
    let version = version.reply().during(WHAT)?;
    if (version.major_version, version.minor_version) < (2, 1) {
        return Ok(Err(
            "the X server's X Input extension is older than 2.1".into()
        ));
    }
    let infos = devices.reply().during(WHAT)?.infos;
    let slaves: Vec<Slave> = infos.iter().filter_map(slave).collect();
    if slaves
        .iter()
        .any(|slave| slave.name.starts_with("xwayland-"))
    {
        return Ok(Err(String::from(
            "the display is Xwayland's, where only the Wayland compositor could keep the user's \
            input from all apps",
        )));
    }
    if !slaves.iter().any(|slave| slave.xtest) {
        return Ok(Err(
            "the X server has no XTEST devices, which mark synthetic input".into(),
        ));
    }
    Ok(Ok(slaves))
}

fn slave(info: &XIDeviceInfo) -> Option<Slave> {
    let keyboard = match info.type_ {
        DeviceType::SLAVE_KEYBOARD => true,
        DeviceType::SLAVE_POINTER => false,
        // A device floats while another client has grabbed it. Its classes show its type.
        DeviceType::FLOATING_SLAVE => {
            let key =
                |class: &xinput::DeviceClass| matches!(class.data, xinput::DeviceClassData::Key(_));
            info.classes.iter().any(key)
        }
        _ => return None,
    };
    let name = String::from_utf8_lossy(&info.name).into_owned();
    info.enabled.then(|| Slave {
        id: info.deviceid,
        keyboard,
        xtest: name.ends_with("XTEST keyboard") || name.ends_with("XTEST pointer"),
        name,
    })
}

/// Grabs these devices. Returns the ids of the grabbed devices, and whether every device was
/// grabbed. Ignores a device that was just removed.
pub(super) fn grab(c: &Connection, root: Window, ids: &[u16]) -> Result<(Vec<u16>, bool)> {
    let mask = XIEventMask::KEY_PRESS
        | XIEventMask::KEY_RELEASE
        | XIEventMask::BUTTON_PRESS
        | XIEventMask::BUTTON_RELEASE;
    let mask = [u32::from(mask)];
    let asked = ids
        .iter()
        .map(|id| {
            let (now, none, mode) = (x11rb::CURRENT_TIME, x11rb::NONE, GrabMode::ASYNC);
            let owner = GrabOwner::NO_OWNER;
            let grab = c.xinput_xi_grab_device(root, now, none, *id, mode, mode, owner, &mask);
            grab.during(WHAT)
        })
        .collect::<Result<Vec<_>>>()?;
    let mut grabbed = vec![];
    let mut all = true;
    for (id, reply) in ids.iter().zip(asked) {
        match reply.reply().present(WHAT)?.map(|reply| reply.status) {
            Some(GrabStatus::SUCCESS) => grabbed.push(*id),
            Some(_) => all = false,
            None => {}
        }
    }
    Ok((grabbed, all))
}

pub(super) fn ungrab(c: &Connection, ids: &[u16]) -> Result<()> {
    for id in ids {
        c.xinput_xi_ungrab_device(x11rb::CURRENT_TIME, *id)
            .during(WHAT)?
            .ignore_error();
    }
    Ok(())
}

/// A set of key codes or buttons: bit n is code n.
pub(super) type Codes = [u8; 32];

pub(super) fn codes(set: &Codes) -> impl Iterator<Item = u8> {
    (0..=u8::MAX).filter(move |code| set[usize::from(code / 8)] >> (code % 8) & 1 == 1)
}

/// The keys and buttons that are pressed on a set of devices.
#[derive(Debug, Default)]
pub(super) struct Pressed {
    pub(super) keys: Codes,
    pub(super) buttons: Codes,
}

/// The keys and buttons that are down on these devices. A device that was just removed has none.
pub(super) fn pressed<'s>(
    c: &Connection,
    slaves: impl Iterator<Item = &'s Slave>,
) -> Result<Pressed> {
    let asked = slaves
        .filter_map(|slave| u8::try_from(slave.id).ok())
        .map(|id| c.xinput_query_device_state(id).during(WHAT))
        .collect::<Result<Vec<_>>>()?;
    let mut sum = Pressed::default();
    for reply in asked {
        if let Some(reply) = reply.reply().present(WHAT)? {
            add(&mut sum, &reply);
        }
    }
    Ok(sum)
}

fn add(sum: &mut Pressed, state: &QueryDeviceStateReply) {
    for class in &state.classes {
        let (into, from) = match &class.data {
            InputStateData::Key(key) => (&mut sum.keys, &key.keys),
            InputStateData::Button(button) => (&mut sum.buttons, &button.buttons),
            _ => continue,
        };
        for (into, from) in into.iter_mut().zip(from) {
            *into |= from;
        }
    }
}
