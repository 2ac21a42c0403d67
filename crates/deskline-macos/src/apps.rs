//! Apps by name, bundle id or path.

use std::path::{Path, PathBuf};

use deskline_contract::apps::{by_word, installed, not_found};
use deskline_contract::{OpenError, Result};

use crate::os::{Launch, Os, RunningApp};

/// How many levels of subfolders to search: some apps are in a subfolder (Utilities, a vendor's
/// folder).
const LEVELS: usize = 1;

/// Finds the app that an identifier means.
pub(crate) fn find<O: Os>(os: &O, identifier: &str) -> Result<Launch> {
    let identifier = identifier.trim();
    if identifier.is_empty() {
        return Err(OpenError::Empty("an app's name, bundle id or path").into());
    }
    if identifier.contains('/') || identifier.starts_with('~') {
        return by_path(identifier);
    }
    let is_id = identifier.contains('.') && !identifier.to_lowercase().ends_with(".app");
    if let Some(path) = os.bundle_path(identifier).filter(|_| is_id) {
        return Ok(app(path));
    }
    let wanted = name(identifier);
    let running = os.apps();
    let folders = os.app_folders().into_iter();
    let installed: Vec<PathBuf> = folders
        .flat_map(|folder| installed(&folder, LEVELS, is_bundle))
        .collect();
    let runs = |a: &&RunningApp| {
        !a.path.as_os_str().is_empty()
            && (name(&a.name) == wanted || stem(&a.path).is_some_and(|s| name(&s) == wanted))
    };
    // An app in the Dock beats a helper with the same name.
    let best = running.iter().filter(runs).max_by_key(|a| a.regular);
    let best = best.map(|a| a.path.clone());
    let exact = || {
        let same = |path: &&PathBuf| stem(path).is_some_and(|s| name(&s) == wanted);
        installed.iter().find(same).cloned()
    };
    let by_word = || {
        by_word(&installed, &wanted, |path| {
            name(&stem(path).unwrap_or_default())
        })
    };
    if let Some(path) = best.or_else(exact).or_else(|| by_word().cloned()) {
        return Ok(app(path));
    }
    let names: Vec<String> = installed.iter().filter_map(|path| stem(path)).collect();
    let forms = "a name as in the Applications folder, a bundle id such as com.apple.TextEdit, or \
                 a path";
    Err(not_found(identifier, &wanted, &names, forms).into())
}

fn app(path: PathBuf) -> Launch {
    Launch {
        path,
        document: false,
    }
}

fn by_path(identifier: &str) -> Result<Launch> {
    let path = match identifier.strip_prefix("~/") {
        Some(rest) => std::env::home_dir().unwrap_or_default().join(rest),
        None => PathBuf::from(identifier),
    };
    if !path.exists() {
        return Err(OpenError::NoSuchPath(path).into());
    }
    // A path inside a bundle means the bundle. NSWorkspace needs absolute paths.
    let path = std::path::absolute(&path).unwrap_or(path);
    let bundle = path.ancestors().find(|p| is_bundle(p));
    match bundle {
        Some(bundle) => Ok(app(bundle.to_owned())),
        None => Ok(Launch {
            path,
            document: true,
        }),
    }
}

fn is_bundle(path: &Path) -> bool {
    path.extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("app"))
}

/// A name for comparison: without `.app`, case and double spaces.
fn name(text: &str) -> String {
    let lower = text.to_lowercase();
    let bare = lower.strip_suffix(".app").unwrap_or(&lower);
    bare.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn stem(path: &Path) -> Option<String> {
    Some(path.file_stem()?.to_string_lossy().into_owned())
}
