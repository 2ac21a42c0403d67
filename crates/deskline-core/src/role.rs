//! Roles, named by their AX names on every OS.

/// A role by its AX name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Role(&'static str);

macro_rules! roles {
    ($($name:ident $ax:literal $doc:literal,)*) => {
        impl Role {
            $(#[doc = concat!("`", $ax, "`: ", $doc, ".")]
            pub const $name: Self = Self($ax);)*

            /// Every role.
            pub const ALL: &[Self] = &[$(Self::$name),*];
        }
    };
}

roles! {
    APPLICATION "AXApplication" "the app itself",
    WINDOW "AXWindow" "a toplevel: window, dialog, alert, file chooser (the native role says which)",
    SHEET "AXSheet" "a dialog attached to a window",
    DRAWER "AXDrawer" "a panel that slides out of a window",
    POPOVER "AXPopover" "a bubble that points at what opened it",
    GROUP "AXGroup" "a container without a more exact role",
    BUTTON "AXButton" "a push button",
    CHECK_BOX "AXCheckBox" "on or off: check box, toggle button, switch",
    RADIO_BUTTON "AXRadioButton" "one of several",
    RADIO_GROUP "AXRadioGroup" "radio buttons that exclude each other",
    POP_UP_BUTTON "AXPopUpButton" "a button that opens a list of choices",
    COMBO_BOX "AXComboBox" "a choice from a list, often editable",
    TEXT_FIELD "AXTextField" "one line of text",
    TEXT_AREA "AXTextArea" "several lines of text",
    STATIC_TEXT "AXStaticText" "text that cannot be edited",
    HEADING "AXHeading" "a heading in a document",
    LINK "AXLink" "a hyperlink",
    IMAGE "AXImage" "a picture or icon",
    SLIDER "AXSlider" "a value set by dragging",
    INCREMENTOR "AXIncrementor" "a number with up and down buttons",
    MENU_BAR "AXMenuBar" "the bar that holds an app's menus",
    MENU_BAR_ITEM "AXMenuBarItem" "the item of a menu bar that opens a menu",
    MENU "AXMenu" "an open menu, or one that can be opened",
    MENU_ITEM "AXMenuItem" "an entry of a menu",
    MENU_BUTTON "AXMenuButton" "a button that opens a menu",
    TAB "AXTab" "the tab of a page",
    TAB_GROUP "AXTabGroup" "a row of tabs, often with the page",
    TOOLBAR "AXToolbar" "a tool bar",
    SCROLL_AREA "AXScrollArea" "a viewport onto its contents",
    SCROLL_BAR "AXScrollBar" "a scroll bar",
    VALUE_INDICATOR "AXValueIndicator" "the thumb of a scroll bar or slider",
    PAGE_BUTTON "AXPageButton" "the part of a scroll bar that scrolls by a page",
    ARROW_BUTTON "AXArrowButton" "the part of a scroll bar that scrolls by a line",
    SPLITTER "AXSplitter" "a separator, sometimes draggable",
    SPLIT_GROUP "AXSplitGroup" "panes with a splitter between them",
    TABLE "AXTable" "rows and columns",
    GRID "AXGrid" "elements laid out in a grid",
    OUTLINE "AXOutline" "a tree of rows",
    LIST "AXList" "a list",
    BROWSER "AXBrowser" "columns, each showing what is selected in the one before it",
    ROW "AXRow" "a row of a table, tree or list",
    COLUMN "AXColumn" "a column of a table",
    CELL "AXCell" "a cell of a table",
    WEB_AREA "AXWebArea" "a web page or other document",
    PROGRESS_INDICATOR "AXProgressIndicator" "how far a task has progressed",
    BUSY_INDICATOR "AXBusyIndicator" "a task is running",
    LEVEL_INDICATOR "AXLevelIndicator" "a level or a rating",
    RELEVANCE_INDICATOR "AXRelevanceIndicator" "how relevant a search result is",
    DISCLOSURE_TRIANGLE "AXDisclosureTriangle" "expands and collapses a part of a window",
    COLOR_WELL "AXColorWell" "shows and picks a colour",
    DATE_FIELD "AXDateField" "a date",
    TIME_FIELD "AXTimeField" "a time of day",
    RULER "AXRuler" "a ruler",
    RULER_MARKER "AXRulerMarker" "a mark on a ruler",
    LAYOUT_AREA "AXLayoutArea" "elements laid out freely",
    LAYOUT_ITEM "AXLayoutItem" "an element of a layout area",
    HELP_TAG "AXHelpTag" "a tool tip",
    HANDLE "AXHandle" "a handle that resizes an object",
    GROW_AREA "AXGrowArea" "a handle that resizes a window",
    MATTE "AXMatte" "the border around a picture",
    DOCK_ITEM "AXDockItem" "an icon in the Dock",
    UNKNOWN "AXUnknown" "no known role",
}

/// A role's name without spaces, in lower case, for comparisons.
fn folded(name: &str) -> impl Iterator<Item = char> {
    let letters = name.chars().filter(|c| !c.is_whitespace());
    letters.flat_map(char::to_lowercase)
}

impl Role {
    /// The AX name: `AXButton`.
    pub fn ax(self) -> &'static str {
        self.0
    }

    /// The name without its prefix: `Button`.
    pub fn short(self) -> &'static str {
        self.0.strip_prefix("AX").unwrap_or(self.0)
    }

    /// The role with exactly this AX name.
    pub fn from_name(ax: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|role| role.0 == ax)
    }

    /// The role of an AT-SPI element in a container of this role. AT-SPI's `menu` is either an open
    /// menu or the item that opens one: inside a menu bar it is a menu bar item, and inside a menu
    /// or a menu item it is a menu item. `native` is AT-SPI's name for the role.
    #[must_use]
    pub fn inside(self, container: Self, native: &str) -> Self {
        match (native, container) {
            ("menu" | "menu item", Self::MENU_BAR) => Self::MENU_BAR_ITEM,
            ("menu", Self::MENU | Self::MENU_ITEM | Self::MENU_BAR_ITEM) => Self::MENU_ITEM,
            _ => self,
        }
    }

    /// Whether a person clicks or types in an element of this role. A summary lists these roles
    /// first.
    pub fn is_interactive(self) -> bool {
        let button = matches!(self, Self::BUTTON | Self::POP_UP_BUTTON | Self::MENU_BUTTON);
        let switch = matches!(
            self,
            Self::CHECK_BOX | Self::RADIO_BUTTON | Self::LINK | Self::TAB
        );
        let field = matches!(self, Self::TEXT_FIELD | Self::TEXT_AREA | Self::COMBO_BOX);
        let item = matches!(self, Self::MENU_ITEM | Self::MENU_BAR_ITEM);
        button || switch || field || item || matches!(self, Self::SLIDER | Self::INCREMENTOR)
    }

    /// Whether an element of this role holds a value that the user enters.
    pub(crate) fn is_field(self) -> bool {
        let text = matches!(self, Self::TEXT_FIELD | Self::TEXT_AREA | Self::DATE_FIELD);
        let choice = matches!(self, Self::COMBO_BOX | Self::POP_UP_BUTTON);
        text || choice || matches!(self, Self::INCREMENTOR | Self::SLIDER)
    }

    /// Whether this is the role of a scroll bar or of a part of one.
    pub fn is_scroll_bar_part(self) -> bool {
        matches!(
            self,
            Self::SCROLL_BAR | Self::VALUE_INDICATOR | Self::PAGE_BUTTON | Self::ARROW_BUTTON
        )
    }

    /// Whether an element of this role changes its value by itself while the app works.
    pub fn is_progress(self) -> bool {
        matches!(self, Self::PROGRESS_INDICATOR | Self::BUSY_INDICATOR)
    }

    /// Whether `native` adds information: it differs from the role by more than case, spaces and
    /// the `AX` prefix.
    pub fn says_more(self, native: &str) -> bool {
        let native = native.trim();
        let bare = native.strip_prefix("AX").unwrap_or(native);
        let short = self.short();
        !native.is_empty() && bare != short && folded(bare).ne(folded(short))
    }
}
