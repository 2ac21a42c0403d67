//! Which element receives a click, by the order and the shape of a tree.

use crate::{Element, Point, Role, Tree, fold};

/// How many levels a label may lie inside the control that takes its clicks.
const LABEL_DEPTH: usize = 4;

impl Tree {
    /// The element that is drawn over `index` at a point, in a toolkit that draws later siblings
    /// over earlier ones: what is last in tree order and contains the point, in a branch beside the
    /// element's own. Scroll bars that fade in let clicks through, and so do texts and pictures
    /// unless `texts_cover`. The items of a list, a table or a menu do not cover each other,
    /// whatever their bounds.
    pub fn drawn_over(&self, index: usize, at: Point, texts_cover: bool) -> Option<usize> {
        let top = self.toplevel(index).filter(|_| !self.is_in_pop_up(index))?;
        let end = (index + 1..self.elements.len()).find(|i| !self.is_inside(*i, index));
        let rest = end.unwrap_or(self.elements.len())..self.elements.len();
        let own = rest.take_while(|i| *i == top || self.is_inside(*i, top));
        own.filter(|&over| {
            let element = &self.elements[over];
            element.visible
                && element.extents.is_some_and(|place| place.contains(at))
                && takes_clicks(element, texts_cover)
                && self.may_cover(over, index)
                && self.is_clipped_to(over, at)
        })
        .last()
    }

    /// Whether another element that takes clicks has a point in its box: none that holds `index`,
    /// or is in it.
    pub fn has_another_at(&self, index: usize, at: Point) -> bool {
        self.elements.iter().enumerate().any(|(other, element)| {
            element.visible
                && element.extents.is_some_and(|place| place.contains(at))
                && takes_clicks(element, false)
                && other != index
                && !self.is_inside(other, index)
                && !self.is_inside(index, other)
        })
    }

    /// Whether an element is in what opens above its window: a menu, a list of choices, a bubble.
    pub fn is_in_pop_up(&self, index: usize) -> bool {
        let opens = |at: usize| {
            let role = self.elements[at].role;
            matches!(
                role,
                Role::MENU
                    | Role::MENU_ITEM
                    | Role::MENU_BAR_ITEM
                    | Role::POPOVER
                    | Role::COMBO_BOX
                    | Role::POP_UP_BUTTON
            )
        };
        // AT-SPI's `menu` is also the item that opens one.
        let own = self.elements[index].role;
        matches!(own, Role::MENU | Role::MENU_ITEM) || self.outwards(index).skip(1).any(opens)
    }

    /// Whether a point is in the pane of a window inside its toplevel; true for everything else. A
    /// GTK 3 plug, such as an item of Xfce's panel, claims the bounds of the whole toplevel.
    fn is_clipped_to(&self, window: usize, at: Point) -> bool {
        let mut around = self.outwards(window).skip(1);
        let pane = around.find_map(|outer| self.elements[outer].place());
        self.elements[window].role != Role::WINDOW || pane.is_none_or(|pane| pane.contains(at))
    }

    /// Whether the branches of two elements may overlap: neither contains the other, and what holds
    /// both is no list of items.
    fn may_cover(&self, over: usize, index: usize) -> bool {
        let mut around = self.outwards(over);
        // The last ancestor of `over` that does not hold `index` too.
        let mut branch = over;
        let both = around.find(|&at| {
            let holds = at == index || self.is_inside(index, at);
            if !holds {
                branch = at;
            }
            holds
        });
        let Some(both) = both.filter(|both| *both != index) else {
            return false;
        };
        let holds_items = matches!(
            self.elements[both].role,
            Role::LIST
                | Role::TABLE
                | Role::OUTLINE
                | Role::GRID
                | Role::ROW
                | Role::CELL
                | Role::MENU
                | Role::MENU_BAR
                | Role::TAB_GROUP
                | Role::COMBO_BOX
                | Role::RADIO_GROUP
                | Role::APPLICATION
        );
        !holds_items && !self.opens_above(branch)
    }

    /// Whether it is a window of its own inside its toplevel: an open menu, a tool tip, a dialog.
    fn opens_above(&self, index: usize) -> bool {
        let element = &self.elements[index];
        match element.role {
            Role::MENU | Role::POPOVER | Role::HELP_TAG => true,
            // A document's window in a pane is drawn with its toplevel.
            Role::WINDOW => {
                let holder = self.parent(index).map(|at| self.elements[at].role);
                element.native_role != "internal frame"
                    && matches!(holder, None | Some(Role::WINDOW | Role::APPLICATION))
            }
            _ => false,
        }
    }

    /// Whether a click on `hit`, the topmost element at a point, is a click on `index`: `hit` is a
    /// part of it, or passes its clicks on, as a row, a label or the button around a text do.
    pub fn receives_for(&self, hit: usize, index: usize) -> bool {
        if hit == index || self.is_inside(hit, index) {
            return true;
        }
        let target = &self.elements[index];
        if self.is_inside(index, hit) {
            return !is_control(target) || passes_clicks(&self.elements[hit]);
        }
        if self.labels(hit, index) {
            return true;
        }
        // Two parts of one control or row: the picture and the text of a button.
        let shared = self.outwards(hit).find(|at| self.is_inside(index, *at));
        shared.is_some_and(|shared| {
            let inner = self.outwards(hit).take_while(|at| *at != shared);
            passes_clicks(&self.elements[shared])
                && !is_control(target)
                && !inner.into_iter().any(|at| is_control(&self.elements[at]))
        })
    }

    /// Whether `hit` is, or is in, a label with the text of `index`.
    fn labels(&self, hit: usize, index: usize) -> bool {
        let wanted = fold(&self.elements[index].title.shown);
        let is_label = |at: usize| {
            let element = &self.elements[at];
            element.native_role == "label"
                && !wanted.is_empty()
                && fold(&element.title.shown) == wanted
        };
        self.outwards(hit).take(LABEL_DEPTH).any(is_label)
    }

    /// The element to name for what lies at a point: the control around `hit`, or `hit` itself.
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

/// Whether a container hands a click on it to what it contains.
fn passes_clicks(element: &Element) -> bool {
    let holds = matches!(
        element.role,
        Role::ROW | Role::CELL | Role::STATIC_TEXT | Role::DISCLOSURE_TRIANGLE
    );
    holds || is_control(element)
}

/// Whether it keeps a click from what lies under it.
fn takes_clicks(element: &Element, texts_cover: bool) -> bool {
    match element.role {
        Role::STATIC_TEXT | Role::IMAGE => texts_cover && element.native_role != "ocr",
        Role::HELP_TAG | Role::APPLICATION => false,
        role => !role.is_scroll_bar_part(),
    }
}
