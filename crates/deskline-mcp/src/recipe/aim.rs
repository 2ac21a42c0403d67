//! Before a step: waits for its target, the dialog and the focus.

use super::{
    BETWEEN, Duration, Halted, Instant, Lack, Line, PATIENCE, Play, Screen, Step, Target, Way,
    halt, json, lack, plain, shape, tool_of, tools,
};
use deskline_recipe::{find, find_part, text_of};

/// The most dialogs that are answered while a step waits.
const MOST: usize = 3;

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
        let look = |play: &Self, over: bool| -> Result<Option<(Line, Way)>, Lack> {
            let screen = play.screen(pid).map_err(|none| -> Lack { (none, None) })?;
            if let Some(wrong) = play.elsewhere(step, screen) {
                return Err(lack(wrong));
            }
            let Some(target) = target else {
                return Ok(None);
            };
            let (line, way) = play.find(target, screen).map_err(|count| {
                let wanted = target.element.clone();
                let wanted = wanted.map(|element| (element, target.role.clone()));
                (halt(missing(target, count, screen)), wanted)
            })?;
            let is_it = matches!(way, Way::Same | Way::Moved);
            if is_it || over || play.how.learns && way != Way::Place {
                let confirmed = play.confirm(target, &line, way);
                return confirmed.map(|()| Some((line, way))).map_err(lack);
            }
            Err(lack("the target is not there"))
        };
        self.until(pid, PATIENCE, look).await
    }

    /// Reads the app until `look` finds nothing lacking, for at most `limit`. Meanwhile answers the
    /// recipe's dialogs. The last look has `true`: the time is over.
    pub(super) async fn until<T>(
        &mut self,
        pid: u32,
        limit: Duration,
        look: impl Fn(&Self, bool) -> Result<T, Lack>,
    ) -> Result<T, Halted> {
        let (end, mut dialogs) = (Instant::now() + limit, MOST);
        loop {
            let over = left(end).is_zero();
            let (halted, wanted) = match look(self, over) {
                Ok(found) => return Ok(found),
                Err(lack) => lack,
            };
            if dialogs > 0 && self.dialog(pid).await? {
                dialogs -= 1;
            } else if over {
                return Err(halted);
            } else if let Err(mut error) = self.wait(pid, wanted, end).await {
                // The app may have ended, as the checks ask.
                return look(self, false).map_err(|(halted, _)| {
                    error.expected = halted.expected;
                    error
                });
            }
        }
    }

    fn find(&self, target: &Target, screen: &Screen) -> Result<(Line, Way), usize> {
        let found = find(target, &screen.lines).or_else(|count| {
            let part = find_part(target, &screen.lines).filter(|_| self.how.learns);
            part.map(|index| (index, Way::Label)).ok_or(count)
        });
        found.map(|(index, way)| (screen.lines[index].clone(), way))
    }

    /// Accepts an element that may do something else than the target only if the person named it.
    fn confirm(&self, target: &Target, line: &Line, way: Way) -> Result<(), String> {
        let text = text_of(line);
        let is_named = !text.is_empty() && self.how.heal.iter().any(|named| named == text);
        if matches!(way, Way::Same | Way::Moved | Way::Label) || self.how.learns || is_named {
            return Ok(());
        }
        if text.is_empty() {
            return Err(format!("{} is not there", shown(target)));
        }
        let target = shown(target);
        let why = match way {
            Way::Place => format!("{target} is not there. {} is in its place", plain(line)),
            _ => format!("{target} is there, but nothing that was next to it"),
        };
        let named = deskline_core::escape::quoted(text, 60);
        let advice = format!("If it does the same, pass --heal={named}");
        Err(format!("{why}. {advice}"))
    }

    /// Why a step would act on something else than meant: another dialog is in front, or another
    /// element has the focus. `None` if there is no such reason.
    fn elsewhere(&self, step: &Step, screen: &Screen) -> Option<String> {
        if self.how.learns || self.how.literal || !tools::acts(&tool_of(step)) {
            return None;
        }
        match (&step.dialog, &screen.dialog) {
            (Some(wanted), Some(is)) if shape(wanted) == shape(is) => {}
            (None, None) => {}
            (None, Some(is)) => return Some(format!("a dialog is in front: {is:?}")),
            (Some(wanted), is) => {
                let is = is.as_ref().map_or("none".into(), |is| format!("{is:?}"));
                let why = format!("the dialog {wanted:?} must be in front, but {is} is in front");
                return Some(why);
            }
        }
        let focus = step.focus.as_ref()?;
        if screen.focused().any(|line| focus.is(line)) {
            return None;
        }
        let is = screen.focused().next().map_or("nothing".into(), plain);
        let focus = focus.written();
        Some(format!(
            "{focus} must have the focus, but {is} has the focus"
        ))
    }

    /// Answers one of the recipe's dialogs, if one is there. Returns whether a dialog was answered.
    async fn dialog(&mut self, pid: u32) -> Result<bool, Halted> {
        let Some(screen) = self.screens.get(&pid) else {
            return Ok(false);
        };
        let shows = |step: &Step| step.checks.shows.iter().all(|check| screen.shows(check));
        let Some(index) = self.recipe.dialogs.iter().position(shows) else {
            return Ok(false);
        };
        let (step, own) = (
            &self.recipe.dialogs[index],
            &self.played.recipe.dialogs[index],
        );
        let line = match step
            .target
            .as_ref()
            .map(|target| find(target, &screen.lines))
        {
            None => None,
            Some(Ok((index, Way::Same | Way::Moved))) => Some(screen.lines[index].clone()),
            Some(_) => {
                let words = own.words();
                return Err(halt(format!(
                    "a dialog came, but the target of the step '{words}' is not in the dialog"
                )));
            }
        };
        let (step, is_secret) = (step.clone(), self.is_secret(own));
        self.act(&step, pid, [line.as_ref(), None], is_secret)
            .await?;
        Ok(true)
    }

    /// Waits until an element is there, or for a moment, and reads the app again.
    async fn wait(
        &mut self,
        pid: u32,
        wanted: Option<(String, Option<String>)>,
        end: Instant,
    ) -> Result<(), Halted> {
        if let Some(reason) = self.cancel.reason() {
            return Err(halt(format!("{reason:?}")));
        }
        let wanted = wanted.map(|(element, role)| {
            let element = element.trim_matches('*');
            let shown = self.words.as_ref().map(|words| words.shown(element));
            (shown.unwrap_or(element).to_owned(), role)
        });
        let screen = self.screens.get(&pid);
        let lacks = |text: &str| screen.is_some_and(|screen| !has_part(screen, text));
        let wanted = wanted.filter(|(text, _)| !text.is_empty() && lacks(text));
        if let Some((element, role)) = wanted {
            let timeout = left(end).as_secs_f64();
            let wanted = json!({"pid": pid, "element": element, "role": role, "timeout": timeout});
            // The answer has the app's tree. An error says that the element did not come, which the
            // caller notices itself.
            if self.call("wait_for_and_traverse", wanted).await.is_ok() {
                return Ok(());
            }
        } else {
            tokio::time::sleep(BETWEEN.min(left(end))).await;
        }
        self.refresh(pid).await
    }
}

fn left(end: Instant) -> Duration {
    end.saturating_duration_since(Instant::now())
}

/// Whether waiting for `text` would end at once, because a text on the screen contains it.
fn has_part(screen: &Screen, text: &str) -> bool {
    let wanted = deskline_core::fold(text);
    let mut texts = screen.lines.iter().map(text_of);
    texts.any(|text| deskline_core::fold(text).contains(&*wanted))
}

/// Why a target is not found.
fn missing(target: &Target, count: usize, screen: &Screen) -> String {
    let wanted = shown(target);
    if let n @ 1.. = count {
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
