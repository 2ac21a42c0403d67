//! Step 1: resolves a call's target to an element and a point.

use deskline_core::{
    App, Element, Match, Point, Rect, Ref, Role, States, Texts, Tree, escape, fold, summary,
    tree_file,
};

use crate::call::{Action, Input, Quiet, Target};
use crate::error::{AWAY, Error, Result, TargetError};
use crate::settle::chosen;

/// How many other elements matched equally well, and the ref of one of them.
pub(crate) type Others = (usize, Option<Ref>);

/// A target, resolved on a fresh tree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Resolved {
    /// The element's index in the tree that the target was resolved on. `None` for a point with no
    /// element.
    pub(crate) index: Option<usize>,
    /// The point to click: the element's centre, or the point from the call.
    pub(crate) point: Option<Point>,
    /// Whether the point came from the call. The target is then the topmost element at the point.
    pub(crate) given: bool,
    pub(crate) others: Others,
    /// Whether the call's text is only a part of the element's text.
    pub(crate) is_part: bool,
    /// `'Send' [AXButton]`, or `(640, 480)`.
    pub(crate) name: String,
    /// The name for a person, who does not know AX roles: `'Send'`, `button`, `(640, 480)`.
    pub(crate) caption: String,
}

impl Resolved {
    /// A point whose element is unknown.
    pub(crate) fn place(point: Point) -> Self {
        let place = point.to_string();
        Self {
            index: None,
            point: Some(point),
            given: true,
            others: Others::default(),
            is_part: false,
            name: place.clone(),
            caption: place,
        }
    }

    /// What the answer says where another element may have been meant.
    pub(crate) fn doubts(&self) -> Vec<String> {
        let part = self
            .is_part
            .then(|| "The text is only a part of the element's text".to_owned());
        let (others, one) = self.others;
        let one = one.map(|one| format!("#{one}")).unwrap_or_default();
        let others = match others {
            0 => None,
            1 => Some(format!("1 other matches as well: {one}")),
            _ => Some(format!("{others} others match as well: {one}, …")),
        };
        part.into_iter().chain(others).collect()
    }
}

/// The target of an action, if it has one.
pub(crate) fn target_of(action: &Action) -> Option<&Target> {
    match action {
        Action::Input(
            Input::Click { target, .. }
            | Input::Choose { target, .. }
            | Input::Hover { target }
            | Input::Scroll {
                at: target @ (Target::Ref(_) | Target::Text { .. }),
                ..
            }
            | Input::Drag { from: target, .. },
        )
        | Action::Quiet(
            Quiet::SetValue { target, .. }
            | Quiet::PressAx { target }
            | Quiet::SetSelected { target, .. },
        )
        | Action::Read { target }
        | Action::WaitFor { target, .. } => Some(target),
        Action::Open { .. } | Action::Refresh | Action::Input(_) => None,
    }
}

/// Finds the target in a fresh tree. A text is searched in the toplevels `within`, in their order,
/// and in pop-ups. If `within` is empty, the text is searched everywhere.
///
/// # Errors
/// [`Error::StaleRef`] and [`Error::NotFound`], with the nearest texts.
pub(crate) fn resolve(tree: &Tree, target: &Target, within: &[usize]) -> Result<Resolved> {
    match target {
        Target::Ref(reference) => {
            let index = find_ref(tree, *reference)?;
            Ok(element(tree, index, Others::default()))
        }
        Target::Text { text, role } => {
            let role = role.as_deref();
            match find_within(tree, within, text, role) {
                Some(found) => Ok(Resolved {
                    is_part: found.is_part && !text.trim().is_empty(),
                    ..matched(tree, found)
                }),
                None => Err(not_found(tree, within, text, role)),
            }
        }
        Target::Point(point) => {
            let index = tree.find_at_in(toplevel_at(tree, within, Some(*point)), *point);
            let place = Resolved::place(*point);
            Ok(Resolved {
                index,
                name: name_at(tree, index, *point),
                caption: index.map_or(place.caption, |index| caption_of(tree, index)),
                ..place
            })
        }
    }
}

/// The best visible match in the first of the toplevels `within` that has one, or else in an open
/// menu. If no match is visible, the first hidden match.
fn find_within(tree: &Tree, within: &[usize], text: &str, role: Option<&str>) -> Option<Match> {
    if within.is_empty() {
        return tree.find_text(text, role);
    }
    let shows = |found: &Match| tree.elements[found.index].visible;
    let find = |top| tree.find_text_in(Some(top), text, role);
    let found: Vec<Match> = within.iter().copied().filter_map(find).collect();
    let in_menus = || pop_ups(tree).filter_map(find).find(shows);
    let first = found.iter().copied().find(shows).or_else(in_menus);
    first.or(found.first().copied())
}

pub(super) fn find_ref(tree: &Tree, reference: Ref) -> Result<usize> {
    tree.find_ref(reference).ok_or_else(|| {
        if tree.is_elsewhere() {
            return Error::from(TargetError::ref_away(reference, &tree.app));
        }
        let App { name, pid } = &tree.app;
        let name = escape::name(name, 40);
        Error::StaleRef {
            reference,
            why: format!("no element of {name} (pid {pid}) has this ref now"),
        }
    })
}

/// The element that the action is for. The target may be a part of that element, or may contain it.
pub(crate) fn meant(tree: &Tree, action: &Action, wanted: &Target, target: Resolved) -> Resolved {
    match action {
        Action::Quiet(Quiet::SetValue { .. }) => settable(tree, target),
        Action::Quiet(Quiet::PressAx { .. }) => pressable(tree, wanted, target),
        Action::Input(Input::Choose { .. }) => chooser(tree, target),
        _ => target,
    }
}

/// The element to set, if the target is an editable combo box: its text field. The name stays that
/// of the combo box, which has the label.
fn settable(tree: &Tree, target: Resolved) -> Resolved {
    let combo = target
        .index
        .filter(|&index| tree.elements[index].role == Role::COMBO_BOX);
    let Some(combo) = combo else {
        return target;
    };
    let is_field = |&index: &usize| {
        let element = &tree.elements[index];
        element.role == Role::TEXT_FIELD && element.states.contains(States::EDITABLE)
    };
    let fields: Vec<usize> = tree.inside(combo).filter(is_field).collect();
    match fields.as_slice() {
        [field] => Resolved {
            name: target.name,
            ..element(tree, *field, target.others)
        },
        _ => target,
    }
}

/// Whether the element is a control of a web page that a style hides: it is moved away, cut to a
/// pixel or has no size. A person sees its label instead.
pub(crate) fn is_hidden_control(tree: &Tree, index: usize) -> bool {
    let element = &tree.elements[index];
    let takes = matches!(
        element.role,
        Role::CHECK_BOX | Role::RADIO_BUTTON | Role::BUTTON
    );
    let page = tree.page_around(index);
    let page = page.and_then(|page| tree.elements[page].place());
    let Some(page) = page.filter(|_| takes) else {
        return false;
    };
    element.place().is_none_or(|place| {
        let away = place.x.saturating_add(place.w) <= page.x;
        !fits(place) || !element.visible && (away || page.contains(place.center()))
    })
}

/// The image map that contains the element as an area. The tree does not have the shape of the
/// area, so the middle of its bounds may lie in another area.
pub(crate) fn map_of((tree, index): (&Tree, usize)) -> Option<&Element> {
    let holder = &tree.elements[tree.parent(index)?];
    let is_area = tree.elements[index].role == Role::LINK && holder.role == Role::IMAGE;
    is_area.then_some(holder)
}

/// Whether a person can hit an element with these bounds.
pub(crate) fn fits(place: Rect) -> bool {
    place.w.min(place.h) >= 5
}

/// The element to click for this target. A person clicks the label of a hidden control, so this is
/// a text of the label that has no link in it.
pub(crate) fn clickable(tree: &Tree, target: Resolved) -> Resolved {
    const LEVELS: usize = 3;
    let index = target.index.filter(|_| !target.given);
    let Some(index) = index.filter(|index| is_hidden_control(tree, *index)) else {
        return target;
    };
    let element = &tree.elements[index];
    let page = tree.page_around(index);
    let texts = Texts::new(tree);
    let name = fold(&element.title.shown);
    // Chromium's tree lacks labels that have no box of their own. It also adds to the names of file
    // inputs, so here a name only has to begin with the label's text.
    let mut around_it = tree.outwards(index).skip(1).take(LEVELS);
    let label = around_it.find(|at| tree.elements[*at].native_role == "label");
    let holder = label.or(tree.parent(index));
    let named = |at: &usize| {
        let text = texts.text(tree, *at).map(|text| fold(&text.shown));
        let beside = holder.is_some_and(|holder| tree.is_inside(*at, holder));
        let is_name =
            |text: &str| name == text || beside && !text.is_empty() && name.starts_with(text);
        tree.elements[*at].role == Role::STATIC_TEXT && text.is_some_and(|text| is_name(&text))
    };
    let mixes = |at: usize| {
        let mut inside = tree.inside(at);
        inside.any(|i| tree.elements[i].role.is_interactive())
            || tree
                .outwards(at)
                .any(|at| tree.elements[at].role.is_interactive())
    };
    let found = (0..tree.elements.len()).filter(named);
    let found = found.filter(|at| {
        let seen = tree.elements[*at].place().is_some_and(fits);
        seen && tree.page_around(*at) == page && !mixes(*at)
    });
    match found.min_by_key(|at| at.abs_diff(index)) {
        Some(label) => Resolved {
            name: format!("{}, by its label", target.name),
            caption: target.caption,
            ..self::element(tree, label, target.others)
        },
        None => target,
    }
}

/// The check box or radio button of a web page that a style hides and that this text labels: the
/// state to report after a click on the text.
pub(crate) fn labelled(tree: &Tree, index: usize) -> Option<usize> {
    let Element { role, title, .. } = &tree.elements[index];
    let name = fold(&title.shown);
    let page = tree
        .page_around(index)
        .filter(|_| *role == Role::STATIC_TEXT && !name.is_empty());
    let is_its = |at: &usize| {
        let element = &tree.elements[*at];
        matches!(element.role, Role::CHECK_BOX | Role::RADIO_BUTTON)
            && fold(&element.title.shown) == name
            && tree.page_around(*at) == page
            && is_hidden_control(tree, *at)
    };
    let its = (0..tree.elements.len()).filter(|_| page.is_some());
    its.filter(is_its).min_by_key(|at| at.abs_diff(index))
}

/// `'Send' [AXButton] at (640, 480)`
pub(crate) fn name_at(tree: &Tree, index: Option<usize>, point: Point) -> String {
    match index {
        Some(index) => format!("{} at {point}", summary::name_of(tree, index)),
        None => point.to_string(),
    }
}

/// The element to press for this text. If the text is only the current choice of a combo box, this
/// is the option with that text.
fn pressable(tree: &Tree, wanted: &Target, target: Resolved) -> Resolved {
    let (Target::Text { text, role: None }, Some(index)) = (wanted, target.index) else {
        return target;
    };
    match tree.option_of(index, text, |_| true) {
        Some(option) => element(tree, option, target.others),
        None => target,
    }
}

/// The element from which a choice is picked, if the target is a part of it: the combo box of a
/// field, a label or a row.
fn chooser(tree: &Tree, target: Resolved) -> Resolved {
    let index = target.index.map(|index| chosen::chooser(tree, index));
    match index {
        Some(index) => element(tree, index, target.others),
        None => target,
    }
}

/// The point at which to click an element with the extents `place`, in screen pixels. This is the
/// middle, except for:
///
/// - what opens and closes: the text of its title, if the tree lists that,
/// - a narrow spin button: its text, as its buttons reach to the middle,
/// - what takes clicks at one end only: that end in a left-to-right window ([`title_ends`]).
pub(crate) fn click_point(tree: &Tree, index: usize, place: Rect) -> Point {
    let element = &tree.elements[index];
    if let Some(title) = title_of(tree, index).filter(|title| place.contains(*title)) {
        return title;
    }
    let is_narrow_spin = element.native_role == "spin button" && place.w / 6 < place.h;
    let ends = title_ends(tree, index, place);
    match ends {
        Some([start, _]) => start,
        None if is_narrow_spin => ends_of(place, place.h / 4 * 3)[0],
        None => place.center(),
    }
}

/// The middle of the title of an element that opens and closes. The element's own bounds may
/// include what it opens.
fn title_of(tree: &Tree, index: usize) -> Option<Point> {
    let element = &tree.elements[index];
    let opens = element
        .states
        .intersects(States::EXPANDED | States::COLLAPSED);
    if !opens || !matches!(element.role, Role::BUTTON | Role::CHECK_BOX) {
        return None;
    }
    let inside = tree.inside(index);
    let mut inside = inside.map(|at| &tree.elements[at]);
    let title = inside
        .find(|e| e.visible && e.role == Role::STATIC_TEXT && e.title.shown == element.title.shown);
    title?.place().map(|place| place.center())
}

/// The two ends of the title of an element that takes clicks on its title only, the left one first:
/// an expander of GTK 3, whose box is as wide as what it opens, and a group box of Qt. Which end
/// takes the click depends on the text direction, which these toolkits do not report.
pub(crate) fn title_ends(tree: &Tree, index: usize, place: Rect) -> Option<[Point; 2]> {
    /// The least height of a title, in pixels.
    const TITLE: i32 = 12;
    let element = &tree.elements[index];
    let opens = element
        .states
        .intersects(States::EXPANDED | States::COLLAPSED);
    if element.native_role == "toggle button" {
        return opens.then(|| ends_of(place, place.h / 4 * 3));
    }
    // A group box, however large, has its title at its top, one line high.
    let inside = || {
        tree.inside(index)
            .filter_map(|at| tree.elements[at].extents)
    };
    let first = inside().map(|inner| inner.y).min()?;
    let is_box = element.role == Role::CHECK_BOX && tree.page_around(index).is_none();
    let h = inside().map(|inner| inner.h).fold(place.h, i32::min);
    let below = first.saturating_sub(place.y) >= TITLE;
    // The ends are inset, so that the point is beyond the check box of the group box.
    (is_box && below).then(|| ends_of(Rect { h, ..place }, h / 3 * 4))
}

/// A point near each end of a box, the left one first.
fn ends_of(place: Rect, inset: i32) -> [Point; 2] {
    let middle = place.center();
    let (left, right) = (
        place.x.saturating_add(inset),
        place.x.saturating_add(place.w - inset),
    );
    [left.min(middle.x), right.max(middle.x)].map(|x| Point { x, ..middle })
}

pub(crate) fn matched(tree: &Tree, found: Match) -> Resolved {
    let reference = |at: usize| tree.elements[at].reference;
    let other = found.other.and_then(reference);
    element(tree, found.index, (found.others, other))
}

pub(crate) fn element(tree: &Tree, index: usize, others: Others) -> Resolved {
    let element = &tree.elements[index];
    let place = element.place();
    let point = place.map(|place| click_point(tree, index, place));
    Resolved {
        index: Some(index),
        point,
        given: false,
        others,
        is_part: false,
        name: summary::name_of(tree, index),
        caption: caption_of(tree, index),
    }
}

/// An element's text in quotes, or else its role in lower case without the `AX` prefix.
fn caption_of(tree: &Tree, index: usize) -> String {
    match Texts::new(tree).text(tree, index) {
        Some(text) => format!("'{}'", escape::short(text.shown.trim(), 50)),
        None => tree.elements[index].role.short().to_lowercase(),
    }
}

/// The error for a text that no element has, or that no element in the windows `within` has. It
/// names the nearest texts, or the window with the text.
pub(crate) fn not_found(tree: &Tree, within: &[usize], text: &str, role: Option<&str>) -> Error {
    let mut wanted = format!("'{}'", escape::short(text, 60));
    if let Some(role) = role {
        wanted = format!("{wanted} with role {}", escape::short(role, 30));
    }
    let label = |top: usize| tree_file::window_label(tree, top).unwrap_or_default();
    if let Some(window) = within.first() {
        wanted = format!("{wanted} in {}", label(*window));
        let found = tree.find_text(text, role).map(|found| found.index);
        let elsewhere = found.and_then(|found| Some((found, tree.toplevel(found)?)));
        if let Some((found, top)) = elsewhere.filter(|(_, top)| top != window) {
            let top = label(top);
            let reference = tree.elements[found].reference;
            let reference = reference.map_or_else(String::new, |r| format!(": {r}"));
            let nearest = match dialog(tree).filter(|dialog| dialog == window) {
                Some(dialog) => format!(
                    "It is in {top}, behind this dialog{}. Nothing was touched. Answer the dialog \
                    first, or pass the element's ref{reference}",
                    buttons(tree, dialog)
                ),
                None => format!(
                    "It is in another window: {top}. Nothing was touched. Pass that window's ref \
                     or title as window, or leave window out"
                ),
            };
            return Error::NotFound { wanted, nearest };
        }
    }
    let nearest = tree.nearest_texts(text, role);
    let nearest = if nearest.is_empty() {
        "Nothing in the tree has a similar text".to_owned()
    } else {
        format!("Nearest: {}", nearest.join(", "))
    };
    let next = if tree.is_elsewhere() {
        AWAY
    } else if tree.partial.is_empty() {
        "Search the file of this answer"
    } else {
        "The tree is partial: elements that are hidden or out of view may be missing. Scroll to \
         them or open their container, or search the file of this answer"
    };
    let nearest = format!("{nearest}. Nothing was touched. {next}");
    Error::NotFound { wanted, nearest }
}

/// The toplevel of the dialog in front. A text is searched in it if the call names no window.
pub(super) fn dialog(tree: &Tree) -> Option<usize> {
    let dialog = tree.dialog_in_front()?;
    (tree.toplevel(dialog) == Some(dialog)).then_some(dialog)
}

/// `, which has "Cancel" [AXButton] #e4`, or nothing. The buttons that answer a dialog are the last
/// ones in it.
fn buttons(tree: &Tree, dialog: usize) -> String {
    const MOST: usize = 5;
    let elements = tree.elements.iter().enumerate().skip(dialog);
    let answers = elements.filter(|(at, e)| {
        let is_header = e.native_role == "table column header";
        let is_button = e.role == Role::BUTTON && !is_header && !e.title.shown.is_empty();
        is_button && e.visible && tree.toplevel(*at) == Some(dialog)
    });
    let mut labels: Vec<String> = answers
        .filter_map(|(at, _)| tree_file::window_label(tree, at))
        .collect();
    labels.drain(..labels.len().saturating_sub(MOST));
    if labels.is_empty() {
        return String::new();
    }
    format!(", which has {}", labels.join(", "))
}

/// The first of the toplevels `within` that contains `place`, or else the first one.
pub(crate) fn toplevel_at(tree: &Tree, within: &[usize], place: Option<Point>) -> Option<usize> {
    let holds = |top: &&usize| {
        let extents = tree.elements.get(**top).and_then(|e| e.extents);
        place.is_some_and(|place| extents.is_some_and(|extents| extents.contains(place)))
    };
    within.iter().find(holds).or(within.first()).copied()
}

/// The toplevels without a window of their own: open menus and lists.
fn pop_ups(tree: &Tree) -> impl Iterator<Item = usize> {
    let windows = tree.toplevels();
    let is_window = move |top: usize| {
        let listed = |w: &deskline_core::TreeWindow| w.elements.contains(&top);
        windows.contains(&top) || tree.windows.iter().any(listed)
    };
    (0..tree.elements.len()).filter(move |&i| tree.toplevel(i) == Some(i) && !is_window(i))
}
