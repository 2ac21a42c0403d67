//! The result as JUnit XML: a test case for each link.

use std::fmt::Write as _;

use super::step::{End, Step};

/// The result of a run.
pub(super) fn xml(run: &str, steps: &[Step]) -> String {
    let of = |wanted: fn(&End) -> bool| steps.iter().filter(|step| wanted(&step.end)).count();
    let failures = of(|end| matches!(end, End::Differs(_)));
    let errors = of(|end| matches!(end, End::Impossible(_)));
    let skipped = of(|end| matches!(end, End::Skipped));
    let time: f64 = steps.iter().map(|step| step.took.as_secs_f64()).sum();
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" \
         skipped=\"{skipped}\" time=\"{time:.3}\">\n",
        escaped(run),
        steps.len(),
    );
    for step in steps {
        // Writing to a string does not fail.
        let _ = write!(
            xml,
            "  <testcase classname=\"{}\" name=\"{:03} {}\" time=\"{:.3}\"",
            escaped(&step.app),
            step.number,
            escaped(&step.words),
            step.took.as_secs_f64(),
        );
        let _ = match &step.end {
            End::Same => writeln!(xml, "/>"),
            End::Skipped => writeln!(xml, "><skipped/></testcase>"),
            End::Differs(how) => writeln!(
                xml,
                "><failure message=\"the answer differs\">{}</failure></testcase>",
                escaped(how)
            ),
            End::Impossible(why) => {
                writeln!(xml, "><error message=\"{}\"/></testcase>", escaped(why))
            }
        };
    }
    xml + "</testsuite>"
}

/// Text for XML 1.0, which has no way to write most control characters.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn hostile_texts_are_escaped() {
        let step = |number, end| Step {
            number,
            app: "<Notes>".into(),
            words: "Click “\"&\u{1b}”".into(),
            took: Duration::from_millis(151),
            end,
        };
        let steps = [
            step(1, End::Same),
            step(2, End::Differs("missing: </failure>\nnew: a".into())),
            step(3, End::Skipped),
        ];
        assert_eq!(
            xml("run", &steps),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <testsuite name=\"run\" tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\" \
             time=\"0.453\">\n  <testcase classname=\"&lt;Notes&gt;\" name=\"001 Click \
             “&quot;&amp;\u{fffd}”\" time=\"0.151\"/>\n  <testcase classname=\"&lt;Notes&gt;\" \
             name=\"002 Click “&quot;&amp;\u{fffd}”\" time=\"0.151\">\
             <failure message=\"the answer differs\">missing: &lt;/failure&gt;\n\
             new: a</failure></testcase>\n  <testcase classname=\"&lt;Notes&gt;\" name=\"003 \
             Click “&quot;&amp;\u{fffd}”\" time=\"0.151\"><skipped/></testcase>\n\
             </testsuite>"
        );
    }
}
