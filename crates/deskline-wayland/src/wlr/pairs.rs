//! Which window of the compositor's list each of the windows is that apps describe. The compositor
//! reports title and state, an app title and whether it has the keyboard: nothing else joins them.

use deskline_link::WindowId;

use crate::described::AppToplevel;

/// A window of the compositor's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Listed<'a> {
    pub(super) number: u64,
    pub(super) title: &'a str,
    /// The app's name for itself.
    pub(super) app: &'a str,
    pub(super) activated: bool,
}

/// Both lists.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// Those that both sides have reported to have the keyboard at the same time: they stay
    /// together whatever they are called later, and while the app does not answer.
    sure: Vec<(u64, AppToplevel)>,
}

impl Pairs {
    /// Notes what can be learnt of the two lists, and forgets the windows that are gone.
    pub(super) fn learn(&mut self, listed: &[Listed<'_>], described: &[AppToplevel]) {
        self.sure
            .retain(|(number, _)| listed.iter().any(|l| l.number == *number));
        for (_, known) in &mut self.sure {
            match described.iter().find(|d| d.id == known.id) {
                Some(now) => known.clone_from(now),
                None => known.active = false,
            }
        }
        let (Some(front), Some(active)) = (
            only(listed.iter().filter(|l| l.activated)),
            only(described.iter().filter(|d| d.active)),
        ) else {
            return;
        };
        // Either may be late: an equal title rules that out, and so does an app that is known, if
        // its window with the keyboard is not the one that had it before.
        if is_called(front.title, &active.title) || self.is_of_app(front, active, listed) {
            self.join(front.number, active);
        }
    }

    /// Whether both are a window of one app that has others, and neither is one of those. GTK 3
    /// gives the compositor another title for dialogs that have none.
    fn is_of_app(&self, front: &Listed<'_>, active: &AppToplevel, listed: &[Listed<'_>]) -> bool {
        let is_new = self
            .sure
            .iter()
            .all(|(number, known)| *number != front.number && known.id != active.id);
        let named = |number: u64| listed.iter().find(|l| l.number == number).map(|l| l.app);
        let mut others = self
            .sure
            .iter()
            .filter(|(number, _)| named(*number) == Some(front.app))
            .map(|(_, known)| known.pid)
            .peekable();
        is_new && others.peek().is_some() && others.all(|pid| pid == active.pid)
    }

    /// Notes that these are one window.
    pub(super) fn join(&mut self, number: u64, window: &AppToplevel) {
        self.sure
            .retain(|(n, known)| *n != number && known.id != window.id);
        self.sure.push((number, window.clone()));
    }

    /// The windows of the list that this one may be: one if it is known.
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
        let free = |l: &&Listed<'_>| self.sure.iter().all(|(number, _)| *number != l.number);
        let alike = listed
            .iter()
            .filter(free)
            .filter(|l| is_called(l.title, &wanted.title));
        alike.map(|l| l.number).collect()
    }

    /// The window of an app that this one of the list is; `None` where several may be it, or none.
    pub(super) fn described(
        &self,
        number: u64,
        listed: &[Listed<'_>],
        described: &[AppToplevel],
    ) -> Option<AppToplevel> {
        if let Some((_, known)) = self.sure.iter().find(|(known, _)| *known == number) {
            return Some(known.clone());
        }
        let title = listed.iter().find(|l| l.number == number)?.title;
        let free = |d: &&AppToplevel| self.sure.iter().all(|(_, known)| known.id != d.id);
        let one = only(
            described
                .iter()
                .filter(free)
                .filter(|d| is_called(title, &d.title)),
        )?;
        (self.listed(one.id, listed, described) == [number]).then(|| one.clone())
    }
}

/// Whether a window with this title in the compositor's list may be called so by its app. Qt
/// appends the app's name in what it gives the compositor alone.
pub(super) fn is_called(listed: &str, described: &str) -> bool {
    match listed.strip_prefix(described) {
        Some("") => true,
        Some(rest) => !described.is_empty() && rest.starts_with(" \u{2014} "),
        None => false,
    }
}

/// The item, if there is only one.
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
            silent: false,
            shell: false,
        }
    }

    fn listed(number: u64, title: &str, activated: bool) -> Listed<'_> {
        Listed {
            number,
            title,
            app: "app",
            activated,
        }
    }

    #[test]
    fn a_title_of_its_own_tells_a_window() {
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
    fn qt_appends_the_apps_name() {
        assert!(is_called("a.txt \u{2014} Kate", "a.txt") && is_called("", ""));
        assert!(
            !is_called("a.txt.old", "a.txt") && !is_called("x", "") && !is_called("a", "a.txt")
        );
    }

    #[test]
    fn twins_are_told_apart_once_one_has_had_the_keyboard() {
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
        // It stays the same window under another title, and the other is the one that is left.
        let all = [listed(1, "Untitled", true), listed(2, "Saved", false)];
        let apps = [
            described(10, "Untitled", false),
            described(11, "Untitled", false),
        ];
        pairs.learn(&all, &apps);
        assert_eq!(pairs.listed(WindowId(10), &all, &apps), [2]);
        assert_eq!(pairs.described(1, &all, &apps).map(|d| d.id.0), Some(11));
        // An app that does not answer is not listed by it, and is the same all the while.
        pairs.learn(&all, &apps[1..]);
        assert_eq!(
            pairs.described(2, &all, &apps[1..]).map(|d| d.id.0),
            Some(10)
        );
        pairs.learn(&all[..1], &apps);
        assert_eq!(pairs.listed(WindowId(10), &all[..1], &apps), [1]);
    }

    #[test]
    fn a_dialog_without_a_title_is_known_by_its_app() {
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
        // Another app's window is none of it.
        both[1] = Listed {
            number: 3,
            app: "other",
            ..both[1]
        };
        pairs.learn(&both, &now);
        assert_eq!(pairs.described(3, &both, &now), None);
    }

    #[test]
    fn a_window_that_is_late_is_not_taken_for_another() {
        let all = [listed(1, "foot", true), listed(2, "Notes", false)];
        let apps = [described(10, "Notes", true)];
        let mut pairs = Pairs::default();
        pairs.learn(&all, &apps);
        assert_eq!(pairs.described(1, &all, &apps), None);
    }
}
