//! Describes an argument of a tool for `tools/list`.

use serde_json::{Map, Value, json};

/// The JSON type of an argument.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Type {
    Text,
    Integer,
    Number,
    Bool,
    /// One of these words.
    Choice(fn() -> Vec<&'static str>),
    /// A list of modifiers.
    Modifiers,
    /// A list of items with this schema.
    List(fn() -> Value),
}

impl Type {
    fn schema(self) -> Value {
        match self {
            Self::Text => json!({"type": "string"}),
            Self::Integer => json!({"type": "integer"}),
            Self::Number => json!({"type": "number"}),
            Self::Bool => json!({"type": "boolean"}),
            Self::Choice(words) => json!({"type": "string", "enum": words()}),
            Self::Modifiers => {
                json!({"type": "array", "items": Self::Choice(|| MODIFIERS.to_vec()).schema()})
            }
            Self::List(item) => json!({"type": "array", "items": item()}),
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Arg {
    pub(crate) name: &'static str,
    kind: Type,
    about: &'static str,
    pub(crate) required: bool,
    listed: bool,
}

impl Arg {
    pub(crate) const fn optional(name: &'static str, kind: Type, about: &'static str) -> Self {
        Self {
            name,
            kind,
            about,
            required: false,
            listed: true,
        }
    }

    pub(crate) const fn required(name: &'static str, kind: Type, about: &'static str) -> Self {
        let mut arg = Self::optional(name, kind, about);
        arg.required = true;
        arg
    }

    /// An argument that is accepted but not listed: every session pays for the list.
    pub(crate) const fn unlisted(name: &'static str, kind: Type) -> Self {
        let mut arg = Self::optional(name, kind, "");
        arg.listed = false;
        arg
    }
}

/// The modifiers as they are listed. Calls may also use their other names, and rarer modifiers.
const MODIFIERS: [&str; 5] = ["Shift", "Control", "Alt", "Super", "Command"];

pub(crate) const PID: Arg = Arg::required("pid", Type::Integer, "the app's");
pub(crate) const ELEMENT: Arg = Arg::optional("element", Type::Text, "part of its text");
pub(crate) const ROLE: Arg = Arg::optional("role", Type::Text, "its kind: AXButton");
pub(crate) const REF: Arg = Arg::optional("ref", Type::Text, "#e42 of a tree line");
pub(crate) const X: Arg = Arg::optional("x", Type::Number, "pixels, as in tree lines");
pub(crate) const Y: Arg = Arg::optional("y", Type::Number, "as x");
pub(crate) const WIDTH: Arg = Arg::optional("width", Type::Number, "acts at the centre");
pub(crate) const HEIGHT: Arg = Arg::optional("height", Type::Number, "with width");
pub(crate) const PRESS_KEY: Arg = Arg::optional("pressKey", Type::Text, "pressed last: Return");
pub(crate) const PRESS_KEY_MODIFIERS: Arg =
    Arg::optional("pressKeyModifiers", Type::Modifiers, "of pressKey");
pub(crate) const WINDOW: Arg = Arg::optional("window", Type::Text, "ref or part of its title");
pub(crate) const MODIFIER_FLAGS: Arg = Arg::optional("modifierFlags", Type::Modifiers, "held");

#[rustfmt::skip]
pub(crate) const EXPECT: Arg =
    Arg::optional("expect", Type::Text, "text that must show in 3 s; !text: must go");
pub(crate) const TIMEOUT: Arg = Arg::unlisted("timeout", Type::Number);

/// The options of every link. No tool lists them.
#[rustfmt::skip]
pub(crate) const OPTIONS: [Arg; 7] = [
    Arg::unlisted("traverseBefore", Type::Bool), Arg::unlisted("traverseAfter", Type::Bool),
    Arg::unlisted("showDiff", Type::Bool), Arg::unlisted("onlyVisibleElements", Type::Bool),
    Arg::unlisted("showAnimation", Type::Bool), Arg::unlisted("animationDuration", Type::Number),
    Arg::unlisted("delayAfterAction", Type::Number),
];

/// The arguments of a tool that acts on an element or a point: the app, the target, and the tool's
/// own. Only a click lists the size of the box around a point.
macro_rules! on_target {
    ($($own:expr),* $(,)?) => {{
        use $crate::tools::arg::{self, ELEMENT, PID, REF, ROLE, X, Y};
        const WIDTH: arg::Arg = arg::Arg::unlisted("width", arg::Type::Number);
        const HEIGHT: arg::Arg = arg::Arg::unlisted("height", arg::Type::Number);
        &[PID, ELEMENT, ROLE, REF, X, Y, WIDTH, HEIGHT, $($own),*]
    }};
}
pub(super) use on_target;

impl Arg {
    /// Name and type, if the argument is listed. Modifiers are listed without their values, which
    /// the single tools and the example of a chain show.
    pub(super) fn brief(&self) -> Option<(String, Value)> {
        let kind = match self.kind {
            Type::Modifiers => json!({"type": "array", "items": Type::Text.schema()}),
            kind => kind.schema(),
        };
        self.listed.then(|| (self.name.to_owned(), kind))
    }
}

/// The JSON schema of a tool with these arguments.
pub(crate) fn schema(args: &[Arg]) -> Map<String, Value> {
    let listed = || args.iter().filter(|arg| arg.listed);
    let properties: Map<String, Value> = listed()
        .map(|arg| {
            let mut property = arg.kind.schema();
            if !arg.about.is_empty()
                && let Some(property) = property.as_object_mut()
            {
                property.insert("description".into(), arg.about.into());
            }
            (arg.name.to_owned(), property)
        })
        .collect();
    let required: Vec<&str> = listed()
        .filter(|arg| arg.required)
        .map(|arg| arg.name)
        .collect();
    let mut schema = Map::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), properties.into());
    if !required.is_empty() {
        schema.insert("required".into(), required.into());
    }
    schema
}
