//! The nearest valid name, for "did you mean" in errors.

/// Compare at most this many characters of a name.
const LIMIT: usize = 64;

/// The candidate with the fewest edits from `word`, ignoring case; the first of equals. A candidate
/// that starts with `word` is nearer than any other.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = fold(word);
    candidates.into_iter().min_by_key(|candidate| {
        let candidate = fold(candidate);
        let start = word.len() >= 3 && candidate.starts_with(&word);
        (!start, distance(&word, &candidate))
    })
}

fn fold(word: &str) -> Vec<char> {
    word.chars()
        .take(LIMIT)
        .flat_map(char::to_lowercase)
        .collect()
}

/// Insertions, deletions, substitutions and swaps of neighbours from `a` to `b` (optimal string
/// alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut two_up = vec![0; b.len() + 1];
    let mut up = (0..=b.len()).collect::<Vec<_>>();
    for (i, x) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i + 1);
        for (j, y) in b.iter().enumerate() {
            let mut cost = (up[j] + usize::from(x != y))
                .min(up[j + 1] + 1)
                .min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                cost = cost.min(two_up[j - 1] + 1);
            }
            row.push(cost);
        }
        two_up = std::mem::replace(&mut up, row);
    }
    up[b.len()]
}
