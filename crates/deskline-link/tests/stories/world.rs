//! A desktop in memory: apps with windows, a stack, a pointer, a guard. It obeys the rules of a
//! real one (a click goes to the topmost window, keys to the front one, the guard keeps the person
//! out) and knows nothing of links.

use std::collections::HashMap;
use std::sync::Arc;

use deskline_core::{
    App, Element, ElementId, Line, Point, Rect, Role, States, Text, Tree, TreeWindow, WindowId,
};
use deskline_link::{Cancel, Sign};

/// The effect of pressing an element, or of pressing Return in it.
pub(crate) type Effect = Arc<dyn Fn(&mut World) + Send + Sync>;

/// An element of a window.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) id: String,
    pub(crate) line: Line,
    pub(crate) value: String,
    parent: Option<usize>,
    /// Whether it is scrolled out of view.
    pub(crate) away: bool,
    pub(crate) pressed: Option<Effect>,
    /// How it changes a text that it gets.
    pub(crate) makes: Option<fn(&str) -> String>,
}

/// A toplevel window, or an open menu.
#[derive(Clone)]
pub(crate) struct ScriptWindow {
    pub(crate) id: u64,
    pub(crate) pid: u32,
    pub(crate) title: String,
    pub(crate) at: Rect,
    /// A menu gets the input of its app, is in no list of windows, and closes when the front window
    /// changes.
    pub(crate) menu: bool,
    pub(crate) nodes: Vec<Node>,
    pub(crate) returned: Option<Effect>,
}

/// The health of an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Health {
    Well,
    Hung,
    Dead,
}

/// The whole desktop.
// The booleans are independent facts.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) apps: Vec<(App, Health)>,
    /// The frontmost first.
    pub(crate) stack: Vec<ScriptWindow>,
    pub(crate) pointer: Point,
    /// Whether the person holds a button.
    pub(crate) held: bool,
    /// The element with the focus, by window.
    pub(crate) focused: HashMap<u64, String>,
    /// The flag that Esc raises, while a link listens for it.
    pub(crate) ear: Option<Cancel>,
    pub(crate) guarded: bool,
    pub(crate) keys_down: bool,
    /// Whether the connection to the desktop is broken.
    pub(crate) broken: bool,
    /// The content of the clipboard.
    pub(crate) clipboard: String,
    /// The windows whose native role is that of a dialog.
    pub(crate) dialogs: Vec<u64>,
    /// Those whose native role is that of an alert.
    pub(crate) alerts: Vec<u64>,
    /// An app that reports only the window of its active toplevel.
    pub(crate) twins: Option<u32>,
    /// How many lines the wheel has scrolled, and the wheel's effect.
    pub(crate) scrolled: i32,
    pub(crate) turned: Option<fn(&mut Self, i32)>,
    /// Whether the person has pressed a key or a button since the link started to watch.
    pub(crate) person: Option<bool>,
    /// The input that reached an app: `Mail: a`, `Mail: click Send`.
    pub(crate) reached: Vec<String>,
    /// The person's input that reached no app because the guard was closed.
    pub(crate) kept_out: u32,
    /// The windows that have opened, with the pids of their apps.
    pub(crate) opened: Vec<(u64, u32)>,
    /// The strongest sign of a change that was not reported yet.
    changed: Option<Sign>,
    next: u64,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            pointer: Point { x: 900, y: 700 },
            clipboard: "theirs".into(),
            next: 1,
            ..Self::default()
        }
    }

    pub(crate) fn app(&mut self, pid: u32, name: &str) {
        let name = name.to_owned();
        self.apps.push((App { name, pid }, Health::Well));
    }

    /// Opens a window in front of all others. Each line is an element, as in a tree file. The
    /// indent gives its parent; `away` at the end means that the element is scrolled out of view.
    pub(crate) fn window(&mut self, pid: u32, title: &str, at: [i32; 4], lines: &str) -> u64 {
        let (id, [x, y, w, h]) = (self.next, at);
        self.next += 1;
        self.changes(Sign::Change);
        let window = ScriptWindow {
            id,
            pid,
            title: title.to_owned(),
            at: Rect { x, y, w, h },
            menu: false,
            nodes: nodes(id, lines),
            returned: None,
        };
        self.stack.insert(0, window);
        self.opened.push((id, pid));
        id
    }

    /// Gives the focus in a window to its element with this index.
    pub(crate) fn focus(&mut self, window: u64, node: usize) {
        self.focused.insert(window, format!("{window}/{node}"));
    }

    /// Opens a menu of the app, which the next change of the front window closes.
    pub(crate) fn menu(&mut self, pid: u32, at: [i32; 4], lines: &str) -> u64 {
        let id = self.window(pid, "", at, lines);
        self.stack[0].menu = true;
        id
    }

    pub(crate) fn closes_menus(&mut self) {
        self.stack.retain(|w| !w.menu);
        self.changes(Sign::Change);
    }

    pub(crate) fn close(&mut self, id: u64) {
        self.stack.retain(|w| w.id != id);
        self.changes(Sign::Change);
    }

    pub(crate) fn retitle(&mut self, id: u64, title: &str) {
        for window in self.stack.iter_mut().filter(|w| w.id == id) {
            title.clone_into(&mut window.title);
        }
    }

    /// The front window: menus do not count.
    pub(crate) fn front(&self) -> Option<&ScriptWindow> {
        self.stack.iter().find(|w| !w.menu)
    }

    pub(crate) fn raise(&mut self, id: u64) {
        if self.front().is_some_and(|w| w.id == id) {
            return;
        }
        self.stack.retain(|w| !w.menu);
        if let Some(at) = self.stack.iter().position(|w| w.id == id) {
            let window = self.stack.remove(at);
            self.stack.insert(0, window);
        }
        self.changes(Sign::Focus);
    }

    pub(crate) fn health(&self, pid: u32) -> Health {
        let app = self.apps.iter().find(|(app, _)| app.pid == pid);
        app.map_or(Health::Dead, |(_, health)| *health)
    }

    pub(crate) fn name(&self, pid: u32) -> String {
        let app = self.apps.iter().find(|(app, _)| app.pid == pid);
        app.map(|(app, _)| app.name.clone()).unwrap_or_default()
    }

    /// A dead app's windows are gone; those of a hung app stay.
    pub(crate) fn becomes(&mut self, pid: u32, health: Health) {
        for app in self.apps.iter_mut().filter(|(app, _)| app.pid == pid) {
            app.1 = health;
        }
        if health == Health::Dead {
            self.stack.retain(|w| w.pid != pid);
        }
    }

    /// The element of this id or with this text, in any window.
    pub(crate) fn node(&mut self, name: &str) -> Option<&mut Node> {
        self.changes(Sign::Change);
        let mut nodes = self.stack.iter_mut().flat_map(|w| &mut w.nodes);
        nodes.find(|n| n.id == name || n.text() == name)
    }

    pub(crate) fn on_press(
        &mut self,
        name: &str,
        effect: impl Fn(&mut Self) + Send + Sync + 'static,
    ) {
        if let Some(node) = self.node(name) {
            node.pressed = Some(Arc::new(effect));
        }
    }

    pub(crate) fn on_return(
        &mut self,
        id: u64,
        effect: impl Fn(&mut Self) + Send + Sync + 'static,
    ) {
        let mut windows = self.stack.iter_mut();
        if let Some(window) = windows.find(|w| w.id == id) {
            window.returned = Some(Arc::new(effect));
        }
    }

    /// The window at a point, and the innermost element there.
    pub(crate) fn lies_at(&self, at: Point) -> Option<(&ScriptWindow, Option<&Node>)> {
        let window = self.stack.iter().find(|w| w.at.contains(at))?;
        let there = |n: &&Node| !n.away && n.line.extents.is_some_and(|e| e.contains(at));
        Some((window, window.nodes.iter().rev().find(there)))
    }

    /// Presses and releases a button at a point.
    pub(crate) fn click(&mut self, at: Point) {
        let Some((window, node)) = self.lies_at(at) else {
            return;
        };
        let (id, pid, menu) = (window.id, window.pid, window.menu);
        let node = node.map(|n| (n.id.clone(), n.text(), n.pressed.clone()));
        if !menu {
            self.raise(id);
        }
        let Some((node, text, pressed)) = node else {
            return;
        };
        self.reached
            .push(format!("{}: click {text}", self.name(pid)));
        self.focused.insert(id, node);
        if self.health(pid) == Health::Well {
            self.changes(Sign::Focus);
            if menu {
                self.close(id);
            }
            if let Some(pressed) = pressed {
                pressed(self);
            }
        }
    }

    /// Drags from one point to another.
    pub(crate) fn drop(&mut self, from: Point, to: Point) {
        let text = |node: Option<&Node>| node.map(Node::text).unwrap_or_default();
        let dragged = self.lies_at(from).map(|(_, node)| text(node));
        let Some((window, Some(node))) = self.lies_at(to) else {
            return;
        };
        let (app, id, onto) = (self.name(window.pid), node.id.clone(), node.text());
        let takes = node.line.states.contains(States::EDITABLE);
        let dragged = dragged.unwrap_or_default();
        self.reached
            .push(format!("{app}: drop {dragged} on {onto}"));
        if takes && let Some(node) = self.node(&id) {
            node.take(&dragged);
        }
    }

    /// A key goes to the element with the focus in the front window.
    pub(crate) fn key(&mut self, key: char) {
        let Some((id, pid, returned)) = self.front().map(|w| (w.id, w.pid, w.returned.clone()))
        else {
            return;
        };
        let shown = if key == '\n' { '⏎' } else { key };
        self.reached.push(format!("{}: {shown}", self.name(pid)));
        if self.health(pid) != Health::Well {
            return;
        }
        let focus = self.focused.get(&id).cloned();
        match (key, returned) {
            ('\n', Some(returned)) => returned(self),
            ('\t', _) => self.next_field(id, focus.as_deref()),
            _ => {
                let is =
                    |n: &Node, id: &str| n.id == id && n.line.states.contains(States::EDITABLE);
                let nodes = || self.stack.iter().flat_map(|w| &w.nodes);
                let field = focus.filter(|id| nodes().any(|n| is(n, id)));
                if let Some(field) = field.and_then(|id| self.node(&id)) {
                    let text = format!("{}{key}", field.value);
                    field.take(&text);
                }
            }
        }
        self.changes(Sign::Focus);
    }

    fn next_field(&mut self, window: u64, from: Option<&str>) {
        let Some(found) = self.stack.iter().find(|w| w.id == window) else {
            return;
        };
        let editable = |n: &&Node| n.line.states.contains(States::EDITABLE);
        let fields: Vec<&Node> = found.nodes.iter().filter(editable).collect();
        let at = fields.iter().position(|n| Some(n.id.as_str()) == from);
        let next = fields.get(at.map_or(0, |at| (at + 1) % fields.len()));
        if let Some(id) = next.map(|n| n.id.clone()) {
            self.focused.insert(window, id);
        }
    }

    pub(crate) fn changes(&mut self, sign: Sign) {
        self.changed = self.changed.max(Some(sign));
    }

    /// The strongest change since the last call.
    pub(crate) fn take_changed(&mut self) -> Option<Sign> {
        self.changed.take()
    }

    /// The app's tree, as its toolkit would report it.
    pub(crate) fn tree(&self, pid: u32) -> Tree {
        let name = self.name(pid);
        let mut elements = vec![element(&format!("/{pid}"), Role::APPLICATION, &name, None)];
        let mut windows = Vec::new();
        let mut own: Vec<&ScriptWindow> = self.stack.iter().filter(|w| w.pid == pid).collect();
        let front = self.front().map(|w| w.id);
        for window in &own {
            windows.push((window.id, window.at, window.menu));
        }
        own.sort_by_key(|w| w.id);
        let mut tops = HashMap::new();
        for window in own {
            let top = elements.len();
            tops.insert(window.id, top);
            let role = if window.menu {
                Role::MENU
            } else {
                Role::WINDOW
            };
            let mut root = element(
                &format!("/{pid}/{}", window.id),
                role,
                &window.title,
                Some(0),
            );
            root.extents = Some(window.at);
            if self.dialogs.contains(&window.id) {
                root.native_role = "dialog".into();
            }
            if self.alerts.contains(&window.id) {
                root.native_role = "alert".into();
            }
            elements.push(root);
            for node in &window.nodes {
                let mut e = node.line.clone();
                let focused = front == Some(window.id)
                    && self
                        .focused
                        .get(&window.id)
                        .is_some_and(|id| *id == node.id);
                e.states.set(States::FOCUSED, focused);
                elements.push(Element {
                    title: e.text.unwrap_or_default(),
                    value: if e.states.contains(States::SECURE) {
                        Text::default()
                    } else {
                        Text::new(node.value.as_str())
                    },
                    extents: e.extents.filter(|_| !node.away),
                    visible: !node.away,
                    states: e.states,
                    native_role: e.native_role.unwrap_or_else(|| e.role.short().into()),
                    ..element(
                        &node.id,
                        e.role,
                        "",
                        Some(node.parent.map_or(top, |parent| top + 1 + parent)),
                    )
                });
            }
        }
        let windows: Vec<_> = windows.into_iter().filter(|(.., menu)| !menu).collect();
        let mut others: Vec<usize> = windows.iter().map(|(id, ..)| tops[id]).collect();
        others.retain(|top| front.is_none_or(|front| tops.get(&front) != Some(top)));
        others.sort_unstable();
        let is = |id: u64| {
            if self.twins == Some(pid) && front != Some(id) {
                return others.clone();
            }
            vec![tops[&id]]
        };
        let mut tree = Tree {
            windows: windows
                .into_iter()
                .map(|(id, extents, _)| TreeWindow {
                    id: WindowId(id),
                    extents,
                    on_screen: true,
                    elements: is(id),
                })
                .collect(),
            ..Tree::new(App { name, pid }, elements)
        };
        tree.scope_visible();
        tree
    }
}

impl Node {
    /// Enters a text into the element.
    pub(crate) fn take(&mut self, text: &str) {
        self.value = self
            .makes
            .map_or_else(|| text.to_owned(), |makes| makes(text));
    }

    /// Replaces the element's text.
    pub(crate) fn says(&mut self, text: &str) {
        self.line.text = Some(Text::new(text));
    }

    pub(crate) fn text(&self) -> String {
        let text = self.line.text.as_ref();
        text.map(|text| text.shown.clone()).unwrap_or_default()
    }
}

fn element(id: &str, role: Role, title: &str, parent: Option<usize>) -> Element {
    Element {
        parent,
        title: Text::new(title),
        ..Element::new(ElementId::new(id), role, role.short())
    }
}

fn nodes(window: u64, lines: &str) -> Vec<Node> {
    let mut nodes = Vec::new();
    let mut open: Vec<(usize, usize)> = Vec::new();
    for line in lines.lines().filter(|line| !line.trim().is_empty()) {
        let indent = line.len() - line.trim_start().len();
        let (text, away) = match line.trim().strip_suffix(" away") {
            Some(text) => (text, true),
            None => (line.trim(), false),
        };
        open.retain(|&(outer, _)| outer < indent);
        let parent = open.last().map(|&(_, index)| index);
        open.push((indent, nodes.len()));
        let line: Line = text
            .parse()
            .unwrap_or_else(|_| panic!("no tree line: {text}"));
        nodes.push(Node {
            id: format!("{window}/{}", nodes.len()),
            value: line.value.clone().unwrap_or_default().shown,
            line,
            parent,
            away,
            pressed: None,
            makes: None,
        });
    }
    nodes
}
