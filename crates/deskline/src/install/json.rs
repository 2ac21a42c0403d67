//! One property in a JSON file that people edit: comments, trailing commas and white space stay as
//! they are, byte for byte.

use jsonc_parser::ast::{self, Object, ObjectProp};
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

use super::server::Server;

/// Adds the entry to the object `section`, which is created if it is missing.
pub(super) fn with(text: &str, section: &str, name: &str, entry: &Value) -> Result<String, String> {
    let mut expected = value(text)?;
    let old = expected.get(section).and_then(|servers| servers.get(name));
    if old == Some(entry) {
        return Ok(text.to_owned());
    }
    let new = add(text, section, name, entry)?;
    // The rest of the file must keep its meaning.
    if !expected.is_object() {
        expected = Value::Object(serde_json::Map::new());
    }
    expected[section][name] = entry.clone();
    if value(&new)? == expected {
        Ok(new)
    } else {
        Err(format!("{name:?} cannot be added to it"))
    }
}

fn add(text: &str, section: &str, name: &str, entry: &Value) -> Result<String, String> {
    if text.trim().is_empty() {
        return Ok(format!(
            "{{\n  \"{section}\": {{\n    \"{name}\": {}\n  }}\n}}\n",
            pretty(entry, "    ", "  ", "\n")
        ));
    }
    let file = Json::parse(text)?;
    let Some(servers) = file.root.get(section) else {
        let servers = serde_json::json!({ name: entry });
        return Ok(file.push(&file.root, section, &servers));
    };
    let Some(servers) = servers.value.as_object() else {
        return Err(format!("its {section:?} is not an object"));
    };
    Ok(match servers.get(name) {
        Some(old) => {
            let range = ast_range(&old.value);
            let written = pretty(
                entry,
                file.indent(old.range.start),
                file.unit(),
                file.line_end(),
            );
            format!("{}{written}{}", &text[..range.0], &text[range.1..])
        }
        None => file.push(servers, name, entry),
    })
}

/// Removes the entry.
pub(super) fn without(text: &str, section: &str, name: &str) -> Result<String, String> {
    let file = Json::parse(text)?;
    let servers = file.root.get(section).and_then(|s| s.value.as_object());
    let Some((servers, at)) = servers.and_then(|servers| {
        let at = servers.properties.iter();
        Some((servers, at.clone().position(|p| p.name.as_str() == name)?))
    }) else {
        return Ok(text.to_owned());
    };
    Ok(file.take_out(servers, at))
}

/// The server in the entry; an empty one if the entry has none.
pub(super) fn server(text: &str, section: &str, name: &str) -> Result<Option<Server>, String> {
    let value = value(text)?;
    let Some(entry) = value.get(section).and_then(|servers| servers.get(name)) else {
        return Ok(None);
    };
    let arguments = entry["args"].as_array().into_iter().flatten();
    Ok(Some(Server {
        program: entry["command"].as_str().unwrap_or_default().to_owned(),
        arguments: arguments
            .filter_map(|a| Some(a.as_str()?.to_owned()))
            .collect(),
    }))
}

fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Parses the text; `null` for an empty file.
fn value(text: &str) -> Result<Value, String> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options());
    let parsed = parsed.map_err(|e| format!("it is not JSON: {e}"))?;
    Ok(parsed.value.map_or(Value::Null, Value::from))
}

fn ast_range(value: &ast::Value<'_>) -> (usize, usize) {
    use jsonc_parser::common::Ranged as _;
    let range = value.range();
    (range.start, range.end)
}

fn pretty(value: &Value, indent: &str, unit: &str, line_end: &str) -> String {
    let mut written = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut written, formatter);
    // Serializing a `Value` to memory cannot fail.
    let _ = serde::Serialize::serialize(value, &mut serializer);
    let written = String::from_utf8_lossy(&written).into_owned();
    written.replace('\n', &format!("{line_end}{indent}"))
}

/// A parsed file whose root is an object.
struct Json<'t> {
    text: &'t str,
    root: Object<'t>,
    tokens: Vec<TokenAndRange<'t>>,
}

impl<'t> Json<'t> {
    fn parse(text: &'t str) -> Result<Self, String> {
        let collect = CollectOptions {
            tokens: true,
            ..CollectOptions::default()
        };
        let parsed = parse_to_ast(text, &collect, &options());
        let parsed = parsed.map_err(|e| format!("it is not JSON: {e}"))?;
        match parsed.value {
            Some(ast::Value::Object(root)) => Ok(Self {
                text,
                root,
                tokens: parsed.tokens.unwrap_or_default(),
            }),
            _ => Err("it is not a JSON object".into()),
        }
    }

    fn line_end(&self) -> &'static str {
        if self.text.contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        }
    }

    /// The white space before this index, if nothing else precedes it in its line.
    fn indent(&self, at: usize) -> &'t str {
        let start = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
        let line = &self.text[start..at];
        &line[..line.len() - line.trim_start().len()]
    }

    /// One level of indentation.
    fn unit(&self) -> &'t str {
        let first = self.root.properties.first();
        let indent = first.map_or("", |p| self.indent(p.range.start));
        if indent.is_empty() { "  " } else { indent }
    }

    /// The end of the comma that follows index `at`, if the next token is one.
    fn comma_after(&self, at: usize) -> Option<usize> {
        let next = self.tokens.iter().find(|t| t.range.start >= at)?;
        (next.token == Token::Comma).then_some(next.range.end)
    }

    /// Appends a property to the object.
    fn push(&self, object: &Object<'_>, name: &str, value: &Value) -> String {
        let (text, line_end) = (self.text, self.line_end());
        let close = object.range.end - 1;
        let outer = self.indent(object.range.start);
        let one_line = !text[object.range.start..close].contains('\n');
        let Some(last) = object.properties.last() else {
            let indent = format!("{outer}{}", self.unit());
            let written = pretty(value, &indent, self.unit(), line_end);
            // The object may contain nothing but a comment.
            let inside = text[object.range.start + 1..close].trim_end();
            return format!(
                "{}{inside}{line_end}{indent}\"{name}\": {written}{line_end}{outer}{}",
                &text[..=object.range.start],
                &text[close..]
            );
        };
        // Follow the file's style: add a trailing comma if it has trailing commas.
        let (end, comma, trailing) = match self.comma_after(last.range.end) {
            Some(end) => (end, "", ","),
            None => (last.range.end, ",", ""),
        };
        let head = format!("{}{comma}", &text[..end]);
        let rest = &text[end..close];
        if one_line {
            let tail = &text[close..];
            return format!("{head} \"{name}\": {value}{trailing}{rest}{tail}");
        }
        let indent = self.indent(last.range.start);
        let written = pretty(value, indent, self.unit(), line_end);
        // After the comments that follow the last property.
        let rest_kept = rest.trim_end();
        format!(
            "{head}{rest_kept}{line_end}{indent}\"{name}\": {written}{trailing}{}{}",
            &rest[rest_kept.len()..],
            &text[close..]
        )
    }

    /// Removes a property, with the white space before it and its comma.
    fn take_out(&self, object: &Object<'_>, at: usize) -> String {
        let text = self.text;
        let property: &ObjectProp<'_> = &object.properties[at];
        let comma = self.comma_after(property.range.end);
        let end = comma.unwrap_or(property.range.end);
        let head = &text[..property.range.start];
        let start = head.trim_end().len();
        let previous = at.checked_sub(1).map(|at| &object.properties[at]);
        match previous {
            // It is the last property: remove the comma before it.
            Some(previous) if comma.is_none() => {
                let before = self.comma_after(previous.range.end).unwrap_or(start);
                format!(
                    "{}{}{}",
                    &text[..before - 1],
                    &text[before..start],
                    &text[end..]
                )
            }
            _ => {
                let tail = &text[end..];
                let all_gone = object.properties.len() == 1 && text[..start].ends_with('{');
                let tail = if all_gone { tail.trim_start() } else { tail };
                format!("{}{tail}", &text[..start])
            }
        }
    }
}
