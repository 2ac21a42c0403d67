//! A picture of a window, covered or not, with its open menus.
//!
//! The window's pixels come from the first of these sources that there is: its own pixmap, if a
//! compositor or an earlier picture has redirected the window (X Composite); the screen, if nothing
//! covers the window; its own pixmap, after this has redirected the window for good and the app has
//! repainted it. Redirecting makes an app repaint, so only covered windows are redirected.

use std::time::{Duration, Instant};

use deskline_contract::{Cancel, Error, Picture, PictureNature, Result, WindowId};
use deskline_core::Rect;
use x11rb::connection::Connection as _;
use x11rb::protocol::composite::{ConnectionExt as _, Redirect};
use x11rb::protocol::damage::{ConnectionExt as _, ReportLevel};
use x11rb::protocol::shm::ConnectionExt as _;
use x11rb::protocol::xproto::{ConnectionExt as _, ImageOrder, Visualid, Window};

use super::canvas::{Alpha, Canvas};
use super::popups::popups_among;
use super::shared_image::{PIXEL, SharedImage, Source, read_over_socket};
use super::toplevel::Toplevel;
use super::{During as _, Present as _, X11};

/// How long an app may take to repaint a redirected window. The repaint is complete when nothing
/// was drawn for [`PAINTED`]: two frames.
const REPAINT: Duration = Duration::from_millis(500);
const PAINTED: Duration = Duration::from_millis(34);

const WHAT: &str = "taking a screenshot";

/// A window in the picture.
struct Part {
    /// The child of the root that contains the window.
    outer: Window,
    /// The visible part of the window, in root coordinates.
    shown: Rect,
    /// Whether another window covers this one.
    covered: bool,
    /// The window to watch for repainting; `None` for a pop-up, which is not redirected.
    client: Option<Window>,
}

impl deskline_contract::Pictures for X11 {
    /// A picture of the window's content and of the open menus, pop-ups and drop-downs of its
    /// process, as far as they are on the screen.
    ///
    /// # Errors
    ///
    /// [`Error::NoPicture`] if the window has gone, is minimised, on another workspace or off the
    /// screen; [`Error::Unavailable`] if its pixels do not have 8 bits a colour.
    fn picture(&mut self, window: WindowId) -> Result<Picture> {
        let (wanted, popups) = self.parts(window)?;
        let area = popups
            .iter()
            .fold(wanted.shown, |area, popup| area.union(&popup.shown));
        let mut canvas = Canvas::new(area);
        for part in std::iter::once(&wanted).chain(&popups) {
            if !self.draw(&mut canvas, part)? && part.outer == wanted.outer {
                return Err(refused("it changed while its screenshot was taken"));
            }
        }
        Ok(canvas.picture())
    }

    fn nature(&self) -> PictureNature {
        PictureNature::Quick
    }
}

impl X11 {
    /// The parts of the picture: the window, then its pop-ups, bottom first.
    fn parts(&mut self, window: WindowId) -> Result<(Part, Vec<Part>)> {
        let Some(wanted) = self.toplevel(window)? else {
            return Err(refused("it has been closed"));
        };
        if wanted.minimised {
            return Err(refused("it is minimised, and has no image then"));
        }
        if !wanted.viewable {
            return Err(refused("it is hidden or on another workspace"));
        }
        let screen = self.connection.get_geometry(self.root).during(WHAT)?;
        let stack = self.children_of_root()?;
        let screen = screen.reply().during(WHAT)?;
        let screen = Rect::at(0, 0, screen.width.into(), screen.height.into());
        self.pictures.redirected.retain(|id| stack.contains(id));
        let facts = self.facts(&stack)?;
        let popups: Vec<&Toplevel> = popups_among(&facts, wanted.pid).collect();
        let outer = self
            .ancestry(wanted.id)?
            .pop()
            .ok_or_else(|| refused("it has been closed"))?;
        let part = |outer: Window, client: Option<Window>, extents: Rect| Part {
            outer,
            client,
            shown: extents.intersect(&screen),
            covered: covered(&facts, outer, extents.intersect(&screen), &popups),
        };
        let wanted = part(outer, Some(wanted.id), wanted.extents);
        if wanted.shown.is_empty() {
            return Err(refused("it is off the screen"));
        }
        let popups = popups.iter().filter(|popup| popup.id != wanted.outer);
        let popups = popups.map(|popup| part(popup.id, None, popup.extents));
        let popups = popups.filter(|part| !part.shown.is_empty()).collect();
        Ok((wanted, popups))
    }

    /// Draws a part. `false` if the window has gone or changed.
    fn draw(&mut self, canvas: &mut Canvas, part: &Part) -> Result<bool> {
        if self.draw_pixmap(canvas, part)? {
            return Ok(true);
        }
        match part.client {
            // The shadow of a pop-up needs its alpha, which the screen's pixels lack.
            None if !part.covered => return self.draw_window(canvas, part),
            Some(client) if part.covered && self.pictures.composite => {
                self.redirect(part.outer, client)?;
                if self.draw_pixmap(canvas, part)? {
                    return Ok(true);
                }
            }
            _ => {}
        }
        let screen = Source {
            drawable: self.root,
            area: part.shown,
        };
        let (visual, _) = self.visual(self.root)?;
        self.copy(canvas, part.shown, screen, visual, Alpha::Opaque)
    }

    /// Draws the window as it is on the screen, with its alpha.
    fn draw_window(&mut self, canvas: &mut Canvas, part: &Part) -> Result<bool> {
        let window = self.connection.get_geometry(part.outer).during(WHAT)?;
        let (visual, alpha) = self.visual(part.outer)?;
        let Some(window) = window.reply().present(WHAT)? else {
            return Ok(false);
        };
        let border = i32::from(window.border_width);
        let source = Source {
            drawable: part.outer,
            area: part
                .shown
                .offset(-i32::from(window.x) - border, -i32::from(window.y) - border),
        };
        self.copy(canvas, part.shown, source, visual, alpha)
    }

    /// Draws the window's own pixmap; `false` if the window has none.
    fn draw_pixmap(&mut self, canvas: &mut Canvas, part: &Part) -> Result<bool> {
        if !self.pictures.composite {
            return Ok(false);
        }
        let pixmap = self.connection.generate_id().during(WHAT)?;
        let named = self
            .connection
            .composite_name_window_pixmap(part.outer, pixmap)
            .during(WHAT)?;
        // The pixmap starts at the upper left corner of the window's border.
        let corner = self.connection.get_geometry(part.outer).during(WHAT)?;
        let named = named.check().present(WHAT)?;
        let corner = corner.reply().present(WHAT)?;
        let (Some(()), Some(corner)) = (named, corner) else {
            return Ok(false);
        };
        let source = Source {
            drawable: pixmap,
            area: part
                .shown
                .offset(-i32::from(corner.x), -i32::from(corner.y)),
        };
        let drawn = self
            .visual(part.outer)
            .and_then(|(visual, alpha)| self.copy(canvas, part.shown, source, visual, alpha));
        self.connection.free_pixmap(pixmap).during(WHAT)?;
        drawn
    }

    fn copy(
        &mut self,
        canvas: &mut Canvas,
        to: Rect,
        from: Source,
        visual: Visualid,
        alpha: Alpha,
    ) -> Result<bool> {
        self.check_format(visual)?;
        let size = to.w.max(0) as usize * to.h.max(0) as usize * PIXEL;
        self.share(size)?;
        let rows = |first: usize, bgrx: &[u8]| canvas.put(to, first, bgrx, alpha);
        match &self.pictures.shared {
            Some(shared) => shared.read(&self.connection, from, rows),
            None => read_over_socket(&self.connection, from, rows),
        }
    }

    /// Makes the shared memory large enough for an image of `size` bytes, if the server shares
    /// memory.
    fn share(&mut self, size: usize) -> Result<()> {
        let pictures = &mut self.pictures;
        if !pictures.shm || pictures.shared.as_ref().is_some_and(|s| s.size >= size) {
            return Ok(());
        }
        if let Some(small) = pictures.shared.take() {
            self.connection.shm_detach(small.segment).sent(WHAT)?;
        }
        pictures.shared = SharedImage::new(&self.connection, size)?;
        pictures.shm = pictures.shared.is_some();
        Ok(())
    }

    /// Redirects the window until the window or this connection ends, and waits until the app has
    /// repainted it: until then the window's pixmap is black.
    fn redirect(&mut self, outer: Window, client: Window) -> Result<()> {
        if !self.pictures.redirected.insert(outer) {
            return Ok(());
        }
        let damage = self.connection.generate_id().during(WHAT)?;
        let c = &self.connection;
        c.damage_create(damage, outer, ReportLevel::RAW_RECTANGLES)
            .during(WHAT)?;
        let redirected = c
            .composite_redirect_window(outer, Redirect::AUTOMATIC)
            .during(WHAT)?;
        if redirected.check().present(WHAT)?.is_none() {
            self.pictures.redirected.remove(&outer);
        }
        let painted = self.await_repaint(client);
        self.connection
            .damage_destroy(damage)
            .during(WHAT)?
            .ignore_error();
        painted
    }

    fn await_repaint(&mut self, client: Window) -> Result<()> {
        let never = Cancel::new();
        self.watching_root(|x11| {
            if !matches!(x11.has_read(Some(client), REPAINT, &never), Ok(true)) {
                tracing::debug!("a picture may lack what the app has not painted");
            }
            let mut seen = x11.heard.damage;
            let mut last = Instant::now();
            x11.wait_until(REPAINT, &never, |x11| {
                if x11.heard.damage != seen {
                    seen = x11.heard.damage;
                    last = Instant::now();
                }
                Ok(last.elapsed() > PAINTED)
            })?;
            Ok(())
        })
    }

    /// The window's visual, and whether its pixels have alpha.
    fn visual(&self, window: Window) -> Result<(Visualid, Alpha)> {
        let attributes = self.connection.get_window_attributes(window).during(WHAT)?;
        let geometry = self.connection.get_geometry(window).during(WHAT)?;
        let attributes = attributes.reply().present(WHAT)?;
        let geometry = geometry.reply().present(WHAT)?;
        let (Some(attributes), Some(geometry)) = (attributes, geometry) else {
            return Err(refused("it has been closed"));
        };
        let alpha = if geometry.depth == 32 {
            Alpha::Premultiplied
        } else {
            Alpha::Opaque
        };
        Ok((attributes.visual, alpha))
    }

    /// Fails unless pixels are 32 bits, with the bytes B, G, R, X in memory.
    fn check_format(&self, visual: Visualid) -> Result<()> {
        let setup = self.connection.setup();
        let found = setup.roots.iter().flat_map(|screen| &screen.allowed_depths);
        let found = found
            .flat_map(|depth| depth.visuals.iter().map(move |v| (depth.depth, v)))
            .find(|(_, v)| v.visual_id == visual);
        let Some((depth, visual)) = found else {
            return Err(Error::Unavailable(
                "the window has a visual that the X server does not list".into(),
            ));
        };
        let masks = [visual.red_mask, visual.green_mask, visual.blue_mask];
        let mut formats = setup.pixmap_formats.iter();
        let bits = formats.find(|f| f.depth == depth).map(|f| f.bits_per_pixel);
        if masks == [0xff_0000, 0xff00, 0xff]
            && bits == Some(32)
            && setup.image_byte_order == ImageOrder::LSB_FIRST
        {
            return Ok(());
        }
        Err(Error::Unavailable(format!(
            "screenshots are not supported for windows of colour depth {depth}; depth 24 and 32 are. \
            The tree works without screenshots"
        )))
    }
}

fn refused(why: &'static str) -> Error {
    Error::NoPicture(format!("no screenshot of the window: {why}"))
}

/// Whether a window above `outer` in the stack, other than these pop-ups, covers part of `shown`.
fn covered(all: &[Toplevel], outer: Window, shown: Rect, popups: &[&Toplevel]) -> bool {
    let above = all.iter().skip_while(|w| w.id != outer).skip(1);
    above
        .filter(|w| w.viewable && !w.input_only)
        .filter(|w| popups.iter().all(|popup| popup.id != w.id))
        .any(|w| !w.raw.intersect(&shown).is_empty())
}
