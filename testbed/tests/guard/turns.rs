//! A person who switches to another window while a link waits keeps that window and their pointer.

use std::time::Duration;

use deskline_testbed::person::Person;
use deskline_testbed::watcher::Watcher;
use deskline_testbed::{Answer, App, Bed, Client, Toolkit, calls, until};
use serde_json::{Value, json};

use crate::bed;

/// The agent's app, the person's app, which is in front, and the person's mail.
struct Desk<'b> {
    bed: &'b Bed,
    server: Client,
    app: App<'b>,
    theirs: App<'b>,
    mail: App<'b>,
}

impl<'b> Desk<'b> {
    fn at(bed: &'b Bed) -> Self {
        let desk = Self {
            bed,
            server: bed.server(&[]),
            app: bed.widgets(Toolkit::Gtk3).at(0, 0),
            theirs: bed.widgets(Toolkit::Qt5).at(900, 450),
            mail: bed.widgets(Toolkit::Gtk4).at(1000, 0),
        };
        desk.theirs.bring_to_front();
        bed.screen().move_pointer(1700, 900);
        desk
    }

    /// Calls a tool. `turn` is the person's action while the link waits.
    fn while_waiting(&self, tool: &str, arguments: Value, turn: impl FnOnce()) -> Answer {
        let guarded = tool != "wait_for_and_traverse";
        let watcher = Watcher::on(self.bed);
        let call = self.server.send(tool, arguments);
        if guarded {
            watcher.await_overlay();
            watcher.await_no_overlay();
        }
        turn();
        call.answer(Duration::from_secs(30))
            .expect("an answer")
            .ok()
    }

    /// The person clicks the title bar of their mail, which comes to the front.
    fn to_mail(&self, person: &mut Person) {
        let (x, y, w, _) = self.mail.window_now().bounds;
        person.click((x + w as i32 / 2) as u16, (y + 12) as u16);
        until("the mail in front", || {
            self.bed.screen().front() == self.mail.window.id
        });
    }

    /// Asserts that the mail stays in front, and that no text of it was recorded.
    fn mail_is_theirs(&self, answer: &Answer) {
        assert!(answer.get("app_switch").is_none(), "{answer}");
        assert!(!answer.text.contains(&self.mail.window.title), "{answer}");
        let file = answer.file();
        assert!(!file.contains(&self.mail.window.title), "{file}");
        assert_eq!(self.bed.screen().front(), self.mail.window.id, "{answer}");
    }
}

#[test]
fn the_persons_own_switch_is_no_handoff() {
    let bed = bed();
    let desk = Desk::at(&bed);
    let mut person = Person::at(&bed);
    let pid = desk.app.pid;
    let calls = calls! {
        "wait_for_and_traverse" {"pid": pid, "element": "Here I am", "timeout": 20}
        "press_key_and_traverse" {"pid": pid, "keyName": "F9", "delayAfterAction": 2}
        "click_and_traverse" {"pid": pid, "element": "OK", "role": "AXButton", "delayAfterAction": 2}
    };
    for (tool, arguments) in calls {
        desk.theirs.bring_to_front();
        let waits = tool == "wait_for_and_traverse";
        let answer = desk.while_waiting(tool, arguments, || {
            desk.to_mail(&mut person);
            if waits {
                // Another client makes the awaited element appear.
                let other = desk.bed.server(&[]);
                other.press_ax(pid, "AXButton", "Late").ok();
            }
        });
        desk.mail_is_theirs(&answer);
    }
}

/// An app raises an existing window of another app. Nobody has pressed anything, so it is an effect
/// of the action.
#[test]
fn a_window_that_the_action_raises_is_a_handoff() {
    let bed = bed();
    let desk = Desk::at(&bed);
    let raiser = bed.login(&["--welcome"]);
    desk.theirs.bring_to_front();
    let notes = json!({"pid": raiser.pid, "element": "Notes", "value": desk.mail.window.title});
    desk.server.call("set_value_and_traverse", notes).ok();
    for tool in ["click_and_traverse", "press_ax_and_traverse"] {
        desk.theirs.bring_to_front();
        let raise = json!({"pid": raiser.pid, "element": "Raise", "delayAfterAction": 1.5});
        let answer = desk.server.call(tool, raise).ok();
        let switch = answer.field("app_switch");
        assert!(
            switch.contains(&format!("(PID: {})", desk.mail.pid)),
            "{answer}"
        );
        assert_eq!(bed.screen().front(), desk.mail.window.id, "{answer}");
    }
}

#[test]
fn the_pointer_stays_where_the_person_has_moved_it() {
    let bed = bed();
    let desk = Desk::at(&bed);
    let mut person = Person::at(&bed);
    let pid = desk.app.pid;
    let calls = calls! {
        "click_and_traverse" {"pid": pid, "element": "OK", "role": "AXButton", "delayAfterAction": 1}
        "press_key_and_traverse" {"pid": pid, "keyName": "F9", "delayAfterAction": 1}
    };
    for (i, (tool, arguments)) in calls.into_iter().enumerate() {
        bed.screen().move_pointer(1700, 900);
        let x = 1500 + i as u16;
        let answer = desk.while_waiting(tool, arguments, || {
            person.point(x, 1000);
            until("the person's motion", || {
                bed.screen().pointer() == (x.into(), 1000)
            });
        });
        assert_eq!(bed.screen().pointer(), (x.into(), 1000), "{answer}");
        assert_eq!(bed.screen().front(), desk.theirs.window.id, "{answer}");
    }
    // The person has not moved the pointer but holds a button: do not move it during a drag.
    let ok = json!({"pid": pid, "element": "OK", "role": "AXButton"});
    let at = desk.server.refresh(pid).ok();
    let at = at.line_of("AXButton", "OK").extents.unwrap().center();
    let mut delayed = ok;
    delayed["delayAfterAction"] = 1.into();
    let answer = desk.while_waiting("click_and_traverse", delayed, || {
        person.point(at.x as u16, at.y as u16);
        person.buttons(1);
        until("the button down", || bed.screen().pressed().1 != 0);
    });
    assert_eq!(bed.screen().pointer(), (at.x, at.y), "{answer}");
    person.buttons(0);
}

#[test]
fn a_menu_that_the_person_has_closed_is_not_waited_for() {
    let bed = bed();
    let desk = Desk::at(&bed);
    let mut person = Person::at(&bed);
    let menu = json!({"pid": desk.app.pid, "element": "File", "role": "AXMenuBarItem"});
    let open = desk.server.call("click_and_traverse", menu).ok();
    assert!(open.line_of("AXMenuItem", "New").visible, "{open}");
    assert_eq!(bed.screen().front(), desk.app.window.id);
    // The first click closes the menu, the second reaches the window.
    let (x, y, w, _) = desk.mail.window_now().bounds;
    let title = ((x + w as i32 / 2) as u16, (y + 12) as u16);
    until("the mail in front", || {
        person.click(title.0, title.1);
        std::thread::sleep(Duration::from_millis(50));
        (bed.screen().front() == desk.mail.window.id).then_some(())
    });
    let pointer = bed.screen().pointer();
    // A link about another app restores the person's current window.
    let answer = desk.server.press_key(desk.theirs.pid, "F9", &[]).ok();
    assert_eq!(bed.screen().front(), desk.mail.window.id, "{answer}");
    assert_eq!(bed.screen().pointer(), pointer, "{answer}");
}
