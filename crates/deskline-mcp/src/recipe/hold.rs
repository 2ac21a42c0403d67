//! After a step: waits for what must show.

use super::lint::{labels, pale};
use super::{Check, Checks, Duration, Halted, Lack, Line, Play, Screen, halt};
use deskline_core::{Point, States};
use deskline_journal::pixels;
use deskline_link::Picture;
use deskline_recipe::Learn;

/// How long to wait until a step's checks hold, in seconds, if the recipe does not say.
const WITHIN: f64 = 5.0;

const UNMET: &str = "what must show after the step does not show";

impl Play<'_> {
    /// Waits until a step's checks hold. `index` is the step's index. If it is given, the recipe's
    /// checks may be changed.
    pub(super) async fn hold(
        &mut self,
        mut checks: Checks,
        pid: u32,
        index: Option<usize>,
    ) -> Result<(), Halted> {
        if checks.is_empty() {
            return Ok(());
        }
        if let Some(index) = index.filter(|_| self.how.learns) {
            self.drop_nearly(&mut checks.shows, index, pid);
        }
        let within = checks.within.unwrap_or(WITHIN);
        if !checks.lint.is_empty() {
            // The picture of a click has a crosshair in it: take another picture.
            self.refresh(pid).await?;
        }
        let within = Duration::from_secs_f64(within);
        let held = self.until(pid, within, |play, _| play.holds(&checks, pid));
        let held = held.await;
        let is_old = |lack: &String| lack.starts_with("shows ") || lack.starts_with("absent ");
        match (held, index) {
            (Err(lacks), Some(index))
                if self.how.updates
                    && !self.translates
                    && lacks.why == UNMET
                    && lacks.expected.iter().all(is_old) =>
            {
                self.update(index, pid);
                Ok(())
            }
            (held, _) => held,
        }
    }

    /// # Errors
    /// The checks that do not hold, and the text of the first missing thing that must show.
    fn holds(&self, checks: &Checks, pid: u32) -> Result<(), Lack> {
        let (mut lacks, mut first) = (Vec::new(), None);
        let lines = self.lines(pid);
        for (name, all) in checks.each() {
            for check in all {
                let mut like = lines.iter().filter(|line| check.is(line));
                let holds = match name {
                    "shows" => like.next().is_some(),
                    "absent" => like.next().is_none(),
                    _ => like.any(|line| !line.states.contains(States::DISABLED)),
                };
                if !holds {
                    let text = check.text().filter(|_| name == "shows");
                    first = first.or_else(|| Some((text?.to_owned(), None)));
                    lacks.push(format!("{name} {}", check.written()));
                }
            }
        }
        lacks.extend(self.lints(checks, &lines));
        if lacks.is_empty() {
            return Ok(());
        }
        let mut halted = halt(UNMET);
        halted.expected = lacks;
        Err((halted, first))
    }

    /// What the controls lack of the labels and the contrast that the checks ask for.
    fn lints(&self, checks: &Checks, lines: &[&Line]) -> Vec<String> {
        let asks = |name: &str| checks.lint.iter().any(|lint| lint == name);
        let png = asks("contrast").then(|| self.read("screenshot")).flatten();
        let picture = png.as_deref().and_then(pixels).map(|(place, rgb)| Picture {
            width: place.width,
            height: place.height,
            rgb,
            origin: place.origin.unwrap_or(Point::at(0, 0)),
            scale: place.scale,
        });
        if asks("contrast") && picture.is_none() {
            return vec!["contrast was not checked: there is no screenshot".into()];
        }
        let pictures = picture.as_slice();
        let is_in =
            |inner: &&Line, line: &Line| inner.parent.is_some() && inner.parent == line.reference;
        let leaves = lines
            .iter()
            .filter(|line| !lines.iter().any(|inner| is_in(inner, line)));
        let all = lines.iter().filter(|_| asks("labels"));
        let unnamed = all.filter_map(|line| labels(line, false));
        let pale = leaves.filter_map(|line| pale(line, pictures));
        unnamed.chain(pale).collect()
    }

    /// Replaces a step's checks by checks of what the step has changed now.
    fn update(&mut self, index: usize, pid: u32) {
        let Some(mut screen) = self.screens.get(&pid).cloned() else {
            return;
        };
        screen.changed_since(&self.before);
        let mut new = Checks::default();
        Learn::default().check(&mut new, &screen);
        let name = |text: &str| self.values.unfill(text);
        new.each_mut().for_each(|check| check.map(name));
        let checks = &mut self.played.recipe.steps[index].checks;
        (checks.shows, checks.absent) = (new.shows, new.absent);
    }

    /// What shows in the app, and in another app that the last step brought to the front.
    fn lines(&self, pid: u32) -> Vec<&Line> {
        let screen = self.screens.get(&pid);
        let other = screen.and_then(|screen| screen.other.as_ref());
        let other = other.map(|(_, _, other)| &**other);
        let screens = screen.into_iter().chain(other);
        screens.flat_map(Screen::visible).collect()
    }

    /// Drops the checks that fail only because digits differ: digits change by themselves.
    fn drop_nearly(&mut self, shows: &mut Vec<Check>, index: usize, pid: u32) {
        let lines = self.lines(pid);
        let any = |is: &dyn Fn(&Line) -> bool| lines.iter().any(|line| is(line));
        let nearly = |check: &Check| !any(&|l| check.is(l)) && any(&|l| check.is_nearly(l));
        let gone: Vec<usize> = (0..shows.len()).filter(|n| nearly(&shows[*n])).collect();
        let own = &mut self.played.recipe.steps[index].checks.shows;
        for n in gone.into_iter().rev() {
            shows.remove(n);
            self.played.dropped.push(own.remove(n).written());
        }
    }
}
