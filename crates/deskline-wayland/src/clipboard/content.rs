//! The clipboard's data by type, and how to read that data from the clipboard's owner.

use std::collections::HashSet;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use deskline_contract::clipboard::{
    HINT, HINT_DATA, MOST_SAVED, NO_DATA, SAVES, TEXT_TYPES, lost_formats, order,
};
use deskline_contract::{Cancel, DisplayError, Error, Result};
use rustix::event::{PollFd, PollFlags};

/// How long the clipboard's owner may take to hand over a short text.
const TEXT: Duration = Duration::from_millis(300);

/// The time between two checks of the cancel flag.
pub(crate) const SLICE: Duration = Duration::from_millis(10);

/// Two more types in which a text is offered, because Xwayland asks for them.
const X11_TEXT_TYPES: [&str; 2] = ["STRING", "TEXT"];

/// The clipboard's data: pairs of a type and the data of that type.
pub(crate) type Content = Arc<[(String, Arc<[u8]>)]>;

/// The data of one type, or the reason why there is none.
pub(crate) type Received = std::result::Result<Arc<[u8]>, Missing>;

pub(crate) enum Missing {
    Late,
    TooLarge,
}

/// The limits of reading the clipboard: the size, the time and the cancel flag.
#[derive(Clone, Copy)]
pub(crate) struct Bounds<'c> {
    most: usize,
    until: Instant,
    pub(crate) cancel: &'c Cancel,
}

impl Bounds<'_> {
    fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    pub(crate) fn is_over(&self) -> bool {
        self.left().is_zero()
    }
}

/// Reads and returns the data of these types, with a note about types that were left out. `receive`
/// reads the data of one type.
pub(crate) fn save(
    mut types: Vec<String>,
    cancel: &Cancel,
    mut receive: impl FnMut(&str, Bounds<'_>) -> Result<Received>,
) -> Result<(Content, Option<String>)> {
    let mut seen = HashSet::new();
    types.retain(|kind| !NO_DATA.contains(&kind.as_str()) && seen.insert(kind.clone()));
    let needed = order(&mut types, |kind| kind);
    let mut bounds = Bounds {
        most: MOST_SAVED,
        until: Instant::now() + SAVES,
        cancel,
    };
    let mut lost = 0;
    let mut content = Vec::new();
    for (index, kind) in types.into_iter().enumerate() {
        match receive(&kind, bounds)? {
            Ok(data) => {
                bounds.most = bounds.most.saturating_sub(data.len());
                content.push((kind, data));
            }
            Err(_) if index >= needed => lost += 1,
            Err(Missing::Late) => return Err(DisplayError::ClipboardLate(kind, SAVES).into()),
            Err(Missing::TooLarge) => {
                return Err(DisplayError::ClipboardTooLarge(MOST_SAVED).into());
            }
        }
    }
    Ok((content.into(), lost_formats(lost)))
}

/// Reads the text, if one of these types is a text type and the owner hands over the text within
/// [`TEXT`].
pub(crate) fn save_text(
    types: &[String],
    receive: impl FnOnce(&str, Bounds<'_>) -> Result<Received>,
) -> Result<Option<Vec<u8>>> {
    let is_offered = |kind: &&&str| types.iter().any(|t| t == **kind);
    let Some(kind) = TEXT_TYPES.iter().find(is_offered) else {
        return Ok(None);
    };
    let bounds = Bounds {
        most: MOST_SAVED,
        until: Instant::now() + TEXT,
        cancel: &Cancel::new(),
    };
    Ok(receive(kind, bounds)?.ok().map(|data| data.to_vec()))
}

/// A text as data of every text type, with the hint that clipboard managers should not record it.
pub(crate) fn text(text: &str) -> Content {
    let data: Arc<[u8]> = text.as_bytes().into();
    let types = TEXT_TYPES.iter().chain(&X11_TEXT_TYPES);
    let texts = types.map(|kind| ((*kind).to_owned(), Arc::clone(&data)));
    let hint = (HINT.to_owned(), HINT_DATA.into());
    texts.chain([hint]).collect()
}

/// Reads a non-blocking pipe to its end. `wait` waits until the pipe is readable, at most for the
/// given time.
pub(crate) fn read(
    pipe: OwnedFd,
    bounds: Bounds<'_>,
    mut wait: impl FnMut(PollFd<'_>, Duration) -> Result<()>,
) -> Result<Received> {
    let mut pipe = File::from(pipe);
    let mut data = Vec::new();
    loop {
        let mut part = [0; 1 << 14];
        match pipe.read(&mut part) {
            Ok(0) => return Ok(Ok(data.into())),
            Ok(n) if data.len() + n > bounds.most => return Ok(Err(Missing::TooLarge)),
            Ok(n) => data.extend(part.get(..n).unwrap_or_default()),
            Err(e) if e.kind() == ErrorKind::WouldBlock => {
                bounds.cancel.check()?;
                let left = bounds.left();
                if left.is_zero() {
                    return Ok(Err(Missing::Late));
                }
                let readable = PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN);
                wait(readable, left.min(SLICE))?;
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(Error::system("reading the clipboard")(e)),
        }
    }
}
