//! The nearest valid name, for "did you mean" in errors.

/// The maximum number of characters of a name to compare.
const LIMIT: usize = 64;

/// The candidate with the fewest edits from `word`, ignoring case; the first of equals. A candidate
/// that starts with `word` is nearer than any other.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = fold(word);
    candidates.into_iter().min_by_key(|candidate| {
        let candidate = fold(candidate);
        let start = word.chars().count() >= 3 && candidate.starts_with(&word);
        (!start, strsim::osa_distance(&word, &candidate))
    })
}

fn fold(word: &str) -> String {
    word.chars()
        .take(LIMIT)
        .flat_map(char::to_lowercase)
        .collect()
}
