//! Converts a text such as `3,5` or `50 %` to the number that an element expects. The element's
//! present text and value show how its app writes numbers: which decimal sign it uses, and whether
//! it shows 0.5 as `50 %`.

use deskline_core::number;

use crate::Obstacle;

/// An element that has a number.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Numeric {
    /// The element's text, which may be empty.
    pub text: String,
    pub value: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

impl Numeric {
    /// The number to set for `text`. `None` if the element's text does not show its value: the
    /// caller then sets the text.
    pub fn amount(&self, text: &str) -> Result<Option<f64>, Obstacle> {
        let not = || Obstacle::NotANumber(text.to_owned());
        let plain = text.trim().parse::<f64>().ok().filter(|n| n.is_finite());
        let readings = number::DECIMALS.map(|decimal| number::parse(text, decimal));
        let (before, after) = number::around(text);
        let (own_before, own_after) = number::around(&self.text);
        let same_unit = |unit: &str, own: &str| unit.is_empty() || unit == "%" || unit == own;
        let is_number = readings != [None, None]
            && same_unit(before, own_before)
            && same_unit(after, own_after);
        let Some(scale) = self.scale() else {
            return Ok(None);
        };
        if plain.is_none() && !is_number {
            return if self.text.trim().is_empty() {
                Ok(None)
            } else {
                Err(not())
            };
        }
        let shown = self.value.map(|value| value * scale);
        let decimal = shown.and_then(|shown| number::decimal_of(&self.text, shown));
        let number = match (plain, decimal, readings) {
            (Some(n), ..) => n,
            (None, Some(decimal), _) => number::parse(text, decimal).ok_or_else(not)?,
            (None, None, [Some(a), Some(b)]) if a.total_cmp(&b).is_ne() => {
                return Err(Obstacle::AmbiguousNumber {
                    value: text.to_owned(),
                    numbers: [a, b],
                });
            }
            (None, None, [a, b]) => a.or(b).ok_or_else(not)?,
        };
        let number = number / scale;
        match (self.low, self.high) {
            (Some(low), Some(high)) if low < high && !(low..=high).contains(&number) => {
                Err(Obstacle::OutOfRange { number, low, high })
            }
            _ => Ok(Some(number)),
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
        let share = self.text.contains('%') && self.high.is_some_and(|high| high <= 1.0);
        if share && shows(PERCENT) {
            return Some(PERCENT);
        }
        shows(1.0).then_some(1.0)
    }
}

/// Parses a state of a switch.
pub fn switch(value: &str) -> Option<bool> {
    match value.trim().to_lowercase().as_str() {
        "true" | "on" | "yes" | "1" => Some(true),
        "false" | "off" | "no" | "0" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(shown: &str, value: f64, text: &str) -> Result<Option<f64>, Obstacle> {
        let shown = Numeric {
            text: shown.into(),
            value: Some(value),
            low: Some(0.0),
            high: Some(10_000.0),
        };
        shown.amount(text)
    }

    #[test]
    fn the_number_format_follows_the_shown_text() {
        assert_eq!(amount("0,0", 0.0, "3,5"), Ok(Some(3.5)));
        assert_eq!(amount("0,0", 0.0, "1.234,5"), Ok(Some(1234.5)));
        assert_eq!(amount("0,0", 0.0, "3.5"), Ok(Some(3.5)));
        assert_eq!(amount("0.0", 0.0, "1,234"), Ok(Some(1234.0)));
        assert_eq!(amount("17", 17.0, "3,5"), Ok(Some(3.5)));
        assert_eq!(amount("", 17.0, "7"), Ok(Some(7.0)));
    }

    #[test]
    fn an_ambiguous_number_is_not_guessed() {
        let numbers = [1234.0, 1.234];
        let value = "1,234".into();
        let either = Obstacle::AmbiguousNumber { value, numbers };
        assert_eq!(amount("17", 17.0, "1,234"), Err(either));
    }

    #[test]
    fn units_and_percentages_are_read_as_the_element_shows_them() {
        assert_eq!(amount("10 %", 10.0, "50 %"), Ok(Some(50.0)));
        assert_eq!(amount("10 px", 10.0, "12 px"), Ok(Some(12.0)));
        assert_eq!(
            amount("10 px", 10.0, "12 cm"),
            Err(Obstacle::NotANumber("12 cm".into()))
        );
        assert_eq!(
            amount("10", 10.0, "twelve"),
            Err(Obstacle::NotANumber("twelve".into()))
        );
        let share = Numeric {
            text: "10 %".into(),
            value: Some(0.1),
            low: Some(0.0),
            high: Some(1.0),
        };
        assert_eq!(share.amount("50 %"), Ok(Some(0.5)));
    }

    #[test]
    fn a_value_is_set_as_text_if_the_text_has_other_units() {
        assert_eq!(amount("3,50 cm", 350.0, "4,5 cm"), Ok(None));
        assert_eq!(amount("3,50 cm", 350.0, "4"), Ok(None));
        assert_eq!(amount("January", 1.0, "May"), Ok(None));
        assert_eq!(amount("", 1.0, "May"), Ok(None));
    }
}
