//! `wl_shm` and `wlr-screencopy`.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use deskline_core::{Point, Rect};
use wayland_protocols_wlr::screencopy::v1::server::zwlr_screencopy_frame_v1::{
    self, Flags, ZwlrScreencopyFrameV1,
};
use wayland_protocols_wlr::screencopy::v1::server::zwlr_screencopy_manager_v1::{
    self, ZwlrScreencopyManagerV1,
};
use wayland_server::Resource as _;
use wayland_server::protocol::wl_buffer::WlBuffer;
use wayland_server::protocol::wl_shm::{self, Format, WlShm};
use wayland_server::protocol::wl_shm_pool::{self, WlShmPool};

use super::State;

/// The padding of a buffer's rows.
const PADDING: u32 = 64;

impl State {
    pub(super) fn offer_pictures(&mut self) {
        self.offer::<WlShm>(1);
        self.offer::<ZwlrScreencopyManagerV1>(3);
    }

    /// A part of a screen, in pixels from its corner, as rows of 4-byte pixels with padding.
    fn draw(&self, screen: usize, part: Rect) -> Vec<u8> {
        let screen = &self.desktop.screens[screen];
        let pixel = |x: i32, y: i32| {
            let at = Point::at(
                screen.place.x + x / screen.scale,
                screen.place.y + y / screen.scale,
            );
            let [_, red, green, blue] = self.desktop.colour(at).to_be_bytes();
            match self.options.format {
                Format::Xbgr8888 => [red, green, blue, 0],
                _ => [blue, green, red, 0],
            }
        };
        let mut rows: Vec<i32> = (part.y..part.y + part.h).collect();
        if self.options.upside_down {
            rows.reverse();
        }
        let row = |y: i32| {
            let pixels = (part.x..part.x + part.w).flat_map(move |x| pixel(x, y));
            pixels.chain([0xee; PADDING as usize])
        };
        rows.into_iter().flat_map(row).collect()
    }
}

on_bind!(WlShm, (), |_, shm, (), init| {
    let shm = init.init(shm, ());
    shm.format(Format::Argb8888);
    shm.format(Format::Xrgb8888);
});

on_request!(WlShm, (), |_, _, request, (), init| {
    if let wl_shm::Request::CreatePool { id, fd, .. } = request {
        init.init(id, File::from(fd));
    }
});

on_request!(WlShmPool, File, |_, _, request, file, init| {
    if let wl_shm_pool::Request::CreateBuffer { id, offset, .. } = request {
        let file = file.try_clone().expect("the pool's file");
        init.init(id, (file, u64::try_from(offset).expect("an offset")));
    }
});

on_request!(WlBuffer, (File, u64), |_, _, _, _, _| {});

plain!(ZwlrScreencopyManagerV1);

on_request!(
    ZwlrScreencopyManagerV1,
    (),
    |state, _, request, (), init| {
        let zwlr_screencopy_manager_v1::Request::CaptureOutputRegion {
            frame,
            output,
            x,
            y,
            width,
            height,
            ..
        } = request
        else {
            return;
        };
        let Some(index) = state.screen(&output) else {
            return;
        };
        let scale = state.desktop.screens[index].scale;
        let part = Rect::at(x * scale, y * scale, width * scale, height * scale);
        let frame = init.init(frame, (index, part));
        let [w, h] = [part.w, part.h].map(i32::cast_unsigned);
        frame.buffer(state.options.format, w, h, 4 * w + PADDING);
        frame.buffer_done();
    }
);

on_request!(
    ZwlrScreencopyFrameV1,
    (usize, Rect),
    |state, frame, request, what, _| {
        let zwlr_screencopy_frame_v1::Request::Copy { buffer } = request else {
            return;
        };
        if state.options.refuses_pictures {
            frame.failed();
            return;
        }
        let (screen, part) = *what;
        let (file, offset) = buffer.data::<(File, u64)>().expect("a buffer of a pool");
        let pixels = state.draw(screen, part);
        file.write_all_at(&pixels, *offset)
            .expect("a buffer that is large enough");
        state.pictures += 1;
        let flags = if state.options.upside_down {
            Flags::YInvert
        } else {
            Flags::empty()
        };
        frame.flags(flags);
        frame.ready(0, 0, 0);
    }
);
