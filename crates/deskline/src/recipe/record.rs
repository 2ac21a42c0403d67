//! `deskline record`: what a person does in an app becomes a recipe.

mod typing;

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use deskline_core::{App, Element, ElementId, Line, Modifiers, Point, Ref, Role, States, Tree};
use deskline_journal::RefStore;
use deskline_link::Cancel;
use deskline_linux::presses::{Press, Pressed, presses};
use deskline_linux::session::Session;
use deskline_mcp::{Dispatcher, Nobody, field};
use deskline_recipe::{Link, Screen, at_point, pressed, told};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::learn::{VERSION, file, keep};
use super::{Done, Fallible, Settings};
use crate::cli::RecordArgs;
use crate::run::{RESTORE, dispatcher, in_runtime, stopped};

/// The time after a press at which the app is read, and typing counts as ended. No event tells that
/// an app has finished reacting to a press.
const AFTER: Duration = Duration::from_millis(250);

/// Two presses of a button at the same place within this time are a double click.
const DOUBLE: Duration = Duration::from_millis(350);

/// The maximum number of readings of the app until it shows what a drag has moved.
const SLOW: u32 = 8;

/// For this long after a press, the app is read every [`AFTER`], as a person may press something
/// new. From then on, it is read after pauses of this length.
const SELDOM: Duration = Duration::from_secs(3);

/// `deskline record`.
pub(crate) fn record(settings: &Settings, args: &RecordArgs) -> Done {
    let name = args.app.split_whitespace().next().unwrap_or("recorded");
    let file = file(settings, &args.keep, Path::new(name))?;
    let caption =
        format!("Deskline records what you do in {name}. Ctrl+C in its terminal ends it.");
    let mut presses = presses(&Session::find(), &caption, AFTER)?;
    let own = tempfile::tempdir()?;
    let reading = Settings {
        dir: Some(own.path().join("journal")),
        // The user's own desktop, where the presses are.
        desktop: None,
        ..settings.clone()
    };
    let (dispatcher, _open) = dispatcher(&reading)?;
    let (send, receive) = unbounded_channel();
    let (send_up, ups) = unbounded_channel();
    let cancel = Cancel::new();
    let listens = cancel.clone();
    let listen = move || {
        // The recording ends when the channel closes.
        while let Ok(press) = presses.next(SELDOM, &listens) {
            let Some(press) = press else { continue };
            let is_up = matches!(press.what, Pressed::Up { .. });
            let to = if is_up { &send_up } else { &send };
            if to.send(press).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().spawn(listen)?;
    let links = in_runtime(async {
        let mut recorder = Recorder {
            dispatcher: &dispatcher,
            refs: RefStore::new(&reading.journal()?),
            presses: receive,
            ups,
            pid: 0,
            links: Vec::new(),
            screen: Screen::default(),
            typed: None,
            told: false,
        };
        recorder.open(&args.app).await?;
        let app = &args.app;
        eprintln!("deskline: recording what you do in {app}; Ctrl+C ends it");
        recorder.record().await?;
        dispatcher.stop(RESTORE).await;
        Ok(recorder.links)
    });
    cancel.cancel(deskline_link::Reason::Stopping);
    let links = links?;
    let from = format!("Recorded by {VERSION} from what a person did");
    keep(settings, &args.keep, &file, &links, &from)
}

struct Recorder<'d> {
    dispatcher: &'d Dispatcher,
    refs: RefStore,
    presses: UnboundedReceiver<Press>,
    /// For each press of the left button at a known place, its release.
    ups: UnboundedReceiver<Press>,
    pid: u32,
    links: Vec<Link>,
    /// The screen as it was before the presses that are not handled yet.
    screen: Screen,
    /// The characters that were typed since the last reading; [`HIDDEN`] for a password field.
    typed: Option<String>,
    told: bool,
}

impl Recorder<'_> {
    async fn open(&mut self, app: &str) -> Fallible {
        let (tool, arguments) = ("open_application_and_traverse", json!({"identifier": app}));
        let (answer, screen) = self.read(tool, &arguments).await?;
        self.screen = screen;
        let pid = field(&answer, "pid").and_then(|pid| pid.parse().ok());
        self.pid = pid.ok_or("the app has no process")?;
        self.add(tool, arguments, None);
        Ok(())
    }

    /// Records until Ctrl+C, or until the app ends.
    async fn record(&mut self) -> Fallible {
        let stop = stopped()?;
        tokio::pin!(stop);
        let mut last = Instant::now();
        loop {
            let pause = [SELDOM, AFTER][usize::from(last.elapsed() < SELDOM)];
            let press = tokio::select! {
                () = &mut stop => break,
                () = tokio::time::sleep(pause) => None,
                press = self.presses.recv() => Some(press.ok_or("the devices are gone")?),
            };
            last = press.as_ref().map_or(last, |_| Instant::now());
            let going = match press {
                Some(press) => self.press(press).await,
                None if self.typed.is_some() => self.typed().await,
                None => self.look("refresh_traversal", json!({})).await,
            };
            if let Err(why) = going {
                if Path::new(&format!("/proc/{}", self.pid)).exists() {
                    return Err(why);
                }
                break;
            }
        }
        self.typed().await.or_else(|_| Ok(()))
    }

    async fn press(&mut self, press: Press) -> Fallible {
        if press.pid.is_some_and(|pid| pid != self.pid) {
            if let Pressed::Button { number: 1, at } = press.what {
                self.dropped(at).await;
            }
            if !std::mem::replace(&mut self.told, true) {
                eprintln!("deskline: what you do in other apps is not recorded");
            }
            return Ok(());
        }
        match press.what {
            Pressed::Button { number, at } if matches!(number, 1 | 3) => {
                let line = match at {
                    Some(at) => at_point(&self.screen.lines, at).cloned(),
                    None => self.named().await,
                };
                self.typed().await?;
                let (drags, to) = self.dropped(at.filter(|_| number == 1)).await;
                match line {
                    Some(line) if drags => self.dragged(&line, to.as_ref()).await,
                    line => self.button(number, at, line).await,
                }
            }
            Pressed::Button { .. } | Pressed::Up { .. } | Pressed::Named(_) => Ok(()),
            Pressed::Key(name, char, modifiers) => {
                let commands = Modifiers::CONTROL | Modifiers::ALT | Modifiers::COMMAND;
                let Some(char) = char.filter(|_| !modifiers.intersects(commands)) else {
                    return self.key(&name, modifiers).await;
                };
                self.character(char);
                Ok(())
            }
        }
    }

    /// Whether the left button's press at this place began a drag, and on which element the drag
    /// ended.
    async fn dropped(&mut self, from: Option<Point>) -> (bool, Option<Line>) {
        if from.is_none() {
            return (false, None);
        }
        // The release never comes if its device was removed.
        let up = tokio::time::timeout(10 * SELDOM, self.ups.recv()).await;
        let up = up.ok().flatten().map(|up| (up.what, up.pid));
        let Some((Pressed::Up { dropped: Some(at) }, pid)) = up else {
            return (false, None);
        };
        let is_ours = pid.is_none_or(|pid| pid == self.pid);
        let to = at_point(&self.screen.lines, at).filter(|_| is_ours);
        (true, to.cloned())
    }

    /// Records a click for a slider, a scroll bar, or a drag within one control. Otherwise records
    /// a drag if the visible elements or their order have changed.
    async fn dragged(&mut self, from: &Line, to: Option<&Line>) -> Fallible {
        let stays = to.is_some_and(|to| to.reference == from.reference);
        let is_pressed = from.role.is_interactive() && !from.states.contains(States::EDITABLE);
        if from.role == Role::SLIDER || from.role.is_scroll_bar_part() || stays && is_pressed {
            return self.clicked(json!({}), from).await;
        }
        let (before, mut moved) = (self.screen.clone(), false);
        for _ in 0..SLOW {
            tokio::time::sleep(AFTER).await;
            moved = self.refresh().await? && self.screen.moved_since(&before);
            if moved || !self.presses.is_empty() {
                break;
            }
        }
        if let Some(to) = to.filter(|_| moved && !stays) {
            let text = to.text.as_ref().map(|text| text.shown.clone());
            let (of, role) = (to.reference.map(|of| of.to_string()), to.role.ax());
            let end = json!({"toRef": of, "toElement": text, "toRole": role});
            self.add("drag_and_traverse", end, Some(from));
        } else {
            let why = "nothing tells that what you dragged moved to another element";
            eprintln!("deskline: {why}: it is not recorded. Take it back");
        }
        Ok(())
    }

    /// The element that a mouse button last pressed, as apps' events name it. `None` for a drag,
    /// except of a slider, as nothing tells where the drag ended.
    async fn named(&mut self) -> Option<Line> {
        let Pressed::Named(said) = self.presses.recv().await?.what else {
            return None;
        };
        let ids = [&said.before, &said.pressed, &said.late, &said.on, &said.off];
        let element = |id: &ElementId| Element::new(id.clone(), Role::UNKNOWN, "");
        let elements = ids.into_iter().flatten().map(element).collect();
        let mut tree = Tree::new(App::default(), elements);
        self.refs.assign(&said.desktop, &mut tree).ok()?;
        let refs = tree.elements.iter().map(|its| (&its.id, its.reference));
        let refs = refs.collect::<HashMap<_, _>>();
        let shown = |id: &ElementId| told(&self.screen.lines, refs[id]);
        let [before, down, late, on, off] =
            ids.map(|ids| ids.iter().map(shown).collect::<Vec<_>>());
        let may = |line: &&Line| !said.dragged || line.role == Role::SLIDER;
        let found = pressed(&self.screen.lines, [before, down, on, off]);
        let found = found.filter(may).cloned();
        let is_late = said.pressed.is_empty() && !said.dragged;
        let ([Some(late)], true, None) = (&late[..], is_late, &found) else {
            return found;
        };
        // If nothing but the focus has changed, a click there does the same, whatever was clicked.
        let (late, before) = (Line::clone(late), self.screen.clone());
        self.refresh().await.ok()?;
        let mut now = self.screen.clone();
        now.changed_since(&before);
        now.changes.is_empty().then_some(late)
    }

    async fn button(&mut self, number: u32, at: Option<Point>, line: Option<Line>) -> Fallible {
        let Some(line) = line else {
            let why = match at {
                Some(_) => "the app describes nothing where you clicked",
                None => "nothing tells what you clicked, or where you dropped it (use keys there)",
            };
            eprintln!("deskline: {why}: it is not recorded");
            return Ok(());
        };
        let mut arguments = json!({});
        if number == 3 {
            arguments["rightClick"] = true.into();
        }
        let again = tokio::time::timeout(DOUBLE, self.presses.recv()).await;
        let again = again.ok().flatten();
        let first = Pressed::Button { number, at };
        let is_double = again.as_ref().is_some_and(|press| press.what == first);
        if is_double && number == 1 {
            arguments["doubleClick"] = true.into();
        }
        if is_double && at.is_none() {
            self.named().await;
        } else if is_double {
            self.dropped(at.filter(|_| number == 1)).await;
            tokio::time::sleep(AFTER).await;
        }
        self.clicked(arguments, &line).await?;
        match again.filter(|_| !is_double) {
            Some(press) => Box::pin(self.press(press)).await,
            None => Ok(()),
        }
    }

    /// Records a click: as a choice in a list, as a slider's new value, or as it is.
    async fn clicked(&mut self, arguments: Value, line: &Line) -> Fallible {
        self.refresh().await?;
        let lines = &self.screen.lines;
        let now = |of: Ref| lines.iter().find(|now| now.reference == Some(of)).cloned();
        let acts = |link: &Link| link.tool != "refresh_traversal";
        let last = self.links.iter().rposition(acts).unwrap_or_default();
        let opener = self.links[last].arguments.get("ref");
        let opener = opener.and_then(|of| now(of.as_str()?.parse().ok()?));
        let opens = |line: &Line| matches!(line.role, Role::COMBO_BOX | Role::POP_UP_BUTTON);
        let items = [Role::MENU_ITEM, Role::ROW, Role::CELL, Role::STATIC_TEXT];
        let chosen = line.text.as_ref().map(|text| text.shown.clone());
        let chosen = chosen.filter(|_| items.contains(&line.role));
        if let Some(opener) = opener.filter(opens)
            && chosen.is_some()
            && shown(&opener) == chosen
        {
            self.links.truncate(last);
            let choose = json!({"choose": chosen});
            self.add("click_and_traverse", choose, Some(&opener));
        } else if line.role == Role::SLIDER {
            let value = line.reference.and_then(now).and_then(|line| shown(&line));
            let value = json!({"value": value});
            self.add("set_value_and_traverse", value, Some(line));
        } else if !line.role.is_scroll_bar_part() {
            self.add("click_and_traverse", arguments, Some(line));
        }
        Ok(())
    }

    /// Reads the app, and adds the call. A reading is added only if it shows something new.
    async fn look(&mut self, tool: &str, arguments: Value) -> Fallible {
        let is_new = self.refresh().await? && !self.screen.changes.is_empty();
        if tool != "refresh_traversal" || is_new {
            self.add(tool, arguments, None);
        }
        Ok(())
    }

    fn add(&mut self, tool: &str, mut arguments: Value, target: Option<&Line>) {
        let answer = target.map(|line| format!("target: {line}"));
        if let Some(reference) = target.and_then(|line| line.reference) {
            arguments["ref"] = reference.to_string().into();
        }
        let text = target.and_then(|line| line.text.as_ref());
        let named = text.map(|text| format!("summary: Clicked '{}' [AX", text.shown));
        let words = deskline_view::words(tool, &arguments, named.as_deref());
        if tool != "refresh_traversal" {
            eprintln!("deskline: {words}");
        }
        self.links.push(Link {
            tool: tool.to_owned(),
            arguments: arguments.as_object().cloned().unwrap_or_default(),
            worked: true,
            pid: Some(self.pid),
            answer,
            screen: Some(self.screen.clone()),
            words: format!("you: {words}"),
            ..Link::default()
        });
    }

    /// Reads the app. Drops a reading that ends after the next press, because it may show the
    /// effect of that press. The changes of this press then count as changes of the next.
    async fn refresh(&mut self) -> Fallible<bool> {
        let arguments = json!({"pid": self.pid});
        let (_, screen) = self.read("refresh_traversal", &arguments).await?;
        let is_new = self.presses.is_empty();
        if is_new {
            self.screen = screen;
        } else {
            self.screen.changes.clear();
        }
        Ok(is_new)
    }

    /// Calls a tool that reads. Returns its answer, and the screen.
    async fn read(&self, tool: &str, arguments: &Value) -> Fallible<(String, Screen)> {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let cancel = Cancel::new();
        let call = self.dispatcher.call(tool, &arguments, &cancel, &Nobody);
        let reply = call.await?;
        if reply.is_error {
            let error = field(&reply.text, "error");
            return Err(error.unwrap_or("the app cannot be read").into());
        }
        let tree = field(&reply.text, "file").ok_or("the answer has no tree")?;
        let mut screen = Screen::parse(&std::fs::read_to_string(tree)?);
        // Compare with the screen of the last step: a reading in between may already show the
        // effect.
        if let Some(before) = self.links.last().and_then(|link| link.screen.as_ref()) {
            screen.changed_since(before);
        }
        Ok((reply.text, screen))
    }
}

/// The value of a field; if it has no value, its text.
fn shown(line: &Line) -> Option<String> {
    let value = line.value.as_ref().or(line.text.as_ref());
    value.map(|text| text.shown.clone())
}
