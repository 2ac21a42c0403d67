//! Reads pixels from the server: through shared memory (MIT-SHM 1.2), or over the socket if the
//! server cannot share.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use deskline_contract::{Error, Result};
use deskline_core::Rect;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use x11rb::connection::Connection as _;
use x11rb::protocol::shm::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{ConnectionExt as _, Drawable, ImageFormat};

use super::connection::Connection;
use super::{Answer as _, During as _, Present as _};

const WHAT: &str = "reading pixels";

/// The size of a pixel in the supported formats, in bytes.
pub(super) const PIXEL: usize = 4;

/// Pixels are converted in pieces of this size, in bytes: such a piece stays in the CPU cache.
const PIECE: usize = 128 << 10;

/// A memory file that the server writes images to; reused between pictures.
#[derive(Debug)]
pub(super) struct SharedImage {
    pub(super) segment: shm::Seg,
    file: File,

    pub(super) size: usize,
}

/// The source of pixels: a part of a drawable, in the drawable's coordinates.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source {
    pub(super) drawable: Drawable,
    pub(super) area: Rect,
}

impl Source {
    /// The area as the protocol encodes it; `None` if it is empty or too large.
    fn area(&self) -> Option<(i16, i16, u16, u16)> {
        let size = |v: i32| u16::try_from(v).ok().filter(|v| *v > 0);
        Some((
            i16::try_from(self.area.x).ok()?,
            i16::try_from(self.area.y).ok()?,
            size(self.area.w)?,
            size(self.area.h)?,
        ))
    }
}

impl SharedImage {
    /// Shares `size` bytes with the server; `None` if the server refuses, for example because it
    /// runs on another machine.
    pub(super) fn new(connection: &Connection, size: usize) -> Result<Option<Self>> {
        let file = memfd_create("deskline-picture", MemfdFlags::CLOEXEC)
            .map_err(Error::system("sharing memory"))?;
        ftruncate(&file, size as u64).map_err(Error::system("sharing memory"))?;
        let file = File::from(file);
        let theirs = file.try_clone().map_err(Error::system("sharing memory"))?;
        let segment = connection.generate_id().during(WHAT)?;
        let attached = connection
            .shm_attach_fd(segment, std::os::fd::OwnedFd::from(theirs), false)
            .during(WHAT)?
            .check()
            .present(WHAT)?;
        let image = Self {
            segment,
            file,
            size,
        };
        Ok(attached.map(|()| image))
    }

    /// Reads `source`, which must fit into the memory. Calls `rows` with the number of the first
    /// row and the pixels of whole rows. `false` if the server has no such pixels, as the window
    /// has gone or changed its size.
    pub(super) fn read(
        &self,
        connection: &Connection,
        source: Source,
        mut rows: impl FnMut(usize, &[u8]),
    ) -> Result<bool> {
        let Some((x, y, w, h)) = source.area() else {
            return Ok(false);
        };
        let format = ImageFormat::Z_PIXMAP.into();
        let image = connection
            .shm_get_image(source.drawable, x, y, w, h, !0, format, self.segment, 0)
            .answer_if_present(WHAT)?;
        let row = usize::from(w) * PIXEL;
        let all = row * usize::from(h);
        if image.is_none_or(|image| image.size as usize != all) {
            return Ok(false);
        }
        let mut piece = vec![0; row * (PIECE / row).clamp(1, h.into())];
        for at in (0..all).step_by(piece.len()) {
            let length = piece.len().min(all - at);
            let piece = &mut piece[..length];
            self.file
                .read_exact_at(piece, at as u64)
                .map_err(Error::system(WHAT))?;
            rows(at / row, piece);
        }
        Ok(true)
    }
}

/// [`SharedImage::read`] over the socket.
pub(super) fn read_over_socket(
    connection: &Connection,
    source: Source,
    mut rows: impl FnMut(usize, &[u8]),
) -> Result<bool> {
    let Some((x, y, w, h)) = source.area() else {
        return Ok(false);
    };
    let image = connection
        .get_image(ImageFormat::Z_PIXMAP, source.drawable, x, y, w, h, !0)
        .answer_if_present(WHAT)?;
    let all = usize::from(w) * PIXEL * usize::from(h);
    let Some(image) = image.filter(|image| image.data.len() == all) else {
        return Ok(false);
    };
    rows(0, &image.data);
    Ok(true)
}
