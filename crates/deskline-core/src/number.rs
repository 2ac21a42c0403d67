//! Numbers as fields show them: `3,5`, `1.234,50 €`, `50 %`. Which sign separates decimals depends
//! on the app's language.

/// The signs that separate decimals.
pub const DECIMALS: [char; 2] = ['.', ','];

/// A number as a person would write it: `50`, `0.25`, without the noise of binary fractions.
pub fn plain(number: f64) -> String {
    let rounded = (number * 1e6).round() / 1e6;
    // Adding 0.0 turns -0 into 0.
    (rounded + 0.0).to_string()
}

/// Parses a number whose decimals come after `decimal`. Ignores grouping by threes, and the text
/// before and after the number, such as a unit.
pub fn parse(text: &str, decimal: char) -> Option<f64> {
    let number = bare(text);
    let (number, minus) = match number.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => (rest, true),
        None => (number.strip_prefix('+').unwrap_or(number), false),
    };
    let (whole, fraction) = number.split_once(decimal).unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if !digits(fraction) || whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let is_group = |c: char| c != decimal && is_group(c);
    let mut groups = whole.split(is_group);
    let first = groups.next().unwrap_or_default();
    let rest: Vec<&str> = groups.collect();
    let grouped = rest.iter().all(|group| group.len() == 3);
    if !digits(first) || !rest.iter().all(|group| digits(group)) || !grouped {
        return None;
    }
    if !rest.is_empty() && !(1..=3).contains(&first.len()) {
        return None;
    }
    let plain = format!("0{first}{}.{fraction}0", rest.concat());
    let value: f64 = plain.parse().ok()?;
    Some(if minus { -value } else { value })
}

/// The decimal sign of a field that shows `text` for `value`; `None` if the text does not tell, for
/// example because it has no decimals.
pub fn decimal_of(text: &str, value: f64) -> Option<char> {
    let is = |decimal: &char| parse(text, *decimal).is_some_and(|n| near(n, value, text));
    let (point, comma) = (is(&'.'), is(&','));
    (point != comma).then_some(if point { '.' } else { ',' })
}

/// Whether `text` shows `value`, rounded to as many decimals as `text` has, with the decimal sign
/// of any language.
pub fn shows(text: &str, value: f64) -> bool {
    let mut readings = DECIMALS.iter().filter_map(|d| parse(text, *d));
    readings.any(|n| near(n, value, text))
}

/// Whether both texts may be the same number. Each of them may use the decimal sign of any
/// language.
pub fn may_be_equal(a: &str, b: &str) -> bool {
    let readings = |text| DECIMALS.map(|decimal| parse(text, decimal));
    let same = |n: Option<f64>| n.is_some() && readings(b).contains(&n);
    readings(a).into_iter().any(same)
}

/// Whether both texts are numbers, or dates in numbers, but not the same up to rounding and the
/// order of the date's parts. `wanted` has nothing around it.
pub fn differ(shown: &str, wanted: &str) -> bool {
    let readings = |text| DECIMALS.into_iter().filter_map(move |d| parse(text, d));
    if readings(shown).next().is_some() && readings(wanted).next().is_some() {
        let is_shown = readings(wanted).any(|value| shows(shown, value));
        return around(wanted) == ("", "") && !is_shown;
    }
    let parts = |text: &str| {
        let parts = text.split(|c: char| !c.is_ascii_digit());
        let mut parts: Vec<u32> = parts.filter_map(|part| part.parse().ok()).collect();
        parts.sort_unstable();
        parts
    };
    let (shown, wanted) = (parts(shown), parts(wanted));
    shown.len() == wanted.len() && shown.len() > 2 && shown != wanted
}

/// The text around the number: a unit, a currency, a percent sign.
pub fn around(text: &str) -> (&str, &str) {
    let number = bare(text);
    match text.split_once(number) {
        Some((before, after)) if !number.is_empty() => (before.trim(), after.trim()),
        _ => (text.trim(), ""),
    }
}

/// The part of a text from the sign before the first digit to the last digit.
fn bare(text: &str) -> &str {
    let is_digit = |c: char| c.is_ascii_digit();
    let (Some(start), Some(end)) = (text.find(is_digit), text.rfind(is_digit)) else {
        return "";
    };
    let before = text[..start].trim_end_matches(|c: char| DECIMALS.contains(&c));
    let before = before.trim_end_matches(['-', '+', '\u{2212}']);
    &text[before.len()..=end]
}

fn is_group(c: char) -> bool {
    matches!(c, ',' | '.' | '\'' | '\u{2019}') || c.is_whitespace()
}

/// Whether `shown` is `value`, rounded to as many decimals as `text` has.
fn near(shown: f64, value: f64, text: &str) -> bool {
    let number = bare(text);
    let decimals = number.rfind(DECIMALS).map_or(0, |at| number.len() - at - 1);
    let step = 10f64.powi(-i32::try_from(decimals).unwrap_or(i32::MAX));
    // Digits after a grouping sign are not decimals, so allow for rounding there.
    (shown - value).abs() <= step.max(f64::EPSILON) * 0.5 + 1e-9 * value.abs()
}

#[cfg(test)]
#[allow(clippy::float_cmp)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_several_languages_write_them() {
        for (text, decimal, value) in [
            ("3,5", ',', 3.5),
            ("3.5", '.', 3.5),
            ("-0,25 \u{20ac}", ',', -0.25),
            ("1.234,50", ',', 1234.5),
            ("1,234.50", '.', 1234.5),
            ("1\u{202f}234,5", ',', 1234.5),
            ("50 %", '.', 50.0),
            ("\u{2212}7", '.', -7.0),
            ("12'000", '.', 12_000.0),
            (".5", '.', 0.5),
            ("$ 3", '.', 3.0),
        ] {
            assert_eq!(parse(text, decimal), Some(value), "{text}");
        }
        for (text, decimal) in [
            ("", '.'),
            ("x", '.'),
            ("3,5", '.'),
            ("1.2.3", ','),
            ("12:30", '.'),
        ] {
            assert_eq!(parse(text, decimal), None, "{text}");
        }
    }

    #[test]
    fn the_decimal_sign_follows_from_text_and_value() {
        assert_eq!(decimal_of("0,0", 0.0), Some(','));
        assert_eq!(decimal_of("1.234,5", 1234.5), Some(','));
        assert_eq!(decimal_of("1.234", 1234.0), Some(','));
        assert_eq!(decimal_of("1.234", 1.234), Some('.'));
        assert_eq!(decimal_of("17", 17.0), None);
        assert_eq!(decimal_of("x", 17.0), None);
    }

    #[test]
    fn equal_numbers_may_be_written_in_two_ways() {
        assert!(may_be_equal("3,50", "3.5"));
        assert!(may_be_equal("50", "50 %"));
        assert!(!may_be_equal("0,0", "3,5"));
        assert!(shows("3,1", 3.1234) && !shows("3,2", 3.1234));
    }

    #[test]
    fn the_unit_and_currency_around_a_number_are_split_off() {
        assert_eq!(around("$ 3.50"), ("$", ""));
        assert_eq!(around("-3 px"), ("", "px"));
        assert_eq!(around("none"), ("none", ""));
        assert_eq!(around(""), ("", ""));
    }

    #[test]
    fn numbers_and_dates_differ_by_more_than_their_form() {
        for (shown, wanted, differs) in [
            ("50", "80", true),
            ("3,00 \u{20ac}", "3", false),
            ("4", "3.7", false),
            ("4.50 EUR", "4.25", true),
            ("0.5", "50 %", false),
            ("14.03.2026", "2026-03-14", false),
            ("2027-03-04", "2027-04-05", true),
            ("9:30 PM", "21:30", false),
            ("All", "7", false),
        ] {
            assert_eq!(differ(shown, wanted), differs, "{shown} {wanted}");
        }
    }
}
