//! Makes a recipe of the calls of a run. Leaves out detours, failed steps, reads and waits. Makes
//! checks from the run's diffs.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use deskline_core::{Attribute, DeltaLine, Line, Ref, Role, States};
use regex::Regex;
use serde_json::{Map, Value};

use crate::aimed::{END, OWN, by_ref, target};
use crate::find::text_of;
use crate::inputs::file;
use crate::{Check, Checks, Input, Kind, Recipe, Screen, Step, Target, Values};

/// The placeholder in the log for a text that may have been a secret.
pub const HIDDEN: &str = "•••";

/// At most this many checks of each kind are kept for a step.
const MOST: usize = 4;

/// A text longer than this makes no check: it is a document.
const LONGEST: usize = 120;

/// One call of the run.
#[derive(Debug, Clone, Default)]
pub struct Link {
    /// The call's tool, by its listed name.
    pub tool: String,
    pub arguments: Map<String, Value>,
    pub worked: bool,
    pub pid: Option<u32>,
    pub app: String,
    /// What starts the app, if it is known.
    pub program: Option<String>,
    /// The answer; `None` if it may have contained a secret.
    pub answer: Option<String>,
    pub screen: Option<Screen>,
    /// The call, described in words for people. This becomes the comment of the call's steps.
    pub words: String,
}

#[derive(Debug, Clone, Default)]
pub struct Learn {
    /// The typed values that become inputs, by name.
    pub inputs: Vec<(String, String)>,
    /// Whether to keep every call and every line of the diffs: the run as it was.
    pub literal: bool,
}

/// What is known of the run so far. Texts are as they showed: no templates yet.
#[derive(Default)]
struct Run {
    /// What starts the recipe's own app, and the app's process.
    app: Option<String>,
    main: Option<u32>,
    /// The latest screen and the name of each process.
    screens: HashMap<u32, (Screen, String)>,
    steps: Vec<Step>,
    /// The fields whose texts changed during the run.
    changing: Vec<Ref>,
}

impl Learn {
    /// # Errors
    /// Why the run cannot be made a recipe.
    pub fn recipe(&self, links: &[Link]) -> Result<Recipe, String> {
        let mut run = Run {
            changing: changing(links),
            ..Run::default()
        };
        for link in links {
            self.link(&mut run, link)?;
        }
        let mut recipe = Recipe {
            app: run.app.ok_or("the calls open no app, and act in none")?,
            steps: run.steps,
            ..Recipe::default()
        };
        if recipe.steps.is_empty() {
            return Err("nothing to make a recipe of: no call changed anything".into());
        }
        self.name_inputs(&mut recipe)?;
        Ok(recipe)
    }

    /// Adds the steps of one call.
    fn link(&self, run: &mut Run, link: &Link) -> Result<(), String> {
        let before = run.steps.len();
        let tool = link.tool.trim_start_matches("macos-use_");
        let does = tool.trim_end_matches("_and_traverse");
        match does {
            "open_application" if link.worked => {
                let what = word(&link.arguments, "identifier").to_owned();
                if run.app.is_none() && run.steps.is_empty() {
                    (run.app, run.main) = (Some(what), link.pid);
                } else {
                    let arguments = Map::from_iter([("identifier".into(), what.into())]);
                    run.add("open", arguments, None);
                }
            }
            "chain" => self.chain(run, link)?,
            _ if link.worked
                && ACTING.contains(&does)
                && (self.literal || !has_no_effect(link)) =>
            {
                let target = link.answer.as_deref().and_then(answered);
                run.act(does, &link.arguments, link.pid, target.as_ref())?;
            }
            _ => {}
        }
        let program = link.program.as_ref().filter(|_| link.pid.is_some());
        run.app = run.app.take().or(program.cloned());
        run.main = run.main.or(link.pid);
        run.look(link);
        for step in &mut run.steps[before..] {
            step.comment.clone_from(&link.words);
        }
        // What a wait brought must show after the step before the wait.
        let waits = matches!(does, "wait_for" | "refresh_traversal");
        if (run.steps.len() > before || waits && link.worked)
            && let (Some(step), Some(screen)) = (run.steps.last_mut(), &link.screen)
        {
            if waits && !self.literal {
                // What has disappeared since was only temporary, such as a dialog that closes.
                step.checks.shows.retain(|check| screen.shows(check));
            }
            self.check(&mut step.checks, screen);
        }
        self.drop_detour(run, before);
        Ok(())
    }

    /// Adds the steps of a chain that were done.
    fn chain(&self, run: &mut Run, link: &Link) -> Result<(), String> {
        let steps = link.arguments.get("steps").and_then(Value::as_array);
        for (number, step) in (1..).zip(steps.into_iter().flatten()) {
            let answer = link.answer.as_deref();
            let told = answer.and_then(|answer| step_line(answer, number));
            let done = told.map_or(link.worked, |line| line.contains(" done"));
            let nothing = told.is_some_and(|line| line.ends_with("effect: nothing"));
            let Some(mut arguments) = step.as_object().filter(|_| done).cloned() else {
                continue;
            };
            let does = word(&arguments, "do").to_lowercase();
            let does = does.trim_end_matches("_and_traverse");
            arguments.remove("do");
            // A key, such as select all, is never idle: it prepares the next step.
            let idle = nothing && !self.literal && does == "scroll";
            if ACTING.contains(&does) && !idle {
                run.act(does, &arguments, link.pid, None)?;
            }
        }
        Ok(())
    }

    /// Adds the checks of a diff, except those of texts that change by themselves.
    pub fn check(&self, checks: &mut Checks, screen: &Screen) {
        let most = if self.literal { usize::MAX } else { MOST };
        let mut changes: Vec<&DeltaLine> = screen.changes.iter().collect();
        changes.sort_by_key(|change| rank(change));
        for change in changes {
            let (list, check) = match change {
                DeltaLine::Added(line) if line.visible => (&mut checks.shows, shown(line)),
                DeltaLine::Modified(line, changes) => {
                    let mut focus = changes.iter().map(|c| c.attribute == Attribute::Focused);
                    let focus = !changes.is_empty() && focus.all(|is_focus| is_focus);
                    let now = screen.visible().find(|now| now.reference == line.reference);
                    let Some(now) = now.filter(|_| !focus) else {
                        continue;
                    };
                    let (off, absent) = (Check::unchecked(now, &screen.lines), &mut checks.absent);
                    let off = off.filter(|off| absent.len() < most && !absent.contains(off));
                    absent.extend(off);
                    (&mut checks.shows, shown(now))
                }
                DeltaLine::Removed(line) => {
                    let check = shown(line).filter(|check| !screen.shows(check));
                    (&mut checks.absent, check)
                }
                DeltaLine::Added(_) => continue,
            };
            let is_volatile = |check: &Check| {
                let mut volatile = VOLATILE.iter().filter(|_| !self.literal);
                volatile.any(|volatile| volatile.is_match(&check.written()))
            };
            let fits = |check: &Check| list.len() < most && !list.contains(check);
            let check = check.filter(|check| fits(check) && !is_volatile(check));
            list.extend(check);
        }
        // A later wait may have seen again what an earlier diff reported as gone.
        let Checks { shows, absent, .. } = checks;
        absent.retain(|check| !shows.contains(check));
    }

    /// Drops a step that Escape took back, and the Escape.
    fn drop_detour(&self, run: &mut Run, before: usize) {
        let [.., first, last] = run.steps.as_slice() else {
            return;
        };
        if self.literal || run.steps.len() != before + 1 {
            return;
        }
        let key = word(&last.arguments, "keyName").to_lowercase();
        let escape = last.does == "press_key" && matches!(key.as_str(), "escape" | "esc");
        let Checks { shows, absent, .. } = &first.checks;
        // A step that closed something did more than look into a menu or dialog in vain.
        let took_back = shows.iter().any(|shown| last.checks.absent.contains(shown));
        let opened = absent.is_empty() && took_back;
        if escape && opened && !first.arguments.contains_key("text") {
            run.steps.truncate(before - 1);
        }
    }

    /// Makes templates of the texts: names of inputs replace their values.
    fn name_inputs(&self, recipe: &mut Recipe) -> Result<(), String> {
        let arguments = recipe.steps.iter().flat_map(|step| step.arguments.values());
        let typed = arguments.filter_map(Value::as_str).chain([&*recipe.app]);
        let typed: Vec<&str> = typed.collect();
        for (name, value) in &self.inputs {
            if value.is_empty() || !typed.iter().any(|text| text.contains(value)) {
                let why = format!("no text that was typed has the value of input {name}");
                return Err(why);
            }
            recipe.inputs.push(Input {
                name: name.clone(),
                default: Some(value.clone()),
                ..Input::default()
            });
        }
        let values = Values::new(&recipe.inputs, &BTreeMap::new()).map_err(|wrong| wrong.why)?;
        recipe.map(&mut |text| values.named(text, 1));
        // Titles and lists show only the file name of a path.
        for (name, path) in self.inputs.iter().filter(|(_, value)| value.contains('/')) {
            let (file, stem) = file(path);
            for (part, kind) in [(file, "name"), (stem, "stem")] {
                let named = |text: &str| {
                    if text.contains('{') || part.len() < 3 {
                        text.to_owned()
                    } else {
                        text.replace(part, &format!("{{{name}.{kind}}}"))
                    }
                };
                let steps = recipe.steps.iter_mut();
                let checks = steps.flat_map(|step| step.checks.each_mut());
                checks.for_each(|check| check.map(named));
            }
        }
        let arguments = recipe.steps.iter_mut().flat_map(|step| &mut step.arguments);
        for (number, (name, value)) in (1..).zip(arguments.filter(|(_, text)| **text == HIDDEN)) {
            if !matches!(name.as_str(), "text" | "value") {
                let why = "of a call is not in the log: it may be a secret";
                return Err(format!("{name} {why}"));
            }
            let number = Some(number)
                .filter(|n| *n > 1)
                .map(|n: usize| n.to_string());
            let name = format!("password{}", number.unwrap_or_default());
            *value = format!("{{{name}}}").into();
            recipe.inputs.push(Input {
                name,
                kind: Kind::Secret,
                ..Input::default()
            });
        }
        Ok(())
    }
}

/// The tools that act in an app, without `_and_traverse`.
#[rustfmt::skip]
const ACTING: [&str; 8] =
    ["click", "type", "press_key", "scroll", "drag", "set_value", "press_ax", "set_selected"];

/// Matches texts that change by themselves: times, dates, counts with their word, and names of
/// temporary files.
static VOLATILE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern = r"(?i)\d:\d\d|\d{4}-\d\d|\d+ ?(%|[a-z]+s\b)|\b\d+ of \d+|/tmp/\S*\d{4}";
    Regex::new(pattern).ok()
});

impl Run {
    fn add(&mut self, does: &str, arguments: Map<String, Value>, target: Option<Target>) {
        let mut step = Step::default();
        (step.does, step.arguments, step.target) = (does.to_owned(), arguments, target);
        self.steps.push(step);
    }

    /// Keeps what the link's answer showed.
    fn look(&mut self, link: &Link) {
        let (Some(pid), Some(screen)) = (link.pid, &link.screen) else {
            return;
        };
        if let Some((pid, name, other)) = &screen.other {
            self.screens.insert(*pid, ((**other).clone(), name.clone()));
        }
        self.screens.insert(pid, (screen.clone(), link.app.clone()));
    }

    /// Adds a step that acts. `answered` is the target as the answer described it.
    fn act(
        &mut self,
        does: &str,
        given: &Map<String, Value>,
        pid: Option<u32>,
        answered: Option<&Line>,
    ) -> Result<(), String> {
        let mut arguments = given.clone();
        let screen = pid.and_then(|pid| self.screens.get(&pid));
        let lines = screen.map_or(&[][..], |(screen, _)| &screen.lines);
        arguments.remove("pid");
        if arguments.contains_key("toPid") {
            return Err("a call drags into another app, which a recipe's step cannot do".into());
        }
        let changing = &self.changing;
        let own = target(&mut arguments, OWN, lines, answered, changing)?;
        let to = target(&mut arguments, END, lines, None, changing)?;
        let app = screen.filter(|_| pid != self.main);
        let app = app.map(|(_, name)| name.clone());
        let window = arguments.get("window").and_then(Value::as_str);
        if let Some(line) = window.and_then(|window| by_ref(lines, window)) {
            arguments["window"] = text_of(line).into();
        }
        let repeat = arguments.remove("repeat");
        let repeat = repeat.and_then(|n| u32::try_from(n.as_u64()?).ok());
        self.add(does, arguments, own);
        if let Some(step) = self.steps.last_mut() {
            (step.app, step.repeat, step.to) = (app, repeat, to);
        }
        Ok(())
    }
}

/// The text of an argument; empty if the argument is missing or no text.
fn word<'a>(arguments: &'a Map<String, Value>, name: &str) -> &'a str {
    let text = arguments.get(name).and_then(Value::as_str);
    text.unwrap_or_default()
}

/// The target's line in an answer.
pub fn answered(answer: &str) -> Option<Line> {
    let mut lines = answer.lines();
    let line = lines.find_map(|line| line.strip_prefix("target: "))?;
    let line = line.strip_prefix("gone: ").unwrap_or(line);
    let line = line.split(" in [").next()?;
    line.parse().ok()
}

fn step_line(answer: &str, number: usize) -> Option<&str> {
    let start = format!("  {number} ");
    let mut steps = answer.lines().skip_while(|line| *line != "steps:");
    steps.find(|line| line.starts_with(&start))
}

fn has_no_effect(link: &Link) -> bool {
    let answer = link.answer.as_deref().unwrap_or_default();
    let hover = link.arguments.get("hover") == Some(&Value::Bool(true));
    let sets = |change: &DeltaLine| matches!(change, DeltaLine::Modified(..));
    let mut screens = link.screen.iter().flat_map(|screen| &screen.changes);
    let scroll = link.tool.starts_with("scroll") && !screens.any(sets);
    hover || scroll || answer.lines().any(|line| line == "effect: nothing")
}

/// The fields whose text differs between two screens: such a text is the field's value, not its
/// name.
fn changing(links: &[Link]) -> Vec<Ref> {
    let mut first: HashMap<Ref, &str> = HashMap::new();
    let screens = links.iter().filter_map(|link| link.screen.as_ref());
    let all = screens.flat_map(|screen| &screen.lines);
    let fields = all.filter(|line| line.states.contains(States::EDITABLE));
    let changes = fields.filter_map(|line| {
        let known = first
            .entry(line.reference?)
            .or_insert_with(|| text_of(line));
        line.reference.filter(|_| *known != text_of(line))
    });
    changes.collect()
}

/// The rank of a change: the lower, the sooner a person would look at it.
fn rank(change: &DeltaLine) -> u8 {
    let (DeltaLine::Added(line) | DeltaLine::Removed(line) | DeltaLine::Modified(line, _)) = change;
    match change {
        DeltaLine::Modified(..) => 0,
        _ if matches!(line.role, Role::WINDOW | Role::SHEET) => 1,
        _ if matches!(line.role, Role::STATIC_TEXT | Role::HEADING) => 2,
        _ => 3,
    }
}

/// The check that an element shows; `None` if the element has no text, or a text as long as a
/// document.
fn shown(line: &Line) -> Option<Check> {
    let many = |text: &deskline_core::Text| text.shown.chars().count() > LONGEST;
    let long = |text: &Option<deskline_core::Text>| text.as_ref().is_some_and(many);
    let states = States::CHECKED | States::MIXED | States::EXPANDED | States::DISABLED;
    let empty = text_of(line).trim().is_empty() && line.value.is_none();
    let empty = empty || line.role.is_progress();
    (!empty && !long(&line.text) && !long(&line.value)).then(|| Check::of(line, states))
}
