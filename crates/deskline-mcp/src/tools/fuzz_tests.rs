//! The arguments of every tool, on any JSON.

use deskline_fuzz::{Rng, fuzz_with};
use serde_json::{Map, Value, json};

use super::{TOOLS, call};
use crate::args::Args;

const LINES: &str = include_str!("../../tests/corpora/lines.jsonl");

#[test]
fn fuzz_any_arguments_make_a_call_or_an_error_in_words() {
    let lines = LINES
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let corpus: Vec<Value> = lines
        .map(|mut line| line["params"]["arguments"].take())
        .collect();
    let mut parts = Vec::new();
    for value in &corpus {
        take_apart(value, &mut parts);
    }
    let make = |rng: &mut Rng| {
        let mut value = rng.choice(&corpus).unwrap().clone();
        for _ in 0..rng.usize(1..6) {
            change(&mut value, rng, &parts);
        }
        value.as_object().cloned().unwrap_or_default()
    };
    fuzz_with(
        "arguments of tools",
        make,
        |arguments: &Map<String, Value>| {
            for record in TOOLS {
                let checked = record.check(Args(arguments));
                let called = call(record, arguments).map(drop);
                for error in [checked, called].into_iter().filter_map(Result::err) {
                    assert!(!error.is_empty());
                }
            }
        },
    );
}

/// All values inside a value, and all names of properties.
fn take_apart(value: &Value, parts: &mut Vec<Value>) {
    parts.push(value.clone());
    match value {
        Value::Array(items) => {
            for item in items {
                take_apart(item, parts);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                parts.push(name.clone().into());
                take_apart(value, parts);
            }
        }
        _ => {}
    }
}

fn change(value: &mut Value, rng: &mut Rng, parts: &[Value]) {
    if rng.u8(..4) > 0 {
        let inner = match value {
            Value::Array(items) if !items.is_empty() => {
                let at = rng.usize(..items.len());
                items.get_mut(at)
            }
            Value::Object(fields) if !fields.is_empty() => {
                let at = rng.usize(..fields.len());
                fields.values_mut().nth(at)
            }
            _ => None,
        };
        if let Some(inner) = inner {
            return change(inner, rng, parts);
        }
    }
    let other = rng.choice(parts).cloned().unwrap_or_default();
    match value {
        Value::Array(items) if rng.bool() => items.extend(vec![other; rng.usize(..40)]),
        Value::Array(items) if !items.is_empty() => drop(items.remove(rng.usize(..items.len()))),
        Value::Object(fields) if rng.bool() => {
            let name = rng
                .choice(parts)
                .and_then(Value::as_str)
                .unwrap_or("pid")
                .to_owned();
            fields.insert(name, other);
        }
        Value::Object(fields) if rng.bool() => {
            if let Some(name) = fields.keys().nth(rng.usize(..fields.len().max(1))).cloned() {
                fields.remove(&name);
            }
        }
        _ => *value = edge(rng, other),
    }
}

/// A value at the limit of what is accepted.
fn edge(rng: &mut Rng, other: Value) -> Value {
    match rng.u8(..14) {
        0 => Value::Null,
        1 => json!(rng.bool()),
        2 => json!(i64::MIN),
        3 => json!(u64::MAX),
        4 => json!(f64::MAX),
        5 => json!(-0.5),
        6 => json!(rng.i64(..)),
        7 => json!("1e309"),
        8 => json!("NaN"),
        9 => json!(format!(" {} ", rng.i32(-2..4))),
        10 => json!("\u{0}\n\u{202e}\"e42".repeat(rng.usize(..200))),
        11 => json!([]),
        12 => json!({}),
        _ => other,
    }
}
