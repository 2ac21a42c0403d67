//! A run as one file: the page with its styles, its modules, and the data that the server would
//! send; or a film.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use deskline_journal::Journal;
use serde::Serialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use crate::ViewError;
use crate::assets::{MODULES, PAGE, STYLES};
use crate::film::{self, Draw};
use crate::run::Run;

/// Writes the newest `last` links of the journal to `path`, with mode 0600, because links contain
/// screen contents. Replaces an existing file atomically; refuses a symlink or a device. Returns
/// the number of links written. A `.gif` is a film, with captions by `draw`.
pub fn export(
    journal: &Journal,
    last: usize,
    path: &Path,
    draw: Draw<'_>,
) -> Result<usize, ViewError> {
    let run = Run::fixed(journal, journal.records(last)?);
    if run.len() == 0 {
        return Err(ViewError::Empty(journal.path().to_owned()));
    }
    let failed = |source| ViewError::Write {
        path: path.to_owned(),
        source,
    };
    if !path
        .symlink_metadata()
        .map_or(true, |there| there.is_file())
    {
        let why = "it is not a regular file. Name another file, or remove this one first";
        return Err(failed(io::Error::other(why)));
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    // A temporary file has mode 0600, and is removed unless it is persisted.
    let mut file = NamedTempFile::new_in(folder).map_err(failed)?;
    let mut out = BufWriter::new(&mut file);
    let written = match path.extension().and_then(|end| end.to_str()) {
        Some("gif") => film::write(&mut out, &run, draw),
        Some("html") => write(&mut out, &run),
        _ => Err(io::Error::other("a page ends in .html, a film in .gif")),
    };
    written.and_then(|()| out.flush()).map_err(failed)?;
    drop(out);
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(run.len())
}

fn write(out: &mut impl Write, run: &Run) -> io::Result<()> {
    let (before, rest) = cut(PAGE, "<!-- head -->")?;
    let (_, after) = cut(rest, "<!-- end -->")?;
    let (body, end) = cut(after, "</body>")?;
    let style: String = STYLES.iter().map(|(_, text)| *text).collect();
    let script: String = MODULES
        .iter()
        .map(|(name, text)| scoped(name, text))
        .collect();
    write!(
        out,
        "{before}<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; \
         form-action 'none'\">\n<style>{style}</style>{body}",
        hash(&script),
        hash(&style),
    )?;
    let journal = run.journal.path().display().to_string();
    data(
        out,
        "rows",
        &json!({"journal": journal, "rows": run.rows(0, run.len())}),
    )?;
    for n in 0..run.len() {
        data(out, &format!("link-{n}"), &run.link(n))?;
        if let Some(png) = run.picture(n) {
            let png = BASE64_STANDARD.encode(&png);
            writeln!(
                out,
                "<script type=\"text/plain\" id=\"picture-{n}\">{png}</script>"
            )?;
        }
    }
    write!(out, "<script type=\"module\">{script}</script></body>{end}")
}

/// Data for the page. `<` is escaped: no text can end the element, or begin a comment in it.
fn data(out: &mut impl Write, id: &str, value: &impl Serialize) -> io::Result<()> {
    let json = serde_json::to_string(value)?.replace('<', "\\u003c");
    writeln!(
        out,
        "<script type=\"application/json\" id=\"{id}\">{json}</script>"
    )
}

/// A module as a part of one script: a function with its own names, which returns what the module
/// exports. In the page's modules, an import is a line `import { a, b } from "./name.js";`.
fn scoped(name: &str, module: &str) -> String {
    let mut exported = Vec::new();
    let mut script = String::new();
    for line in module.lines() {
        let import = line.strip_prefix("import ").and_then(|rest| {
            let (names, from) = rest.split_once(" from \"./")?;
            Some((names, from.strip_suffix(".js\";")?))
        });
        let line = if let Some((names, from)) = import {
            format!("const {names} = ${from};")
        } else if let Some(declared) = line.strip_prefix("export ") {
            let words = declared.split(|c: char| !c.is_alphanumeric());
            let kinds = ["async", "function", "class", "const"];
            exported.extend(words.into_iter().find(|word| !kinds.contains(word)));
            declared.to_owned()
        } else {
            line.to_owned()
        };
        script += &line;
        script.push('\n');
    }
    let name = name.trim_end_matches(".js");
    let exported = exported.join(", ");
    format!("const ${name} = (() => {{\n{script}return {{ {exported} }};\n}})();\n")
}

fn cut<'p>(page: &'p str, mark: &str) -> io::Result<(&'p str, &'p str)> {
    let missing = || io::Error::other(format!("the page has no {mark}"));
    page.split_once(mark).ok_or_else(missing)
}

/// The hash by which a content security policy names a script or a style sheet.
fn hash(text: &str) -> String {
    BASE64_STANDARD.encode(Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_becomes_a_function_that_returns_what_it_exports() {
        let module = "// Why.\nimport { a, b } from \"./dom.js\";\nconst c = 1;\n\
            export class D {\n}\nexport async function e(f) {\n}\n";
        assert_eq!(
            scoped("x.js", module),
            "const $x = (() => {\n// Why.\nconst { a, b } = $dom;\nconst c = 1;\nclass D {\n}\n\
             async function e(f) {\n}\nreturn { D, e };\n})();\n"
        );
    }

    #[test]
    fn no_exported_text_closes_the_element_that_contains_it() {
        let mut out = Vec::new();
        let text = "</script><script>alert(1)</script><!--";
        assert!(data(&mut out, "link-0", &text).is_ok());
        let out = String::from_utf8_lossy(&out).into_owned();
        assert_eq!(out.matches('<').count(), 2, "{out}");
    }
}
