//! A display in memory. A fault can strike at any of its steps.

use std::fmt;
use std::time::Duration;

use deskline_core::{Key, KeyPress, Modifiers, Point, Window};
use deskline_input::{
    Aim, Button, Cancel, Cancelled, Doing, Gap, Hands, InputError, Pace, Part, Port, Reason,
    Receiver, Rhythm, Scene, Stroke, Tempo, Under, Wait,
};

/// The characters of a part.
pub const PART: usize = 4;

/// The pid of the other window.
pub const OTHER: u32 = 99;

const SHIFT: u32 = 42;
const CONTROL: u32 = 29;
const ALT: u32 = 56;

/// A fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The person presses Esc.
    Cancel,
    /// Another window comes to the front, over everything.
    Focus,
    /// The step fails, and those after it do not.
    Fail,
    /// The connection is lost. The display releases what was pressed.
    Lose,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Failure {
    Input(InputError),
    Step,
    Lost,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl From<InputError> for Failure {
    fn from(e: InputError) -> Self {
        Self::Input(e)
    }
}

impl From<Cancelled> for Failure {
    fn from(cancelled: Cancelled) -> Self {
        Self::Input(cancelled.into())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    Go(Point),
    Button(Button, bool),
    Key(u32, bool),
    Wheel(i32, i32),
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = |down: bool| if down { '+' } else { '-' };
        match self {
            Self::Go(at) => write!(f, "go({},{})", at.x, at.y),
            Self::Button(button, down) => write!(f, "{}{button:?}", sign(*down)),
            Self::Key(code, down) => write!(f, "{}{code}", sign(*down)),
            Self::Wheel(right, down) => write!(f, "wheel({right},{down})"),
        }
    }
}

pub struct Script {
    pub cancel: Cancel,
    pub fault: Option<(Fault, usize)>,
    /// Whether the keys of a part are sent without a pause.
    pub burst: bool,
    /// Whether the app reads its keys.
    pub reads: bool,
    /// Whether the app ends while the pointer goes to it. Another window lies there then.
    pub ends: bool,
    /// How many steps there were.
    pub steps: usize,
    /// The step that first released a button.
    pub release: Option<usize>,
    pub events: Vec<Event>,
    /// How many events there were before the fault.
    pub before_fault: usize,
    /// The keys and buttons that the display has down.
    pub down: Vec<Event>,
    pub open: bool,
    pub doing: Option<Doing>,
    pub began: Vec<Doing>,
    /// The text that has reached the target, and another window.
    pub typed: String,
    pub strayed: String,
    wanted: usize,
    lost: bool,
    elsewhere: bool,
    hands: Hands<u32>,
}

impl Default for Script {
    fn default() -> Self {
        let mut hands = Hands::default();
        hands.aim = Some(Aim::new(7, None));
        Self {
            cancel: Cancel::new(),
            fault: None,
            burst: false,
            reads: true,
            ends: false,
            steps: 0,
            release: None,
            events: Vec::new(),
            before_fault: usize::MAX,
            down: Vec::new(),
            open: false,
            doing: None,
            began: Vec::new(),
            typed: String::new(),
            strayed: String::new(),
            wanted: 0,
            lost: false,
            elsewhere: false,
            hands,
        }
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let events: Vec<_> = self.events.iter().map(ToString::to_string).collect();
        f.write_str(&events.join(" "))
    }
}

impl Script {
    /// Counts a step, and lets the fault happen if it is due. A step that fails has no effect.
    fn step(&mut self) -> Result<(), Failure> {
        if self.lost {
            return Err(Failure::Lost);
        }
        let number = self.steps;
        self.steps += 1;
        let Some((fault, _)) = self.fault.filter(|(_, at)| *at == number) else {
            return Ok(());
        };
        self.before_fault = self.events.len();
        match fault {
            Fault::Cancel => self.cancel.cancel(Reason::Person),
            Fault::Focus => self.elsewhere = true,
            Fault::Fail => return Err(Failure::Step),
            Fault::Lose => {
                self.lost = true;
                self.down.clear();
                return Err(Failure::Lost);
            }
        }
        Ok(())
    }

    fn press(&mut self, up: Event, event: Event, down: bool) {
        if down {
            assert!(!self.down.contains(&event), "{event} is down: {self}");
            self.down.push(event);
        } else {
            // A press that failed is released all the same.
            self.down.retain(|held| *held != up);
        }
        self.events.push(event);
    }

    /// How many characters of the text have not been typed.
    pub fn missing(&self) -> usize {
        self.wanted - self.typed.chars().count() - self.strayed.chars().count()
    }

    pub fn was_drag(&self) -> bool {
        matches!(self.began.first(), Some(Doing::Drag(_)))
    }

    /// Where the button of a drag was released.
    pub fn dropped_at(&self) -> Option<Point> {
        let mut at = None;
        let (mut down, mut dropped) = (false, None);
        for event in &self.events {
            match event {
                Event::Go(to) => at = Some(*to),
                Event::Button(_, true) => down = true,
                Event::Button(_, false) if down => dropped = at,
                _ => {}
            }
        }
        dropped
    }
}

impl Port for Script {
    type Error = Failure;
    type Key = u32;

    fn go(&mut self, to: Point) -> Result<(), Failure> {
        self.step()?;
        self.events.push(Event::Go(to));
        Ok(())
    }

    fn button(&mut self, button: Button, down: bool, _nth: u8) -> Result<(), Failure> {
        if !down {
            self.release.get_or_insert(self.steps);
        }
        self.step()?;
        let event = |down| Event::Button(button, down);
        self.press(event(true), event(down), down);
        Ok(())
    }

    fn key(&mut self, code: &u32, down: bool) -> Result<(), Failure> {
        let strays = self.elsewhere;
        self.step()?;
        if let Some(char) = char::from_u32(*code).filter(|char| {
            down && self.doing == Some(Doing::Text) && *code != SHIFT && char.is_ascii()
        }) {
            let shift = self.down.contains(&Event::Key(SHIFT, true));
            let char = if shift {
                char.to_ascii_uppercase()
            } else {
                char
            };
            let reached = if strays {
                &mut self.strayed
            } else {
                &mut self.typed
            };
            reached.push(char);
        }
        let event = |down| Event::Key(*code, down);
        self.press(event(true), event(down), down);
        Ok(())
    }

    fn wheel(&mut self, right: i32, down: i32) -> Result<(), Failure> {
        self.step()?;
        self.events.push(Event::Wheel(right, down));
        Ok(())
    }

    fn sync(&mut self) -> Result<(), Failure> {
        self.step()
    }

    fn lacks(&mut self, text: &[char]) -> Result<Option<(Vec<usize>, Gap)>, Failure> {
        self.step()?;
        self.wanted = text.len();
        let lacking = (1..).zip(text).filter(|(_, char)| !char.is_ascii());
        let lacking: Vec<usize> = lacking.map(|(at, _)| at).collect();
        Ok((!lacking.is_empty()).then_some((lacking, Gap::Layout)))
    }

    fn stroke(
        &mut self,
        text: &[char],
        _cancel: &Cancel,
    ) -> Result<Option<(Stroke<u32>, usize)>, Failure> {
        let stroke = |char: &char| Stroke {
            key: char.to_ascii_lowercase().into(),
            held: if char.is_uppercase() {
                vec![SHIFT]
            } else {
                vec![]
            },
        };
        Ok(text.first().map(|char| (stroke(char), 1)))
    }

    fn press(&mut self, press: KeyPress, _cancel: &Cancel) -> Result<Stroke<u32>, Failure> {
        self.step()?;
        let Key::Char(char) = press.key else {
            return Err(Failure::Step);
        };
        Ok(Stroke {
            key: char.into(),
            held: self.modifiers(press.modifiers)?,
        })
    }

    fn modifiers(&mut self, modifiers: Modifiers) -> Result<Vec<u32>, Failure> {
        let all = [
            (Modifiers::CONTROL, CONTROL),
            (Modifiers::ALT, ALT),
            (Modifiers::SHIFT, SHIFT),
        ];
        let held = all.into_iter().filter(|(m, _)| modifiers.contains(*m));
        Ok(held.map(|(_, code)| code).collect())
    }
}

impl Scene for Script {
    type Error = Failure;
    type Key = u32;
    type Port<'p>
        = &'p mut Self
    where
        Self: 'p;

    fn port(&mut self) -> Result<&mut Self, Failure> {
        Ok(self)
    }

    fn hands(&mut self) -> &mut Hands<u32> {
        &mut self.hands
    }

    fn rhythm(&self) -> Rhythm {
        Rhythm {
            part: Part {
                least: PART,
                most: PART,
            },
            keys: if self.burst {
                Tempo::Burst(Duration::ZERO)
            } else {
                Tempo::Each(Duration::ZERO)
            },
            chord: Duration::ZERO,
            dwell: Duration::ZERO,
            between: Duration::ZERO,
            notches: 3,
            counted: false,
            drag: Pace {
                steps: 4,
                pause: Duration::ZERO,
                dwell: Duration::ZERO,
            },
        }
    }

    fn begin(&mut self, doing: Doing) -> Result<(), Failure> {
        self.began.push(doing);
        self.doing = Some(doing);
        self.step()
    }

    fn end(&mut self) -> Result<(), Failure> {
        assert!(self.down.is_empty(), "ended with {:?} down", self.down);
        self.doing = None;
        self.step()
    }

    fn open(&mut self) -> Result<(), Failure> {
        self.open = true;
        self.step()
    }

    fn close(&mut self) -> Result<(), Failure> {
        self.open = false;
        self.step()
    }

    fn keyboard(&mut self, _cancel: &Cancel) -> Result<Receiver, Failure> {
        assert!(self.hands.aim.is_some());
        let elsewhere = self.elsewhere;
        self.step()?;
        if !elsewhere {
            return Ok(Receiver::Target);
        }
        Ok(Receiver::Other(other()))
    }

    fn under(
        &mut self,
        _at: Point,
        end: Option<Point>,
        _cancel: &Cancel,
    ) -> Result<Under, Failure> {
        let elsewhere = self.elsewhere;
        self.step()?;
        Ok(match (elsewhere, end) {
            (false, _) => Under::Target,
            (true, None) => Under::Other(other()),
            (true, Some(_)) => Under::EndOther(other()),
        })
    }

    fn is_as_found(&mut self, _at: Point) -> Result<bool, Failure> {
        self.elsewhere |= self.ends;
        Ok(!self.ends)
    }

    fn grabber(&mut self, _cancel: &Cancel) -> Result<Option<String>, Failure> {
        self.step()?;
        Ok(None)
    }

    fn await_reader(&mut self, _wait: Wait, _cancel: &Cancel) -> Result<bool, Failure> {
        self.step()?;
        Ok(self.reads)
    }
}

fn other() -> Window {
    Window {
        title: "Theirs".into(),
        pid: Some(OTHER),
        ..Window::default()
    }
}
