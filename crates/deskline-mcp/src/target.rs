//! Arguments that several tools share: targets, keys and options.

use deskline_core::{KeyPress, Modifiers, Point};
use deskline_link::call::Typing;
use deskline_link::{Options, Target, WindowTarget};

use crate::args::{Args, Wrong, shown};

/// The ways to give a target, for errors.
const WAYS: &str = "ref (\"e42\", from the end of a tree line), element (a part of its text, \
    with role to narrow it), or x and y (from a tree line, with width and height for its centre)";

/// The error for arguments that exclude each other.
pub(crate) fn together(given: &[&str]) -> Wrong {
    let given = given.join(" and ");
    format!("{given} were given together. Pass only one")
}

impl Args<'_> {
    /// A target: a ref, a text or a point.
    pub(crate) fn target(self) -> Result<Target, Wrong> {
        let by_place = ["x", "y", "width", "height"]
            .iter()
            .any(|name| self.has(name));
        let mut given = vec!["ref", "element"];
        given.retain(|name| self.has(name));
        given.extend(by_place.then_some("x,y"));
        match given.as_slice() {
            ["ref" | "element"] => self.element(),
            ["x,y"] => {
                self.no_role()?;
                self.point().map(Target::Point)
            }
            [] => {
                self.no_role()?;
                Err(format!("no target. Pass one of {WAYS}"))
            }
            several => Err(format!("{} of {WAYS}", together(several))),
        }
    }

    /// A target that is an element: a ref or a text.
    pub(crate) fn element(self) -> Result<Target, Wrong> {
        let reference = self.reference("ref")?;
        let text = self.filled("element", "a part of the element's text")?;
        let role = self.filled("role", "the start of a role such as AXButton")?;
        match (reference, text) {
            (Some(_), Some(_)) => Err(together(&["ref", "element"])),
            (Some(target), None) => {
                self.no_role()?;
                Ok(target)
            }
            (None, Some(text)) => Ok(Target::Text {
                text: text.to_owned(),
                role: role.map(str::to_owned),
            }),
            (None, None) => {
                self.no_role()?;
                Err(String::from(
                    "no target. Pass ref (\"e42\", from the end of a tree line) or element (a \
                    part of its text, with role to narrow it)",
                ))
            }
        }
    }

    fn no_role(self) -> Result<(), Wrong> {
        if self.has("role") && !self.has("element") {
            return Err(String::from(
                "role was given without element. Pass element, a part of the element's text, too",
            ));
        }
        Ok(())
    }

    /// A ref, from the argument `name`.
    pub(crate) fn reference(self, name: &str) -> Result<Option<Target>, Wrong> {
        self.text(name)?
            .map(|text| {
                text.trim().parse().map(Target::Ref).map_err(|()| {
                    format!(
                        "{name} must look like e42, as at the end of a tree line, not {}",
                        shown(&text.into())
                    )
                })
            })
            .transpose()
    }

    /// A window: its ref or a part of its title.
    pub(crate) fn toplevel(self, name: &str) -> Result<Option<WindowTarget>, Wrong> {
        let window = self.filled(name, "a part of a window's title or its ref")?;
        Ok(window.map(|text| match text.trim().parse() {
            Ok(reference) => WindowTarget::Ref(reference),
            Err(()) => WindowTarget::Titled(text.to_owned()),
        }))
    }

    /// The point `x`,`y`, or with `width`,`height` the centre of that rectangle.
    pub(crate) fn point(self) -> Result<Point, Wrong> {
        let (x, y) = self.pair(["x", "y"], Self::coordinate)?.ok_or(
            "width and height were given without x and y. Pass all four as in a tree line",
        )?;
        let size = self.pair(["width", "height"], Self::extent)?;
        let (w, h) = size.unwrap_or_default();
        let middle = |start: f64, length: f64| (start + length / 2.0).floor() as i32;
        Ok(Point::at(middle(x, w), middle(y, h)))
    }

    /// The text and key to type: `text`, `pressKey`, `pressKeyModifiers`.
    pub(crate) fn typing(self) -> Result<Typing, Wrong> {
        let text = self.text("text")?.filter(|text| !text.is_empty());
        let key = self.key("pressKey", "pressKeyModifiers")?;
        Ok(Typing {
            paste: self.flag("paste", false)?,
            text: text.map(str::to_owned),
            key,
        })
    }

    pub(crate) fn key(self, name: &str, modifiers: &str) -> Result<Option<KeyPress>, Wrong> {
        let held = self.names(modifiers)?;
        // Do not trim: a space is a key.
        match self.text(name)? {
            Some("") => Err(format!(
                "{name} is empty. Pass a key name such as Return or a"
            )),
            Some(key) => KeyPress::parse(key, &held)
                .map(Some)
                .map_err(|wrong| wrong.to_string()),
            None if held.is_empty() => Ok(None),
            None => Err(format!("{modifiers} was given without {name}. Pass both")),
        }
    }

    /// A list of modifiers.
    pub(crate) fn modifiers(self, name: &str) -> Result<Modifiers, Wrong> {
        Modifiers::parse(self.names(name)?).map_err(|wrong| wrong.to_string())
    }

    /// The options of every link.
    pub(crate) fn options(self) -> Result<Options, Wrong> {
        let default = Options::default();
        Ok(Options {
            traverse_before: self.flag("traverseBefore", default.traverse_before)?,
            traverse_after: self.flag("traverseAfter", default.traverse_after)?,
            show_diff: self.flag("showDiff", default.show_diff)?,
            only_visible_elements: self
                .flag("onlyVisibleElements", default.only_visible_elements)?,
            show_animation: self.flag("showAnimation", default.show_animation)?,
            animation_duration: self.seconds(
                "animationDuration",
                10,
                default.animation_duration,
            )?,
            delay_after_action: self.seconds("delayAfterAction", 60, default.delay_after_action)?,
            goes_on: false,
        })
    }
}
