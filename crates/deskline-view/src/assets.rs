//! The page: plain HTML, style sheets and modules, embedded.

/// The page, which refers to all other files.
pub(crate) const PAGE: &str = include_str!("../assets/index.html");

/// The list of journals.
pub(crate) const LIST: &str = include_str!("../assets/list.html");

pub(crate) const HTML: &str = "text/html; charset=utf-8";

const ICON: &str = include_str!("../assets/icon.svg");

/// The style sheets, in order.
pub(crate) const STYLES: [(&str, &str); 3] = [
    ("base.css", include_str!("../assets/base.css")),
    ("strip.css", include_str!("../assets/strip.css")),
    ("link.css", include_str!("../assets/link.css")),
];

/// The modules, each after those that it imports.
#[rustfmt::skip]
pub(crate) const MODULES: [(&str, &str); 11] = [
    ("dom.js", include_str!("../assets/dom.js")), ("source.js", include_str!("../assets/source.js")),
    ("virtual.js", include_str!("../assets/virtual.js")),
    ("steps.js", include_str!("../assets/steps.js")),
    ("filters.js", include_str!("../assets/filters.js")),
    ("strip.js", include_str!("../assets/strip.js")),
    ("search.js", include_str!("../assets/search.js")),
    ("picture.js", include_str!("../assets/picture.js")),
    ("lines.js", include_str!("../assets/lines.js")), ("link.js", include_str!("../assets/link.js")),
    ("main.js", include_str!("../assets/main.js")),
];

/// The media type and the content of a file of the page.
pub(crate) fn find(name: &str) -> Option<(&'static str, &'static str)> {
    if name.is_empty() {
        return Some((HTML, PAGE));
    }
    if name == "icon.svg" {
        return Some(("image/svg+xml", ICON));
    }
    let named = |files: &[(&str, &'static str)]| {
        let mut files = files.iter();
        files
            .find(|(found, _)| *found == name)
            .map(|(_, content)| *content)
    };
    let style = named(&STYLES).map(|content| ("text/css; charset=utf-8", content));
    style.or_else(|| named(&MODULES).map(|content| ("text/javascript; charset=utf-8", content)))
}
