//! Adds what a person sees and a toolkit does not report: the label of a field, and the position of
//! a cell in its table.

use crate::{Cell, Element, Rect, Role, States, Text, Texts, Tree};

/// A text with more characters than this is a sentence, not a label.
const LONGEST: usize = 40;

/// The widest gaps between a field and its label, in pixels: `BESIDE` if the label is to the left
/// of the field, `ABOVE` if the label is above the field.
const BESIDE: i32 = 120;
const ABOVE: i32 = 16;

/// By how many pixels the left edges of a field and of a label above it may differ.
const ALIGNED: i32 = 12;

/// A field that is alone in its container may have its label beside the container. At most this
/// many containers around the field are searched.
const LEVELS: usize = 3;

impl Tree {
    /// Names each visible field without a name by its label: a short text in the same container, or
    /// in the cell before the field's cell. The label is to the left of the field on the same line,
    /// or directly above it, and no other field lies between the two.
    pub fn label_fields(&mut self) {
        self.name_no_combo_by_its_choice();
        let unnamed = |e: &Element| {
            let named = !e.title.is_blank() || !e.description.is_blank();
            is_field(e) && e.visible && !named
        };
        let fields: Vec<usize> = (0..self.elements.len())
            .filter(|&i| unnamed(&self.elements[i]))
            .collect();
        if fields.is_empty() {
            return;
        }
        let children = children(self);
        let texts = Texts::new(self);
        let labels: Vec<(usize, Text)> = fields
            .into_iter()
            .filter_map(|field| Some((field, label_of(self, &texts, &children, field)?)))
            .collect();
        for (field, label) in labels {
            self.elements[field].title = label;
            self.labelled_by_place.push(field);
        }
    }

    /// If the name of a combo box is the text of one of its choices, makes it the box's value, so
    /// that the box can be named by its label. GTK 3 and Java report the choice as the name of a
    /// combo box that has no label.
    fn name_no_combo_by_its_choice(&mut self) {
        let shown = |e: &Element| {
            let is_combo = matches!(e.role, Role::COMBO_BOX | Role::POP_UP_BUTTON);
            is_combo && !e.title.is_blank() && (e.value.is_blank() || e.value.same(&e.title))
        };
        let combos = (0..self.elements.len()).filter(|&i| shown(&self.elements[i]));
        let is_list = |at: usize| matches!(self.elements[at].role, Role::LIST | Role::MENU);
        let is_choice = |&combo: &usize| {
            let title = &self.elements[combo].title;
            // While the list is open, it is a window of its own in GTK 3.
            let its = |i| self.is_inside(i, combo) || self.toplevel(i) != self.toplevel(combo);
            let mut items = self.elements.iter().enumerate();
            items.any(|(i, e)| {
                let is_item = matches!(e.role, Role::MENU_ITEM | Role::ROW | Role::STATIC_TEXT);
                is_item && e.title.same(title) && e.parent.is_some_and(is_list) && its(i)
            })
        };
        let combos: Vec<usize> = combos.filter(is_choice).collect();
        for combo in combos {
            let element = &mut self.elements[combo];
            element.value = std::mem::take(&mut element.title);
        }
    }

    /// Numbers the cells of tables that consist of rows, such as those of web pages, where a row of
    /// headers counts as a row. Skips tables that were not read whole, and those with cells that
    /// span several columns.
    pub fn number_cells(&mut self) {
        let is_table = |e: &Element| matches!(e.role, Role::TABLE | Role::GRID | Role::OUTLINE);
        let tables: Vec<usize> = (0..self.elements.len())
            .filter(|&i| is_table(&self.elements[i]))
            .collect();
        if tables.is_empty() {
            return;
        }
        let children = children(self);
        let cells = tables.into_iter();
        let cells: Vec<_> = cells
            .flat_map(|table| cells_of(self, &children, table))
            .collect();
        for (index, cell) in cells {
            self.elements[index].cell.get_or_insert(cell);
        }
    }
}

fn children(tree: &Tree) -> Vec<Vec<usize>> {
    let mut children = vec![Vec::new(); tree.elements.len()];
    for (index, element) in tree.elements.iter().enumerate() {
        if let Some(parent) = element.parent.filter(|parent| *parent < index) {
            children[parent].push(index);
        }
    }
    children
}

/// Whether a label may name the element. A terminal is named by its window, not by a label.
fn is_field(element: &Element) -> bool {
    element.role.is_field() && element.native_role != "terminal"
}

fn label_of(tree: &Tree, texts: &Texts, children: &[Vec<usize>], field: usize) -> Option<Text> {
    let place = tree.elements[field].extents?;
    // Above a combo box in a column of controls there may be any text, such as a status.
    let is_combo = tree.elements[field].role == Role::COMBO_BOX;
    let in_column = is_combo && tree.page_around(field).is_none();
    let mut inner = field;
    for _ in 0..=LEVELS {
        let parent = tree.parent(inner)?;
        let siblings = &children[parent];
        let beside = |i: &usize| *i != inner && tree.elements[*i].visible;
        let others: Vec<usize> = siblings.iter().copied().filter(beside).collect();
        let labels = others.iter().filter_map(|&i| {
            let at = tree.elements[i].place()?;
            let text = label_text(tree, texts, children, i)?;
            let is_above = at.y.saturating_add(at.h) <= place.center().y;
            let fits = !(in_column && is_above) || text.shown.trim_end().ends_with(':');
            Some((distance(at, place).filter(|_| fits)?, at, text))
        });
        let nearest = labels.min_by_key(|(distance, ..)| *distance);
        if let Some((_, at, text)) = nearest {
            let between = span(at, place);
            let in_between = |&&i: &&usize| {
                let e = tree.elements[i].extents;
                e.is_some_and(|e| !e.intersect(&between).is_empty())
                    && label_text(tree, texts, children, i).is_none()
            };
            let taken = |&&i: &&usize| {
                let element = &tree.elements[i];
                is_field(element) && element.title.shown.trim() == text.shown.trim()
            };
            let clear = others.iter().find(in_between).is_none();
            let free = others.iter().find(taken).is_none();
            return Some(text).filter(|_| clear && free);
        }
        // A scroll bar beside the field does not count as another element.
        let alone = others
            .iter()
            .all(|&i| tree.elements[i].role.is_scroll_bar_part());
        if !alone || matches!(tree.elements[parent].role, Role::WINDOW | Role::WEB_AREA) {
            return None;
        }
        inner = parent;
    }
    None
}

/// The text of an element that consists only of one short text; `None` for any other element.
fn label_text(tree: &Tree, texts: &Texts, children: &[Vec<usize>], index: usize) -> Option<Text> {
    let element = &tree.elements[index];
    let may_be = matches!(element.role, Role::STATIC_TEXT | Role::GROUP | Role::CELL);
    let only_text = |&child: &usize| {
        tree.elements[child].role == Role::STATIC_TEXT && children[child].is_empty()
    };
    if !may_be || !children[index].iter().all(only_text) || children[index].len() > 1 {
        return None;
    }
    let text = texts.text(tree, index)?;
    let shown = text.shown.trim();
    let is_label = !text.is_cut()
        && shown.chars().count() <= LONGEST
        && shown.chars().any(char::is_alphanumeric)
        && !shown.ends_with(['.', '!', '?', ','])
        && !shown.contains('\n')
        && !element.states.contains(States::SECURE);
    is_label.then(|| Text::new(shown))
}

/// The distance between a field and its possible label; `None` if the text cannot be its label.
fn distance(label: Rect, field: Rect) -> Option<i32> {
    let middle = label.center().y;
    let beside = field.x.saturating_sub(label.x.saturating_add(label.w));
    if (field.y..field.y.saturating_add(field.h)).contains(&middle)
        && (-4..=BESIDE).contains(&beside)
    {
        return Some(beside.max(0));
    }
    let above = field.y.saturating_sub(label.y.saturating_add(label.h));
    let aligned = label.x.abs_diff(field.x) <= ALIGNED.unsigned_abs();
    ((-4..=ABOVE).contains(&above) && aligned).then(|| above.max(0))
}

/// The rectangle between a label and its field.
fn span(label: Rect, field: Rect) -> Rect {
    let (right, bottom) = (
        label.x.saturating_add(label.w),
        label.y.saturating_add(label.h),
    );
    if right <= field.x + 4 && label.center().y >= field.y {
        let w = field.x.saturating_sub(right).max(0);
        return Rect::at(right, field.y, w, field.h);
    }
    let h = field.y.saturating_sub(bottom).max(0);
    Rect::at(field.x, bottom, field.w, h)
}

/// The cells of a table of rows with their positions; empty if they cannot be numbered.
fn cells_of(tree: &Tree, children: &[Vec<usize>], table: usize) -> Vec<(usize, Cell)> {
    let is_header =
        |e: &Element| e.role == Role::BUTTON && e.native_role.ends_with("column header");
    let mut rows: Vec<Vec<usize>> = Vec::new();
    let mut open = vec![table];
    // A group of rows, such as the body of a table, is not a row.
    while let Some(index) = open.pop() {
        if !tree.elements[index].children_read {
            return Vec::new();
        }
        for &child in children[index].iter().rev() {
            match tree.elements[child].role {
                Role::GROUP => open.push(child),
                Role::ROW => rows.push(
                    children[child]
                        .iter()
                        .copied()
                        .filter(|&c| {
                            tree.elements[c].role == Role::CELL || is_header(&tree.elements[c])
                        })
                        .collect(),
                ),
                _ => {}
            }
        }
    }
    rows.sort_by_key(|row| row.first().copied());
    let width = rows.first().map_or(0, Vec::len);
    if width == 0 || rows.iter().any(|row| row.len() != width) {
        return Vec::new();
    }
    let mut cells = Vec::new();
    for (row, its) in (1..).zip(&rows) {
        for (column, &index) in (1..).zip(its) {
            if tree.elements[index].role == Role::CELL {
                cells.push((index, Cell { row, column }));
            }
        }
    }
    cells
}
