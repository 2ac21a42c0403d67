//! A compositor of the wlroots family as a [`Compositor`].

use deskline_contract::{
    Aim, AppToplevel, Cancel, DisplayError, Error, Missing, Offer, Picture, Pictures, Raising,
    Result, Window, WindowId, Workspaces, wait,
};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use deskline_core::{Point, Rect, escape};
use wayland_protocols_wlr::foreign_toplevel::v1::client::zwlr_foreign_toplevel_handle_v1::ZwlrForeignToplevelHandleV1;

use super::marks::Marks;
use super::pairs::{Listed, Pairs, is_called};
use crate::compositor::{self, BoxedPort, Compositor, Findings, Listing, Located, Manner, gone};
use crate::described::Toplevels;
use crate::display::WaylandDisplay;
use crate::focus::Keyboard;
use crate::wlroots::client::Client;
use crate::wlroots::input::Input;
use crate::wlroots::{picture, screens};

/// How long the compositor may take to give a window the keyboard.
const RAISES: Duration = Duration::from_secs(1);

/// How long an app may take to tell assistive technology that its window has the keyboard.
const CLAIMS: Duration = Duration::from_millis(500);

/// How long the target app may take to answer assistive technology, because it may be busy.
const ANSWERS: Duration = Duration::from_secs(2);

/// How long to wait for an app's report of the keyboard before checking for an open menu: while a
/// menu is open, GTK 3 reports the keyboard for no window.
const CLAIMS_SOON: Duration = Duration::from_millis(40);

/// A session of a compositor of the wlroots family as the display of a link.
pub type WlrDisplay<T> = WaylandDisplay<Wlr<T>>;

/// A session of a compositor of the wlroots family.
pub struct Wlr<T> {
    pub(super) client: Client,
    /// The Wayland socket.
    socket: PathBuf,
    pub(super) toplevels: T,
    pairs: Pairs,
    /// The windows' last known positions, the latest first.
    pub(super) places: Vec<Place>,
    /// Windows that do not resize for full screen.
    pub(super) fixed: Vec<WindowId>,
    /// The window that is in full screen for measuring.
    pub(super) enlarged: Enlarged,
    input: Input,
    /// The window that had the keyboard at the last check, with its number in the compositor's
    /// list.
    front: Option<(u64, AppToplevel)>,
}

/// Whether [`WlrDisplay`] supports the compositor on `socket`.
pub fn is_wlr(socket: &Path) -> bool {
    connect(socket).is_ok()
}

/// The protocols that [`WlrDisplay`] uses and the compositor on `socket` does not offer.
pub fn wlr_lacks(socket: &Path) -> Vec<&'static str> {
    Client::connect(socket).map_or_else(|_| Vec::new(), |client| client.lacks())
}

/// Connects. Fails unless the compositor lists its windows and accepts a pointer or keys.
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
    /// [`Error::Unavailable`] if the compositor lists no windows, or accepts neither keys nor a
    /// pointer.
    pub fn connect(socket: &Path, toplevels: T) -> Result<Self> {
        Ok(Self::new(Wlr {
            client: connect(socket)?,
            socket: socket.to_owned(),
            toplevels,
            pairs: Pairs::default(),
            places: Vec::new(),
            fixed: Vec::new(),
            enlarged: None,
            // These compositors are taken to crash when they lose our pointer.
            input: Input::new(socket, false),
            front: None,
        }))
    }
}

impl<T: Toplevels> Wlr<T> {
    /// The window with the keyboard, and the windows of apps.
    fn look(&mut self) -> Result<(Option<Activated>, Vec<AppToplevel>)> {
        let described = self.toplevels.toplevels(false)?;
        self.client.roundtrip()?;
        let listed = listed(&self.client);
        self.pairs.learn(&listed, &described);
        let front = listed.iter().find(|(_, facts)| facts.activated);
        let front = front.map(|(number, facts)| Activated {
            number: *number,
            title: facts.title.clone(),
            its: self.pairs.described(*number, &listed, &described),
        });
        Ok((front, described))
    }

    /// Asks the compositor to give a listed window the keyboard. Returns whether the window gets it
    /// within [`RAISES`].
    fn raise_listed(&mut self, number: u64, cancel: &Cancel) -> Result<bool> {
        let Some(toplevel) = self.client.heard.toplevels.numbered(number) else {
            return Ok(false);
        };
        toplevel.handle.activate(&self.client.seat);
        let activated = wait::until(cancel, RAISES, wait::LOOK, || {
            self.client.roundtrip()?;
            let known = self.client.heard.toplevels.numbered(number);
            Ok(match known {
                None => Some(false),
                Some(toplevel) => toplevel.facts.activated.then_some(true),
            })
        })?;
        Ok(activated == Some(true))
    }

    /// Waits at most `limit` until the app reports that this window has the keyboard.
    fn claims(&mut self, window: WindowId, limit: Duration, cancel: &Cancel) -> Result<bool> {
        wait::holds(cancel, limit, wait::LOOK, || {
            let all = self.toplevels.toplevels(false)?;
            Ok(all.iter().any(|t| t.id == window && t.active))
        })
    }
}

/// The window with the keyboard.
struct Activated {
    /// The window's number in the compositor's list.
    number: u64,
    title: String,
    /// The window as its app describes it, if the app's window is known.
    its: Option<AppToplevel>,
}

impl Activated {
    fn window(self) -> Window {
        self.its
            .map_or_else(|| unknown(self.number, self.title), AppToplevel::window)
    }
}

/// The position of a window on the screen, and its marks.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) window: WindowId,
    /// The window's corner in the layout.
    pub(super) corner: Point,
    pub(super) marks: Marks,
}

/// How much to do to find a window's position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort<'a> {
    /// Only search the screen.
    Look,
    /// Show the window in full screen for a moment if necessary. The elements at these points must
    /// be the same afterwards.
    Measure(&'a [Point]),
}

/// The window to take out of full screen: its handle, and its number in the compositor's list.
pub(super) type Enlarged = Option<(ZwlrForeignToplevelHandleV1, u64)>;

fn missing(e: &Error) -> Missing {
    Missing::new(e.to_string())
}

/// The windows that the compositor lists.
fn listed(client: &Client) -> Vec<Listed<'_>> {
    let all = client.heard.toplevels.all.iter();
    all.map(|t| (t.number, &t.facts)).collect()
}

/// A window that no app describes. Its id is its number in the compositor's list. The ids of others
/// are hashes, so a clash is unlikely.
fn unknown(number: u64, title: String) -> Window {
    Window {
        id: WindowId(number),
        pid: None,
        title,
        ..Window::default()
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
        // All windows with this title are tried, and the app reports which one has the keyboard. If
        // there is only one, it is tried twice: an app that has just started may have taken the
        // keyboard back.
        let tries = if may_be.len() == 1 { 2 } else { 1 };
        for number in may_be.iter().cycle().take(may_be.len() * tries) {
            if self.raise_listed(*number, cancel)? && self.claims(window, CLAIMS, cancel)? {
                self.pairs.join(*number, wanted);
                return Ok(());
            }
        }
        if may_be.is_empty() {
            return Err(DisplayError::NotListed.into());
        }
        Err(DisplayError::NotBroughtUp(
            "the compositor did not bring the window to the front, or the window's app does not \
             report that the window is in front",
        )
        .into())
    }
}

/// The compositor's list reports no workspaces. When a window is raised, the compositor itself
/// shows the window's workspace.
impl<T: Toplevels> Workspaces for Wlr<T> {
    fn put_away(&mut self, Window { id, .. }: &Window) -> Result<()> {
        let (_, described) = self.look()?;
        let its = self.pairs.listed(*id, &listed(&self.client), &described);
        let number = its.first().copied().unwrap_or(id.0);
        if let Some(toplevel) = self.client.heard.toplevels.numbered(number) {
            toplevel.handle.set_minimized();
        }
        self.client.roundtrip()
    }
}

impl<T: Toplevels> Pictures for Wlr<T> {
    fn picture(&mut self, window: WindowId) -> Result<Picture> {
        let failed = |why: &str| Error::system("taking a screenshot")(why.to_owned());
        let front = self.look()?.0;
        let front = front.and_then(|f| Some((f.number, f.its?)));
        let front = front.filter(|(_, its)| its.id == window);
        let front =
            front.ok_or_else(|| failed("the window is not in front, and may be covered"))?;
        let corner = self.corner(&front, Effort::Look, &Cancel::new());
        let corner = corner.map_err(|e| match e {
            Error::Display(_) => failed(
                "the window's position on the screen is unknown. Deskline finds it with the first \
                click, drag or scroll in it",
            ),
            e => e,
        })?;
        let size = self.toplevels.size(window)?;
        let (w, h) =
            size.ok_or_else(|| failed("the app does not report the size of its window"))?;
        let content = Rect::at(corner.x, corner.y, w, h);
        let screens = self.client.screens()?;
        let found = screens::showing(screens, |screen| screen.place, content);
        let (screen, shown) = found.ok_or_else(|| failed("the window is on no screen"))?;
        let picture = picture::take(&mut self.client, &screen.output, screen.place, shown)?;
        Ok(Picture {
            origin: Point::at(shown.x - corner.x, shown.y - corner.y),
            ..picture
        })
    }
}

impl<T: Toplevels> Compositor for Wlr<T> {
    fn takes(&self, input: compositor::Input) -> Offer<()> {
        let takes = match input {
            // Finding a window's position needs pictures.
            compositor::Input::Pointer => {
                let pointers = self.client.pointers();
                pointers.and(self.client.screencopy()).map(drop)
            }
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

    fn front(&mut self) -> Result<Option<Window>> {
        Ok(self.look()?.0.map(Activated::window))
    }

    fn set_aim(&mut self, aim: Aim) {
        self.input.pid = Some(aim.pid);
    }

    fn prepare(&mut self) -> Result<bool> {
        self.input.make_missing(&mut self.client)
    }

    fn windows(&mut self) -> Result<Listing> {
        self.toplevels.toplevels(false).map(Listing::Described)
    }

    fn toplevels(&mut self) -> Result<Vec<Window>> {
        let (front, described) = self.look()?;
        let front = front.map(Activated::window);
        let listed = listed(&self.client);
        let unknown = listed
            .iter()
            .filter(|(number, facts)| {
                let its = self.pairs.described(*number, &listed, &described);
                its.is_none() && !described.iter().any(|d| is_called(&facts.title, &d.title))
            })
            .map(|(number, facts)| unknown(*number, facts.title.clone()));
        let mut windows: Vec<Window> = unknown.collect();
        windows.extend(described.iter().cloned().map(AppToplevel::window));
        for (number, _) in listed.iter().filter(|(_, facts)| facts.minimised) {
            let its = self.pairs.described(*number, &listed, &described);
            let id = its.map_or(WindowId(*number), |its| its.id);
            let mut all = windows.iter_mut();
            all.find(|w| w.id == id)
                .into_iter()
                .for_each(|w| w.minimised = true);
        }
        windows.sort_by_key(|window| front.as_ref().is_none_or(|front| front.id != window.id));
        Ok(windows)
    }

    /// The window that has the keyboard according to the compositor. For a window of the target
    /// app, waits until the app reports the same.
    fn keyboard(&mut self, aim: Option<Aim>, cancel: &Cancel) -> Result<Keyboard> {
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
                    self.toplevels.open_menu(its.pid, None)?.is_some()
                }
                _ => false,
            };
            let late = waited > if is_silent { ANSWERS } else { CLAIMS };
            match (its, front) {
                (Some(its), _) if is_its && (its.active || has_menu) => {
                    self.front = Some((number, its.clone()));
                    return Ok(Keyboard::toplevel(its.window()));
                }
                _ if !late => cancel.wait(wait::LOOK)?,
                (Some(its), _) if !is_its => return Ok(Keyboard::toplevel(its.window())),
                (Some(its), _) => {
                    return Ok(Keyboard::Unclear(format!(
                        "the compositor reports that the window '{}' has the keyboard, but its app does not",
                        escape::short(&its.title, 40)
                    )));
                }
                (None, Some(front)) => {
                    return Ok(Keyboard::Unclear(format!(
                        "'{}' is in front now, so input would not reach the target. No app \
                         describes this window to assistive technology",
                        escape::short(&front.title, 40)
                    )));
                }
                (None, None) => return Ok(Keyboard::Nobody),
            }
        }
    }

    fn locate(&mut self, _: Option<Aim>, places: &[Point], cancel: &Cancel) -> Result<Located> {
        let front = self.front.clone().ok_or_else(gone)?;
        let corner = self.corner(&front, Effort::Measure(places), cancel)?;
        let there: Vec<Point> = places
            .iter()
            .map(|at| Point::at(at.x.saturating_add(corner.x), at.y.saturating_add(corner.y)))
            .collect();
        self.input.reach(&mut self.client, &there)?;
        Ok(Located {
            offset: (f64::from(corner.x), f64::from(corner.y)),
            late: true,
        })
    }

    fn devices(&mut self, offset: (f64, f64)) -> Result<BoxedPort<'_>> {
        Ok(self.input.port(&mut self.client, offset))
    }

    fn release(&mut self) {
        if let Err(e) = self.put_back() {
            tracing::warn!("the window's full screen was not ended: {e}");
        }
    }

    fn end_input(&mut self) {
        self.release();
    }

    fn workspaces(&mut self) -> Option<&mut dyn Workspaces> {
        Some(self)
    }

    fn pictures(&mut self) -> Offer<&mut dyn Pictures> {
        self.client.screencopy().map_err(|e| missing(&e))?;
        Ok(self)
    }

    fn findings(&mut self) -> Findings {
        Findings {
            pointer: "by the compositor's own protocols. It does not report where windows are: at \
                the first click in a window, Deskline shows it in full screen for a moment to \
                find out",
            has_reasons: true,
            ..Findings::by_protocols(self.guard())
        }
    }
}
