//! Handles an app that is in another language than the recipe.

use std::fs::{self, Metadata};
use std::path::PathBuf;

use super::{Play, Screen};
use deskline_recipe::{Messages, Words, language, messages};

/// The largest catalogue that is read, in bytes.
const LARGEST: u64 = 16 << 20;

impl Play<'_> {
    /// When learning, notes the catalogues of the recipe's app. Otherwise translates the screen's
    /// texts into the recipe's, if the app is in another language.
    pub(super) fn understand(&mut self, pid: u32, screen: &mut Screen) {
        let files = self.dispatcher.catalogues(pid);
        if self.how.learns {
            if self.pids.get("").is_none_or(|main| *main == pid) {
                self.played.recipe.catalogues = files;
            }
        } else if self.heard != (pid, files.clone()) {
            let recipe = &self.recipe;
            let other = language(&files) != language(&recipe.catalogues);
            let words = || Words::new(recipe, &all(&recipe.catalogues), &all(&files));
            self.words = other.then(words);
            self.heard = (pid, files);
        }
        let mut words = self.words.iter();
        self.translates |= words.any(|words| words.translate(screen));
    }
}

fn all(files: &[PathBuf]) -> Messages {
    // Reading a FIFO would wait for a writer.
    let fits = |about: Metadata| about.is_file() && about.len() < LARGEST;
    let is_one = |file: &&PathBuf| file.metadata().is_ok_and(fits);
    let read = |file| messages(&fs::read(file).unwrap_or_default());
    files.iter().filter(is_one).flat_map(read).collect()
}
