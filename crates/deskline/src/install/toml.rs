//! One table in a TOML file, appended as text, so that every other byte stays.

use toml_edit::{DocumentMut, Item};

use super::server::Server;

/// Adds the entry.
pub(super) fn with(
    text: &str,
    section: &str,
    name: &str,
    server: &Server,
) -> Result<String, String> {
    let before = parse(text)?;
    let text = if let Some(old) = entry(&before, section, name) {
        if read(old).as_ref() == Some(server) {
            return Ok(text.to_owned());
        }
        without(text, section, name)?
    } else {
        text.to_owned()
    };
    let line_end = line_end(&text);
    let mut new = text.clone();
    if !new.is_empty() {
        if !new.ends_with('\n') {
            new += line_end;
        }
        new += line_end;
    }
    let quoted = |text: &str| toml_edit::Value::from(text).to_string();
    let arguments: toml_edit::Array = server.arguments.iter().collect();
    for line in [
        format!("[{section}.{name}]"),
        format!("command = {}", quoted(&server.program)),
        format!("args = {arguments}"),
    ] {
        new += &line;
        new += line_end;
    }
    // An inline `mcp_servers = {…}` cannot be extended like this.
    let added = parse(&new)
        .ok()
        .and_then(|after| read(entry(&after, section, name)?));
    if added.as_ref() != Some(server) {
        return Err(format!("[{section}.{name}] cannot be added to it"));
    }
    Ok(new)
}

/// Removes the entry: from its header to the next one.
pub(super) fn without(text: &str, section: &str, name: &str) -> Result<String, String> {
    let mut expected = parse(text)?;
    let header = format!("[{section}.{name}]");
    let mut kept = String::with_capacity(text.len());
    let mut inside = false;
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        if bare.starts_with('[') {
            // Subtables of the entry, such as `env`, go too.
            let within = format!("[{section}.{name}.");
            inside = bare == header || bare.starts_with(&within);
            if bare == header {
                drop_blank_line(&mut kept);
            }
        }
        if !inside {
            kept += line;
        }
    }
    // Only if the rest of the file keeps its meaning.
    if let Some(table) = expected.get_mut(section).and_then(Item::as_table_like_mut) {
        table.remove(name);
        if table.is_empty() {
            expected.remove(section);
        }
    }
    let same = parse(&kept).is_ok_and(|mut after| {
        if after
            .get(section)
            .and_then(Item::as_table_like)
            .is_some_and(toml_edit::TableLike::is_empty)
        {
            after.remove(section);
        }
        values(&after) == values(&expected)
    });
    if same {
        Ok(kept)
    } else {
        Err(format!(
            "{header} is not written as a table of its own: remove it by hand"
        ))
    }
}

pub(super) fn server(text: &str, section: &str, name: &str) -> Result<Option<Server>, String> {
    let document = parse(text)?;
    Ok(entry(&document, section, name).map(|item| {
        read(item).unwrap_or_else(|| Server {
            program: String::new(),
            arguments: vec![],
        })
    }))
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse::<DocumentMut>()
        .map_err(|e| format!("it is not TOML: {}", e.message()))
}

fn entry<'d>(document: &'d DocumentMut, section: &str, name: &str) -> Option<&'d Item> {
    document.get(section)?.as_table_like()?.get(name)
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

/// The values of a document, independent of how they are written.
fn values(document: &DocumentMut) -> String {
    fn sorted(item: &Item) -> String {
        match (item.as_table_like(), item.as_array_of_tables()) {
            (Some(table), _) => {
                let mut lines: Vec<_> = table
                    .iter()
                    .map(|(key, item)| format!("{key:?}: {}", sorted(item)))
                    .collect();
                lines.sort();
                format!("{{{}}}", lines.join(", "))
            }
            (None, Some(tables)) => {
                let tables = tables.iter().map(|t| sorted(&Item::Table(t.clone())));
                format!("[{}]", tables.collect::<Vec<_>>().join(", "))
            }
            (None, None) => item.to_string().trim().to_owned(),
        }
    }
    sorted(document.as_item())
}

/// Removes the blank line before the entry.
fn drop_blank_line(text: &mut String) {
    for end in ["\r\n\r\n", "\n\n"] {
        if text.ends_with(end) {
            text.truncate(text.len() - end.len() / 2);
            return;
        }
    }
}

fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}
