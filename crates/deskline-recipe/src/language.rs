//! Finds which texts of an app that is in another language stand for the texts of a recipe. Uses
//! the catalogues of gettext or Qt.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::LazyLock;

use regex::Regex;

use crate::inputs::replaced;
use crate::{Recipe, Screen};

/// Texts of a program, each with its translation in the program's catalogues.
pub type Messages = HashMap<String, String>;

/// How a `.qm` file begins, and the tags in it (Qt's `qtranslator.cpp`).
const QM: [u8; 16] = 0x3cb8_6418_caef_9c95_cd21_1cbf_60a1_bddd_u128.to_be_bytes();
const MESSAGES: u8 = 0x69;
const END: u8 = 1;
const TRANSLATION: u8 = 3;
const SOURCE: u8 = 6;
const CONTEXT: u8 = 7;

/// The messages of a `.mo` or `.qm` file; none if it is neither.
pub fn messages(file: &[u8]) -> Messages {
    file.strip_prefix(&QM)
        .map_or_else(|| of_gettext(file), of_qt)
}

/// A tag, its content, and the bytes after it.
fn tagged(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (own, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    Some((*tag, own, rest))
}

fn of_qt(sections: &[u8]) -> Messages {
    let mut all = std::iter::successors(tagged(sections), |(.., rest)| tagged(rest));
    let of_messages = all.find(|(tag, ..)| *tag == MESSAGES);
    let mut rest = of_messages.map_or(&[][..], |(_, messages, _)| messages);
    let (mut all, mut parts) = (Messages::new(), HashMap::<u8, &[u8]>::new());
    while let Some(tag) = rest.first() {
        if *tag == END {
            let part = |tag| parts.get(tag).copied().unwrap_or_default();
            let text = |tag| String::from_utf8_lossy(part(tag));
            let units = part(&TRANSLATION).chunks_exact(2);
            let units = units.map(|unit| u16::from_be_bytes([unit[0], unit[1]]));
            let shown = String::from_utf16_lossy(&units.collect::<Vec<_>>());
            all.insert(format!("{}\u{4}{}", text(&CONTEXT), text(&SOURCE)), shown);
            (rest, parts) = (&rest[1..], HashMap::new());
        } else if let Some((tag, own, after)) = tagged(rest) {
            // Take the first of several forms, such as the singular.
            parts.entry(tag).or_insert(own);
            rest = after;
        } else {
            break;
        }
    }
    all
}

/// The messages of a `.mo` file: see "The Format of GNU MO Files" in the manual of gettext.
fn of_gettext(mo: &[u8]) -> Messages {
    let word = |at: usize| Some(u32::from_le_bytes(*mo.get(at..)?.first_chunk()?) as usize);
    // Take the first of several forms, such as the singular.
    let text = |table: usize, n: usize| {
        let (length, at) = (word(table + 8 * n)?, word(table + 8 * n + 4)?);
        let text = std::str::from_utf8(mo.get(at..)?.get(..length)?);
        Some(text.ok()?.split('\0').next()?.to_owned())
    };
    let known = word(8).filter(|_| word(0) == Some(0x9504_12de));
    // The first entry is about the file itself.
    let all = 1..known.unwrap_or_default().min(mo.len() / 16);
    let all = all.filter_map(|n| Some((text(word(12)?, n)?, text(word(16)?, n)?)));
    all.collect()
}

/// The language in the path of a catalogue: `…/de/LC_MESSAGES/gtk30.mo`, `…/keepassxc_de.qm`.
static LANGUAGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"([^/]+)/LC_MESSAGES/|_([a-z]{2,3}(?:_[A-Z][A-Za-z]+)?)\.qm$").ok()
});

/// The language of the catalogues; if there are none, the program's own language.
pub fn language(catalogues: &[PathBuf]) -> &str {
    let file = catalogues.first().and_then(|file| file.to_str());
    let found = file
        .zip(LANGUAGE.as_ref())
        .and_then(|(file, of)| of.captures(file));
    let own = found.and_then(|found| found.iter().skip(1).flatten().next());
    own.map_or("en", |own| own.as_str())
}

/// Matches the placeholders in a message.
static GAP: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"%(\d+\$)?[-.0-9]*l*[a-zA-Z\d]|\{[^ ]*?\}").ok());

/// A text without its context, and without the marks of access keys.
fn bare(text: &str) -> String {
    let text = text.rsplit('\u{4}').next().unwrap_or_default();
    text.replace(['_', '&'], "")
}

/// The texts of a recipe, and what an app may show for each in another language.
#[derive(Debug)]
pub struct Words(Known);

/// Texts, and what each may be in the other language.
type Known = BTreeMap<String, BTreeSet<String>>;

impl Words {
    /// The words of a recipe whose inputs are filled in. `own` are the messages of the recipe's
    /// language, `shown` those of the app's.
    pub fn new(recipe: &Recipe, own: &Messages, shown: &Messages) -> Self {
        let (mut known, mut words) = (Known::new(), Known::new());
        for id in own.keys().chain(shown.keys()) {
            let of = |messages: &Messages| bare(messages.get(id).unwrap_or(id));
            let (own, shown) = (of(own), of(shown));
            for gap in GAP.iter() {
                for (own, shown) in gap.split(&own).zip(gap.split(&shown)) {
                    let all = known.entry(own.to_owned()).or_default();
                    all.insert(shown.to_owned());
                }
            }
        }
        recipe.clone().map(&mut |text| {
            let shown = known.get(&bare(text)).cloned();
            let shown = shown.unwrap_or_else(|| in_parts(&bare(text), &known));
            words.insert(text.to_owned(), shown);
            String::new()
        });
        Self(words)
    }

    /// What the app shows for a text of the recipe, if that is certain.
    pub fn shown<'t>(&'t self, text: &'t str) -> &'t str {
        let certain = self.0.get(text).filter(|all| all.len() == 1);
        certain
            .and_then(BTreeSet::first)
            .map_or(text, String::as_str)
    }

    /// Replaces texts of a screen by texts of the recipe, where it is certain which text of the
    /// recipe is meant. Returns whether any text was replaced.
    pub fn translate(&self, screen: &mut Screen) -> bool {
        let mut translates = false;
        let lines = screen.lines.iter_mut();
        let texts = lines.flat_map(|line| line.text.iter_mut().chain(&mut line.value));
        let texts = texts.map(|text| &mut text.shown).chain(&mut screen.dialog);
        for text in texts.filter(|text| !self.0.contains_key(*text)) {
            let is = |(_, shown): &(_, &BTreeSet<_>)| shown.contains(&bare(text));
            let meant: Vec<_> = self.0.iter().filter(is).take(2).collect();
            if let [(own, _)] = meant[..] {
                text.clone_from(own);
                translates = true;
            }
        }
        translates
    }
}

/// Translates the messages inside a text. If a message has several translations, the result has a
/// text for each.
fn in_parts(text: &str, known: &Known) -> BTreeSet<String> {
    let is_in = |own: &&String| own.len() > 2 && text.contains(own.as_str());
    let inside = || known.keys().filter(is_in);
    let ways = inside().map(|own| known[own].len()).max().unwrap_or(1);
    let shown = |own: &str, way: usize| known[own].iter().cycle().nth(way).cloned();
    let in_way = |way| replaced(text, inside(), |own| shown(own, way).unwrap_or_default());
    (0..ways).map(in_way).collect()
}
