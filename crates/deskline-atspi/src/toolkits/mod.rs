//! The quirks of each toolkit, with the reason why they matter, and the version in which each was
//! seen. The rest of the crate asks here, or compares with a [`Toolkit`].
//!
//! | toolkit | names itself | seen |
//! |---|---|---|
//! | GTK 3 | `gtk`, version 3 | 3.24 (at-spi2-atk) |
//! | GTK 4 | `GTK`, version 4 | 4.8 |
//! | Qt | `Qt` | 5.15, 6.4 |
//! | LibreOffice | `VCL`; with its GTK 3 plug-in `gtk`, version 3 | 7.4 (gtk3 plug-in) |
//! | Chromium, Electron | `Chromium` | 156 |
//! | Firefox, Thunderbird | `Gecko` | 153 |
//! | WebKitGTK | `WebKitGTK` | 2.50 |
//!
//! There are two kinds of knowledge here. A fact that depends on the toolkit is a method of
//! [`Toolkit`]. A quirk that can be recognised by the objects themselves (a role, a shape) is a
//! function of [`gtk`], [`qt`] or [`vcl`], and is applied to every app, as it is harmless in apps
//! of other toolkits. Chromium's `<select>` menus, whose extents are those of the closed control,
//! are handled with the other clipping rules in `deskline-core/src/visible.rs`.

pub mod gtk;
pub mod mapped;
pub mod qt;
pub(crate) mod vcl;

use std::time::Duration;

use crate::names::{StateSet, role};
use crate::request::Request;

/// The toolkit of an app, as it names itself on the bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toolkit {
    /// GTK 3, and GTK 2 through GAIL.
    Gtk3,
    /// GTK 4.
    Gtk4,
    /// Qt 5 and Qt 6, which do not differ here.
    Qt,
    Vcl,
    /// Chromium and Electron.
    Chromium,
    /// Firefox and other Gecko apps.
    Gecko,
    /// A web view of WebKitGTK: a process of its own, embedded in a GTK app.
    WebKitGtk,
    /// Swing, through its access bridge.
    Java,
    /// Any other toolkit: Clutter, winit's AccessKit.
    Other,
}

/// At which readings an app's cache (`Cache.GetItems`) is fetched before the app's objects are read
/// one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CacheUse {
    /// At no reading.
    Never,
    /// As long as the cache has most of the tree.
    WhileComplete,
    /// At each reading.
    Always,
}

/// Where a toolkit puts the text of a page, and so which elements are asked for text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prose {
    /// Each run of text is an element of its own, and the text is the element's name.
    InLeaves,
    /// A paragraph has its text, in which U+FFFC stands for each child.
    InParents,
    /// Apps of this toolkit differ.
    Anywhere,
}

/// How a toolkit reports the headers of a table that manages its own cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Headers {
    /// `Table.GetColumnHeader` answers with the same object each time.
    OfColumns,
    /// The headers are the table's first children. Qt creates a new object for each
    /// `GetColumnHeader`, and never frees it (5.15 and 6: a FIXME in
    /// `QAccessibleTableCell::columnHeaderCells`, itemviews.cpp).
    FirstChildren,
    /// Not known.
    Nowhere,
}

/// How far a toolkit's `Component.GetAccessibleAtPoint` can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HitTest {
    /// The answer may be an object that lies below another. So the order of the tree decides: later
    /// siblings are drawn over earlier ones.
    ByOrder {
        /// Whether earlier siblings are drawn over later ones instead.
        first_on_top: bool,
        /// Whether a text takes the clicks on what lies below it.
        texts_cover: bool,
    },
    /// A window answers with the topmost object at a point in window coordinates.
    InWindow,
    /// A page answers with the topmost object.
    OfPages {
        /// Whether the first answer may be wrong, and is soon replaced by the correct answer.
        late: bool,
    },
    /// Not known.
    Nowhere,
}

macro_rules! facts {
    ($($(#[$doc:meta])* $vis:vis $name:ident: $is:literal for $($kit:ident)|+;)+) => {
        impl Toolkit {
            $($(#[$doc])* $vis fn $name(self) -> bool { matches!(self, $(Self::$kit)|+) == $is })+
        }
    };
}

facts! {
    /// Whether an app's list of toplevels lacks open menus.
    pub(crate) omits_menus: true for Qt;

    /// Whether a node without a size is hidden, with all its descendants. GTK 4 reports a widget in
    /// a page that is not in front as VISIBLE, but without a size.
    pub(crate) hides_by_size: true for Gtk4;

    /// Whether the toolkit knows where its objects are on the screen. GTK 4 does not, so its
    /// toplevels and popovers are paired with their X windows.
    pub(crate) knows_the_screen: false for Gtk4;

    /// Whether the toolkit answers `Text.GetOffsetAtPoint`. GTK 4.8 never does, not even with an
    /// error. Later versions do, in window coordinates (`GtkAccessibleText.get_offset`, since
    /// 4.16).
    pub(crate) answers_offset_at_point: false for Gtk4;

    /// Whether the toolkit's tree is complete at the first reading. GTK 4 creates some objects, and
    /// their descriptions, when the objects around them are read.
    pub(crate) is_complete_at_once: false for Gtk4;

    /// Whether an object's index counts siblings that its container does not list.
    pub(crate) counts_unlisted_siblings: true for Gtk4;

    /// Whether an embedded child is found faster by its hyperlink than by its index. Chromium takes
    /// 0.4 ms by the hyperlink, and up to 4 ms by the index, a time that grows with the index.
    pub(crate) links_its_children: true for Chromium;

    /// Whether the toolkit sends events for changes of hidden nodes, so that a reading can be kept
    /// until the next link. GTK 3 sends none for a child that is added to a hidden container, and
    /// Qt 5 sends none at all. GTK 4 is not meant here: its cache is fetched each time.
    pub(crate) reports_hidden_changes: true for Chromium;

    /// Whether the toolkit sends an event whenever a control is switched. Qt 5 sends none; `Java`
    /// and `Other` were not tried.
    pub(crate) tells_states: false for Qt | Java | Other;

    /// Whether the toolkit sends no event while elements move. GTK 4 scrolls smoothly to the
    /// focused element for 200 ms, and so does a page of Firefox.
    pub moves_silently: true for Gtk4 | Gecko;

    /// Whether, on Wayland, the toolkit ignores a click in a menu right after the click that opened
    /// the menu.
    pub ignores_clicks_in_new_menus: true for Gtk3;

    /// Whether a toplevel's window is mapped when the toplevel is announced. GTK 4 announces a
    /// toplevel before the first frame of its window is drawn.
    pub(crate) maps_before_it_tells: false for Gtk4;

    /// Whether a read-only spin button has its displayed value in an attribute. Such a spin button
    /// is a part of a date, or made by ARIA. Its number and text are no substitute: Chromium 156
    /// reports March for the number of `03`, and Firefox 153 the text `mm` if nothing is set.
    pub(crate) has_value_texts: true for Chromium | Gecko;
    /// Whether a button that shows an icon may have its meaning in its description: a page's tip.
    pub(crate) describes_icons: true for Chromium | Gecko;

    /// Whether the name of a combo box is the chosen text, even if the box has a label. That is so
    /// in GTK 3, and in Qt 5 and 6 on Unix.
    pub(crate) names_by_choice: true for Gtk3 | Qt;
}

impl Toolkit {
    /// The toolkit with this `Application.ToolkitName` and `Application.Version`.
    pub fn from_name(name: &str, version: &str) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "gtk" if version.starts_with('4') => Self::Gtk4,
            "gtk" => Self::Gtk3,
            "qt" => Self::Qt,
            "vcl" => Self::Vcl,
            "chromium" => Self::Chromium,
            "gecko" => Self::Gecko,
            "webkitgtk" => Self::WebKitGtk,
            "j2se-access-bridge" => Self::Java,
            _ => Self::Other,
        }
    }

    /// When to fetch an app's cache. The cache of a document may have any size: for a page of
    /// 10,000 elements, Chromium took 1.6 s, longer than reading the tree. GTK 4 is fetched at each
    /// reading: in its cache the pages of a stack are the parents of their content, in its lists of
    /// children they are not, and the tree must not change.
    pub(crate) fn cache_use(self) -> CacheUse {
        match self {
            Self::Chromium | Self::Gecko | Self::Vcl => CacheUse::Never,
            Self::Gtk4 => CacheUse::Always,
            _ => CacheUse::WhileComplete,
        }
    }

    /// Where the text of a page is.
    pub(crate) fn prose(self) -> Prose {
        match self {
            Self::Chromium => Prose::InLeaves,
            Self::Gecko | Self::WebKitGtk => Prose::InParents,
            _ => Prose::Anywhere,
        }
    }

    /// Where the headers of tables are.
    pub(crate) fn headers(self) -> Headers {
        match self {
            Self::Gtk3 | Self::Gtk4 => Headers::OfColumns,
            Self::Qt => Headers::FirstChildren,
            _ => Headers::Nowhere,
        }
    }

    /// The state that marks an object as visible. GTK 4.8 sets SHOWING on windows, but not on
    /// dialogs, and VISIBLE on everything (`collect_states` in gtkatspicontext.c).
    pub(crate) fn shown_state(self) -> u32 {
        match self {
            Self::Gtk4 => StateSet::VISIBLE,
            _ => StateSet::SHOWING,
        }
    }

    /// The request for an object's extents. GTK 4 knows only window coordinates. It logs a warning
    /// for each request for screen coordinates, which newer versions answer with 0, 0
    /// (`translate_coordinates_from_accessible` in gtkatspicomponent.c).
    pub fn extents(self) -> Request {
        if self.knows_the_screen() {
            Request::Extents
        } else {
            Request::ExtentsInWindow
        }
    }

    /// How far the toolkit's answers about a point can be trusted. GTK 3 (GtkOverlay), Qt 5 and Qt
    /// 6 name the first child that contains the point, whatever lies over it. Java names a pane
    /// around everything.
    pub(crate) fn hit_test(self) -> HitTest {
        match self {
            Self::Gtk3 | Self::Qt | Self::Java => HitTest::ByOrder {
                first_on_top: self == Self::Java,
                texts_cover: self != Self::Gtk3,
            },
            Self::Gtk4 => HitTest::InWindow,
            Self::Chromium => HitTest::OfPages { late: true },
            Self::Gecko | Self::WebKitGtk => HitTest::OfPages { late: false },
            Self::Vcl | Self::Other => HitTest::Nowhere,
        }
    }

    /// How long the tree may still report old places after scrolling. Chromium 148 reports the
    /// first places of a motion at once, and the last ones 500 ms later. If its window was just
    /// raised, the motion begins up to 200 ms after the key. Firefox 153 reports each step of a
    /// motion, for 200 ms.
    pub(crate) fn scrolling_lag(self) -> Duration {
        match self {
            Self::Chromium => Duration::from_millis(900),
            Self::Gecko => Duration::from_millis(350),
            _ => Duration::ZERO,
        }
    }

    /// The name of an object whose role is `number`, without the toolkit's additions.
    pub(crate) fn plain_name(self, name: &str, number: u32) -> &str {
        match self {
            Self::Gtk4 => gtk::gtk4_name(name, number),
            Self::Chromium if number == role::PAGE_TAB => without_memory_usage(name),
            _ => name,
        }
    }

    /// Whether an object with the role `number` counts as checked while it is PRESSED. GTK 4.8
    /// gives toggle buttons the role of push buttons, and real push buttons are never PRESSED
    /// there.
    pub fn toggles(self, number: u32) -> bool {
        number == role::TOGGLE_BUTTON || self == Self::Gtk4 && number == role::PUSH_BUTTON
    }
}

/// The name of a browser's tab without its memory usage. A tab of Chromium 117 and later is named
/// `Inbox - Memory usage - 123 MB`, in the browser's language, and the figure changes every few
/// seconds.
fn without_memory_usage(name: &str) -> &str {
    let parts = name.rsplit_once(" - ").and_then(|(rest, figure)| {
        let (number, unit) = figure.split_once(|c: char| c.is_whitespace())?;
        let is_number = number.starts_with(|c: char| c.is_ascii_digit())
            && number
                .chars()
                .all(|c| c.is_ascii_digit() || ".,".contains(c));
        let is_size = matches!(unit, "B" | "KB" | "kB" | "MB" | "GB");
        (is_number && is_size).then(|| rest.rsplit_once(" - "))?
    });
    parts.map_or(name, |(title, _)| title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_chromium_tab_leaves_out_its_memory_usage() {
        let name = |name| Toolkit::Chromium.plain_name(name, role::PAGE_TAB);
        assert_eq!(name("Web page - Memory usage - 24.7 MB"), "Web page");
        assert_eq!(name("a - b - Speichernutzung - 1,2 GB"), "a - b");
        for plain in ["Web page", "Disk - 5 MB", "a - b - c", "a - b - 5 apples"] {
            assert_eq!(name(plain), plain);
        }
        let button = Toolkit::Chromium.plain_name("a - b - 5 MB", role::PUSH_BUTTON);
        assert_eq!(button, "a - b - 5 MB");
    }
}
