//! Another language of the app than the recipe's.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Play, Screen};
use deskline_recipe::{Messages, Words, messages};

/// Where catalogues are installed.
const FOLDERS: [&str; 3] = [
    "/usr/share/locale",
    "/usr/share/locale-langpack",
    "/usr/local/share/locale",
];

/// The largest catalogue that is read, in bytes.
const LARGEST: u64 = 16 << 20;

impl Play<'_> {
    /// Notes the language that an app shows. Gives its screen the texts of the recipe, if that has
    /// another one.
    pub(super) fn understand(&mut self, pid: u32, screen: &mut Screen) {
        let files = self.dispatcher.catalogues(pid);
        let recipe = &mut self.played.recipe;
        if self.how.learns {
            if let Some(own) = files.first().map(|file| language(file)) {
                let named = files.iter().filter(|file| language(file) == own);
                let names = named.filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned()));
                (recipe.language, recipe.catalogues) = (own.to_owned(), names.collect());
            }
            return;
        }
        if self.heard != (pid, files.clone()) {
            let own = &recipe.language;
            let is_same = files.iter().all(|file| language(file) == own);
            let is_same = is_same && files.is_empty() == own.is_empty();
            let paths =
                |name: &String| FOLDERS.map(|at| format!("{at}/{own}/LC_MESSAGES/{name}.mo"));
            let of_own = recipe.catalogues.iter().flat_map(paths).map(PathBuf::from);
            let (of_own, shown) = (all(of_own), all(files.iter().cloned()));
            let words = || Words::new(recipe, self.values, &of_own, &shown);
            self.words = (!is_same).then(words);
            self.heard = (pid, files);
        }
        if let Some(words) = &self.words {
            words.translate(screen);
        }
    }

    /// What a text of the recipe is in the app's language.
    pub(super) fn shown<'t>(&'t self, text: &'t str) -> &'t str {
        self.words.as_ref().map_or(text, |words| words.shown(text))
    }
}

fn all(files: impl Iterator<Item = PathBuf>) -> Messages {
    // A FIFO would be waited for.
    let is_one = |about: &fs::Metadata| about.is_file() && about.len() < LARGEST;
    let read = |file: PathBuf| {
        fs::metadata(&file).ok().filter(is_one)?;
        Some(messages(&fs::read(file).ok()?))
    };
    files.filter_map(read).flatten().collect()
}

/// The language in `…/de/LC_MESSAGES/gtk30.mo`.
pub(super) fn language(file: &Path) -> &str {
    let folder = file.ancestors().nth(2).and_then(Path::file_name);
    folder.and_then(|name| name.to_str()).unwrap_or_default()
}
