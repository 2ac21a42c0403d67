//! Hides rows that are no longer in view.
//!
//! GTK 4 keeps some rows beyond the visible ones, and reports them as visible too. Rows that were
//! scrolled away keep their old place, where another row gets the clicks. So if the rows of a list
//! are not in order from top to bottom, the app is asked for the element at the middle of the list.
//! Only the rows around that element count as visible.

use std::ops::Range;

use crate::bus::Result;
use crate::engine::Engine;
use crate::names::role;
use crate::strategies::stacked::subtree;

/// Marks the rows that are not in view as hidden, and forgets their places.
pub fn hide(engine: &mut Engine<'_>) -> Result {
    for list in 0..engine.nodes.len() {
        let rows = rows(engine, list);
        let tops: Vec<i32> = rows.iter().map(|(_, top)| *top).collect();
        let runs = runs(&tops);
        let Some(extents) = engine.nodes[list].extents.filter(|_| runs.len() > 1) else {
            continue;
        };
        let Some(at) = engine.in_middle(list, extents)? else {
            continue;
        };
        let holds = |row: usize| {
            let all = subtree(&engine.nodes, row);
            all.iter().any(|node| engine.nodes[*node].path == at)
        };
        let Some(middle) = rows.iter().position(|(row, _)| holds(*row)) else {
            continue;
        };
        let Some(in_view) = runs.into_iter().find(|run| run.contains(&middle)) else {
            continue;
        };
        for (place, (row, _)) in rows.iter().enumerate() {
            if !in_view.contains(&place) {
                for node in subtree(&engine.nodes, *row) {
                    engine.nodes[node].hide();
                    engine.nodes[node].extents = None;
                }
            }
        }
    }
    Ok(())
}

/// The rows of a list that have extents, with the top of each. Empty if the rows are in columns.
fn rows(engine: &Engine<'_>, list: usize) -> Vec<(usize, i32)> {
    let nodes = &engine.nodes;
    let mut rows = Vec::new();
    let mut left = None;
    for child in &nodes[list].children {
        let node = &nodes[*child];
        let is_row = node.role.is_some_and(role::is_row);
        let Some(place) = node
            .extents
            .filter(|e| node.showing && is_row && !e.is_empty())
        else {
            continue;
        };
        if *left.get_or_insert(place.x) != place.x {
            return Vec::new();
        }
        rows.push((*child, place.y));
    }
    rows
}

/// The runs of rows that lie one below the other. A row that is closer to the previous row than
/// most rows are begins a new run.
fn runs(tops: &[i32]) -> Vec<Range<usize>> {
    let mut steps: Vec<i32> = tops.windows(2).map(|pair| pair[1] - pair[0]).collect();
    steps.retain(|step| *step > 0);
    steps.sort_unstable();
    let Some(usual) = steps.get(steps.len() / 2).copied() else {
        return Vec::new();
    };
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (place, top) in tops.iter().enumerate() {
        let follows = place > 0 && top - tops[place - 1] >= usual * 3 / 4;
        match runs.last_mut().filter(|_| follows) {
            Some(run) => run.end = place + 1,
            None => runs.push(place..place + 1),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_grouped_into_runs_from_top_to_bottom() {
        let ends = |tops: &[i32]| -> Vec<usize> { runs(tops).iter().map(|run| run.end).collect() };
        assert_eq!(ends(&[10, 42, 74, 106]), [4]);
        assert_eq!(ends(&[439, 471, 503, 401, 433, 465, 481]), [3, 6, 7]);
        assert!(runs(&[]).is_empty() && runs(&[5]).is_empty());
        // The rows have different heights.
        assert_eq!(ends(&[0, 40, 100, 140]), [4]);
    }
}
