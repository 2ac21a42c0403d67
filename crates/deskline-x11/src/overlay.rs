//! Shows the person that the agent acts: a banner with the action, and an outline around the
//! target.
//!
//! Both are override-redirect windows that take neither focus nor clicks, and end with their
//! connection. They are in no picture: pictures show apps' windows, and are taken while there is no
//! overlay.

mod place;
pub(crate) mod text;

use deskline_contract::Result;
use deskline_contract::guard::banner_place;
use deskline_core::Rect;
use x11rb::connection::Connection as _;
use x11rb::protocol::shape::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{
    AtomEnum, ClipOrdering, ConfigureWindowAux, ConnectionExt as _, CreateGCAux, CreateWindowAux,
    ImageFormat, PropMode, Rectangle, StackMode, Window, WindowClass,
};
use x11rb::wrapper::ConnectionExt as _;

use crate::During as _;
use crate::connection::Connection;
use place::Monitor;
use text::Fonts;

/// The instance and class of the overlay's windows (ICCCM §4.1.2.5).
pub(crate) const CLASS: &[u8] = b"overlay\0Deskline\0";

/// An accent colour that is visible on light and on dark, 0xRRGGBB.
const ACCENT: u32 = 0x00ff_8a00;
/// The colour around the accent, which keeps the outline visible on a background like the accent.
const RIM: u32 = 0x0014_1414;

/// The thickness of the outline and its distance from the target, at 96 dpi.
const LINE: f64 = 3.0;

/// The maximum number of bytes in an image request. The protocol allows 256 KiB.
const MOST_BYTES: usize = 200 * 1024;

const WHAT: &str = "showing the overlay";

pub(crate) struct Overlay {
    root: Window,
    fonts: Fonts,
    up: Vec<Window>,
}

impl Overlay {
    pub(crate) fn new(root: Window) -> Self {
        Self {
            root,
            fonts: Fonts::default(),
            up: vec![],
        }
    }

    /// Loads the font ahead of time, as this is the slowest step.
    pub(crate) fn warm(&mut self) {
        self.fonts.warm();
    }

    /// Shows a banner on the monitor that contains `place`, without covering `place`. The banner is
    /// mapped before the server processes the next request of this connection.
    pub(crate) fn announce(
        &mut self,
        c: &Connection,
        caption: &str,
        place: Option<Rect>,
    ) -> Result<()> {
        self.hide(c)?;
        let monitor = place::monitor(c, self.root, place)?;
        self.banner(c, caption, &monitor, place)
    }

    /// Shows an outline around `place`, and a banner if the caption is not empty.
    pub(crate) fn point_out(
        &mut self,
        c: &Connection,
        place: Option<Rect>,
        caption: &str,
    ) -> Result<()> {
        self.hide(c)?;
        let monitor = place::monitor(c, self.root, place)?;
        if let Some(place) = place {
            self.outline(c, place, monitor.scale)?;
        }
        if !caption.is_empty() {
            let caption = format!("AI: {}", deskline_core::escape::short(caption, 60));
            self.banner(c, &caption, &monitor, place)?;
        }
        c.sync().during(WHAT)
    }

    /// Whether anything is shown: without a font there is no banner.
    pub(crate) fn shows(&self) -> bool {
        !self.up.is_empty()
    }

    pub(crate) fn hide(&mut self, c: &Connection) -> Result<()> {
        for window in self.up.drain(..) {
            c.destroy_window(window).during(WHAT)?.ignore_error();
        }
        Ok(())
    }

    fn banner(
        &mut self,
        c: &Connection,
        caption: &str,
        monitor: &Monitor,
        avoid: Option<Rect>,
    ) -> Result<()> {
        let width = (monitor.area.w - 8).max(1) as usize;
        let Some(image) = text::banner(&mut self.fonts, caption, monitor.scale, width) else {
            tracing::warn!("no font for the overlay: install fonts-dejavu-core");
            return Ok(());
        };
        let Some(screen) = c.setup().roots.iter().find(|s| s.root == self.root) else {
            return Ok(());
        };
        if !matches!(screen.root_depth, 24 | 32) {
            return Ok(());
        }
        let size = (image.width as i32, image.height as i32);
        let area = banner_place(monitor.area, monitor.scale, size, avoid);
        let window = self.window(c, area, 0)?;
        let (w, h) = (image.width as u16, image.height as u16);
        let pixmap = c.generate_id().during(WHAT)?;
        c.create_pixmap(screen.root_depth, pixmap, self.root, w, h)
            .during(WHAT)?;
        let gc = c.generate_id().during(WHAT)?;
        c.create_gc(gc, pixmap, &CreateGCAux::new()).during(WHAT)?;
        let stride = image.width * 4;
        let rows = (MOST_BYTES / stride).max(1);
        for (i, chunk) in image.bgrx.chunks(rows * stride).enumerate() {
            let height = (chunk.len() / stride) as u16;
            let top = (i * rows) as i16;
            let (format, depth) = (ImageFormat::Z_PIXMAP, screen.root_depth);
            c.put_image(format, pixmap, gc, w, height, 0, top, 0, depth, chunk)
                .during(WHAT)?;
        }
        let aux =
            x11rb::protocol::xproto::ChangeWindowAttributesAux::new().background_pixmap(pixmap);
        c.change_window_attributes(window, &aux).during(WHAT)?;
        c.free_gc(gc).during(WHAT)?;
        c.free_pixmap(pixmap).during(WHAT)?;
        Self::map(c, window)
    }

    fn outline(&mut self, c: &Connection, place: Rect, scale: f64) -> Result<()> {
        let line = (LINE * scale).round() as i32;
        for (out, inner, color) in [(line + 1, 0, RIM), (line, 1, ACCENT)] {
            let far = out + 1;
            let (w, h) = (place.w + 2 * far, place.h + 2 * far);
            let around = Rect::at(place.x - far, place.y - far, w, h);
            let Some((w, h)) = rectangle(w, h) else {
                return Ok(());
            };
            let window = self.window(c, around, color)?;
            let thick = (out - inner + 1).max(1) as u16;
            let edge = |x: u16, y: u16, width: u16, height: u16| Rectangle {
                x: x as i16,
                y: y as i16,
                width,
                height,
            };
            let frame = [
                edge(0, 0, w, thick),
                edge(0, h.saturating_sub(thick), w, thick),
                edge(0, 0, thick, h),
                edge(w.saturating_sub(thick), 0, thick, h),
            ];
            shape(c, window, shape::SK::BOUNDING, &frame)?;
            Self::map(c, window)?;
        }
        Ok(())
    }

    /// A window that is transparent to input.
    fn window(&mut self, c: &Connection, area: Rect, color: u32) -> Result<Window> {
        let window = c.generate_id().during(WHAT)?;
        let aux = CreateWindowAux::new()
            .override_redirect(1)
            .background_pixel(color);
        let size = rectangle(area.w, area.h).unwrap_or((1, 1));
        c.create_window(
            x11rb::COPY_DEPTH_FROM_PARENT,
            window,
            self.root,
            area.x.clamp(i16::MIN.into(), i16::MAX.into()) as i16,
            area.y.clamp(i16::MIN.into(), i16::MAX.into()) as i16,
            size.0,
            size.1,
            0,
            WindowClass::INPUT_OUTPUT,
            x11rb::COPY_FROM_PARENT,
            &aux,
        )
        .during(WHAT)?;
        self.up.push(window);
        let string = |property: AtomEnum, value: &[u8]| {
            c.change_property8(PropMode::REPLACE, window, property, AtomEnum::STRING, value)
                .during(WHAT)
                .map(drop)
        };
        string(AtomEnum::WM_CLASS, CLASS)?;
        string(AtomEnum::WM_NAME, b"Deskline")?;
        shape(c, window, shape::SK::INPUT, &[])?;
        Ok(window)
    }

    fn map(c: &Connection, window: Window) -> Result<()> {
        let above = ConfigureWindowAux::new().stack_mode(StackMode::ABOVE);
        c.configure_window(window, &above).during(WHAT)?;
        c.map_window(window).sent(WHAT)
    }
}

/// A size as the protocol encodes it.
fn rectangle(w: i32, h: i32) -> Option<(u16, u16)> {
    let side = |side: i32| u16::try_from(side).ok().filter(|side| *side > 0);
    Some((side(w)?, side(h)?))
}

/// Limits a window's shape, or the area where it takes input, to these rectangles.
fn shape(c: &Connection, window: Window, kind: shape::SK, parts: &[Rectangle]) -> Result<()> {
    let (set, order) = (shape::SO::SET, ClipOrdering::UNSORTED);
    c.shape_rectangles(set, kind, order, window, 0, 0, parts)
        .during(WHAT)
        .map(drop)
}
