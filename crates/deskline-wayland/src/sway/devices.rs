//! Finds the person's devices, and disables and enables them.

use deskline_link::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::sway::ipc::Ipc;

/// An input device, as sway describes it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Input {
    identifier: String,
    #[serde(default)]
    name: String,
    #[serde(rename = "type")]
    kind: String,
    /// As libinput describes it. `None` for a virtual device.
    #[serde(default)]
    libinput: Option<Libinput>,
}

#[derive(Debug, Clone, Deserialize)]
struct Libinput {
    #[serde(default)]
    send_events: String,
}

/// A device to disable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Device {
    identifier: String,
    /// Hostile data.
    pub(crate) name: String,
    /// The original `events` setting, such as `enabled` or `disabled_on_external_mouse`.
    events: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Devices {
    /// The person's devices that send events.
    pub(crate) physical: Vec<Device>,
    /// The names of devices whose identifier cannot be written in a command.
    pub(crate) spared: Vec<String>,
    /// The number of virtual keyboards, including the agent's.
    pub(crate) virtual_keyboards: usize,
}

/// Why there is no guard on a seat without physical devices.
pub(crate) const NO_DEVICES: &str = "sway lists no device that could be kept out: virtual ones, such as a remote desktop's, look like the agent's";

const DISABLED: &str = "disabled";

impl Devices {
    pub(crate) fn look(ipc: &mut Ipc) -> Result<Self> {
        Ok(Self::from_inputs(ipc.inputs()?))
    }

    fn from_inputs(inputs: Vec<Input>) -> Self {
        let mut devices = Self::default();
        for input in inputs {
            let Some(libinput) = input.libinput else {
                devices.virtual_keyboards += usize::from(input.kind == "keyboard");
                continue;
            };
            // Skip lid switches, and devices that the person has disabled.
            if input.kind == "switch" || libinput.send_events == DISABLED {
                continue;
            }
            if !can_be_named(&input.identifier) || !can_be_named(&libinput.send_events) {
                devices.spared.push(input.name);
                continue;
            }
            // A keyboard with a pointer of its own is listed twice, with one identifier.
            let known = |d: &Device| d.identifier == input.identifier;
            if !devices.physical.iter().any(known) {
                devices.physical.push(Device {
                    identifier: input.identifier,
                    name: input.name,
                    events: libinput.send_events,
                });
            }
        }
        devices
    }
}

/// Whether this can be written in quotes in a command. A device's identifier contains its name, and
/// sway splits commands, expands variables and removes quotes even in identifiers.
fn can_be_named(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| !c.is_control() && !"\"'\\$;,[]".contains(c))
}

/// Disables the devices.
///
/// # Errors
///
/// If sway refuses, or lists a device as enabled afterwards.
pub(crate) fn disable(ipc: &mut Ipc, devices: &[Device]) -> Result<()> {
    if devices.is_empty() {
        return Ok(());
    }
    ipc.run(&commands(devices, |_| DISABLED))?;
    let now = Devices::look(ipc)?;
    match now
        .physical
        .iter()
        .find(|d| devices.iter().any(|o| o.identifier == d.identifier))
    {
        Some(device) => Err(Error::system("guarding the person's devices")(format!(
            "sway has not disabled {:?}",
            device.name
        ))),
        None => Ok(()),
    }
}

/// Restores the devices' original setting.
pub(crate) fn enable(ipc: &mut Ipc, devices: &[Device]) -> Result<()> {
    if devices.is_empty() {
        return Ok(());
    }
    ipc.run(&commands(devices, |device| &device.events))
}

fn commands<'d>(devices: &'d [Device], events: impl Fn(&'d Device) -> &'d str) -> String {
    let command = |d: &'d Device| format!("input \"{}\" events {}", d.identifier, events(d));
    devices.iter().map(command).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_persons_physical_devices_are_disabled() {
        let inputs = r#"[
            {"identifier":"1:1:AT_Keyboard","name":"AT Keyboard","type":"keyboard",
             "libinput":{"send_events":"enabled"}},
            {"identifier":"2:7:Touchpad","name":"Touchpad","type":"touchpad",
             "libinput":{"send_events":"disabled_on_external_mouse"}},
            {"identifier":"1:1:AT_Keyboard","name":"AT Keyboard","type":"pointer",
             "libinput":{"send_events":"enabled"}},
            {"identifier":"3:3:Old_Mouse","name":"Old Mouse","type":"pointer",
             "libinput":{"send_events":"disabled"}},
            {"identifier":"0:5:Lid_Switch","name":"Lid","type":"switch",
             "libinput":{"send_events":"enabled"}},
            {"identifier":"6:6:a\";exec_b","name":"a\";exec b","type":"keyboard",
             "libinput":{"send_events":"enabled"}},
            {"identifier":"0:0:virtual_keyboard","name":"virtual keyboard","type":"keyboard"},
            {"identifier":"0:0:virtual_pointer","name":"virtual pointer","type":"pointer"}]"#;
        let devices = Devices::from_inputs(serde_json::from_str(inputs).unwrap());
        assert_eq!(
            commands(&devices.physical, |d| &d.events),
            "input \"1:1:AT_Keyboard\" events enabled; \
             input \"2:7:Touchpad\" events disabled_on_external_mouse"
        );
        assert_eq!(devices.spared, ["a\";exec b"]);
        assert_eq!(devices.virtual_keyboards, 1);
    }
}
