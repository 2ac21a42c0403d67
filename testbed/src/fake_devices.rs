//! Adds physical devices to a headless sway: a socket in front of sway's own adds them to its
//! answers and records the commands for them. They send no events.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

const RUN_COMMAND: u32 = 0;
const GET_INPUTS: u32 = 100;

/// The physical devices that sway appears to have.
#[derive(Debug, Clone)]
pub struct FakeDevices(Arc<Mutex<BTreeMap<String, String>>>);

impl FakeDevices {
    /// Listens at `usual` in place of the sway that listens at `real`.
    pub(crate) fn before(real: PathBuf, usual: &Path, names: &[&str]) -> Self {
        let listener = UnixListener::bind(usual).unwrap();
        let enabled = |name: &&str| ((*name).to_owned(), "enabled".to_owned());
        let devices = Self(Arc::new(Mutex::new(names.iter().map(enabled).collect())));
        let shared = devices.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (devices, sway) = (shared.clone(), UnixStream::connect(&real));
                let Ok(sway) = sway else { return };
                thread::spawn(move || devices.serve(client, sway));
            }
        });
        devices
    }

    /// The `events` setting of each device, in the order of their names.
    pub fn events(&self) -> Vec<String> {
        self.0.lock().unwrap().values().cloned().collect()
    }

    /// Whether no device sends events.
    pub fn are_held(&self) -> bool {
        self.events().iter().all(|events| events == "disabled")
    }

    /// Whether all devices send events.
    pub fn are_free(&self) -> bool {
        self.events().iter().all(|events| events == "enabled")
    }

    fn serve(&self, mut client: UnixStream, mut sway: UnixStream) -> Option<()> {
        loop {
            let (kind, asked) = message(&mut client).ok()?;
            if kind == RUN_COMMAND && asked.starts_with(b"input ") {
                let answer = self.run(&String::from_utf8(asked).unwrap());
                send(&mut client, kind, answer.to_string().as_bytes()).ok()?;
                continue;
            }
            send(&mut sway, kind, &asked).ok()?;
            let (_, mut answer) = message(&mut sway).ok()?;
            if kind == GET_INPUTS {
                let real: Vec<Value> = serde_json::from_slice(&answer).unwrap();
                let all: Value = real.into_iter().chain(self.inputs()).collect();
                answer = all.to_string().into_bytes();
            }
            send(&mut client, kind, &answer).ok()?;
        }
    }

    fn inputs(&self) -> Vec<Value> {
        let devices = self.0.lock().unwrap();
        let input = |(name, events): (&String, &String)| {
            json!({"identifier": format!("1:1:{name}"), "name": name, "type": "keyboard",
                   "libinput": {"send_events": events}})
        };
        devices.iter().map(input).collect()
    }

    fn run(&self, commands: &str) -> Value {
        let run = |command: &str| {
            let words: Vec<&str> = command.split(' ').collect();
            let ["input", identifier, "events", events] = words.as_slice() else {
                panic!("{command}")
            };
            let name = identifier.trim_matches('"').trim_start_matches("1:1:");
            let mut devices = self.0.lock().unwrap();
            *devices.get_mut(name).unwrap() = (*events).to_owned();
            json!({"success": true})
        };
        commands.split("; ").map(run).collect()
    }
}

/// A message: its type and its text.
fn message(from: &mut UnixStream) -> io::Result<(u32, Vec<u8>)> {
    let mut header = [0; 14];
    from.read_exact(&mut header)?;
    let number = |at: usize| u32::from_ne_bytes(header[at..at + 4].try_into().unwrap());
    let mut text = vec![0; number(6) as usize];
    from.read_exact(&mut text)?;
    Ok((number(10), text))
}

fn send(to: &mut UnixStream, kind: u32, text: &[u8]) -> io::Result<()> {
    let mut message = b"i3-ipc".to_vec();
    message.extend(u32::try_from(text.len()).unwrap().to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend(text);
    to.write_all(&message)
}
