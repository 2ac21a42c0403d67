//! Edits one entry in Goose's YAML file. Adds and removes lines, so that all others stay as they
//! are. Then a parser checks that the file differs only by the entry.

use serde_json::json;
use yaml_rust2::yaml::Hash;
use yaml_rust2::{Yaml, YamlLoader};

use super::server::{NAME, Server};

/// How many seconds Goose waits for a call: as long as the longest `wait_for` takes.
const TIMEOUT: u32 = 300;

/// Adds the entry to the mapping `section`, which is created if it is missing.
pub(super) fn with(text: &str, section: &str, server: &Server) -> Result<String, String> {
    if self::server(text, section)?.as_ref() == Some(server) {
        return Ok(text.to_owned());
    }
    let old = without(text, section)?;
    let end = if old.contains("\r\n") { "\r\n" } else { "\n" };
    let mut lines: Vec<String> = old.lines().map(str::to_owned).collect();
    let at = if let Some(at) = lines.iter().position(|line| opens(line, section)) {
        lines[at] = lines[at].replacen("{}", "", 1).trim_end().to_owned();
        at + 1
    } else {
        lines.push(format!("{section}:"));
        lines.len()
    };
    let indent = lines[at..].iter().find_map(|line| indent(line));
    let indent = indent.filter(|indent| *indent > 0).unwrap_or(2);
    lines.splice(at..at, entry(server, indent));
    let new = lines.join(end) + end;
    let mut expected = parse(&old)?;
    let servers = { &mut expected }
        .entry(Yaml::String(section.to_owned()))
        .or_insert(Yaml::Null);
    if !matches!(servers, Yaml::Hash(_)) {
        *servers = Yaml::Hash(Hash::new());
    }
    let added = parse(&entry(server, 0).join("\n"))?;
    if let Yaml::Hash(servers) = servers {
        servers.extend(added);
    }
    // The order of keys does not matter.
    if same(&parse(&new)?, &expected) {
        Ok(new)
    } else {
        Err(format!("{NAME:?} cannot be added to its {section:?}"))
    }
}

/// Removes the entry.
pub(super) fn without(text: &str, section: &str) -> Result<String, String> {
    let mut expected = parse(text)?;
    let key = Yaml::String(section.to_owned());
    let Some(Yaml::Hash(servers)) = expected.get_mut(&key) else {
        return Ok(text.to_owned());
    };
    if servers.remove(&Yaml::String(NAME.to_owned())).is_none() {
        return Ok(text.to_owned());
    }
    let emptied = servers.is_empty();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let fails = || format!("{NAME:?} cannot be removed from its {section:?}");
    let at = lines
        .iter()
        .position(|line| opens(line, section))
        .ok_or_else(fails)?;
    let own = lines[at + 1..]
        .iter()
        .position(|line| indent(line).is_some_and(|n| n > 0) && line.trim() == format!("{NAME}:"))
        .ok_or_else(fails)?
        + at
        + 1;
    let depth = indent(lines[own]);
    let end = lines[own + 1..]
        .iter()
        .position(|line| indent(line) <= depth && indent(line).is_some())
        .map_or(lines.len(), |length| own + 1 + length);
    let new = [&lines[..own], &lines[end..]].concat().concat();
    if emptied {
        expected.insert(key, Yaml::Null);
    }
    if same(&parse(&new)?, &expected) {
        Ok(new)
    } else {
        Err(fails())
    }
}

/// The server in the entry: an empty server if the entry has none, `None` if there is no entry.
pub(super) fn server(text: &str, section: &str) -> Result<Option<Server>, String> {
    let file = parse(text)?;
    let servers = file.get(&Yaml::String(section.to_owned()));
    let entry = servers.map_or(&Yaml::BadValue, |servers| &servers[NAME]);
    if entry.is_badvalue() {
        return Ok(None);
    }
    let arguments = entry["args"].as_vec().into_iter().flatten();
    Ok(Some(Server {
        program: entry["cmd"].as_str().unwrap_or_default().to_owned(),
        arguments: arguments
            .filter_map(|argument| Some(argument.as_str()?.to_owned()))
            .collect(),
    }))
}

/// The lines of an entry. A JSON string or list is YAML too.
fn entry(server: &Server, indent: usize) -> Vec<String> {
    let fields = [
        "enabled: true".to_owned(),
        "type: stdio".to_owned(),
        format!("name: {NAME}"),
        format!("cmd: {}", json!(server.program)),
        format!("args: {}", json!(server.arguments)),
        format!("timeout: {TIMEOUT}"),
    ];
    let title = format!("{:indent$}{NAME}:", "");
    let fields = fields.map(|field| format!("{:1$}{field}", "", indent + 2));
    std::iter::once(title).chain(fields).collect()
}

/// Whether the line begins the mapping `section`, which may be an empty one, `{}`.
fn opens(line: &str, section: &str) -> bool {
    line.strip_prefix(section)
        .and_then(|rest| rest.strip_prefix(':'))
        .is_some_and(|rest| {
            let value = rest.split(" #").next().unwrap_or_default().trim();
            value.is_empty() || value == "{}"
        })
}

/// The indent of a line with a key or a value.
fn indent(line: &str) -> Option<usize> {
    let content = line.trim_start();
    let is_content = !content.trim_end().is_empty() && !content.starts_with('#');
    is_content.then(|| line.len() - content.len())
}

fn parse(text: &str) -> Result<Hash, String> {
    let mut documents =
        YamlLoader::load_from_str(text).map_err(|error| format!("it is not YAML: {error}"))?;
    match (documents.pop(), documents.is_empty()) {
        (None | Some(Yaml::Null | Yaml::BadValue), true) => Ok(Hash::new()),
        (Some(Yaml::Hash(file)), true) => Ok(file),
        _ => Err("it is not one YAML mapping".into()),
    }
}

fn same(a: &Hash, b: &Hash) -> bool {
    let equal = |a: &Yaml, b: &Yaml| match (a, b) {
        (Yaml::Hash(a), Yaml::Hash(b)) => same(a, b),
        (a, b) => a == b,
    };
    a.len() == b.len()
        && a.iter()
            .all(|(key, value)| b.get(key).is_some_and(|other| equal(value, other)))
}
