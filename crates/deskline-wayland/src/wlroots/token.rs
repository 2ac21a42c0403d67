//! Requests an activation token (xdg-activation), which lets an app come to the front when it is
//! asked to show itself. Compositors give tokens to the client with the keyboard, so a surface of
//! one transparent pixel takes the keyboard meanwhile.

use std::fs::File;
use std::os::fd::AsFd as _;
use std::path::Path;

use deskline_link::{Error, Result};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use wayland_client::delegate_noop;
use wayland_client::protocol::wl_compositor::WlCompositor;
use wayland_client::protocol::wl_seat::Capability;
use wayland_client::protocol::wl_shm::Format;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_protocols::xdg::activation::v1::client::xdg_activation_token_v1::{
    self, XdgActivationTokenV1,
};
use wayland_protocols::xdg::activation::v1::client::xdg_activation_v1::XdgActivationV1;
use wayland_protocols_wlr::layer_shell::v1::client::zwlr_layer_shell_v1::{
    Layer, ZwlrLayerShellV1,
};
use wayland_protocols_wlr::layer_shell::v1::client::zwlr_layer_surface_v1::{
    self, KeyboardInteractivity, ZwlrLayerSurfaceV1,
};

use crate::wlroots::client::Client;
use crate::wlroots::heard::{Heard, on_event};
use crate::wlroots::keyboard::VirtualKeyboard;

const WHAT: &str = "asking for an activation token";

/// Requests a token from the compositor on `socket`.
///
/// # Errors
///
/// If it offers none, or does not give our surface the keyboard within 2 s.
pub fn activation_token(socket: &Path) -> Result<String> {
    let mut client = Client::connect(socket)?;
    let activation: XdgActivationV1 = client.bind(1)?;
    let compositor: WlCompositor = client.bind(4)?;
    let shell: ZwlrLayerShellV1 = client.bind(1)?;
    let handle = client.handle();
    // A seat without a keyboard has no focus.
    let _keyboard = if client.has(Capability::Keyboard) {
        None
    } else {
        Some(VirtualKeyboard::new(&mut client)?)
    };
    client.seat.get_keyboard(&handle, ());

    let surface = compositor.create_surface(&handle, ());
    let namespace = "deskline".to_owned();
    let layer = shell.get_layer_surface(&surface, None, Layer::Overlay, namespace, &handle, ());
    layer.set_size(1, 1);
    layer.set_keyboard_interactivity(KeyboardInteractivity::Exclusive);
    surface.commit();
    client.wait(|heard| heard.token.configured.is_some())?;
    layer.ack_configure(client.heard.token.configured.unwrap_or_default());
    let pixel = memfd_create("deskline-pixel", MemfdFlags::CLOEXEC).map(File::from);
    let pixel = pixel.map_err(Error::system(WHAT))?;
    ftruncate(&pixel, 4).map_err(Error::system(WHAT))?;
    let pool = client.shm.create_pool(pixel.as_fd(), 4, &handle, ());
    let buffer = pool.create_buffer(0, 1, 1, 4, Format::Argb8888, &handle, ());
    surface.attach(Some(&buffer), 0, 0);
    surface.commit();
    client.wait(|heard| heard.token.entered.is_some())?;

    let token = activation.get_activation_token(&handle, ());
    token.set_serial(client.heard.token.entered.unwrap_or_default(), &client.seat);
    token.commit();
    client.wait(|heard| heard.token.given.is_some())?;
    // Return the keyboard to the person's window before the app is asked.
    layer.destroy();
    surface.destroy();
    client.roundtrip()?;
    let given = client.heard.token.given.take();
    given.ok_or_else(|| Error::system(WHAT)("the compositor gave no token"))
}

on_event!(ZwlrLayerSurfaceV1, |heard, _, event| {
    if let zwlr_layer_surface_v1::Event::Configure { serial, .. } = event {
        heard.token.configured = Some(serial);
    }
});

on_event!(XdgActivationTokenV1, |heard, _, event| {
    if let xdg_activation_token_v1::Event::Done { token } = event {
        heard.token.given = Some(token);
    }
});

delegate_noop!(Heard: XdgActivationV1);
delegate_noop!(Heard: WlCompositor);
delegate_noop!(Heard: ZwlrLayerShellV1);
delegate_noop!(Heard: ignore WlSurface);
