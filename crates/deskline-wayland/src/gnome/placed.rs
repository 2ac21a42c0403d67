//! GNOME with Deskline's extension, which reports windows and their places. So coordinates are
//! those of the screen, and one pointer for the whole screen sends the input.

use deskline_contract::{
    Aim, Cancel, Error, Offer, Picture, Pictures, Pointer, Raising, Result, Window, WindowId,
    Workspaces, wait,
};
use std::time::Duration;

use deskline_core::{Point, Rect};

use super::casts::Casts;
use super::extension::{Extension, Over, Screen, ShellWindow};
use super::place::Content;
use super::plain::PAINTS;
use super::raise::ESC;
use super::session::{self, Access};
use super::sessions::Sessions;
use super::{picture, scales};
use crate::compositor::{BoxedPort, Compositor, Findings, Listing, await_front, gone};
use crate::focus::Keyboard;
use crate::listed::{Corner, Kind, Listed};

/// How long the shell may take to give a window the keyboard. It takes 10 ms on an idle machine and
/// 430 ms on a busy one.
const RAISES: Duration = Duration::from_secs(2);

/// How long the shell may take to show windows in their new order. The shell does so in its next
/// frame.
const RESTACKS: Duration = Duration::from_millis(300);

/// The time between two checks of the shell's state. Each check takes a millisecond.
const LOOK: Duration = Duration::from_millis(2);

/// A GNOME session whose extension is on.
pub(crate) struct Placed {
    pub(super) sessions: Sessions,
    pub(super) extension: Extension,
    casts: Casts,
    /// The window that the next input is for.
    aim: Option<WindowId>,
    /// Whether Mutter scales the content of windows; `None` until this link has asked.
    scales_content: Option<bool>,
}

impl Placed {
    /// Connects.
    pub(crate) fn connect(to: &Access<'_>) -> Result<Self> {
        let sessions = Sessions::connect(to, false)?;
        Ok(Self {
            extension: Extension::on(&sessions.bus),
            sessions,
            casts: Casts::on(to.session_bus),
            aim: None,
            scales_content: None,
        })
    }

    /// Ends a cast that was started in advance: no picture is due any more.
    fn end_cast(&mut self) {
        self.aim = None;
        self.casts.end();
    }

    /// Whether Mutter scales the content of windows instead of the screens. Asks once per link.
    fn scales_content(&mut self) -> bool {
        let ask = || scales::are_in_windows(&self.sessions.bus);
        *self.scales_content.get_or_insert_with(ask)
    }

    /// An open pop-up of another app than the one that this window belongs to.
    pub(crate) fn popup_beside(&mut self, window: WindowId) -> Result<Option<ShellWindow>> {
        let windows = self.extension.recent()?.windows;
        let pid = windows.iter().find(|w| w.id == window.0).map(|w| w.pid);
        let is = |w: &ShellWindow| is_open_popup(w) && Some(w.pid) != pid;
        Ok(windows.into_iter().find(is))
    }

    /// Presses Esc and waits, for a limited time, until this pop-up is gone.
    pub(crate) fn escape(&mut self, popup: &ShellWindow) -> Result<()> {
        self.sessions.get()?.port((0.0, 0.0)).tap(ESC)?;
        let gone = || {
            let screen = self.extension.screen()?;
            Ok(screen.windows.iter().all(|w| w.id != popup.id))
        };
        wait::holds(&Cancel::new(), RESTACKS, LOOK, gone).map(drop)
    }
}

impl Screen {
    /// The window with the keyboard.
    fn focused(&self) -> Option<&ShellWindow> {
        self.windows.iter().find(|w| w.focused)
    }

    /// The toplevel that has the keyboard itself or through a pop-up.
    fn front(&self) -> Option<&ShellWindow> {
        let focused = self.focused()?;
        let mut toplevels = self.windows.iter().filter(|w| w.kind == Kind::Toplevel);
        match focused.kind {
            Kind::Toplevel => Some(focused),
            _ => toplevels.find(|w| w.pid == focused.pid && w.visible),
        }
    }
}

fn is_open_popup(window: &ShellWindow) -> bool {
    window.kind == Kind::Popup && window.visible
}

/// The part of a stream's frame that shows the window without its shadow. The stream's frame is
/// `pixels` wide.
fn in_frame(frame: Rect, buffer: Rect, pixels: usize) -> Content {
    let exact = pixels as f64 / f64::from(buffer.w.max(1));
    let whole = exact.round();
    // If a window was drawn for a fractional scale, Mutter paints its frame for the next whole
    // scale and keeps only as many pixels as the buffer has.
    let scale = if (exact - whole).abs() < 0.02 {
        whole
    } else {
        exact.ceil()
    };
    Content {
        offset: (
            f64::from(frame.x.saturating_sub(buffer.x)),
            f64::from(frame.y.saturating_sub(buffer.y)),
        ),
        scale: scale.max(1.0),
    }
}

impl Raising for Placed {
    fn activate(&mut self, id: WindowId, cancel: &Cancel) -> Result<()> {
        if !self.extension.activate(id.0)? {
            return Err(gone());
        }
        let failure = "a dialog of the window's app may keep the keyboard: GNOME Shell did not give \
            the keyboard to the window";
        await_front(id, (failure, RAISES, LOOK), cancel, || {
            let screen = self.extension.screen()?;
            Ok(screen.focused().map(|window| WindowId(window.id)))
        })
    }
}

impl Workspaces for Placed {
    fn workspace(&mut self) -> Result<Option<u32>> {
        Ok(Some(self.extension.away()?.0))
    }

    fn put_away(&mut self, window: &Window) -> Result<()> {
        self.extension.minimise(window.id.0)
    }

    fn show_workspace(&mut self, workspace: u32, _: &Cancel) -> Result<()> {
        self.extension.show_workspace(workspace)
    }
}

impl Pictures for Placed {
    /// Works for covered windows too. The picture lacks the app's pop-ups, which are other windows.
    fn picture(&mut self, id: WindowId) -> Result<Picture> {
        let windows = self.extension.recent()?.windows;
        let window = windows.iter().find(|w| w.id == id.0);
        let window = window.ok_or_else(|| Error::NoPicture("the window has been closed".into()))?;
        if !window.visible {
            return Err(Error::NoPicture(
                "the window is minimised or on another workspace".into(),
            ));
        }
        let Rect { x, y, w, h } = window.content;
        let size = (window.buffer.w, window.buffer.h);
        let frame = self.casts.frame(Some(window.id), size, PAINTS)?;
        let content = in_frame(window.content, window.buffer, frame.width);
        let picture = picture::content(&frame, content, (w, h));
        let mut picture = picture
            .ok_or_else(|| Error::system("taking a screenshot")("the frame is too small"))?;
        picture.origin = Point { x, y };
        Ok(picture)
    }
}

impl Compositor for Placed {
    fn announce(&mut self, caption: &str) -> Result<bool> {
        self.extension.announce(caption).map(|()| true)
    }

    fn begin_link(&mut self, acts: bool) {
        self.end_cast();
        self.scales_content = None;
        self.sessions.begin_link(acts);
    }

    fn set_aim(&mut self, aim: Aim) {
        self.aim = aim.window;
    }

    fn windows(&mut self) -> Result<Listing> {
        let mut windows = self.extension.recent()?.windows;
        if windows.iter().any(|w| w.own > 1.0) && self.scales_content() {
            for Listed { window, own } in &mut windows {
                let unit = (own.round() as i32).max(1);
                window.corner = Corner::Framed { unit };
            }
        }
        let is_hidden = |w: &ShellWindow| !w.visible && w.kind == Kind::Toplevel;
        if windows.iter().any(is_hidden) {
            for (id, workspace, minimised) in self.extension.away()?.1 {
                for away in windows.iter_mut().filter(|w| w.id == id) {
                    (away.window.workspace, away.window.minimised) = (workspace, minimised);
                }
            }
        }
        Ok(Listing::listed(windows))
    }

    /// Also `true` for a tooltip: the shell does not distinguish it from a menu. A click closes the
    /// tooltip, and it comes back only after the pointer has moved.
    fn popup_open(&mut self, pid: u32) -> Result<Option<bool>> {
        let windows = self.extension.recent()?.windows;
        let is = |w: &ShellWindow| is_open_popup(w) && w.pid == pid;
        Ok(Some(windows.iter().any(is)))
    }

    fn front(&mut self) -> Result<Option<Window>> {
        Ok(self.extension.recent()?.front().map(|w| w.window()))
    }

    /// Input follows, so this first gives apps the time to bind new devices.
    fn keyboard(&mut self, _: Option<Aim>, _: &Cancel) -> Result<Keyboard> {
        self.sessions.introduce();
        Ok(match self.extension.screen()?.focused() {
            Some(focused) => focused.keyboard(),
            None => Keyboard::Unclear(String::from(
                "no app has the keyboard: GNOME's overview or one of GNOME Shell's own dialogs may be \
                open",
            )),
        })
    }

    fn pointer(&mut self) -> Result<Option<Pointer>> {
        Ok(Some(self.extension.recent()?.pointer))
    }

    /// Another app's window, or a part of the shell.
    fn over(&mut self, at: Point, aim: Aim) -> Result<Option<Window>> {
        self.sessions.introduce();
        let mut over = None;
        wait::holds(&Cancel::new(), RESTACKS, LOOK, || {
            over = match self.extension.over(at)? {
                Over::Nothing => None,
                Over::Shell => Some(Window {
                    title: "GNOME Shell".to_owned(),
                    ..Window::default()
                }),
                Over::Window(id) if aim.window == Some(WindowId(id)) => None,
                Over::Window(id) => {
                    let windows = self.extension.screen()?.windows;
                    let window = windows.iter().find(|w| w.id == id && w.pid != aim.pid);
                    window.map(|window| window.window())
                }
            };
            Ok(over.is_none())
        })?;
        Ok(over)
    }

    fn ready(&mut self) -> Result<()> {
        self.sessions.get().map(drop)
    }

    fn devices(&mut self, offset: (f64, f64)) -> Result<BoxedPort<'_>> {
        let seen = self.extension.forget();
        let port = self.sessions.get()?.port(offset);
        // A picture of the window is due once the app has settled, so its cast starts now. An
        // earlier start would keep the shell from showing the raised window.
        let aim = self.aim.take().filter(|_| session::frames().is_ok());
        let is_its = |w: &&ShellWindow| aim == Some(WindowId(w.id));
        if let Some(window) = seen.iter().flat_map(|screen| &screen.windows).find(is_its) {
            let buffer = window.buffer;
            self.casts.begin(window.id, (buffer.w, buffer.h));
        }
        Ok(Box::new(port))
    }

    fn release(&mut self) {
        self.end_cast();
        self.sessions.release();
    }

    fn end_input(&mut self) {
        self.end_cast();
        self.sessions.end_input();
    }

    fn workspaces(&mut self) -> Option<&mut dyn Workspaces> {
        Some(self)
    }

    fn pictures(&mut self) -> Offer<&mut dyn Pictures> {
        session::frames()?;
        Ok(self)
    }

    fn idle(&mut self) -> Option<Duration> {
        self.sessions.idle()
    }

    fn findings(&mut self) -> Findings {
        Findings {
            raise: "by Deskline's extension, which also reports positions on the screen",
            ..Findings::by_protocols(self.guard())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listed::ListedWindow;

    fn shell_window(id: u64, pid: u32, kind: Kind, focused: bool) -> ShellWindow {
        let place = Rect::at(0, 0, 40, 30);
        let window = ListedWindow {
            id,
            pid,
            title: String::new(),
            kind,
            native: true,
            focused,
            visible: true,
            minimised: false,
            workspace: 0,
            modal: false,
            content: place,
            frame: place,
            buffer: place,
            corner: Corner::Exact,
        };
        Listed { window, own: 1.0 }
    }

    #[test]
    fn a_pop_up_with_the_keyboard_leaves_its_window_in_front() {
        let pointer = Pointer {
            at: Point { x: 0, y: 0 },
            pressed: false,
        };
        let front = |kind, focused| {
            let windows = vec![
                shell_window(1, 7, kind, focused),
                shell_window(2, 8, Kind::Toplevel, false),
                shell_window(3, 7, Kind::Toplevel, false),
            ];
            let screen = Screen { pointer, windows };
            screen.front().map(|w| w.id)
        };
        assert_eq!(front(Kind::Popup, true), Some(3));
        assert_eq!(front(Kind::Toplevel, true), Some(1));
        assert_eq!(front(Kind::Toplevel, false), None);
    }

    #[test]
    fn the_scale_is_found_from_the_number_of_a_frames_pixels() {
        let frame = Rect::at(114, 112, 795, 540);
        let buffer = Rect::at(100, 100, 823, 569);
        let scale = |pixels| in_frame(frame, buffer, pixels).scale.to_bits();
        assert_eq!(in_frame(frame, buffer, 823).offset, (14.0, 12.0));
        assert_eq!(scale(823), 1_f64.to_bits());
        assert_eq!(scale(1646), 2_f64.to_bits());
        // Scale 1.5: Mutter cuts the frame off.
        assert_eq!(scale(1235), 2_f64.to_bits());
    }
}
