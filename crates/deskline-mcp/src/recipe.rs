//! Does a recipe: each step is a call like an agent's, through the same link.

mod aim;
mod foreign;
mod hold;
mod lint;
mod ready;
mod tool;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use deskline_core::{Line, Role, States};
use deskline_link::Cancel;
use deskline_recipe::{
    Check, Checks, Place, Recipe, Screen, Step, Target, Values, Way, Words, Wrong, answered,
    language, shape,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::args::Args;
use crate::dispatch::{Dispatcher, NoReply};
use crate::person::Person;
use crate::reply::Reply;
use crate::tools;
pub use lint::{labels, pale};
use ready::{checked, tool_of};
pub(crate) use tool::call;

/// How long a step waits for its target and for what must show after it.
const PATIENCE: Duration = Duration::from_secs(5);

/// The pause between two readings of an app, if there is no event to wait for.
const BETWEEN: Duration = Duration::from_millis(100);

/// How a recipe is done.
#[derive(Debug, Clone, Default)]
pub struct How {
    /// If not empty, targets that were not found as the recipe describes them are noted anew. Each
    /// text is the new text of a renamed target.
    pub heal: Vec<String>,
    /// Whether to note each target's place, the dialogs and the focus, and to drop the checks that
    /// fail only because digits differ.
    pub learns: bool,
    /// Whether a step whose checks do not hold gets the checks that hold now.
    pub updates: bool,
    /// Whether any dialog may be in front, as the recipe says nothing about dialogs.
    pub literal: bool,
    /// The index of the step to begin with. If it is not 0, the app runs already.
    pub from: usize,
    /// The process of the app, if the app runs already.
    pub pid: Option<u32>,
    /// Is called before each step, with the step's number, the number of steps, and the step's
    /// words.
    pub tells: Option<fn(usize, usize, &str)>,
}

/// What came of a recipe.
#[derive(Debug, Default)]
pub struct Played {
    pub done: Vec<Did>,
    pub stopped: Option<Stop>,
    /// The recipe, with what was noted in it.
    pub recipe: Recipe,
    /// The checks that were dropped, as they are written.
    pub dropped: Vec<String>,
    /// The path of the picture of the last answer.
    pub picture: Option<String>,
}

/// A step that was done.
#[derive(Debug, Serialize)]
pub struct Did {
    #[serde(rename = "step")]
    pub words: String,
    /// How the step's target was found, if it was not found as the recipe describes it.
    pub found: Option<String>,
    pub ms: u64,
}

/// Why a recipe stopped.
#[derive(Debug, Default, Serialize)]
pub struct Stop {
    /// The number of the step.
    pub step: usize,
    #[serde(flatten)]
    pub at: Place,
    pub words: String,
    pub why: String,
    /// What must show, and what the step changed instead.
    pub expected: Vec<String>,
    pub changed: Vec<String>,
    pub picture: Option<String>,
    /// The tree file of the last answer.
    pub file: Option<String>,
    pub pid: Option<u32>,
}

impl Stop {
    /// What was expected and what is there instead, each on its own line after the prefix `before`.
    pub fn told(&self, before: &str) -> String {
        let lists = [
            ("expected", self.expected.as_slice()),
            ("changed", self.changed.as_slice()),
            ("screenshot", self.picture.as_slice()),
            ("file", self.file.as_slice()),
        ];
        let lines = lists.iter().flat_map(|(name, all)| {
            let line = move |line| format!("{before}{name}: {line}\n");
            all.iter().map(line)
        });
        lines.collect()
    }
}

pub(crate) struct Play<'p> {
    dispatcher: &'p Dispatcher,
    cancel: &'p Cancel,
    person: &'p dyn Person,
    values: &'p Values,
    how: How,
    /// The recipe with its inputs filled in.
    recipe: Recipe,
    /// Processes by the lower-case name of their app; the recipe's own app has the name "".
    pids: HashMap<String, u32>,
    screens: HashMap<u32, Screen>,
    last: Reply,
    /// Whether a step follows the next call. If so, the step reports what the app takes back of the
    /// call's effect.
    goes_on: bool,
    /// What the last step changed, as in a diff.
    changed: Vec<String>,
    /// The screen before the step, to update its checks.
    before: Screen,
    /// The process of the app that was read last, and the app's catalogues. If the app is in
    /// another language than the recipe, `words` has the app's texts for those of the recipe.
    heard: (u32, Vec<PathBuf>),
    words: Option<Words>,
    /// Whether a text was translated. If so, nothing is noted anew, as the recipe would then mix
    /// two languages.
    translates: bool,
    played: Played,
}

/// Why a step stops the recipe.
type Halted = Box<Stop>;

/// Why a step has to wait, and the text and role of the element that it waits for.
type Lack = (Halted, Option<(String, Option<String>)>);

fn lack(why: impl Into<String>) -> Lack {
    (halt(why), None)
}

fn halt(why: impl Into<String>) -> Halted {
    Box::new(Stop {
        why: why.into(),
        ..Stop::default()
    })
}

/// Fills in a recipe's inputs, and finds what is wrong with it, as far as that can be known before
/// anything is done.
///
/// # Errors
/// A step that its tool would refuse, or an input that is missing.
pub fn check(recipe: &Recipe, values: &Values) -> Result<Recipe, Wrong> {
    let at = recipe.at;
    let filled = recipe.fill(values).map_err(|why| Wrong { at, why })?;
    let mut steps = filled.steps.iter().chain(&filled.dialogs);
    steps.try_for_each(checked)?;
    Ok(filled)
}

impl Dispatcher {
    /// Does a recipe, up to the first difference.
    ///
    /// # Errors
    /// Something in the recipe is wrong. Nothing was done.
    pub async fn play(
        &self,
        recipe: &Recipe,
        values: &Values,
        how: How,
        cancel: &Cancel,
        person: &dyn Person,
    ) -> Result<Played, Wrong> {
        let mut play = Play {
            dispatcher: self,
            cancel,
            person,
            values,
            how,
            recipe: check(recipe, values)?,
            pids: HashMap::new(),
            screens: HashMap::new(),
            last: Reply::text(String::new()),
            goes_on: false,
            changed: Vec::new(),
            before: Screen::default(),
            heard: (0, Vec::new()),
            words: None,
            translates: false,
            played: Played {
                recipe: recipe.clone(),
                ..Played::default()
            },
        };
        let stopped = play.all().await.err();
        play.played.stopped = stopped.map(|stop| play.told(*stop));
        play.played.picture = play.field("screenshot").map(str::to_owned);
        Ok(play.played)
    }
}

impl Play<'_> {
    async fn all(&mut self) -> Result<(), Halted> {
        let (app, from) = (self.recipe.app.clone(), self.how.from);
        let pid = match self.how.pid {
            _ if from == 0 => {
                let app = json!({"identifier": app});
                self.call("open_application_and_traverse", app).await?;
                self.pid()?
            }
            Some(pid) => pid,
            None => self.running(&app).await?,
        };
        self.pids.insert(String::new(), pid);
        if from > 0 {
            self.refresh(pid).await?;
        }
        let count = self.recipe.steps.len();
        for index in 0..count {
            let (start, words) = (Instant::now(), self.played.recipe.steps[index].words());
            if let Some(tell) = self.how.tells {
                tell(index + 1, count, &words);
            }
            let mut found = None;
            if index >= from {
                found = self.step(index).await?;
            }
            let ms = start.elapsed().as_millis() as u64;
            self.played.done.push(Did { words, found, ms });
        }
        if !self.recipe.end.is_empty() {
            let pid = self.pids.get("").copied().unwrap_or_default();
            self.refresh(pid).await?;
            self.hold(self.recipe.end.clone(), pid, None).await?;
        }
        Ok(())
    }

    /// Does a step. Returns how its target was found, if the target was not found as the recipe
    /// describes it.
    async fn step(&mut self, index: usize) -> Result<Option<String>, Halted> {
        let step = self.recipe.steps[index].clone();
        if step.does == "open" {
            self.call(&tool_of(&step), step.arguments.into()).await?;
            let pid = self.pid()?;
            return self
                .hold(step.checks, pid, Some(index))
                .await
                .map(|()| None);
        }
        let pid = self.process(&step).await?;
        let mut found = None;
        let aimed = self.aim(&step, step.target.as_ref(), pid).await?;
        let aimed = aimed.map(|(line, way)| {
            found = self.note(index, &line, way, pid);
            line
        });
        let end = self.aim(&step, step.to.as_ref(), pid).await?;
        let end = end.map(|(line, _)| line);
        if self.how.learns {
            self.learn_before(index, pid);
        }
        if self.how.updates {
            self.before = self.screen(pid)?.clone();
        }
        if aimed.as_ref().is_some_and(|line| self.is_set(&step, line)) {
            found = Some("already in the wanted state: it was not clicked".into());
        } else {
            let is_secret = self.is_secret(&self.played.recipe.steps[index]);
            let targets = [aimed.as_ref(), end.as_ref()];
            self.act(&step, pid, targets, is_secret).await?;
            let typed = answered(&self.last.text).filter(|_| step.does == "type");
            self.learn_focus(index, typed);
        }
        self.hold(step.checks, pid, Some(index)).await?;
        Ok(found)
    }

    /// Whether the step clicks a check box that is already as the step's checks say: a click would
    /// undo that.
    fn is_set(&self, step: &Step, line: &Line) -> bool {
        let clicks = matches!(step.does.as_str(), "click" | "press_ax") && step.repeat.is_none();
        let (mut on, mut off) = (line.clone(), line.clone());
        on.states.insert(States::CHECKED);
        off.states.remove(States::CHECKED);
        let tells = |check: &Check| check.is(&on) && !check.is(&off);
        let (shows, absent) = (&step.checks.shows, &step.checks.absent);
        let is_on = line.states.contains(States::CHECKED);
        let checks = if is_on { shows } else { absent };
        clicks && line.role == Role::CHECK_BOX && !self.how.literal && checks.iter().any(tells)
    }

    /// Whether a step of the recipe's file has a secret in its arguments.
    fn is_secret(&self, step: &Step) -> bool {
        let mut texts = step.arguments.values().filter_map(Value::as_str);
        texts.any(|text| self.values.is_secret(text))
    }

    /// Calls the step's tool as often as the step says.
    async fn act(
        &mut self,
        step: &Step,
        pid: u32,
        [aimed, end]: [Option<&Line>; 2],
        is_secret: bool,
    ) -> Result<(), Halted> {
        let mut arguments = step.arguments.clone();
        let types = arguments.contains_key("text") || arguments.contains_key("value");
        let focused = || self.screens.get(&pid)?.focused().next();
        let secure = |line: &Line| line.states.contains(States::SECURE);
        if types && !is_secret && aimed.or_else(focused).is_some_and(secure) {
            let why = "it would type a text of the file into a password field. Make the text an \
                input of type secret. Nothing was typed";
            return Err(halt(why));
        }
        for (name, line) in [("ref", aimed), ("toRef", end)] {
            let Some(line) = line else { continue };
            let none = || halt("the target has no ref");
            let reference = line.reference.ok_or_else(none)?;
            arguments.insert(name.into(), reference.to_string().into());
        }
        for name in ["choose", "until", "window"] {
            let text = arguments.get(name).and_then(Value::as_str);
            if let (Some(words), Some(text)) = (&self.words, text) {
                arguments[name] = words.shown(text).into();
            }
        }
        arguments.insert("pid".into(), pid.into());
        for _ in 0..step.repeat.unwrap_or(1) {
            self.changed.clear();
            self.goes_on = self.played.done.len() + 1 < self.recipe.steps.len();
            self.call(&tool_of(step), arguments.clone().into()).await?;
        }
        let screen = self.screens.get(&pid).into_iter();
        let changes = screen.flat_map(|screen| &screen.changes);
        self.changed = changes.take(10).map(ToString::to_string).collect();
        Ok(())
    }

    /// Notes a target that was not found as the recipe describes it, and returns how it was found.
    fn note(&mut self, index: usize, line: &Line, way: Way, pid: u32) -> Option<String> {
        let how = match way {
            Way::Same => None,
            Way::Moved => Some("moved: the same role and text elsewhere"),
            Way::Elsewhere => Some("by the text that you gave"),
            Way::Label => Some("by its label"),
            Way::Place => Some("by its place"),
        };
        let heals = how.is_some() && !self.how.heal.is_empty() && !self.translates;
        if (heals || self.how.learns)
            && let Some(Screen { lines, .. }) = self.screens.get(&pid)
            && let Some(at) = lines.iter().position(|l| l.reference == line.reference)
            && let Some(target) = &mut self.played.recipe.steps[index].target
        {
            noted(target, lines, at, way, self.values);
        }
        how.map(|how| format!("{how}: {}", plain(line)))
    }

    /// Notes which dialog is in front before a step, and what has the focus.
    fn learn_before(&mut self, index: usize, pid: u32) {
        let Some(screen) = self.screens.get(&pid) else {
            return;
        };
        let unfill = |text: &str| self.values.unfill(text);
        let step = &mut self.played.recipe.steps[index];
        step.dialog = screen.dialog.as_deref().map(unfill);
        let line = screen.focused().next().cloned();
        self.learn_focus(index, line);
    }

    /// Notes what has the focus for a step. Where a text went is known best after it: before, the
    /// focus may be on its way, and an empty field's name looks like content.
    fn learn_focus(&mut self, index: usize, line: Option<Line>) {
        let step = &mut self.played.recipe.steps[index];
        if let Some(line) = line.filter(|_| self.how.learns && step.is_for_focus()) {
            let focus = step.focus.insert(Check::focus(&line));
            focus.map(|text| self.values.unfill(text));
        }
    }

    /// Calls a tool, and keeps the screens of its answer.
    async fn call(&mut self, tool: &str, arguments: Value) -> Result<(), Halted> {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let (cancel, person) = (self.cancel, self.person);
        let arguments = (&arguments, std::mem::take(&mut self.goes_on));
        let call = self.dispatcher.call_one(tool, arguments, cancel, person);
        // Boxed, because a recipe is itself a call: unboxed, the future of a call could contain
        // itself.
        self.last = Box::pin(call).await.map_err(|none| match none {
            NoReply::Asks(question) => halt(format!(
                "the user has to be asked about {question} first: call the tools one by one"
            )),
            NoReply::UnknownTool(why) => halt(why),
        })?;
        self.look();
        if self.last.is_error {
            return Err(halt(self.field("error").unwrap_or("the call failed")));
        }
        Ok(())
    }

    /// Reads the tree file of the last answer.
    fn look(&mut self) {
        let (Ok(pid), Some(text)) = (self.pid(), self.read("file")) else {
            return;
        };
        let mut screen = Screen::parse(&String::from_utf8_lossy(&text));
        if let Some(windows) = self.field("windows") {
            screen.note_front(windows);
        }
        self.understand(pid, &mut screen);
        if let Some((other, name, lines)) = &screen.other {
            self.pids.insert(name.to_lowercase(), *other);
            self.screens.insert(*other, (**lines).clone());
        }
        if let Some(app) = self.field("app").map(str::to_lowercase) {
            self.pids.entry(app).or_insert(pid);
        }
        self.screens.insert(pid, screen);
    }

    /// Reads the file of the journal whose path is in the field `name` of the last answer.
    fn read(&self, name: &str) -> Option<Vec<u8>> {
        let name = self.field(name)?.rsplit(['/', '\\']).next()?;
        self.dispatcher.journal().read(name).ok()
    }

    async fn refresh(&mut self, pid: u32) -> Result<(), Halted> {
        self.call("refresh_traversal", json!({"pid": pid})).await
    }

    /// A field of the last answer.
    fn field(&self, name: &str) -> Option<&str> {
        field(&self.last.text, name)
    }

    fn pid(&self) -> Result<u32, Halted> {
        let pid = self.field("pid").and_then(|pid| pid.parse().ok());
        pid.ok_or_else(|| halt("the app has no process"))
    }

    fn screen(&self, pid: u32) -> Result<&Screen, Halted> {
        let screen = self.screens.get(&pid);
        screen.ok_or_else(|| halt("the app has no screen"))
    }

    /// The process of the app that a step acts in.
    async fn process(&mut self, step: &Step) -> Result<u32, Halted> {
        let name = step.app.as_deref().unwrap_or_default();
        match self.pids.get(&name.to_lowercase()) {
            Some(pid) => Ok(*pid),
            None => self.running(name).await,
        }
    }

    /// The process of a running app.
    async fn running(&mut self, app: &str) -> Result<u32, Halted> {
        self.call("list_applications", json!({"name": app})).await?;
        let pids = self.last.text.lines().filter_map(|line| {
            let (_, pid) = line.strip_prefix("  ")?.split_once(" (PID: ")?;
            pid.split(')').next()?.parse().ok()
        });
        match pids.collect::<Vec<u32>>()[..] {
            [pid] => Ok(pid),
            [] => Err(halt(format!("{app} is not running"))),
            _ => Err(halt(format!("several apps are called {app}"))),
        }
    }

    /// Completes a stop: adds its step, and what shows.
    fn told(&self, mut stop: Stop) -> Stop {
        let recipe = &self.played.recipe;
        stop.step = self.played.done.len() + 1;
        (stop.at, stop.words) = match recipe.steps.get(self.played.done.len()) {
            _ if self.pids.is_empty() => (recipe.at, "opening the app".into()),
            Some(next) => (next.at, next.words()),
            None => (Place::default(), "the final check".into()),
        };
        if let Some(reason) = self.cancel.reason() {
            stop.why = format!("it was cancelled ({reason:?}): {}", stop.why);
        }
        if self.words.is_some() {
            let (is, was) = (language(&self.heard.1), language(&recipe.catalogues));
            let both = format!("the app is in {is:?}, the recipe in {was:?}");
            let _ = write!(stop.why, "; {both}, and their catalogues may lack it");
        }
        stop.pid = self.pid().ok();
        stop.picture = self.field("screenshot").map(str::to_owned);
        stop.file = self.field("file").map(str::to_owned);
        stop.changed.clone_from(&self.changed);
        let screen = stop.pid.and_then(|pid| self.screens.get(&pid));
        let dialog = screen.and_then(|screen| screen.dialog.as_ref());
        if let Some(dialog) = dialog.filter(|_| !stop.why.contains("dialog")) {
            let _ = write!(stop.why, "; a dialog is in front: {dialog:?}");
        }
        stop
    }
}

/// Gives a target the text, role and place that it has now.
fn noted(target: &mut Target, lines: &[Line], at: usize, way: Way, values: &Values) {
    if matches!(way, Way::Label | Way::Place) {
        let text = lines[at].text.as_ref().filter(|_| target.element.is_some());
        target.element = text.map(|text| values.unfill(&text.shown));
        target.role = Some(lines[at].role.ax().to_owned());
    }
    target.note(lines, at);
    for text in target.after.iter_mut().chain(&mut target.before) {
        *text = values.unfill(text);
    }
}

/// An element as role and text, for messages.
fn plain(line: &Line) -> String {
    let mut plain = Line::bare(line.role, None);
    plain.text.clone_from(&line.text);
    plain.to_string()
}

/// A field of an answer.
pub fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let mut lines = text.lines();
    lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}
