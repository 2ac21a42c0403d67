//! Finds a choice by name below a combo box or a list, for `set_value`.

use std::time::{Duration, Instant};

use deskline_core::fold;

use crate::bus::{self, Message};
use crate::connection::AppConnection;
use crate::decode;
use crate::engine::LISTED;
use crate::names::{NULL, StateSet};
use crate::request::Request;

/// The time limit of a search.
pub const TIME: Duration = Duration::from_secs(2);

/// How many levels below the element are searched: the combo box, its menu or list, and the items.
/// Swing has a scroll pane and a viewport between the last two.
const DEPTH: usize = 5;

/// The batch size for containers with more than [`LISTED`] children, whose children are requested
/// by index.
const BATCH: i32 = 128;

/// A choice that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The path of the choice's parent.
    pub container: String,
    pub index: i32,
    pub path: String,
}

/// The result of a search.
#[derive(Debug, PartialEq, Eq)]
pub enum Search {
    Choice(Choice),
    /// No choice has the name.
    None,
    /// The time limit was reached after this many choices.
    Late(usize),
}

/// Searches for a choice by name, as [`fold`] compares texts, within [`TIME`].
pub fn find(app: &mut AppConnection<'_>, path: &str, name: &str) -> bus::Result<Search> {
    let end = Instant::now() + TIME;
    let wanted = fold(name);
    let mut looked = 0;
    let mut level = vec![path.to_owned()];
    for _ in 0..DEPTH {
        let mut next = Vec::new();
        let requests = level.iter().flat_map(|path| {
            [Request::State, Request::ChildCount].map(|q| (path.as_str().into(), q))
        });
        let (answers, _) = app.ask_each(requests, end)?;
        for (container, answer) in level.iter().zip(answers.chunks(2)) {
            let states = answer[0].as_ref();
            let states = states.and_then(|m| decode::states(&mut m.reader()).ok());
            // A table creates its cells on request, so tables are skipped.
            if states.is_none_or(|states| states.has(StateSet::MANAGES_DESCENDANTS)) {
                continue;
            }
            let count = answer[1].as_ref();
            let count = count.and_then(|m| m.reader().variant_i32().ok());
            let mut from = 0;
            while let Some(children) = children(app, container, count.unwrap_or(-1), from, end)? {
                let names = children.iter();
                let names = names.map(|child| (child.as_str().into(), Request::Name));
                let (names, _) = app.ask_each(names, end)?;
                for (index, (child, answer)) in (from..).zip(children.into_iter().zip(names)) {
                    let said = answer.as_ref().and_then(|m| m.reader().variant_str().ok());
                    looked += usize::from(said.is_some());
                    if said.is_some_and(|said| fold(said) == wanted) {
                        return Ok(Search::Choice(Choice {
                            container: container.clone(),
                            index,
                            path: child,
                        }));
                    }
                    next.push(child);
                }
                if Instant::now() >= end {
                    return Ok(Search::Late(looked));
                }
                from = match count {
                    Some(count) if count > LISTED => from + BATCH,
                    _ => break,
                };
            }
        }
        if Instant::now() >= end {
            return Ok(Search::Late(looked));
        }
        level = next;
    }
    Ok(Search::None)
}

/// The children from index `from` on: all of them if there are few, else one batch. `None` if
/// `from` is past the last child.
fn children(
    app: &mut AppConnection<'_>,
    path: &str,
    count: i32,
    from: i32,
    end: Instant,
) -> bus::Result<Option<Vec<String>>> {
    if count == 0 || from > 0 && from >= count {
        return Ok(None);
    }
    if count <= LISTED {
        let (mut answer, _) = app.ask_each([(path.into(), Request::Children)], end)?;
        return Ok(answer.pop().flatten().and_then(|m| decode::paths(&m)));
    }
    let places = from..(from + BATCH).min(count);
    let requests = places.map(|i| (path.into(), Request::ChildAt(i)));
    let (answers, _) = app.ask_each(requests, end)?;
    let path = |m: &Message| m.reader().object().ok().map(|(_, path)| path.to_owned());
    // A child without an answer gets the null path. So the indices of the others stay right.
    let children = answers
        .iter()
        .map(|m| m.as_ref().and_then(path).unwrap_or_else(|| NULL.to_owned()));
    Ok(Some(children.collect()))
}
