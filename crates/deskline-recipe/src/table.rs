//! A table of values for inputs: CSV with a line of names first.

use std::collections::BTreeMap;

/// The rows, each with its values by the names of the columns.
///
/// # Errors
/// A row with another number of columns than the first line, or a quote that is not closed.
pub fn rows(text: &str) -> Result<Vec<BTreeMap<String, String>>, String> {
    let mut records = records(text.trim_start_matches('\u{feff}'))?.into_iter();
    let (_, names) = records
        .next()
        .ok_or("1:1: the table is empty: its first line must have the names of the inputs")?;
    let mut rows = Vec::new();
    for (line, fields) in records {
        if fields.len() != names.len() {
            let (is, of) = (fields.len(), names.len());
            return Err(format!(
                "{line}:1: it has {is} columns, and the first line has {of}"
            ));
        }
        let names = names.iter().map(|name| name.trim().to_owned());
        rows.push(names.zip(fields).collect());
    }
    if rows.is_empty() {
        return Err("1:1: it has no row below the names".into());
    }
    Ok(rows)
}

/// The records with the line where each begins. Empty lines are left out.
fn records(text: &str) -> Result<Vec<(usize, Vec<String>)>, String> {
    let (mut records, mut fields, mut field) = (Vec::new(), Vec::new(), String::new());
    let (mut line, mut begun, mut quoted) = (1, 1, None);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        line += usize::from(c == '\n');
        match c {
            '"' if quoted.is_some() && chars.peek() == Some(&'"') => {
                field.push('"');
                chars.next();
            }
            '"' if quoted.is_some() => quoted = None,
            c if quoted.is_some() => field.push(c),
            '"' if field.is_empty() => quoted = Some(line),
            ',' => fields.push(std::mem::take(&mut field)),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\n' => {
                fields.push(std::mem::take(&mut field));
                records.push((begun, std::mem::take(&mut fields)));
                begun = line;
            }
            c => field.push(c),
        }
    }
    if let Some(line) = quoted {
        return Err(format!("{line}:1: it has a quote that is not closed"));
    }
    fields.push(field);
    records.push((begun, fields));
    records.retain(|(_, fields)| fields.as_slice() != [""]);
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_cell_may_contain_commas_line_breaks_and_quotes() {
        let table = "name,note\r\n\"Lee, Ann\",\"a \"\"b\"\"\nc\"\r\n\r\nBob,\n";
        let rows = rows(table).unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0]["name"], "Lee, Ann");
        assert_eq!(rows[0]["note"], "a \"b\"\nc");
        assert_eq!(rows[1]["note"], "");
    }

    #[test]
    fn an_error_in_a_table_names_its_line() {
        let few = rows("a,b\n1,2\n\"x\ny\"\n").unwrap_err();
        assert_eq!(few, "3:1: it has 1 columns, and the first line has 2");
        assert!(rows("a\n\"x").unwrap_err().starts_with("2:1"));
        assert!(rows("").unwrap_err().contains("empty"));
        assert!(rows("a\n").unwrap_err().contains("no row"));
    }
}
