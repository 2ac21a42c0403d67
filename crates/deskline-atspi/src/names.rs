//! The names of AT-SPI's interfaces, and the numbers of its states and roles.
//!
//! Source: `at-spi2-core`, `xml/*.xml` for the interfaces and `atspi/atspi-constants.h` for the
//! numbers. The numbers are part of the protocol and never change.

pub const REGISTRY: &str = "org.a11y.atspi.Registry";
pub const ROOT: &str = "/org/a11y/atspi/accessible/root";
pub const CACHE: &str = "/org/a11y/atspi/cache";
/// The path of "no object".
pub const NULL: &str = "/org/a11y/atspi/null";

pub const ACCESSIBLE: &str = "org.a11y.atspi.Accessible";
pub const ACTION: &str = "org.a11y.atspi.Action";
pub const APPLICATION: &str = "org.a11y.atspi.Application";
pub const CACHE_INTERFACE: &str = "org.a11y.atspi.Cache";
pub const COMPONENT: &str = "org.a11y.atspi.Component";
pub const HYPERLINK: &str = "org.a11y.atspi.Hyperlink";
pub const HYPERTEXT: &str = "org.a11y.atspi.Hypertext";
pub const EDITABLE_TEXT: &str = "org.a11y.atspi.EditableText";
pub const PROPERTIES: &str = "org.freedesktop.DBus.Properties";
pub const SELECTION: &str = "org.a11y.atspi.Selection";
pub const TABLE: &str = "org.a11y.atspi.Table";
pub const COLLECTION: &str = "org.a11y.atspi.Collection";
pub const TEXT: &str = "org.a11y.atspi.Text";
pub const VALUE: &str = "org.a11y.atspi.Value";

/// `ATSPI_COORD_TYPE_SCREEN`
pub const SCREEN: u32 = 0;
/// `ATSPI_COORD_TYPE_WINDOW`
pub const WINDOW: u32 = 1;
/// `ATSPI_SCROLL_ANYWHERE`
pub const SCROLL_ANYWHERE: u32 = 6;
/// `ATSPI_RELATION_LABELLED_BY`
pub const LABELLED_BY: u32 = 2;
/// `ATSPI_RELATION_CONTROLLER_FOR`
pub const CONTROLLER_FOR: u32 = 3;

/// A set of `AtspiStateType` bits, as `GetState` gives them in two words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StateSet(pub u64);

impl StateSet {
    pub const BUSY: u32 = 3;
    pub const CHECKED: u32 = 4;
    pub const COLLAPSED: u32 = 5;
    pub const DEFUNCT: u32 = 6;
    pub const EDITABLE: u32 = 7;
    pub const ENABLED: u32 = 8;
    pub const EXPANDABLE: u32 = 9;
    pub const EXPANDED: u32 = 10;
    pub const FOCUSED: u32 = 12;
    pub const ACTIVE: u32 = 1;
    pub const ICONIFIED: u32 = 15;
    pub const MODAL: u32 = 16;
    pub const MULTI_LINE: u32 = 17;
    pub const PRESSED: u32 = 20;
    pub const SELECTED: u32 = 23;
    pub const SENSITIVE: u32 = 24;
    pub const SHOWING: u32 = 25;
    pub const VISIBLE: u32 = 30;
    pub const MANAGES_DESCENDANTS: u32 = 31;
    pub const INDETERMINATE: u32 = 32;
    pub const READ_ONLY: u32 = 43;

    /// Whether the state of that number is set.
    pub fn has(self, state: u32) -> bool {
        self.0 >> state & 1 == 1
    }
}

/// The numbers of the roles that the traversal treats specially.
pub mod role {
    pub const ALERT: u32 = 2;
    pub const CHECK_BOX: u32 = 7;
    pub const CHECK_MENU_ITEM: u32 = 8;
    pub const COMBO_BOX: u32 = 11;
    pub const DATE_EDITOR: u32 = 12;
    pub const DIAL: u32 = 15;
    pub const DIALOG: u32 = 16;
    pub const FILE_CHOOSER: u32 = 19;
    pub const FILLER: u32 = 20;
    pub const FRAME: u32 = 23;
    pub const ICON: u32 = 26;
    pub const INTERNAL_FRAME: u32 = 28;
    pub const LABEL: u32 = 29;
    pub const LIST: u32 = 31;
    pub const LIST_ITEM: u32 = 32;
    pub const MENU: u32 = 33;
    pub const MENU_BAR: u32 = 34;
    pub const MENU_ITEM: u32 = 35;
    pub const PAGE_TAB: u32 = 37;
    pub const PANEL: u32 = 39;
    pub const PASSWORD_TEXT: u32 = 40;
    pub const POPUP_MENU: u32 = 41;
    pub const PROGRESS_BAR: u32 = 42;
    pub const PUSH_BUTTON: u32 = 43;
    pub const RADIO_BUTTON: u32 = 44;
    pub const RADIO_MENU_ITEM: u32 = 45;
    pub const ROOT_PANE: u32 = 46;
    pub const SLIDER: u32 = 51;
    pub const SPIN_BUTTON: u32 = 52;
    pub const TABLE: u32 = 55;
    pub const TABLE_CELL: u32 = 56;
    pub const TERMINAL: u32 = 60;
    pub const TEXT: u32 = 61;
    pub const TOGGLE_BUTTON: u32 = 62;
    pub const TOOL_TIP: u32 = 64;
    pub const TREE_TABLE: u32 = 66;
    pub const VIEWPORT: u32 = 68;
    pub const WINDOW: u32 = 69;
    pub const PARAGRAPH: u32 = 73;
    pub const AUTOCOMPLETE: u32 = 76;
    pub const EDITBAR: u32 = 77;
    pub const ENTRY: u32 = 79;
    pub const CAPTION: u32 = 81;
    pub const DOCUMENT_FRAME: u32 = 82;
    pub const HEADING: u32 = 83;
    pub const PAGE: u32 = 84;
    pub const SECTION: u32 = 85;
    pub const FORM: u32 = 87;
    pub const LINK: u32 = 88;
    pub const DOCUMENT_SPREADSHEET: u32 = 92;
    pub const DOCUMENT_TEXT: u32 = 94;
    pub const DOCUMENT_WEB: u32 = 95;
    pub const DOCUMENT_EMAIL: u32 = 96;
    pub const COMMENT: u32 = 97;
    pub const LIST_BOX: u32 = 98;
    pub const LEVEL_BAR: u32 = 103;
    pub const BLOCK_QUOTE: u32 = 105;
    pub const DEFINITION: u32 = 108;
    pub const ARTICLE: u32 = 109;
    pub const LANDMARK: u32 = 110;
    pub const LOG: u32 = 111;
    pub const MARQUEE: u32 = 112;
    pub const TIMER: u32 = 115;
    pub const STATIC: u32 = 116;
    pub const SUBSCRIPT: u32 = 119;
    pub const SUGGESTION: u32 = 128;
    pub const SWITCH: u32 = 130;

    /// Roles of open menus and tool tips, which Qt and GTK 3 put beside their toplevels. The window
    /// manager does not manage their windows.
    pub fn pops_up(role: u32) -> bool {
        matches!(
            role,
            COMBO_BOX | LIST | LIST_BOX | MENU | POPUP_MENU | TOOL_TIP
        )
    }

    /// Roles whose `Text` is their own value rather than the text of their children.
    pub fn holds_text(role: u32) -> bool {
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
    pub fn is_text_field(role: u32) -> bool {
        matches!(role, PASSWORD_TEXT | TEXT | EDITBAR | ENTRY)
    }

    /// Roles of page parts: the text of a web page or document can be in them, beside or between
    /// children.
    pub fn is_prose(role: u32) -> bool {
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

    /// Roles of small parts whose name is their text, in toolkits that name them.
    pub fn is_named_by_its_text(role: u32) -> bool {
        matches!(role, ICON | LABEL | LIST_ITEM | LINK | TIMER | STATIC)
            || matches!(role, SUBSCRIPT..=SUGGESTION)
    }

    /// Inline roles: neighbours in a line of text may be parts of the same word.
    pub fn is_inline(role: u32) -> bool {
        matches!(role, LABEL | LINK | STATIC | SUBSCRIPT..=SUGGESTION)
    }

    /// Roles of containers whose children are cells.
    pub fn is_table(role: u32) -> bool {
        matches!(role, TABLE | TREE_TABLE | DOCUMENT_SPREADSHEET)
    }

    /// `COLUMN_HEADER` and `TABLE_COLUMN_HEADER`.
    pub fn is_column_header(role: u32) -> bool {
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
    pub fn may_have_label(role: u32) -> bool {
        let button = matches!(
            role,
            CHECK_BOX | PUSH_BUTTON | RADIO_BUTTON | SWITCH | TOGGLE_BUTTON
        );
        let item = matches!(role, CHECK_MENU_ITEM | MENU | MENU_ITEM | RADIO_MENU_ITEM);
        button || item || holds_text(role) || holds_number(role)
    }

    /// Roles whose `Value` is the number that they show.
    pub fn holds_number(role: u32) -> bool {
        matches!(role, DIAL | PROGRESS_BAR | SLIDER | SPIN_BUTTON | LEVEL_BAR)
    }
}
