//! Before a step: waits for its target, the dialog and the focus.

use super::{
    BETWEEN, Halted, Instant, Line, PATIENCE, Patience, Play, Screen, Step, Target, Way, halt,
    json, plain, shape, tool_of, tools,
};
use deskline_recipe::{Found, Missing, find, find_part};

impl Play<'_> {
    /// Waits until the dialog and the focus are as the step needs them, and its target is there. An
    /// app may be slow: another element is accepted only after waiting in vain for an element with
    /// the target's role and text.
    pub(super) async fn aim(
        &mut self,
        step: &Step,
        target: Option<&Target>,
        pid: u32,
    ) -> Result<Option<(Line, Way)>, Halted> {
        let target = target.map(|target| target.fill(self.values));
        let target = target.transpose().map_err(halt)?;
        let mut patience = Patience::lasting(PATIENCE);
        loop {
            let over = patience.is_over();
            let screen = self.screen(pid)?;
            let wrong = self.elsewhere(step, screen);
            let found = target.as_ref().map(|target| self.find(target, screen));
            match (&found, &target, &wrong) {
                (Some(Ok((line, way))), Some(target), None) => {
                    let is_it = matches!(way, Way::Same | Way::Moved);
                    if is_it || over || self.how.learns && *way != Way::Place {
                        self.confirm(target, line, *way)?;
                        return Ok(Some((line.clone(), *way)));
                    }
                }
                (None, _, None) => return Ok(None),
                (found, target, wrong) if over => {
                    let why = found.as_ref().and_then(|found| found.as_ref().err());
                    let missing = target.as_ref().map(|target| missing(target, why, screen));
                    return Err(halt(wrong.clone().or(missing).unwrap_or_default()));
                }
                _ => {}
            }
            if self.dialog(pid, &mut patience).await? {
                continue;
            }
            let lacks = wrong.is_none() && matches!(found, Some(Err(_)));
            let wanted = target.as_ref().filter(|_| lacks);
            let role = wanted.and_then(|target| target.role.as_deref());
            let wanted = wanted.and_then(|target| target.element.as_deref());
            self.wait(pid, wanted, role, patience.end).await?;
        }
    }

    fn find(&self, target: &Target, screen: &Screen) -> Result<(Line, Way), Missing> {
        let found = find(target, &screen.lines).or_else(|why| {
            let part = find_part(target, &screen.lines).filter(|_| self.how.learns);
            let way = Way::Label;
            part.map(|index| Found { index, way }).ok_or(why)
        });
        found.map(|Found { index, way }| (screen.lines[index].clone(), way))
    }

    /// Accepts an element that may do something else than the target only if the person named it.
    fn confirm(&self, target: &Target, line: &Line, way: Way) -> Result<(), Halted> {
        let text = line.text.as_ref().map_or("", |text| text.shown.as_str());
        let is_named = !text.is_empty() && self.how.heal.iter().any(|named| named == text);
        if matches!(way, Way::Same | Way::Moved | Way::Label) || self.how.learns || is_named {
            return Ok(());
        }
        if text.is_empty() {
            return Err(halt(format!("{} is not there", shown(target))));
        }
        let target = shown(target);
        let why = match way {
            Way::Place => format!("{target} is not there. {} is in its place", plain(line)),
            _ => format!("{target} is there, but nothing that was next to it"),
        };
        let named = deskline_core::escape::quoted(text, 60);
        let advice = format!("If it does the same, pass --heal={named}");
        Err(halt(format!("{why}. {advice}")))
    }

    /// Why a step would act on something else than meant: another dialog is in front, or another
    /// element has the focus. `None` if there is no such reason.
    fn elsewhere(&self, step: &Step, screen: &Screen) -> Option<String> {
        if self.how.learns || self.how.literal || !tools::acts(&tool_of(step)) {
            return None;
        }
        let dialog = step.dialog.as_deref().map(|text| self.values.fill(text));
        let dialog = dialog.and_then(Result::ok).map(|filled| filled.text);
        match (&dialog, &screen.dialog) {
            (Some(wanted), Some(is)) if shape(wanted) == shape(is) => {}
            (None, None) => {}
            (None, Some(is)) => return Some(format!("a dialog is in front: {is:?}")),
            (Some(wanted), is) => {
                let is = is.as_ref().map_or("none".into(), |is| format!("{is:?}"));
                let why = format!("the dialog {wanted:?} must be in front, but {is} is in front");
                return Some(why);
            }
        }
        let focus = step.focus.as_ref()?.fill(self.values).ok()?;
        if screen.focused().any(|line| focus.is(line)) {
            return None;
        }
        let is = screen.focused().next().map_or("nothing".into(), plain);
        let focus = focus.shown();
        Some(format!(
            "{focus} must have the focus, but {is} has the focus"
        ))
    }

    /// Answers one of the recipe's dialogs, if one is there. Returns whether a dialog was answered.
    pub(super) async fn dialog(
        &mut self,
        pid: u32,
        patience: &mut Patience,
    ) -> Result<bool, Halted> {
        if patience.dialogs == 0 {
            return Ok(false);
        }
        for step in self.played.recipe.dialogs.clone() {
            let Some(screen) = self.screens.get(&pid) else {
                return Ok(false);
            };
            let shows = step.checks.shows.iter().all(|check| {
                let wanted = check.fill(self.values);
                wanted.is_ok_and(|wanted| screen.visible().any(|line| wanted.is(line)))
            });
            if !shows {
                continue;
            }
            let target = step.target.as_ref().map(|target| target.fill(self.values));
            let target = target.transpose().map_err(halt)?;
            let line = match target.map(|target| find(&target, &screen.lines)) {
                None => None,
                Some(Ok(found)) if matches!(found.way, Way::Same | Way::Moved) => {
                    Some(screen.lines[found.index].clone())
                }
                Some(_) => {
                    let words = step.words();
                    return Err(halt(format!(
                        "a dialog came, but the target of the step '{words}' is not in the dialog"
                    )));
                }
            };
            self.act(&step, pid, [line.as_ref(), None]).await?;
            patience.dialogs -= 1;
            return Ok(true);
        }
        Ok(false)
    }

    /// Waits until `element` is there, or for a moment, and reads the app again.
    pub(super) async fn wait(
        &mut self,
        pid: u32,
        element: Option<&str>,
        role: Option<&str>,
        end: Instant,
    ) -> Result<(), Halted> {
        let left = end.saturating_duration_since(Instant::now());
        if let Some(reason) = self.cancel.reason() {
            return Err(halt(format!("{reason:?}")));
        }
        let element = element.map(|text| text.trim_matches('*'));
        let element =
            element.map(|text| self.words.as_ref().map_or(text, |words| words.shown(text)));
        let lacks = |text: &&str| {
            let screen = self.screens.get(&pid);
            !text.is_empty() && screen.is_some_and(|screen| !has_part(screen, text))
        };
        if let Some(element) = element.filter(lacks) {
            let mut arguments =
                json!({"pid": pid, "element": element, "timeout": left.as_secs_f64()});
            if let Some(role) = role {
                arguments["role"] = role.into();
            }
            // The answer has the app's tree. An error says that the element did not come, which the
            // caller notices itself.
            if self.call("wait_for_and_traverse", arguments).await.is_ok() {
                return Ok(());
            }
        } else {
            tokio::time::sleep(BETWEEN.min(left)).await;
        }
        self.refresh(pid).await
    }
}

/// Whether waiting for `text` would end at once, because a text on the screen contains it.
fn has_part(screen: &Screen, text: &str) -> bool {
    let wanted = deskline_core::fold(text);
    let mut texts = screen.lines.iter().filter_map(|line| line.text.as_ref());
    texts.any(|text| deskline_core::fold(&text.shown).contains(&*wanted))
}

/// Why a target is not found.
fn missing(target: &Target, why: Option<&Missing>, screen: &Screen) -> String {
    let wanted = shown(target);
    if let Some(Missing::Several(n)) = why {
        return format!(
            "{n} elements match {wanted} now, and nothing tells which of them is meant"
        );
    }
    let mut noted = target.after.iter().chain(&target.before).peekable();
    if noted.peek().is_none() || noted.any(|text| has_part(screen, text)) {
        return format!("{wanted} is not there");
    }
    format!(
        "{wanted} is not there, nor anything that was next to it. Is the app in another language, or \
        another version?"
    )
}

fn shown(target: &Target) -> String {
    let role = target.role.as_deref().unwrap_or("element");
    match &target.element {
        Some(text) => format!("[{role}] {}", deskline_core::escape::quoted(text, 60)),
        None => format!(
            "the [{role}] after {:?}",
            target.after.as_deref().unwrap_or("")
        ),
    }
}
