//! Describes the element that was acted on, for the summary.

use std::fmt::Write as _;

use crate::escape::short_escaped;
use crate::excerpt::excerpts;
use crate::line_writer::short_tail;
use crate::texts::value_beside_name;
use crate::{Element, Line, Role, States, Text, Texts, Tree, tag};

/// The most characters of a text (`TEXT`) and of a value (`VALUE`).
const TEXT: usize = 60;
const VALUE: usize = 200;

/// The line of element `index` as it is now: `[AXCheckBox (check box)] "Wrap lines" checked #e42`.
/// If others look like it, its container is named too. `was` is the element before the action: a
/// long value is cut to the part that has changed since.
pub fn target(tree: &Tree, index: usize, was: Option<&Element>) -> Option<String> {
    let texts = Texts::new(tree);
    let element = tree.elements.get(index)?;
    let line = Line::new(tree, &texts, index)?;
    let mut out = head(&line);
    // The value, unless the head of the line shows all of it as the text.
    let value = Some(&element.value).filter(|_| !element.states.contains(States::SECURE));
    let long = value.filter(|value| value.shown.trim().chars().count() > TEXT);
    let value = value_beside_name(element).or(long);
    let value = value.map(|value| excerpt(value, was.map(|was| &was.value)));
    out += &short_tail(element, element.states, value);
    if let Some(outer) = distinguishing_container(tree, &texts, index) {
        let mut line = Line::new(tree, &texts, outer)?;
        line.native_role = None;
        let _ = write!(out, " in {}{}", head(&line), tag(line.reference));
    }
    Some(out)
}

/// An element that is no longer there: `gone: [AXButton (push button)] "OK" #e42`.
pub fn gone(tree: &Tree, index: usize) -> Option<String> {
    let line = Line::new(tree, &Texts::new(tree), index)?;
    Some(format!("gone: {}{}", head(&line), tag(line.reference)))
}

/// The change of an action's own target, for the step of a chain: `checked`, `not checked`,
/// `value:"12"`. `None` if the target's line shows no change.
pub fn own_change(was: &Element, is: &Element) -> Option<String> {
    // A change of the focus, or of whether the element is editable, does not count as an effect of
    // an action.
    let kinds = States::SELECTED
        | States::CHECKED
        | States::MIXED
        | States::EXPANDED
        | States::COLLAPSED
        | States::DISABLED;
    let (old, new) = (was.states & kinds, is.states & kinds);
    let mut words: Vec<String> = (new - old).words().map(str::to_owned).collect();
    if words.is_empty() {
        words.extend((old - new).words().map(|word| format!("not {word}")));
    }
    // The value of a text field is left out: the summary has the typed text already.
    let is_choice = matches!(
        is.role,
        Role::COMBO_BOX | Role::POP_UP_BUTTON | Role::SLIDER | Role::INCREMENTOR
    );
    if is_choice && was.value != is.value {
        words.push(format!(
            "value:\"{}\"",
            short_escaped(is.value.shown.trim(), 40)
        ));
    }
    (!words.is_empty()).then(|| words.join(" "))
}

/// `[AXButton (push button)] "Send"`
fn head(line: &Line) -> String {
    let native = line.native_role.as_ref();
    let native = native.map(|native| format!(" ({})", short_escaped(native, 30)));
    let mut out = format!("[{}{}]", line.role.ax(), native.unwrap_or_default());
    if let Some(text) = &line.text {
        let _ = write!(out, " \"{}\"", short_escaped(text.shown.trim(), TEXT));
    }
    out
}

/// At most [`VALUE`] characters of a value, around what changed, with `…` at cut ends.
fn excerpt(value: &Text, was: Option<&Text>) -> String {
    let (_, part) = excerpts(was.unwrap_or(value), value, VALUE - 2);
    let start = if part.omitted_before > 0 { "…" } else { "" };
    let mut shown = start.to_owned() + &short_escaped(&part.shown, VALUE - 2);
    if part.omitted_after > 0 && !shown.ends_with('…') {
        shown.push('…');
    }
    shown
}

/// The other visible elements with the same role and the same text, or if the element has no text,
/// with the same role and without a text.
fn likes<'t>(tree: &'t Tree, texts: &'t Texts, index: usize) -> impl Iterator<Item = usize> + 't {
    let element = &tree.elements[index];
    let text = texts.text(tree, index);
    (0..tree.elements.len()).filter(move |&i| {
        let other = &tree.elements[i];
        i != index
            && other.visible
            && other.role == element.role
            && texts.text(tree, i).map(|t| &t.shown) == text.map(|t| &t.shown)
    })
}

/// The nearest container whose text distinguishes the element from the elements with the same role
/// and text. If all these elements are in other windows, the element's own window. `None` if no
/// other element has the same role and text.
fn distinguishing_container(tree: &Tree, texts: &Texts, index: usize) -> Option<usize> {
    let top = tree.toplevel(index);
    let mut likes = likes(tree, texts, index)
        .map(|like| tree.toplevel(like))
        .peekable();
    likes.peek()?;
    if likes.all(|other| other != top) {
        return top;
    }
    let text = |at: usize| texts.text(tree, at).map(|text| text.shown.trim());
    // A control inside a container does not name the container.
    let is_named = |outer: &usize| {
        let source = texts.source(*outer).filter(|source| source != outer);
        source.is_none_or(|source| !tree.elements[source].role.is_interactive())
    };
    let around = tree.outwards(index).skip(1);
    let mut inner = around.take_while(|outer| tree.toplevel(*outer) != Some(*outer));
    let tells = |outer: &usize| text(*outer).is_some_and(|other| Some(other) != text(index));
    let named = inner.find(|outer| is_named(outer) && tells(outer));
    named.or(tree.parent(index).filter(is_named))
}
