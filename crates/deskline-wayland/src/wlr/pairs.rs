//! Matches the compositor's list of windows with the windows that apps describe. All that both the
//! compositor and the apps report is the titles and which window has the keyboard.

use deskline_contract::{AppToplevel, WindowId};

use crate::wlroots::heard::Facts;

/// A window of the compositor's list: its number there, and its state.
pub(super) type Listed<'a> = (u64, &'a Facts);

#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// Matches that are certain: compositor and app have reported the keyboard for the window at
    /// the same time. They stay when titles change, and while the app does not answer.
    sure: Vec<(u64, AppToplevel)>,
}

impl Pairs {
    /// Adds certain matches from the two lists, and drops the matches of closed windows.
    pub(super) fn learn(&mut self, listed: &[Listed<'_>], described: &[AppToplevel]) {
        self.sure
            .retain(|(number, _)| listed.iter().any(|(listed, _)| listed == number));
        for (_, known) in &mut self.sure {
            match described.iter().find(|d| d.id == known.id) {
                Some(now) => known.clone_from(now),
                None => known.active = false,
            }
        }
        let (Some(front), Some(active)) = (
            only(listed.iter().filter(|(_, facts)| facts.activated)),
            only(described.iter().filter(|d| d.active)),
        ) else {
            return;
        };
        // One of the reports may be outdated, unless the titles are equal, or both report a new
        // window of a known app.
        if is_called(&front.1.title, &active.title) || self.is_of_app(front, active, listed) {
            self.join(front.0, active);
        }
    }

    /// Whether `front` and `active` both are a new window of an app with matched windows. If a GTK
    /// 3 dialog has no title, the titles differ, because GTK still gives the compositor a title.
    fn is_of_app(&self, front: &Listed<'_>, active: &AppToplevel, listed: &[Listed<'_>]) -> bool {
        let is_other = |(n, known): &(u64, AppToplevel)| *n != front.0 && known.id != active.id;
        let is_new = self.sure.iter().all(is_other);
        let named = |number: u64| Some(&listed.iter().find(|(listed, _)| *listed == number)?.1.app);
        let of_app = |(n, _): &&(u64, AppToplevel)| named(*n) == Some(&front.1.app);
        let others = self.sure.iter().filter(of_app);
        let mut others = others.map(|(_, known)| known.pid).peekable();
        is_new && others.peek().is_some() && others.all(|pid| pid == active.pid)
    }

    /// Adds a certain match.
    pub(super) fn join(&mut self, number: u64, window: &AppToplevel) {
        self.sure
            .retain(|(n, known)| *n != number && known.id != window.id);
        self.sure.push((number, window.clone()));
    }

    /// The candidates in the compositor's list for an app's window: only one if the match is
    /// certain.
    pub(super) fn listed(
        &self,
        id: WindowId,
        listed: &[Listed<'_>],
        described: &[AppToplevel],
    ) -> Vec<u64> {
        if let Some((number, _)) = self.sure.iter().find(|(_, known)| known.id == id) {
            return vec![*number];
        }
        let Some(wanted) = described.iter().find(|d| d.id == id) else {
            return Vec::new();
        };
        let free = |l: &&Listed<'_>| self.sure.iter().all(|(number, _)| *number != l.0);
        let alike = listed
            .iter()
            .filter(free)
            .filter(|l| is_called(&l.1.title, &wanted.title));
        alike.map(|l| l.0).collect()
    }

    /// The app's window for a window of the compositor's list; `None` unless there is exactly one
    /// candidate.
    pub(super) fn described(
        &self,
        number: u64,
        listed: &[Listed<'_>],
        described: &[AppToplevel],
    ) -> Option<AppToplevel> {
        if let Some((_, known)) = self.sure.iter().find(|(known, _)| *known == number) {
            return Some(known.clone());
        }
        let title = &listed.iter().find(|(listed, _)| *listed == number)?.1.title;
        let free = |d: &&AppToplevel| self.sure.iter().all(|(_, known)| known.id != d.id);
        let free = described.iter().filter(free);
        let one = only(free.filter(|d| is_called(title, &d.title)))?;
        (self.listed(one.id, listed, described) == [number]).then(|| one.clone())
    }
}

/// Whether the compositor's title and the app's title may be of the same window. Qt appends the
/// app's name to the compositor's title only.
pub(super) fn is_called(listed: &str, described: &str) -> bool {
    match listed.strip_prefix(described) {
        Some("") => true,
        Some(rest) => !described.is_empty() && rest.starts_with(" \u{2014} "),
        None => false,
    }
}

/// The only item; `None` if there is none, or more than one.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next()?;
    items.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(id: u64, title: &str, active: bool) -> AppToplevel {
        AppToplevel {
            id: WindowId(id),
            pid: 7,
            title: title.into(),
            active,
            ..AppToplevel::default()
        }
    }

    /// A window of the app "app". It lives as long as the test.
    fn listed(number: u64, title: &str, activated: bool) -> Listed<'static> {
        let facts = Facts {
            title: title.to_owned(),
            app: "app".to_owned(),
            activated,
            ..Facts::default()
        };
        (number, Box::leak(Box::new(facts)))
    }

    #[test]
    fn a_unique_title_identifies_a_window() {
        let (all, apps) = (
            [listed(1, "Notes", false), listed(2, "foot", true)],
            [described(10, "Notes", false), described(11, "Other", false)],
        );
        let mut pairs = Pairs::default();
        pairs.learn(&all, &apps);
        let id = |found: Option<AppToplevel>| found.map(|d| d.id.0);
        assert_eq!(id(pairs.described(1, &all, &apps)), Some(10));
        assert_eq!(id(pairs.described(2, &all, &apps)), None);
        assert_eq!(pairs.listed(WindowId(10), &all, &apps), [1]);
        assert!(pairs.listed(WindowId(11), &all, &apps).is_empty());
    }

    #[test]
    fn a_title_matches_if_qt_appends_the_apps_name() {
        assert!(is_called("a.txt \u{2014} Kate", "a.txt") && is_called("", ""));
        assert!(
            !is_called("a.txt.old", "a.txt") && !is_called("x", "") && !is_called("a", "a.txt")
        );
    }

    #[test]
    fn windows_of_equal_titles_are_paired_once_one_has_had_the_keyboard() {
        let (all, apps) = (
            [listed(1, "Untitled", false), listed(2, "Untitled", true)],
            [
                described(10, "Untitled", true),
                described(11, "Untitled", false),
            ],
        );
        let mut pairs = Pairs::default();
        assert_eq!(pairs.described(2, &all, &apps), None);
        assert_eq!(pairs.listed(WindowId(10), &all, &apps), [1, 2]);
        pairs.learn(&all, &apps);
        // The match stays under another title, and the other window is the only candidate left.
        let all = [listed(1, "Untitled", true), listed(2, "Saved", false)];
        let apps = [
            described(10, "Untitled", false),
            described(11, "Untitled", false),
        ];
        pairs.learn(&all, &apps);
        assert_eq!(pairs.listed(WindowId(10), &all, &apps), [2]);
        assert_eq!(pairs.described(1, &all, &apps).map(|d| d.id.0), Some(11));
        // The match stays while the app does not answer.
        pairs.learn(&all, &apps[1..]);
        assert_eq!(
            pairs.described(2, &all, &apps[1..]).map(|d| d.id.0),
            Some(10)
        );
        pairs.learn(&all[..1], &apps);
        assert_eq!(pairs.listed(WindowId(10), &all[..1], &apps), [1]);
    }

    #[test]
    fn a_dialog_without_a_title_is_matched_by_its_app() {
        let main = [listed(1, "Main", true)];
        let apps = [described(10, "Main", true)];
        let mut pairs = Pairs::default();
        pairs.learn(&main, &apps);
        let mut both = [listed(1, "Main", false), listed(2, "app", true)];
        let now = [
            described(10, "Main", false),
            described(11, "Question", true),
        ];
        // Its app has not reported yet that the dialog has the keyboard.
        pairs.learn(&both, &apps);
        assert_eq!(pairs.described(2, &both, &apps), None);
        pairs.learn(&both, &now);
        assert_eq!(pairs.described(2, &both, &now).map(|d| d.id.0), Some(11));
        // Another app's window does not match.
        let other = Facts {
            app: "other".to_owned(),
            ..both[1].1.clone()
        };
        both[1] = (3, &other);
        pairs.learn(&both, &now);
        assert_eq!(pairs.described(3, &both, &now), None);
    }

    #[test]
    fn an_outdated_report_matches_no_other_window() {
        let all = [listed(1, "foot", true), listed(2, "Notes", false)];
        let apps = [described(10, "Notes", true)];
        let mut pairs = Pairs::default();
        pairs.learn(&all, &apps);
        assert_eq!(pairs.described(1, &all, &apps), None);
    }
}
