//! What may happen at any moment happens at each: the person moves, types or switches, the app dies or
//! hangs, something panics, Esc. After each link the promises hold.

use deskline_core::Point;

use crate::script::{Happening, person};
use crate::story::{EDITOR_WINDOW, MAIL, MUSIC_WINDOW, Story, click, press_ax};
use crate::world::{Health, World};

/// Links of each kind.
const LINKS: [fn(&mut Story); 7] = [
    |story| _ = story.click("Send"),
    |story| _ = story.click_then("To", Some("bob"), Some("Return")),
    |story| _ = story.type_text("bob"),
    |story| _ = story.press("Send"),
    |story| _ = story.set_value("To", "bob"),
    |story| _ = story.drag("Inbox", "Send"),
    |story| _ = story.chain(None, vec![click("To", Some("bob"), None), press_ax("Send")]),
];

/// Runs each link with something that happens before each of its calls.
fn at_each_step(happens: impl Fn() -> Happening, holds: impl Fn(&Story, usize)) {
    for link in LINKS {
        let mut calm = Story::new();
        link(&mut calm);
        assert!(!calm.is_error(), "{}", calm.text());
        for step in 1..=calm.calls().len() {
            let mut story = Story::new();
            story.before(step, happens());
            link(&mut story);
            is_let_go(&story, step);
            holds(&story, step);
        }
    }
}

fn context(story: &Story, step: usize) -> String {
    let calls = story.calls().join("\n");
    format!("step {step}\n{}\n{calls}\n{}", story.told(), story.seen())
}

/// Nothing is left pressed, held or listened to, and an error begins with what was done.
fn is_let_go(story: &Story, step: usize) {
    let context = || context(story, step);
    story.given(|world| {
        assert!(
            !world.guarded,
            "the guard holds: {}",
            world.reached.join(", ")
        );
        assert!(
            !world.keys_down,
            "a key is down: {}",
            world.reached.join(", ")
        );
    });
    let calls = story.calls();
    let stopped = calls
        .get(step - 1)
        .is_some_and(|call| call == "unwatch_person");
    let listens = story.given(|world| world.ear.is_some() || world.person.is_some());
    assert!(!listens || stopped, "{}", context());
    let (clicked, typed) = (did(&calls, "click "), did(&calls, "type_text"));
    if story.is_error() && !story.text().contains("no element matches") {
        let error = story.field("error");
        let unsure = ["may have gone in", "Some of the input", "is not known"];
        let says = [
            "Clicked",
            "Typed",
            "Pressed",
            "Set",
            "Dragged",
            "Did 1 of 2",
            "Step 1 of 2: Clicked",
        ];
        let said = says.iter().any(|verb| error.starts_with(verb));
        if clicked {
            assert!(said, "{error}\n{}", context());
        } else if typed {
            let unsure = unsure.iter().any(|words| error.contains(words));
            assert!(said || unsure, "{error}\n{}", context());
        }
    }
}

/// Whether a call of this name was made and another came after it.
fn did(calls: &[String], name: &str) -> bool {
    let at = calls.iter().position(|call| call.starts_with(name));
    at.is_some_and(|at| calls[at + 1..].iter().any(|call| call.starts_with("read")))
}

/// The call before which something happened.
fn at(story: &Story, step: usize) -> String {
    story.calls().get(step - 1).cloned().unwrap_or_default()
}

fn front(story: &Story) -> u64 {
    story.given(|world| world.front().map_or(0, |w| w.id))
}

fn pointer(story: &Story) -> Point {
    story.given(|world| world.pointer)
}

const THEIRS: Point = Point { x: 900, y: 700 };

#[test]
fn the_person_moves_the_pointer() {
    let moved = Point { x: 50, y: 390 };
    at_each_step(
        || person::moves(50, 390),
        |story, step| {
            assert!(!story.is_error(), "{}", context(story, step));
            let kept_out = story.given(|world| world.kept_out > 0);
            // Between the last look and the putting back nothing can be told.
            let too_late = at(story, step).starts_with("move_pointer");
            let wanted = if kept_out || too_late { THEIRS } else { moved };
            assert_eq!(pointer(story), wanted, "{}", context(story, step));
            assert_eq!(front(story), EDITOR_WINDOW, "{}", context(story, step));
        },
    );
}

#[test]
fn the_person_switches_to_another_window() {
    at_each_step(
        || person::switches_to(MUSIC_WINDOW),
        |story, step| {
            let kept_out = story.given(|world| world.kept_out > 0);
            let too_late = at(story, step) == "activate 3";
            let wanted = if kept_out || too_late {
                EDITOR_WINDOW
            } else {
                MUSIC_WINDOW
            };
            assert_eq!(front(story), wanted, "{}", context(story, step));
            assert!(!story.text().contains("Music"), "{}", context(story, step));
            assert!(
                !story
                    .calls()
                    .iter()
                    .any(|call| call.starts_with("read 300"))
            );
        },
    );
}

#[test]
fn the_person_types() {
    at_each_step(person::types, |story, step| {
        assert!(!story.is_error(), "{}", context(story, step));
        assert_eq!(front(story), EDITOR_WINDOW, "{}", context(story, step));
        assert_eq!(pointer(story), THEIRS, "{}", context(story, step));
    });
}

#[test]
fn the_person_presses_esc() {
    at_each_step(person::presses_esc, |story, step| {
        assert_eq!(front(story), EDITOR_WINDOW, "{}", context(story, step));
        assert_eq!(pointer(story), THEIRS, "{}", context(story, step));
    });
}

/// An app that changes its health.
fn mail_becomes(health: Health) -> impl Fn() -> Happening {
    move || Box::new(move |world: &mut World| world.becomes(MAIL, health))
}

#[test]
fn the_app_dies() {
    at_each_step(mail_becomes(Health::Dead), |story, step| {
        assert_eq!(front(story), EDITOR_WINDOW, "{}", context(story, step));
        assert_eq!(pointer(story), THEIRS, "{}", context(story, step));
    });
}

#[test]
fn the_app_hangs() {
    at_each_step(mail_becomes(Health::Hung), |story, step| {
        assert_eq!(front(story), EDITOR_WINDOW, "{}", context(story, step));
        assert_eq!(pointer(story), THEIRS, "{}", context(story, step));
    });
}

#[test]
fn something_panics() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|info| {
        let scripted = info.payload().downcast_ref::<&str>() == Some(&"scripted");
        if !scripted {
            eprintln!("{info}");
        }
    }));
    at_each_step(
        || Box::new(|_: &mut World| panic!("scripted")),
        |story, step| {
            let context = context(story, step);
            assert!(story.text().contains("internal error"), "{context}");
            // A step of the restore that panics is not repeated; the others are made all the same.
            let calls = story.calls();
            let restore = calls.iter().position(|call| call == "unwatch_person");
            if restore.is_some_and(|restore| restore < step) {
                let both = front(story) == EDITOR_WINDOW || pointer(story) == THEIRS;
                assert!(both, "{context}");
                return;
            }
            assert_eq!(front(story), EDITOR_WINDOW, "{context}");
            assert_eq!(pointer(story), THEIRS, "{context}");
        },
    );
    std::panic::set_hook(hook);
}
