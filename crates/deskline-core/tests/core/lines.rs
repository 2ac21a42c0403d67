use deskline_core::escape::{escape, is_hostile, one_line, short, short_escaped, unescape};
use deskline_core::{
    Attribute, Cell, Change, DeltaLine, Line, Rect, Ref, Role, States, Text, Value,
};
use proptest::prelude::*;

use crate::fixture::{cell, extents, hostile, role, states, text};

fn button() -> Line {
    Line {
        text: Some(Text::new("Open")),
        extents: Rect::new(680, 520, 80, 30),
        visible: true,
        reference: Some(Ref(42)),
        ..Line::bare(Role::BUTTON, Some("push button".into()))
    }
}

#[test]
fn an_element_line_follows_the_grammar() {
    insta::assert_snapshot!(
        button(),
        @r##"[AXButton (push button)] "Open" x:680 y:520 w:80 h:30 visible #e42"##
    );
}

#[test]
fn unknown_fields_are_left_out() {
    insta::assert_snapshot!(Line::bare(Role::BUTTON, None), @"[AXButton]");
}

#[test]
fn a_line_has_fixed_places_for_value_cell_and_parent() {
    let line = Line {
        role: Role::CELL,
        native_role: Some("table cell".into()),
        text: Some(Text::new("Phone")),
        states: States::FOCUSED | States::EDITABLE,
        value: Some(Text::new("(555) \"000\"")),
        cell: Some(Cell { row: 4, column: 2 }),
        parent: Some(Ref(17)),
        ..button()
    };
    insta::assert_snapshot!(line, @"[AXCell (table cell)] \"Phone\" x:680 y:520 w:80 h:30 visible \
        focused editable value:\"(555) \\\"000\\\"\" row:4 col:2 #e42 in #e17");
    let line = Line {
        reference: None,
        states: States::empty(),
        value: None,
        cell: None,
        ..line
    };
    insta::assert_snapshot!(line, @"[AXCell (table cell)] \"Phone\" x:680 y:520 w:80 h:30 visible \
        in #e17");
}

#[test]
fn a_name_cannot_forge_a_value_or_a_parent() {
    let line = Line {
        text: Some(Text::new("a\" value:\"b\" row:1 col:1 #e1 in #e2")),
        value: Some(Text::new("c\" #e9 in #e8")),
        ..button()
    };
    assert_eq!(line.to_string().parse(), Ok(line));
}

#[test]
fn states_are_written_in_a_fixed_order() {
    let line = Line {
        states: States::all(),
        ..button()
    };
    insta::assert_snapshot!(line, @"[AXButton (push button)] \"Open\" x:680 y:520 w:80 h:30 \
        visible focused selected checked mixed expanded collapsed disabled editable secure #e42");
    let words = States::WORDS
        .iter()
        .fold(States::empty(), |all, w| all | w.1);
    assert_eq!(words, States::all());
}

#[test]
fn the_delta_lines_are_as_specified() {
    let sending = Line {
        role: Role::STATIC_TEXT,
        native_role: Some("label".into()),
        text: Some(Text::new("Sending…")),
        extents: Rect::new(40, 610, 90, 18),
        reference: Some(Ref(97)),
        ..button()
    };
    insta::assert_snapshot!(
        DeltaLine::Added(sending),
        @r##"+ [AXStaticText (label)] "Sending…" x:40 y:610 w:90 h:18 visible #e97"##
    );
    let field = Line {
        role: Role::TEXT_FIELD,
        native_role: Some("text".into()),
        text: Some(Text::new("Message")),
        extents: None,
        reference: Some(Ref(31)),
        ..button()
    };
    let change = Change {
        attribute: Attribute::Value,
        old: Value::Text(Text::new("Hey are you free Friday")),
        new: Value::Text(Text::new("")),
    };
    let focus = Change {
        attribute: Attribute::Focused,
        old: Value::Flag(true),
        new: Value::Flag(false),
    };
    insta::assert_snapshot!(
        DeltaLine::Modified(field, vec![change, focus]),
        @"~ [AXTextField (text)] \"Message\" | AXValue: \"Hey are you free Friday\" -> \"\", \
            AXFocused: true -> false visible #e31"
    );
}

#[test]
fn a_cut_text_ends_with_the_number_of_missing_characters() {
    let text = Text::new("x".repeat(1_005));
    let line = Line {
        text: Some(text),
        ..button()
    };
    assert!(line.to_string().contains("xx…(+5)\" x:680"));
    assert_eq!(line.to_string().parse(), Ok(line));
}

#[test]
fn a_text_cut_at_both_ends_has_both_marks() {
    for (text, wanted) in [
        (Text::part("middle", 40, 90), "\"…(+40)middle…(+44)\""),
        (Text::part("end", 40, 43), "\"…(+40)end\""),
        (Text::part("", 40, 40), "\"…(+40)\""),
        (Text::part("", 0, 40), "\"…(+0)…(+40)\""),
        (Text::part("…(+1)", 2, 7), "\"…(+2)\\u{2026}(+1)\""),
    ] {
        let line = Line {
            text: Some(text),
            ..button()
        };
        assert!(line.to_string().contains(wanted), "{line}");
        assert_eq!(line.to_string().parse(), Ok(line));
    }
}

#[test]
fn the_kept_part_of_a_text_contains_the_caret_and_moves_in_steps() {
    assert_eq!(Text::window(1_000, 7), 0..1_000);
    assert_eq!(Text::window(9_000, 0), 0..1_000);
    assert_eq!(Text::window(9_000, 5_000), Text::window(9_000, 5_100));
    assert_eq!(Text::window(9_000, usize::MAX), 8_000..9_000);
    for total in [1_001, 1_999, 50_000] {
        for at in (0..=total).step_by(7) {
            let kept = Text::window(total, at);
            assert_eq!(kept.len(), Text::LIMIT);
            assert!(kept.end <= total && kept.start <= at && at <= kept.end);
        }
    }
}

#[test]
fn two_parts_of_the_same_text_agree() {
    let whole: Vec<char> = ('a'..='z').cycle().take(3_000).collect();
    let part = |from: usize| {
        let part: String = whole[from..from + 1_000].iter().collect();
        Text::part(part, from, whole.len())
    };
    assert!(part(0).agrees(&part(250)) && part(250).agrees(&part(0)));
    assert!(part(0).agrees(&part(2_000)));
    let mut other = part(250);
    other.omitted_after += 1;
    assert!(!part(0).agrees(&other), "it is longer");
    let typed = Text::part("x".repeat(1_000), 250, 3_000);
    assert!(!part(0).agrees(&typed));
    assert!(!part(250).agrees(&typed));
}

#[test]
fn a_text_that_ends_like_a_cut_text_counts_as_whole() {
    let line = Line {
        text: Some(Text::new("all of it…(+5)")),
        ..button()
    };
    assert!(line.to_string().contains("\\u{2026}(+5)\""));
    assert_eq!(line.to_string().parse(), Ok(line));
}

#[test]
fn a_hostile_title_cannot_leave_its_quotes() {
    let line = Line {
        text: Some(Text::new(
            "a\"\n[AXButton] \"Forged\" visible #e1\u{202e}\u{9b}\\",
        )),
        ..button()
    };
    insta::assert_snapshot!(line, @"[AXButton (push button)] \"a\\\"\\n[AXButton] \\\"Forged\\\" visible \
        #e1\\u{202e}\\u{9b}\\\\\" x:680 y:520 w:80 h:30 visible #e42");
}

#[test]
fn text_outside_the_grammar_is_refused() {
    for wrong in [
        "",
        "AXButton",
        "[AXNonsense]",
        "[AXButton",
        "[AXButton] \"open",
        "[AXButton] x:1 y:2 w:3",
        "[AXButton] visible visible",
        "[AXButton] secure focused",
        "[AXButton] #42",
        "[AXButton] #e42 ",
        "[AXButton] value:Ann",
        "[AXButton] row:4",
        "[AXButton] row:-1 col:2",
        "[AXButton] row:4 col:2 value:\"Ann\"",
        "[AXButton] in e17",
        "[AXButton] in #e17 #e42",
        "[AXButton] \"\\q\"",
        "[AXButton] \"\\u{110000}\"",
        " [AXButton]",
    ] {
        assert!(wrong.parse::<Line>().is_err(), "{wrong}");
    }
    for wrong in [
        "~ [AXButton]",
        "~ [AXButton] | AXValue: true",
        "* [AXButton]",
        "+",
    ] {
        assert!(wrong.parse::<DeltaLine>().is_err(), "{wrong}");
    }
}

#[test]
fn a_ref_is_read_only_as_the_letter_e_and_a_number() {
    assert_eq!("e42".parse(), Ok(Ref(42)));
    assert_eq!("#e42".parse(), Ok(Ref(42)));
    for wrong in [
        "42",
        "e",
        "e-1",
        "e+1",
        "##e1",
        "e1 ",
        "e18446744073709551616",
    ] {
        assert!(wrong.parse::<Ref>().is_err(), "{wrong}");
    }
}

prop_compose! {
    fn any_line()(
        role in role(),
        native_role in prop::option::of(hostile()),
        text in prop::option::of(text()),
        extents in prop::option::of(extents()),
        visible in any::<bool>(),
        states in states(),
        value in prop::option::of(text()),
        cell in prop::option::of(cell()),
        refs in prop::array::uniform2(prop::option::of(any::<u64>().prop_map(Ref))),
    ) -> Line {
        let native_role = native_role.map(Into::into);
        let [reference, parent] = refs;
        Line { role, native_role, text, extents, visible, states, value, cell, reference, parent }
    }
}

fn any_change() -> impl Strategy<Value = Change> {
    let value = || {
        prop_oneof![
            text().prop_map(Value::Text),
            any::<bool>().prop_map(Value::Flag),
            Just(Value::Mixed),
        ]
    };
    let attribute = prop::sample::select(&Attribute::ALL[..]);
    (attribute, value(), value()).prop_map(|(attribute, old, new)| Change {
        attribute,
        old,
        new,
    })
}

proptest! {
    #[test]
    fn any_element_is_written_on_one_line_and_reads_back(line in any_line()) {
        let written = line.to_string();
        prop_assert!(!written.contains(is_hostile), "{written:?}");
        prop_assert_eq!(written.parse(), Ok(line));
    }

    #[test]
    fn any_delta_is_written_on_one_line_and_reads_back(
        line in any_line(),
        changes in prop::collection::vec(any_change(), 1..4),
    ) {
        let modified = Line { extents: None, ..line.clone() };
        for delta in [
            DeltaLine::Added(line.clone()),
            DeltaLine::Removed(line),
            DeltaLine::Modified(modified, changes),
        ] {
            let written = delta.to_string();
            prop_assert!(!written.contains(is_hostile), "{written:?}");
            prop_assert_eq!(written.parse(), Ok(delta));
        }
    }

    #[test]
    fn reading_any_line_never_panics(s in hostile()) {
        for start in ["", "[AXButton] \"", "~ [AXButton] | AXValue: ", "[AXButton ("] {
            let _ = format!("{start}{s}").parse::<Line>();
            let _ = format!("{start}{s}").parse::<DeltaLine>();
        }
        let _ = unescape(&s);
    }

    #[test]
    fn an_escaped_text_is_unescaped_to_the_same_text(s in any::<String>(), t in hostile()) {
        for s in [s, t] {
            let back = unescape(&escape(&s)).map(std::borrow::Cow::into_owned);
            prop_assert_eq!(back.as_ref(), Some(&s));
            let once = one_line(&s).into_owned();
            prop_assert!(!once.contains(is_hostile));
            prop_assert_eq!(one_line(&once), once.as_str());
        }
    }

    #[test]
    fn a_shortened_text_keeps_to_its_limit(s in hostile(), limit in 0..40usize) {
        for short in [short(&s, limit), short_escaped(&s, limit)] {
            prop_assert!(short.chars().count() <= limit);
            prop_assert!(!short.contains(is_hostile));
        }
        if one_line(&s).chars().count() <= limit {
            prop_assert_eq!(short(&s, limit), one_line(&s));
        }
    }

    #[test]
    fn a_ref_reads_back(n in any::<u64>()) {
        prop_assert_eq!(Ref(n).to_string().parse(), Ok(Ref(n)));
    }
}
