//! What the controls of an app lack for people who use a screen reader or see little.

use std::collections::HashMap;

use deskline_core::{Line, Rect, Role, States};
use deskline_link::Picture;

/// The minimum contrast by WCAG 2.2, §1.4.3: of small text, and (`LARGE_TEXT`) of text that is at
/// least [`LARGE`] pixels high.
const SMALL_TEXT: f64 = 4.5;
const LARGE_TEXT: f64 = 3.0;
const LARGE: i32 = 30;

/// How many pixels must have a colour, so that the colour counts as the text's: fewer pixels are
/// only an edge.
const PIXELS: usize = 4;

/// What is wrong with the label of a visible element, in words.
pub fn labels(line: &Line, by_place: bool) -> Option<String> {
    if line.role.is_interactive() && line.text.is_none() {
        return Some(format!("no label: {line}"));
    }
    by_place.then(|| format!("its label is not tied to it: {line}"))
}

/// How the text of an element is too pale, in words; `None` if the text is not too pale. The
/// element must have nothing visible inside it.
pub fn pale(line: &Line, pictures: &[Picture]) -> Option<String> {
    // An empty field shows no text: its name stands beside it.
    let shows = !line.states.contains(States::EDITABLE) || line.value.is_some();
    let enabled = !line.states.contains(States::DISABLED);
    let has_text = shows && enabled && line.text.is_some();
    let place = line.extents.filter(|_| has_text)?;
    let is_box = matches!(line.role, Role::CHECK_BOX | Role::RADIO_BUTTON) && place.w < 2 * place.h;
    if line.role == Role::SLIDER || is_box {
        return None;
    }
    let mut pictures = pictures.iter();
    let found = pictures.find_map(|picture| contrast(picture, place))?;
    let is_large = place.h >= LARGE;
    let least = if is_large { LARGE_TEXT } else { SMALL_TEXT };
    (found < least).then(|| format!("contrast {found:.1}:1, not {least}:1: {line}"))
}

/// The contrast between the most frequent colour in a place and the colour that differs most from
/// it; `None` outside the picture, or if the place has only one colour.
fn contrast(picture: &Picture, place: Rect) -> Option<f64> {
    let Rect { x, y, w, h } = picture.pixels(place)?;
    let side = |v: Option<i32>| usize::try_from(v?).ok();
    let (left, right) = (side(Some(x))?, side(x.checked_add(w))?);
    let (top, bottom) = (side(Some(y))?, side(y.checked_add(h))?);
    let width = picture.width as usize;
    if right > width || bottom > picture.height as usize {
        return None;
    }
    let mut colours: HashMap<&[u8], usize> = HashMap::new();
    let rows = picture.rgb.chunks_exact(3 * width.max(1));
    for row in rows.take(bottom).skip(top) {
        for pixel in row[3 * left..3 * right].chunks_exact(3) {
            *colours.entry(pixel).or_default() += 1;
        }
    }
    let ground = colours.iter().max_by_key(|(_, n)| **n)?.0;
    let ground = luminance(ground);
    let others = colours.iter().filter(|(_, n)| **n >= PIXELS);
    let ratios = others.map(|(colour, _)| {
        let other = luminance(colour);
        (other.max(ground) + 0.05) / (other.min(ground) + 0.05)
    });
    ratios.reduce(f64::max).filter(|ratio| *ratio > 1.05)
}

/// WCAG's relative luminance.
fn luminance(rgb: &[u8]) -> f64 {
    let linear = |c: &u8| {
        let c = f64::from(*c) / 255.0;
        if c <= 0.040_45 {
            c / 12.92
        } else {
            ((c + 0.055) / 1.055).powf(2.4)
        }
    };
    let parts = rgb.iter().map(linear).zip([0.2126, 0.7152, 0.0722]);
    parts.map(|(linear, weight)| linear * weight).sum()
}
