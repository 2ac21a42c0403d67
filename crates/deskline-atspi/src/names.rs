//! The names of AT-SPI's interfaces, and the numbers of its states and roles.
//!
//! Source: `at-spi2-core`, `xml/*.xml` for the interfaces and `atspi/atspi-constants.h` for the
//! numbers. The numbers are part of the protocol and never change.

pub(crate) const REGISTRY: &str = "org.a11y.atspi.Registry";
pub const ROOT: &str = "/org/a11y/atspi/accessible/root";
pub const CACHE: &str = "/org/a11y/atspi/cache";
/// The path of "no object".
pub(crate) const NULL: &str = "/org/a11y/atspi/null";

pub(crate) const ACCESSIBLE: &str = "org.a11y.atspi.Accessible";
pub(crate) const ACTION: &str = "org.a11y.atspi.Action";
pub const APPLICATION: &str = "org.a11y.atspi.Application";
pub(crate) const CACHE_INTERFACE: &str = "org.a11y.atspi.Cache";
pub(crate) const COMPONENT: &str = "org.a11y.atspi.Component";
pub(crate) const HYPERLINK: &str = "org.a11y.atspi.Hyperlink";
pub(crate) const HYPERTEXT: &str = "org.a11y.atspi.Hypertext";
pub(crate) const EDITABLE_TEXT: &str = "org.a11y.atspi.EditableText";
pub const PROPERTIES: &str = "org.freedesktop.DBus.Properties";
pub const SELECTION: &str = "org.a11y.atspi.Selection";
pub const TABLE: &str = "org.a11y.atspi.Table";
pub(crate) const COLLECTION: &str = "org.a11y.atspi.Collection";
pub const TEXT: &str = "org.a11y.atspi.Text";
pub const VALUE: &str = "org.a11y.atspi.Value";

/// `ATSPI_COORD_TYPE_SCREEN`
pub const SCREEN: u32 = 0;
/// `ATSPI_COORD_TYPE_WINDOW`
pub const WINDOW: u32 = 1;
/// `ATSPI_SCROLL_ANYWHERE`
pub(crate) const SCROLL_ANYWHERE: u32 = 6;
/// `ATSPI_RELATION_LABELLED_BY`
pub(crate) const LABELLED_BY: u32 = 2;
/// `ATSPI_RELATION_CONTROLLER_FOR`
pub(crate) const CONTROLLER_FOR: u32 = 3;

/// Defines constants from pairs of a name and a number.
macro_rules! numbers {
    ($($name:ident $number:literal,)*) => {
        $(pub const $name: u32 = $number;)*
    };
}

/// A set of `AtspiStateType` bits, as `GetState` gives them in two words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StateSet(pub u64);

impl StateSet {
    numbers! {
        BUSY 3, CHECKED 4, COLLAPSED 5, DEFUNCT 6, EDITABLE 7, ENABLED 8, EXPANDABLE 9,
        EXPANDED 10, FOCUSABLE 11, FOCUSED 12, ACTIVE 1, ICONIFIED 15, MODAL 16, MULTI_LINE 17,
        ARMED 2, PRESSED 20, SELECTABLE 22, SELECTED 23, SENSITIVE 24, SHOWING 25, VISIBLE 30,
        MANAGES_DESCENDANTS 31, INDETERMINATE 32, READ_ONLY 43,
    }

    /// Whether the state of that number is set.
    pub fn has(self, state: u32) -> bool {
        self.0 >> state & 1 == 1
    }
}

/// The numbers of the roles that the traversal treats specially.
pub mod role {
    numbers! {
        ALERT 2, CHECK_BOX 7, CHECK_MENU_ITEM 8, COMBO_BOX 11, DATE_EDITOR 12, DIAL 15, DIALOG 16,
        FILE_CHOOSER 19, FILLER 20, FRAME 23, ICON 26, INTERNAL_FRAME 28, LABEL 29, LIST 31,
        LIST_ITEM 32, MENU 33, MENU_BAR 34, MENU_ITEM 35, PAGE_TAB 37, PANEL 39, PASSWORD_TEXT 40,
        POPUP_MENU 41, PROGRESS_BAR 42, PUSH_BUTTON 43, RADIO_BUTTON 44, RADIO_MENU_ITEM 45,
        ROOT_PANE 46, SLIDER 51, SPIN_BUTTON 52, TABLE 55, STATUS_BAR 54, TABLE_CELL 56,
        TERMINAL 60, TEXT 61, TOGGLE_BUTTON 62, TOOL_TIP 64, TREE_TABLE 66, VIEWPORT 68, WINDOW 69,
        PARAGRAPH 73, AUTOCOMPLETE 76, EDITBAR 77, ENTRY 79, CAPTION 81, DOCUMENT_FRAME 82,
        HEADING 83, PAGE 84, SECTION 85, FORM 87, LINK 88, DOCUMENT_SPREADSHEET 92,
        DOCUMENT_TEXT 94, DOCUMENT_WEB 95, DOCUMENT_EMAIL 96, COMMENT 97, LIST_BOX 98, GROUPING 99,
        NOTIFICATION 101, LEVEL_BAR 103, BLOCK_QUOTE 105, DEFINITION 108, ARTICLE 109,
        LANDMARK 110, LOG 111, MARQUEE 112, TIMER 115, STATIC 116, SUBSCRIPT 119, SUGGESTION 128,
        SWITCH 130,
    }

    /// Whether `role` is that of an open menu or a tool tip. Qt and GTK 3 put these beside their
    /// toplevels, and the window manager does not manage their windows.
    pub fn pops_up(role: u32) -> bool {
        matches!(
            role,
            COMBO_BOX | LIST | LIST_BOX | MENU | POPUP_MENU | TOOL_TIP
        )
    }

    /// Whether the `Text` of an object of this role is its own value, not the text of its children.
    pub(crate) fn holds_text(role: u32) -> bool {
        let field = matches!(
            role,
            COMBO_BOX | SPIN_BUTTON | TEXT | AUTOCOMPLETE | EDITBAR | ENTRY
        );
        field
            || matches!(
                role,
                TABLE_CELL | TERMINAL | PARAGRAPH | HEADING | DOCUMENT_TEXT
            )
    }

    /// Whether `role` is the role of a field that holds nothing but a text.
    pub(crate) fn is_text_field(role: u32) -> bool {
        matches!(role, PASSWORD_TEXT | TEXT | EDITBAR | ENTRY)
    }

    /// Whether `role` is that of a page part: an element of a web page or a document that may have
    /// text of its own, beside its children or between them.
    pub(crate) fn is_prose(role: u32) -> bool {
        let document = matches!(
            role,
            DOCUMENT_FRAME | DOCUMENT_TEXT | DOCUMENT_WEB | DOCUMENT_EMAIL
        );
        let part = matches!(
            role,
            PANEL | CAPTION | PAGE | SECTION | FORM | COMMENT | BLOCK_QUOTE
        );
        document || part || matches!(role, DEFINITION | ARTICLE | LANDMARK | LOG | MARQUEE)
    }

    /// Whether a page may put a text directly into an object of this role, without an element for
    /// the text.
    pub(crate) fn is_message(role: u32) -> bool {
        matches!(role, ALERT | DIALOG | STATUS_BAR | GROUPING | NOTIFICATION)
    }

    /// Whether `role` is the role of a small part of a text. In toolkits that name such parts, the
    /// name of the part is its text.
    pub(crate) fn is_named_by_its_text(role: u32) -> bool {
        matches!(role, ICON | LABEL | LIST_ITEM | LINK | TIMER | STATIC)
            || matches!(role, SUBSCRIPT..=SUGGESTION)
    }

    /// Whether `role` is inline: neighbours in a line of text may be parts of the same word.
    pub(crate) fn is_inline(role: u32) -> bool {
        matches!(role, LABEL | LINK | STATIC | SUBSCRIPT..=SUGGESTION)
    }

    /// Whether `role` is the role of a container whose children are cells.
    pub fn is_table(role: u32) -> bool {
        matches!(role, TABLE | TREE_TABLE | DOCUMENT_SPREADSHEET)
    }

    /// Whether `role` is `COLUMN_HEADER` or `TABLE_COLUMN_HEADER`.
    pub(crate) fn is_column_header(role: u32) -> bool {
        matches!(role, 10 | 57)
    }

    /// Whether `role` is `LIST_ITEM`, `TABLE_ROW` or `TREE_ITEM`.
    pub fn is_row(role: u32) -> bool {
        matches!(role, LIST_ITEM | 90 | 91)
    }

    /// Whether `role` is the role of a container that lists its children vertically, and is no
    /// table.
    pub fn is_list(role: u32) -> bool {
        matches!(role, LIST | LIST_BOX)
    }

    /// Whether a label beside or in an element of this role may name the element, if the element
    /// has no name of its own.
    pub(crate) fn may_have_label(role: u32) -> bool {
        let button = matches!(
            role,
            CHECK_BOX | PUSH_BUTTON | RADIO_BUTTON | SWITCH | TOGGLE_BUTTON
        );
        let item = matches!(role, CHECK_MENU_ITEM | MENU | MENU_ITEM | RADIO_MENU_ITEM);
        button || item || holds_text(role) || holds_number(role)
    }

    /// Whether a page may name an object of this role by an icon alone: a character that is no
    /// letter or digit, perhaps of a font of its own.
    pub(crate) fn is_icon(role: u32, name: &str) -> bool {
        let is_button = matches!(role, PUSH_BUTTON | TOGGLE_BUTTON | LINK);
        let is_choice = matches!(role, CHECK_BOX | RADIO_BUTTON | LABEL);
        (is_button || is_choice) && !name.is_empty() && !name.contains(char::is_alphanumeric)
    }

    /// Whether the `Value` of an object of this role is the number that it shows.
    pub(crate) fn holds_number(role: u32) -> bool {
        matches!(role, DIAL | PROGRESS_BAR | SLIDER | SPIN_BUTTON | LEVEL_BAR)
    }
}
