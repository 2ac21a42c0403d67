//! Converts a text to the number that an element expects: `3,5` if its decimals have a comma, `50
//! %` if the value is 0.5. The element's current text and value show the form.

use deskline_core::number;

use crate::bus;
use crate::connection::AppConnection;
use crate::names::{TEXT, VALUE};
use crate::request::Request;

/// The number to set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    Number(f64),
    /// The element's text is not its value: set the text.
    AsText,
    /// Two readings of the text, by the decimal sign.
    Either(f64, f64),
    /// The element shows a number, and the text is not a number.
    None,
}

/// An element's text and its value.
#[derive(Debug, Clone, Default, PartialEq)]
struct Shown {
    text: String,
    value: Option<f64>,
    most: Option<f64>,
}

/// The longest text that is read: numbers are shorter.
const LONGEST: i32 = 64;

/// The number to set for `text` in this element, which implements `Value`. `has` holds its
/// interfaces.
pub fn amount(
    app: &mut AppConnection<'_>,
    path: &str,
    has: &impl Fn(&str) -> bool,
    text: &str,
) -> Result<Amount, bus::Error> {
    let mut shown = Shown {
        value: current(app, path)?,
        ..Shown::default()
    };
    let body = bus::Body::new().str(VALUE).str("MaximumValue");
    let most = app.call(path, crate::names::PROPERTIES, "Get", body);
    shown.most = most.ok().and_then(|m| m.reader().variant_f64().ok());
    if has(TEXT) {
        let answer = app.ask(path, Request::Text(0, LONGEST));
        let read = |m: bus::Message| Some(m.reader().str().ok()?.to_owned());
        shown.text = answer.ok().and_then(read).unwrap_or_default();
    }
    Ok(shown.amount(text))
}

/// The element's value now.
pub fn current(app: &mut AppConnection<'_>, path: &str) -> Result<Option<f64>, bus::Error> {
    match app.ask(path, Request::Value) {
        Ok(message) => Ok(message.reader().variant_f64().ok()),
        Err(bus::Error::Remote { .. }) => Ok(None),
        Err(e) => Err(e),
    }
}

impl Shown {
    fn amount(&self, text: &str) -> Amount {
        let plain = text.trim().parse::<f64>().ok().filter(|n| n.is_finite());
        let readings = number::DECIMALS.map(|decimal| number::parse(text, decimal));
        let (before, after) = number::around(text);
        let (own_before, own_after) = number::around(&self.text);
        let same_unit = |unit: &str, own: &str| unit.is_empty() || unit == "%" || unit == own;
        if plain.is_none()
            && (readings == [None, None]
                || !same_unit(before, own_before)
                || !same_unit(after, own_after))
        {
            let shows = !self.text.trim().is_empty() && self.scale().is_some();
            return if shows { Amount::None } else { Amount::AsText };
        }
        let Some(scale) = self.scale() else {
            return Amount::AsText;
        };
        let of = |n: f64| n / scale;
        let decimal = self
            .value
            .and_then(|value| number::decimal_of(&self.text, value * scale));
        let by_language = decimal.map(|decimal| number::parse(text, decimal));
        match (plain, by_language, readings) {
            (Some(n), ..) | (None, Some(Some(n)), _) => Amount::Number(of(n)),
            (None, Some(None), _) => Amount::None,
            (None, None, [Some(a), Some(b)]) if a.total_cmp(&b).is_ne() => Amount::Either(a, b),
            (None, None, [a, b]) => a.or(b).map_or(Amount::None, |n| Amount::Number(of(n))),
        }
    }

    /// How many units of the shown text equal one unit of the value: 100 for a percentage. `None`
    /// if the text does not show the value.
    fn scale(&self) -> Option<f64> {
        const PERCENT: f64 = 100.0;
        let (Some(value), false) = (self.value, self.text.trim().is_empty()) else {
            return Some(1.0);
        };
        let shows = |scale: f64| number::shows(&self.text, value * scale);
        let share = self.text.contains('%') && self.most.is_some_and(|most| most <= 1.0);
        if share && shows(PERCENT) {
            return Some(PERCENT);
        }
        shows(1.0).then_some(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(shown: &str, value: f64, text: &str) -> Amount {
        let shown = Shown {
            text: shown.into(),
            value: Some(value),
            most: Some(100.0),
        };
        shown.amount(text)
    }

    #[test]
    fn the_number_format_follows_the_shown_text() {
        assert_eq!(amount("0,0", 0.0, "3,5"), Amount::Number(3.5));
        assert_eq!(amount("0,0", 0.0, "1.234,5"), Amount::Number(1234.5));
        assert_eq!(amount("0,0", 0.0, "3.5"), Amount::Number(3.5));
        assert_eq!(amount("0.0", 0.0, "1,234"), Amount::Number(1234.0));
        assert_eq!(amount("17", 17.0, "3,5"), Amount::Number(3.5));
        assert_eq!(amount("", 17.0, "7"), Amount::Number(7.0));
    }

    #[test]
    fn an_ambiguous_number_is_not_guessed() {
        assert_eq!(amount("17", 17.0, "1,234"), Amount::Either(1234.0, 1.234));
    }

    #[test]
    fn units_and_percentages_are_those_of_the_element() {
        assert_eq!(amount("10 %", 10.0, "50 %"), Amount::Number(50.0));
        assert_eq!(amount("10 px", 10.0, "12 px"), Amount::Number(12.0));
        assert_eq!(amount("10 px", 10.0, "12 cm"), Amount::None);
        assert_eq!(amount("10", 10.0, "twelve"), Amount::None);
        let share = Shown {
            text: "10 %".into(),
            value: Some(0.1),
            most: Some(1.0),
        };
        assert_eq!(share.amount("50 %"), Amount::Number(0.5));
    }

    #[test]
    fn a_value_in_other_units_than_the_text_is_set_as_text() {
        assert_eq!(amount("3,50 cm", 350.0, "4,5 cm"), Amount::AsText);
        assert_eq!(amount("3,50 cm", 350.0, "4"), Amount::AsText);
        assert_eq!(amount("January", 1.0, "May"), Amount::AsText);
        assert_eq!(amount("", 1.0, "May"), Amount::AsText);
    }
}
