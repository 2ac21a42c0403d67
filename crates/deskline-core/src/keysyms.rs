//! The names that XKB gives to key symbols. X11 and Wayland distinguish keys by these symbols.

use xkeysym::Keysym;

/// The ranges of symbols that have names: the standard ones, and vendors' (`XF86AudioPlay`).
const NAMED: [std::ops::RangeInclusive<u32>; 2] = [0..=0xffff, 0x1008_0000..=0x1008_ffff];

/// The symbol with this name; if none has exactly this name, ignores case and separators.
pub(crate) fn by_name(wanted: &str) -> Option<u32> {
    let symbols = NAMED.into_iter().flatten();
    let named = symbols.filter_map(|symbol| Some((Name::of_symbol(symbol)?, symbol)));
    let mut alike = None;
    for (name, symbol) in named {
        if name.is(wanted) {
            return Some(symbol);
        }
        if alike.is_none() && name.is_like(wanted) {
            alike = Some(symbol);
        }
    }
    alike
}

/// The name of a symbol in two parts: the vendor's prefix, which is often empty, and the rest.
#[derive(Clone, Copy)]
pub(crate) struct Name(&'static str, &'static str);

impl Name {
    pub(crate) fn of_symbol(symbol: u32) -> Option<Self> {
        let name = Keysym::new(symbol).name()?;
        let (vendor, rest) = name.split_once("XK_")?;
        Some(Self(vendor, rest))
    }

    fn is(self, name: &str) -> bool {
        name.strip_prefix(self.0) == Some(self.1)
    }

    /// Whether this name equals `name`, ignoring case and separators.
    fn is_like(self, name: &str) -> bool {
        let squeezed = |text: &'static str| text.chars().filter(|c| *c != '_');
        let wanted = name.chars().filter(|c| !matches!(c, ' ' | '_' | '-'));
        let own = squeezed(self.0).chain(squeezed(self.1));
        own.map(|c| c.to_ascii_lowercase())
            .eq(wanted.map(|c| c.to_ascii_lowercase()))
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.0, self.1)
    }
}
