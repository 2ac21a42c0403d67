//! Makes a recipe of the calls of a run. Leaves out detours, failed steps, reads and waits. Makes
//! checks from the run's diffs.

use std::collections::HashMap;
use std::sync::LazyLock;

use deskline_core::{Attribute, DeltaLine, Line, Ref, Role, States};
use regex::Regex;
use serde_json::{Map, Value};

use crate::aimed::{END, OWN, by_ref, target};
use crate::find::text;
use crate::inputs::{file, literal};
use crate::{Check, Checks, Input, Kind, Recipe, Screen, Step, Target};

/// The placeholder in the log for a text that may have been a secret.
pub const HIDDEN: &str = "•••";

/// At most this many checks of each kind are kept for a step.
const MOST: usize = 4;

/// A text longer than this makes no check: it is a document.
const LONGEST: usize = 120;

/// The name of the `n`th secret input.
pub fn secret(n: usize) -> String {
    let number = if n == 1 { String::new() } else { n.to_string() };
    format!("password{number}")
}

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

/// How to learn.
#[derive(Debug, Clone, Default)]
pub struct Learn {
    /// The typed values that become inputs, by name.
    pub inputs: Vec<(String, String)>,
    /// Whether to keep every call and every line of the diffs: the run as it was.
    pub literal: bool,
}

/// What is known of the run so far.
#[derive(Default)]
struct Run {
    /// The latest screen and the name of each process.
    screens: HashMap<u32, (Screen, String)>,
    /// The process of the recipe's own app.
    main: Option<u32>,
    steps: Vec<Step>,
    secrets: Vec<Input>,
    /// The fields whose texts changed during the run.
    changing: Vec<Ref>,
}

impl Learn {
    /// # Errors
    /// Why the run cannot be made a recipe.
    pub fn recipe(&self, links: &[Link]) -> Result<Recipe, String> {
        let (mut run, mut app) = (Run::default(), None);
        run.changing = changing(links);
        for link in links {
            self.link(&mut run, &mut app, link)?;
        }
        let mut recipe = Recipe {
            app: app.ok_or("the calls open no app, and act in none")?,
            inputs: run.secrets,
            steps: run.steps,
            ..Recipe::default()
        };
        if recipe.steps.is_empty() {
            return Err("nothing to make a recipe of: no call changed anything".into());
        }
        self.name_inputs(&mut recipe)?;
        Ok(recipe)
    }

    /// Adds the steps of one call. `app` is what starts the recipe's app.
    fn link(&self, run: &mut Run, app: &mut Option<String>, link: &Link) -> Result<(), String> {
        let before = run.steps.len();
        match link.tool.trim_start_matches("macos-use_") {
            "open_application_and_traverse" if link.worked => {
                let what = literal(word(&link.arguments, "identifier"));
                if app.is_none() && run.steps.is_empty() {
                    *app = Some(what);
                    run.main = link.pid;
                } else {
                    let arguments = Map::from_iter([("identifier".into(), what.into())]);
                    run.add("open", arguments, None);
                }
            }
            "chain_and_traverse" => self.chain(run, link)?,
            tool if link.worked && ACTING.contains(&tool) => {
                let does = tool.trim_end_matches("_and_traverse");
                if self.literal || !has_no_effect(link) {
                    let target = link.answer.as_deref().and_then(answered);
                    run.act(does, &link.arguments, link.pid, target.as_ref())?;
                }
            }
            _ => {}
        }
        let program = link.program.as_ref().filter(|_| link.pid.is_some());
        *app = app.take().or(program.cloned());
        run.main = run.main.or(link.pid);
        run.look(link);
        for step in &mut run.steps[before..] {
            step.comment.clone_from(&link.words);
        }
        // What a wait brought must show after the step before the wait.
        let waits = link.tool.starts_with("wait_for") || link.tool.starts_with("refresh");
        if (run.steps.len() > before || waits && link.worked)
            && let (Some(step), Some(screen)) = (run.steps.last_mut(), &link.screen)
        {
            if waits && !self.literal {
                // What has disappeared since was only temporary, such as a dialog that closes.
                let holds = |check: &Check| {
                    let wanted = check.fill_none();
                    wanted.is_none_or(|wanted| screen.visible().any(|line| wanted.is(line)))
                };
                step.checks.shows.retain(holds);
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
            let Some(step) = step.as_object().filter(|_| done) else {
                continue;
            };
            let mut arguments = step.clone();
            let does = word(step, "do").to_lowercase();
            arguments.remove("do");
            let does = does.trim_end_matches("_and_traverse");
            // A key, such as select all, is never idle: it prepares the next step.
            let idle = nothing && !self.literal && matches!(does, "scroll");
            if does != "wait_for" && does != "read" && !idle {
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
                    let focus = |a: Attribute| a == Attribute::Focused;
                    let now = screen.visible().find(|now| now.reference == line.reference);
                    let Some(now) = now.filter(|_| !changes.iter().all(|c| focus(c.attribute)))
                    else {
                        continue;
                    };
                    let off = Check::unchecked(now, &screen.lines);
                    let off = off.filter(|off| !checks.absent.contains(off));
                    checks
                        .absent
                        .extend(off.filter(|_| checks.absent.len() < most));
                    (&mut checks.shows, shown(now))
                }
                DeltaLine::Removed(line) => {
                    let stays = |check: &Check| {
                        let wanted = check.fill_none();
                        wanted.is_some_and(|wanted| screen.visible().any(|line| wanted.is(line)))
                    };
                    let check = shown(line).filter(|check| !stays(check));
                    (&mut checks.absent, check)
                }
                DeltaLine::Added(_) => continue,
            };
            let Some(check) = check else { continue };
            let written = check.written();
            let changes_alone =
                !self.literal && VOLATILE.as_ref().is_some_and(|v| v.is_match(&written));
            if !changes_alone && list.len() < most && !list.contains(&check) {
                list.push(check);
            }
        }
        let gone = checks.shows.clone();
        // A later wait may have seen again what an earlier diff reported as gone.
        checks.absent.retain(|check| !gone.contains(check));
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

    /// In checks, replaces the file name of an input that is a path by the input's name: titles and
    /// lists show only the file name.
    fn name_files(&self, recipe: &mut Recipe) {
        for (name, path) in self.inputs.iter().filter(|(_, value)| value.contains('/')) {
            let (file, stem) = file(path);
            let parts = [(file, "name"), (stem, "stem")];
            let named = |text: &str| {
                let mut parts = parts.iter().filter(|(part, _)| part.len() > 2);
                let is_in = |(part, _): &&(&str, &str)| !text.contains('{') && text.contains(part);
                parts.find(is_in).map_or(text.to_owned(), |(part, kind)| {
                    text.replace(part, &format!("{{{name}.{kind}}}"))
                })
            };
            let steps = recipe.steps.iter_mut();
            let checks = steps.flat_map(|step| step.checks.each_mut());
            checks.for_each(|check| check.map(named));
        }
    }

    /// Replaces the values of inputs by their names.
    fn name_inputs(&self, recipe: &mut Recipe) -> Result<(), String> {
        let mut inputs = self.inputs.clone();
        inputs.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
        for (name, value) in &inputs {
            let (value, named) = (literal(value), format!("{{{name}}}"));
            let mut found = recipe.app.contains(&value) && !value.is_empty();
            let arguments = recipe.steps.iter().flat_map(|step| step.arguments.values());
            let mut typed = arguments.filter_map(Value::as_str);
            found |= !value.is_empty() && typed.any(|text| text.contains(&value));
            recipe.app = recipe.app.replace(&value, &named);
            recipe.map(&mut |text| text.replace(&value, &named));
            if !found {
                let why = format!("no text that was typed has the value of input {name}");
                return Err(why);
            }
        }
        self.name_files(recipe);
        let own = self.inputs.iter().map(|(name, value)| Input {
            name: name.clone(),
            default: Some(value.clone()),
            ..Input::default()
        });
        recipe.inputs.splice(0..0, own);
        Ok(())
    }
}

/// The tools that act in an app.
#[rustfmt::skip]
const ACTING: [&str; 8] = [
    "click_and_traverse", "type_and_traverse", "press_key_and_traverse", "scroll_and_traverse",
    "drag_and_traverse", "set_value_and_traverse", "press_ax_and_traverse",
    "set_selected_and_traverse",
];

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
        let app = app.map(|(_, name)| literal(name));
        if let Some(window) = arguments.get("window").and_then(Value::as_str)
            && let Some(line) = by_ref(lines, window)
        {
            let title = literal(text(line));
            arguments.insert("window".into(), title.into());
        }
        let repeat = arguments.remove("repeat");
        let repeat = repeat.and_then(|n| u32::try_from(n.as_u64()?).ok());
        for (name, value) in &mut arguments {
            let Value::String(text) = value else { continue };
            if text == HIDDEN {
                if !matches!(name.as_str(), "text" | "value") {
                    let why = "of a call is not in the log: it may be a secret";
                    return Err(format!("{name} {why}"));
                }
                let mut input = Input::default();
                (input.name, input.kind) = (secret(self.secrets.len() + 1), Kind::Secret);
                *text = format!("{{{}}}", input.name);
                self.secrets.push(input);
            } else {
                *text = literal(text);
            }
        }
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
fn answered(answer: &str) -> Option<Line> {
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
        let known = first.entry(line.reference?).or_insert_with(|| text(line));
        line.reference.filter(|_| *known != text(line))
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
    let empty = text(line).trim().is_empty() && line.value.is_none();
    let empty = empty || line.role.is_progress();
    (!empty && !long(&line.text) && !long(&line.value)).then(|| Check::of(line, states))
}
