//! The journal's files as MCP resources, by `file://` URI.

use std::path::Path;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use deskline_core::escape::{percent_decode, percent_encode};
use deskline_journal::{FileKind, JournalFile};
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents};

use crate::files::JournalFiles;

/// At most this many files are listed, newest first.
const LISTED: usize = 50;

/// The newest files of the journal.
pub(crate) fn list(files: &JournalFiles) -> Result<Vec<Resource>, ErrorData> {
    let files = files
        .list()
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(files.take(LISTED).map(|file| resource(&file)).collect())
}

fn resource(file: &JournalFile) -> Resource {
    Resource::new(uri(&file.path), &file.name)
        .with_mime_type(mime_type(file.kind))
        .with_size(file.bytes)
}

/// One file of the journal: a text as text, a picture as a blob.
pub(crate) fn read(files: &JournalFiles, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let missing = |why: String| ErrorData::resource_not_found(why, None);
    let path = path(uri).ok_or_else(|| {
        missing(format!(
            "{uri:?} is not the file:// URI of a file in the log"
        ))
    })?;
    let contents = if Path::new(&path).extension().is_some_and(|end| end == "png") {
        let (_, png) = files.picture(Some(&path)).map_err(missing)?;
        ResourceContents::blob(BASE64_STANDARD.encode(&png), uri)
            .with_mime_type(mime_type(FileKind::Picture))
    } else {
        let (_, text) = files.text(Some(&path)).map_err(missing)?;
        ResourceContents::text(text, uri)
    };
    Ok(ReadResourceResult::new(vec![contents]))
}

fn mime_type(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Text => "text/plain",
        FileKind::Picture => "image/png",
    }
}

/// The `file://` URI of an absolute path (RFC 8089), percent-encoded as RFC 3986 requires.
fn uri(path: &Path) -> String {
    let mut path = percent_encode(path.as_os_str().as_encoded_bytes());
    if cfg!(windows) {
        path = path.replace("%3A", ":").replace("%5C", "/");
    }
    let before_drive = if path.starts_with('/') { "" } else { "/" };
    format!("file://{before_drive}{path}")
}

/// The path of a `file://` URI.
fn path(uri: &str) -> Option<String> {
    let rest = uri.strip_prefix("file://")?;
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    if !rest.starts_with('/') {
        return None;
    }
    let path = String::from_utf8(percent_decode(rest)?).ok()?;
    // `/C:/x` stands for the path `C:/x` on a drive.
    let is_drive = cfg!(windows) && path.get(2..3) == Some(":");
    Some(if is_drive { path[1..].to_owned() } else { path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_file_uris_convert_into_each_other() {
        for (plain, escaped) in [
            ("/tmp/deskline/1_a.txt", "file:///tmp/deskline/1_a.txt"),
            (
                "/tmp/my journal/ü%.png",
                "file:///tmp/my%20journal/%C3%BC%25.png",
            ),
        ] {
            assert_eq!(uri(Path::new(plain)), escaped);
            assert_eq!(path(escaped).unwrap(), plain);
        }

        #[cfg(windows)]
        for plain in [r"C:\Users\m e\1_a.txt", "C:/Users/m e/1_a.txt"] {
            let escaped = "file:///C:/Users/m%20e/1_a.txt";
            assert_eq!(uri(Path::new(plain)), escaped);
            assert_eq!(path(escaped).unwrap(), "C:/Users/m e/1_a.txt");
        }
        assert_eq!(path("file://localhost/a").unwrap(), "/a");
        for wrong in [
            "/tmp/a",
            "http://x/a",
            "file://host/a",
            "file:///%",
            "file:///%zz",
            "file:///%FF",
            "",
        ] {
            assert_eq!(path(wrong), None, "{wrong}");
        }
    }
}
