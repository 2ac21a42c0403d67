//! Texts from the Text interface: which elements are asked for it, which part of a long text is
//! kept, and which texts are left out because the name or the children have them.

use deskline_core::Text;

use super::{Engine, Node, clip};
use crate::names::{StateSet, role};
use crate::request::Request;
use crate::toolkits::Prose;

/// Marks the position of a child in a text.
const CHILD: char = '\u{fffc}';

/// The maximum number of characters on a terminal's screen: a longer text includes the scrollback.
const MOST_SCREEN: usize = 20_000;

/// How far inside an element its first visible character is searched: text views have margins of
/// some pixels.
const MARGIN: i32 = 8;

impl Engine<'_> {
    /// Whether a node can have text that neither its name nor its children contain.
    pub(super) fn may_have_text(&self, node: &Node, kind: u32) -> bool {
        let editable = node.states.has(StateSet::EDITABLE);
        let whole = editable || matches!(kind, role::COMBO_BOX | role::TERMINAL);
        let leaf = node.children.is_empty() || whole;
        let nameless = node.name.is_empty();
        match self.toolkit.prose() {
            Prose::InLeaves => role::holds_text(kind) && leaf,
            Prose::InParents => {
                role::holds_text(kind)
                    || role::is_prose(kind)
                    || role::is_message(kind)
                    || kind == role::DATE_EDITOR
                    || nameless && role::is_named_by_its_text(kind)
            }
            Prose::Anywhere => {
                // A text view of Qt is no leaf: it has its viewport as a child.
                role::holds_text(kind) && (leaf || kind == role::TEXT)
                    || kind == role::PAGE
                    || nameless && leaf && role::is_named_by_its_text(kind)
            }
        }
    }

    /// Requests the element's text, which has this length, or the relevant part of it.
    pub(super) fn on_text_length(&mut self, index: usize, length: i32) {
        let node = &self.nodes[index];
        let Ok(total) = usize::try_from(length) else {
            return;
        };
        // If there are as many characters as children, each stands for a child. The element then
        // has no text of its own.
        let editable = node.states.has(StateSet::EDITABLE);
        let children = self.toolkit.prose() == Prose::InParents && node.children.len() == total;
        if total == 0 || children && !editable {
            return;
        }
        // The length is not recorded for a text that fits: Qt 5 counts UTF-16 units.
        if total <= Text::LIMIT {
            self.queue.push_back((index, Request::Text(0, length)));
            return;
        }
        let focused = node.states.has(StateSet::FOCUSED);
        let ask_caret = focused || node.role == Some(role::TERMINAL);
        let showing = node.showing;
        self.nodes[index].value.omitted_after = total;
        match showing {
            false => self.ask_part(index, 0),
            true if ask_caret => self.queue.push_back((index, Request::Caret)),
            true => self.ask_first_shown(index),
        }
    }

    /// Handles the caret's place in a text; `None` if there is no caret.
    pub(super) fn on_caret(&mut self, index: usize, caret: Option<usize>) {
        let node = &mut self.nodes[index];
        let total = node.value.omitted_after;
        if node.role == Some(role::TERMINAL) && total <= MOST_SCREEN {
            node.value.omitted_before = caret.unwrap_or(total);
            self.queue
                .push_back((index, Request::Text(0, total as i32)));
            return;
        }
        match caret {
            Some(caret) => self.ask_part(index, caret),
            None => self.ask_first_shown(index),
        }
    }

    /// Handles the place of the first visible character; `None` if the app does not report it.
    pub(super) fn on_first_shown(&mut self, index: usize, first: Option<usize>) {
        // `ask_part` begins at half the limit before the place it is given. So the place is that
        // far behind the first visible character.
        let at = first.map_or(0, |first| first + Text::LIMIT / 2);
        self.ask_part(index, at);
    }

    /// Handles a refusal. If the app does not know a place in a text, the next best place is
    /// requested.
    pub(super) fn on_text_refused(&mut self, index: usize, request: Request) {
        match request {
            Request::Caret => self.on_caret(index, None),
            Request::OffsetAt(..) => self.on_first_shown(index, None),
            Request::Text(..) => self.nodes[index].value = Text::unread(),
            // Most elements have no Text interface.
            Request::TextLength => self.nodes[index].value = Text::default(),
            _ => {}
        }
    }

    fn ask_first_shown(&mut self, index: usize) {
        if !self.toolkit.answers_offset_at_point() {
            return self.ask_part(index, 0);
        }
        let clip = clip(&self.nodes, index).filter(|clip| !clip.is_empty());
        let Some(clip) = clip else {
            return self.ask_part(index, 0);
        };
        let x = clip.x + MARGIN.min(clip.w - 1);
        let y = clip.y + MARGIN.min(clip.h - 1);
        self.queue.push_back((index, Request::OffsetAt(x, y)));
    }

    fn ask_part(&mut self, index: usize, at: usize) {
        let value = &mut self.nodes[index].value;
        let part = Text::window(value.omitted_after, at);
        value.omitted_before = part.start;
        let request = Request::Text(part.start as i32, part.end as i32);
        self.queue.push_back((index, request));
    }

    pub(super) fn on_text(&mut self, index: usize, text: &str) {
        let node = &mut self.nodes[index];
        let (before, total) = (node.value.omitted_before, node.value.omitted_after);
        let only_children =
            text.contains(CHILD) && text.chars().all(|c| c == CHILD || c.is_whitespace());
        node.value = if only_children {
            Text::default()
        } else if node.role == Some(role::TERMINAL) && total <= MOST_SCREEN {
            screen(text, before)
        } else {
            Text::part(text, before, total)
        };
    }
}

/// The text on a terminal's screen, without the empty lines at its end. If it is long, only the
/// part around the caret.
fn screen(text: &str, caret: usize) -> Text {
    let end = text.trim_end().len();
    let line_end = text[end..].find('\n').map_or(text.len(), |at| end + at);
    let text = &text[..line_end];
    let total = text.chars().count();
    let part = Text::window(total, caret);
    let shown: String = text.chars().skip(part.start).take(part.len()).collect();
    Text::part(shown, part.start, total)
}

/// Inserts the children's texts, and drops texts that are repeated. Called once, after everything
/// was read.
pub fn settle(nodes: &mut [Node]) {
    // A child comes after its container.
    for index in (0..nodes.len()).rev() {
        if let Some(value) = composed(nodes, index) {
            nodes[index].value = value;
            continue;
        }
        let node = &nodes[index];
        if node.value.shown.is_empty() || node.states.has(StateSet::EDITABLE) {
            continue;
        }
        let value = if node.value.shown.contains(CHILD) {
            embed(nodes, node)
        } else {
            node.value.clone()
        };
        let kept = !is_repeated(nodes, node, &value);
        nodes[index].value = if kept { value } else { Text::default() };
    }
}

/// The value of an element whose parts hold it: the chosen item of a combo box, the parts of a date
/// or a time. `None` for all other elements.
fn composed(nodes: &[Node], index: usize) -> Option<Text> {
    let node = &nodes[index];
    match node.role? {
        role::COMBO_BOX if node.value.is_blank() => node
            .chosen
            .as_ref()
            .and_then(|path| nodes.iter().find(|item| item.path == *path))
            .map(|item| item.name.clone())
            .or_else(|| chosen(nodes, index, LEVELS))
            .map(Text::new)
            .or_else(|| is_unread(nodes, index, LEVELS).then(Text::unread)),
        role::DATE_EDITOR if node.value.is_blank() || node.value.shown.contains(CHILD) => Some(
            Text::new(parts(nodes, index, DATE_LEVELS).unwrap_or_default()),
        ),
        _ if node.states.has(StateSet::EDITABLE) && node.value.shown.contains(CHILD) => {
            let is_part = |&child: &usize| nodes[child].role == Some(role::SPIN_BUTTON);
            let time = node.children.iter().any(is_part);
            time.then(|| Text::new(parts(nodes, index, DATE_LEVELS).unwrap_or_default()))
        }
        _ => None,
    }
}

/// The maximum number of levels from a combo box to its items. The items are in a menu or a list,
/// which may be in a scroll area.
const LEVELS: usize = 3;

/// The maximum number of levels from a date to its parts.
const DATE_LEVELS: usize = 8;

/// Whether some descendants, at most this many levels down, were not read because time ran out.
fn is_unread(nodes: &[Node], index: usize, levels: usize) -> bool {
    let node = &nodes[index];
    !node.children_read
        || node.children.iter().any(|&child| {
            nodes[child].role.is_none() || levels > 1 && is_unread(nodes, child, levels - 1)
        })
}

/// The selected item of a list or menu in a combo box, at most this many levels down.
fn chosen(nodes: &[Node], index: usize, levels: usize) -> Option<String> {
    nodes[index].children.iter().find_map(|&child| {
        let node = &nodes[child];
        let is_item = matches!(node.role, Some(role::MENU_ITEM | role::LIST_ITEM));
        if is_item && node.states.has(StateSet::SELECTED) {
            return Some(own_text(node).trim().to_owned());
        }
        (levels > 1).then(|| chosen(nodes, child, levels - 1))?
    })
}

/// The texts of the parts of a date or time, with the separators between them; `None` if a part is
/// not set. The button that opens a calendar is not a part.
fn parts(nodes: &[Node], index: usize, levels: usize) -> Option<String> {
    let levels = levels.checked_sub(1)?;
    let node = &nodes[index];
    let own = node.value.shown.as_str();
    match node.role? {
        role::PUSH_BUTTON => return Some(String::new()),
        role::STATIC | role::LABEL => return Some(own_text(node).to_owned()),
        role::SPIN_BUTTON | role::ENTRY | role::TEXT => {
            return Some(own.to_owned()).filter(|own| !own.trim().is_empty());
        }
        _ => {}
    }
    if node.children.is_empty() {
        return Some(own.to_owned());
    }
    let mut children = node.children.iter();
    let mut whole = String::new();
    // Gecko has the separators in the text of the parts' container.
    for c in own.chars() {
        if c == CHILD {
            let child = children.next();
            whole += &child.map_or(Some(String::new()), |&child| parts(nodes, child, levels))?;
        } else {
            whole.push(c);
        }
    }
    for &child in children {
        whole += &parts(nodes, child, levels)?;
    }
    Some(whole.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The node's text, with the texts of the node's children inserted.
fn embed(nodes: &[Node], node: &Node) -> Text {
    let text = &node.value;
    let mut children = node.children.iter().map(|&child| &nodes[child]);
    // If the text was not read from its start, it is unknown which mark stands for which child.
    let known = text.omitted_before == 0
        && (text.is_cut() || text.shown.matches(CHILD).count() == node.children.len());
    let mut whole = String::with_capacity(text.shown.len());
    let mut apart = false;
    for c in text.shown.chars() {
        if c != CHILD {
            let word = std::mem::take(&mut apart) && !c.is_whitespace();
            whole.extend(word.then_some(' '));
            whole.push(c);
            continue;
        }
        let Some(child) = children.next().filter(|_| known) else {
            continue;
        };
        let said = own_text(child);
        let block = !child.role.is_some_and(role::is_inline) && !said.is_empty();
        if (apart || block) && !whole.is_empty() && !whole.ends_with(char::is_whitespace) {
            whole.push(' ');
        }
        whole.push_str(said);
        apart = block;
    }
    let kept = whole.chars().count();
    let total = kept + text.omitted_before + text.omitted_after;
    Text::part(whole, text.omitted_before, total)
}

fn own_text(node: &Node) -> &str {
    if node.name.trim().is_empty() {
        &node.value.shown
    } else {
        &node.name
    }
}

/// Whether the node's name, or its children, repeat this text.
fn is_repeated(nodes: &[Node], node: &Node, value: &Text) -> bool {
    if node.role.is_some_and(|kind| !role::holds_text(kind))
        && value.shown.trim() == node.name.trim()
    {
        return true;
    }
    if node.children.is_empty() || node.role == Some(role::COMBO_BOX) {
        return false;
    }
    let squeezed = |text: &str| -> String { text.split_whitespace().collect() };
    let children = node.children.iter();
    let said: String = children.map(|&c| squeezed(own_text(&nodes[c]))).collect();
    !said.is_empty() && said.contains(&squeezed(&value.shown))
}

#[cfg(test)]
mod tests;
