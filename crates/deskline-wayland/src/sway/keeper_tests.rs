//! The keeper against a socket that answers as sway does.
use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, PipeReader, PipeWriter};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};

use super::*;

/// The `events` setting of each physical device.
type Devices = Arc<Mutex<BTreeMap<String, String>>>;

/// A sway with a keyboard, a touchpad and a virtual keyboard.
struct Fake {
    folder: tempfile::TempDir,
    devices: Devices,
}

impl Fake {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join("ipc")).unwrap();
        let set = [
            ("1:1:Keyboard", "enabled"),
            ("2:2:Touchpad", "disabled_on_external_mouse"),
            ("3:3:Off", "disabled"),
        ];
        let set = set.map(|(id, events)| (id.to_owned(), events.to_owned()));
        let devices: Devices = Arc::new(Mutex::new(set.into()));
        let shared = Arc::clone(&devices);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let devices = Arc::clone(&shared);
                thread::spawn(move || answer(stream, &devices));
            }
        });
        Self { folder, devices }
    }

    fn state(&self) -> Vec<(String, String)> {
        self.devices.lock().unwrap().clone().into_iter().collect()
    }

    fn is_held(&self) -> bool {
        self.state().iter().all(|(_, events)| events == "disabled")
    }

    /// Waits until the devices have their original settings.
    fn is_as_before(&self) -> bool {
        let before = Self::new().state();
        (0..300).any(|_| {
            thread::sleep(Duration::from_millis(10));
            self.state()[..3] == before
        })
    }

    fn keeper(&self) -> (PipeWriter, BufReader<PipeReader>, JoinHandle<()>) {
        let mut keeper = Keeper::connect(&self.folder.path().join("ipc")).unwrap();
        let (orders, to_keeper) = io::pipe().unwrap();
        let (from_keeper, answers) = io::pipe().unwrap();
        let serves = thread::spawn(move || keeper.serve(orders, answers));
        (to_keeper, BufReader::new(from_keeper), serves)
    }
}

fn answer(mut stream: UnixStream, devices: &Devices) {
    let mut header = [0; 14];
    while stream.read_exact(&mut header).is_ok() {
        let number = |at: usize| u32::from_ne_bytes(header[at..at + 4].try_into().unwrap());
        let mut payload = vec![0; number(6) as usize];
        stream.read_exact(&mut payload).unwrap();
        let answer = match number(10) {
            0 => run(&String::from_utf8(payload).unwrap(), devices),
            100 => inputs(devices),
            other => panic!("message {other}"),
        };
        let answer = answer.to_string();
        let mut message = b"i3-ipc".to_vec();
        message.extend(u32::try_from(answer.len()).unwrap().to_ne_bytes());
        message.extend(&header[10..]);
        message.extend(answer.as_bytes());
        if stream.write_all(&message).is_err() {
            return;
        }
    }
}

fn run(commands: &str, devices: &Devices) -> Value {
    let done = commands.split("; ").map(|command| {
        let words: Vec<&str> = command.split(' ').collect();
        let ["input", identifier, "events", events] = words.as_slice() else {
            return json!({"success": false, "error": command});
        };
        let identifier = identifier.trim_matches('"').to_owned();
        devices
            .lock()
            .unwrap()
            .insert(identifier, (*events).to_owned());
        json!({"success": true})
    });
    done.collect()
}

fn inputs(devices: &Devices) -> Value {
    let devices = devices.lock().unwrap();
    let physical = devices.iter().map(|(id, events)| {
        json!({"identifier": id, "name": id, "type": "keyboard", "libinput": {"send_events": events}})
    });
    let others = json!({"identifier": "0:0:virtual_keyboard", "name": "", "type": "keyboard"});
    physical.chain([others]).collect()
}

fn order(orders: &mut PipeWriter, order: &Order) {
    let line = format!("{}\n", serde_json::to_string(order).unwrap());
    orders.write_all(line.as_bytes()).unwrap();
}

fn heard(answers: &mut BufReader<PipeReader>) -> Report {
    let mut line = String::new();
    answers.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

fn hold(orders: &mut PipeWriter, answers: &mut BufReader<PipeReader>, limit: u64) {
    order(orders, &Order::Hold(limit));
    assert!(matches!(heard(answers), Report::Takes(devices) if devices.len() == 2));
    let held = Report::Held {
        spared: vec![],
        virtual_keyboards: 1,
    };
    assert_eq!(heard(answers), held);
}

#[test]
fn devices_are_disabled_and_get_their_own_setting_back() {
    let sway = Fake::new();
    let (mut orders, mut answers, _) = sway.keeper();
    for _ in 0..2 {
        hold(&mut orders, &mut answers, 60_000);
        assert!(sway.is_held());
        order(&mut orders, &Order::Release);
        assert_eq!(heard(&mut answers), Report::Released { came: vec![] });
        assert!(sway.is_as_before());
    }
}

#[test]
fn the_end_of_the_server_enables_them() {
    let sway = Fake::new();
    let (mut orders, mut answers, serves) = sway.keeper();
    hold(&mut orders, &mut answers, 60_000);
    drop(orders);
    serves.join().unwrap();
    assert!(sway.is_as_before());
}

#[test]
fn the_limit_enables_them() {
    let sway = Fake::new();
    let (mut orders, mut answers, _) = sway.keeper();
    hold(&mut orders, &mut answers, 150);
    assert_eq!(heard(&mut answers), Report::Limit);
    assert!(sway.is_as_before());
}

#[test]
fn a_device_that_is_plugged_in_meanwhile_is_disabled_too() {
    let sway = Fake::new();
    let (mut orders, mut answers, _) = sway.keeper();
    hold(&mut orders, &mut answers, 60_000);
    let new = ("9:9:New".to_owned(), "enabled".to_owned());
    sway.devices.lock().unwrap().extend([new.clone()]);
    assert!(matches!(heard(&mut answers), Report::Takes(devices) if devices.len() == 3));
    order(&mut orders, &Order::Release);
    let came = vec![new.0.clone()];
    assert_eq!(heard(&mut answers), Report::Released { came });
    assert!(sway.is_as_before());
    assert!(sway.state().contains(&new));
}

#[test]
fn a_malformed_order_enables_them() {
    let sway = Fake::new();
    let (mut orders, mut answers, serves) = sway.keeper();
    hold(&mut orders, &mut answers, 60_000);
    orders.write_all(b"\xff{\n").unwrap();
    serves.join().unwrap();
    assert!(sway.is_as_before());
}

/// A sway that hangs accepts no connection once its queue is full, which is not its end.
#[test]
fn a_sway_that_takes_no_connection_gets_the_devices_back_once_it_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ipc");
    let listener = UnixListener::bind(&path).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let waiting = UnixStream::connect(&path).unwrap();
    let kept = json!([{"identifier": "1:1:Keyboard", "name": "", "events": "enabled"}]);
    let kept: Vec<Device> = serde_json::from_value(kept).unwrap();
    let (sender, first_try) = std::sync::mpsc::channel();
    let restores = thread::spawn(move || {
        let full = deskline_unix::socket::connect(&path, Duration::from_millis(50));
        sender.send(full.map(drop).map_err(|e| e.kind())).unwrap();
        restore(&path, &kept);
    });
    assert_eq!(first_try.recv().unwrap(), Err(ErrorKind::TimedOut));
    // Longer than one try.
    thread::sleep(Duration::from_millis(2_300));
    drop(waiting);
    let devices = Devices::default();
    while devices.lock().unwrap().is_empty() {
        let (stream, _) = listener.accept().unwrap();
        answer(stream, &devices);
    }
    restores.join().unwrap();
    assert_eq!(devices.lock().unwrap()["1:1:Keyboard"], "enabled");
}
