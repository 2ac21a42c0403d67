//! Another language of the app: the recipe's texts for those that it shows, by gettext's catalogues.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use crate::{Recipe, Screen, Values};

/// Texts of a program, and what its catalogues have for them.
pub type Messages = HashMap<String, String>;

/// The messages of a `.mo` file ("The Format of GNU MO Files"); none if it is no such file.
pub fn messages(mo: &[u8]) -> Messages {
    let big = mo.starts_with(&0x9504_12de_u32.to_be_bytes());
    let word = |at: usize| {
        let bytes = *mo.get(at..)?.first_chunk()?;
        Some(if big {
            u32::from_be_bytes(bytes)
        } else {
            u32::from_le_bytes(bytes)
        } as usize)
    };
    // The first of several forms, as of a plural.
    let text = |table: usize, n: usize| {
        let at = table + 8 * n;
        let text = mo.get(word(at + 4)?..)?.get(..word(at)?)?;
        std::str::from_utf8(text).ok()?.split('\0').next()
    };
    let is_one = big || mo.starts_with(&0x9504_12de_u32.to_le_bytes());
    let count = word(8).filter(|_| is_one).unwrap_or_default();
    // The first entry is about the file itself.
    let all = 1..count.min(mo.len() / 16);
    all.filter_map(|n| {
        Some((
            text(word(12)?, n)?.to_owned(),
            text(word(16)?, n)?.to_owned(),
        ))
    })
    .collect()
}

/// What stands for something else in a message.
static GAP: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"%(\d+\$)?[-.0-9]*l*[a-zA-Z\d]|\{[^ ]*?\}").ok());

/// Shorter parts of messages mean anything.
const SHORTEST: usize = 3;

/// A text without the marks of its keys.
fn bare(text: &str) -> String {
    let next = text.chars().skip(1).chain([' ']);
    let all = text.chars().zip(next);
    let kept = all.filter(|(c, next)| !(matches!(c, '_' | '&') && next.is_alphanumeric()));
    kept.map(|(c, _)| c).collect()
}

/// A message without its context, in parts between its gaps.
fn parts(message: &str) -> Vec<String> {
    let text = bare(message.rsplit('\u{4}').next().unwrap_or_default());
    let gaps = GAP.iter();
    gaps.flat_map(|gap| gap.split(&text))
        .map(str::to_owned)
        .collect()
}

/// The texts of an app in another language, and those that a recipe has for them.
#[derive(Debug, Default)]
pub struct Words {
    /// What the app may show for a text of the recipe.
    shown: HashMap<String, Vec<String>>,
    /// What the recipe may mean by a text of the app.
    meant: HashMap<String, Vec<String>>,
}

impl Words {
    /// `own` are the messages of the recipe's language, `shown` those of the app's.
    pub fn new(recipe: &Recipe, values: &Values, own: &Messages, shown: &Messages) -> Self {
        let mut known: HashMap<String, Vec<String>> = HashMap::new();
        for id in own.keys().chain(shown.keys()) {
            let of = |messages: &Messages| parts(messages.get(id).unwrap_or(id));
            let (own, shown) = (of(own), of(shown));
            let pairs = own.iter().zip(&shown).filter(|_| own.len() == shown.len());
            for (own, shown) in pairs.filter(|(own, _)| !own.is_empty()) {
                let all = known.entry(own.clone()).or_default();
                if !all.contains(shown) {
                    all.push(shown.clone());
                }
            }
        }
        let mut words = Self::default();
        let mut recipe = recipe.clone();
        recipe.map(&mut |text| {
            let own = values
                .fill(text)
                .map_or_else(|_| text.to_owned(), |filled| filled.text);
            let (bare, translated) = (bare(&own), known.get(&bare(&own)).cloned());
            let parts = || vec![in_parts(&bare, &known)];
            for shown in translated.clone().unwrap_or_else(parts) {
                let meant = words.meant.entry(shown).or_default();
                if !meant.contains(&own) {
                    meant.push(own.clone());
                }
            }
            words.shown.insert(own, translated.unwrap_or_default());
            text.to_owned()
        });
        words
    }

    /// What the app shows for a text of the recipe, as far as that is certain.
    pub fn shown<'t>(&'t self, text: &'t str) -> &'t str {
        match self.shown.get(text).map(Vec::as_slice) {
            Some([shown]) => shown,
            _ => text,
        }
    }

    /// Gives a screen the recipe's texts, where it is certain which is meant.
    pub fn translate(&self, screen: &mut Screen) {
        let translated = |text: &mut String| {
            let meant = self.meant.get(&bare(text)).map(Vec::as_slice);
            if let Some([meant]) = meant.filter(|_| !self.shown.contains_key(text)) {
                text.clone_from(meant);
            }
        };
        for line in &mut screen.lines {
            let texts = [&mut line.text, &mut line.value].into_iter().flatten();
            texts.for_each(|text| translated(&mut text.shown));
        }
        screen.dialog.iter_mut().for_each(translated);
        if let Some((_, _, other)) = &mut screen.other {
            self.translate(other);
        }
    }
}

/// A text with each message in it translated, the longest first.
fn in_parts(text: &str, known: &HashMap<String, Vec<String>>) -> String {
    let (mut out, mut before, mut rest) = (String::new(), ' ', text);
    while let Some(c) = rest.chars().next() {
        let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8()).rev();
        let is_whole = |end: &usize| {
            let inside =
                |c: char| rest[..*end].ends_with(char::is_alphanumeric) && c.is_alphanumeric();
            *end >= SHORTEST && !rest[*end..].starts_with(inside)
        };
        let mut found = ends.filter(is_whole).filter(|_| !before.is_alphanumeric());
        let found = found.find_map(|end| Some((end, known.get(&rest[..end])?.first()?)));
        let end = found.map_or(c.len_utf8(), |(end, _)| end);
        out += found.map_or(&rest[..end], |(_, shown)| shown);
        before = rest[..end].chars().next_back().unwrap_or(' ');
        rest = &rest[end..];
    }
    out
}
