//! Tools that use the accessibility API alone: no pointer motion, no keys, no focus change.

use deskline_link::Action;

use super::arg::{Arg, EXPECT, TIMEOUT, Type, on_target};
use super::record::{Effect, Handler, ToolRecord};

pub(super) static SET_VALUE: ToolRecord = ToolRecord {
    name: "set_value_and_traverse",
    about: "Set the value of a field, slider or other control in the background: without pointer, \
        keys or focus.",
    args: on_target![
        Arg::required("value", Type::Text, "replaces what is there"),
        EXPECT,
        TIMEOUT
    ],
    effect: Effect::Set,
    handler: Handler::Link(|args| {
        let target = args.target()?;
        let value = args.value("value")?.unwrap_or_default();
        Ok(Action::set_value(target, value))
    }),
};

pub(super) static PRESS_AX: ToolRecord = ToolRecord {
    name: "press_ax_and_traverse",
    about: "Press a button, link or menu item (of a closed menu too) in the background. \
        If the app ignores it, click.",
    args: on_target![EXPECT, TIMEOUT],
    effect: Effect::Act,
    handler: Handler::Link(|args| Ok(Action::press_ax(args.target()?))),
};

pub(super) static SET_SELECTED: ToolRecord = ToolRecord {
    name: "set_selected_and_traverse",
    about: "Select or deselect a row, tab or item in the background.",
    args: on_target![
        Arg::optional("selected", Type::Bool, "default true"),
        EXPECT,
        TIMEOUT
    ],
    effect: Effect::Set,
    handler: Handler::Link(|args| {
        let target = args.target()?;
        Ok(Action::set_selected(target, args.flag("selected", true)?))
    }),
};
