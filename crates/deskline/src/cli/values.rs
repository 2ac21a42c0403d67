//! The values that options and arguments take.

use std::io::Read as _;
#[cfg(unix)]
use std::time::Duration;

/// A JSON object.
pub(crate) type Object = serde_json::Map<String, serde_json::Value>;

/// How much of standard input is read, in bytes.
const LARGEST: u64 = 4 << 20;

pub(super) fn object(text: &str) -> Result<Object, String> {
    let mut input = String::new();
    let text = if text == "-" {
        let read = std::io::stdin().take(LARGEST).read_to_string(&mut input);
        read.map_err(|error| format!("standard input: {error}"))?;
        &input
    } else {
        text
    };
    match serde_json::from_str(text) {
        Ok(serde_json::Value::Object(object)) => Ok(object),
        Ok(_) => Err("it must be a JSON object such as {\"pid\": 4821}".into()),
        Err(error) => Err(format!(
            "{error}. Put it in single quotes: '{{\"pid\": 4821}}'"
        )),
    }
}

/// A value by its name: `name=value`.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) value: String,
}

pub(super) fn named(text: &str) -> Result<Named, String> {
    let (name, value) = text.split_once('=').ok_or("it must be NAME=VALUE")?;
    let (name, value) = (name.trim().to_owned(), value.to_owned());
    Ok(Named { name, value })
}

/// The size of a screen in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) width: u16,
    pub(crate) height: u16,
}

impl Default for Size {
    /// The size of a private desktop.
    fn default() -> Self {
        let (width, height) = (1280, 800);
        Self { width, height }
    }
}

/// A desktop of the agent's own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Own {
    pub(crate) size: Size,
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    pub(crate) wayland: bool,
}

impl std::fmt::Display for Own {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Size { width, height } = self.size;
        let kind = if self.wayland { WAYLAND } else { X11 };
        write!(f, "{kind}={width}x{height}")
    }
}

/// The kinds of private desktops.
const X11: &str = "private";
const WAYLAND: &str = "private-wayland";

impl std::str::FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let side = |side: &str| {
            side.parse()
                .ok()
                .filter(|side| (200..=16_384).contains(side))
        };
        text.split_once('x')
            .and_then(|(width, height)| {
                Some(Self {
                    width: side(width)?,
                    height: side(height)?,
                })
            })
            .ok_or_else(|| "it must look like 1280x800, each side from 200 to 16384".into())
    }
}

/// The longest time without a call, in minutes: a week.
#[cfg(unix)]
const LONGEST: f64 = 7.0 * 24.0 * 60.0;

#[cfg(unix)]
pub(super) fn minutes(text: &str) -> Result<Duration, String> {
    let minutes: Option<f64> = text.parse().ok();
    let minutes = minutes.filter(|minutes| (0.01..=LONGEST).contains(minutes));
    let minutes = minutes.ok_or("it must be a number of minutes, at most a week")?;
    Ok(Duration::from_secs_f64(minutes * 60.0))
}

#[cfg(target_os = "linux")]
pub(super) fn size(text: &str) -> Result<u64, String> {
    deskline_journal::size(text).ok_or_else(|| "it must be a size, such as 500MB or 2GiB".into())
}

pub(super) fn private(text: &str) -> Result<Option<Own>, String> {
    let (kind, size) = match text.split_once('=') {
        Some((kind, size)) => (kind, Some(size)),
        None => (text, None),
    };
    let wayland = match kind {
        "yours" if size.is_none() => return Ok(None),
        X11 => false,
        WAYLAND if cfg!(target_os = "linux") => true,
        _ => {
            return Err(
                "it must be yours, private, private-wayland or private=WIDTHxHEIGHT".into(),
            );
        }
    };
    let size = size.map_or(Ok(Size::default()), str::parse)?;
    Ok(Some(Own { size, wayland }))
}
