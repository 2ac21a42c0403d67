//! A clipboard manager, to which an ending program can hand over the text that it has copied.

use std::thread::{JoinHandle, spawn};

use x11rb::CURRENT_TIME;
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, CreateWindowAux, EventMask, SELECTION_NOTIFY_EVENT,
    SelectionNotifyEvent, WindowClass,
};

use crate::Bed;
use crate::screen::open;

/// Owns `CLIPBOARD_MANAGER`. The thread ends with the text of the first program that asks to save
/// its clipboard.
pub fn clipboard_manager(bed: &Bed) -> JoinHandle<String> {
    let x = open(bed.environment());
    let atom = |name: &str| x.intern_atom(false, name.as_bytes()).unwrap();
    let [manager, clipboard, text] = ["CLIPBOARD_MANAGER", "CLIPBOARD", "UTF8_STRING"]
        .map(|name| atom(name).reply().unwrap().atom);
    let (own, root) = (x.generate_id().unwrap(), x.setup().roots[0].root);
    let (class, aux) = (WindowClass::INPUT_ONLY, CreateWindowAux::new());
    let window = x.create_window(0, own, root, 0, 0, 1, 1, 0, class, 0, &aux);
    window.unwrap().check().unwrap();
    let owner = x.set_selection_owner(own, manager, CURRENT_TIME).unwrap();
    owner.check().unwrap();
    spawn(move || {
        let mut request = None;
        loop {
            match x.wait_for_event().unwrap() {
                Event::SelectionRequest(asked) => {
                    x.convert_selection(own, clipboard, text, text, asked.time)
                        .unwrap();
                    request = Some(asked);
                }
                Event::SelectionNotify(_) => {
                    let value = x.get_property(true, own, text, AtomEnum::ANY, 0, 1 << 10);
                    let value = value.unwrap().reply().unwrap().value;
                    let asked = request.expect("a request");
                    let saved = SelectionNotifyEvent {
                        response_type: SELECTION_NOTIFY_EVENT,
                        sequence: 0,
                        time: asked.time,
                        requestor: asked.requestor,
                        selection: asked.selection,
                        target: asked.target,
                        property: asked.property,
                    };
                    x.send_event(false, asked.requestor, EventMask::NO_EVENT, saved)
                        .unwrap()
                        .check()
                        .unwrap();
                    return String::from_utf8(value).unwrap();
                }
                _ => {}
            }
            x.flush().unwrap();
        }
    })
}
