//! Where a character of a text is. The place of the first character shows the text direction of a
//! control.

use deskline_contract::Result;
use deskline_core::{Rect, Role, Tree};

use crate::atspi::{AtSpi, Located};
use crate::bus::Message;
use crate::decode;
use crate::request::Request;
use crate::toolkits::Toolkit;
use crate::tree::split_id;

impl AtSpi {
    /// The bounds on the screen of character `at` of an element's own text.
    ///
    /// # Errors
    /// The connection to the bus is lost.
    pub fn character(&mut self, tree: &Tree, index: usize, at: usize) -> Result<Option<Rect>> {
        let Some((element, top)) = tree.elements.get(index).zip(tree.toplevel(index)) else {
            return Ok(None);
        };
        let mut located = self.locate(&element.id)?;
        if !located.toolkit.is_some_and(Toolkit::knows_the_screen) {
            let place = element
                .extents
                .filter(|_| at == 0 && located.is_right_to_left(tree, top));
            let end = place.map(|p| Rect::at(p.x.saturating_add(p.w - p.h / 4 * 3), p.y, 1, p.h));
            return Ok(end);
        }
        let Ok((space, _)) = located.space(tree, top) else {
            return Ok(None);
        };
        let reply = located
            .app
            .ask(&located.path, Request::CharacterExtents(at as i32));
        let raw = reply.ok().and_then(|message| decode::extents(&message));
        let raw = raw.filter(|raw| raw.h > 0);
        Ok(raw.map(|raw| {
            space.on_screen(Rect {
                w: raw.w.max(1),
                ..raw
            })
        }))
    }
}

impl Located<'_> {
    /// Whether the texts of a GTK 4 window are aligned to the right, as in a right-to-left
    /// language. GTK 4.8 reports neither the direction nor the place of a character.
    fn is_right_to_left(&mut self, tree: &Tree, top: usize) -> bool {
        const ASKED: usize = 3;
        let texts = (top..tree.elements.len()).filter(|&at| {
            let element = &tree.elements[at];
            element.visible && element.role == Role::STATIC_TEXT && tree.is_inside(at, top)
        });
        let mut texts = texts.take(ASKED).peekable();
        texts.peek().is_some()
            && texts.all(|at| {
                let path = split_id(&tree.elements[at].id).map_or("", |(_, path)| path);
                let reply = self.app.ask(path, Request::TextAttributes).ok();
                let right = |message: Message| {
                    let value = decode::attribute(&mut message.reader(), "justification");
                    value.is_ok_and(|value| value.as_deref() == Some("right"))
                };
                reply.is_some_and(right)
            })
    }
}
