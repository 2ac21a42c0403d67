//! A compositor of the wlroots family, for a display.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use deskline_core::{Point, Rect, escape};
use deskline_link::guard::Guards;
use deskline_link::{
    Aim, Cancel, DisplayError, Error, Missing, Offer, Other, Picture, Pictures, Pointer, Raising,
    Result, Window, WindowId, Workspaces,
};
use wayland_protocols_wlr::foreign_toplevel::v1::client::zwlr_foreign_toplevel_handle_v1::ZwlrForeignToplevelHandleV1;

use super::marks::Marks;
use super::pairs::{Listed, Pairs, is_called};
use crate::compositor::{
    self, BoxedPort, Compositor, Gate, Holder, Keyboard, Located, Manner, gone, no_guard,
};
use crate::described::{self, AppToplevel, Toplevels};
use crate::display::WaylandDisplay;
use crate::wlroots::client::Client;
use crate::wlroots::devices::VirtualDevices;
use crate::wlroots::heard::NOWHERE;
use crate::wlroots::input::Input;
use crate::wlroots::picture;
use crate::wlroots::screens;

/// How long the compositor may take to give a window the keyboard.
const RAISES: Duration = Duration::from_secs(1);

/// How long a window with the keyboard may take to say so to assistive technology.
const CLAIMS: Duration = Duration::from_millis(500);

/// How long an app may take to answer assistive technology at all before more keys go to it.
const ANSWERS: Duration = Duration::from_secs(2);

/// How soon a window with the keyboard does so if no menu is open. GTK 3 says of no window that it
/// has the keyboard while one is.
const CLAIMS_SOON: Duration = Duration::from_millis(40);

/// How often to look, as no event reports it.
const LOOK: Duration = Duration::from_millis(10);

/// A session of a compositor of the wlroots family as the display of a link.
pub type WlrDisplay<T> = WaylandDisplay<Wlr<T>>;

/// A session of a compositor of the wlroots family.
pub struct Wlr<T> {
    pub(super) client: Client,
    /// Where the compositor listens.
    socket: PathBuf,
    pub(super) toplevels: T,
    pairs: Pairs,
    /// Where windows were last seen, the latest first.
    pub(super) places: Vec<Place>,
    /// Windows that full screen does not resize.
    pub(super) fixed: Vec<WindowId>,
    /// The window that is in full screen to be measured.
    pub(super) enlarged: Enlarged,
    input: Input,
    /// The target of keys.
    aim: Option<Aim>,
    /// The window that had the keyboard at the last check.
    front: Option<Front>,
    /// The bounds of all outputs, as of the last look.
    layout: Rect,
}

/// Whether the compositor that listens on `socket` is one for [`WlrDisplay`].
pub fn is_wlr(socket: &Path) -> bool {
    connect(socket).is_ok()
}

/// A connection to a compositor that lists its windows and takes input.
fn connect(socket: &Path) -> Result<Client> {
    let mut client = Client::connect(socket)?;
    client.watch_toplevels()?;
    if let (Err(e), Err(_)) = (client.pointers(), client.keyboards()) {
        return Err(e);
    }
    Ok(client)
}

impl<T: Toplevels> WlrDisplay<T> {
    /// Connects to the compositor that listens on `socket`.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] where it lists no windows, or takes neither keys nor a pointer.
    pub fn connect(socket: &Path, toplevels: T) -> Result<Self> {
        Ok(Self::new(Wlr {
            client: connect(socket)?,
            socket: socket.to_owned(),
            toplevels,
            pairs: Pairs::default(),
            places: Vec::new(),
            fixed: Vec::new(),
            enlarged: None,
            // It is not known which of these compositors does.
            input: Input::new(socket, false),
            aim: None,
            front: None,
            layout: NOWHERE,
        }))
    }

    /// The toplevels that apps describe.
    ///
    /// # Errors
    ///
    /// Of the accessibility bus.
    pub fn toplevels(&mut self) -> Result<Vec<AppToplevel>> {
        self.compositor.toplevels.toplevels()
    }

    /// Makes the devices that the seat lacks. Returns whether it lacked one.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] where the compositor does not answer.
    pub fn prepare(&mut self) -> Result<bool> {
        let Wlr { input, client, .. } = &mut self.compositor;
        input.make_missing(client)
    }

    /// Their source.
    pub fn source(&self) -> &T {
        &self.compositor.toplevels
    }

    /// The screens, counted from the corner of the app's window with the keyboard, where its place
    /// is known.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] where the compositor does not answer.
    pub fn screen_around(&mut self, pid: u32) -> Result<Option<Rect>> {
        self.compositor.screen_around(pid)
    }
}

impl<T: Toplevels> Wlr<T> {
    fn screen_around(&mut self, pid: u32) -> Result<Option<Rect>> {
        let (front, _) = self.look()?;
        let its = front.and_then(|front| front.its);
        let its = its.filter(|its| its.pid == pid);
        let place = its.and_then(|its| self.places.iter().find(|p| p.window == its.id));
        let Some(corner) = place.map(|place| place.corner) else {
            return Ok(None);
        };
        let screens = self.client.screens()?;
        let there = screens.iter().find(|screen| screen.place.contains(corner));
        Ok(there.map(|screen| screen.place.offset(-corner.x, -corner.y)))
    }

    /// The window with the keyboard, and the windows of apps.
    fn look(&mut self) -> Result<(Option<Activated>, Vec<AppToplevel>)> {
        let described = self.toplevels.toplevels()?;
        self.client.roundtrip()?;
        let listed = listed(&self.client);
        self.pairs.learn(&listed, &described);
        let front = listed.iter().find(|l| l.activated);
        let front = front.map(|front| Activated {
            number: front.number,
            title: front.title.to_owned(),
            its: self.pairs.described(front.number, &listed, &described),
        });
        Ok((front, described))
    }

    /// Asks for a window of the list to get the keyboard. Whether it has, within [`RAISES`].
    fn raise_listed(&mut self, number: u64, cancel: &Cancel) -> Result<bool> {
        let Some(toplevel) = self.client.heard.toplevels.numbered(number) else {
            return Ok(false);
        };
        toplevel.handle.activate(&self.client.seat);
        let start = Instant::now();
        loop {
            self.client.roundtrip()?;
            match self.client.heard.toplevels.numbered(number) {
                None => return Ok(false),
                Some(toplevel) if toplevel.facts.activated => return Ok(true),
                Some(_) if start.elapsed() > RAISES => return Ok(false),
                Some(_) => cancel.wait(LOOK)?,
            }
        }
    }

    /// Waits until the app says that this window has the keyboard, for `limit` at most.
    fn claims(&mut self, window: WindowId, limit: Duration, cancel: &Cancel) -> Result<bool> {
        let start = Instant::now();
        loop {
            let all = self.toplevels.toplevels()?;
            if all.iter().any(|t| t.id == window && t.active) {
                return Ok(true);
            }
            if start.elapsed() > limit {
                return Ok(false);
            }
            cancel.wait(LOOK)?;
        }
    }
}

/// The window with the keyboard.
struct Activated {
    /// In the compositor's list.
    number: u64,
    title: String,
    /// As its app describes it.
    its: Option<AppToplevel>,
}

impl Activated {
    fn window(self) -> Window {
        match self.its {
            Some(its) => described::window(its),
            None => unknown(self.number, self.title),
        }
    }
}

/// A window that was found.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) window: WindowId,
    /// Its corner in the layout.
    pub(super) corner: Point,
    pub(super) marks: Marks,
}

/// How far to go for a window's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort<'a> {
    /// Only look.
    Look,
    /// Show it in full screen for a moment if need be. These places in it must show the same after
    /// that as before.
    Measure(&'a [Point]),
}

/// The window to take out of full screen.
pub(super) type Enlarged = Option<(ZwlrForeignToplevelHandleV1, u64)>;

/// The window with the keyboard, which an app describes.
#[derive(Clone)]
pub(super) struct Front {
    /// In the compositor's list.
    pub(super) number: u64,
    pub(super) its: AppToplevel,
}

fn holder(its: AppToplevel) -> Keyboard {
    Keyboard::Window(Holder {
        id: its.id,
        pid: its.pid,
        title: its.title,
        popup: false,
    })
}

fn missing(e: &Error) -> Missing {
    Missing::new(e.to_string())
}

/// The compositor's list.
fn listed(client: &Client) -> Vec<Listed<'_>> {
    let all = client.heard.toplevels.iter();
    all.map(|t| Listed {
        number: t.number,
        title: &t.facts.title,
        app: &t.facts.app,
        activated: t.facts.activated,
    })
    .collect()
}

/// A window that no app describes. Its number is its id: those of apps' windows are hashes.
fn unknown(number: u64, title: String) -> Window {
    Window {
        id: WindowId(number),
        pid: None,
        title,
        extents: None,
    }
}

impl<T: Toplevels> Raising for Wlr<T> {
    fn activate(&mut self, window: WindowId, cancel: &Cancel) -> Result<()> {
        let (_, described) = self.look()?;
        let Some(wanted) = described.iter().find(|t| t.id == window) else {
            // A window that no app describes.
            let toplevels = &self.client.heard.toplevels;
            let is_gone = toplevels.numbered(window.0).is_none();
            if !is_gone && self.raise_listed(window.0, cancel)? {
                return Ok(());
            }
            if is_gone {
                return Err(gone());
            }
            return Err(DisplayError::NotBroughtUp(
                "the compositor did not bring the window to the front within 1 s",
            )
            .into());
        };
        let may_be = self.pairs.listed(window, &listed(&self.client), &described);
        // Windows with one title are tried one after the other: the app says which of them it is.
        // The only one of its title is tried twice: another app that has just started may have
        // taken the keyboard again.
        let tries = if may_be.len() == 1 { 2 } else { 1 };
        for number in may_be.iter().cycle().take(may_be.len() * tries) {
            if self.raise_listed(*number, cancel)? && self.claims(window, CLAIMS, cancel)? {
                self.pairs.join(*number, wanted);
                return Ok(());
            }
        }
        Err(DisplayError::NotBroughtUp(if may_be.is_empty() {
            "the compositor lists no window of this title"
        } else {
            "the compositor did not bring the window to the front, or its app does not say that it is there"
        }).into())
    }
}

impl<T: Toplevels> Pictures for Wlr<T> {
    fn picture(&mut self, window: WindowId) -> Result<Picture> {
        let failed = |why: &str| Error::system("taking a picture")(why.to_owned());
        let front = self.look()?.0;
        let front = front.and_then(|f| Some((f.number, f.its?)));
        let front = front.filter(|(_, its)| its.id == window);
        let (number, its) = front.ok_or_else(|| {
            failed("the window is not in front, and only what is in front is sure to show")
        })?;
        let corner = self.corner(&Front { number, its }, Effort::Look, &Cancel::new());
        let corner = corner.map_err(|e| match e {
            Error::Display(_) => failed(
                "it is not known where on the screen the window is: Deskline finds that out when it first clicks, drags or turns the wheel in it",
            ),
            e => e,
        })?;
        let size = self.toplevels.size(window)?;
        let (w, h) = size.ok_or_else(|| failed("the app does not say how large its window is"))?;
        let content = Rect {
            x: corner.x,
            y: corner.y,
            w,
            h,
        };
        let screens = self.client.screens()?;
        let part = |place: &Rect| place.intersect(&content);
        let screen = screens.iter().max_by_key(|screen| {
            let Rect { w, h, .. } = part(&screen.place);
            i64::from(w.max(0)) * i64::from(h.max(0))
        });
        let screen = screen.filter(|screen| !part(&screen.place).is_empty());
        let screen = screen.ok_or_else(|| failed("the window is on no screen"))?;
        let shown = part(&screen.place);
        let picture = picture::take(&mut self.client, &screen.output, screen.place, shown)?;
        Ok(Picture {
            origin: Point {
                x: shown.x - corner.x,
                y: shown.y - corner.y,
            },
            ..picture
        })
    }

    fn are_quick(&self) -> bool {
        false
    }

    fn show_windows_behind(&self) -> bool {
        false
    }

    fn show_what_is_over(&self) -> bool {
        false
    }
}

impl<T: Toplevels> Compositor for Wlr<T> {
    fn takes(&self, input: compositor::Input) -> Offer<()> {
        let takes = match input {
            // A window's place is found by pictures.
            compositor::Input::Pointer => self
                .client
                .pointers()
                .and(self.client.screencopy())
                .map(drop),
            compositor::Input::Keys => self.client.keyboards().map(drop),
        };
        takes.map_err(|e| missing(&e))
    }

    fn manner(&self) -> Manner<'_> {
        Manner {
            counts_from_window: true,
            ends_slow_readers: Some(&self.socket),
            ..Manner::PLAIN
        }
    }

    fn begin_link(&mut self, _acts: bool) {}

    fn front(&mut self) -> Result<Option<Window>> {
        Ok(self.look()?.0.map(Activated::window))
    }

    fn set_aim(&mut self, aim: Aim) {
        self.aim = Some(aim);
    }

    fn windows(&mut self) -> Result<Vec<Window>> {
        let (front, described) = self.look()?;
        let front = front.map(Activated::window);
        let listed = listed(&self.client);
        let unknown = listed
            .iter()
            .filter(|l| {
                self.pairs
                    .described(l.number, &listed, &described)
                    .is_none()
                    && !described.iter().any(|d| is_called(l.title, &d.title))
            })
            .map(|l| unknown(l.number, l.title.to_owned()));
        let mut windows: Vec<Window> = unknown.collect();
        windows.extend(described.into_iter().map(described::window));
        windows.sort_by_key(|window| front.as_ref().is_none_or(|front| front.id != window.id));
        Ok(windows)
    }

    /// The window with the keyboard, once its app says that it has it.
    fn keyboard(&mut self, aim: Option<Aim>) -> Result<Keyboard> {
        self.front = None;
        let start = Instant::now();
        loop {
            let (front, all) = self.look()?;
            let number = front.as_ref().map_or(0, |front| front.number);
            let its = front.as_ref().and_then(|front| front.its.clone());
            let aimed = |its: &AppToplevel| aim.is_none_or(|aim| aim.pid == its.pid);
            let is_its = its.as_ref().is_some_and(aimed);
            let answers = |its: &AppToplevel| all.iter().any(|t| t.id == its.id && !t.silent);
            let is_silent = is_its && !its.as_ref().is_some_and(answers);
            let waited = start.elapsed();
            let has_menu = match &its {
                Some(its) if is_its && !its.active && !is_silent && waited > CLAIMS_SOON => {
                    self.toplevels.open_menu(its.pid)?.is_some()
                }
                _ => false,
            };
            let late = waited > if is_silent { ANSWERS } else { CLAIMS };
            match (its, front) {
                (Some(its), _) if is_its && (its.active || has_menu) => {
                    let front = Front { number, its };
                    self.front = Some(front.clone());
                    return Ok(holder(front.its));
                }
                _ if !late => std::thread::sleep(LOOK),
                (Some(its), _) if !is_its => return Ok(holder(its)),
                (Some(its), _) => {
                    return Ok(Keyboard::Unclear(format!(
                        "the app does not say that its window '{}' has the keyboard, as the compositor does",
                        escape::short(&its.title, 40)
                    )));
                }
                (None, Some(front)) => {
                    return Ok(Keyboard::Unclear(format!(
                        "'{}' is in front now, a window that no app describes to assistive technology, and input would not reach the target",
                        escape::short(&front.title, 40)
                    )));
                }
                (None, None) => return Ok(Keyboard::Nobody),
            }
        }
    }

    fn pointer(&mut self) -> Result<Option<Pointer>> {
        Ok(None)
    }

    fn over(&mut self, _: Point, _: Aim) -> Result<Option<Other>> {
        Ok(None)
    }

    fn locate(&mut self, _: Option<Aim>, places: &[Point], cancel: &Cancel) -> Result<Located> {
        let front = self.front.clone().ok_or_else(gone)?;
        let corner = self.corner(&front, Effort::Measure(places), cancel)?;
        let screens = self.client.screens()?;
        let screens: Vec<Rect> = screens.iter().map(|screen| screen.place).collect();
        let there: Vec<Point> = places
            .iter()
            .map(|at| Point {
                x: at.x.saturating_add(corner.x),
                y: at.y.saturating_add(corner.y),
            })
            .collect();
        self.layout = screens::layout_around(&screens, &there)?;
        Ok(Located {
            offset: (f64::from(corner.x), f64::from(corner.y)),
            late: true,
        })
    }

    fn devices(&mut self, offset: (f64, f64)) -> Result<BoxedPort<'_>> {
        Ok(Box::new(VirtualDevices {
            pid: self.aim.map(|aim| aim.pid),
            input: &mut self.input,
            client: &mut self.client,
            layout: self.layout,
            offset,
        }))
    }

    fn release(&mut self) {
        if let Err(e) = self.put_back() {
            tracing::warn!("the window's full screen was not ended: {e}");
        }
    }

    fn ready(&mut self) -> Result<()> {
        Ok(())
    }

    fn end_input(&mut self) {
        self.release();
    }

    fn workspaces(&mut self) -> Option<&mut dyn Workspaces> {
        None
    }

    fn pictures(&mut self) -> Offer<&mut dyn Pictures> {
        self.client.screencopy().map_err(|e| missing(&e))?;
        Ok(self)
    }

    fn guard(&mut self) -> Offer<&mut dyn Guards> {
        Err(no_guard())
    }

    fn gate(&mut self) -> Option<&mut dyn Gate> {
        None
    }
}
