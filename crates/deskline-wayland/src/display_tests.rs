use deskline_core::{Key, KeyPress, Modifiers};
use deskline_input::{Button, Click, Part, Port, Stroke};

use super::*;

use crate::compositor::{Listing, Located, Manner, plus};

/// A compositor that gives scripted answers and records what is sent.
#[derive(Default)]
struct Scripted {
    /// The answers to each check of the keyboard; the last one repeats.
    keyboard: Vec<Keyboard>,
    over: Option<(Point, Window)>,
    counts_from_window: bool,
    located: Option<Located>,
    /// Whether `locate` fails.
    lost: bool,
    sent: Sent,
}

#[derive(Default)]
struct Sent(Vec<String>);

/// The devices, with the offset that they add to points.
struct Recorder<'a>(&'a mut Sent, (f64, f64));

impl Port for Recorder<'_> {
    type Error = Error;
    type Key = u32;

    fn go(&mut self, to: Point) -> Result<()> {
        let there = plus(to, self.1);
        self.0.0.push(format!("go {there:?}"));
        Ok(())
    }

    fn button(&mut self, button: Button, down: bool, _: u8) -> Result<()> {
        let sign = if down { '+' } else { '-' };
        self.0.0.push(format!("{sign}{button:?}"));
        Ok(())
    }

    fn key(&mut self, code: &u32, down: bool) -> Result<()> {
        self.0.0.extend(down.then(|| {
            let char = char::from_u32(*code);
            char.unwrap_or_default().to_string()
        }));
        Ok(())
    }

    fn wheel(&mut self, right: i32, down: i32) -> Result<()> {
        self.0.0.push(format!("wheel {right} {down}"));
        Ok(())
    }

    fn stroke(&mut self, text: &[char], _: &Cancel) -> Result<Option<(Stroke<u32>, usize)>> {
        let stroke = |char: &char| Stroke {
            key: u32::from(*char),
            held: vec![],
        };
        Ok(text.first().map(|char| (stroke(char), 1)))
    }

    fn press(&mut self, _: KeyPress, _: &Cancel) -> Result<Stroke<u32>> {
        Err(DisplayError::NoKeymap.into())
    }

    fn modifiers(&mut self, _: Modifiers) -> Result<Vec<u32>> {
        Ok(vec![])
    }
}

impl Raising for Scripted {
    fn activate(&mut self, _: WindowId, _: &Cancel) -> Result<()> {
        Ok(())
    }
}

impl Compositor for Scripted {
    fn manner(&self) -> Manner<'_> {
        Manner {
            counts_from_window: self.counts_from_window,
            part: Part { least: 4, most: 4 },
            ..Manner::PLAIN
        }
    }

    fn pictures(&mut self) -> Offer<&mut dyn Pictures> {
        Err(Missing::new("none"))
    }

    fn windows(&mut self) -> Result<Listing> {
        Ok(Listing::Listed(Vec::new()))
    }

    fn keyboard(&mut self, _: Option<Aim>, _: &Cancel) -> Result<Keyboard> {
        Ok(match self.keyboard.len() {
            0 => Keyboard::Nobody,
            1 => self.keyboard[0].clone(),
            _ => self.keyboard.remove(0),
        })
    }

    fn over(&mut self, at: Point, _: Aim) -> Result<Option<Window>> {
        let over = self.over.iter().find(|(place, _)| *place == at);
        Ok(over.map(|(_, other)| other.clone()))
    }

    fn locate(&mut self, _: Option<Aim>, _: &[Point], _: &Cancel) -> Result<Located> {
        if self.lost {
            return Err(DisplayError::ContentUnknown.into());
        }
        Ok(self.located.unwrap_or(Located::MIDDLE))
    }

    fn devices(&mut self, offset: (f64, f64)) -> Result<BoxedPort<'_>> {
        Ok(Box::new(Recorder(&mut self.sent, offset)))
    }

    fn release(&mut self) {
        self.sent.0.push("release".into());
    }
}

const AT: Point = Point { x: 5, y: 6 };
const TO: Point = Point { x: 50, y: 60 };

const AIM: Aim = Aim::new(7, Some(WindowId(1)));

fn window(id: u64, pid: u32) -> Keyboard {
    Keyboard::toplevel(Window {
        id: WindowId(id),
        pid: Some(pid),
        title: format!("{id} of {pid}"),
        ..Window::default()
    })
}

fn display(compositor: Scripted) -> WaylandDisplay<Scripted> {
    let mut display = WaylandDisplay::new(compositor);
    display.set_aim(AIM);
    display
}

/// A display on which the keyboard moves along this list, one step per check.
fn with_keyboard(keyboard: &[Keyboard]) -> WaylandDisplay<Scripted> {
    display(Scripted {
        keyboard: keyboard.to_vec(),
        ..Scripted::default()
    })
}

/// Types, and returns the error and the characters sent.
fn typed(keyboard: &[Keyboard]) -> (String, String) {
    let mut display = with_keyboard(keyboard);
    let typed = display.type_text("one two", &Cancel::new());
    let error = typed.err().map_or_else(String::new, |e| e.to_string());
    (error, display.compositor.sent.0.concat())
}

#[test]
fn keys_go_only_to_the_window_that_they_are_for() {
    let its = window(1, 7);
    assert_eq!(
        typed(std::slice::from_ref(&its)),
        (String::new(), "one two".to_owned())
    );
    let ends = [
        (window(9, 8), "'9 of 8'"),
        (window(2, 7), "another window of the app, '2 of 7'"),
        (Keyboard::Nobody, "no window has the keyboard"),
        (Keyboard::Unclear("two claim it".into()), "two claim it"),
    ];
    for (then, why) in ends {
        let (error, sent) = typed(std::slice::from_ref(&then));
        assert!(
            error.contains(why) && error.contains("Nothing was typed"),
            "{error}"
        );
        assert!(sent.is_empty(), "{sent:?}");
        let (error, sent) = typed(&[its.clone(), then]);
        let so_far = "The first 4 of 7 characters were typed";
        assert!(error.contains(why) && error.contains(so_far), "{error}");
        assert_eq!(sent, "one ");
    }
}

#[test]
fn a_pop_up_of_the_app_may_have_the_keyboard() {
    let window = Window {
        id: WindowId(2),
        pid: Some(7),
        ..Window::default()
    };
    let menu = Keyboard::Window {
        window,
        popup: true,
    };
    assert_eq!(typed(&[menu]).1, "one two");
}

#[test]
fn a_key_is_not_pressed_in_another_window() {
    let down = KeyPress {
        key: Key::Down,
        modifiers: Modifiers::empty(),
    };
    let mut display = with_keyboard(&[window(9, 8)]);
    let pressed = display.press_key(down, Duration::ZERO, &Cancel::new());
    assert!(pressed.is_err_and(|e| e.to_string().contains("The key was not pressed")));
    assert!(display.compositor.sent.0.is_empty());
}

#[test]
fn the_pointer_does_nothing_where_another_window_lies() {
    let over = |place| {
        let over = Window {
            pid: Some(8),
            title: "Over".to_owned(),
            ..Window::default()
        };
        display(Scripted {
            over: Some((place, over)),
            ..Scripted::default()
        })
    };
    let cancel = Cancel::new();
    let mut display = over(AT);
    let results = [
        display.click(Click::left(AT), &mut || None, &cancel),
        display.scroll(AT, (0, 1), &cancel),
        display.drag([AT, TO], Modifiers::empty(), &cancel),
        over(TO).drag([AT, TO], Modifiers::empty(), &cancel),
    ];
    for result in results {
        assert!(result.is_err_and(|e| e.to_string().contains("'Over'")));
    }
    assert!(display.compositor.sent.0.is_empty());
    let mut display = over(TO);
    let clicked = display.click(Click::left(AT), &mut || None, &cancel);
    assert!(clicked.is_ok());
    assert_eq!(
        display.compositor.sent.0,
        ["go (5.5, 6.5)", "+Left", "-Left"]
    );
}

#[test]
fn a_window_of_unknown_place_is_clicked_only_in_front() {
    let click = |keyboard: &[Keyboard], late| {
        let mut display = display(Scripted {
            keyboard: keyboard.to_vec(),
            counts_from_window: true,
            located: Some(Located {
                offset: (100.0, 200.0),
                late,
            }),
            ..Scripted::default()
        });
        let clicked = display.click(Click::left(AT), &mut || None, &Cancel::new());
        (clicked.is_ok(), display.compositor.sent.0)
    };
    let sent = ["go (105.0, 206.0)", "+Left", "-Left"].map(str::to_owned);
    let (its, other) = (window(1, 7), window(9, 8));
    assert_eq!(
        click(std::slice::from_ref(&its), true),
        (true, sent.to_vec())
    );
    assert_eq!(
        click(&[its.clone(), other.clone()], false),
        (true, sent.to_vec())
    );
    let released = vec!["release".to_owned()];
    assert_eq!(click(&[its, other.clone()], true), (false, released));
    assert_eq!(click(&[other], true), (false, vec![]));
}

#[test]
fn an_error_names_another_front_window_rather_than_an_unknown_place() {
    let click = |keyboard: &[Keyboard]| {
        let mut display = display(Scripted {
            keyboard: keyboard.to_vec(),
            counts_from_window: true,
            lost: true,
            ..Scripted::default()
        });
        let clicked = display.click(Click::left(AT), &mut || None, &Cancel::new());
        assert_eq!(display.compositor.sent.0, ["release"]);
        clicked.map_or_else(|e| e.to_string(), |()| String::new())
    };
    assert!(click(&[window(1, 7)]).contains("translucent"));
    assert!(click(&[window(1, 7), window(9, 8)]).contains("'9 of 8'"));
}
