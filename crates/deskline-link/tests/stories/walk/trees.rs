//! The promises about trees: a diff leads from the last tree to the new one, and a ref always means
//! the same element.

use std::collections::{HashMap, HashSet};

use deskline_core::tree_reader::{FileLine, lines};
use deskline_core::{Attribute, Change, DeltaLine, Line, Ref, Role, States, Value};
use deskline_link::{Action, Call};

use super::answers::Answered;

type Elements = HashMap<Ref, Line>;

/// Changes (and whether they are late changes), elements, and whether there is a diff.
type Read = (Vec<(DeltaLine, bool)>, Elements, bool);

/// The trees that the agent has seen so far.
#[derive(Default)]
pub(super) struct Seen {
    /// The last tree of each app.
    trees: Vec<(u32, Elements)>,
    /// The apps whose trees the last answers had, newest last.
    recent: Vec<u32>,
    /// The element of each ref: its role, and the number in its text.
    meaning: HashMap<Ref, (Role, String)>,
    /// The late changes of the last answer about each app. An element that changes by itself is
    /// left out from the third answer in a row on.
    late: HashMap<Option<u32>, HashSet<Ref>>,
}

/// The server remembers the last tree of at least this number of apps.
const APPS: usize = 3;

impl Seen {
    pub(super) fn refs(&self) -> Vec<Ref> {
        let mut refs: Vec<Ref> = self.meaning.keys().copied().collect();
        refs.sort_unstable();
        refs
    }

    pub(super) fn forget_trees(&mut self) {
        self.trees.clear();
    }

    pub(super) fn learn(&mut self, call: &Call, answered: &Answered) -> Result<(), String> {
        let Some(file) = answered.file() else {
            // Without a file, only the summary shows the other app's tree.
            self.forget(answered.field("app_switch").and_then(switched_to));
            return Ok(());
        };
        let pid = answered.field("pid").and_then(|pid| pid.parse().ok());
        let mut parts = file.split("# app_switch: ");
        let own = parts.next().unwrap_or_default();
        self.learn_tree(own, pid, call, answered)?;
        for part in parts {
            let (head, tree) = part.split_once('\n').unwrap_or((part, ""));
            self.read(tree)?;
            self.forget(switched_to(head));
        }
        Ok(())
    }

    /// The next late changes of an app count from an answer that was about another app too.
    fn forget(&mut self, pid: Option<u32>) {
        self.trees.retain(|(known, _)| Some(*known) != pid);
        self.recent.retain(|known| Some(*known) != pid);
        self.recent.extend(pid);
        let old = self.recent.len().saturating_sub(APPS);
        self.recent.drain(..old);
        self.trees.retain(|(known, _)| self.recent.contains(known));
    }

    fn learn_tree(
        &mut self,
        text: &str,
        pid: Option<u32>,
        call: &Call,
        answered: &Answered,
    ) -> Result<(), String> {
        let (deltas, elements, diffed) = self.read(text)?;
        let last = self.trees.iter().position(|(known, _)| Some(*known) == pid);
        let mut late = HashSet::new();
        if let Some(at) = last {
            let (_, mut tree) = self.trees.remove(at);
            for (delta, is_late) in &deltas {
                apply(&mut tree, delta, &elements)?;
                if let (true, DeltaLine::Added(line) | DeltaLine::Modified(line, _)) =
                    (is_late, delta)
                {
                    late.extend(line.reference);
                }
            }
            let whole = !call.options.only_visible_elements;
            if whole && (diffed || call.action == Action::Refresh && !answered.is_error) {
                self.agree(pid, &tree, &elements)?;
            }
        }
        self.late.insert(pid, late);
        self.put(pid, elements, call);
        Ok(())
    }

    fn put(&mut self, pid: Option<u32>, elements: Elements, call: &Call) {
        self.forget(pid);
        if let Some(pid) = pid.filter(|_| !call.options.only_visible_elements) {
            self.trees.push((pid, elements));
        }
    }

    /// Reads the part of a file that is about one app.
    fn read(&mut self, text: &str) -> Result<Read, String> {
        let (mut deltas, mut elements, mut counts) = (Vec::new(), Elements::new(), Vec::new());
        let mut diffed = false;
        for line in lines(text) {
            match line {
                FileLine::Header(header) => {
                    diffed |= header.starts_with("diff: ");
                    if let Some(counted) = header
                        .strip_prefix("diff: ")
                        .or(header.strip_prefix("late: "))
                    {
                        counts.push(counted.to_owned());
                    }
                }
                FileLine::Element(line) => {
                    self.means(&line)?;
                    if let Some(reference) = line.reference
                        && elements.insert(reference, line).is_some()
                    {
                        return Err(format!("two elements are {reference}"));
                    }
                }
                FileLine::Late(delta) => deltas.push((delta, true)),
                FileLine::Delta(delta) => deltas.push((delta, false)),
                FileLine::Unknown(line) => return Err(format!("an unknown line: {line}")),
            }
        }
        let counted: usize = counts
            .iter()
            .flat_map(|counted| counted.split(['+', '-', '~']).skip(1))
            .filter_map(|n| {
                n.split(|c: char| !c.is_ascii_digit())
                    .next()?
                    .parse::<usize>()
                    .ok()
            })
            .sum();
        if counted != deltas.len() {
            return Err(format!("{counts:?}, but {} lines", deltas.len()));
        }
        Ok((deltas, elements, diffed))
    }

    /// A ref always means the same element. A window's title may change.
    fn means(&mut self, line: &Line) -> Result<(), String> {
        let (Some(reference), Some(text)) = (line.reference, &line.text) else {
            return Ok(());
        };
        if matches!(line.role, Role::WINDOW | Role::MENU) {
            return Ok(());
        }
        let number = text.shown.rsplit(' ').next().unwrap_or_default().to_owned();
        let meant = self
            .meaning
            .entry(reference)
            .or_insert_with(|| (line.role, number.clone()));
        if *meant == (line.role, number) {
            Ok(())
        } else {
            Err(format!("{reference} was {meant:?} and is now {line}"))
        }
    }

    /// The visible part of the tree that results from the changes equals that of the tree after
    /// them.
    fn agree(&self, pid: Option<u32>, led_to: &Elements, is: &Elements) -> Result<(), String> {
        let late = self.late.get(&pid);
        let was_late = |reference: &Ref| late.is_some_and(|late| late.contains(reference));
        for (reference, line) in is {
            if was_late(reference) || !line.visible || line.role == Role::MENU {
                continue;
            }
            let Some(known) = led_to.get(reference) else {
                return Err(format!("not in the diff: {line}"));
            };
            let states = |line: &Line| line.states & (States::CHECKED | States::SELECTED);
            // A value that equals the name is not written a second time.
            let value = |line: &Line| {
                line.value
                    .clone()
                    .filter(|value| line.text.as_ref() != Some(value))
            };
            if known.visible
                && (known.text != line.text
                    || value(known) != value(line)
                    || states(known) != states(line))
            {
                return Err(format!(
                    "the diff leads to\n{known}\nbut the tree has\n{line}"
                ));
            }
        }
        let gone = led_to.values().find(|line| {
            let here = line
                .reference
                .is_some_and(|r| is.contains_key(&r) || was_late(&r));
            line.visible && !here && line.role != Role::MENU
        });
        gone.map_or(Ok(()), |line| {
            Err(format!("still in the tree by the diff: {line}"))
        })
    }
}

/// The pid in the line about an app that came to the front.
fn switched_to(line: &str) -> Option<u32> {
    let (_, pid) = line.rsplit_once("PID: ")?;
    pid.split(')').next()?.parse().ok()
}

/// Applies a line of a diff. `now` is the tree after it.
fn apply(tree: &mut Elements, delta: &DeltaLine, now: &Elements) -> Result<(), String> {
    match delta {
        DeltaLine::Added(line) => {
            let reference = line.reference.ok_or(format!("no ref: {delta}"))?;
            tree.insert(reference, line.clone());
        }
        DeltaLine::Removed(line) => {
            let same = |known: &&Line| known.role == line.role && known.text == line.text;
            let alike = || tree.values().filter(same);
            let gone = alike().find(|known| known.reference.is_none_or(|r| !now.contains_key(&r)));
            let gone = gone
                .or_else(|| alike().next())
                .and_then(|known| known.reference);
            gone.map(|gone| tree.remove(&gone));
        }
        DeltaLine::Modified(line, changes) => {
            let reference = line.reference.ok_or(format!("no ref: {delta}"))?;
            if let Some(known) = tree.get_mut(&reference) {
                known.visible |= line.visible;
                // A value that equalled the name was not written until the name changed.
                let value = now.get(&reference).and_then(|now| now.value.clone());
                if known.value.is_none() && known.text != line.text && value == known.text {
                    known.value = value;
                }
                // The element may have been renamed while it was hidden.
                known.text.clone_from(&line.text);
                for change in changes {
                    change_of(known, change, now.get(&reference));
                }
            }
        }
    }
    Ok(())
}

fn change_of(known: &mut Line, change: &Change, now: Option<&Line>) {
    match (change.attribute, &change.new) {
        (Attribute::Checked, Value::Flag(flag)) => known.states.set(States::CHECKED, *flag),
        (Attribute::Selected, Value::Flag(flag)) => known.states.set(States::SELECTED, *flag),
        (Attribute::Value | Attribute::Title, Value::Text(new)) => {
            let is_cut = new.omitted_before + new.omitted_after > 0;
            if let Some(now) = now.filter(|_| is_cut) {
                (known.value, known.text) = (now.value.clone(), now.text.clone());
            } else if change.attribute == Attribute::Title {
                known.text = Some(new.clone());
            } else {
                known.value = Some(new.clone()).filter(|new| !new.is_blank());
            }
        }
        _ => {}
    }
}
