//! `wl_output` and `xdg-output`.

use wayland_protocols::xdg::xdg_output::zv1::server::zxdg_output_manager_v1::{
    self, ZxdgOutputManagerV1,
};
use wayland_protocols::xdg::xdg_output::zv1::server::zxdg_output_v1::ZxdgOutputV1;
use wayland_server::protocol::wl_output::WlOutput;

use super::State;

impl State {
    pub(super) fn offer_screens(&mut self) {
        self.offer::<ZxdgOutputManagerV1>(3);
        for index in 0..self.desktop.screens.len() {
            self.display
                .create_global::<Self, WlOutput, usize>(4, index);
        }
    }

    /// The screen of an output.
    pub(super) fn screen(&self, output: &WlOutput) -> Option<usize> {
        let mut outputs = self.outputs.iter();
        outputs
            .find(|(known, _)| known == output)
            .map(|(_, index)| *index)
    }
}

on_bind!(WlOutput, usize, |state, output, index, init| {
    let output = init.init(output, ());
    let screen = &state.desktop.screens[*index];
    output.name(screen.name.to_owned());
    output.scale(screen.scale);
    output.done();
    state.outputs.push((output, *index));
});

on_request!(WlOutput, (), |_, _, _, (), _| {}, |state, output, ()| {
    state.outputs.retain(|(known, _)| known != output);
});

on_request!(ZxdgOutputManagerV1, (), |state, _, request, (), init| {
    if let zxdg_output_manager_v1::Request::GetXdgOutput { id, output } = request {
        let described = init.init(id, ());
        let Some(index) = state.screen(&output) else {
            return;
        };
        let place = state.desktop.screens[index].place;
        described.logical_position(place.x, place.y);
        described.logical_size(place.w, place.h);
        output.done();
    }
});

plain!(ZxdgOutputManagerV1);
inert!(ZxdgOutputV1);
