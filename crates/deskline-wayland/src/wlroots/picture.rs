//! Pictures by wlroots' screencopy. They show a part of an output, and with it other windows that
//! cover the wanted one.

use std::fs::File;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt as _;

use deskline_contract::{Error, Picture, Result};
use deskline_core::{Point, Rect};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use wayland_client::WEnum;
use wayland_client::protocol::wl_buffer::WlBuffer;
use wayland_client::protocol::wl_output::WlOutput;
use wayland_client::protocol::wl_shm::Format;
use wayland_protocols_wlr::screencopy::v1::client::zwlr_screencopy_frame_v1::{
    self, Flags, ZwlrScreencopyFrameV1,
};

use crate::wlroots::client::Client;
use crate::wlroots::heard::{Frame, Heard, on_event};

const WHAT: &str = "taking a screenshot";

/// Takes a picture of this part of the output, which is at `place` in the layout.
pub(crate) fn take(
    client: &mut Client,
    output: &WlOutput,
    place: Rect,
    part: Rect,
) -> Result<Picture> {
    let failed = |why: &str| Error::system(WHAT)(why.to_owned());
    let handle = client.handle();
    let (x, y) = (part.x - place.x, part.y - place.y);
    client.heard.frame = Frame::default();
    let frame =
        client
            .screencopy()?
            .capture_output_region(0, output, x, y, part.w, part.h, &handle, ());
    client.wait(|heard| heard.frame.described || heard.frame.taken.is_some())?;
    let Some((format, width, height, stride)) = client.heard.frame.buffer else {
        return Err(failed("the compositor offers no supported format"));
    };
    let (buffer, file) = client.buffer(format, [width, height, stride])?;
    frame.copy(&buffer);
    let taken = client.wait(|heard| heard.frame.taken.is_some());
    buffer.destroy();
    frame.destroy();
    taken?;
    if client.heard.frame.taken != Some(true) {
        return Err(failed("the compositor could not take the screenshot"));
    }
    let mut bytes = vec![0; stride as usize * height as usize];
    file.read_exact_at(&mut bytes, 0)
        .map_err(Error::system(WHAT))?;
    let (count, upside_down) = (height as usize, client.heard.frame.upside_down);
    let turned = |row| if upside_down { count - 1 - row } else { row };
    let rows = (0..count).map(turned);
    let mut rgb = Vec::with_capacity(3 * width as usize * height as usize);
    let red_first = matches!(format, Format::Xbgr8888 | Format::Abgr8888);
    for row in rows {
        let start = row * stride as usize;
        for pixel in bytes[start..start + 4 * width as usize].chunks_exact(4) {
            let (red, blue) = if red_first { (0, 2) } else { (2, 0) };
            rgb.extend([pixel[red], pixel[1], pixel[blue]]);
        }
    }
    Ok(Picture {
        width,
        height,
        rgb,
        origin: Point::at(part.x, part.y),
        scale: f64::from(width) / f64::from(part.w.max(1)),
    })
}

impl Client {
    /// A buffer of this format, width, height and bytes per row, and the memory that it shares.
    pub(super) fn buffer(&self, format: Format, shape: [u32; 3]) -> Result<(WlBuffer, File)> {
        const WHAT: &str = "sharing memory with the compositor";
        let [width, height, stride] = shape.map(u32::cast_signed);
        let size = u64::from(shape[1]) * u64::from(shape[2]);
        let pool_size = i32::try_from(size).map_err(Error::system(WHAT))?;
        let memory = memfd_create("deskline", MemfdFlags::CLOEXEC).map_err(Error::system(WHAT))?;
        ftruncate(&memory, size).map_err(Error::system(WHAT))?;
        let handle = self.handle();
        let pool = self.shm.create_pool(memory.as_fd(), pool_size, &handle, ());
        let buffer = pool.create_buffer(0, width, height, stride, format, &handle, ());
        pool.destroy();
        Ok((buffer, memory.into()))
    }
}

on_event!(ZwlrScreencopyFrameV1, |heard, _, event| {
    use zwlr_screencopy_frame_v1::Event;
    let frame = &mut heard.frame;
    match event {
        Event::Buffer {
            format: WEnum::Value(format),
            width,
            height,
            stride,
        } => {
            let known = matches!(
                format,
                Format::Xrgb8888 | Format::Argb8888 | Format::Xbgr8888 | Format::Abgr8888
            );
            if known && u64::from(stride) >= 4 * u64::from(width) {
                frame.buffer.get_or_insert((format, width, height, stride));
            }
        }
        Event::BufferDone => frame.described = true,
        Event::Flags {
            flags: WEnum::Value(flags),
        } => frame.upside_down = flags.contains(Flags::YInvert),
        Event::Ready { .. } => frame.taken = Some(true),
        Event::Failed => frame.taken = Some(false),
        _ => {}
    }
});
