//! Random calls.

use std::time::Duration;

use deskline_core::{KeyPress, Modifiers, Point, Ref, States};
use deskline_link::call::{Awaited, ClickKind, Input, Quiet, Typing};
use deskline_link::{Action, Button, Call, Options, Target, WindowTarget};
use fastrand::Rng;
use serde_json::{Map, Value, json};

use super::happenings::{Shared, number};
use crate::world::World;

/// The material for random calls.
struct Maker<'w> {
    rng: &'w mut Rng,
    log: &'w Shared,
    /// The texts of the target's elements.
    texts: Vec<String>,
    titles: Vec<String>,
    apps: Vec<(u32, String)>,
    refs: &'w [Ref],
}

pub(super) fn any(rng: &mut Rng, log: &Shared, world: &World, refs: &[Ref]) -> Call {
    let apps: Vec<(u32, String)> = world
        .apps
        .iter()
        .map(|(app, _)| (app.pid, app.name.clone()))
        .collect();
    let (pid, _) = apps[rng.usize(..apps.len())];
    let own = || world.stack.iter().filter(|w| w.pid == pid);
    let mut make = Maker {
        texts: own()
            .flat_map(|w| &w.nodes)
            .map(crate::world::Node::text)
            .collect(),
        titles: own().map(|w| w.title.clone()).collect(),
        rng,
        log,
        apps,
        refs,
    };
    let action = make.action();
    let mut call = if make.rng.u8(..10) == 0 {
        let steps: Vec<Action> = (0..make.rng.usize(1..5)).map(|_| make.step()).collect();
        let arguments = steps.iter().map(arguments).collect::<Vec<_>>();
        let mut call = Call::chain(pid, steps[0].clone(), steps[1..].to_vec());
        call.repeats = steps.iter().map(|_| make.rng.usize(1..3)).collect();
        call.arguments.insert("steps".into(), arguments.into());
        call
    } else {
        let arguments = arguments(&action);
        let mut call = Call::new(pid, action);
        call.arguments = arguments;
        call
    };
    let takes_window = call.is_chain
        || matches!(
            call.action,
            Action::Input(Input::Type { .. } | Input::PressKey { .. } | Input::Scroll { .. })
        );
    if takes_window && make.rng.u8(..) < 40 {
        call.window = make
            .rng
            .choice(&make.titles)
            .cloned()
            .map(WindowTarget::Titled);
    }
    if make.rng.u8(..) < 40 {
        let rng = make.rng;
        call.options = Options {
            traverse_before: rng.bool(),
            traverse_after: rng.bool(),
            show_diff: rng.bool(),
            only_visible_elements: rng.bool(),
            show_animation: rng.bool(),
            ..Options::default()
        };
    }
    call
}

/// The arguments that may hold secrets.
fn arguments(action: &Action) -> Map<String, Value> {
    let given = match action {
        Action::Input(Input::Type { typing } | Input::Click { then: typing, .. }) => {
            typing.text.as_ref().map(|text| json!({"text": text}))
        }
        Action::Quiet(Quiet::SetValue { value, .. }) => Some(json!({"value": value})),
        _ => None,
    };
    match given {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

/// The texts that an action enters somewhere.
pub(super) fn texts(action: &Action) -> Option<&str> {
    match action {
        Action::Input(Input::Type { typing } | Input::Click { then: typing, .. }) => {
            typing.text.as_deref()
        }
        Action::Quiet(Quiet::SetValue { value, .. }) => Some(value),
        _ => None,
    }
}

impl Maker<'_> {
    fn target(&mut self) -> Target {
        let reference = self.rng.choice(self.refs).copied();
        match (self.rng.u8(..16), reference) {
            (0, _) => Target::Point(Point::at(self.rng.i32(0..900), self.rng.i32(0..700))),
            (1, _) => Target::text("no such text"),
            (2..5, Some(reference)) => Target::Ref(reference),
            _ => {
                let text = self.rng.choice(&self.texts).cloned();
                Target::text(text.unwrap_or("Press".into()))
            }
        }
    }

    /// A text that no other call has; sometimes it holds keys that move the focus.
    fn text(&mut self) -> String {
        let n = number(self.log);
        let between = ["", "", "", "\t", "\n"][self.rng.usize(..5)];
        format!("{n:06}z{between}qx{n:06}")
    }

    fn key(&mut self) -> KeyPress {
        const KEYS: [&str; 7] = ["Return", "Tab", "Escape", "Down", "x", "F5", "Delete"];
        let held: &[&str] = if self.rng.u8(..) < 40 {
            &["Control"]
        } else {
            &[]
        };
        KeyPress::parse(KEYS[self.rng.usize(..KEYS.len())], held).unwrap()
    }

    fn typing(&mut self, often: u8) -> Typing {
        Typing {
            text: (self.rng.u8(..) < often).then(|| self.text()),
            paste: self.rng.u8(..) < 6,
            key: (self.rng.u8(..) < 60).then(|| self.key()),
        }
    }

    fn action(&mut self) -> Action {
        match self.rng.u8(..16) {
            0 => Action::Refresh,
            1 => {
                let known = self.apps[self.rng.usize(..self.apps.len())].1.clone();
                Action::open(if self.rng.bool() { &known } else { "nothing" })
            }
            _ => self.step(),
        }
    }

    /// An action that a chain can contain.
    fn step(&mut self) -> Action {
        let target = self.target();
        match self.rng.u8(..20) {
            0..6 => {
                let kind = match self.rng.u8(..8) {
                    0 => ClickKind::double(),
                    1 => ClickKind::with_button(Button::Right),
                    2 => ClickKind::with_button(Button::Middle),
                    _ => ClickKind::default(),
                };
                let then = self.typing(70);
                Action::Input(Input::Click { target, kind, then })
            }
            6..9 => {
                let mut typing = self.typing(0);
                typing.text = Some(self.text());
                Action::type_text(typing)
            }
            9 | 10 => Action::press_key(self.key()),
            11 => Action::Input(Input::Scroll {
                at: target,
                delta_x: 0,
                delta_y: self.rng.i32(-5..5),
                until: None,
            }),
            12 => {
                let to = self.target();
                let to_pid = self.rng.choice(&self.apps).map(|(pid, _)| *pid);
                Action::Input(Input::Drag {
                    from: target,
                    to,
                    to_pid: to_pid.filter(|_| self.rng.bool()),
                    modifiers: Modifiers::empty(),
                })
            }
            13 => Action::hover(target),
            14 if self.texts.iter().any(|text| text.starts_with("Size")) => {
                let sizes = |text: &&String| text.starts_with("Size");
                let text = self.texts.iter().find(sizes).cloned().unwrap_or_default();
                Action::choose(Target::text(text), "Pick")
            }
            15 | 16 => Action::set_value(target, self.text()),
            17 => Action::press_ax(target),
            18 => Action::set_selected(target, self.rng.bool()),
            _ => {
                let states = [
                    Awaited::Present,
                    Awaited::Absent,
                    Awaited::Visible,
                    Awaited::State(States::CHECKED),
                ];
                Action::WaitFor {
                    target,
                    state: states[self.rng.usize(..states.len())],
                    timeout: Duration::from_millis(self.rng.u64(..4)),
                }
            }
        }
    }
}
