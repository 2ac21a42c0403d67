//! Pairs each accessible toplevel (a frame) with its window, because AT-SPI does not report which
//! belongs to which.
//!
//! Rules are applied from the strictest to the loosest. A rule pairs a frame and a window if each
//! is the only match of the other. Some windows are alike, such as two maximised ones with the same
//! title. Of their frames, the one with the ACTIVE state belongs to the front window, and this pair
//! is remembered. If none of the alike windows is in front, each of their frames gets all of them
//! as possible windows.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use deskline_core::WindowId;

use super::scale::Map;
use super::windows::{Toplevel, Windows};
use crate::engine::Node;
use crate::names::StateSet;
use crate::toolkits::Toolkit;

/// The possible windows of a frame, and how the frame maps to the screen.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Pair {
    /// Indices of the possible windows, likeliest first: a single one if the window is known, and
    /// an empty list if no window fits.
    pub windows: Vec<usize>,
    /// Maps the toolkit's coordinates to the screen's, through the likeliest window.
    pub map: Option<Map>,
}

/// What earlier readings have taught, by the paths of the frames.
#[derive(Debug, Default)]
pub(crate) struct Learnt {
    /// The windows that were found by ACTIVE. A frame keeps its window while another app is in
    /// front.
    by_active: HashMap<String, Lesson>,
    /// The frames' windows at the last reading that could pair them without ACTIVE. An app changes
    /// a title at another time than its compositor. In between, the frame matches no window, and
    /// keeps the one that it had.
    last: HashMap<String, WindowId>,
}

#[derive(Debug)]
struct Lesson {
    window: WindowId,
    since: Instant,
    sure: bool,
}

/// An app sets ACTIVE a moment after the window manager has activated the window. So a pair counts
/// only if two readings agree on it that are at least this far apart.
const SURE: Duration = Duration::from_millis(100);

impl Learnt {
    fn window(&self, path: &str) -> Option<WindowId> {
        let lesson = self.by_active.get(path).filter(|lesson| lesson.sure)?;
        Some(lesson.window)
    }

    fn learn(&mut self, path: &str, window: WindowId) {
        let lesson = self.by_active.entry(path.to_owned());
        let lesson = lesson.or_insert_with(|| Lesson {
            window,
            since: Instant::now(),
            sure: false,
        });
        if lesson.window != window {
            (lesson.window, lesson.since, lesson.sure) = (window, Instant::now(), false);
        }
        lesson.sure |= lesson.since.elapsed() >= SURE;
    }

    fn forget_gone(&mut self, frames: &[&Node], toplevels: &[Toplevel]) {
        self.by_active.retain(|path, lesson| {
            frames.iter().any(|f| *f.path == **path)
                && toplevels.iter().any(|t| t.id == lesson.window)
        });
    }
}

/// Pairs an app's frames with its windows. The result has one [`Pair`] per frame.
pub fn pair(
    toolkit: Toolkit,
    frames: &[&Node],
    windows: &Windows,
    learnt: &mut Learnt,
) -> Vec<Pair> {
    learnt.forget_gone(frames, &windows.toplevels);
    let mut table = Table::new(toolkit, frames, windows);
    table.take_named();
    table.take_known(|path| learnt.window(path));
    let mut sure = true;
    for rule in RULES {
        let by_active = table.apply(rule);
        sure &= by_active.is_empty();
        for (frame, window) in by_active {
            learnt.learn(&frames[frame].path, windows.toplevels[window].id);
        }
    }
    let lost = table
        .free_frames()
        .filter(|f| table.candidates(*f).is_empty());
    let lost: Vec<&str> = lost.map(|f| &*frames[f].path).collect();
    table.take_known(|path| {
        let known = learnt.last.get(path).copied();
        known.filter(|_| lost.contains(&path))
    });
    if sure {
        let paired = frames.iter().zip(&table.paired);
        let id = |window: usize| windows.toplevels[window].id;
        let pairs = paired.filter_map(|(frame, at)| Some((frame.path.to_string(), id((*at)?))));
        learnt.last = pairs.collect();
    }
    table.take_last();
    (0..frames.len()).map(|frame| table.result(frame)).collect()
}

/// The attributes in which a frame and its window must agree.
#[derive(Debug, Clone, Copy)]
struct Rule {
    title: bool,
    size: bool,
    place: bool,
}

const RULES: [Rule; 5] = {
    const fn rule(title: bool, size: bool, place: bool) -> Rule {
        Rule { title, size, place }
    }
    [
        rule(true, true, true),
        rule(true, true, false),
        rule(true, false, false),
        rule(false, true, true),
        rule(false, true, false),
    ]
};

struct Table<'t> {
    toolkit: Toolkit,
    frames: &'t [&'t Node],
    windows: &'t Windows,
    /// For each frame and each window, how the frame maps to the window; `None` if the two do not
    /// fit.
    fits: Vec<Vec<Option<Map>>>,
    paired: Vec<Option<usize>>,
}

impl<'t> Table<'t> {
    fn new(toolkit: Toolkit, frames: &'t [&'t Node], windows: &'t Windows) -> Self {
        let fit = |frame: &&Node| -> Vec<Option<Map>> {
            let toplevels = windows.toplevels.iter();
            toplevels
                .map(|t| toolkit.fit(frame.extents.filter(|e| !e.is_empty())?, t))
                .collect()
        };
        Self {
            toolkit,
            frames,
            windows,
            fits: frames.iter().map(fit).collect(),
            paired: vec![None; frames.len()],
        }
    }

    /// Pairs the windows that name their frame ([`Toplevel::frame`]).
    fn take_named(&mut self) {
        for (i, frame) in self.frames.iter().enumerate() {
            let mut toplevels = self.windows.toplevels.iter();
            self.paired[i] = toplevels.position(|t| t.frame.as_deref() == Some(&*frame.path));
        }
    }

    fn take_known(&mut self, window_of: impl Fn(&str) -> Option<WindowId>) {
        for frame in self.free_frames().collect::<Vec<_>>() {
            let known = window_of(&self.frames[frame].path);
            let toplevels = &self.windows.toplevels;
            let window = self
                .free_windows()
                .find(|w| Some(toplevels[*w].id) == known);
            self.paired[frame] = window;
        }
    }

    fn free_frames(&self) -> impl Iterator<Item = usize> {
        (0..self.frames.len()).filter(|f| self.paired[*f].is_none())
    }

    fn free_windows(&self) -> impl Iterator<Item = usize> {
        (0..self.windows.toplevels.len()).filter(|w| !self.paired.contains(&Some(*w)))
    }

    fn agrees(&self, rule: Rule, frame: usize, window: usize) -> bool {
        // In Qt 5 a minimised window has no title.
        let title = &self.frames[frame].name;
        let fit = self.fits[frame][window];
        let same_title = !title.is_empty() && *title == self.windows.toplevels[window].title;
        // GTK 4 does not report positions.
        let same_place = self.toolkit == Toolkit::Gtk4 || fit.is_some_and(|map| map.agrees());
        (!rule.title || same_title) && (!rule.size || fit.is_some()) && (!rule.place || same_place)
    }

    /// Makes the pairs that this rule decides. Returns the pairs that ACTIVE decided.
    fn apply(&mut self, rule: Rule) -> Vec<(usize, usize)> {
        let mut by_active = Vec::new();
        loop {
            let mut changed = false;
            for (frames, windows) in self.groups(rule) {
                let (frame, window) = match (frames.as_slice(), windows.as_slice()) {
                    ([frame], [window]) => (*frame, *window),
                    _ => match self.active(&frames, &windows) {
                        Some(pair) => {
                            by_active.push(pair);
                            pair
                        }
                        None => continue,
                    },
                };
                self.paired[frame] = Some(window);
                changed = true;
            }
            if !changed {
                return by_active;
            }
        }
    }

    /// Groups the unpaired frames and windows that match by this rule, directly or through others
    /// in the same group.
    fn groups(&self, rule: Rule) -> Vec<(Vec<usize>, Vec<usize>)> {
        let mut groups: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
        for frame in self.free_frames() {
            let windows: Vec<usize> = self
                .free_windows()
                .filter(|w| self.agrees(rule, frame, *w))
                .collect();
            if windows.is_empty() {
                continue;
            }
            let joined = |group: &(Vec<usize>, Vec<usize>)| {
                group.1.iter().any(|window| windows.contains(window))
            };
            let (joined, apart): (Vec<_>, Vec<_>) = groups.into_iter().partition(joined);
            groups = apart;
            let mut whole = (vec![frame], windows);
            for (frames, windows) in joined {
                whole.0.extend(frames);
                whole.1.extend(windows);
            }
            whole.1.sort_unstable();
            whole.1.dedup();
            groups.push(whole);
        }
        groups
    }

    /// The frame with the ACTIVE state and the front window, if both are in this group.
    fn active(&self, frames: &[usize], windows: &[usize]) -> Option<(usize, usize)> {
        let toplevels = &self.windows.toplevels;
        let front = *windows
            .iter()
            .find(|w| self.windows.front == Some(toplevels[**w].id))?;
        if frames.len() > windows.len() {
            // One of the frames has no window yet, and may be the active one.
            return None;
        }
        let mut active = frames
            .iter()
            .filter(|f| self.frames[**f].states.has(StateSet::ACTIVE));
        match (active.next(), active.next()) {
            (Some(frame), None) => Some((*frame, front)),
            _ => None,
        }
    }

    /// Pairs the last frame and the last window if exactly one of each is left.
    fn take_last(&mut self) {
        let (frames, windows): (Vec<_>, Vec<_>) =
            (self.free_frames().collect(), self.free_windows().collect());
        if let ([frame], [window]) = (frames.as_slice(), windows.as_slice()) {
            self.paired[*frame] = Some(*window);
        }
    }

    fn result(&self, frame: usize) -> Pair {
        let windows = match self.paired[frame] {
            Some(window) => vec![window],
            None => self.candidates(frame),
        };
        let map = windows.first().and_then(|window| {
            let extents = self.frames[frame].extents?;
            let toplevel = &self.windows.toplevels[*window];
            self.fits[frame][*window].or_else(|| self.toolkit.guess(extents, toplevel))
        });
        Pair { windows, map }
    }

    /// The possible windows of an unpaired frame, likeliest first. Toolkits (GTK 3, GTK 4, Qt 5, Qt
    /// 6) create their windows in the order of their frames. So the likeliest window is at the same
    /// position in the group as the frame.
    fn candidates(&self, frame: usize) -> Vec<usize> {
        for rule in RULES {
            let groups = self.groups(rule);
            let Some((mut frames, mut windows)) = groups
                .into_iter()
                .find(|(frames, _)| frames.contains(&frame))
            else {
                continue;
            };
            frames.sort_unstable();
            windows.sort_unstable_by_key(|w| self.windows.toplevels[*w].id);
            let place = frames.iter().position(|f| *f == frame).unwrap_or(0);
            let place = place % windows.len().max(1);
            windows.rotate_left(place);
            return windows;
        }
        Vec::new()
    }
}

#[cfg(test)]
mod tests;
