//! The virtual devices of a seat as an input port.

use deskline_contract::{Error, Result};
use deskline_core::{KeyPress, Modifiers, Point};
use deskline_input::{Button, Cancel, Gap, InputError, Port, Stroke};
use wayland_client::protocol::wl_pointer::Axis;

use crate::compositor::{BoxedPort, plus};
use crate::events::button_code;
use crate::keymap::{self, Gives};
use crate::reader;
use crate::wlroots::client::Client;
use crate::wlroots::input::Input;

pub(crate) struct VirtualDevices<'a> {
    pub(crate) input: &'a mut Input,
    pub(crate) client: &'a mut Client,
    /// The offset from points to positions in the layout.
    pub(crate) offset: (f64, f64),
}

impl Input {
    /// The virtual pointer and keyboard. They add `offset` to the points that they are given.
    pub(crate) fn port<'a>(
        &'a mut self,
        client: &'a mut Client,
        offset: (f64, f64),
    ) -> BoxedPort<'a> {
        Box::new(VirtualDevices {
            input: self,
            client,
            offset,
        })
    }
}

impl Port for VirtualDevices<'_> {
    type Error = Error;
    type Key = u32;

    fn go(&mut self, to: Point) -> Result<()> {
        let (x, y) = plus(to, self.offset);
        let to = Point::at(x as i32, y as i32);
        let layout = self.input.layout;
        let pointer = self.input.pointer(self.client)?;
        pointer.go(self.client, layout, to)
    }

    fn button(&mut self, button: Button, down: bool, _nth: u8) -> Result<()> {
        let pointer = self.input.pointer(self.client)?;
        pointer.button(self.client, button_code(button), down)
    }

    fn key(&mut self, code: &u32, down: bool) -> Result<()> {
        let keyboard = self.input.keyboard(self.client)?;
        keyboard.key(self.client, *code, down);
        Ok(())
    }

    fn wheel(&mut self, right: i32, down: i32) -> Result<()> {
        let pointer = self.input.pointer(self.client)?;
        pointer.turn(self.client, Axis::VerticalScroll, down)?;
        pointer.turn(self.client, Axis::HorizontalScroll, right)
    }

    fn sync(&mut self) -> Result<()> {
        self.client.roundtrip()
    }

    /// Binds the characters of the text to keys, as many as fit into one keymap.
    fn lacks(&mut self, text: &[char]) -> Result<Option<(Vec<usize>, Gap)>> {
        let refused = self.input.pid.and_then(|pid| reader::refused(text, pid));
        if refused.is_none() {
            let keyboard = self.input.keyboard(self.client)?;
            keyboard.bind(self.client, &chars(text))?;
        }
        Ok(refused)
    }

    fn stroke(&mut self, text: &[char], _: &Cancel) -> Result<Option<(Stroke<u32>, usize)>> {
        let Some(char) = text.first() else {
            return Ok(None);
        };
        let char = Gives::Char(*char);
        let keyboard = self.input.keyboard(self.client)?;
        if keyboard.code(char).is_none() {
            keyboard.bind(self.client, &chars(text))?;
        }
        let stroke = |key| Stroke { key, held: vec![] };
        Ok(keyboard.code(char).map(|code| (stroke(code), 1)))
    }

    fn press(&mut self, press: KeyPress, _: &Cancel) -> Result<Stroke<u32>> {
        let why = Gap::NoSuchKey;
        let gives = Gives::on_press(press).ok_or(InputError::NoKey { press, why })?;
        let keyboard = self.input.keyboard(self.client)?;
        keyboard.bind(self.client, &[gives])?;
        let code = keyboard.code(gives);
        Ok(Stroke {
            key: code.ok_or(InputError::NoKey { press, why })?,
            held: self.modifiers(press.modifiers)?,
        })
    }

    fn modifiers(&mut self, modifiers: Modifiers) -> Result<Vec<u32>> {
        let all = keymap::MODIFIERS.into_iter();
        let wanted = all.filter(|(its, _)| modifiers.contains(*its));
        Ok(wanted.map(|(_, (code, _))| code).collect())
    }
}

fn chars(text: &[char]) -> Vec<Gives> {
    text.iter().copied().map(Gives::Char).collect()
}
