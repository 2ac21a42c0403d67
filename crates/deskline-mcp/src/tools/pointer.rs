//! Pointer tools: click, scroll, drag.

use deskline_link::call::{ClickKind, Input, Typing};
use deskline_link::{Action, Button, Target};

use super::arg::{
    Arg, ELEMENT, EXPECT, HEIGHT, MODIFIER_FLAGS, PID, PRESS_KEY, PRESS_KEY_MODIFIERS, REF, ROLE,
    TIMEOUT, Type, WIDTH, WINDOW, X, Y, on_target,
};
use super::record::{Effect, Handler, ToolRecord};
use crate::args::{Args, Wrong};
use crate::target::together;

#[rustfmt::skip]
pub(super) static CLICK: ToolRecord = ToolRecord {
    name: "click_and_traverse",
    about: "Click an element or point, then optionally type text and press a key: a field, its \
        text and Return in one call. Target: ref, or element (+ role), or x,y (+ width,height) \
        from a tree line.",
    args: &[
        PID, ELEMENT, ROLE, REF, X, Y, WIDTH, HEIGHT,
        Arg::optional("doubleClick", Type::Bool, "two clicks"),
        Arg::optional("rightClick", Type::Bool, "for a menu"),
        Arg::optional("middleClick", Type::Bool, "wheel button"),
        Arg::optional("hover", Type::Bool, "only move there"),
        Arg::optional("choose", Type::Text, "this choice of a combo box, menu button or list"),
        MODIFIER_FLAGS,
        Arg::optional("text", Type::Text, "typed after the click"),
        PRESS_KEY, PRESS_KEY_MODIFIERS, EXPECT, TIMEOUT,
    ],
    effect: Effect::Act,
    handler: Handler::Link(click),
};

fn click(args: Args<'_>) -> Result<Action, Wrong> {
    let (target, kind, then) = (args.target()?, click_kind(args)?, args.typing()?);
    let choice = args.filled("choose", "the text of a choice")?;
    let name = match (choice, args.flag("hover", false)?) {
        (None, false) => return Ok(Action::Input(Input::Click { target, kind, then })),
        (Some(_), true) => return Err(together(&["choose", "hover"])),
        (Some(_), false) => "choose",
        (None, true) => "hover",
    };
    if kind != ClickKind::default() || then != Typing::default() {
        return Err(format!(
            "{name} cannot be combined with another kind of click, modifierFlags, text or pressKey. \
             Leave these out, or {name}"
        ));
    }
    Ok(match choice {
        Some(choice) => Action::choose(target, choice),
        None => Action::hover(target),
    })
}

fn click_kind(args: Args<'_>) -> Result<ClickKind, Wrong> {
    let mut given = Vec::new();
    for name in ["doubleClick", "rightClick", "middleClick"] {
        given.extend(args.flag(name, false)?.then_some(name));
    }
    let kind = match given[..] {
        [] => ClickKind::default(),
        ["doubleClick"] => ClickKind::double(),
        ["rightClick"] => ClickKind::with_button(Button::Right),
        ["middleClick"] => ClickKind::with_button(Button::Middle),
        _ => return Err(together(&given)),
    };
    Ok(ClickKind {
        modifiers: args.modifiers("modifierFlags")?,
        ..kind
    })
}

pub(super) static SCROLL: ToolRecord = ToolRecord {
    name: "scroll_and_traverse",
    about: "Turn the wheel over an element or point.",
    args: on_target![
        Arg::optional("deltaY", Type::Integer, "lines down; negative: up"),
        Arg::optional("deltaX", Type::Integer, "to the right"),
        Arg::optional(
            "until",
            Type::Text,
            "scrolls on until an element with this text shows",
        ),
        WINDOW,
    ],
    effect: Effect::Act,
    handler: Handler::Link(scroll),
};

/// More lines than this in one call are a mistake: the app must handle an event for each.
const MOST_LINES: i32 = 1_000;

fn scroll(args: Args<'_>) -> Result<Action, Wrong> {
    let lines = |name| Ok::<_, Wrong>(args.whole(name, -MOST_LINES, MOST_LINES)?.unwrap_or(0));
    let (delta_x, delta_y) = (lines("deltaX")?, lines("deltaY")?);
    let until = args.filled("until", "the text that must show")?;
    if (delta_x, delta_y) == (0, 0) && until.is_none() {
        return Err("deltaY and deltaX are both 0. Pass how many lines to scroll, or until".into());
    }
    if delta_x != 0 && until.is_some() {
        return Err("until scrolls up or down. Leave out deltaX".into());
    }
    Ok(Action::Input(Input::Scroll {
        at: args.target()?,
        delta_x,
        delta_y,
        until: until.map(str::to_owned),
    }))
}

pub(super) static DRAG: ToolRecord = ToolRecord {
    name: "drag_and_traverse",
    about: "Drag from one element or point to another (to…).",
    args: on_target![
        Arg::optional("toX", Type::Number, "end point"),
        Arg::optional("toY", Type::Number, "end point"),
        Arg::optional("toRef", Type::Text, "end element"),
        Arg::optional("toElement", Type::Text, "its text"),
        Arg::optional("toPid", Type::Integer, "if another app"),
        MODIFIER_FLAGS,
        Arg::unlisted("modifiers", Type::Modifiers),
    ],
    effect: Effect::Act,
    handler: Handler::Link(drag),
};

fn drag(args: Args<'_>) -> Result<Action, Wrong> {
    let flags = if args.has("modifiers") {
        "modifiers"
    } else {
        "modifierFlags"
    };
    Ok(Action::Input(Input::Drag {
        from: args.target()?,
        to: drag_end(args)?,
        to_pid: args.whole("toPid", 1, i32::MAX)?.map(i32::unsigned_abs),
        modifiers: args.modifiers(flags)?,
    }))
}

/// Where a drag ends.
fn drag_end(args: Args<'_>) -> Result<Target, Wrong> {
    let element = args.filled("toElement", "a part of the element's text")?;
    let point = args.pair(["toX", "toY"], Args::coordinate)?;
    let point = point.map(|(x, y)| Target::at(x.floor() as i32, y.floor() as i32));
    let ends = [
        ("toRef", args.reference("toRef")?),
        ("toElement", element.map(Target::text)),
        ("toX,toY", point),
    ];
    let given = ends.iter().filter(|(_, end)| end.is_some());
    let names: Vec<&str> = given.map(|(name, _)| *name).collect();
    if names.len() > 1 {
        return Err(together(&names));
    }
    ends.into_iter().find_map(|(_, end)| end).ok_or_else(|| {
        "the end of the drag is missing. Pass toRef (\"e42\"), toElement (a part of its text), or \
         toX and toY"
            .into()
    })
}
