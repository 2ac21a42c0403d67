//! Keyboard tools: type, press a key.

use std::time::Duration;

use deskline_link::Action;
use deskline_link::call::Input;

use super::arg::{
    Arg, EXPECT, MODIFIER_FLAGS, PID, PRESS_KEY, PRESS_KEY_MODIFIERS, TIMEOUT, Type, WINDOW,
};
use super::record::{Effect, Handler, ToolRecord};
use crate::args::{Args, Wrong};

pub(super) static TYPE: ToolRecord = ToolRecord {
    name: "type_and_traverse",
    about: "Type text into what has the focus, then optionally press a key.",
    args: &[
        PID,
        Arg::required("text", Type::Text, "at the cursor"),
        Arg::optional(
            "paste",
            Type::Bool,
            "by the clipboard: no editor indents it",
        ),
        PRESS_KEY,
        PRESS_KEY_MODIFIERS,
        EXPECT,
        TIMEOUT,
        WINDOW,
    ],
    effect: Effect::Act,
    handler: Handler::Link(type_text),
};

fn type_text(args: Args<'_>) -> Result<Action, Wrong> {
    let typing = args.typing()?;
    if typing.text.is_none() && typing.key.is_none() {
        return Err(String::from(
            "text is empty, so there is nothing to type. Pass the text, or use \
            press_key_and_traverse for a key alone",
        ));
    }
    Ok(Action::type_text(typing))
}

pub(super) static PRESS_KEY_TOOL: ToolRecord = ToolRecord {
    name: "press_key_and_traverse",
    about: "Press one key with modifiers.",
    args: &[
        PID,
        Arg::required(
            "keyName",
            Type::Text,
            "a character, Return, Tab, Space, Escape, Backspace, Delete, Insert, Home, End, PageUp, \
            PageDown, Up, Down, Left, Right, Menu, F1-F24, KP_0",
        ),
        MODIFIER_FLAGS,
        Arg::optional("hold", Type::Number, "seconds, at most 10"),
        EXPECT,
        TIMEOUT,
        WINDOW,
    ],
    effect: Effect::Act,
    handler: Handler::Link(press_key),
};

/// The longest that a key may be held, in seconds: the person waits meanwhile.
const LONGEST_HOLD: u32 = 10;

fn press_key(args: Args<'_>) -> Result<Action, Wrong> {
    let press = args
        .key("keyName", "modifierFlags")?
        .ok_or("keyName is missing. Pass a key name such as Return or a")?;
    Ok(Action::Input(Input::PressKey {
        press,
        hold: args.seconds("hold", LONGEST_HOLD, Duration::ZERO)?,
    }))
}
