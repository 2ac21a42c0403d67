//! sway's IPC socket: the protocol of i3, with JSON payloads (sway-ipc(7)).

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use deskline_contract::{Error, Result};
use deskline_core::Rect;
use deskline_unix::socket;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::listed::{Corner, Kind, Listed, ListedWindow};

/// How long the compositor may take for an answer.
const PATIENCE: Duration = Duration::from_secs(2);

const MAGIC: &[u8; 6] = b"i3-ipc";

/// The maximum length of an answer, which contains titles: hostile data.
pub(super) const LONGEST: u32 = 64 << 20;

/// Message types.
const RUN_COMMAND: u32 = 0;
const GET_WORKSPACES: u32 = 1;
const GET_TREE: u32 = 4;
const GET_VERSION: u32 = 7;
const GET_SEATS: u32 = 101;

/// The failed operation, for errors.
const ASKING: &str = "asking sway";

/// What sway and Hyprland report and accept over a socket of their own.
pub(crate) trait Ipc: Send {
    /// All windows, frontmost first.
    fn windows(&mut self) -> Result<Vec<SwayWindow>>;

    /// The number and name of the focused workspace.
    fn workspace(&mut self) -> Result<Option<(u32, String)>>;

    /// Shows a workspace.
    fn show(&mut self, workspace: &str) -> Result<()>;

    /// Gives the window the keyboard. Switches to its workspace.
    fn focus(&mut self, id: u64) -> Result<()>;

    /// Hides a window again that was minimised before Deskline raised it.
    fn put_away(&mut self, id: u64) -> Result<()>;

    /// Whether there is exactly one seat. `false` if the compositor does not report its seats.
    fn has_one_seat(&mut self) -> bool {
        false
    }
}

/// Connects to a compositor that may hang.
pub(super) fn open(path: &Path) -> io::Result<UnixStream> {
    let stream = socket::connect(path, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// A connection to sway.
pub(crate) struct Sway(UnixStream);

/// A window as sway describes it, and its workspace if the workspace is hidden. The window's
/// `content` excludes the shadow, which sway does not report.
pub(crate) type SwayWindow = Listed<Option<Workspace>>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Workspace {
    /// 0 if the workspace has no number.
    pub(super) number: u32,
    pub(super) name: String,
    /// The workspace that the output shows in its place.
    pub(crate) instead: String,
}

/// The output where sway keeps the scratchpad.
const HIDDEN: &str = "__i3";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
struct Area {
    x: i32,
    y: i32,
    width: i32,
    height: i32,
}

impl Area {
    fn rect(self) -> Rect {
        Rect::at(self.x, self.y, self.width.max(0), self.height.max(0))
    }
}

/// A container of sway's tree.
#[derive(Debug, Default, Deserialize)]
struct Node {
    id: u64,
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    pid: Option<u32>,
    #[serde(default)]
    shell: Option<String>,
    /// A workspace's number, −1 if it has none.
    #[serde(default)]
    num: Option<i64>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    rect: Area,
    #[serde(default)]
    window_rect: Area,
    #[serde(default)]
    focused: bool,
    #[serde(default)]
    visible: Option<bool>,
    /// The ids of the container's children, the most recently focused first.
    #[serde(default)]
    focus: Vec<u64>,
    #[serde(default)]
    nodes: Vec<Node>,
    #[serde(default)]
    floating_nodes: Vec<Node>,
}

impl Node {
    fn name(&self) -> String {
        self.name.clone().unwrap_or_default()
    }

    fn is_scratchpad(&self) -> bool {
        self.kind == "output" && self.name.as_deref() == Some(HIDDEN)
    }
}

impl Sway {
    pub(crate) fn connect(path: &Path) -> Result<Self> {
        let silent = |e| Error::Unavailable(format!("sway's socket does not answer: {e}"));
        open(path).map(Self).map_err(silent)
    }

    fn ask(&mut self, kind: u32, payload: &str) -> Result<Vec<u8>> {
        let answer = self.exchange(kind, payload);
        answer.map_err(Error::lost(ASKING))
    }

    fn exchange(&mut self, kind: u32, payload: &str) -> io::Result<Vec<u8>> {
        let length = u32::try_from(payload.len()).map_err(io::Error::other)?;
        let mut message = MAGIC.to_vec();
        message.extend(length.to_ne_bytes());
        message.extend(kind.to_ne_bytes());
        message.extend(payload.as_bytes());
        self.0.write_all(&message)?;
        let mut header = [0; 14];
        self.0.read_exact(&mut header)?;
        let length = u32::from_ne_bytes([header[6], header[7], header[8], header[9]]);
        if !header.starts_with(MAGIC) || length > LONGEST {
            return Err(io::Error::other("a malformed answer"));
        }
        let mut answer = vec![0; length as usize];
        self.0.read_exact(&mut answer)?;
        Ok(answer)
    }

    fn get<T: DeserializeOwned>(&mut self, kind: u32) -> Result<T> {
        read(&self.ask(kind, "")?)
    }

    /// sway's version: major and minor number.
    pub(crate) fn version(&mut self) -> Result<(u32, u32)> {
        #[derive(Deserialize)]
        struct Version {
            major: u32,
            minor: u32,
        }
        let version: Version = self.get(GET_VERSION)?;
        Ok((version.major, version.minor))
    }

    /// Runs commands.
    ///
    /// # Errors
    ///
    /// If sway refuses one of the commands. It has then executed the others.
    pub(crate) fn run(&mut self, commands: &str) -> Result<()> {
        #[derive(Deserialize)]
        struct Done {
            success: bool,
            #[serde(default)]
            error: String,
        }
        let done: Vec<Done> = read(&self.ask(RUN_COMMAND, commands)?)?;
        match done.into_iter().find(|d| !d.success) {
            Some(refused) => Err(Error::system(ASKING)(refused.error)),
            None => Ok(()),
        }
    }
}

impl Ipc for Sway {
    fn windows(&mut self) -> Result<Vec<SwayWindow>> {
        let root: Node = self.get(GET_TREE)?;
        let mut windows = Vec::new();
        collect(&root, &Within::default(), &mut windows);
        let workspaces = root.nodes.iter().filter(|output| !output.is_scratchpad());
        let names: Vec<_> = workspaces.flat_map(|o| &o.nodes).map(Node::name).collect();
        for window in &mut windows {
            let Some(hidden) = &window.own else {
                continue;
            };
            let mut numbered = names.iter().zip(1..);
            let position = numbered.find(|(name, _)| **name == hidden.name);
            window.window.workspace = match hidden.number {
                0 => position.map_or(0, |(_, position)| position),
                number => number,
            };
        }
        Ok(windows)
    }

    fn workspace(&mut self) -> Result<Option<(u32, String)>> {
        #[derive(Deserialize)]
        struct Listed {
            num: i64,
            name: String,
            focused: bool,
        }
        let listed: Vec<Listed> = self.get(GET_WORKSPACES)?;
        let mut listed = listed.into_iter().zip(1..);
        let focused = listed.find(|(workspace, _)| workspace.focused);
        let number = |num| u32::try_from(num).ok().filter(|n| *n > 0);
        Ok(focused.map(|(w, position)| (number(w.num).unwrap_or(position), w.name)))
    }

    fn show(&mut self, workspace: &str) -> Result<()> {
        let workspace = quoted(workspace);
        self.run(&format!("workspace --no-auto-back-and-forth {workspace}"))
    }

    fn focus(&mut self, id: u64) -> Result<()> {
        self.ask(RUN_COMMAND, &format!("[con_id={id}] focus"))?;
        Ok(())
    }

    fn put_away(&mut self, id: u64) -> Result<()> {
        self.run(&format!("[con_id={id}] move scratchpad"))
    }

    fn has_one_seat(&mut self) -> bool {
        let seats = self.get::<Vec<IgnoredAny>>(GET_SEATS);
        seats.is_ok_and(|seats| seats.len() == 1)
    }
}

fn read<T: DeserializeOwned>(answer: &[u8]) -> Result<T> {
    serde_json::from_slice(answer).map_err(Error::system(ASKING))
}

/// Quotes a text as one argument of a command. sway does not unescape backslashes.
fn quoted(text: &str) -> String {
    let quote = if text.contains('"') { '\'' } else { '"' };
    format!("{quote}{text}{quote}")
}

/// Where a container is: its output and its workspace.
#[derive(Clone, Default)]
struct Within {
    /// The id and name of the output's visible workspace.
    shown: Option<(u64, String)>,
    /// The workspace, if it is hidden.
    workspace: Option<Workspace>,
    put_away: bool,
}

fn collect(node: &Node, within: &Within, into: &mut Vec<SwayWindow>) {
    let mut within = within.clone();
    match node.kind.as_str() {
        "output" => {
            within.put_away = node.is_scratchpad();
            let first = node.focus.first();
            let shown = node.nodes.iter().find(|child| Some(&child.id) == first);
            within.shown = shown.map(|w| (w.id, w.name()));
        }
        "workspace" => {
            let hidden = |(shown, instead): (u64, String)| {
                (shown != node.id && !within.put_away).then(|| Workspace {
                    number: node.num.and_then(|n| u32::try_from(n).ok()).unwrap_or(0),
                    name: node.name(),
                    instead,
                })
            };
            within.workspace = within.shown.clone().and_then(hidden);
        }
        _ => {}
    }
    if let Some(pid) = node.pid {
        let (rect, inner) = (node.rect.rect(), node.window_rect.rect());
        let content = inner.offset(rect.x, rect.y);
        let window = ListedWindow {
            id: node.id,
            pid,
            title: node.name(),
            kind: Kind::Toplevel,
            native: node.shell.as_deref() != Some("xwayland"),
            focused: node.focused,
            visible: node.visible.unwrap_or(true),
            minimised: within.put_away,
            workspace: 0,
            modal: false,
            content,
            frame: content,
            buffer: content,
            corner: Corner::NotTold,
        };
        let own = within.workspace.clone();
        into.push(Listed { window, own });
    }
    // Floating windows are above tiled ones, and later floating ones above earlier ones.
    for child in node.floating_nodes.iter().rev() {
        collect(child, &within, into);
    }
    let mut tiled: Vec<&Node> = node.nodes.iter().collect();
    let rank = |child: &&Node| node.focus.iter().position(|id| *id == child.id);
    tiled.sort_by_key(|child| rank(child).unwrap_or(usize::MAX));
    for child in tiled {
        collect(child, &within, into);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_found_from_front_to_back() {
        let tree = r#"{"id":1,"type":"output","rect":{"x":9,"y":0,"width":800,"height":900},
            "focus":[3,2],"nodes":[
            {"id":2,"pid":20,"name":"Back","rect":{"x":0,"y":0,"width":800,"height":900},
             "window_rect":{"x":2,"y":0,"width":796,"height":898}},
            {"id":3,"focus":[5],"floating_nodes":[{"id":5,"pid":50},
             {"id":4,"pid":40,"name":null,"focused":true,"visible":false}]}]}"#;
        let mut windows = Vec::new();
        collect(
            &serde_json::from_str(tree).unwrap(),
            &Within::default(),
            &mut windows,
        );
        let [front, _, back] = windows.as_slice() else {
            panic!("{windows:?}")
        };
        assert_eq!((front.id, front.focused, front.visible), (4, true, false));
        let content = Rect::at(2, 0, 796, 898);
        assert_eq!(back.content, content);
    }
}
