//! An app's document windows that nobody sees, such as LibreOffice's windows behind the front one.
//! Each has about a thousand elements, so a link reuses the last reading of such a window.
//!
//! Only the window that has the keyboard has the state ACTIVE, and the states of all frames are
//! always read. So a window is read while it is in use, and once more when its state has changed
//! after that.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use deskline_core::{ElementId, Tree};

use super::reuse::copy;
use crate::engine::Node;
use crate::names::{StateSet, role};
use crate::tree::{Toplevel, Windows, split_id};

/// The minimum number of nodes of a window that is reused: a smaller window is read each time.
const MANY: usize = 400;

/// The documents of one app, from the last reading of each, by the paths of their frames.
#[derive(Debug, Default)]
pub struct Documents(HashMap<Arc<str>, Document>);

#[derive(Debug)]
struct Document {
    /// The frame and its descendants.
    nodes: Vec<Node>,
    window: Toplevel,
    read: Instant,
}

impl Documents {
    /// The frames that nobody sees, by path, each with the states that it had when it was read.
    /// While a frame still has these states, it need not be read. Leaves out `acted_in`, the frames
    /// that the link acts in.
    pub fn unseen(&self, windows: &Windows, acted_in: &[ElementId]) -> HashMap<Arc<str>, StateSet> {
        let tops = &windows.toplevels[..];
        let is_unseen = |window: &Toplevel| {
            let own = window.content();
            let covers = |t: &Toplevel| t.on_screen && t.content().intersect(&own) == own;
            let at = tops.iter().position(|top| top == window);
            at.is_some_and(|at| at > 0 && (!window.on_screen || tops[..at].iter().any(covers)))
        };
        let acts_in = |path: &str| {
            let mut paths = acted_in.iter().filter_map(split_id);
            paths.any(|(_, acted_in)| acted_in == path)
        };
        let known = self.0.iter().filter(|(path, document)| {
            !windows.unplaced && is_unseen(&document.window) && !acts_in(path)
        });
        let known = known.map(|(path, document)| (path.clone(), document.nodes[0].states));
        known.collect()
    }

    /// Adds the descendants of these frames to `nodes`, as they were last read. Returns the number
    /// of added nodes, how many of them had not been read, and the age of the oldest reading.
    pub fn fill(&self, nodes: &mut Vec<Node>, frames: &[usize]) -> (usize, usize, Duration) {
        let (first, mut unread, mut age) = (nodes.len(), 0, Duration::ZERO);
        for &frame in frames {
            let Some(document) = self.0.get(&nodes[frame].path) else {
                continue;
            };
            age = age.max(document.read.elapsed());
            let start = nodes.len();
            let at = |then: usize| if then == 0 { frame } else { start + then - 1 };
            let moved = |then: &Node, parent| Node {
                children: then.children.iter().map(|&child| at(child)).collect(),
                ..copy(then, parent)
            };
            nodes[frame] = moved(&document.nodes[0], nodes[frame].parent);
            for then in &document.nodes[1..] {
                unread += usize::from(then.role.is_none());
                nodes.push(moved(then, then.parent.map(at)));
            }
        }
        (nodes.len() - first, unread, age)
    }

    /// Stores the documents of a reading. The frames in `older` were filled by [`Self::fill`]:
    /// their documents stay as they are.
    pub fn remember(&mut self, nodes: &[Node], older: &[usize], tree: &Tree, windows: &Windows) {
        let mut pairs: Vec<(&str, &Toplevel)> = Vec::new();
        for (window, toplevel) in tree.windows.iter().zip(&windows.toplevels) {
            if let [top] = window.elements[..]
                && let Some((_, path)) = split_id(&tree.elements[top].id)
            {
                pairs.push((path, toplevel));
            }
        }
        let tops = nodes.first().map_or(&[][..], |root| &root.children);
        let mut before = std::mem::take(&mut self.0);
        for &top in tops.iter().filter(|_| pairs.len() > 1) {
            let path = &nodes[top].path;
            let of = |(its, _): &&(&str, &Toplevel)| *its == &**path;
            let read = || {
                let frame = nodes[top].role == Some(role::FRAME) && nodes[top].showing;
                let (_, window) = pairs.iter().find(of).filter(|_| frame)?;
                let document = Document {
                    nodes: subtree(nodes, top),
                    window: (*window).clone(),
                    read: Instant::now(),
                };
                (document.nodes.len() >= MANY && !window.modal).then_some(document)
            };
            let known = older.contains(&top).then(|| before.remove(path)).flatten();
            if let Some(document) = known.or_else(read) {
                self.0.insert(path.clone(), document);
            }
        }
    }
}

/// A node and all its descendants, the node first.
fn subtree(nodes: &[Node], top: usize) -> Vec<Node> {
    let mut found = vec![copy(&nodes[top], None)];
    let mut todo = vec![(top, 0)];
    while let Some((then, now)) = todo.pop() {
        for &child in &nodes[then].children {
            let index = found.len();
            found[now].children.push(index);
            found.push(copy(&nodes[child], Some(now)));
            todo.push((child, index));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::element_id;
    use deskline_core::{Rect, WindowId};

    fn window(id: u64) -> Toplevel {
        let window = Rect::at(0, 0, 800, 600);
        Toplevel::new(WindowId(id), id.to_string(), window)
    }

    fn node(path: &str, parent: Option<usize>, role: u32) -> Node {
        Node {
            path: path.into(),
            parent,
            role: Some(role),
            showing: true,
            ..Node::default()
        }
    }

    /// A frame behind another one, with a button in it.
    fn documents() -> Documents {
        let nodes = vec![
            node("/behind", None, role::FRAME),
            node("/behind/a", Some(0), role::PANEL),
        ];
        let mut document = Document {
            nodes,
            window: window(2),
            read: Instant::now(),
        };
        document.nodes[0].children.push(1);
        Documents([("/behind".into(), document)].into())
    }

    #[test]
    fn a_window_that_nobody_sees_or_acts_in_is_not_read() {
        let windows = || Windows {
            toplevels: vec![window(1), window(2)],
            ..Windows::default()
        };
        let unseen = |windows: &Windows, acted_in: &[ElementId]| {
            !documents().unseen(windows, acted_in).is_empty()
        };
        assert!(unseen(&windows(), &[element_id(":1.1", "/front")]));
        assert!(!unseen(&windows(), &[element_id(":1.1", "/behind")]));
        let read: [fn(&mut Windows); 5] = [
            |w| w.toplevels.reverse(),
            |w| w.toplevels[0].window.w -= 1,
            |w| w.toplevels[0].on_screen = false,
            |w| w.toplevels[1].window.x += 1,
            |w| w.unplaced = true,
        ];
        for (n, change) in read.into_iter().enumerate() {
            let mut windows = windows();
            change(&mut windows);
            assert!(!unseen(&windows, &[]), "{n}");
        }
        let mut minimised = windows();
        minimised.toplevels[0].window.w = 10;
        minimised.toplevels[1].on_screen = false;
        let mut known = documents();
        known
            .0
            .values_mut()
            .for_each(|d| d.window.on_screen = false);
        assert!(!known.unseen(&minimised, &[]).is_empty());
    }

    #[test]
    fn the_nodes_of_a_window_that_is_not_read_are_filled_in_unchanged() {
        let mut nodes = vec![
            node("/", None, role::FRAME),
            node("/front", Some(0), role::FRAME),
            node("/behind", Some(0), role::FRAME),
        ];
        let (filled, unread, _) = documents().fill(&mut nodes, &[2]);
        assert_eq!((filled, unread, nodes.len()), (1, 0, 4));
        assert_eq!((&*nodes[3].path, nodes[3].parent), ("/behind/a", Some(2)));
        assert_eq!(
            (nodes[2].parent, &nodes[2].children[..]),
            (Some(0), &[3][..])
        );
    }
}
