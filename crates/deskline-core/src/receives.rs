//! Which element receives a click, by the order and the shape of a tree.

use crate::{Element, Point, Role, States, Tree, fold};

/// How many levels a label may lie inside the control that takes its clicks.
const LABEL_DEPTH: usize = 4;

/// The roles of containers whose items do not lie over one another.
#[rustfmt::skip]
const HOLD_ITEMS: [Role; 12] = [
    Role::LIST, Role::TABLE, Role::OUTLINE, Role::GRID, Role::ROW, Role::CELL, Role::MENU,
    Role::MENU_BAR, Role::TAB_GROUP, Role::COMBO_BOX, Role::RADIO_GROUP, Role::APPLICATION,
];

impl Tree {
    /// The element that is drawn over `index` at a point: of the elements that contain the point,
    /// the last one in tree order. Toolkits draw later siblings over earlier ones; with
    /// `first_on_top`, earlier ones over later ones. Three kinds are skipped: scroll bars that fade
    /// in, because they let clicks through; texts and pictures, unless `texts_cover`; and items of
    /// one list, table or menu, which do not cover each other whatever their bounds are.
    pub fn drawn_over(
        &self,
        (index, first_on_top): (usize, bool),
        at: Point,
        texts_cover: bool,
    ) -> Option<usize> {
        let top = self.toplevel(index).filter(|_| !self.is_in_pop_up(index))?;
        let covers = |over: usize| {
            let element = &self.elements[over];
            let is_there = self.shows_at(over, at) && self.is_clipped_to(over, at);
            if !is_there || !takes_clicks(element, texts_cover) {
                return None;
            }
            let [branch, ours] = self.branches(over, index)?;
            // Of several windows in a pane, the focused one is on top.
            let front = self.elements[branch].role == Role::WINDOW && self.has_focus(branch);
            let behind = self.elements[branch].role == Role::WINDOW && self.has_focus(ours);
            (front || (over > index) != first_on_top && !behind).then_some((front, over))
        };
        let covers = self.with_inside(top).filter_map(covers);
        covers.max().map(|(_, over)| over)
    }

    fn has_focus(&self, index: usize) -> bool {
        let mut all = self.with_inside(index);
        all.any(|i| self.elements[i].states.contains(States::FOCUSED))
    }

    /// Whether another element that takes clicks contains a point. Elements around `index` and
    /// inside it do not count.
    pub fn has_another_at(&self, index: usize, at: Point) -> bool {
        self.another_at(index, at, |_| true).is_some()
    }

    fn another_at(&self, index: usize, at: Point, fits: impl Fn(usize) -> bool) -> Option<usize> {
        (0..self.elements.len()).find(|&other| {
            self.shows_at(other, at)
                && takes_clicks(&self.elements[other], true)
                && other != index
                && !self.is_inside(other, index)
                && !self.is_inside(index, other)
                && fits(other)
        })
    }

    /// The element that lies at a point of `index` in a table, if the app has named `hit`: the
    /// table or row around `index`. Chromium may name the table for a head that stays. Firefox may
    /// name the row for a cell that stays over the others: the first or last one of the row.
    pub fn over_cell(&self, hit: usize, index: usize, at: Point) -> usize {
        let is_table = self.elements[hit].role == Role::TABLE && self.is_inside(index, hit);
        if !is_table && !self.is_row_of(hit, index) {
            return hit;
        }
        let mut cells = self.inside(hit).filter(|at| self.parent(*at) == Some(hit));
        let first = cells.next();
        let ends = [first, cells.last().or(first)];
        let at_end = |at: usize| self.outwards(at).any(|at| ends.contains(&Some(at)));
        let is_over =
            |other| is_table || !self.is_inside(other, hit) || at_end(other) && !at_end(index);
        self.another_at(index, at, is_over).unwrap_or(hit)
    }

    /// Whether `hit` is a row of a table, and `index` is, or is in, one of its cells.
    fn is_row_of(&self, hit: usize, index: usize) -> bool {
        let mut between = self.outwards(index).take_while(|at| *at != hit);
        let is_row = self.elements[hit].role == Role::ROW && self.is_inside(index, hit);
        is_row && between.any(|at| self.elements[at].role == Role::CELL)
    }

    fn shows_at(&self, index: usize, at: Point) -> bool {
        self.has_at(index, at) && self.is_in_view(index, at)
    }

    /// Whether the element is visible and its box contains the point.
    fn has_at(&self, index: usize, at: Point) -> bool {
        let place = self.elements[index].shown();
        place.is_some_and(|place| place.contains(at))
    }

    /// The innermost control inside `index` that contains a point.
    pub fn control_inside(&self, index: usize, at: Point) -> Option<usize> {
        let has = |inner: &usize| is_control(&self.elements[*inner]) && self.has_at(*inner, at);
        self.inside(index).filter(has).last()
    }

    /// Whether an element lies outside of its parent's bounds, as an open bubble does.
    fn is_bubble(&self, index: usize) -> bool {
        let outer = self.parent(index);
        let outer = outer.filter(|outer| self.parent(*outer).is_some());
        let place = |at: usize| self.elements[at].shown();
        let outer = outer.and_then(place).zip(place(index));
        outer.is_some_and(|(outer, inner)| !outer.contains(inner.center()))
    }

    /// The innermost element at a point of an open bubble, if `index` is not in that bubble. A
    /// bubble lies outside of its parent's bounds.
    pub fn bubble_over(&self, index: usize, at: Point) -> Option<usize> {
        let opens = |inner: &usize| self.has_at(*inner, at) && self.is_bubble(*inner);
        let bubble = (0..self.elements.len()).rfind(opens);
        self.innermost_at(bubble?, index, at)
    }

    /// The innermost element at a point of a window that the app draws inside another one of its
    /// windows, as Chromium draws its questions and its find bar. `None` if `index` is in the drawn
    /// window. Chromium also lists two such windows for the choices of its address bar. They have
    /// no controls and seldom show, so they do not count.
    pub fn drawn_window_over(&self, index: usize, at: Point) -> Option<usize> {
        let ours = self.toplevel(index);
        let is_drawn = |top: &usize| {
            let element = &self.elements[*top];
            let is_control = |i: usize| is_control(&self.elements[i]) && self.elements[i].visible;
            let is_beside = self.toplevel(*top) == Some(*top) && element.native_role != "frame";
            element.role == Role::WINDOW
                && self.has_at(*top, at)
                && (is_beside || self.toplevel(*top) == ours)
                && !self.is_own_window(*top)
                && self.page_around(*top).is_none()
                && self.inside(*top).any(is_control)
        };
        // Without the list of windows on the screen, a drawn window cannot be told from one of
        // them.
        let known = ours.is_some_and(|ours| self.is_own_window(ours));
        let drawn = (0..self.elements.len()).rfind(is_drawn);
        self.innermost_at(drawn.filter(|_| known)?, index, at)
    }

    /// The innermost visible element at a point of `over`, if `index` is not in `over`.
    fn innermost_at(&self, over: usize, index: usize, at: Point) -> Option<usize> {
        let is_beside = index != over && !self.is_inside(index, over);
        let found = self
            .with_inside(over)
            .filter(|i| self.has_at(*i, at))
            .last();
        found.filter(|_| is_beside)
    }

    /// Whether an element is a popover or a menu that a button of GTK 4 has opened over its window.
    pub fn is_popover(&self, index: usize) -> bool {
        let button = self.parent(index).map(|at| &self.elements[at]);
        let opened =
            button.is_some_and(|b| b.role == Role::BUTTON && b.states.contains(States::EXPANDED));
        let opens = matches!(self.elements[index].role, Role::GROUP | Role::MENU);
        opened && opens && self.is_bubble(index)
    }

    /// Whether a popover is open in the element's own window and would take a click on the element:
    /// the click would close the popover and not reach the element.
    pub fn popover_beside(&self, index: usize) -> bool {
        let top = self.toplevel(index);
        let popovers = (0..self.elements.len()).filter(|at| {
            let element = &self.elements[*at];
            let is_popover = is_in_window(element) || self.is_popover(*at);
            element.visible && is_popover && self.toplevel(*at) == top
        });
        let of_both = |at: &usize| self.is_inside(index, *at) || self.is_inside(*at, index);
        let mut beside = popovers.filter(|at| index != *at && !of_both(at));
        beside.next().is_some()
    }

    /// The smallest area of an image map that contains a point. The app reported `hit`, the first
    /// area whose box contains the point. If `hit` is no area of an image map, returns `hit`.
    pub fn area_at(&self, hit: usize, at: Point) -> usize {
        let holder = self
            .parent(hit)
            .filter(|at| self.elements[*at].role == Role::IMAGE);
        let size = |i: &usize| {
            let place = self.elements[*i].extents.filter(|place| place.contains(at));
            place.map(|place| i64::from(place.w) * i64::from(place.h))
        };
        let areas =
            (0..self.elements.len()).filter(|i| holder.is_some() && self.parent(*i) == holder);
        let smallest = areas.filter_map(|i| Some((size(&i)?, i))).min();
        smallest.map_or(hit, |(_, i)| i)
    }

    /// Whether an element is in something that opens above its window: a menu, a list of choices, a
    /// bubble.
    pub fn is_in_pop_up(&self, index: usize) -> bool {
        let opens = |at: usize| {
            let role = self.elements[at].role;
            let menu = matches!(role, Role::MENU | Role::MENU_ITEM | Role::MENU_BAR_ITEM);
            let list = matches!(role, Role::POPOVER | Role::COMBO_BOX | Role::POP_UP_BUTTON);
            (menu || list) && !is_in_window(&self.elements[at])
        };
        // `menu` is in AT-SPI also the role of the item that opens a menu.
        let own = self.elements[index].role;
        matches!(own, Role::MENU | Role::MENU_ITEM) || self.outwards(index).skip(1).any(opens)
    }

    /// Whether a point is in the pane around `window`, a window inside its toplevel. `true` for any
    /// other element. A GTK 3 plug, such as an item of Xfce's panel, reports the bounds of the
    /// whole toplevel as its own.
    fn is_clipped_to(&self, window: usize, at: Point) -> bool {
        let mut around = self.outwards(window).skip(1);
        let pane = around.find_map(|outer| self.elements[outer].place());
        self.elements[window].role != Role::WINDOW || pane.is_none_or(|pane| pane.contains(at))
    }

    /// The branches of the tree that `over` and `index` are in, below the nearest element that
    /// contains both. `None` if the two cannot overlap: one contains the other, the element around
    /// both is a list of items, or `over` is in a window of its own.
    fn branches(&self, over: usize, index: usize) -> Option<[usize; 2]> {
        let mut around = self.outwards(over);
        // The outermost ancestor of `over` that does not contain `index` too.
        let mut branch = over;
        let both = around.find(|&at| {
            let holds = at == index || self.is_inside(index, at);
            if !holds {
                branch = at;
            }
            holds
        });
        let both = both.filter(|both| *both != over)?;
        let ours = self.outwards(index).take_while(|at| *at != both).last()?;
        let holds_items = HOLD_ITEMS.contains(&self.elements[both].role);
        (!holds_items && !self.opens_above(branch)).then_some([branch, ours])
    }

    /// Whether an element is a window of its own inside its toplevel: an open menu, a tool tip, a
    /// dialog.
    fn opens_above(&self, index: usize) -> bool {
        let element = &self.elements[index];
        match element.role {
            Role::MENU | Role::POPOVER | Role::HELP_TAG => !is_in_window(element),
            // A document's window in a pane is drawn as a part of its toplevel.
            Role::WINDOW => {
                let holder = self.parent(index).map(|at| self.elements[at].role);
                element.native_role != "internal frame"
                    && matches!(holder, None | Some(Role::WINDOW | Role::APPLICATION))
            }
            _ => false,
        }
    }

    /// Whether the app may mean `index` although it has named `hit`, an element around `index`, as
    /// the topmost one at `point`. It cannot mean it if `point` is outside of `index`, or outside
    /// of a container between the two, such as a list.
    pub fn is_around(&self, hit: usize, index: usize, point: Point) -> bool {
        let between = self.outwards(index).take_while(|at| *at != hit);
        let mut places = between.filter_map(|at| self.elements[at].place());
        // Firefox names the whole picture for its parts. The areas of an image map are links.
        let is_picture =
            self.elements[hit].role == Role::IMAGE && self.elements[index].role != Role::LINK;
        let other = |at: usize| at != index && is_control(&self.elements[at]);
        let has = |at: &usize| {
            self.elements[*at]
                .place()
                .is_some_and(|p| p.contains(point))
        };
        let is_alone = || !self.inside(hit).filter(has).any(other);
        let named = self.is_row_of(hit, index) || is_picture && is_alone();
        let is_in = self.is_inside(index, hit) && (named || !is_control(&self.elements[index]));
        is_in && places.all(|place| place.contains(point))
    }

    /// Whether a click on `hit`, the topmost element at a point, also clicks `index`. It does if
    /// `hit` is a part of `index`, or passes its clicks on to `index`, as a row, a label or the
    /// button around a text does.
    pub fn receives_for(&self, hit: usize, index: usize) -> bool {
        if hit == index || self.is_inside(hit, index) {
            return self.is_part(hit, index);
        }
        let target = &self.elements[index];
        if self.labels(hit, index) {
            return true;
        }
        if self.is_inside(index, hit) {
            let around = &self.elements[hit];
            return passes_clicks(around) && (!is_control(target) || is_of_parts(around.role));
        }
        // Two parts of one control or row belong together, such as the picture and the text of a
        // button. A cell that lies over another, as in a column that stays in view, does not.
        let shared = self.outwards(hit).find(|at| self.is_inside(index, *at));
        let keeps = |element: &Element| is_control(element) || element.role == Role::CELL;
        shared.is_some_and(|shared| {
            let mut inner = self.outwards(hit).take_while(|at| *at != shared);
            passes_clicks(&self.elements[shared])
                && !is_control(target)
                && !inner.any(|at| keeps(&self.elements[at]))
        })
    }

    /// Whether a click on `hit`, which is inside `index`, counts as a click on `index`. It does not
    /// if `hit` is, or is in, another control inside `index`, such as the button that closes a tab.
    fn is_part(&self, hit: usize, index: usize) -> bool {
        let target = &self.elements[index];
        let name = fold(&target.title.shown);
        let own = |at: usize| {
            let inner = &self.elements[at];
            !is_control(inner) || !name.is_empty() && fold(&inner.title.shown) == name
        };
        is_of_parts(target.role) || self.outwards(hit).take_while(|at| *at != index).all(own)
    }

    /// Whether an element only holds others, which are what a click on it is meant for.
    pub fn only_holds(&self, index: usize) -> bool {
        let element = &self.elements[index];
        !passes_clicks(element) || element.title.shown.is_empty()
    }

    /// Whether `hit` is a label, or is in a label, that has the text of `index` or contains
    /// `index`.
    fn labels(&self, hit: usize, index: usize) -> bool {
        let wanted = fold(&self.elements[index].title.shown);
        let is_label = |at: usize| {
            let named = |part: usize| fold(&self.elements[part].title.shown) == wanted;
            let is_named_so = !wanted.is_empty() && self.with_inside(at).any(named);
            let is_label = self.elements[at].native_role == "label";
            is_label && (is_named_so || self.is_inside(index, at))
        };
        let mut around = self.outwards(hit).take(LABEL_DEPTH);
        around
            .find(|at| is_control(&self.elements[*at]) || is_label(*at))
            .is_some_and(is_label)
    }

    /// The element whose name describes what is at a point: the control around `hit`, or `hit`
    /// itself.
    pub fn control_around(&self, hit: usize) -> usize {
        let mut around = self.outwards(hit).take(LABEL_DEPTH);
        around
            .find(|at| is_control(&self.elements[*at]))
            .unwrap_or(hit)
    }
}

fn is_control(element: &Element) -> bool {
    element.role.is_interactive()
}

/// Whether a control of this role has other controls as parts.
fn is_of_parts(role: Role) -> bool {
    matches!(
        role,
        Role::COMBO_BOX | Role::INCREMENTOR | Role::POP_UP_BUTTON | Role::MENU_BUTTON
    )
}

/// Whether a click on a container counts for the elements in the container.
fn passes_clicks(element: &Element) -> bool {
    let holds = matches!(
        element.role,
        Role::ROW | Role::CELL | Role::STATIC_TEXT | Role::DISCLOSURE_TRIANGLE
    );
    holds || is_control(element)
}

/// Whether the element keeps clicks from reaching what lies under it.
fn takes_clicks(element: &Element, texts_cover: bool) -> bool {
    match element.role {
        Role::STATIC_TEXT | Role::IMAGE => texts_cover && element.native_role != "ocr",
        Role::HELP_TAG | Role::APPLICATION => false,
        role => !role.is_scroll_bar_part(),
    }
}

/// Whether the element is a popover of GTK 3, which is drawn inside its window.
fn is_in_window(element: &Element) -> bool {
    element.role == Role::POPOVER && element.native_role == "panel"
}
