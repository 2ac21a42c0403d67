//! The text of a field, and whether it is the requested one.

use deskline_core::{Element, ElementId, Role, States, Text, Tree, escape, number};

use crate::error::{Mismatch, shown};
use crate::settle::compare::{self, Difference, Made, made_of};

/// The verdict about an action's effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The app has the requested state, or its state cannot be read.
    Agrees,
    /// The app has another state, perhaps the requested one in a form of its own. Leads to a note.
    Differs(String),
    /// The app has another state. Leads to an error.
    Failed(Mismatch),
}

/// A field as one reading found it: an element with a text or a number that can be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pid: u32,
    pub(crate) id: ElementId,
    role: Role,
    editable: bool,
    /// `'Code' [AXTextField]`
    pub(crate) name: String,
    /// The field's text; of a long text, the part around the caret. Hostile data.
    pub(crate) text: String,
    /// The length of the whole text, in characters.
    total: usize,
    /// Whether a person can read the field.
    shows: bool,
    /// Whether the text is put together from parts. Then its line ends are a guess.
    composed: bool,
    /// Whether the field is a paragraph of a word processor.
    paragraph: bool,
}

/// The longest addition behind a line, such as the indentation of the next line.
const LINE: usize = 80;

impl Field {
    /// `None` for secure fields, and for elements that are no fields: cells, whose text is a
    /// formula or its result, and terminals, whose text is another program's.
    pub(crate) fn new(tree: &Tree, index: usize) -> Option<Self> {
        let element = tree.elements.get(index)?;
        let Element { role, states, .. } = element;
        let is_field = match *role {
            Role::TEXT_FIELD | Role::SLIDER | Role::INCREMENTOR | Role::COMBO_BOX => true,
            // A text area that is read-only.
            Role::TEXT_AREA if !element.value.is_blank() => true,
            _ => states.contains(States::EDITABLE),
        };
        let no_field = states.contains(States::SECURE)
            || element.native_role == "terminal"
            || matches!(*role, Role::CELL | Role::TABLE | Role::OUTLINE);
        if !is_field || no_field || in_table(tree, index) || element.value.is_unread() {
            return None;
        }
        let (text, composed) = text_of(tree, index);
        let title = element.title.shown.trim();
        let name = match title {
            "" => format!("the [{}]", role.ax()),
            title => format!("'{}' [{}]", escape::short(title, 50), role.ax()),
        };
        Some(Self {
            pid: tree.app.pid,
            id: element.id.clone(),
            role: *role,
            editable: states.contains(States::EDITABLE),
            name,
            total: text.total(),
            shows: element.visible && element.extents.is_some_and(|e| e.w >= 12 && e.h >= 8),
            text: text.shown,
            composed,
            paragraph: element.native_role == "paragraph",
        })
    }

    /// The field in another reading, and its index. If the app has built the field anew, this is
    /// the only field with the same name.
    pub(crate) fn again(&self, tree: &Tree) -> Option<(usize, Self)> {
        if tree.app.pid != self.pid {
            return None;
        }
        let is = |e: &Element| e.role == self.role && e.states.contains(States::EDITABLE);
        let fields = || (0..tree.elements.len()).filter(|i| is(&tree.elements[*i]));
        let field = |i: usize| Some((i, Self::new(tree, i)?));
        let same = fields().find(|i| tree.elements[*i].id == self.id);
        if let Some(same) = same {
            return field(same);
        }
        let mut named = fields()
            .filter_map(field)
            .filter(|(_, f)| f.name == self.name);
        named.next().filter(|_| named.next().is_none())
    }

    /// The verdict about a text of several lines that are separate paragraphs, this field being the
    /// first. Also the verdict about a text for a field that the app has built anew.
    pub(crate) fn lines(&self, keys: &str, after: &Tree) -> Verdict {
        let Some((index, now)) = self.again(after) else {
            return Verdict::Agrees;
        };
        if !now.is(self) {
            return now.took(self, keys, false);
        }
        let next = (index + 1..after.elements.len())
            .filter(|i| after.parent(*i) == after.parent(index))
            .filter_map(|i| Self::new(after, i));
        let empty = Self {
            text: String::new(),
            total: 0,
            ..self.clone()
        };
        let olds = std::iter::once(self).chain(std::iter::repeat(&empty));
        let lines = keys.lines().zip(olds).zip(std::iter::once(now).chain(next));
        let mut verdicts = lines
            .take_while(|(_, field)| field.paragraph)
            .map(|((line, old), field)| field.took(old, line, false));
        verdicts
            .find(|verdict| *verdict != Verdict::Agrees)
            .unwrap_or(Verdict::Agrees)
    }

    /// Whether both are readings of one element.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.pid == other.pid && self.id == other.id
    }

    /// Whether this element contains the field.
    pub(crate) fn is_in(&self, tree: &Tree, outer: Option<usize>) -> bool {
        let at = tree.elements.iter().position(|e| e.id == self.id);
        at.zip(outer)
            .is_some_and(|(at, outer)| tree.is_inside(at, outer))
    }

    /// Whether the field has more characters than in an earlier reading.
    pub(crate) fn is_longer_than(&self, before: &Self) -> bool {
        self.is(before) && self.total > before.total
    }

    /// Whether an unchanged text proves that nothing was set. It does not in toolkits that do not
    /// report the text of a choice or the number of a slider.
    pub(crate) fn is_readable(&self) -> bool {
        self.editable || !self.text.trim().is_empty()
    }

    pub(crate) fn is_one_line(&self) -> bool {
        self.role != Role::TEXT_AREA && !self.paragraph
    }

    fn is_cut(&self) -> bool {
        self.text.chars().count() < self.total
    }

    /// Whether the field takes a choice and no text.
    pub(crate) fn is_choice(&self) -> bool {
        self.role == Role::COMBO_BOX && !self.editable
    }

    fn is_number(&self) -> bool {
        matches!(self.role, Role::SLIDER | Role::INCREMENTOR)
    }

    /// Whether the field's text is exactly `wanted`.
    pub(crate) fn says(&self, wanted: &str) -> bool {
        if !self.is_cut() {
            let exact = compare::equals(wanted, &self.text);
            return exact || self.composed && squeezed(&self.text) == squeezed(wanted);
        }
        // Of a long text, only a part was read. It may start anywhere.
        let wanted = wanted.replace("\r\n", "\n");
        self.total.abs_diff(wanted.chars().count()) <= 1 && wanted.contains(&self.text)
    }

    /// Whether the field shows this value in a form of its own: `3.00` for `3`, `2026-01-02` for
    /// `20260102`.
    pub(crate) fn means(&self, wanted: &str) -> bool {
        let (is, want) = (core(&self.text), core(wanted));
        !is.is_empty() && is == want || number::may_be_equal(&self.text, wanted)
    }

    /// Whether the field has this text with other white space.
    pub(crate) fn respaces(&self, wanted: &str) -> bool {
        !self.is_cut() && squeezed(&self.text) == squeezed(wanted)
    }

    /// How many characters of `wanted` are in the field. `None` if it has all of them, or any
    /// others.
    pub(crate) fn lost(&self, wanted: &str) -> Option<usize> {
        if self.is_number() {
            return None;
        }
        let all = wanted.chars().count();
        if self.is_cut() {
            return (self.total < all && wanted.contains(&self.text)).then_some(self.total);
        }
        lost(&self.text, wanted)
    }

    /// The verdict about typing `text` into this field when it was as in `old`. Anything may have
    /// been selected before.
    pub(crate) fn took(&self, old: &Self, text: &str, pasted: bool) -> Verdict {
        let typed = text.trim_end_matches('\n');
        if let Some(refused) = self.refused(old, typed) {
            return refused;
        }
        let one_line = self.is_one_line();
        // A number field reports its new number only once the number is confirmed. A web editor
        // puts keys into a hidden field and then empties that field. An unchanged text proves
        // nothing in either.
        let tells = self.paragraph
            || matches!(
                self.role,
                Role::TEXT_FIELD | Role::TEXT_AREA | Role::COMBO_BOX
            );
        // After a Tab another field has the focus. After a Return, a form may have been sent.
        let leaves = one_line && text.contains(['\t', '\n']);
        let read = self.editable && tells && old.shows && self.shows;
        if leaves || !read || typed.is_empty() {
            return Verdict::Agrees;
        }
        let is_rest = self.is_rest_of(typed);
        // If the field is empty, it may belong to a chat that has sent the text.
        let is_sent = self.text.trim().is_empty() && text.ends_with('\n');
        if self.stays(old) && !(is_sent || is_rest && self.text.is_empty()) {
            return self.took_none(typed);
        }
        if is_sent || is_rest {
            return self.differs();
        }
        if self.is_cut() || old.is_cut() {
            return self.took_a_part(old, text, pasted);
        }
        match made_of(text, &old.text, &self.text) {
            Made::Same if self.keeps_suffix(old, typed) => self.before_suffix(typed),
            Made::Same if one_line && self.adds_to_path(typed) => self.is_no_path(),
            Made::Same => Verdict::Agrees,
            Made::Followed => self.differs(),
            _ if self.composed && squeezed(&self.text).contains(&squeezed(typed)) => {
                Verdict::Agrees
            }
            _ if self.text.trim().is_empty() => Verdict::Failed(Mismatch::TextGone {
                field: self.name.clone(),
            }),
            Made::More(difference) if !one_line => self.changed(&difference, pasted),
            Made::Styled(difference) if self.paragraph => self.corrected(&difference),
            Made::Styled(difference) if !one_line => self.styled(&difference),
            Made::Styled(_) | Made::More(_) => self.differs(),
            Made::Other(difference) => {
                let (was, is) = (squeezed(&old.text), squeezed(&self.text));
                let holds = core(&is).contains(&core(typed));
                match lost(&inserted(&was, &is), typed) {
                    None if self.paragraph => self.corrected(&difference),
                    // Masks and completions add characters of their own.
                    _ if holds && (one_line || self.composed) => self.differs(),
                    Some(kept) if !holds => self.shortened(kept, typed),
                    _ => self.changed(&difference, pasted),
                }
            }
        }
    }

    /// How to give the field the rest of a typed text: how many characters to erase before the
    /// caret, and the text to type then. `None` unless the only new text in the field is a part of
    /// the typed text.
    pub(crate) fn lacks<'t>(&self, old: &Self, typed: &'t str) -> Option<(usize, &'t str)> {
        if !self.is(old) || !self.editable || !self.is_one_line() || self.is_cut() {
            return None;
        }
        let replaced = !compare::contains(&self.text, &old.text);
        let whole = Some(self.text.as_str()).filter(|_| replaced);
        let part = self.text.strip_prefix(&old.text).or(whole)?;
        lost(part, typed).filter(|kept| *kept > 0)?;
        let rest = typed.strip_prefix(part).map(|rest| (0, rest));
        Some(rest.unwrap_or((part.chars().count(), typed)))
    }

    /// The verdict about typing `text` if no field had the focus before, but this field has it now.
    /// The first keys may have opened the field, and some of them may be lost.
    pub(crate) fn arrived(&self, text: &str) -> Verdict {
        let typed = text.trim_end_matches('\n');
        if self.is_slider() {
            return self.took_none(typed);
        }
        if self.is_cut() || self.text.trim().is_empty() || typed.contains(['\t', '\n']) {
            return Verdict::Agrees;
        }
        match lost(&self.text, typed) {
            Some(kept) => {
                let kept = (kept, typed.chars().count());
                Verdict::Failed(Mismatch::opened_by_keys(&self.name, kept, &self.text))
            }
            None if self.adds_to_path(typed) => self.is_no_path(),
            None => Verdict::Agrees,
        }
    }

    /// Whether the field has the typed path with more text before or after it, which makes another
    /// path. That happens in file dialogs: they select a name without its suffix, and a typed text
    /// replaces only the selection.
    fn adds_to_path(&self, typed: &str) -> bool {
        // A slash after a folder comes from completion.
        let whole = self.text.trim();
        let whole = whole.strip_suffix('/').unwrap_or(whole);
        let is_more = whole.len() > typed.len();
        let joined = whole.starts_with(typed) || whole.ends_with(typed) && whole.starts_with('/');
        typed.starts_with(['/', '~']) && is_more && joined
    }

    /// Whether the field has only the text after a separator. The text before it may have become a
    /// tag.
    fn is_rest_of(&self, typed: &str) -> bool {
        let before = typed.strip_suffix(&self.text);
        let ends = before.is_some_and(|head| head.ends_with([',', ';']));
        ends && self.is_one_line()
    }

    /// Whether the typed name has replaced the old name except for the suffix, which file dialogs
    /// and file managers do not select.
    fn keeps_suffix(&self, old: &Self, typed: &str) -> bool {
        let suffix = self.text.strip_prefix(typed);
        let is_suffix = |suffix: &&str| {
            let ends = suffix
                .strip_prefix('.')
                .filter(|_| old.text.ends_with(*suffix));
            ends.is_some_and(|end| end.chars().all(char::is_alphanumeric))
        };
        suffix.as_ref().is_some_and(is_suffix)
    }

    /// The verdict about a typed name before the old suffix. It may have the same suffix already,
    /// or another that looks like one.
    fn before_suffix(&self, typed: &str) -> Verdict {
        let suffix = |name: &str| Some(name.rsplit_once('.')?.1.to_lowercase());
        let has_suffix = suffix(typed).is_some_and(|own| {
            let looks = matches!(own.len(), 3 | 4) && own.bytes().all(|b| b.is_ascii_alphabetic());
            looks || suffix(&self.text) == Some(own)
        });
        if has_suffix {
            return self.is_no_path();
        }
        self.differs()
    }

    fn is_no_path(&self) -> Verdict {
        Verdict::Failed(Mismatch::beside_old(&self.name, &self.text))
    }

    /// Whether the field is a slider, which takes keys but no text. In a colour dialog the focus is
    /// on a slider.
    fn is_slider(&self) -> bool {
        self.role == Role::SLIDER && !self.text.is_empty()
    }

    pub(crate) fn stays(&self, old: &Self) -> bool {
        self.text == old.text && self.total == old.total
    }

    /// The verdict about a text for a field that takes no text, or only text in its own form. Such
    /// fields are sliders, read-only fields, number fields that show at once what they have taken
    /// (GTK 4 reports all of these as editable), and Qt's boxes for dates and times. A single
    /// letter may be a shortcut.
    fn refused(&self, old: &Self, typed: &str) -> Option<Verdict> {
        if !self.is(old) || self.means(typed) {
            return None;
        }
        let has_digit = |text: &str| text.contains(char::is_numeric);
        let is_text = typed.trim().chars().count() > 1 || has_digit(typed);
        // If a date is typed across several fields, the last one has its part of the date already.
        let mut typed_parts = typed.split(|c: char| !c.is_alphanumeric());
        let has_part = typed_parts.any(|part| part == self.text.trim());
        let takes_none = match self.role {
            Role::TEXT_FIELD | Role::TEXT_AREA => !self.editable,
            role => role == Role::INCREMENTOR && has_digit(&self.text) && !has_part,
        };
        let refuses = self.is_slider() || takes_none && is_text && self.stays(old);
        // The month may be a name instead of a number.
        let parts = self.text.split(|c: char| !c.is_alphanumeric());
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        let is_number = |part: &&&str| part.bytes().all(|b| b.is_ascii_digit());
        let numbers = parts.iter().filter(is_number).map(|part| part.len());
        let short = numbers.filter(|length| matches!(length, 1 | 2 | 4)).count();
        let is_date = parts.len() == 3 && short > 1;
        let is_time = parts.len() > 1 && self.text.contains(':');
        let has_parts = self.role == Role::INCREMENTOR && (is_date || is_time);
        let differs = has_parts && !core(&self.text).contains(&core(typed));
        let (name, text) = (self.name.clone(), self.text.clone());
        let other = || Verdict::Failed(Mismatch::OtherDate { name, text });
        differs
            .then(other)
            .or_else(|| refuses.then(|| self.took_none(typed)))
    }

    /// Whether the field has nothing of what was typed, but its old text again or another number.
    pub(crate) fn has_other(&self, old: &Self, typed: &str) -> bool {
        let (is, want) = (core(&self.text), core(typed));
        let has_some = is.contains(&want) || want.contains(&is);
        let stays = self.stays(old);
        let other =
            !is.is_empty() && !self.means(typed) && (self.is_number() && stays || !has_some);
        other && self.is(old) && self.is_one_line() && (stays || self.is_number())
    }

    /// The mismatch, if a number field has another number or date than `wanted`.
    pub(crate) fn other_number(&self, wanted: &str) -> Option<Mismatch> {
        let is_other = self.is_number() && number::differ(&self.text, wanted);
        is_other.then(|| Mismatch::other_number(&self.name, &self.text, wanted))
    }

    fn took_none(&self, typed: &str) -> Verdict {
        // If the same text was selected, typing it changes nothing.
        if compare::contains(&self.text, typed) {
            return Verdict::Agrees;
        }
        Verdict::Failed(Mismatch::took_none(&self.name, &self.text))
    }

    /// The verdict about a long text, of which only the part around the caret was read.
    fn took_a_part(&self, old: &Self, text: &str, pasted: bool) -> Verdict {
        let text = text.replace("\r\n", "\n");
        let (typed, all) = (text.trim_end_matches('\n'), text.chars().count());
        let ends = compare::contains(&self.text, tail(typed));
        let grown = self.total.saturating_sub(old.total);
        // Toolkits count a character beyond U+FFFF twice.
        let more = grown.saturating_sub(all + text.chars().filter(|c| *c > '\u{ffff}').count());
        match (more, ends) {
            (0, true) => Verdict::Agrees,
            (1..=LINE, true) if text.ends_with('\n') => self.differs(),
            (1.., _) => Verdict::Failed(Mismatch::GrewMore {
                field: self.name.clone(),
                grown,
                typed: all,
                pasted,
            }),
            (0, false) if grown == all || grown == typed.chars().count() => Verdict::Agrees,
            (0, false) if grown == 0 => self.differs(),
            (0, false) => self.shortened_to(grown, all),
        }
    }

    /// The error that the app has changed the text while it was typed.
    pub(crate) fn changed(&self, difference: &Difference, pasted: bool) -> Verdict {
        Verdict::Failed(Mismatch::changed(&self.name, difference, pasted))
    }

    /// A note that the app applies its own typography, which spoils code.
    fn styled(&self, difference: &Difference) -> Verdict {
        Verdict::Differs(format!(
            "{} has that text {difference}: the app replaces typed quotes and dashes by curly ones \
             and long ones. For code, use paste or set_value_and_traverse",
            self.name
        ))
    }

    /// A note that a word processor corrects what is typed.
    fn corrected(&self, difference: &Difference) -> Verdict {
        Verdict::Differs(format!(
            "{} differs from that text {difference}: the app corrects what is typed. Press \
             Control+Z to take a correction back",
            self.name
        ))
    }

    /// The verdict about a text that the field has with other white space. In a text area this is
    /// an error, because white space has a meaning in code and tables.
    pub(crate) fn respaced(&self, wanted: &str) -> Verdict {
        if self.role != Role::TEXT_AREA {
            return self.differs();
        }
        let difference = Difference::between(wanted, &self.text);
        Verdict::Failed(Mismatch::respaced(&self.name, difference))
    }

    pub(crate) fn differs(&self) -> Verdict {
        Verdict::Differs(format!("{} contains {} now", self.name, shown(&self.text)))
    }

    pub(crate) fn shortened(&self, kept: usize, wanted: &str) -> Verdict {
        self.shortened_to(kept, wanted.chars().count())
    }

    fn shortened_to(&self, kept: usize, wanted: usize) -> Verdict {
        Verdict::Failed(Mismatch::shortened(&self.name, (kept, wanted), &self.text))
    }
}

fn in_table(tree: &Tree, index: usize) -> bool {
    tree.outwards(index)
        .any(|at| tree.elements[at].role == Role::CELL)
}

/// Whether parts of the element's text are elements of their own, as the paragraphs of a web page's
/// are. Viewports and scroll bars, as in Qt, do not count.
fn has_parts(tree: &Tree, index: usize) -> bool {
    let text = &tree.elements[index].value.shown;
    let children = tree.elements.iter().filter(|e| e.parent == Some(index));
    let mut texts = children.flat_map(|child| [&child.title, &child.value]);
    texts.any(|part| !part.is_blank() && text.contains(part.shown.trim()))
}

/// The element's own text, or else the text of its descendants, such as the paragraphs of a rich
/// text; and whether the text is put together from parts.
fn text_of(tree: &Tree, index: usize) -> (Text, bool) {
    let element = &tree.elements[index];
    if !element.value.is_blank() || element.role != Role::TEXT_AREA {
        let area = element.role == Role::TEXT_AREA;
        return (element.value.clone(), area && has_parts(tree, index));
    }
    let mut inside = vec![index];
    let mut text = String::new();
    // A container comes before its contents.
    for (at, e) in tree.elements.iter().enumerate().skip(index + 1) {
        match e.parent {
            Some(parent) if inside.contains(&parent) => inside.push(at),
            _ => break,
        }
        let own = [&e.value, &e.title].into_iter().find(|t| !t.is_blank());
        text += own.map_or("", |own| own.shown.as_str());
        text.push('\n');
    }
    if text.trim().is_empty() {
        return (element.value.clone(), false);
    }
    (Text::new(text), true)
}

/// The text without white space and control characters: fields trim, editors indent, lines end in
/// many ways.
fn squeezed(text: &str) -> String {
    let kept = |c: &char| !c.is_whitespace() && !c.is_control() && *c != '\u{200b}';
    text.chars().filter(kept).collect()
}

/// The letters and digits of a text, in lower case: masks add dashes, editors make quotes curly,
/// fields change the case.
fn core(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// How many characters of `wanted` are in `is`. `None` if none is missing, or if `is` has others
/// too, as after a correction: `©` for `(c)`.
fn lost(is: &str, wanted: &str) -> Option<usize> {
    let (is, wanted) = (squeezed(is).to_lowercase(), squeezed(wanted).to_lowercase());
    let mut rest = wanted.chars();
    let all_there = is.chars().all(|c| rest.any(|w| w == c));
    let kept = is.chars().count();
    (all_there && kept < wanted.chars().count()).then_some(kept)
}

/// The part of `new` between the start and the end that it shares with `old`.
fn inserted(old: &str, new: &str) -> String {
    let (old, new): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
    let same = |(a, b): &(&char, &char)| a == b;
    let start = old.iter().zip(&new).take_while(same).count();
    let (old, new) = (&old[start..], &new[start..]);
    let end = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(same)
        .count();
    new[..new.len() - end].iter().collect()
}

/// The end of a typed text. After typing, the caret is there.
fn tail(text: &str) -> &str {
    const TAIL: usize = 100;
    let at = text.char_indices().rev().nth(TAIL - 1);
    at.map_or(text, |(at, _)| &text[at..])
}
