//! The banner that says what the agent does: a surface above all windows (wlr-layer-shell), which
//! takes neither clicks nor keys, and ends with its connection.

use std::os::unix::fs::FileExt as _;
use std::path::Path;

use deskline_contract::guard::{Image, banner_place};
use deskline_contract::{Error, Result};
use deskline_core::Rect;
use wayland_client::delegate_noop;
use wayland_client::protocol::wl_buffer::WlBuffer;
use wayland_client::protocol::wl_compositor::WlCompositor;
use wayland_client::protocol::wl_region::WlRegion;
use wayland_client::protocol::wl_shm::Format;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_protocols_wlr::layer_shell::v1::client::zwlr_layer_shell_v1::{
    Layer, ZwlrLayerShellV1,
};
use wayland_protocols_wlr::layer_shell::v1::client::zwlr_layer_surface_v1::{
    Anchor, Event, ZwlrLayerSurfaceV1,
};

use crate::wlroots::client::Client;
use crate::wlroots::heard::{Heard, on_event};

/// The purpose of the surface. KWin recognises it by this name.
const PURPOSE: &str = "on-screen-display";

#[derive(Debug)]
struct Shown {
    layer: ZwlrLayerSurfaceV1,
    surface: WlSurface,
    buffer: WlBuffer,
}

/// The banner, on a connection of its own.
#[derive(Debug)]
pub struct Banner {
    client: Client,
    compositor: WlCompositor,
    shell: ZwlrLayerShellV1,
    shown: Option<Shown>,
}

impl Banner {
    /// Connects to the compositor that listens on this socket.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] if the compositor lets no program show a banner, [`Error::Lost`] if
    /// the compositor does not answer.
    pub fn connect(socket: &Path) -> Result<Self> {
        let client = Client::connect(socket)?;
        Ok(Self {
            compositor: client.bind(4)?,
            shell: client.bind(1)?,
            client,
            shown: None,
        })
    }

    /// Shows a banner on the screen that contains `place`, without covering `place`. `draw` is
    /// given the pixels per logical pixel, and the most pixels that a row may have.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] if the compositor does not answer.
    pub fn show(
        &mut self,
        place: Option<Rect>,
        draw: impl FnOnce(i32, usize) -> Option<Image>,
    ) -> Result<()> {
        self.hide()?;
        let screens = self.client.screens()?;
        let has_it = |screen: &Rect| place.is_some_and(|place| screen.contains(place.center()));
        let screen = screens.iter().find(|screen| has_it(&screen.place));
        let Some(screen) = screen.or(screens.first()) else {
            return Ok(());
        };
        let (area, scale) = (screen.place, screen.scale);
        let Some(image) = draw(scale, (area.w * scale).max(1) as usize) else {
            return Ok(());
        };
        let (width, height) = (image.width as u32, image.height as u32);
        let (buffer, memory) = self
            .client
            .buffer(Format::Xrgb8888, [width, height, 4 * width])?;
        let written = memory.write_all_at(&image.bgrx, 0);
        written.map_err(Error::system("drawing the banner"))?;
        let size = [width, height].map(|side| side.cast_signed() / scale);
        let at = banner_place(area, 1.0, size.into(), place);
        let handle = self.client.handle();
        let surface = self.compositor.create_surface(&handle, ());
        let nowhere = self.compositor.create_region(&handle, ());
        surface.set_input_region(Some(&nowhere));
        nowhere.destroy();
        let (on, above) = (Some(&screen.output), Layer::Overlay);
        let layer = self
            .shell
            .get_layer_surface(&surface, on, above, PURPOSE.into(), &handle, ());
        let [w, h] = size.map(i32::cast_unsigned);
        layer.set_size(w, h);
        layer.set_anchor(Anchor::Top | Anchor::Left);
        layer.set_margin(at.y - area.y, 0, 0, at.x - area.x);
        // -1: the banner may cover panels, and is not moved out of their way.
        layer.set_exclusive_zone(-1);
        surface.commit();
        self.client.heard.banner = None;
        let shown = self.shown.insert(Shown {
            layer,
            surface,
            buffer,
        });
        self.client.wait(|heard| heard.banner.is_some())?;
        shown
            .layer
            .ack_configure(self.client.heard.banner.unwrap_or_default());
        shown.surface.set_buffer_scale(scale);
        shown.surface.attach(Some(&shown.buffer), 0, 0);
        shown.surface.damage_buffer(0, 0, i32::MAX, i32::MAX);
        shown.surface.commit();
        self.client.flush()
    }

    /// Hides the banner. The next picture of the screen does not show it any more.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] if the compositor does not answer.
    pub fn hide(&mut self) -> Result<()> {
        let Some(shown) = self.shown.take() else {
            return Ok(());
        };
        shown.layer.destroy();
        shown.surface.destroy();
        shown.buffer.destroy();
        self.client.roundtrip()
    }
}

on_event!(ZwlrLayerSurfaceV1, |heard, _, event| {
    if let Event::Configure { serial, .. } = event {
        heard.banner = Some(serial);
    }
});

delegate_noop!(Heard: WlCompositor);
delegate_noop!(Heard: WlRegion);
delegate_noop!(Heard: ZwlrLayerShellV1);
delegate_noop!(Heard: ignore WlSurface);
