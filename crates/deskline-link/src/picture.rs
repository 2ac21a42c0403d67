//! Pictures of windows: the answer's picture, its changes, and parts that the tree does not
//! describe.

mod area;
pub(crate) mod change;
mod detail;
#[cfg(test)]
mod fixture;
mod lines;
mod same;
pub(crate) mod texts;
pub(crate) mod undescribed;

use crate::checkpoint::Checkpoint;
use crate::desktop::Desktop;
use crate::display::{PictureNature, Window, WindowId};
use crate::error::{Error, Missing, Result};
use crate::report::Report;

/// A picture to take: its window, or why there is no window to picture.
pub(crate) struct Shot {
    windows: Vec<Window>,
    window: Result<WindowId>,
}

impl Shot {
    /// Chooses the window. `target` is an index in the tree before the action, or in the only tree.
    pub(crate) fn new(
        desktop: &mut dyn Desktop,
        pid: u32,
        target: Option<usize>,
        report: &Report,
    ) -> Self {
        let (windows, failed) = match desktop.windows_of(pid) {
            Ok(windows) => (windows, None),
            Err(e) => (Vec::new(), Some(e)),
        };
        let readings = &report.readings;
        let before = readings.before.as_ref().or(readings.after.as_ref());
        let before = before.filter(|_| report.handoff.is_none());
        let taken = report.handoff.as_ref();
        let tree = taken.map_or(readings.latest(), |taken| taken.tree.as_ref());
        let window = change::pictured(&windows, tree, before, target).ok_or_else(|| {
            let why = match desktop.screen() {
                Err(Missing(why)) => why,
                Ok(_) => desktop
                    .unseen(pid)
                    .unwrap_or("the app has no window on the screen")
                    .into(),
            };
            failed.unwrap_or_else(|| Error::NoPicture(why.into_owned()))
        });
        Self { windows, window }
    }

    /// Whether the person can have their window back before this picture is taken. That is so if
    /// their app was in front, the target's windows were behind and have not changed since, and no
    /// earlier picture is compared with this one. If a pop-up, a sheet or a panel has opened since,
    /// it might close when its app goes back.
    pub(crate) fn can_follow_restore(&self, desk: &mut Checkpoint<'_>, report: &Report) -> bool {
        let behind = desk
            .pictures()
            .is_ok_and(|pictures| pictures.nature() == PictureNature::SlowFromBehind);
        let before = report.readings.before.as_ref();
        let known = |w: &Window| {
            desk.was_there(w.id) || before.is_some_and(|tree| tree.window(w.id).is_some())
        };
        behind
            && desk.brings_back_another_app()
            && report.pictures.before.is_none()
            && report.handoff.is_none()
            && self.window.as_ref().is_ok_and(|id| desk.was_there(*id))
            && self.windows.iter().all(known)
    }

    /// Takes the picture. A failed picture never fails the call.
    pub(crate) fn take(self, desktop: &mut dyn Desktop, report: &mut Report) {
        let picture = self.window.and_then(|window| {
            report.pictures.window = Some(window);
            change::take(desktop, window)
        });
        if let (Some(window), Ok(picture)) = (report.pictures.window, &picture) {
            let tree = match &mut report.handoff {
                Some(taken) => taken.tree.as_mut(),
                None => report.readings.after.as_mut(),
            };
            if let Some(tree) = tree {
                tree.blind = undescribed::names(tree, window, picture);
            }
        }
        report.pictures.after = Some(picture.map_err(|e| e.to_string()));
    }
}
