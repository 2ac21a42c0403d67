//! `view_screenshot`: shows a picture of the journal to clients that cannot read files.

use std::fmt::Write as _;
use std::io::Cursor;

use deskline_core::escape::short;
use png::{BitDepth, ColorType, Decoder, DecodingError, Encoder, Limits, Transformations};
use serde_json::{Map, Value};

use crate::args::{Args, Wrong};
use crate::files::JournalFiles;
use crate::reply::Reply;
use crate::scale::Rgb;
use crate::tools::ToolRecord;

/// Models see pictures of up to this long side at full sharpness, in pixels.
const LONG_SIDE: usize = 1_568;
/// The maximum size of a decoded picture in bytes: 16k × 8k pixels.
const LARGEST: usize = 400 << 20;
/// Names of the PNG text chunks with the picture's position and scale.
const ORIGIN: &str = "origin";
const SCALE: &str = "scale";

/// The checked arguments of a call.
#[derive(Debug)]
pub(crate) struct Request {
    file: Option<String>,
}

/// A picture and its position on the screen, if the file has it.
#[derive(Debug, PartialEq)]
struct Picture {
    rgb: Rgb,
    /// The screen coordinates of its first pixel, `x,y`.
    origin: Option<String>,
    /// Pixels per screen unit.
    scale: f64,
}

impl Request {
    /// Reads a call's arguments.
    pub(crate) fn read(record: &ToolRecord, arguments: &Map<String, Value>) -> Result<Self, Wrong> {
        let args = Args(arguments);
        record.check(args)?;
        Ok(Self {
            file: args
                .filled("file", "a path from a summary")?
                .map(str::to_owned),
        })
    }

    /// Reads the picture and shrinks it.
    pub(crate) fn run(&self, files: &JournalFiles) -> Result<Reply, Wrong> {
        let (path, png) = files.picture(self.file.as_deref())?;
        let picture = decode(&png).map_err(|error| {
            format!("{} cannot be shown: {error}. Take another", path.display())
        })?;
        let (png, line) = match picture.rgb.shrunk(LONG_SIDE) {
            None => (png, describe(&picture, &picture.rgb)),
            Some(small) => {
                let png =
                    encode(&small).map_err(|error| format!("cannot make a screenshot: {error}"))?;
                (png, describe(&picture, &small))
            }
        };
        Ok(Reply {
            text: format!("{}: {line}", path.display()),
            is_error: false,
            png: Some(png),
            times: vec![],
        })
    }
}

/// The line beside the picture: its size, scale (its pixels per screen unit) and origin. An agent
/// computes screen x = origin x + pixel x / scale.
fn describe(picture: &Picture, shown: &Rgb) -> String {
    let scale = picture.scale * shown.width as f64 / picture.rgb.width as f64;
    let mut line = format!("{}×{} px, scale {scale:.3}", shown.width, shown.height);
    if let Some(origin) = &picture.origin {
        // Writing to a string does not fail.
        let _ = write!(line, ", origin {}", short(origin, 40));
    }
    line
}

fn decode(png: &[u8]) -> Result<Picture, DecodingError> {
    let mut decoder = Decoder::new_with_limits(Cursor::new(png), Limits { bytes: LARGEST });
    decoder.set_transformations(Transformations::EXPAND | Transformations::STRIP_16);
    let mut reader = decoder.read_info()?;
    let size = reader
        .output_buffer_size()
        .filter(|size| *size <= LARGEST)
        .ok_or(DecodingError::LimitsExceeded)?;
    let mut bytes = vec![0; size];
    let frame = reader.next_frame(&mut bytes)?;
    bytes.truncate(frame.buffer_size());
    let bytes = match frame.color_type {
        ColorType::Rgb => bytes,
        ColorType::Rgba => bytes
            .chunks_exact(4)
            .flat_map(|pixel| pixel.iter().take(3).copied())
            .collect(),
        // The journal writes RGB.
        _ => return Err(DecodingError::LimitsExceeded),
    };
    let note = |keyword: &str| {
        let notes = &reader.info().uncompressed_latin1_text;
        notes.iter().find(|note| note.keyword == keyword)
    };
    Ok(Picture {
        origin: note(ORIGIN).map(|note| note.text.clone()),
        scale: note(SCALE)
            .and_then(|note| note.text.parse().ok())
            .filter(|scale| (0.1..=10.0).contains(scale))
            .unwrap_or(1.0),
        rgb: Rgb {
            width: frame.width as usize,
            height: frame.height as usize,
            bytes,
        },
    })
}

fn encode(rgb: &Rgb) -> Result<Vec<u8>, png::EncodingError> {
    let mut png = Vec::new();
    let (width, height) = (rgb.width as u32, rgb.height as u32);
    let mut encoder = Encoder::new(&mut png, width, height);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&rgb.bytes)?;
    writer.finish()?;
    Ok(png)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grey(width: usize, height: usize) -> Rgb {
        Rgb {
            width,
            height,
            bytes: vec![9; 3 * width * height],
        }
    }

    #[test]
    fn a_picture_survives_png() {
        let picture = decode(&encode(&grey(3, 2)).unwrap()).unwrap();
        assert_eq!((&picture.rgb, &picture.origin), (&grey(3, 2), &None));
        assert_eq!(describe(&picture, &grey(3, 2)), "3×2 px, scale 1.000");
    }

    #[test]
    fn position_and_scale_come_from_text_chunks() {
        let mut png = Vec::new();
        let mut encoder = Encoder::new(&mut png, 2000, 1);
        encoder.set_color(ColorType::Rgb);
        encoder
            .add_text_chunk(ORIGIN.into(), "-40,60".into())
            .unwrap();
        encoder.add_text_chunk(SCALE.into(), "2".into()).unwrap();
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&[0; 6000]).unwrap();
        writer.finish().unwrap();
        let picture = decode(&png).unwrap();
        assert_eq!(
            describe(&picture, &grey(1000, 1)),
            "1000×1 px, scale 1.000, origin -40,60"
        );
    }

    #[test]
    fn a_file_that_is_no_picture_is_an_error() {
        for bytes in [&b""[..], b"hello", &encode(&grey(9, 9)).unwrap()[..40]] {
            assert!(decode(bytes).is_err());
        }
    }
}
