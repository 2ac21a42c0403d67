//! Finds the element that an agent means: by text and role, by ref, or by point.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use crate::escape::short_escaped;
use crate::fold::fold;
use crate::texts::{own_text, value_beside_name};
use crate::{Coordinates, Element, Point, Ref, Role, States, Texts, Tree, tag};

/// The best match for a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Match {
    /// An index into the tree.
    pub index: usize,
    /// How many other matches are equally good, in any window.
    pub others: usize,
    /// One of the other matches that are equally good; `None` if there are none.
    pub other: Option<usize>,
    /// Whether the searched text is only a part of the element's text.
    pub is_part: bool,
}

/// The quality of a match; greater is better. In order of weight: the text is equal, apart from a
/// colon at the end; the element is seen (2), or visible but covered (1); the text is equal with
/// its colon; the element is interactive; the text is the element's own; the case is the same.
type Rank = (bool, u8, bool, bool, bool, bool);

/// How much of an element's text the searched text is: a part, all but a colon at the end, or all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Part,
    Label,
    Exact,
}

impl Tree {
    /// Finds the element whose text contains `text`. If `role` is given, it must be the start of
    /// the element's role (with or without `AX`) or the whole native role. Compares by [`fold`]:
    /// case, invisible marks and kinds of space do not matter.
    ///
    /// Searches title, value, description, and the text of the element's line. An exact match beats
    /// a partial one, then visible beats hidden, interactive beats static, own text beats a
    /// descendant's, and the same case beats a different one. Of equals, those in the front window
    /// come first, then tree order decides. A colon at the end of a label makes a difference only
    /// if the texts with and without it both show. An empty text matches any element, but only with
    /// a role.
    pub fn find_text(&self, text: &str, role: Option<&str>) -> Option<Match> {
        self.find_text_in(None, text, role)
    }

    /// Like [`Tree::find_text`]; if `toplevel` is given, only in that toplevel.
    pub fn find_text_in(
        &self,
        toplevel: Option<usize>,
        text: &str,
        role: Option<&str>,
    ) -> Option<Match> {
        let inside = |index| toplevel.is_none_or(|top| self.toplevel(index) == Some(top));
        self.find_text_among(inside, text, role)
    }

    /// Like [`Tree::find_text`], among the elements that `inside` admits.
    pub fn find_text_among(
        &self,
        inside: impl Fn(usize) -> bool,
        text: &str,
        role: Option<&str>,
    ) -> Option<Match> {
        let wanted = fold(text);
        let role = RoleFilter::new(role);
        if wanted.is_empty() && role.is_any() {
            return None;
        }
        let texts = Texts::new(self);
        let front = self.active_toplevel();
        let in_front = |index| front.is_some() && self.toplevel(index) == front;
        // A page's "Close" button comes before the browser's, which would close the page. Menu
        // items are excepted, because Gecko shows the choices of a drop-down outside of its page.
        let first = |index: usize| {
            let is_item = self.elements[index].role == Role::MENU_ITEM;
            let in_page = !is_item && self.page_around(index).is_some();
            // An open menu takes every click.
            let in_menu = is_item && self.is_seen(index);
            (in_menu, in_front(index), in_page)
        };
        let shows_at = |at: usize| u8::from(self.elements[at].visible) + u8::from(self.is_seen(at));
        let mut best: Option<(Rank, Match)> = None;
        for (index, element) in self.elements.iter().enumerate() {
            if !role.admits(element) {
                continue;
            }
            let own = has_text(element, &wanted);
            let source = texts.source(index).filter(|&source| source != index);
            let inner = || has_text(self.elements.get(source?)?, &wanted);
            let Some(fit) = own.or_else(inner) else {
                continue;
            };
            if !inside(index) {
                continue;
            }
            // A disabled element takes no input: rank it like a static text.
            let disabled = element.states.contains(States::DISABLED);
            // The number of a slider is no name: a text that is the number comes first.
            let is_number = matches!(element.role, Role::SLIDER | Role::INCREMENTOR)
                && !fold(&element.title.shown).contains(&*wanted);
            let interactive = element.role.is_interactive() && !disabled && !is_number;
            let named = own.is_some() && !is_number;
            // A container that borrows its text from a control inside it is no more visible than
            // that control.
            let lender =
                source.filter(|at| own.is_none() && self.elements[*at].role.is_interactive());
            let shows = lender.map_or(2, &shows_at).min(shows_at(index));
            let spelled = own.is_some() && element.title.shown.contains(text);
            let (label, exact) = (fit >= Fit::Label, fit == Fit::Exact);
            let rank = (label, shows, exact, interactive, named, spelled);
            match &mut best {
                // The header cell of a page's table is named by the button in it.
                Some((top, found)) if *top == rank && self.names(index, found.index) => {
                    found.index = index;
                }
                Some((top, found)) if *top == rank => {
                    found.others += 1;
                    let mut other = index;
                    if first(index) > first(found.index) {
                        std::mem::swap(&mut found.index, &mut other);
                    }
                    found.other.get_or_insert(other);
                }
                Some((top, _)) if *top > rank => {}
                _ => {
                    let is_part = fit == Fit::Part;
                    let found = Match {
                        index,
                        others: 0,
                        other: None,
                        is_part,
                    };
                    best = Some((rank, found));
                }
            }
        }
        let (_, found) = best?;
        let may_be = |at: usize| self.is_seen(at) && role.admits(&self.elements[at]) && inside(at);
        let option = self.option_of(found.index, &wanted, may_be);
        Some(option.map_or(found, |index| Match {
            index,
            others: 0,
            other: None,
            ..found
        }))
    }

    /// Whether a control in a web page is inside another one that is named by it.
    fn names(&self, inner: usize, outer: usize) -> bool {
        let [own, around] = [inner, outer].map(|at| &self.elements[at]);
        let is_button = own.role.is_interactive() && around.role == Role::BUTTON;
        is_button && self.is_inside(inner, outer) && self.page_around(inner).is_some()
    }

    /// The choice that `wanted` means, if the element at `index` is a combo box or a part of one,
    /// and has this text only because it shows that choice. `None` for any other element.
    pub fn option_of(
        &self,
        index: usize,
        wanted: &str,
        may_be: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        // In GTK 4 a button inside the combo box shows the choice.
        let is_combo = |at: &usize| {
            let role = self.elements[*at].role;
            matches!(role, Role::COMBO_BOX | Role::POP_UP_BUTTON)
        };
        let element = &self.elements[index];
        let combo = self.outwards(index).take(2).find(is_combo)?;
        let texts = Texts::new(self);
        let own = Some(&element.value).filter(|text| !text.is_blank());
        let shown = own.or_else(|| texts.text(self, index))?;
        if !fold(&shown.shown).contains(&*fold(wanted)) {
            return None;
        }
        let is_item = |at: usize| {
            let role = self.elements[at].role;
            let is_choice = matches!(
                role,
                Role::MENU_ITEM | Role::ROW | Role::CELL | Role::STATIC_TEXT
            );
            is_choice && self.elements[at].title.same(shown) && may_be(at)
        };
        let is_list = |at: usize| {
            matches!(
                self.elements[at].role,
                Role::MENU | Role::LIST | Role::POPOVER
            )
        };
        let lists = |at: usize| {
            self.outwards(at)
                .skip(1)
                .take_while(|at| *at != combo)
                .any(is_list)
        };
        // In GTK 3 the list is a window of its own.
        let apart = |at: usize| self.toplevel(at) != self.toplevel(combo);
        let all = 0..self.elements.len();
        all.filter(|at| is_item(*at) && lists(*at))
            .find(|at| self.is_inside(*at, combo) || apart(*at))
    }

    /// Whether the element at `index` lies inside the one at `outer`, at any depth.
    pub fn is_inside(&self, index: usize, outer: usize) -> bool {
        let mut around = self.outwards(index).take_while(|at| *at >= outer);
        index != outer && around.any(|at| at == outer)
    }

    pub fn find_ref(&self, reference: Ref) -> Option<usize> {
        let mut elements = self.elements.iter();
        elements.position(|element| element.reference == Some(reference))
    }

    /// The element that a click at `point` is for: in the app's topmost window there, the last
    /// visible element in tree order that contains the point. If it is a part of an interactive
    /// element, as a label is of a button, that element instead.
    pub fn find_at(&self, point: Point) -> Option<usize> {
        self.find_at_in(None, point)
    }

    /// Like [`Tree::find_at`]. If coordinates are relative to each window, so that all windows
    /// begin at (0, 0), searches only `toplevel` (or if it is `None`, the active toplevel) and
    /// pop-ups.
    pub fn find_at_in(&self, toplevel: Option<usize>, point: Point) -> Option<usize> {
        let holds = |e: &Element| e.visible && e.extents.is_some_and(|r| r.contains(point));
        let window = self.window_at(point);
        let others: Vec<usize> = match self.coordinates {
            Coordinates::Screen => Vec::new(),
            Coordinates::Window => {
                let meant = toplevel.or_else(|| self.active_toplevel());
                let tops = self.toplevels().into_iter();
                tops.filter(|top| Some(*top) != meant).collect()
            }
        };
        let in_others =
            |i| !others.is_empty() && self.toplevel(i).is_some_and(|t| others.contains(&t));
        let hit = (0..self.elements.len()).rev().find(|&i| {
            holds(&self.elements[i]) && window.is_none_or(|w| self.may_be_in(i, w)) && !in_others(i)
        })?;
        let mut index = hit;
        // A label is at most a few levels inside its button; an ancestor further up is something
        // else.
        for _ in 0..4 {
            let element = self.elements.get(index)?;
            if element.role.is_interactive() && holds(element) {
                return Some(index);
            }
            let whole = matches!(
                element.role,
                Role::ROW | Role::CELL | Role::WINDOW | Role::WEB_AREA | Role::SCROLL_AREA
            );
            match self.parent(index).filter(|_| !whole) {
                Some(parent) => index = parent,
                None => break,
            }
        }
        Some(hit)
    }

    /// Up to three visible texts nearest to `text`, for an error: `"Send" [AXButton] #e42`. First
    /// the texts equal to `text`, whatever the role of their element; then the texts of elements
    /// with `role`, or of all elements if no element has that role.
    pub fn nearest_texts(&self, text: &str, role: Option<&str>) -> Vec<String> {
        let filter = RoleFilter::new(role);
        let any = RoleFilter::new(None);
        let mut elements = self.elements.iter();
        let has_role = elements.any(|e| e.visible && filter.admits(e));
        let filter = if has_role { &filter } else { &any };
        let folded = fold(text);
        let wanted = Bigrams::new(text);
        let texts = Texts::new(self);
        let mut seen: HashMap<String, usize> = HashMap::new();
        let mut near: Vec<((bool, u32, bool), usize, String)> = Vec::new();
        for (index, element) in self.elements.iter().enumerate().filter(|(_, e)| e.visible) {
            // A button may be named by a label in it, but a window is not named by the first label
            // in it.
            let interactive = element.role.is_interactive();
            let named = interactive || texts.source(index) == Some(index);
            let scrap = texts.is_from_picture(self, index) && !self.is_picture_only();
            let named = named && !scrap;
            let Some(text) = texts.text(self, index).filter(|_| named) else {
                continue;
            };
            let shown = short_escaped(text.shown.trim(), 50);
            let is = fold(&shown).into_owned();
            let same = is == folded;
            if !same && !filter.admits(element) {
                continue;
            }
            let rank = (same, wanted.likeness(&is), interactive);
            // Of equal texts keep the first, but prefer an interactive element to its label.
            match seen.get(&is).and_then(|&at| near.get_mut(at)) {
                None => {
                    seen.insert(is, near.len());
                    near.push((rank, index, shown));
                }
                Some(first) if rank > first.0 => *first = (rank, index, shown),
                Some(_) => {}
            }
            if near.len() >= NEAREST_LIMIT {
                break;
            }
        }
        near.sort_by_key(|&(rank, index, _)| (Reverse(rank), index));
        let words = near.into_iter().take(3).map(|(_, index, shown)| {
            let element = &self.elements[index];
            let role = element.role.ax();
            format!("\"{shown}\" [{role}]{}", tag(element.reference))
        });
        words.collect()
    }
}

/// Up to three of `texts` that are nearest to `text`, each once and quoted, for an error.
pub fn nearest_of<'t>(text: &str, texts: impl IntoIterator<Item = &'t str>) -> Vec<String> {
    let wanted = Bigrams::new(text);
    let mut seen = HashSet::new();
    let mut near: Vec<(u32, String)> = Vec::new();
    for text in texts.into_iter().take(NEAREST_LIMIT) {
        let shown = short_escaped(text.trim(), 50);
        if seen.insert(shown.clone()) {
            near.push((wanted.likeness(&fold(&shown)), shown));
        }
    }
    near.sort_by_key(|(likeness, _)| Reverse(*likeness));
    let nearest = near.into_iter().take(3);
    nearest.map(|(_, shown)| format!("\"{shown}\"")).collect()
}

/// A failed search compares at most this many texts.
const NEAREST_LIMIT: usize = 5_000;

/// How the element's texts fit `wanted`. `None` if none of them contains `wanted`.
fn has_text(element: &Element, wanted: &str) -> Option<Fit> {
    let value = (!element.states.contains(States::SECURE)).then_some(&element.value);
    let parts = [Some(&element.title), value, Some(&element.description)];
    let parts = || parts.into_iter().flatten().filter(|t| !t.is_blank());
    let fits = parts().map(|part| fit(&fold(&part.shown), part.is_cut(), wanted));
    // A line of the tree shows the name and then the value: `Phone (555) 000-1111`. A text may be
    // found across the two.
    let joined = || {
        parts().nth(1)?;
        let value = value_beside_name(element).map(|text| text.shown.as_str());
        let name = own_text(element).map(|text| text.shown.as_str());
        let joined = format!("{} {}", name.unwrap_or_default(), value.unwrap_or_default());
        fit(&fold(&joined), false, wanted)
    };
    let best = match fits.max().flatten() {
        Some(Fit::Exact) => Some(Fit::Exact),
        best => best.max(joined()),
    };
    best.or_else(|| wanted.is_empty().then_some(Fit::Part))
}

fn fit(text: &str, is_cut: bool, wanted: &str) -> Option<Fit> {
    if text == wanted && !is_cut {
        return Some(Fit::Exact);
    }
    let bare = |text| str::trim_end_matches(text, [':', '：', ' ']);
    if bare(text) == bare(wanted) && !is_cut && !bare(wanted).is_empty() {
        return Some(Fit::Label);
    }
    text.contains(wanted).then_some(Fit::Part)
}

/// A prefix of a role, or a whole native role.
pub struct RoleFilter(Option<String>);

impl RoleFilter {
    pub fn new(role: Option<&str>) -> Self {
        let squeezed = role.map(squeeze);
        Self(squeezed.filter(|role| !role.is_empty()))
    }

    fn is_any(&self) -> bool {
        self.0.is_none()
    }

    fn admits(&self, element: &Element) -> bool {
        self.fits(element.role, &element.native_role)
    }

    pub fn fits(&self, role: Role, native: &str) -> bool {
        self.0.as_deref().is_none_or(|wanted| {
            squeeze(role.ax()).starts_with(wanted) || squeeze(native) == wanted
        })
    }
}

/// Lower case, without spaces and without the `AX` prefix.
fn squeeze(role: &str) -> String {
    let mut squeezed = role.to_lowercase();
    squeezed.retain(|c| !c.is_whitespace());
    match squeezed.strip_prefix("ax") {
        Some(bare) => bare.to_owned(),
        None => squeezed,
    }
}

/// The pairs of adjacent characters at the start of a text, to measure similarity in linear time.
struct Bigrams(Vec<(char, char)>);

impl Bigrams {
    fn new(text: &str) -> Self {
        let mut pairs: Vec<_> = pairs(&fold(text)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        Self(pairs)
    }

    /// The Dice coefficient in thousandths: twice the shared pairs divided by all pairs.
    fn likeness(&self, folded: &str) -> u32 {
        let mut shared = 0u128;
        let mut total = self.0.len();
        for pair in pairs(folded) {
            total += 1;
            if let Ok(at) = self.0.binary_search(&pair) {
                shared |= 1 << at;
            }
        }
        let thousandths = 2_000 * shared.count_ones() as usize / total.max(1);
        u32::try_from(thousandths).unwrap_or(u32::MAX)
    }
}

/// At most 101 pairs, so that a set of them fits a `u128`.
fn pairs(text: &str) -> impl Iterator<Item = (char, char)> {
    let start = || text.chars().take(100);
    let ends = |c: char| std::iter::once(c);
    ends(' ').chain(start()).zip(start().chain(ends(' ')))
}
