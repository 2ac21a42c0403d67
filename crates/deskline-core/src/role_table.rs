//! The roles of each accessibility API, mapped to AX names.
//!
//! Anything that is on or off is an `AXCheckBox`. List items, tree items and table rows are all
//! `AXRow`, so that one rule leaves out the empty ones. Dialogs, alerts and choosers are
//! `AXWindow`, with their native role in the line. Column headers are `AXButton`, as on macOS.

use std::borrow::Cow;

use crate::Role;

impl Role {
    /// The role and native role of an `AtspiRole` number (at-spi2-core, `atspi-constants.h`).
    ///
    /// The platform refines two of these roles: a `text` with several lines is a
    /// [`Role::TEXT_AREA`], and the role of a `menu` depends on its parent ([`Role::inside`]).
    pub fn from_atspi(number: u32) -> (Self, Cow<'static, str>) {
        match usize::try_from(number).ok().and_then(|i| ATSPI.get(i)) {
            Some(&(native, role)) => (role, native.into()),
            None => (Self::UNKNOWN, format!("role {number}").into()),
        }
    }

    /// The role and native role of an `AXRole` and `AXSubrole`. The native role is the subrole if
    /// there is one.
    pub fn from_ax(role: &str, subrole: Option<&str>) -> (Self, Cow<'static, str>) {
        let subrole = subrole.filter(|s| !s.is_empty() && *s != "AXUnknown");
        let by_subrole = subrole.and_then(|s| AX_SUBROLES.iter().find(|(name, _)| *name == s));
        let known = by_subrole
            .map(|&(_, role)| role)
            .or_else(|| Self::from_name(role));
        let native = subrole.unwrap_or(role).to_owned();
        (known.unwrap_or(Self::UNKNOWN), native.into())
    }

    /// The role and native role of a UIA control type id (50000 is `UIA_ButtonControlTypeId`).
    ///
    /// The platform decides whether a `Document` is a page ([`Role::WEB_AREA`]) or an editable
    /// text.
    pub fn from_uia(control_type: i32) -> (Self, Cow<'static, str>) {
        let entry = control_type
            .checked_sub(50_000)
            .and_then(|i| usize::try_from(i).ok())
            .and_then(|i| UIA.get(i));
        match entry {
            Some(&(native, role)) => (role, native.into()),
            None => (Self::UNKNOWN, format!("control type {control_type}").into()),
        }
    }
}

/// AT-SPI: `AtspiRole` in numeric order with the names of `atspi_role_get_name`
/// (at-spi2-core 2.46; 130 was added in 2.56).
#[rustfmt::skip]
const ATSPI: &[(&str, Role)] = &[
    ("invalid", Role::UNKNOWN), ("accelerator label", Role::STATIC_TEXT), ("alert", Role::WINDOW),
    ("animation", Role::IMAGE), ("arrow", Role::ARROW_BUTTON), ("calendar", Role::GROUP),
    ("canvas", Role::GROUP), ("check box", Role::CHECK_BOX), ("check menu item", Role::MENU_ITEM),
    ("color chooser", Role::WINDOW), ("column header", Role::BUTTON),
    ("combo box", Role::COMBO_BOX), ("date editor", Role::DATE_FIELD),
    ("desktop icon", Role::IMAGE), ("desktop frame", Role::GROUP), ("dial", Role::SLIDER),
    ("dialog", Role::WINDOW), ("directory pane", Role::GROUP), ("drawing area", Role::GROUP),
    ("file chooser", Role::WINDOW), ("filler", Role::GROUP), ("focus traversable", Role::GROUP),
    ("font chooser", Role::WINDOW), ("frame", Role::WINDOW), ("glass pane", Role::GROUP),
    ("html container", Role::GROUP), ("icon", Role::IMAGE), ("image", Role::IMAGE),
    ("internal frame", Role::GROUP), ("label", Role::STATIC_TEXT), ("layered pane", Role::GROUP),
    ("list", Role::LIST), ("list item", Role::ROW), ("menu", Role::MENU),
    ("menu bar", Role::MENU_BAR), ("menu item", Role::MENU_ITEM), ("option pane", Role::GROUP),
    ("page tab", Role::TAB), ("page tab list", Role::TAB_GROUP), ("panel", Role::GROUP),
    ("password text", Role::TEXT_FIELD), ("popup menu", Role::MENU),
    ("progress bar", Role::PROGRESS_INDICATOR), ("push button", Role::BUTTON),
    ("radio button", Role::RADIO_BUTTON), ("radio menu item", Role::MENU_ITEM),
    ("root pane", Role::GROUP), ("row header", Role::CELL), ("scroll bar", Role::SCROLL_BAR),
    ("scroll pane", Role::SCROLL_AREA), ("separator", Role::SPLITTER), ("slider", Role::SLIDER),
    ("spin button", Role::INCREMENTOR), ("split pane", Role::SPLIT_GROUP),
    ("status bar", Role::GROUP), ("table", Role::TABLE), ("table cell", Role::CELL),
    ("table column header", Role::BUTTON), ("table row header", Role::CELL),
    ("tearoff menu item", Role::MENU_ITEM), ("terminal", Role::TEXT_AREA),
    ("text", Role::TEXT_FIELD), ("toggle button", Role::CHECK_BOX), ("tool bar", Role::TOOLBAR),
    ("tool tip", Role::HELP_TAG), ("tree", Role::OUTLINE), ("tree table", Role::OUTLINE),
    ("unknown", Role::UNKNOWN), ("viewport", Role::GROUP), ("window", Role::WINDOW),
    ("extended", Role::UNKNOWN), ("header", Role::GROUP), ("footer", Role::GROUP),
    ("paragraph", Role::GROUP), ("ruler", Role::RULER), ("application", Role::APPLICATION),
    ("autocomplete", Role::TEXT_FIELD), ("editbar", Role::TEXT_FIELD), ("embedded", Role::GROUP),
    ("entry", Role::TEXT_FIELD), ("chart", Role::IMAGE), ("caption", Role::STATIC_TEXT),
    ("document frame", Role::WEB_AREA), ("heading", Role::HEADING), ("page", Role::GROUP),
    ("section", Role::GROUP), ("redundant object", Role::GROUP), ("form", Role::GROUP),
    ("link", Role::LINK), ("input method window", Role::WINDOW), ("table row", Role::ROW),
    ("tree item", Role::ROW), ("document spreadsheet", Role::GROUP),
    ("document presentation", Role::GROUP), ("document text", Role::TEXT_AREA),
    ("document web", Role::WEB_AREA), ("document email", Role::WEB_AREA), ("comment", Role::GROUP),
    ("list box", Role::LIST), ("grouping", Role::GROUP), ("image map", Role::IMAGE),
    ("notification", Role::GROUP), ("info bar", Role::GROUP), ("level bar", Role::LEVEL_INDICATOR),
    ("title bar", Role::GROUP), ("block quote", Role::GROUP), ("audio", Role::GROUP),
    ("video", Role::GROUP), ("definition", Role::GROUP), ("article", Role::GROUP),
    ("landmark", Role::GROUP), ("log", Role::GROUP), ("marquee", Role::GROUP),
    ("math", Role::GROUP), ("rating", Role::LEVEL_INDICATOR), ("timer", Role::STATIC_TEXT),
    ("static", Role::STATIC_TEXT), ("math fraction", Role::GROUP), ("math root", Role::GROUP),
    ("subscript", Role::GROUP), ("superscript", Role::GROUP), ("description list", Role::LIST),
    ("description term", Role::GROUP), ("description value", Role::GROUP),
    ("footnote", Role::GROUP), ("content deletion", Role::GROUP),
    ("content insertion", Role::GROUP), ("mark", Role::GROUP), ("suggestion", Role::GROUP),
    ("push button menu", Role::MENU_BUTTON), ("switch", Role::CHECK_BOX),
];

/// AX: subroles that change the role.
const AX_SUBROLES: &[(&str, Role)] = &[
    ("AXTabButton", Role::TAB),
    ("AXSwitch", Role::CHECK_BOX),
    ("AXToggle", Role::CHECK_BOX),
];

/// UIA: control types in numeric order from 50000 (`UIAutomationClient.h`).
#[rustfmt::skip]
const UIA: &[(&str, Role)] = &[
    ("Button", Role::BUTTON), ("Calendar", Role::GROUP), ("CheckBox", Role::CHECK_BOX),
    ("ComboBox", Role::COMBO_BOX), ("Edit", Role::TEXT_FIELD), ("Hyperlink", Role::LINK),
    ("Image", Role::IMAGE), ("ListItem", Role::ROW), ("List", Role::LIST), ("Menu", Role::MENU),
    ("MenuBar", Role::MENU_BAR), ("MenuItem", Role::MENU_ITEM),
    ("ProgressBar", Role::PROGRESS_INDICATOR), ("RadioButton", Role::RADIO_BUTTON),
    ("ScrollBar", Role::SCROLL_BAR), ("Slider", Role::SLIDER), ("Spinner", Role::INCREMENTOR),
    ("StatusBar", Role::GROUP), ("Tab", Role::TAB_GROUP), ("TabItem", Role::TAB),
    ("Text", Role::STATIC_TEXT), ("ToolBar", Role::TOOLBAR), ("ToolTip", Role::HELP_TAG),
    ("Tree", Role::OUTLINE), ("TreeItem", Role::ROW), ("Custom", Role::GROUP),
    ("Group", Role::GROUP), ("Thumb", Role::VALUE_INDICATOR), ("DataGrid", Role::TABLE),
    ("DataItem", Role::ROW), ("Document", Role::TEXT_AREA), ("SplitButton", Role::MENU_BUTTON),
    ("Window", Role::WINDOW), ("Pane", Role::GROUP), ("Header", Role::GROUP),
    ("HeaderItem", Role::BUTTON), ("Table", Role::TABLE), ("TitleBar", Role::GROUP),
    ("Separator", Role::SPLITTER), ("SemanticZoom", Role::GROUP), ("AppBar", Role::TOOLBAR),
];
