//! After a step: waits for what must show.

use super::lint::{labels, pale};
use super::{Check, Duration, Halted, Line, Patience, Play, Screen, Step, halt};
use deskline_core::{Point, States};
use deskline_journal::pixels;
use deskline_link::Picture;
use deskline_recipe::{Checks, Learn, Wanted};

/// How long to wait until a step's checks hold, in seconds, if the recipe does not say.
const WITHIN: f64 = 5.0;

impl Play<'_> {
    /// Waits until the step's checks hold. `index` is the step's index. If it is given, the step's
    /// checks may be changed.
    pub(super) async fn hold(
        &mut self,
        step: &Step,
        pid: u32,
        index: Option<usize>,
    ) -> Result<(), Halted> {
        if step.checks.is_empty() {
            return Ok(());
        }
        if let Some(index) = index.filter(|_| self.how.learns) {
            self.drop_nearly(index, pid);
        }
        let own = index.map(|index| &self.played.recipe.steps[index]);
        let step = own.unwrap_or(step).clone();
        let within = step.checks.within.unwrap_or(WITHIN);
        let mut patience = Patience::lasting(Duration::from_secs_f64(within));
        if !step.checks.lint.is_empty() {
            // The picture of a click has a crosshair in it: take another picture.
            self.refresh(pid).await?;
        }
        loop {
            let (lacks, first) = self.lacks(&step, pid)?;
            if lacks.is_empty() {
                return Ok(());
            }
            if self.dialog(pid, &mut patience).await? {
                continue;
            }
            let is_old = |lack: &String| lack.starts_with("shows ") || lack.starts_with("absent ");
            let updates = self.how.updates && !self.translates;
            let old = updates && patience.is_over() && lacks.iter().all(is_old);
            if let Some(index) = index.filter(|_| old) {
                self.update(index, pid);
                return Ok(());
            }
            let mut halted = halt("what must show after the step does not show");
            if !patience.is_over() {
                let waited = self.wait(pid, first.as_deref(), None, patience.end).await;
                let Err(error) = waited else { continue };
                // The app may have ended, as the checks ask.
                if self.lacks(&step, pid)?.0.is_empty() {
                    return Ok(());
                }
                halted = error;
            }
            halted.expected = lacks;
            return Err(halted);
        }
    }

    /// The checks that do not hold, and the text of the first missing thing that must show.
    fn lacks(&self, step: &Step, pid: u32) -> Result<(Vec<String>, Option<String>), Halted> {
        let (mut lacks, mut first) = (Vec::new(), None);
        let lines = self.lines(pid);
        for (name, checks) in step.checks.each() {
            for check in checks {
                let wanted = check.fill(self.values).map_err(halt)?;
                let mut like = lines.iter().filter(|line| wanted.is(line));
                let holds = match name {
                    "shows" => like.next().is_some(),
                    "absent" => like.next().is_none(),
                    _ => like.any(|line| !line.states.contains(States::DISABLED)),
                };
                if !holds {
                    let text = wanted.text().filter(|_| name == "shows");
                    first = first.or_else(|| text.map(str::to_owned));
                    lacks.push(format!("{name} {}", wanted.shown()));
                }
            }
        }
        lacks.extend(self.lints(&step.checks, &lines));
        Ok((lacks, first))
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
        let checks = &mut self.played.recipe.steps[index].checks;
        (checks.shows, checks.absent) = (Vec::new(), Vec::new());
        Learn::default().check(checks, &screen);
        let name = |text: &str| self.values.name_in(text);
        checks.each_mut().for_each(|check| check.map(name));
        self.played.updated.push(index);
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
    fn drop_nearly(&mut self, index: usize, pid: u32) {
        let lines = self.lines(pid);
        let nearly = |wanted: &Wanted| {
            let is = |is: &dyn Fn(&Line) -> bool| lines.iter().any(|line| is(line));
            !is(&|line| wanted.is(line)) && is(&|line| wanted.is_nearly(line))
        };
        let is = |check: &&Check| check.fill(self.values).is_ok_and(|wanted| nearly(&wanted));
        let shows = &self.played.recipe.steps[index].checks.shows;
        let gone: Vec<Check> = shows.iter().filter(is).cloned().collect();
        let played = &mut self.played;
        played.dropped.extend(gone.iter().map(Check::written));
        let shows = &mut played.recipe.steps[index].checks.shows;
        shows.retain(|check| !gone.contains(check));
    }
}
