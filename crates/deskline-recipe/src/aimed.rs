//! Describes the target of a call in a run: by role and text, and by what distinguishes it from
//! similar elements.

use deskline_core::{Line, Point, Ref, Role};
use serde_json::{Map, Value};

use crate::Target;
use crate::find::{outwards, text_of};

/// Takes the target out of a call's arguments. The array has the names of these arguments.
pub(crate) fn target(
    arguments: &mut Map<String, Value>,
    [reference, element, role, x, y, w, h]: [&str; 7],
    lines: &[Line],
    answered: Option<&Line>,
    changing: &[Ref],
) -> Result<Option<Target>, String> {
    let mut take = |name: &str| arguments.remove(name).filter(|value| !value.is_null());
    let place = [take(x), take(y), take(w), take(h)];
    let mut word = |name: &str| take(name)?.as_str().map(str::to_owned);
    let (reference, element, role) = (word(reference), word(element), word(role));
    let line = if let Some(reference) = &reference {
        let line = by_ref(lines, reference).or(answered);
        if line.is_none() && element.is_none() {
            return Err(format!("no earlier screen of the run has {reference}"));
        }
        line
    } else if let [Some(x), Some(y), w, h] = &place {
        let half = |size: &Option<Value>| size.as_ref().and_then(number).unwrap_or(0.0) / 2.0;
        let at = |value, size| number(value).map(|n| (n + half(size)) as i32);
        let point = at(x, w).zip(at(y, h));
        let line = point.and_then(|(x, y)| at_point(lines, Point::at(x, y)));
        Some(line.ok_or("a call acts at a point where the app describes no element")?)
    } else {
        answered.filter(|_| element.is_some())
    };
    let mut found = Target {
        element,
        role,
        ..Target::default()
    };
    let Some(line) = line else {
        return Ok(found.element.is_some().then_some(found));
    };
    // Take the element as it was before the step: a text that is its value may have changed.
    let of = |other: &Line| other.reference == line.reference;
    let at = lines.iter().position(of);
    let line = at
        .filter(|_| line.reference.is_some())
        .map_or(line, |at| &lines[at]);
    let changes = line.reference.is_some_and(|r| changing.contains(&r));
    let own = (!changes && !text_of(line).is_empty()).then(|| text_of(line));
    let same =
        |other: &&Line| other.role == line.role && own.is_none_or(|own| text_of(other) == own);
    found.element = own.map(str::to_owned);
    found.role = Some(line.role.ax().to_owned());
    if let Some(at) = at {
        let visible = |line: &&Line| line.visible || !lines[at].visible;
        let count = |lines: &[Line]| lines.iter().filter(visible).filter(same).count();
        let all = count(lines);
        found.nth = (all > 1).then(|| format!("{} of {all}", count(&lines[..at]) + 1));
        found.note(lines, at);
    }
    Ok(Some(found))
}

/// The names of the arguments that give a target, and (`END`) of the arguments that give the end of
/// a drag, which has no size.
pub(crate) const OWN: [&str; 7] = ["ref", "element", "role", "x", "y", "width", "height"];
pub(crate) const END: [&str; 7] = ["toRef", "toElement", "toRole", "toX", "toY", "", ""];

fn number(value: &Value) -> Option<f64> {
    let text = || value.as_str()?.trim().parse().ok();
    value.as_f64().or_else(text)
}

pub(crate) fn by_ref<'l>(lines: &'l [Line], reference: &str) -> Option<&'l Line> {
    let reference: Ref = reference.trim().trim_start_matches('#').parse().ok()?;
    lines.iter().find(|line| line.reference == Some(reference))
}

/// The roles of elements that open a menu or a list of choices over other elements.
const OPENS: [Role; 5] = [
    Role::MENU,
    Role::MENU_BAR_ITEM,
    Role::POPOVER,
    Role::COMBO_BOX,
    Role::POP_UP_BUTTON,
];

/// Whether an element is in an open menu or list.
fn is_in_menu(lines: &[Line], line: &Line) -> bool {
    let mut around = outwards(lines, line).skip(1);
    around.any(|line| OPENS.contains(&line.role))
}

/// The smallest element at a point. Elements in an open menu or list of choices take precedence, as
/// they are over the others.
pub fn at_point(lines: &[Line], at: Point) -> Option<&Line> {
    let there = lines.iter().filter(|line| {
        let own = line.role.is_interactive() || !text_of(line).is_empty();
        line.visible && own && line.extents.is_some_and(|place| place.contains(at))
    });
    there.min_by_key(|line| {
        let area = line.extents.map(|r| i64::from(r.w) * i64::from(r.h));
        (!is_in_menu(lines, line), area)
    })
}

/// The visible element that an event about the element `of` tells about: `of` itself or, if that is
/// hidden, what opens it.
pub fn told(lines: &[Line], of: Option<Ref>) -> Option<&Line> {
    let own = lines.iter().find(|line| line.reference == of)?;
    let shown = outwards(lines, own).find(|line| line.visible)?;
    (own.visible || OPENS.contains(&shown.role)).then_some(shown)
}

/// The element that a mouse button pressed, among the elements that events named. In an open menu,
/// it is the element that was selected before the press; otherwise the last element that got the
/// focus or was pressed. If the click has switched exactly one element inside that element, the
/// inner element is returned. If no element got the focus or was pressed, the only element that the
/// click has switched is returned. `None` if this leaves no element, several, or an unlisted one.
pub fn pressed<'l>(lines: &'l [Line], named: [Vec<Option<&'l Line>>; 4]) -> Option<&'l Line> {
    let [before, pressed, on, off] = named;
    let only = |all: &[Option<&'l Line>]| {
        let (first, rest) = all.split_first()?;
        first.filter(|_| rest.iter().all(|line| line == first))
    };
    let item = before.into_iter().flatten().last();
    let item = item.filter(|line| is_in_menu(lines, line));
    let decided = only(&on).or_else(|| only(&off).filter(|_| on.is_empty()));
    let Some(pressed) = item.or(pressed.last().copied().flatten()) else {
        return decided;
    };
    let inside = |line: &&Line| outwards(lines, line).any(|around| around == pressed);
    decided.filter(inside).or(Some(pressed))
}
