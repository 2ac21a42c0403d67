//! The content of the answer's files. It may be made before the link is over.

use std::borrow::Cow;
use std::thread::{Builder, ScopedJoinHandle, scope};

use deskline_core::{Point, Rect, Tree, tree_file};
use deskline_journal::{Shot, encode};

use crate::call::Call;
use crate::display::Picture;
use crate::report::{Content, Drop, Report};

/// The text and the picture of this report.
pub(crate) fn content(call: &Call, report: &Report, error: Option<&str>) -> Content {
    let picture = report.pictures.after.as_ref();
    let shot = picture.and_then(|picture| {
        let picture = picture.as_ref().ok()?;
        Some(Shot {
            width: picture.width,
            height: picture.height,
            rgb: &picture.rgb,
            origin: picture.origin,
            scale: picture.scale,
            crosshair: report.step.done.at.and_then(|at| pixel(picture, at)),
            clicked: clicked(report).and_then(|clicked| picture.pixels(clicked)),
        })
    });
    // Encoding a picture takes as long as rendering the tree. So the two run at the same time.
    scope(|scope| {
        let make = |shot| move || encode(&shot);
        let encoded = shot.map(|shot| Builder::new().spawn_scoped(scope, make(shot)));
        let text = tree_text(call, report, error);
        let picture = encoded.map(|thread| match thread.map(ScopedJoinHandle::join) {
            Ok(Ok(png)) => png.map_err(|e| e.to_string()),
            Ok(Err(_)) => Err("encoding it failed".to_owned()),
            Err(e) => Err(e.to_string()),
        });
        Content { text, picture }
    })
}

/// The pixel of a picture that shows this point of the screen.
fn pixel(picture: &Picture, at: Point) -> Option<(u32, u32)> {
    let scaled = |v: i32| u32::try_from((f64::from(v) * picture.scale).round() as i64).ok();
    Some((
        scaled(at.x - picture.origin.x)?,
        scaled(at.y - picture.origin.y)?,
    ))
}

/// The bounds on the screen of the clicked element.
fn clicked(report: &Report) -> Option<Rect> {
    let acted_on = report.step.acted_on.as_ref()?;
    let now = report.readings.after.as_ref();
    let now = now
        .and_then(|after| Some(&after.elements[acted_on.find(after, report.readings.current())?]));
    let now = now.filter(|e| e.visible).and_then(|e| e.extents);
    now.or(acted_on.was.extents)
}

/// The tree that the file lists. It has no elements if the app is gone.
pub(super) fn listed(report: &Report) -> Option<Cow<'_, Tree>> {
    let tree = report.readings.latest()?;
    let gone = report.app.is_gone();
    let empty = gone.then(|| Cow::Owned(Tree::new(tree.app.clone(), Vec::new())));
    Some(empty.unwrap_or(Cow::Borrowed(tree)))
}

/// The tree file's text. `None` if no tree was read.
fn tree_text(call: &Call, report: &Report, error: Option<&str>) -> Option<String> {
    let only_visible = call.options.only_visible_elements;
    let late = report.late.as_ref();
    let mut text = late.map(|late| late.lines.clone()).unwrap_or_default();
    text += &match report.compared() {
        Some((before, after, diff)) => tree_file::diff_and_tree(before, after, diff, only_visible),
        None => tree_file::full_tree(listed(report)?.as_ref(), only_visible),
    };
    for Drop {
        before,
        after,
        diff,
    } in &report.drops
    {
        text += &tree_file::dropped_on(before, after, diff, only_visible);
    }
    if let Some(tree) = report.taken() {
        text += &tree_file::app_switch(tree, only_visible);
    }
    Some(match error {
        Some(error) => tree_file::error(error) + &text,
        None => text,
    })
}
