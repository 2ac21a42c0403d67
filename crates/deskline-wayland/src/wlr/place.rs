//! Finds a window's position, which no protocol reports. In full screen, the window's corner is the
//! screen's corner: this module takes [`Marks`] of the content there, and finds the marks again
//! after the window has its size back. From then on the marks suffice, as long as enough of the
//! content stays.

use deskline_contract::{AppToplevel, Cancel, DisplayError, Error, Result, WindowId, wait};
use std::time::{Duration, Instant};

use deskline_core::Point;

use super::compositor::{Effort, Place, Wlr};
use super::marks::{Found, Marks, Shot};
use crate::compositor::gone;
use crate::described::{Part, Toplevels};
use crate::wlroots::picture;
use crate::wlroots::screens::Screen;

/// How long a window may take to go to full screen, or back. On an idle machine it takes 50 ms.
const RESIZES: Duration = Duration::from_secs(2);

/// If the window's size has not changed after this time, its app does not resize it at all. Many
/// dialogs are like that.
const REFUSES: Duration = Duration::from_millis(700);

/// The time between two pictures of a window in full screen that must be the same.
const STILL: Duration = Duration::from_millis(40);

/// How long to wait until two pictures are the same. This takes half a second, and several seconds
/// on a machine with much more work than cores.
const STILL_WITHIN: Duration = Duration::from_secs(5);

/// The most windows that are remembered.
const MOST: usize = 32;

impl<T: Toplevels> Wlr<T> {
    /// The corner of a visible window, in the layout.
    ///
    /// # Errors
    ///
    /// [`Error::Display`] if the position is unknown. No input may be sent then.
    pub(super) fn corner(
        &mut self,
        (number, its): &(u64, AppToplevel),
        effort: Effort<'_>,
        cancel: &Cancel,
    ) -> Result<Point> {
        let window = its.id;
        let toplevel = self.client.heard.toplevels.numbered(*number);
        let facts = toplevel.ok_or_else(gone)?.facts.clone();
        let mut screens = self.client.screens()?;
        screens.retain(|screen| facts.outputs.contains(&screen.output));
        if facts.fullscreen {
            return self.in_full_screen(window, &screens);
        }
        let parts = self.toplevels.parts(window)?;
        let known = self.places.iter().position(|place| place.window == window);
        if let Some(known) = known {
            let shots = self.shots(&screens)?;
            let place = &mut self.places[known];
            let found = place.marks.find(&parts, &shots, Some(place.corner));
            match found {
                Found::At(corner) => {
                    place.corner = corner;
                    self.renew(window, &parts, corner, &shots);
                    return Ok(corner);
                }
                Found::Recoloured(corner) => return Ok(corner),
                Found::Nowhere | Found::Unclear => {}
            }
            tracing::debug!("the window's position is not known any more: {found:?}");
        }
        let Effort::Measure(wanted) = effort else {
            return Err(not_known("the window's position on the screen is unknown"));
        };
        if self.toplevels.open_menu(its.pid, None)?.is_some() {
            return Err(not_known(
                "a menu is open, and would close if Deskline measured the position of its window",
            ));
        }
        if self.fixed.contains(&window) {
            return Err(not_known(NO_FULL_SCREEN));
        }
        let corner = self.measure((window, *number), &screens, cancel)?;
        let mut now = Vec::new();
        let came = wait::holds(cancel, RESIZES, wait::LOOK, || {
            now = self.toplevels.parts(window)?;
            let is_back = |at: &Point| there(&now, *at) == there(&parts, *at);
            Ok(wanted.iter().all(is_back))
        })?;
        if came {
            return Ok(corner);
        }
        for at in wanted {
            tracing::debug!("{at:?}: {:?}, {:?}", there(&parts, *at), there(&now, *at));
        }
        Err(DisplayError::ContentMoved.into())
    }

    /// The corner of a window that fills its screen.
    fn in_full_screen(&mut self, window: WindowId, screens: &[Screen]) -> Result<Point> {
        let size = self.toplevels.size(window)?;
        match screens {
            [screen] if size == Some((screen.place.w, screen.place.h)) => {
                Ok(Point::at(screen.place.x, screen.place.y))
            }
            _ => Err(not_known(
                "the window is in full screen and does not fill one screen",
            )),
        }
    }

    /// Finds the window by showing it in full screen for a moment. Returns its corner.
    fn measure(
        &mut self,
        (window, number): (WindowId, u64),
        screens: &[Screen],
        cancel: &Cancel,
    ) -> Result<Point> {
        let toplevel = self.client.heard.toplevels.numbered(number);
        let handle = toplevel.ok_or_else(gone)?.handle.clone();
        let screen = screens.first();
        let screen = screen.ok_or_else(|| not_known("the window is on no screen"))?;
        let size = self.toplevels.size(window)?;
        let start = Instant::now();
        // From here on, `release_all` ends the full screen if this is interrupted.
        self.enlarged = Some((handle.clone(), number));
        handle.set_fullscreen(Some(&screen.output));
        let marks = self.marks_in_full_screen(window, number, (screen, size), cancel);
        let back = self.put_back();
        tracing::debug!("in full screen for {:?}", start.elapsed());
        let marks = marks?;
        back?;
        let has_size = |it: &mut Self| Ok(it.toplevels.size(window)? == size);
        if !self.wait_for(has_size, cancel)? {
            return Err(not_known("the window did not get its size back"));
        }
        let found = wait::until(cancel, RESIZES, wait::LOOK, || {
            let parts = self.toplevels.parts(window)?;
            let shots = self.shots(screens)?;
            let mut moved = marks.clone();
            // A window of the screen's size does not move for full screen.
            if size != Some((screen.place.w, screen.place.h)) {
                moved.drop_unmoved(&shots);
            }
            Ok(match moved.find(&parts, &shots, None) {
                Found::At(corner) => Some((corner, moved, parts, shots)),
                _ => None,
            })
        })?;
        let Some((corner, marks, parts, shots)) = found else {
            return Err(not_known(
                "the window shows too few distinct elements to be found on the screen",
            ));
        };
        self.places.retain(|place| place.window != window);
        self.places.truncate(MOST - 1);
        let place = Place {
            window,
            corner,
            marks,
        };
        self.places.insert(0, place);
        self.renew(window, &parts, corner, &shots);
        Ok(corner)
    }

    /// The window's marks, once the window is in full screen and its picture stays the same.
    fn marks_in_full_screen(
        &mut self,
        window: WindowId,
        number: u64,
        (screen, size): (&Screen, Option<(i32, i32)>),
        cancel: &Cancel,
    ) -> Result<Marks> {
        let start = Instant::now();
        let (wanted, mut refused) = (Some((screen.place.w, screen.place.h)), false);
        let came = |it: &mut Self| {
            it.client.roundtrip()?;
            let toplevel = it.client.heard.toplevels.numbered(number);
            let full = toplevel.is_some_and(|t| t.facts.fullscreen);
            let now = it.toplevels.size(window)?;
            refused = now == size && now != wanted && start.elapsed() > REFUSES;
            Ok(full && now == wanted || refused)
        };
        if !self.wait_for(came, cancel)? || refused {
            self.fixed.insert(0, window);
            self.fixed.truncate(MOST);
            return Err(not_known(NO_FULL_SCREEN));
        }
        let corner = Point::at(screen.place.x, screen.place.y);
        // The last picture's marks; and the marks that have stayed the same, with the number of
        // times.
        let mut last: Option<Marks> = None;
        let mut still: Option<(Marks, u32)> = None;
        let marks = wait::until(cancel, STILL_WITHIN, STILL, || {
            // An app may draw its elements later than it reports them, but not several reports
            // later.
            let parts = self.toplevels.parts(window)?;
            let shot = self.shot(screen)?;
            let marks = Marks::take(&parts, corner, &shot);
            let same = last.as_ref().map(|last| marks.same_as(last));
            // Some elements, such as a clock, may change.
            let same = same.filter(|same| same.suffice() && 4 * same.len() >= 3 * marks.len());
            still = same.map(|same| match still.take() {
                Some((all, times)) => (all.same_as(&same), times + 1),
                None => (same, 1),
            });
            last = Some(marks);
            let (marks, times) = still.as_ref().map_or((None, 0), |(all, n)| (Some(all), *n));
            Ok(marks.filter(|_| times > 1).cloned())
        })?;
        marks.ok_or_else(|| {
            not_known(
                "the window's contents change too often to find its position, or show too few \
                distinct elements",
            )
        })
    }

    /// Takes a window that is being measured out of full screen, and waits until that is done.
    pub(super) fn put_back(&mut self) -> Result<()> {
        let Some((handle, number)) = self.enlarged.take() else {
            return Ok(());
        };
        handle.unset_fullscreen();
        self.client.wait(|heard| {
            let toplevel = heard.toplevels.numbered(number);
            toplevel.is_none_or(|toplevel| !toplevel.facts.fullscreen)
        })
    }

    /// Waits until `done` returns `true`, at most for [`RESIZES`]. Returns whether it did.
    fn wait_for(
        &mut self,
        mut done: impl FnMut(&mut Self) -> Result<bool>,
        cancel: &Cancel,
    ) -> Result<bool> {
        wait::holds(cancel, RESIZES, wait::LOOK, || done(self))
    }

    fn renew(&mut self, window: WindowId, parts: &[Part], corner: Point, shots: &[Shot]) {
        let on = shots.iter().max_by_key(|shot| {
            let of = |part: &&Part| {
                let at = part.place.center();
                let at = Point::at(corner.x.saturating_add(at.x), corner.y.saturating_add(at.y));
                shot.place.contains(at)
            };
            parts.iter().filter(of).count()
        });
        let place = self.places.iter_mut().find(|place| place.window == window);
        if let (Some(shot), Some(place)) = (on, place) {
            place.marks.renew(parts, corner, shot);
        }
    }

    fn shot(&mut self, screen: &Screen) -> Result<Shot> {
        let (output, place) = (&screen.output, screen.place);
        let picture = picture::take(&mut self.client, output, place, place)?;
        let (width, height) = (picture.width, picture.height);
        Ok(Shot::new(place, width, height, &picture.rgb))
    }

    /// Pictures of all screens.
    fn shots(&mut self, screens: &[Screen]) -> Result<Vec<Shot>> {
        screens.iter().map(|screen| self.shot(screen)).collect()
    }
}

/// The elements at a point of the window.
fn there(parts: &[Part], at: Point) -> Vec<&Part> {
    let mut there: Vec<&Part> = parts
        .iter()
        .filter(|part| part.place.contains(at))
        .collect();
    there.sort_unstable_by_key(|part| part.id.as_str());
    there
}

const NO_FULL_SCREEN: &str =
    "the window cannot be shown in full screen, which Deskline needs to find its position";

fn not_known(why: &'static str) -> Error {
    DisplayError::PlaceUnknown(why).into()
}
