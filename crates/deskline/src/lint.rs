//! `deskline lint`: what the controls of an app lack for people who use a screen reader or see
//! little.

use std::collections::HashMap;
use std::time::Duration;

use deskline_core::{Line, Point, Rect, States, Texts, Tree};
use deskline_link::{Picture, Scope};

use crate::cli::{LintArgs, Settings};
use crate::output::{Done, exit_code, print};
use crate::platform;

/// The least contrast of text by WCAG 2.2, §1.4.3: of small text, and of text of [`LARGE`] height.
const SMALL_TEXT: f64 = 4.5;
const LARGE_TEXT: f64 = 3.0;
const LARGE: i32 = 30;

/// So many pixels must have a colour for it to be the text's: fewer are the edge of something.
const PIXELS: usize = 4;

pub(crate) fn lint(settings: &Settings, args: &LintArgs) -> Done {
    let open = platform::open(settings)?;
    let mut desktop = open.platform.connect()?;
    let budget = Duration::from_secs(2);
    let tree = desktop.read(args.pid, Scope::Whole { budget })?;
    let mut pictures = Vec::new();
    for window in tree.windows.iter().filter(|window| window.on_screen) {
        let offered = desktop.pictures().map_err(deskline_link::Error::from);
        match offered.and_then(|pictures| pictures.picture(window.id)) {
            Ok(picture) => pictures.push(picture),
            Err(why) => eprintln!("deskline: contrast was not checked: {why}"),
        }
    }
    let findings = findings(&tree, &pictures);
    for finding in &findings {
        print(finding)?;
    }
    for part in &tree.partial {
        eprintln!("deskline: not checked: {part}");
    }
    Ok(exit_code(findings.is_empty()))
}

/// A line for each: what is wrong, and the element's line.
fn findings(tree: &Tree, pictures: &[Picture]) -> Vec<String> {
    let texts = Texts::new(tree);
    let mut findings = Vec::new();
    for (index, element) in tree.elements.iter().enumerate().filter(|(_, e)| e.visible) {
        let Some(line) = Line::new(tree, &texts, index) else {
            continue;
        };
        let named = !element.title.is_blank() || !element.description.is_blank();
        let controls = element.role.is_interactive();
        if controls && !named && line.text.is_none() {
            findings.push(format!("no label: {line}"));
        } else if tree.labelled_by_place.contains(&index) {
            findings.push(format!("its label is not tied to it: {line}"));
        }
        let mut inside = tree.elements.iter().filter(|e| e.parent == Some(index));
        let is_leaf = !inside.any(|e| e.visible);
        let enabled = !element.states.contains(States::DISABLED);
        // An empty field shows no text: its name stands beside it.
        let shows = !element.states.contains(States::EDITABLE) || !element.value.is_blank();
        let place = element.place();
        if let Some(place) = place.filter(|_| is_leaf && enabled && named && shows)
            && let Some(found) = pictures.iter().find_map(|picture| contrast(picture, place))
        {
            let least = if place.h >= LARGE {
                LARGE_TEXT
            } else {
                SMALL_TEXT
            };
            if found < least {
                findings.push(format!("contrast {found:.1}:1, not {least}:1: {line}"));
            }
        }
    }
    findings
}

/// The contrast between the most frequent colour in a place and the one that differs most from it;
/// `None` outside the picture, or where there is but one colour.
fn contrast(picture: &Picture, place: Rect) -> Option<f64> {
    let at = |v: i32, origin: i32| (f64::from(v - origin) * picture.scale) as i64;
    let Point { x, y } = picture.origin;
    let (left, right) = (at(place.x, x), at(place.x + place.w, x));
    let (top, bottom) = (at(place.y, y), at(place.y + place.h, y));
    let (width, height) = (picture.width.into(), picture.height.into());
    if left < 0 || top < 0 || right > width || bottom > height {
        return None;
    }
    let mut colours: HashMap<&[u8], usize> = HashMap::new();
    for y in top..bottom {
        let pixels = (y * width + left) as usize * 3..(y * width + right) as usize * 3;
        let row = picture.rgb.get(pixels)?;
        for pixel in row.chunks_exact(3) {
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
