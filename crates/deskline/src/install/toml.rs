//! Edits one table in a TOML file that people edit: comments and the order stay as they are.

use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::server::{NAME, Server};

/// Adds the entry.
pub(super) fn with(text: &str, section: &str, server: &Server) -> Result<String, String> {
    let mut document = parse(text)?;
    let mut servers = Table::new();
    servers.set_implicit(true);
    let servers = document.entry(section).or_insert(Item::Table(servers));
    let servers = servers.as_table_like_mut();
    let servers = servers.ok_or_else(|| format!("its {section} is not a table"))?;
    if servers.get(NAME).and_then(read).as_ref() == Some(server) {
        return Ok(text.to_owned());
    }
    let mut entry = Table::new();
    entry["command"] = value(&server.program);
    entry["args"] = value(server.arguments.iter().collect::<Array>());
    servers.insert(NAME, Item::Table(entry));
    Ok(document.to_string())
}

/// Removes the entry.
pub(super) fn without(text: &str, section: &str) -> Result<String, String> {
    let mut document = parse(text)?;
    let servers = document.get_mut(section).and_then(Item::as_table_like_mut);
    match servers.and_then(|servers| servers.remove(NAME)) {
        Some(_) => Ok(document.to_string()),
        None => Ok(text.to_owned()),
    }
}

/// The server in the entry: an empty server if the entry has none, `None` if there is no entry.
pub(super) fn server(text: &str, section: &str) -> Result<Option<Server>, String> {
    let document = parse(text)?;
    let servers = document.get(section).and_then(Item::as_table_like);
    let entry = servers.and_then(|servers| servers.get(NAME));
    Ok(entry.map(|entry| read(entry).unwrap_or_default()))
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse::<DocumentMut>()
        .map_err(|e| format!("it is not TOML: {}", e.message()))
}

fn read(item: &Item) -> Option<Server> {
    let table = item.as_table_like()?;
    let arguments = table.get("args").and_then(Item::as_array);
    let arguments = arguments.map(|a| a.iter().filter_map(|v| Some(v.as_str()?.to_owned())));
    Some(Server {
        program: table.get("command")?.as_str()?.to_owned(),
        arguments: arguments.map(Iterator::collect).unwrap_or_default(),
    })
}
