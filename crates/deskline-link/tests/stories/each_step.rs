//! Each event that can happen at any moment is tried before every call of a link: the person moves,
//! types, switches or presses Esc; the app dies or hangs; something panics. After each link the
//! promises hold.

use std::time::Duration;

use deskline_core::Point;
use deskline_link::call::Awaited;

use crate::choose::{choose, with_folders, with_sizes};
use crate::opened::notes;
use crate::script::{Happens, person};
use crate::story::{
    EDITOR_WINDOW, MAIL, MAIL_WINDOW, MUSIC_WINDOW, Story, click, opens_menu, press_ax, scrolls,
};
use crate::transaction::chooser;
use crate::world::{Health, ScriptWindow, World};

/// A link for the next story.
type Link = fn(&mut Story);

/// Links of each kind after which the person has their window and pointer back.
const LINKS: [Link; 11] = [
    |story| _ = story.click("Send"),
    |story| _ = story.click_then("To", Some("bob"), Some("Return")),
    |story| _ = story.type_text("bob"),
    |story| _ = story.press_key("Return"),
    |story| _ = story.press("Send"),
    |story| _ = story.set_value("To", "bob"),
    |story| _ = story.drag("Inbox", "To"),
    |story| _ = story.run(scrolls(3, None)),
    |story| {
        story.given(with_folders);
        story.run(scrolls(1, Some("Folder 4")));
    },
    |story| _ = story.wait_for("Send", Awaited::Present, 200),
    |story| _ = story.chain(None, vec![click("To", Some("bob"), None), press_ax("Send")]),
];

/// Another such link. It survives an app that hangs for 10 s, because long texts take time.
const PASTE: Link = |story| _ = story.paste("bob");

/// Another such link. If the app hangs, the list stays open.
const CHOOSE: Link = |story| {
    story.given(with_sizes);
    story.run(choose("Large"));
};

/// Links that bring a new window to the front: the window of an app that is opened, and the dialog
/// of another process.
const LEADING_AWAY: [(&str, Link); 2] = [
    ("Untitled", |story| {
        story.script().installed = vec![("notes", notes)];
        story.open("notes");
    }),
    ("Open File", |story| {
        story.on_press("Send", chooser);
        story.click("Send");
    }),
];

/// Runs each link with an event before each of its calls.
fn at_each_step(happens: impl Happens + Copy, holds: impl Fn(&Story, usize)) {
    for link in LINKS.into_iter().chain([PASTE, CHOOSE]) {
        at_each_step_of(link, happens, &holds);
    }
}

/// Runs the links that lead to another window with an event before each of their calls. Afterwards
/// the new window is in front, or one that the person has chosen.
fn while_led_away(happens: impl Happens + Copy, chosen: &[u64]) {
    for (new, link) in LEADING_AWAY {
        let is_new = |w: &ScriptWindow| w.title == new;
        at_each_step_of(link, happens, &|story, step| {
            let may_be = |w: &ScriptWindow| is_new(w) || chosen.contains(&w.id);
            let stands = story.given(|world| world.front().is_some_and(may_be));
            assert!(stands, "{}", context(story, step));
        });
    }
}

fn at_each_step_of(link: Link, happens: impl Happens + Copy, holds: &impl Fn(&Story, usize)) {
    let mut calm = Story::new();
    link(&mut calm);
    assert!(!calm.is_error(), "{}", calm.text());
    for step in 1..=calm.calls().len() {
        let mut story = Story::new();
        story.before(step, happens);
        link(&mut story);
        is_let_go(&story, step);
        holds(&story, step);
    }
}

fn context(story: &Story, step: usize) -> String {
    let calls = story.calls().join("\n");
    format!(
        "step {step}\n{}\n{calls}\n{}",
        story.outcome(),
        story.seen()
    )
}

/// No key is pressed, no device held and no app listened to any more, and an error begins with the
/// actions so far.
fn is_let_go(story: &Story, step: usize) {
    let context = || context(story, step);
    story.given(|world| {
        assert!(
            !world.guarded,
            "the guard holds: {}",
            world.reached.join(", ")
        );
        assert_eq!(world.clipboard, "theirs", "{}", world.reached.join(", "));
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
        let unsure = [
            "may have arrived",
            "Some of the input",
            "may have been done",
        ];
        let says = [
            "Clicked",
            "Typed",
            "Pressed",
            "Set",
            "Opened",
            "Chose",
            "Dragged",
            "Did 1 of 2",
            "Step 1 of 2: Clicked",
        ];
        let is_named = says.iter().any(|verb| error.starts_with(verb));
        if clicked {
            assert!(is_named, "{error}\n{}", context());
        } else if typed {
            let unsure = unsure.iter().any(|words| error.contains(words));
            assert!(is_named || unsure, "{error}\n{}", context());
        }
    }
}

/// Whether a call of this name was made and another one came after it.
fn did(calls: &[String], name: &str) -> bool {
    let at = calls.iter().position(|call| call.starts_with(name));
    at.is_some_and(|at| calls[at + 1..].iter().any(|call| call.starts_with("read")))
}

/// The call that the event came before.
fn at(story: &Story, step: usize) -> String {
    story.calls().get(step - 1).cloned().unwrap_or_default()
}

fn pointer(story: &Story) -> Point {
    story.given(|world| world.pointer)
}

const THEIRS: Point = Point { x: 900, y: 700 };

#[test]
fn the_promises_hold_if_the_person_moves_the_pointer_at_any_step() {
    let moved = Point { x: 50, y: 390 };
    at_each_step(person::moves(50, 390), |story, step| {
        assert!(!story.is_error(), "{}", context(story, step));
        let kept_out = story.given(|world| world.kept_out > 0);
        // A motion after the last look at the pointer and before the restore is not noticed.
        let too_late = at(story, step).starts_with("move_pointer");
        let wanted = if kept_out || too_late { THEIRS } else { moved };
        assert_eq!(pointer(story), wanted, "{}", context(story, step));
        assert_eq!(story.front(), EDITOR_WINDOW, "{}", context(story, step));
    });
    while_led_away(person::moves(50, 390), &[EDITOR_WINDOW]);
}

#[test]
fn the_promises_hold_if_the_person_switches_windows_at_any_step() {
    at_each_step(person::switches_to(MUSIC_WINDOW), |story, step| {
        let kept_out = story.given(|world| world.kept_out > 0);
        let too_late = at(story, step) == "activate 3";
        let wanted = if kept_out || too_late {
            EDITOR_WINDOW
        } else {
            MUSIC_WINDOW
        };
        assert_eq!(story.front(), wanted, "{}", context(story, step));
        assert!(!story.text().contains("Music"), "{}", context(story, step));
        assert_eq!(story.count("read 300"), 0);
    });
    let chosen = [MUSIC_WINDOW, EDITOR_WINDOW];
    while_led_away(person::switches_to(MUSIC_WINDOW), &chosen);
}

#[test]
fn the_promises_hold_if_the_person_types_at_any_step() {
    at_each_step(person::types, |story, step| {
        assert!(!story.is_error(), "{}", context(story, step));
        assert_eq!(story.front(), EDITOR_WINDOW, "{}", context(story, step));
        assert_eq!(pointer(story), THEIRS, "{}", context(story, step));
    });
    while_led_away(person::types, &[EDITOR_WINDOW]);
}

#[test]
fn the_promises_hold_if_the_person_presses_esc_at_any_step() {
    at_each_step(person::presses_esc, |story, step| {
        assert_eq!(story.front(), EDITOR_WINDOW, "{}", context(story, step));
        assert_eq!(pointer(story), THEIRS, "{}", context(story, step));
    });
    while_led_away(person::presses_esc, &[EDITOR_WINDOW]);
    // The elements that were read before the error have refs.
    let delayed: Link = |story| {
        story.options.delay_after_action = Duration::from_millis(10);
        story.click("Send");
    };
    at_each_step_of(delayed, person::presses_esc, &|story, step| {
        let file = std::fs::read_to_string(story.field("file")).unwrap_or_default();
        let mut elements = file.lines().filter(|line| !line.starts_with('#'));
        assert!(
            elements.all(|line| line.contains(" #e")),
            "{file}{}",
            context(story, step)
        );
    });
}

/// The person's switch closes the menu, and the window that they switch to gets no text.
#[test]
fn no_input_goes_to_the_persons_window_if_a_menu_was_left_open() {
    let in_menu: Link = |story| {
        let happens = std::mem::take(&mut story.script().happenings);
        story.on_press("Send", opens_menu);
        story.click("Send");
        story.script().happenings = happens;
        story.click_then("Later", Some("bob"), None);
    };
    at_each_step_of(
        in_menu,
        person::switches_to(MUSIC_WINDOW),
        &|story, step| {
            assert!(
                !story.reached().contains("Music"),
                "{}",
                context(story, step)
            );
        },
    );
}

/// An app whose health changes.
fn mail_becomes(health: Health) -> impl Happens + Copy {
    move |world: &mut World| world.becomes(MAIL, health)
}

#[test]
fn the_promises_hold_if_the_app_dies_at_any_step() {
    at_each_step(mail_becomes(Health::Dead), |story, step| {
        assert_eq!(story.front(), EDITOR_WINDOW, "{}", context(story, step));
        assert_eq!(pointer(story), THEIRS, "{}", context(story, step));
    });
    while_led_away(mail_becomes(Health::Dead), &[EDITOR_WINDOW]);
}

#[test]
fn the_promises_hold_if_the_app_hangs_at_any_step() {
    let hangs = mail_becomes(Health::Hung);
    for link in LINKS {
        at_each_step_of(link, hangs, &|story, step| {
            assert_eq!(story.front(), EDITOR_WINDOW, "{}", context(story, step));
            assert_eq!(pointer(story), THEIRS, "{}", context(story, step));
        });
    }
    while_led_away(mail_becomes(Health::Hung), &[EDITOR_WINDOW]);
}

/// Then the window manager brings another window to the front, which nobody has chosen.
#[test]
fn no_other_app_gets_input_if_the_app_closes_its_last_window() {
    let closes = |world: &mut World| {
        world.close(MAIL_WINDOW);
        world.raise(MUSIC_WINDOW);
    };
    at_each_step(closes, |story, step| {
        assert!(
            !story.reached().contains("Music"),
            "{}",
            context(story, step)
        );
    });
}

#[test]
fn the_promises_hold_if_any_step_panics() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|info| {
        let scripted = info.payload().downcast_ref::<&str>() == Some(&"scripted");
        if !scripted {
            eprintln!("{info}");
        }
    }));
    at_each_step(
        |_: &mut World| panic!("scripted"),
        |story, step| {
            let context = context(story, step);
            assert!(story.text().contains("internal error"), "{context}");
            // A step of the restore that panics is not repeated. All other steps are still made.
            let calls = story.calls();
            let restore = calls.iter().position(|call| call == "release_all");
            if restore.is_some_and(|restore| restore < step) {
                let both = story.front() == EDITOR_WINDOW || pointer(story) == THEIRS;
                assert!(both, "{context}");
                return;
            }
            assert_eq!(story.front(), EDITOR_WINDOW, "{context}");
            assert_eq!(pointer(story), THEIRS, "{context}");
        },
    );
    while_led_away(|_: &mut World| panic!("scripted"), &[EDITOR_WINDOW]);
    std::panic::set_hook(hook);
}
