//! Edits one property in a JSON file that people edit: comments and trailing commas stay as they
//! are.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;

use super::server::{NAME, Server};

/// Adds the entry to the object `section`, which is created if it is missing.
pub(super) fn with(text: &str, section: &str, entry: &Value) -> Result<String, String> {
    let file = parse(text)?;
    let root = file.object_value_or_create();
    let root = root.ok_or("the file is not a JSON object")?;
    let servers = root.object_value_or_create(section);
    let servers = servers.ok_or_else(|| format!("its {section:?} is not an object"))?;
    match servers.get(NAME) {
        Some(old) if value(&old).as_ref() == Some(entry) => return Ok(text.to_owned()),
        Some(old) => old.set_value(input(entry)),
        None => drop(servers.append(NAME, input(entry))),
    }
    let new = file.to_string();
    // A file may have the section twice. Clients read the last one.
    let read = parse(&new)?.to_serde_value();
    if read.is_some_and(|read| read[section][NAME] == *entry) {
        Ok(new)
    } else {
        Err(format!("{NAME:?} cannot be added to the file"))
    }
}

/// Removes the entry.
pub(super) fn without(text: &str, section: &str) -> Result<String, String> {
    let file = parse(text)?;
    if let Some(entry) = entry(&file, section) {
        entry.remove();
    }
    Ok(file.to_string())
}

/// The server in the entry: an empty server if the entry has none, `None` if there is no entry.
pub(super) fn server(text: &str, section: &str) -> Result<Option<Server>, String> {
    let entry = entry(&parse(text)?, section);
    let Some(entry) = entry.and_then(|entry| value(&entry)) else {
        return Ok(None);
    };
    let mut words = strings(&entry["command"]).chain(strings(&entry["args"]));
    Ok(Some(Server {
        program: words.next().unwrap_or_default(),
        arguments: words.collect(),
    }))
}

/// A string, or the strings of a list.
fn strings(value: &Value) -> impl Iterator<Item = String> {
    let values = value
        .as_array()
        .map_or(std::slice::from_ref(value), Vec::as_slice);
    { values.iter() }.filter_map(|value| Some(value.as_str()?.to_owned()))
}

fn parse(text: &str) -> Result<CstRootNode, String> {
    let parsed = CstRootNode::parse(text, &ParseOptions::default());
    parsed.map_err(|e| format!("it is not JSON: {e}"))
}

fn entry(file: &CstRootNode, section: &str) -> Option<CstObjectProp> {
    let servers: CstObject = file.object_value()?.object_value(section)?;
    servers.get(NAME)
}

fn value(entry: &CstObjectProp) -> Option<Value> {
    entry.value()?.to_serde_value()
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => (*value).into(),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => value.as_str().into(),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(values) => {
            let values = values
                .iter()
                .map(|(name, value)| (name.clone(), input(value)));
            CstInputValue::Object(values.collect())
        }
    }
}
