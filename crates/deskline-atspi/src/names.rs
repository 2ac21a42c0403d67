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

/// A set of `AtspiStateType` bits, as `GetState` gives them in two words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StateSet(pub u64);

impl StateSet {
    pub const BUSY: u32 = 3;
    pub const CHECKED: u32 = 4;
    pub const COLLAPSED: u32 = 5;
    pub(crate) const DEFUNCT: u32 = 6;
    pub const EDITABLE: u32 = 7;
    pub const ENABLED: u32 = 8;
    pub(crate) const EXPANDABLE: u32 = 9;
    pub const EXPANDED: u32 = 10;
    pub(crate) const FOCUSABLE: u32 = 11;
    pub const FOCUSED: u32 = 12;
    pub const ACTIVE: u32 = 1;
    pub(crate) const ICONIFIED: u32 = 15;
    pub(crate) const MODAL: u32 = 16;
    pub(crate) const MULTI_LINE: u32 = 17;
    pub const ARMED: u32 = 2;
    pub const PRESSED: u32 = 20;
    pub(crate) const SELECTABLE: u32 = 22;
    pub const SELECTED: u32 = 23;
    pub(crate) const SENSITIVE: u32 = 24;
    pub(crate) const SHOWING: u32 = 25;
    pub(crate) const VISIBLE: u32 = 30;
    pub(crate) const MANAGES_DESCENDANTS: u32 = 31;
    pub(crate) const INDETERMINATE: u32 = 32;
    pub(crate) const READ_ONLY: u32 = 43;

    /// Whether the state of that number is set.
    pub fn has(self, state: u32) -> bool {
        self.0 >> state & 1 == 1
    }
}

/// The numbers of the roles that the traversal treats specially.
pub mod role {
    pub const ALERT: u32 = 2;
    pub const CHECK_BOX: u32 = 7;
    pub(crate) const CHECK_MENU_ITEM: u32 = 8;
    pub const COMBO_BOX: u32 = 11;
    pub(crate) const DATE_EDITOR: u32 = 12;
    pub(crate) const DIAL: u32 = 15;
    pub const DIALOG: u32 = 16;
    pub(crate) const FILE_CHOOSER: u32 = 19;
    pub(crate) const FILLER: u32 = 20;
    pub const FRAME: u32 = 23;
    pub const ICON: u32 = 26;
    pub(crate) const INTERNAL_FRAME: u32 = 28;
    pub(crate) const LABEL: u32 = 29;
    pub const LIST: u32 = 31;
    pub const LIST_ITEM: u32 = 32;
    pub const MENU: u32 = 33;
    pub const MENU_BAR: u32 = 34;
    pub const MENU_ITEM: u32 = 35;
    pub(crate) const PAGE_TAB: u32 = 37;
    pub const PANEL: u32 = 39;
    pub(crate) const PASSWORD_TEXT: u32 = 40;
    pub(crate) const POPUP_MENU: u32 = 41;
    pub(crate) const PROGRESS_BAR: u32 = 42;
    pub(crate) const PUSH_BUTTON: u32 = 43;
    pub const RADIO_BUTTON: u32 = 44;
    pub(crate) const RADIO_MENU_ITEM: u32 = 45;
    pub(crate) const ROOT_PANE: u32 = 46;
    pub const SLIDER: u32 = 51;
    pub(crate) const SPIN_BUTTON: u32 = 52;
    pub const TABLE: u32 = 55;
    pub(crate) const STATUS_BAR: u32 = 54;
    pub(crate) const TABLE_CELL: u32 = 56;
    pub const TERMINAL: u32 = 60;
    pub const TEXT: u32 = 61;
    pub(crate) const TOGGLE_BUTTON: u32 = 62;
    pub(crate) const TOOL_TIP: u32 = 64;
    pub(crate) const TREE_TABLE: u32 = 66;
    pub(crate) const VIEWPORT: u32 = 68;
    pub const WINDOW: u32 = 69;
    pub(crate) const PARAGRAPH: u32 = 73;
    pub(crate) const AUTOCOMPLETE: u32 = 76;
    pub(crate) const EDITBAR: u32 = 77;
    pub(crate) const ENTRY: u32 = 79;
    pub const CAPTION: u32 = 81;
    pub(crate) const DOCUMENT_FRAME: u32 = 82;
    pub const HEADING: u32 = 83;
    pub const PAGE: u32 = 84;
    pub(crate) const SECTION: u32 = 85;
    pub const FORM: u32 = 87;
    pub const LINK: u32 = 88;
    pub(crate) const DOCUMENT_SPREADSHEET: u32 = 92;
    pub(crate) const DOCUMENT_TEXT: u32 = 94;
    pub(crate) const DOCUMENT_WEB: u32 = 95;
    pub(crate) const DOCUMENT_EMAIL: u32 = 96;
    pub(crate) const COMMENT: u32 = 97;
    pub(crate) const LIST_BOX: u32 = 98;
    pub(crate) const GROUPING: u32 = 99;
    pub(crate) const NOTIFICATION: u32 = 101;
    pub(crate) const LEVEL_BAR: u32 = 103;
    pub(crate) const BLOCK_QUOTE: u32 = 105;
    pub(crate) const DEFINITION: u32 = 108;
    pub(crate) const ARTICLE: u32 = 109;
    pub(crate) const LANDMARK: u32 = 110;
    pub const LOG: u32 = 111;
    pub(crate) const MARQUEE: u32 = 112;
    pub(crate) const TIMER: u32 = 115;
    pub(crate) const STATIC: u32 = 116;
    pub(crate) const SUBSCRIPT: u32 = 119;
    pub(crate) const SUGGESTION: u32 = 128;
    pub(crate) const SWITCH: u32 = 130;

    /// Roles of open menus and tool tips, which Qt and GTK 3 put beside their toplevels. The window
    /// manager does not manage their windows.
    pub fn pops_up(role: u32) -> bool {
        matches!(
            role,
            COMBO_BOX | LIST | LIST_BOX | MENU | POPUP_MENU | TOOL_TIP
        )
    }

    /// Roles whose `Text` is their own value rather than the text of their children.
    pub(crate) fn holds_text(role: u32) -> bool {
        matches!(
            role,
            COMBO_BOX
                | SPIN_BUTTON
                | TABLE_CELL
                | TERMINAL
                | TEXT
                | PARAGRAPH
                | AUTOCOMPLETE
                | EDITBAR
                | ENTRY
                | HEADING
                | DOCUMENT_TEXT
        )
    }

    /// Roles of fields that hold nothing but a text.
    pub(crate) fn is_text_field(role: u32) -> bool {
        matches!(role, PASSWORD_TEXT | TEXT | EDITBAR | ENTRY)
    }

    /// Roles of page parts: the text of a web page or document can be in them, beside or between
    /// children.
    pub(crate) fn is_prose(role: u32) -> bool {
        matches!(
            role,
            PANEL | CAPTION | DOCUMENT_FRAME | PAGE | SECTION | FORM | COMMENT | BLOCK_QUOTE
        ) || matches!(
            role,
            DOCUMENT_TEXT
                | DOCUMENT_WEB
                | DOCUMENT_EMAIL
                | DEFINITION
                | ARTICLE
                | LANDMARK
                | LOG
                | MARQUEE
        )
    }

    /// Roles in which a page may have a text without a part for it.
    pub(crate) fn is_message(role: u32) -> bool {
        matches!(role, ALERT | DIALOG | STATUS_BAR | GROUPING | NOTIFICATION)
    }

    /// Roles of small parts whose name is their text, in toolkits that name them.
    pub(crate) fn is_named_by_its_text(role: u32) -> bool {
        matches!(role, ICON | LABEL | LIST_ITEM | LINK | TIMER | STATIC)
            || matches!(role, SUBSCRIPT..=SUGGESTION)
    }

    /// Inline roles: neighbours in a line of text may be parts of the same word.
    pub(crate) fn is_inline(role: u32) -> bool {
        matches!(role, LABEL | LINK | STATIC | SUBSCRIPT..=SUGGESTION)
    }

    /// Roles of containers whose children are cells.
    pub fn is_table(role: u32) -> bool {
        matches!(role, TABLE | TREE_TABLE | DOCUMENT_SPREADSHEET)
    }

    /// `COLUMN_HEADER` and `TABLE_COLUMN_HEADER`.
    pub(crate) fn is_column_header(role: u32) -> bool {
        matches!(role, 10 | 57)
    }

    /// `LIST_ITEM`, `TABLE_ROW` and `TREE_ITEM`.
    pub fn is_row(role: u32) -> bool {
        matches!(role, LIST_ITEM | 90 | 91)
    }

    /// Roles of containers that list their children vertically, except tables.
    pub fn is_list(role: u32) -> bool {
        matches!(role, LIST | LIST_BOX)
    }

    /// Roles of elements that a label beside or in them may name instead of a name of their own.
    pub(crate) fn may_have_label(role: u32) -> bool {
        let button = matches!(
            role,
            CHECK_BOX | PUSH_BUTTON | RADIO_BUTTON | SWITCH | TOGGLE_BUTTON
        );
        let item = matches!(role, CHECK_MENU_ITEM | MENU | MENU_ITEM | RADIO_MENU_ITEM);
        button || item || holds_text(role) || holds_number(role)
    }

    /// Roles whose `Value` is the number that they show.
    pub(crate) fn holds_number(role: u32) -> bool {
        matches!(role, DIAL | PROGRESS_BAR | SLIDER | SPIN_BUTTON | LEVEL_BAR)
    }
}
