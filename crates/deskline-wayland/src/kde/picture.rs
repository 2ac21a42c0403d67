//! Pictures of windows by KWin's `org.kde.KWin.ScreenShot2` (versions 4 and 5, Plasma 5.27 and 6):
//! raw pixels through a pipe. KWin gives pictures only to programs whose `.desktop` file asks for
//! the interface.
//!
//! Tested with KWin 5.27. Newer versions need OpenGL on a graphics device: without it, KWin 6.3
//! lacks this interface, and KWin 6.7 cancels requests. So for them the tests use a service that
//! answers as KWin's source code does.

use std::collections::HashMap;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::os::fd::OwnedFd;
use std::time::Instant;

use deskline_contract::error::setup::KWIN_PICTURES;
use deskline_contract::{Error, Missing, Offer, Picture, Result};
use deskline_core::Point;
use deskline_unix::wait;
use rustix::pipe::{PipeFlags, pipe_with};
use zbus::blocking::Connection;
use zbus::zvariant::{Fd, OwnedValue, Value};

use super::bus::PATIENCE;

const PATH: &str = "/org/kde/KWin/ScreenShot2";
const SCREENSHOT: &str = "org.kde.KWin.ScreenShot2";

/// An id that no window has.
const NONE: &str = "{00000000-0000-0000-0000-000000000000}";

/// The largest width and height, in pixels.
const MOST: u32 = 16_384;

/// Bytes per pixel, in all supported formats.
const PIXEL: usize = 4;

/// Whether KWin gives us pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Given,
    /// KWin does not know Deskline: a `.desktop` file is missing.
    NotKnown,
    /// KWin offers no pictures. The text is the reason, a clause without a full stop.
    Missing(&'static str),
}

impl Access {
    /// Finds out whether KWin gives us pictures, by asking for a window that does not exist. KWin
    /// checks the permission first, so its error tells.
    pub(super) fn ask(connection: &Connection, kwin: Option<&str>) -> Self {
        let Ok((_reader, writer)) = pipe_with(PipeFlags::CLOEXEC) else {
            return Self::Missing("no pipe for a screenshot could be made");
        };
        match capture(connection, kwin, NONE, &writer) {
            Err(zbus::Error::MethodError(name, ..)) if name.ends_with(".NoAuthorized") => {
                Self::NotKnown
            }
            Err(zbus::Error::MethodError(name, ..)) if name.starts_with(SCREENSHOT) => Self::Given,
            Err(_) => Self::Missing(
                "this KWin has no org.kde.KWin.ScreenShot2, which comes with Plasma 5.22, and only \
                where KWin draws with OpenGL",
            ),
            Ok(_) => Self::Given,
        }
    }

    pub(super) fn offered(self) -> Offer<()> {
        match self {
            Self::Given => Ok(()),
            Self::NotKnown => Err(Missing::new(KWIN_PICTURES)),
            Self::Missing(why) => Err(Missing::new(why)),
        }
    }
}

fn no_picture(why: impl Into<String>) -> Error {
    Error::NoPicture(why.into())
}

/// A picture of the window's content, whose first pixel is at `origin`.
pub(super) fn take(
    connection: &Connection,
    kwin: Option<&str>,
    uuid: &str,
    origin: Point,
) -> Result<Picture> {
    let what = "asking KWin for a screenshot";
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).map_err(Error::system(what))?;
    let message = capture(connection, kwin, uuid, &writer).map_err(|e| match e {
        e @ zbus::Error::InputOutput(_) => Error::lost(what)(e),
        e => Error::system(what)(e),
    })?;
    drop(writer);
    let shape = Shape::read(&message)?;
    let raw = read(reader, shape.stride * shape.height as usize)?;
    Ok(Picture {
        width: shape.width,
        height: shape.height,
        rgb: shape.rgb(&raw),
        origin,
        scale: shape.scale,
    })
}

fn capture(
    connection: &Connection,
    kwin: Option<&str>,
    uuid: &str,
    writer: &OwnedFd,
) -> Result<HashMap<String, OwnedValue>, zbus::Error> {
    let options = [
        ("include-cursor", false),
        ("include-decoration", false),
        ("include-shadow", false),
        ("native-resolution", true),
    ];
    let options: HashMap<&str, Value<'_>> = options.map(|(name, on)| (name, on.into())).into();
    let body = (uuid, options, Fd::from(writer));
    let answer = connection.call_method(kwin, PATH, Some(SCREENSHOT), "CaptureWindow", &body)?;
    answer.body().deserialize()
}

/// Reads `size` bytes, which KWin writes after its answer.
fn read(pipe: OwnedFd, size: usize) -> Result<Vec<u8>> {
    let mut raw = vec![0; size];
    let read = wait::Until(File::from(pipe), Instant::now() + PATIENCE).read_exact(&mut raw);
    read.map_err(|e| match e.kind() {
        ErrorKind::UnexpectedEof => no_picture("KWin's screenshot ended too early"),
        ErrorKind::TimedOut => no_picture(format!(
            "KWin did not send its screenshot within {} s",
            PATIENCE.as_secs()
        )),
        _ => Error::system("reading KWin's screenshot")(e),
    })?;
    Ok(raw)
}

/// The positions of red, green, blue and alpha in a pixel's bytes.
type Order = [usize; 4];

/// The size and the format of a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Shape {
    width: u32,
    height: u32,
    /// Bytes per row.
    stride: usize,
    order: Order,
    /// Whether the fourth byte is alpha. The colours are premultiplied.
    translucent: bool,
    scale: f64,
}

impl Shape {
    fn read(message: &HashMap<String, OwnedValue>) -> Result<Self> {
        let number = |name: &str| message.get(name).and_then(|v| u32::try_from(v).ok());
        let missing = |name: &str| no_picture(format!("KWin's screenshot has no {name}"));
        let get = |name: &str| number(name).ok_or_else(|| missing(name));
        let (width, height, stride) = (get("width")?, get("height")?, get("stride")? as usize);
        let sizes = 1..=MOST;
        let row = width as usize * PIXEL;
        if !sizes.contains(&width) || !sizes.contains(&height) || !(row..=2 * row).contains(&stride)
        {
            return Err(no_picture(format!(
                "KWin's screenshot has no usable size: {width}×{height}, {stride} bytes a row"
            )));
        }
        // QImage::Format: 4 to 6 have a native word of 32 bits per pixel, 16 to 18 four bytes in
        // the order red, green, blue, alpha.
        let (order, translucent) = match get("format")? {
            4 => ([2, 1, 0, 3], false),
            5 | 6 => ([2, 1, 0, 3], true),
            16 => ([0, 1, 2, 3], false),
            17 | 18 => ([0, 1, 2, 3], true),
            format => {
                return Err(no_picture(format!(
                    "KWin's screenshot has the format {format} of QImage, which Deskline does not read"
                )));
            }
        };
        let scale = message.get("scale").and_then(|v| f64::try_from(v).ok());
        Ok(Self {
            width,
            height,
            stride,
            order,
            translucent,
            scale: scale.filter(|s| (0.1..=10.0).contains(s)).unwrap_or(1.0),
        })
    }

    /// Converts pixels to RGB. Translucent ones are blended over white.
    fn rgb(self, raw: &[u8]) -> Vec<u8> {
        let row = self.width as usize * PIXEL;
        let mut rgb = Vec::with_capacity(row / PIXEL * 3 * self.height as usize);
        let [red, green, blue, alpha] = self.order;
        for line in raw.chunks_exact(self.stride) {
            for pixel in line[..row].chunks_exact(PIXEL) {
                let shine = if self.translucent {
                    u8::MAX - pixel[alpha]
                } else {
                    0
                };
                rgb.extend([red, green, blue].map(|at| pixel[at].saturating_add(shine)));
            }
        }
        rgb
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    use zbus::blocking::connection::Builder;
    use zbus::zvariant;

    use super::*;

    #[derive(Debug, zbus::DBusError)]
    #[zbus(prefix = "org.kde.KWin.ScreenShot2.Error")]
    enum Refusal {
        #[zbus(error)]
        ZBus(zbus::Error),
        NoAuthorized(String),
        InvalidWindow(String),
    }

    /// Answers as KWin does with a picture of 2×1 pixels, or refuses an unknown program.
    struct Fake {
        knows_us: bool,
        sends: Vec<u8>,
    }

    const WINDOW: &str = "{c75754f1-3afa-4b47-9fb4-23343e81a52e}";

    #[zbus::interface(name = "org.kde.KWin.ScreenShot2")]
    impl Fake {
        #[zbus(name = "CaptureWindow")]
        #[allow(clippy::needless_pass_by_value)]
        fn capture_window(
            &self,
            handle: String,
            options: HashMap<String, OwnedValue>,
            pipe: zvariant::OwnedFd,
        ) -> Result<HashMap<&'static str, Value<'static>>, Refusal> {
            if !self.knows_us {
                return Err(Refusal::NoAuthorized("not authorized".into()));
            }
            if handle != WINDOW {
                return Err(Refusal::InvalidWindow("Invalid window requested".into()));
            }
            assert_eq!(bool::try_from(&options["include-shadow"]), Ok(false));
            let mut pipe = std::fs::File::from(OwnedFd::from(pipe));
            let sends = self.sends.clone();
            // KWin writes in a thread, after its answer.
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(20));
                pipe.write_all(&sends).unwrap();
            });
            Ok(HashMap::from([
                ("type", "raw".into()),
                ("format", 6_u32.into()),
                ("width", 2_u32.into()),
                ("height", 1_u32.into()),
                ("stride", 8_u32.into()),
                ("scale", 1.5_f64.into()),
            ]))
        }
    }

    /// The client's and the service's end of a connection.
    fn connect(fake: Fake) -> [Connection; 2] {
        let (ours, its) = UnixStream::pair().unwrap();
        let serving = std::thread::spawn(move || {
            let builder = Builder::async_io_unix_stream(its)
                .server(zbus::Guid::generate())
                .unwrap();
            builder.p2p().serve_at(PATH, fake).unwrap().build().unwrap()
        });
        let ours = Builder::async_io_unix_stream(ours).p2p().build().unwrap();
        [ours, serving.join().unwrap()]
    }

    fn knowing(sends: &[u8]) -> [Connection; 2] {
        connect(Fake {
            knows_us: true,
            sends: sends.to_vec(),
        })
    }

    const ORIGIN: Point = Point { x: 70, y: 50 };

    #[test]
    fn a_picture_is_read_from_the_pixels_in_the_pipe() {
        let [connection, _service] = knowing(&[30, 20, 10, 255, 30, 20, 10, 155]);
        assert_eq!(Access::ask(&connection, None), Access::Given);
        let picture = take(&connection, None, WINDOW, ORIGIN).unwrap();
        assert_eq!((picture.width, picture.height), (2, 1));
        assert_eq!(picture.rgb, [10, 20, 30, 110, 120, 130]);
        assert_eq!((picture.origin, picture.scale), (ORIGIN, 1.5));
    }

    #[test]
    fn a_picture_that_ends_early_and_a_window_that_is_gone_are_errors() {
        let [connection, _service] = knowing(&[1, 2, 3]);
        let error = take(&connection, None, WINDOW, ORIGIN).unwrap_err();
        assert!(error.to_string().contains("ended too early"), "{error}");
        let error = take(&connection, None, NONE, ORIGIN).unwrap_err();
        assert!(error.to_string().contains("Invalid window"), "{error}");
    }

    #[test]
    fn the_refusal_of_an_unknown_program_names_the_fix() {
        let [connection, _service] = connect(Fake {
            knows_us: false,
            sends: vec![],
        });
        let pictures = Access::ask(&connection, None);
        assert_eq!(pictures, Access::NotKnown);
        let Missing(why) = pictures.offered().unwrap_err();
        assert!(why.contains("deskline doctor --fix"), "{why}");
    }

    #[test]
    fn pictures_of_an_unknown_pixel_format_or_size_are_refused() {
        let shape = |format: u32, width: u32, stride: u32| {
            let message = [
                ("format", format),
                ("width", width),
                ("height", 1),
                ("stride", stride),
            ];
            let message = message.map(|(name, n)| (name.to_owned(), OwnedValue::from(n)));
            Shape::read(&message.into())
        };
        assert!(shape(6, 2, 8).is_ok());
        assert!(shape(17, 2, 12).is_ok());
        assert!(shape(24, 2, 8).is_err(), "one bit a channel more");
        assert!(shape(6, 2, 4).is_err(), "rows that overlap");
        assert!(shape(6, 0, 0).is_err() && shape(6, MOST + 1, 4 * (MOST + 1)).is_err());
    }
}
